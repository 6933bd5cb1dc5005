"""Eq. 35, 36, 38, 41 and App. C: how weights leave a saddle, and narrower networks in their place."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.saddles.linear import _blocks, _data, _escape, _loss_and_gradient
from lazyrich.core import CheckResult, check

VALUES = ((3.0, 1.0, 0.5), (2.0, 2.0, 0.3), (1.0, 0.9, 0.1))
"""Singular values, with a largest one of multiplicity 1 and 2."""


def _split(escape: "theory.LinearEscape", time: float) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the winning part (Eq. 11) and of the rest of each unit, by Runge–Kutta."""
    from scipy.integrate import solve_ivp

    S = np.asarray(escape.correlation)
    M, start = _blocks(S), escape.units(0.0)
    flow = solve_ivp(
        lambda t, flat: (flat.reshape(start.shape) @ M).ravel(), (0, max(time, 1e-9)), start.ravel(),
        method="DOP853", rtol=1e-12, atol=1e-30,
    )  # fmt: skip
    units = (flow.y[:, -1] if time > 0 else start.ravel()).reshape(start.shape)
    Q, s, Rt = np.linalg.svd(S, full_matrices=False)
    winners = np.concatenate([Q, Rt.T])[:, s > s[0] * (1 - 1e-9)]
    P = winners @ winners.T / 2
    return np.linalg.norm(units @ P, axis=1), np.linalg.norm(units - units @ P, axis=1)


@check(
    "saddles/eq35",
    "The constants of the exact solution, from the initial weights",
    against="least squares on the eigenvectors of Eq. 33",
)
def eq35() -> CheckResult:
    """Eq. 35: projections on growing and decaying directions, and what belongs to neither."""
    errors = []
    for seed, values in enumerate(VALUES):
        escape = _escape(seed, values, 1.0)
        Q, _, Rt = np.linalg.svd(np.asarray(escape.correlation), full_matrices=False)
        theta, outputs = escape.units(0.0), Q.shape[0]
        v, u = theta[:, :outputs], theta[:, outputs:]
        basis = np.concatenate([np.concatenate([Q, Rt.T]), np.concatenate([Q, -Rt.T])], axis=1)
        fitted = np.linalg.lstsq(basis, theta.T)[0]
        printed = np.concatenate([(v @ Q + u @ Rt.T).T, (v @ Q - u @ Rt.T).T]) / 2
        errors.append(np.max(np.abs(fitted - printed)))
        rest = theta.T - basis @ printed
        errors.append(
            np.max(np.abs(_blocks(np.asarray(escape.correlation)) @ rest))
        )  # it does not move
    return CheckResult(float(max(errors)), 1e-12, len(errors))


@check(
    "saddles/eq36",
    "Growth of the part along the winning directions",
    against="Runge–Kutta integration of Eq. 10",
)
def eq36() -> CheckResult:
    """Eq. 36: it grows by the factor e^{s₁t}, whatever the rest does."""
    errors = []
    for seed, values in enumerate(VALUES):
        escape = _escape(seed, values, 1e-3)
        for time in (0.5, 2.0):
            grown = _split(escape, time)[0] / _split(escape, 0.0)[0]
            errors.append(np.max(np.abs(grown / np.exp(values[0] * time) - 1)))
    return CheckResult(float(max(errors)), 1e-9, len(errors))


@check(
    "saddles/eq38",
    "A bound on the rest when the winning part is of size 1",
    against="Runge–Kutta integration of Eq. 10",
)
def eq38() -> CheckResult:
    """Eq. 38: the rest is at most as stated, and the last two lines of the bound are the same number.

    The error is by how much the rest exceeds the bound, relative to it; at most 0.
    """
    errors = []
    for seed, values in enumerate(VALUES):
        escape = _escape(seed, values, 1e-4)
        aligned, rest = _split(escape, 0.0)
        ratio = next((s for s in values if s < values[0]), 0.0) / values[0]
        for unit, time in enumerate(escape.escape_time().time):
            bound = (1 / aligned[unit]) ** ratio * rest[unit]
            same = (rest[unit] / aligned[unit]) ** ratio * rest[unit] ** (1 - ratio)
            errors.append(max(_split(escape, float(time))[1][unit] / bound - 1, 0.0))
            errors.append(abs(same / bound - 1))
    return CheckResult(float(max(errors)), 1e-9, len(errors))


