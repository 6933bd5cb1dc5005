"""Eq. 40–48: gradient and conservation of the linear network."""

from typing import Any

import numpy as np

from lazyrich import models, theory
from lazyrich.checks._oracles import relative_gap, two_layer_flow
from lazyrich.checks.layerwise._instances import TIMES, extrapolated_descent, half_loss
from lazyrich.checks.layerwise._linear_instances import SHAPES, Net, aligned, networks
from lazyrich.core import CheckResult, check


@check(
    "layerwise/eq40",
    "Shapes of the linear network",
    against="the product written out entry by entry",
)
def eq40() -> CheckResult:
    """With these shapes f(x) = xᵀW₁W₂ is a row of c outputs."""
    errors = []
    for (d, p, c), net in zip(SHAPES, networks(), strict=True):
        model = models.Layerwise.full(d, p, c)
        written = np.einsum("ni,ij,jk->nk", net.X, net.W1, net.W2)
        same = model.shapes() == (net.W1.shape, net.W2.shape) and written.shape == (20, c)
        errors.append(
            relative_gap(model.apply(models.TwoLayerWeights(net.W1, net.W2), net.X), written)
        )
        errors.append(0.0 if same else 1.0)
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq41",
    "Gradient flow of the linear network",
    against="gradient descent extrapolated to a vanishing learning rate",
)
def eq41() -> CheckResult:
    """What descent in both layers tends to is what `LinearNetworkModes` gives for an aligned start."""
    errors = []
    for seed, shape in enumerate(SHAPES):
        a = aligned(seed, shape, np.array([0.6, 0.3]))
        cut = a.W1.size

        def gradient(flat: np.ndarray, a=a, cut=cut) -> np.ndarray:
            W1, W2 = flat[:cut].reshape(a.W1.shape), flat[cut:].reshape(a.W2.shape)
            rest = W1 @ W2 - a.C
            return np.concatenate([(rest @ W2.T).ravel(), (W1.T @ rest).ravel()])

        limit = extrapolated_descent(gradient, np.concatenate([a.W1.ravel(), a.W2.ravel()]), 0.5)
        product = limit[:cut].reshape(a.W1.shape) @ limit[cut:].reshape(a.W2.shape)
        found = theory.LinearNetworkModes.from_weights(a.C.T, [a.W1, a.W2]).product(0.5)
        errors.append(relative_gap(found, product))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq42", "The loss in sums over entries", against="½ mean squared norm of the error"
)
def eq42() -> CheckResult:
    """The two factors are the same error, once with i, j and once with i′, j′."""
    errors = []
    for net in networks():
        error = np.einsum("ni,ij,jk->nk", net.X, net.W1, net.W2) - net.Y
        written = np.mean(np.einsum("nk,nk->n", error, error)) / 2
        errors.append(relative_gap(written, half_loss(net.X @ net.W1 @ net.W2, net.Y)))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq43", "Derivative by a weight of the first layer", against="differences of the loss"
)
def eq43() -> CheckResult:
    """Entry by entry."""
    errors = []
    for net in networks():
        error = np.einsum("na,ab,bk->nk", net.X, net.W1, net.W2) - net.Y
        errors.append(relative_gap(np.einsum("ni,jk,nk->ij", net.X, net.W2, error) / 20, net.of_W1))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq44", "The same, multiplied out", against="differences of the loss")
def eq44() -> CheckResult:
    """As printed, the label stands under the sum over i′ and j′, which it does not depend on."""
    errors, printed = [], []
    for (d, p, _), net in zip(SHAPES, networks(), strict=True):
        cubic = np.einsum("ni,na,ab,bk,jk->ij", net.X, net.X, net.W1, net.W2, net.W2) / 20
        label = np.einsum("ni,nk,jk->ij", net.X, net.Y, net.W2) / 20
        errors.append(relative_gap(cubic - label, net.of_W1))
        printed.append(relative_gap(cubic - d * p * label, net.of_W1))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=min(printed),
        correction="the term with y is summed over k alone; under the sum over i′, j′, k it counts d·p times",
    )  # fmt: skip


@check("layerwise/eq45", "Gradient of the first layer", against="automatic differentiation")
def eq45() -> CheckResult:
    """In matrix form."""
    errors = []
    for net in networks():
        error = net.X @ net.W1 @ net.W2 - net.Y
        errors.append(relative_gap(net.X.T @ error @ net.W2.T / 20, _automatic(net)[0]))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq46",
    "Derivative by a weight of the second layer",
    against="differences of the loss",
)
def eq46() -> CheckResult:
    """Entry by entry."""
    errors = []
    for net in networks():
        error = np.einsum("na,ab,bk->nk", net.X, net.W1, net.W2) - net.Y
        errors.append(relative_gap(np.einsum("ni,ij,nk->jk", net.X, net.W1, error) / 20, net.of_W2))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq47", "Gradient of the second layer", against="automatic differentiation")
def eq47() -> CheckResult:
    """In matrix form."""
    errors = []
    for net in networks():
        error = net.X @ net.W1 @ net.W2 - net.Y
        errors.append(relative_gap(net.W1.T @ net.X.T @ error / 20, _automatic(net)[1]))
    return CheckResult(max(errors), 1e-12, len(errors))


def _automatic(net: Net) -> tuple[np.ndarray, np.ndarray]:
    import jax
    import jax.numpy as jnp

    def loss(W1: Any, W2: Any) -> Any:
        return jnp.mean(jnp.sum((net.X @ W1 @ W2 - net.Y) ** 2, axis=1)) / 2

    with jax.enable_x64(True):
        found = jax.jit(jax.grad(loss, (0, 1)))(jnp.asarray(net.W1), jnp.asarray(net.W2))
        return np.asarray(found[0]), np.asarray(found[1])


@check(
    "layerwise/eq48",
    "What the linear network conserves",
    against="differences of the loss; Runge–Kutta integration from random weights",
)
def eq48() -> CheckResult:
    """Both sides of the first equation for any inputs, and the matrix along integrated flows."""
    errors = [relative_gap(net.W1.T @ net.of_W1, net.of_W2 @ net.W2.T) for net in networks()]
    for seed, (d, p, c) in enumerate(SHAPES):
        rng = np.random.default_rng(seed)
        C, W1, W2 = (rng.standard_normal(size) for size in ((d, c), (d, p), (p, c)))
        one, two = two_layer_flow(C, W1, W2, TIMES)
        kept = np.swapaxes(one, 1, 2) @ one - two @ np.swapaxes(two, 1, 2)
        errors.append(relative_gap(kept, np.broadcast_to(W1.T @ W1 - W2 @ W2.T, kept.shape)))
    return CheckResult(max(errors), 1e-9, len(errors))
