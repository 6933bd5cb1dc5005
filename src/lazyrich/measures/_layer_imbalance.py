"""How much heavier each layer of a network is than the one before it, over time."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, moderate, untraced
from lazyrich.quantities import imbalance


class LayerImbalance(NamedTuple):
    """The imbalance of every pair of consecutive layers; pairs are the last axis, records the one before.

    `coefficient` is the best λ. `residual` is what it leaves out and `drift` how far the whole difference has
    moved since the first record, both as Frobenius norms. `scale` is the squared length of the pair's
    weights, beside which they are small or not.
    """

    coefficient: Any
    residual: Any
    drift: Any
    scale: Any


@untraced
def layer_imbalance(layers: Sequence[Any]) -> LayerImbalance:
    r"""The imbalance between consecutive layers, and whether a single λ describes it.

    $$ \Delta_l = W_{l+1} W_{l+1}^\top - W_l^\top W_l, \qquad
       \lambda_l = \tfrac1{p_l}\operatorname{Tr}\Delta_l, \qquad r_l = \lVert\Delta_l - \lambda_l I\rVert_F $$

    Gradient flow keeps all of $\Delta_l$ where units are linear, and with ReLU its diagonal and hence
    $\lambda_l$. Positive λ means that the later layer is heavier (upstream). `balance` has the
    same difference unit by unit and for other degrees.

    Args:
        layers: the weights in the order in which inputs pass them, at least two, each of shape
            (inputs, outputs) of that layer: outputs are $x^\top W_1 W_2 \cdots$. A record has a leading time
            axis in each. Frameworks that store (outputs, inputs), as PyTorch, pass the transposed arrays.

    Returns:
        λ, residual, drift and scale for each pair; with a time axis in front for a record. Without one the
        drift is 0.

    Source:
        layerwise, Eq. 14, Sec. 6.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import layer_imbalance
        >>> found = layer_imbalance([np.ones((3, 2)), 2 * np.eye(2), np.eye(2)])
        >>> found.coefficient, found.residual.round(3)
        (array([ 1., -3.]), array([4.243, 0.   ]))
    """
    arrays = _layers(layers)
    each = [imbalance(a, b) for a, b in itertools.pairwise(arrays)]
    squares = [np.sum(array**2, axis=(-2, -1)) for array in arrays]
    drift = [_drift(found.matrix) for found in each]
    return LayerImbalance(
        np.stack([found.coefficient for found in each], axis=-1),
        np.stack([found.residual for found in each], axis=-1),
        np.stack(drift, axis=-1),
        np.stack([a + b for a, b in itertools.pairwise(squares)], axis=-1),
    )


def _drift(matrix: np.ndarray) -> Any:
    start = matrix[0] if matrix.ndim == 3 else matrix
    return np.sqrt(np.sum((matrix - start) ** 2, axis=(-2, -1)))


def _layers(layers: Sequence[Any]) -> list[np.ndarray]:
    if not isinstance(layers, Sequence) or len(layers) < 2:
        raise argument_error("layers", "be a list of at least two layers", layers, "Pass [W1, W2].")
    arrays = [
        moderate(f"layers[{i}]", w, advice="Pass finite weights.") for i, w in enumerate(layers)
    ]
    for i, array in enumerate(arrays):
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise argument_error(
                f"layers[{i}]",
                "have the shape (inputs, outputs) or (time, inputs, outputs)",
                array.shape,
            )
    for i, (a, b) in enumerate(itertools.pairwise(arrays)):
        if b.shape[:-1] != (*a.shape[:-2], a.shape[-1]):
            wanted = ", ".join(map(str, (*a.shape[:-2], a.shape[-1])))
            raise argument_error(
                f"layers[{i + 1}]", f"have the shape ({wanted}, outputs) to follow the layer before it",
                b.shape, "Transpose weights that are stored as (outputs, inputs).",
            )  # fmt: skip
    return arrays
