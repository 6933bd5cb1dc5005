"""How much weights turn between two moments of training."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, untraced
from lazyrich.measures._hidden_arrays import matrices


class WeightChange(NamedTuple):
    """Cosine distances between two moments.

    Attributes:
        whole: of the whole matrix, a number or an array over runs and times; NaN for a matrix of zeros.
        nodes: of every node, shape (..., nodes); NaN for a node without weights at one of the moments.
    """

    whole: Any
    nodes: Any


@untraced
def weight_change(before: Any, after: Any, *, node_axis: int = -1) -> WeightChange:
    r"""Cosine distance between weights at two moments, of the matrix and of every node.

    $$ 1 - \frac{\langle W_t, W_{t'}\rangle}{\lVert W_t\rVert \lVert W_{t'}\rVert}
       = \frac12 \left\lVert \frac{W_t}{\lVert W_t\rVert}
         - \frac{W_{t'}}{\lVert W_{t'}\rVert} \right\rVert^2 $$

    The right-hand side is computed: one minus a cosine would lose distances below 1e-16, which consecutive
    epochs late in training reach. Distances over different numbers of epochs do not compare: while weights
    move straight on, they grow as the number squared. So record each epoch of a logarithmic grid and the
    next one, as `simulate.FeatureLearning` does with `records=("change",)`.

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
    if not isinstance(node_axis, int) or node_axis not in (-1, -2):
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


def _distance(a: np.ndarray, b: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    size_a, size_b = (
        np.linalg.norm(w, axis=axes if len(axes) == 2 else axes[0], keepdims=True) for w in (a, b)
    )
    empty = (size_a == 0) | (size_b == 0)
    turned = a / np.where(empty, 1.0, size_a) - b / np.where(empty, 1.0, size_b)
    return np.where(np.squeeze(empty, axes), np.nan, np.sum(np.abs(turned) ** 2, axis=axes) / 2)
