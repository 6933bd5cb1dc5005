"""What gradient flow conserves of a layer's incoming and outgoing weights."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, count, flag, untraced
from lazyrich.measures._units import unit_arrays


class Balance(NamedTuple):
    """What gradient flow conserves, its drift since the first record, and a scale to compare with.

    For one configuration `values` has the shape (units,) or (units, units), its `drift` is zero and `scale` a
    number; records over time have a leading time axis in each.
    """

    values: Any
    drift: Any
    scale: Any


@untraced
def balance(incoming: Any, outgoing: Any, *, degree: Any = 1, matrix: bool = False) -> Balance:
    r"""The difference between a layer's incoming and outgoing weights that gradient flow keeps.

    $$ b_i = p \lVert v_i\rVert^2 - \lVert u_i\rVert^2, \qquad B_{ij} = v_i \cdot v_j - u_i \cdot u_j $$

    $b_i$ is kept if φ(z; u) is homogeneous of degree p in u. Then
    $u_i \cdot \partial\phi/\partial u_i = p\phi$, so that $u_i \cdot \dot u_i = p\, v_i \cdot \dot v_i$. The
    whole matrix B is kept if φ is linear in u. As in `layer_imbalance`, whose Δ is B, positive means that
    the outgoing weights are heavier.

    Args:
        incoming: the $u_i$, shape (units, N_u), or (time, units, N_u) for a record.
        outgoing: the $v_i$, shape (units, N_v) or (units,); a record has a leading time axis too.
        degree: p: 1 for linear units and ReLU, 2 for quadratic ones. In linear attention the key and the
            query of a head together have degree 2, each alone 1: pass keys as `incoming` and queries as
            `outgoing` for $\lVert q_i\rVert^2 - \lVert k_i\rVert^2$.
        matrix: B instead of $b_i$; asks for degree 1.

    Returns:
        The values; their drift, values minus those of the first record; and the scale
        $\sum_i (\lVert u_i\rVert^2 + p\lVert v_i\rVert^2)$, beside which a drift is small or not. What
        descent with finite steps adds is `predicted_drift`.

    Source:
        saddles, Eq. 49, 50 for quadratic units with small weights, where it is twice their $v^2 - a^2$ (there
        $\sqrt2\,a = u$).

    Example:
        >>> from lazyrich.measures import balance
        >>> found = balance([[3.0, 4.0], [0.0, 1.0]], [5.0, 2.0])
        >>> found.values, found.scale
        (array([0., 3.]), np.float64(55.0))
    """
    u, v = unit_arrays(incoming, outgoing, over_time=True)
    p = _degree(degree, matrix)
    values = _difference(u, v, p, matrix)
    scale = np.sum(u**2, axis=(-2, -1)) + p * np.sum(v**2, axis=(-2, -1))
    start = values[0] if u.ndim == 3 else values
    return Balance(values, values - start, scale)


@untraced
def predicted_drift(
    incoming_steps: Any, outgoing_steps: Any, *, degree: Any = 1, matrix: bool = False
) -> np.ndarray:
    r"""How far gradient descent drifts from the balance, because its steps are finite.

    $$ b_i(t) - b_i(0) = \sum_{s<t} \bigl(p\lVert\Delta v_i\rVert^2 - \lVert\Delta u_i\rVert^2\bigr)_s, \qquad
       \Delta u = -\eta\, g_u, \quad \Delta v = -\eta\, g_v $$

    The terms of first order in η cancel in each step, as in the flow, and this is the rest, exactly. It is of
    order η at a given time ηt. A drift that differs comes from elsewhere: momentum, weight decay, biases, an
    activation of another degree, steps that are not recorded.

    Args:
        incoming_steps: changes of the incoming weights in every step, shape (steps, units, N_u): learning
            rate × gradients, or the differences of a record of every step, `np.diff(record, axis=0)`.
            Their sign does not matter.
        outgoing_steps: the same for the outgoing weights, shape (steps, units, N_v) or (steps, units).
        degree: p, as in `balance`.
        matrix: as in `balance`.

    Returns:
        The drift before the first step, which is 0, and after each: shape (steps + 1, units) or
        (steps + 1, units, units), like `balance(...).drift` of a record of every step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import predicted_drift
        >>> gradients = np.array([[[3.0]], [[1.0]]]), np.array([[[2.0]], [[1.0]]])
        >>> predicted_drift(0.1 * gradients[0], 0.1 * gradients[1])[:, 0].round(6)
        array([ 0.  , -0.05, -0.05])
    """
    names = ("incoming_steps", "outgoing_steps")
    u, v = unit_arrays(incoming_steps, outgoing_steps, over_time=True, names=names)
    if u.ndim != 3:
        raise argument_error("incoming_steps", "have the shape (steps, units, N_u)", u.shape)
    added = _difference(u, v, _degree(degree, matrix), matrix)
    return np.concatenate([np.zeros_like(added[:1]), np.cumsum(added, axis=0)])


def _degree(degree: Any, matrix: bool) -> int:
    p = count("degree", degree, advice="Use 1 for ReLU, 2 for quadratic units.")
    if flag("matrix", matrix) and p != 1:
        raise argument_error("degree", "be 1 for the matrix", degree, "Leave out `matrix`.")
    return p


def _difference(u: np.ndarray, v: np.ndarray, p: int, matrix: bool) -> np.ndarray:
    if matrix:
        return v @ np.swapaxes(v, -1, -2) - u @ np.swapaxes(u, -1, -2)
    return p * np.sum(v**2, axis=-1) - np.sum(u**2, axis=-1)
