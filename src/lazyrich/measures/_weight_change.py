"""How much weights turn between two moments of training."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, whole
from lazyrich.measures._hidden_arrays import matrices


class WeightChange(NamedTuple):
    """Cosine distances between two moments.

    Attributes:
        whole: of the whole matrix, a number or an array over runs and times.
        nodes: of every node, shape (..., nodes); NaN for a node without weights at one of the moments.
    """

    whole: Any
    nodes: Any


def weight_change(before: Any, after: Any, *, node_axis: int = -1) -> WeightChange:
    r"""Cosine distance between weights at two moments, of the matrix and of every node.

    $$ 1 - \frac{\langle W_t, W_{t'}\rangle}{\lVert W_t\rVert \lVert W_{t'}\rVert}
       = \frac12 \left\lVert \frac{W_t}{\lVert W_t\rVert}
         - \frac{W_{t'}}{\lVert W_{t'}\rVert} \right\rVert^2 $$

    The right-hand side is computed: one minus a cosine would lose distances below 1e-16, which consecutive
    epochs late in training reach. Distances over different numbers of epochs do not compare: while weights
    move straight on, they grow as the number squared. So record each epoch of a logarithmic grid and the
    next one: `record[1::2]` and `record[::2]` of `consecutive_epochs(grid)`.

    Args:
        before: weights, shape (..., rows, columns), real or complex; leading axes are runs and times.
        after: the same at another moment.
        node_axis: the axis over nodes: -1 for a first layer (inputs, nodes), -2 for a second layer
            (nodes, outputs).

    Returns:
        The distances, between 0 and 2: half the squared angle for small ones.

    Cost:
        6 operations for each weight: at M = 71, K = 2048, n = 2016 a thirtieth of a training step.

    Source:
        li2, Fig. 3.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import weight_change
        >>> found = weight_change(np.eye(2), np.array([[1.0, 1.0], [0.0, 1.0]]))
        >>> found.nodes.round(4), round(float(found.whole), 4)
        (array([0.    , 0.2929]), 0.1835)
    """
    if node_axis not in (-1, -2):
        raise argument_error(
            "node_axis", "be -1 or -2", node_axis, "Use -1 for the first layer, -2 for the second."
        )
    a, b = (
        matrices(name, value, "(..., rows, columns)", advice="Pass recorded weights.")
        for name, value in (("before", before), ("after", after))
    )
    if a.shape[-2:] != b.shape[-2:]:
        raise argument_error(
            "after", f"have the shape (..., {a.shape[-2]}, {a.shape[-1]})", b.shape
        )
    others = -2 if node_axis == -1 else -1
    nodes = _distance(a, b, (others,))
    return WeightChange(_distance(a, b, (-2, -1))[()], nodes)


def consecutive_epochs(epochs: Any) -> np.ndarray:
    """Every epoch of a grid and the one after it, so that a record on them gives changes per epoch.

    Args:
        epochs: whole numbers ≥ 0, increasing, shape (times,). Epochs that follow each other would share
            records; they are thinned: an epoch is left out if the one before it in the result is its
            neighbour.

    Returns:
        Epochs e₀, e₀ + 1, e₁, e₁ + 1, …: an even number, increasing.

    Example:
        >>> from lazyrich.measures import consecutive_epochs
        >>> consecutive_epochs([0, 1, 2, 10, 100])
        array([  0,   1,   2,   3,  10,  11, 100, 101])
    """
    grid = whole("epochs", epochs, at_least=0, advice="Pass a grid such as [1, 10, 100].")
    if grid.ndim != 1 or grid.size == 0 or np.any(np.diff(grid) <= 0):
        raise argument_error("epochs", "increase strictly, shape (times,)", epochs)
    kept: list[int] = []
    for epoch in grid.astype(int):
        if not kept or epoch > kept[-1]:
            kept += [int(epoch), int(epoch) + 1]
    return np.array(kept)


def _distance(a: np.ndarray, b: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    size_a, size_b = (
        np.linalg.norm(w, axis=axes if len(axes) == 2 else axes[0], keepdims=True) for w in (a, b)
    )
    empty = (size_a == 0) | (size_b == 0)
    turned = a / np.where(empty, 1.0, size_a) - b / np.where(empty, 1.0, size_b)
    return np.where(np.squeeze(empty, axes), np.nan, np.sum(np.abs(turned) ** 2, axis=axes) / 2)
