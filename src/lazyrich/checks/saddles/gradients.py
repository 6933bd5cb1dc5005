"""App. D and Eq. 25, 26: gradients of the units, and how responses scale and add."""

import functools
from typing import Any

import numpy as np

from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.saddles._instances import instance
from lazyrich.checks.saddles._responses import (
    HOMOGENEOUS,
    LINEAR,
    Responses,
    responses,
    responses_of,
)
from lazyrich.core import CheckResult, check

GRADIENTS = (
    ("tanh", 0), ("relu convolution", 0), ("attention", 0), ("four layers", 1),
    ("convolution and layer", 0),
)  # fmt: skip
"""Networks and layers for the gradients of App. D."""


@functools.cache
def _gradients(name: str, layer: int) -> tuple[float, float]:
    """Errors of Eq. 21 and Eq. 22 for a loss that is no square."""
    import jax
    import jax.numpy as jnp

    here, rng = instance(name), np.random.default_rng(layer)
    start = here.random_weights(rng)
    P = len(here.inputs)
    labels = rng.standard_normal((P, here.outputs(start).size // P))

    def losses(outputs: Any) -> Any:
        return jnp.sum(jnp.logaddexp(0, -labels * outputs), axis=1)

    def both(weights: Any) -> Any:
        parts = Responses(here.network, weights, here.inputs, layer)
        slope = jax.grad(lambda zeta: jnp.sum(losses(parts.g_out(zeta))))(parts.zeta())
        u, v = here.network.units(weights, layer)
        by_v = jnp.einsum("ispn,sp->in", parts.phi(u), slope) / P
        by_u = jnp.einsum("in,ispnk,sp->ik", v, parts.slopes(u), slope) / P
        exact = jax.grad(lambda w: jnp.mean(losses(here.network.apply(w, here.inputs))))(weights)
        return (by_v, by_u), here.network.units(exact, layer)

    with jax.enable_x64(True):
        (by_v, by_u), exact = jax.jit(both)(start)
    return relative_gap(by_v, exact.outgoing), relative_gap(by_u, exact.incoming)


@check(
    "saddles/eq21",
    "Gradient of the outgoing weights",
    against="automatic differentiation of a logistic loss of whole networks",
    seconds=8,
)
def eq21() -> CheckResult:
    """Eq. 21, for neurons, kernels, heads, and layers of deeper networks."""
    errors = [_gradients(*case)[0] for case in GRADIENTS]
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "saddles/eq22",
    "Gradient of the incoming weights",
    against="automatic differentiation of a logistic loss of whole networks",
    seconds=8,
)
def eq22() -> CheckResult:
    """Eq. 22, for neurons, kernels, heads, and layers of deeper networks."""
    errors = [_gradients(*case)[1] for case in GRADIENTS]
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "saddles/eq25",
    "The derivative of a homogeneous response along a ray",
    against="automatic differentiation of the responses of whole networks",
    seconds=4,
)
def eq25() -> CheckResult:
    """Eq. 25: the derivative is the same at γu as at u, for γ > 0; for linear units for any γ.

    At γ = 0, which Theorem 1 (iii) includes, a ReLU has no derivative; a convention gives it one that does
    not depend on u, so that the equation cannot hold.
    """
    errors, at_zero = [], []
    for case in HOMOGENEOUS:
        _, u, kind = responses_of(*case)
        slope = responses(*case, u, slopes=True)
        for gamma in (1e-3, 0.3, 2.5, 1e3, *((-0.4, -2.0, 0.0) if kind.linear else ())):
            errors.append(relative_gap(responses(*case, gamma * u, slopes=True), slope))
        if not kind.linear:
            at_zero.append(relative_gap(responses(*case, 0 * u, slopes=True), slope))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(at_zero),
        correction="for γ > 0, or γ ≠ 0 where φ is homogeneous for both signs; at γ = 0 for linear φ only",
    )  # fmt: skip


@check(
    "saddles/eq26",
    "The response of a combination of units that are linear",
    against="the responses of whole networks",
)
def eq26() -> CheckResult:
    """Eq. 26: the response to a combination of incoming weights is the combination of the responses."""
    errors = []
    for case in LINEAR:
        _, units, _ = responses_of(*case)
        gamma = np.random.default_rng(26).standard_normal((len(units), len(units)))
        whole = responses(*case, gamma @ units)
        parts = np.tensordot(gamma, responses(*case, units), 1)
        errors.append(relative_gap(parts, whole))
    return CheckResult(max(errors), 1e-12, len(errors))
