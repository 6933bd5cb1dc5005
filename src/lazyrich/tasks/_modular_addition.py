"""Addition modulo p, from some of its pairs."""

import dataclasses
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, count, number
from lazyrich.tasks._dataset import DataSet


@dataclasses.dataclass(frozen=True)
class ModularAddition:
    r"""Pairs (n, m) of residues with label n + m mod p; a random share of them is trained on.

    Inputs are two one-hot vectors, labels one-hot vectors.

    Attributes:
        modulus: p.
        train_fraction: α, the share of the p² pairs that is trained on, 0 < α < 1.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import ModularAddition
        >>> task = ModularAddition(modulus=5, train_fraction=0.6)
        >>> task.labels.tolist()[:6], int(task.train_mask(jax.random.key(0)).sum())
        ([0, 1, 2, 3, 4, 1], 15)
    """

    modulus: int
    train_fraction: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "modulus", count("modulus", self.modulus, at_least=2))
        advice = "Pass a share such as 0.7."
        share = number("train_fraction", self.train_fraction, above=0, below=1, advice=advice)
        object.__setattr__(self, "train_fraction", share)
        if not 0 < self.num_samples < self.modulus**2:
            raise argument_error(
                "train_fraction", f"leave at least one of {self.modulus**2} pairs on either side",
                share, advice,
            )  # fmt: skip

    @property
    def num_samples(self) -> int:
        """The number of pairs that are trained on."""
        return round(self.train_fraction * self.modulus**2)

    @property
    def aspect_ratio(self) -> float:
        r"""$\lambda = 2p/N$, inputs over samples."""
        return 2 * self.modulus / self.num_samples

    @property
    def labels(self) -> np.ndarray:
        """The sum n + m mod p for all pairs, (0, 0), (0, 1), … in order, shape (p²,)."""
        residues = np.arange(self.modulus)
        return ((residues[:, None] + residues) % self.modulus).ravel()

    def train_mask(self, key: Any) -> np.ndarray:
        """Which pairs are trained on, in the same order."""
        with jax.ensure_compile_time_eval():
            order = np.asarray(jax.random.permutation(key, self.modulus**2))
        return order < self.num_samples

    def split(self, key: Any) -> tuple[DataSet, DataSet]:
        """Training and test pairs: inputs are the residues themselves, shape (samples, 2), labels one-hot."""
        residues = np.indices((self.modulus, self.modulus)).reshape(2, -1).T
        labels, mask = np.eye(self.modulus)[self.labels], self.train_mask(key)
        train, test = (
            DataSet(residues[part], labels[part], np.full(part.sum(), 1 / part.sum()))
            for part in (mask, ~mask)
        )
        return train, test