@check(
    "saddles/eq41",
    "Near a fixed point small units obey a linear system",
    against="automatic differentiation of the loss over samples, at unused units of sizes 1e-3 and 1e-4",
)
def eq41() -> CheckResult:
    """Eq. 41: velocities are Σ̃_yz u and Σ̃_yzᵀ v up to terms that vanish with the square of the size.

    The error is that of the power with which the relative difference vanishes.
    """
    errors = []
    for seed, (inputs, outputs, width) in enumerate(((3, 2, 4), (2, 3, 3), (4, 4, 5))):
        Z, Y = _data(seed, inputs, outputs, 30)
        points = theory.LinearFixedPoints(Y.T @ Z / 30, Z.T @ Z / 30)
        S, weights = points.residual_correlation([0]), points.weights([0], width)
        gradient = _loss_and_gradient(Z, Y)[1]
        rng = np.random.default_rng(seed)
        u, v = rng.standard_normal((inputs, width - 1)), rng.standard_normal((width - 1, outputs))
        differences = []
        for size in (1e-3, 1e-4):
            first, second = weights.first.copy(), weights.second.copy()
            first[:, 1:], second[1:] = size * u, size * v
            flat = -gradient(np.concatenate([first.ravel(), second.ravel()]), width)
            moved = flat[first.size :].reshape(second.shape)[1:] / size
            differences.append(np.max(np.abs(moved - (S @ u).T)))
        errors.append(abs(np.log10(differences[0] / differences[1]) - 2))
    return CheckResult(float(max(errors)), 0.05, len(errors))


@check(
    "saddles/app-c-reduction",
    "Near an invariant manifold a narrower network stands for the wide one",
    against="gradient flow of both, by Runge–Kutta, at distances 1e-2 and 1e-3 from the manifold",
    seconds=6,
)
def app_c_reduction() -> CheckResult:
    """App. C: a network near the manifold of two proportional units, and one with these two made one.

    The narrower network of F.3 has the same map but not the same flow: it must share the factor between
    both layers, √(1 + γ²) each. Then the maps differ by the square of the distance from the manifold, as the
    nearest point on it is taken. The error is that of the power.
    """
    differences = [_reduction_error(distance) for distance in (1e-2, 1e-3)]
    power = np.log10(differences[0] / differences[1])
    return CheckResult(abs(float(power) - 2), 0.1, 1)


def _reduction_error(distance: float) -> float:
    """Largest difference between the maps of the wide and the narrower network after some flow."""
    import jax

    from lazyrich.models import TwoLayer, Units

    network, factor = TwoLayer(2, 3, 2), 0.7
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((12, 2)), rng.standard_normal((12, 2))
    weights = network.init(jax.random.key(3), 0.7)
    manifold = theory.ProportionalManifold(factor, of=0)
    base = manifold.project(network.units(weights))
    near = Units(*(part + distance * rng.standard_normal(part.shape) for part in base))
    kept = [np.array(part)[:-1] for part in manifold.project(near)]
    for part in kept:
        part[0] *= np.sqrt(1 + factor**2)
    starts = [network.with_units(weights, units) for units in (near, Units(*kept))]
    ends = [_flow(network, start, x, y) for start in starts]
    return float(np.max(np.abs(ends[0] - ends[1])))


def _flow(network: Any, weights: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Outputs after gradient flow for a time of 1."""
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree
    from scipy.integrate import solve_ivp

    with jax.enable_x64(True):
        flat, tree = ravel_pytree(jax.tree.map(jnp.asarray, weights))
        loss = lambda w: jnp.mean((network.apply(tree(w), x) - y) ** 2)  # noqa: E731
        slope = jax.jit(jax.grad(loss))
        flow = solve_ivp(
            lambda t, w: -np.asarray(slope(w)), (0, 1), np.asarray(flat), method="DOP853", rtol=1e-11,
            atol=1e-12,
        )  # fmt: skip
        return np.asarray(network.apply(tree(jnp.asarray(flow.y[:, -1])), x))
