"""Means of classes and the spread around them, from batches."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, moderate


class ClassMoments:
    """Running class means and pooled within-class scatter of features that come in batches."""

    def __init__(self, width: int):
        self.width = width
        self.counts = np.zeros(0, dtype=int)
        self.means = np.zeros((0, width))
        self._scatter = np.zeros((width, width))

    @property
    def num_classes(self) -> int:
        """The largest label so far, plus one."""
        return len(self.counts)

    @property
    def global_mean(self) -> np.ndarray:
        """Mean of the class means (Eq. 63)."""
        return self.means.mean(axis=0)

    @property
    def within(self) -> np.ndarray:
        """Within-class covariance (Eq. 64)."""
        return self._scatter / self.counts.sum()

    def add(self, x: np.ndarray, k: np.ndarray) -> None:
        """A batch, by the pairwise update of Chan, Golub and LeVeque: sums of squares would lose digits."""
        if x.shape[1] != self.width:
            raise argument_error(
                "features", f"have the shape (samples, {self.width}) of earlier batches", x.shape
            )
        self._require_room(int(k.max()) + 1)
        self._grow(int(k.max()) + 1)
        members = np.eye(self.num_classes)[k]  # (samples, classes)
        new = members.sum(axis=0)
        means = (members.T @ x) / np.maximum(new, 1)[:, None]
        rest = x - means[k]
        moved = means - self.means
        total = self.counts + new
        pairs = self.counts * new / np.maximum(total, 1)
        self._scatter += rest.T @ rest + moved.T @ (pairs[:, None] * moved)
        self.means = self.means + moved * (new / np.maximum(total, 1))[:, None]
        self.counts = total.astype(int)

    def check(self, num_classes: int | None) -> None:
        """Two classes or more, a sample of each, and room for a simplex."""
        self._grow(num_classes or 0)
        c = self.num_classes
        if c < 2:
            raise argument_error(
                "labels",
                "name at least two classes",
                "one",
                "One class has no simplex to collapse to.",
            )
        if not self.counts.all():
            k = int(np.argmin(self.counts))
            raise argument_error(
                "labels", f"have a sample of each of the {c} classes", f"none of class {k}",
                "Its mean is not defined. Leave the class out, and number the others from 0.",
            )  # fmt: skip
        self._require_room(c)

    def _require_room(self, c: int) -> None:
        if c > self.width + 1:
            raise argument_error(
                "features", f"have a width of at least {c - 1}, the number of classes minus 1", self.width,
                f"A simplex of {c} corners spans {c - 1} dimensions, so that NC2 cannot hold.",
            )  # fmt: skip

    def _grow(self, num_classes: int) -> None:
        more = num_classes - self.num_classes
        if more > 0:
            self.counts = np.concatenate([self.counts, np.zeros(more, dtype=int)])
            self.means = np.concatenate([self.means, np.zeros((more, self.width))])


def feature_rows(features: Any, width: int | None = None) -> np.ndarray:
    """Features of shape (samples, width), checked."""
    x = moderate("features", features, advice="Pass the last layer's inputs without NaN.")
    if x.ndim != 2 or 0 in x.shape or (width is not None and x.shape[1] != width):
        shape = "(samples, width), not empty" if width is None else f"(samples, {width})"
        raise argument_error("features", f"have the shape {shape}", x.shape, "Flatten other axes.")
    return x
