"""Eq. 35, 36, 38, 41 and App. C: how weights leave a saddle, and narrower networks in their place."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.checks.saddles._instances import random_inputs
from lazyrich.checks.saddles.linear import _blocks, _data, _escape, _loss_and_gradient, _sets
from lazyrich.core import CheckResult, check

VALUES = ((3.0, 1.0, 0.5), (2.0, 2.0, 0.3), (1.0, 0.9, 0.1))
"""Singular values, with a largest one of multiplicity 1 and 2."""


def _split(escape: "theory.LinearEscape", time: float) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the winning part (Eq. 11) and of the rest of each unit, by Runge–Kutta."""
    S = np.asarray(escape.correlation)
    M, start = _blocks(S), escape.units(0.0)
    units = start
    if time > 0:
        velocity = lambda t, flat: (flat.reshape(start.shape) @ M).ravel()  # noqa: E731
        units = integrate(velocity, start, time, atol=1e-30).reshape(start.shape)
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
        gradient = _loss_and_gradient(Z, Y)[1]
        for modes in _sets(points.num_modes, width - 1):
            pairs = [_velocity_gaps(points, modes, gradient, width, size) for size in (1e-3, 1e-4)]
            errors.append(np.max(np.abs(np.log10(pairs[0] / pairs[1]) - 2)))
    return CheckResult(float(max(errors)), 0.05, len(errors))


def _velocity_gaps(
    points: Any, modes: tuple[int, ...], gradient: Any, width: int, size: float
) -> np.ndarray:
    """How far v̇ and u̇ of unused units of a size are from Eq. 41a and 41b, in units of that size."""
    S, weights, r = points.residual_correlation(modes), points.weights(modes, width), len(modes)
    (outputs, inputs), rng = S.shape, np.random.default_rng(width)
    u, v = rng.standard_normal((inputs, width - r)), rng.standard_normal((width - r, outputs))
    first, second = weights.first.copy(), weights.second.copy()
    first[:, r:], second[r:] = size * u, size * v
    flat = -gradient(np.concatenate([first.ravel(), second.ravel()]), width) / size
    for_u, for_v = flat[: first.size].reshape(first.shape), flat[first.size :].reshape(second.shape)
    gaps = for_v[r:] - (S @ u).T, for_u[:, r:] - (v @ S).T
    return np.array([np.abs(gap).max() for gap in gaps])


@check(
    "saddles/app-c-reduction",
    "Near an invariant manifold a narrower network stands for the wide one",
    against="gradient flow of both, by Runge–Kutta, at distances 1e-3 and 3e-4 from the manifold",
    seconds=12,
)
def app_c_reduction() -> CheckResult:
    """App. C: networks near manifolds of all forms, and narrower ones in their place.

    The narrower network of F.3 has the same map but not the same flow: it must share the factor between
    both layers, √(1 + γ²) each for proportional units, the root of 1 + γγᵀ for dependent ones. Then the maps
    differ by the square of the distance from the manifold, as the nearest point on it is taken; without units
    at zero by its cube, where they are quadratic. The error is that of the power.
    """
    errors = []
    for seed, (network, manifold, power) in enumerate(_reductions()):
        gaps = _reduction_gaps(network, manifold, seed, (1e-3, 3e-4))
        errors.append(abs(float(np.log(gaps[0] / gaps[1]) / np.log(1e-3 / 3e-4)) - power))
    return CheckResult(max(errors), 0.1, len(errors))


def _reductions() -> list[tuple[Any, Any, int]]:
    """Networks, manifolds of their first layer, and the power of the distance by which the maps differ."""
    from lazyrich.models import Attention, Convolution, Deep, TwoLayer

    linear, relu = TwoLayer(2, 4, 2), TwoLayer(2, 3, 2, "relu")
    deep = Deep(TwoLayer(2, 3, 3), ("tanh",), output_dimension=2)
    return [
        (linear, theory.ProportionalManifold(0.7, of=0), 2),
        (linear, theory.ProportionalManifold(-1.3, of=1), 2),
        (linear, theory.DependentManifold([0.4, -0.8, 0.3]), 2),
        (linear, theory.EqualManifold(2), 2),
        (linear, theory.ZeroManifold(), 2),
        (relu, theory.ProportionalManifold(0.7, of=0), 2),
        (relu, theory.EqualManifold(1), 2),
        (Convolution(4, 3, kernel=2, stride=2, activation="relu"), theory.ProportionalManifold(1.4, of=1), 2),
        (Convolution(5, 4, kernel=2, stride=1), theory.DependentManifold([0.4, -0.8, 0.3]), 2),
        (deep, theory.DependentManifold([0.6, -0.5]), 2),
        (TwoLayer(3, 4, 1, "tanh"), theory.ZeroManifold(), 2),
        (TwoLayer(3, 4, 1, "quadratic"), theory.ZeroManifold(), 3),
        (Attention(2, 3), theory.ZeroManifold(), 3),
    ]  # fmt: skip


def _reduction_gaps(
    network: Any, manifold: Any, seed: int, distances: tuple[float, ...]
) -> list[float]:
    """Largest difference between the maps of the wide and the narrower network after some flow."""
    import jax

    from lazyrich.models import Units

    rng = np.random.default_rng(seed)
    x = random_inputs(network, rng, 12)
    weights = network.init(jax.random.key(seed), 0.5)
    flow = _flow(network, x, rng.standard_normal(network.apply(weights, x).shape))
    base = manifold.project(network.units(weights))
    away = [rng.standard_normal(part.shape) for part in base]
    gamma = manifold.factors(len(base.incoming))[:-1]
    values, vectors = np.linalg.eigh(np.eye(gamma.size) + np.outer(gamma, gamma))
    root, gaps = vectors * np.sqrt(values) @ vectors.T, []
    for distance in distances:
        near = Units(*(p + distance * d for p, d in zip(base, away, strict=True)))
        kept = Units(*(root @ np.asarray(part)[:-1] for part in manifold.project(near)))
        ends = [flow(network.with_units(weights, units)) for units in (near, kept)]
        gaps.append(float(np.max(np.abs(ends[0] - ends[1]))))
    return gaps


def _flow(network: Any, x: np.ndarray, y: np.ndarray) -> Any:
    """Outputs after gradient flow for a time of 1, as a function of the weights at the start."""
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    slope = jax.jit(jax.grad(lambda w: jnp.mean((network.apply(w, x) - y) ** 2)))

    def end(weights: Any) -> np.ndarray:
        with jax.enable_x64(True):
            flat, tree = ravel_pytree(jax.tree.map(jnp.asarray, weights))
            velocity = lambda t, w: -np.asarray(ravel_pytree(slope(tree(w)))[0])  # noqa: E731
            last = integrate(velocity, flat, 1, rtol=1e-11, atol=1e-12)
            return np.asarray(network.apply(tree(jnp.asarray(last)), x))

    return end
