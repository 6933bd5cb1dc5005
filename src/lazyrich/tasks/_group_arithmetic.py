"""Products in a finite group, from some of its pairs."""

import dataclasses
import math
from typing import Any

import numpy as np

from lazyrich.core import argument_error, number, permutation
from lazyrich.tasks._dataset import DataSet


@dataclasses.dataclass(frozen=True)
class GroupArithmetic:
    r"""Pairs (g, h) of elements of a finite group with label gh; a random share of them is trained on.

    Elements are numbers, as in the group's multiplication table. Those of a cyclic group add modulo M.

    Attributes:
        group: a group of `lazyrich.groups`, of at least two elements.
        train_fraction: the share of the M² pairs that is trained on, between 0 and 1. The number of pairs
            is rounded down, as where the paper rounds that of test pairs up: n = 2016 of 71², 3225 of 127².

    Source:
        li2, Sec. 4.1, Fig. 3, 7.

    Example:
        >>> import jax
        >>> from lazyrich import groups, tasks
        >>> task = tasks.GroupArithmetic(groups.cyclic(5), train_fraction=0.6)
        >>> task.labels.tolist()[:6], int(task.train_mask(jax.random.key(0)).sum())
        ([0, 1, 2, 3, 4, 1], 15)
    """

    group: Any
    train_fraction: float

    def __post_init__(self) -> None:
        table = np.asarray(getattr(self.group, "table", None))
        if table.ndim != 2 or not table.shape[0] == table.shape[1] >= 2:
            raise argument_error(
                "group", "be a group of at least two elements", self.group,
                "Use e.g. `groups.cyclic(7)`.",
            )  # fmt: skip
        advice = "Pass a share such as 0.7."
        share = number("train_fraction", self.train_fraction, above=0, below=1, advice=advice)
        object.__setattr__(self, "train_fraction", share)
        if not 0 < self.num_samples < self.num_symbols**2:
            raise argument_error(
                "train_fraction", f"leave at least one of {self.num_symbols**2} pairs on either side",
                share, advice,
            )  # fmt: skip

    @property
    def num_symbols(self) -> int:
        """M, the order of the group."""
        return self.group.table.shape[0]

    @property
    def num_samples(self) -> int:
        """n, the number of pairs that are trained on."""
        # 0.29 · 100 is 28.999…96 in floats, and means 29
        return math.floor(self.train_fraction * self.num_symbols**2 * (1 + 1e-12))

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input, two numbers of elements."""
        return (2,)

    @property
    def output_dimension(self) -> int:
        """M, one for each label."""
        return self.num_symbols

    @property
    def pairs(self) -> np.ndarray:
        """All pairs, (0, 0), (0, 1), … in order, shape (M², 2)."""
        return np.indices((self.num_symbols, self.num_symbols)).reshape(2, -1).T

    @property
    def labels(self) -> np.ndarray:
        """The product of every pair, in the same order, shape (M²,)."""
        return np.asarray(self.group.table).ravel()

    def train_mask(self, key: Any) -> np.ndarray:
        """Which pairs are trained on, in the same order, shape (M²,)."""
        return permutation(key, self.num_symbols**2) < self.num_samples

    def split(self, key: Any) -> tuple[DataSet, DataSet]:
        """Training and test pairs: inputs are the elements' numbers, shape (samples, 2), targets one-hot."""
        targets, mask = np.eye(self.num_symbols)[self.labels], self.train_mask(key)
        train, test = (
            DataSet(self.pairs[part], targets[part], np.full(part.sum(), 1 / part.sum()))
            for part in (mask, ~mask)
        )
        return train, test
