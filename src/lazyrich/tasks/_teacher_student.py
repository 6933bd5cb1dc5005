"""Linear regression on Gaussian inputs with a linear teacher."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import count, number, standard_normal

MOST_NUMBERS = 2**29
"""In an array of inputs: 4 GiB."""


@dataclasses.dataclass(frozen=True)
class TeacherStudent:
    r"""Inputs $x \sim \mathcal{N}(0, I)$, labels $T^\top x$ from a random linear teacher.

    The loss is the mean over samples and outputs of the squared error, without a ½:

    $$ \mathcal{L} = \frac{1}{N d_\mathrm{out}} \sum_i \|(S - T)^\top x_i\|^2
                   = \frac{1}{d_\mathrm{out}} \operatorname{Tr}[D^\top \Sigma D],
       \qquad D = S - T $$

    Teacher and student entries are drawn from $\mathcal{N}(0, 1 / 2 d_\mathrm{in} d_\mathrm{out})$, so
    that $\mathbb{E}\|D\|^2 = 1$ at the start.

    Attributes:
        input_dimension: $d_\mathrm{in}$.
        num_samples: $N$, the size of the training set.
        output_dimension: $d_\mathrm{out}$.
        label_noise: standard deviation of the noise on training labels; test labels are clean.

    Example:
        >>> from lazyrich.tasks import TeacherStudent
        >>> task = TeacherStudent(input_dimension=90, num_samples=100)
        >>> task.aspect_ratio
        0.9
    """

    input_dimension: int
    num_samples: int
    output_dimension: int = 1
    label_noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("input_dimension", "num_samples", "output_dimension"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        noise = number("label_noise", self.label_noise, at_least=0, advice="Use 0 for none.")
        object.__setattr__(self, "label_noise", noise)

    @property
    def aspect_ratio(self) -> float:
        r"""$\lambda = d_\mathrm{in} / N$."""
        return self.input_dimension / self.num_samples

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        return "mean over samples and outputs of the squared error, no ½"

    def inputs(self, key: Any, num_samples: int | None = None) -> Any:
        """Gaussian inputs, one per row; the training set's number of them unless told otherwise."""
        rows = self.num_samples if num_samples is None else self._rows(num_samples)
        return standard_normal(key, (rows, self.input_dimension))

    def _rows(self, num_samples: Any) -> int:
        most = MOST_NUMBERS // self.input_dimension
        return count("num_samples", num_samples, at_most=max(most, 1))

    def noise(self, key: Any) -> Any:
        """The noise on the training labels, shape (samples, outputs)."""
        shape = (self.num_samples, self.output_dimension)
        return (
            self.label_noise * standard_normal(key, shape) if self.label_noise else np.zeros(shape)
        )

    def weights(self, key: Any) -> Any:
        """A teacher, or a student at the start: both are drawn alike."""
        scale = (2 * self.input_dimension * self.output_dimension) ** -0.5
        return scale * standard_normal(key, (self.input_dimension, self.output_dimension))
