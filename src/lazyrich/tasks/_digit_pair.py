"""Telling two handwritten digits apart."""

import dataclasses
import functools
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count
from lazyrich.tasks._dataset import DataSet, RegressionMoments
from lazyrich.tasks._digits import Digits, digit_images, resolved


@dataclasses.dataclass(frozen=True)
class DigitPair:
    r"""Pictures of two digits as vectors of pixels; the target is a one-hot vector of two.

    $$ \Sigma_{yx} = \frac1N \sum_i y_i x_i^\top, \qquad \Sigma_{xx} = \frac1N \sum_i x_i x_i^\top $$

    Inputs are grey values between 0 and 1, uncentred. Grey values are whole numbers: sums of their products
    are exact in float64, and so the moments are the same on every machine.

    Source:
        saddles, Fig. 3, Table 1.

    Attributes:
        first: the digit whose target is (1, 0).
        second: the digit whose target is (0, 1).
        source: as in `digit_images`; once made, an absolute path or `packaged`.
        part: `train` or `test`.

    Example:
        >>> from lazyrich.tasks import DigitPair
        >>> task = DigitPair(3, 5, source="packaged")
        >>> task.dataset().inputs.shape, task.correlation.shape, task.digits.name
        ((305, 64), (2, 64), 'uci-digits')
    """

    first: int
    second: int
    source: Any = None
    part: str = "train"

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            value = getattr(self, name)
            digit = count(name, value, at_least=0, advice="Pass a digit 0 to 9.")
            if digit > 9:
                raise argument_error(name, "be a digit 0 to 9", value)
            object.__setattr__(self, name, digit)
        if self.first == self.second:
            raise argument_error("second", "differ from `first`", self.second, "Pass two digits.")
        object.__setattr__(self, "source", resolved(self.source))
        for name in ("first", "second"):  # reads the files: what is wrong with them is told here
            if getattr(self, name) not in self.digits.labels:
                raise argument_error(
                    name, f"be a digit that {self.source} shows", getattr(self, name)
                )

    @property
    def digits(self) -> Digits:
        """All pictures of the source, with its name and fingerprint."""
        return digit_images(self.source, self.part)

    def dataset(self, key: Any = None) -> DataSet:
        """Inputs, shape (samples, pixels), and one-hot targets, shape (samples, 2), in the source's order.

        Args:
            key: not used; nothing is random.
        """
        pixels, targets = _select(self.digits, self.first, self.second)
        weights = np.full(len(pixels), 1 / len(pixels))
        return DataSet(pixels / self.digits.white, targets, weights)

    @property
    def input_dimension(self) -> int:
        """The number of pixels."""
        return int(np.prod(self.digits.images.shape[1:]))

    @property
    def output_dimension(self) -> int:
        """Two, one for each digit."""
        return 2

    @property
    def num_samples(self) -> int:
        """The number of pictures that show one of the two digits."""
        return int(np.isin(self.digits.labels, (self.first, self.second)).sum())

    @property
    def correlation(self) -> np.ndarray:
        r"""$\Sigma_{yx}$, shape (2, pixels)."""
        return self._moments.correlation

    @property
    def covariance(self) -> np.ndarray:
        r"""$\Sigma_{xx}$, shape (pixels, pixels); singular where pixels are always black."""
        return self._moments.covariance

    @property
    def output_power(self) -> float:
        r"""$\operatorname{Tr}\Sigma_{yy}$, the mean squared length of the targets, which is 1."""
        return self._moments.output_power

    @property
    def _moments(self) -> RegressionMoments:
        return _moments(self.digits, self.first, self.second)


def _select(digits: Digits, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Grey values, shape (samples, pixels), and one-hot targets, both as float64."""
    chosen = np.isin(digits.labels, (first, second))
    pixels = digits.images[chosen].reshape(int(chosen.sum()), -1).astype(np.float64)
    targets = digits.labels[chosen, None] == np.array([first, second])
    return pixels, targets.astype(np.float64)


@functools.lru_cache(maxsize=8)  # 5 MB each at 784 pixels
def _moments(digits: Digits, first: int, second: int) -> RegressionMoments:
    X, Y = _select(digits, first, second)
    N, white = len(X), digits.white
    moments = RegressionMoments(
        Y.T @ X / (N * white), X.T @ X / (N * white**2), float(np.sum(Y**2)) / N
    )
    moments.correlation.flags.writeable = moments.covariance.flags.writeable = False
    return moments
