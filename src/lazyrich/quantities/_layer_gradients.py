"""The gradient that each layer of a deep network receives."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lazyrich.core import argument_error, centred, choice, compute, items, real, representable
from lazyrich.models import activation as activation_of

RESIDUAL = ("none", "outside", "inside")


class LayerGradients(NamedTuple):
    """What `layer_gradients` returns.

    Attributes:
        features: activations $F_l$ of layers 1 to L, each of shape (n, width).
        gradients: $G_l$ of the same layers, each of shape (n, width).
        error: what the readout lacks, shape (n, M).
    """

    features: Any
    gradients: Any
    error: Any


def layer_gradients(
    inputs: Any,
    weights: Sequence[Any],
    readout: Any,
    targets: Any,
    activation: Any = "relu",
    residual: str = "none",
    centring: str = "samples",
) -> LayerGradients:
    r"""What the loss asks of the activations of each layer, $G_l = -\partial J/\partial F_l$.

    $$ F_l = \sigma(Z_l), \quad Z_l = F_{l-1}W_l, \qquad
       J = \tfrac12\lVert P_1^\perp(Y - F_L V)\rVert_F^2, \qquad
       G_L = P_1^\perp(Y - F_L V)V^\top, \quad G_{l-1} = (\sigma'(Z_l)\circ G_l)\,W_l^\top $$

    With a residual connection from the second layer on: `"outside"`, $F_l = F_{l-1} + \sigma(F_{l-1}W_l)$,
    where
    $G_{l-1} = G_l + (\sigma'(Z_l)\circ G_l)W_l^\top$ and all of $G_L$ reaches every layer; or
    `"inside"`, $F_l = \sigma(F_{l-1} + F_{l-1}W_l)$, where what passes is gated as the rest is.

    Symbols:
        $F_0$ → `inputs`, $W_l$ → `weights`, $V$ → `readout`, $Y$ → `targets`, σ → `activation`,
        $P_1^\perp$ → subtracting the mean over samples, ∘ → the product entry by entry.

    Source:
        li2, Sec. 6, Eq. 2, 11. The paper writes the gate as a diagonal matrix on samples; it is one for
        each node.

    Holds when:
        always.

    Computed as:
        it is written.

    Checked by:
        checks `li2/eq11`, `li2/sec6`; `tests/quantities/test_layer_gradients.py`.

    Args:
        inputs: shape (n, d).
        weights: $W_1$ to $W_L$; a residual connection asks for square ones from the second on.
        readout: shape (width of the last layer, M).
        targets: shape (n, M).
        activation: a name of `models.activation`, or a function.
        residual: `"none"`, `"outside"` or `"inside"`.
        centring: `samples` subtracts the mean over samples from the error, `none` nothing.

    Returns:
        Activations, gradients, each a tuple with one entry for each layer, and the error.

    Example:
        >>> import numpy as np
        >>> from lazyrich.quantities import layer_gradients
        >>> found = layer_gradients(
        ...     np.eye(2), [np.eye(2), np.eye(2)], [[1.0], [0.0]], [[3.0], [0.0]], centring="none"
        ... )
        >>> found.gradients[0]
        array([[2., 0.],
               [0., 0.]])
    """
    X = _matrix("inputs", inputs)
    W = tuple(_matrix(f"weights[{k}]", w) for k, w in enumerate(items("weights", weights)))
    V, Y = _matrix("readout", readout), _matrix("targets", targets)
    choice("residual", residual, RESIDUAL)
    choice("centring", centring, ("samples", "none"))
    _check_shapes(X, W, V, Y, residual)
    sigma = activation_of(activation)

    def run(X: Any, W: Any, V: Any, Y: Any) -> LayerGradients:
        return _backpropagate(X, W, V, Y, sigma, residual, centring)

    found = compute(run, X, W, V, Y, jit=False)
    return representable(found, inputs=X, weights=W, readout=V, targets=Y)


def _backpropagate(
    X: Any, W: Any, V: Any, Y: Any, sigma: Any, residual: str, centring: str
) -> LayerGradients:
    features, slopes = [X], []
    for number, w in enumerate(W):
        F, joined = features[-1], residual if number else "none"
        z = F @ w + F if joined == "inside" else F @ w
        value, slope = jax.jvp(lambda z: sigma(z) + 0 * z, (z,), (jnp.ones_like(z),))
        features.append(F + value if joined == "outside" else value)
        slopes.append(slope)
    E = centred(Y - features[-1] @ V, centring)
    gradients = [E @ V.T]
    for w, slope in zip(W[:0:-1], slopes[:0:-1], strict=True):
        gated = slope * gradients[-1]
        passed = {"none": 0, "outside": gradients[-1], "inside": gated}[residual]
        gradients.append(gated @ w.T + passed)
    return LayerGradients(tuple(features[1:]), tuple(gradients[::-1]), E)


def _matrix(name: str, value: Any) -> Any:
    matrix = real(name, value, advice="Pass finite numbers.")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise argument_error(name, "be a matrix, not empty", matrix.shape)
    return matrix


def _check_shapes(X: Any, W: tuple[Any, ...], V: Any, Y: Any, residual: str) -> None:
    if not W:
        raise argument_error("weights", "hold at least one matrix", (), "Pass one for each layer.")
    width = X.shape[1]
    for number, w in enumerate(W):
        if w.shape[0] != width:
            raise argument_error(
                f"weights[{number}]", f"have {width} rows to fit what enters", w.shape
            )
        if number and residual != "none" and w.shape[1] != width:
            raise argument_error(
                f"weights[{number}]", "be square for a residual connection", w.shape
            )
        width = w.shape[1]
    if V.shape[0] != width:
        raise argument_error("readout", f"have {width} rows to fit the last of `weights`", V.shape)
    if Y.shape != (X.shape[0], V.shape[1]):
        raise argument_error("targets", f"have the shape {(X.shape[0], V.shape[1])}", Y.shape)
