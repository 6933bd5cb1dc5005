"""Addition modulo p, from some of its pairs."""

import dataclasses

import numpy as np

from lazyrich.core import count
from lazyrich.tasks._group_arithmetic import PairTask, checked_fraction


@dataclasses.dataclass(frozen=True)
class ModularAddition(PairTask):
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
        share = checked_fraction(self.train_fraction, self.modulus, self._count)
        object.__setattr__(self, "train_fraction", share)

    @property
    def num_symbols(self) -> int:
        """The modulus p."""
        return self.modulus

    @property
    def num_samples(self) -> int:
        """The number of pairs that are trained on."""
        return self._count(self.train_fraction)

    @property
    def aspect_ratio(self) -> float:
        r"""$\lambda = 2p/N$, inputs over samples."""
        return 2 * self.modulus / self.num_samples

    @property
    def labels(self) -> np.ndarray:
        """The sum n + m mod p for all pairs, (0, 0), (0, 1), … in order, shape (p²,)."""
        residues = np.arange(self.modulus)
        return ((residues[:, None] + residues) % self.modulus).ravel()

    def _count(self, share: float) -> int:
        return round(share * self.modulus**2)
