"""How much heavier a layer is than the one before it."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, is_traced, real, representable


class Imbalance(NamedTuple):
    """The difference between two layers, the λ that describes it best, and what λ leaves out."""

    matrix: Any  # (..., units, units)
    coefficient: Any
    residual: Any


def imbalance(first: Any, second: Any) -> Imbalance:
    r"""What gradient flow of a linear network keeps of two consecutive layers.

    $$ \Delta = W_2 W_2^\top - W_1^\top W_1, \qquad \lambda = \tfrac1p \operatorname{Tr}\Delta, \qquad
       r = \lVert\Delta - \lambda I\rVert_F $$

    Layers are λ-balanced where r = 0.

    Symbols:
        $W_1$ → `first`, $W_2$ → `second`, p → the number of units between them.

    Source:
        layerwise, Eq. 14; Definition F.1 is the same for layers written transposed.

    Holds when:
        always; it is kept by gradient flow if units are linear and there is no weight decay.

    Checked by:
        checks `layerwise/eq14`, `layerwise/def-f1`; `tests/quantities/test_imbalance.py`.

    Args:
        first: $W_1$, shape (..., inputs, units): outputs are $x^\top W_1 W_2$.
        second: $W_2$, shape (..., units, outputs).

    Returns:
        Δ; λ, positive where the second layer is heavier (upstream); and r. No other λ has a smaller r.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import imbalance
        >>> found = imbalance(first=np.eye(2), second=2 * np.eye(2))
        >>> float(found.coefficient), float(found.residual)
        (3.0, 0.0)
    """
    W1 = real("first", first, advice="Pass the first layer, shape (inputs, units).")
    W2 = real("second", second, advice="Pass the second layer, shape (units, outputs).")
    if W1.ndim < 2 or 0 in W1.shape:
        raise argument_error("first", "have the shape (..., inputs, units), not empty", W1.shape)
    if W2.shape[:-1] != (*W1.shape[:-2], W1.shape[-1]) or 0 in W2.shape:
        shape = ", ".join(map(str, (*W1.shape[:-2], W1.shape[-1])))
        raise argument_error(
            "second", f"have the shape ({shape}, outputs) to fit `first`", W2.shape
        )
    with np.errstate(over="ignore", invalid="ignore"):
        found = _imbalance(W1, W2, jnp if is_traced(W1, W2) else np)
    return representable(found, first=W1, second=W2)


def _imbalance(W1: Any, W2: Any, xp: Any) -> Imbalance:
    p = W1.shape[-1]
    delta = W2 @ xp.swapaxes(W2, -1, -2) - xp.swapaxes(W1, -1, -2) @ W1
    lam = xp.trace(delta, axis1=-2, axis2=-1) / p
    rest = delta - lam[..., None, None] * xp.eye(p, dtype=delta.dtype)
    return Imbalance(delta, lam, xp.sqrt(xp.sum(rest**2, axis=(-2, -1))))
