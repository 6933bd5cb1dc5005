"""Which of ten digits a picture shows, learned from few pictures."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, number, permutation
from lazyrich.tasks._dataset import DataSet
from lazyrich.tasks._digits import Digits, digit_images, resolved

NUM_CLASSES = 10


@dataclasses.dataclass(frozen=True)
class DigitClassification:
    r"""Pictures of digits as vectors of pixels; the target is a one-hot vector of ten times a scale.

    A random part of the training pictures is trained on; the test is on the first of the test pictures, the
    same for everyone. Inputs are grey values between 0 and 1, uncentred.

    Source:
        layerwise, App. G.3.

    Attributes:
        num_samples: training pictures.
        num_test: test pictures; fewer where the source has fewer.
        target_scale: $s_y$ > 0, what the output of the right class should be.
        pool: pixels are means over squares of this side, which must divide the pictures' sides.
        source: as in `digit_images`; once made, an absolute path or `packaged`.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import DigitClassification
        >>> task = DigitClassification(num_samples=100, target_scale=3.0, source="packaged")
        >>> train, test = task.split(jax.random.key(0))
        >>> train.inputs.shape, test.inputs.shape, train.targets.max()
        ((100, 64), (297, 64), np.float64(3.0))
    """

    num_samples: int = 1000
    num_test: int = 10_000
    target_scale: float = 1.0
    pool: int = 1
    source: Any = None

    def __post_init__(self) -> None:
        for name in ("num_samples", "num_test", "pool"):
            object.__setattr__(self, name, count(name, getattr(self, name), advice="Pass e.g. 1."))
        scale = number("target_scale", self.target_scale, above=0, at_most=1e100, advice="Use 1.")
        object.__setattr__(self, "target_scale", float(scale))
        object.__setattr__(self, "source", resolved(self.source))
        available, *sides = self.digits.images.shape  # reads the files
        if self.num_samples > available:
            raise argument_error(
                "num_samples", f"be at most {available}, the pictures there are", self.num_samples
            )
        if any(side % self.pool for side in sides):
            raise argument_error(
                "pool", f"divide the sides {sides} of the pictures", self.pool, "Use e.g. 2, or 1."
            )

    @property
    def digits(self) -> Digits:
        """All training pictures of the source, with its name and fingerprint."""
        return digit_images(self.source, "train")

    @property
    def input_dimension(self) -> int:
        """The number of pixels."""
        return int(np.prod(self.digits.images.shape[1:])) // self.pool**2

    @property
    def output_dimension(self) -> int:
        """The number of classes, ten."""
        return NUM_CLASSES

    def split(self, key: Any) -> tuple[DataSet, DataSet]:
        """Training set, drawn without replacement, and test set."""
        train = self.digits
        chosen = permutation(key, len(train.labels))[: self.num_samples]
        return self._set(train, chosen), self._set(
            digit_images(self.source, "test"), slice(self.num_test)
        )

    def dataset(self, key: Any) -> DataSet:
        """The training set: inputs, shape (samples, pixels), and one-hot targets, shape (samples, 10)."""
        return self.split(key)[0]

    def _set(self, digits: Digits, chosen: Any) -> DataSet:
        images = digits.images[chosen].astype(np.float64) / digits.white
        num, rows, columns = images.shape
        k = self.pool
        pooled = images.reshape(num, rows // k, k, columns // k, k).mean(axis=(2, 4))
        targets = self.target_scale * np.eye(NUM_CLASSES)[digits.labels[chosen]]
        return DataSet(pooled.reshape(num, -1), targets, np.full(num, 1 / num))
