"""Theorem 3, Eq. 27–31 and App. F.3, F.4: relations between units that gradient flow keeps."""

from typing import Any

import numpy as np

from lazyrich import models, theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.saddles._instances import (
    FORMS,
    Instance,
    instance,
    layers,
    random_manifold,
)
from lazyrich.checks.saddles._responses import LINEAR, responses, responses_of
from lazyrich.core import CheckResult, check

FLOWS = (
    ("tanh", 0, "split"), ("attention", 0, "zero"), ("relu", 0, "proportional"),
    ("linear", 0, "negative"), ("three layers", 1, "dependent"), ("convolution", 0, "dependent"),
)  # fmt: skip
"""Networks, layers and manifolds on which gradient flow is integrated."""


@check(
    "saddles/thm3",
    "Invariant manifolds",
    against="the gradient by automatic differentiation at random points of each manifold, and Runge–Kutta "
    "integration of gradient flow that starts on it",
    seconds=20,
)
def thm3() -> CheckResult:
    """Theorem 3 (i) to (iv): at any point of a manifold the gradient lies in it."""
    errors = []
    for seed, (name, layer) in enumerate(layers()):
        here, rng = instance(name), np.random.default_rng(seed)
        for manifold in _manifolds(rng, here.network.kinds[layer], here.num_units(layer)):
            weights = _on(here, manifold, rng, layer)
            error = rng.standard_normal(here.outputs(weights).size)
            velocity = here.network.units(here.gradient(weights, error), layer)
            errors.append(manifold.residual(velocity) / _length(velocity))
    errors += [flow_residual(*case) for case in FLOWS]
    return CheckResult(max(errors), 1e-12, len(errors))


def _manifolds(rng: Any, kind: Any, units: int) -> list[Any]:
    found = [random_manifold(form, rng, units) for form in FORMS]
    return [manifold for manifold in found if manifold.is_invariant(kind)]


def _on(here: Instance, manifold: Any, rng: Any, layer: int) -> Any:
    """Random weights on a manifold."""
    full = here.random_weights(rng)
    units = manifold.project(here.network.units(full, layer))
    return here.network.with_units(full, units, layer)


def _length(units: "models.Units") -> float:
    return float(np.hypot(np.linalg.norm(units.incoming), np.linalg.norm(units.outgoing)))


def flow_residual(name: str, layer: int, form: str, time: float = 0.5) -> float:
    """How far gradient flow leads away from a manifold, relative to how far it leads at all."""
    import jax

    here, rng = instance(name), np.random.default_rng(3)
    manifold = random_manifold(form, rng, here.num_units(layer))
    start = jax.tree.map(lambda w: w / 2, _on(here, manifold, rng, layer))
    labels = rng.standard_normal(here.outputs(start).size)

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        jacobian, outputs = here.jacobian_and_outputs(here.unflatten(flat, start))
        return (labels - outputs) @ jacobian / len(here.inputs)

    flat = np.concatenate([w.ravel() for w in jax.tree.leaves(start)])
    end = integrate(velocity, flat, time, rtol=1e-6, atol=1e-8)
    units = here.network.units(here.unflatten(end, start), layer)
    return float(manifold.residual(units)) / float(np.linalg.norm(end - flat))


@check(
    "saddles/eq27",
    "The response of a dependent unit that is linear",
    against="the responses of whole networks",
)
def eq27() -> CheckResult:
    """Eq. 27: responses subtract as incoming weights do."""
    errors = []
    for case in LINEAR:
        units = responses_of(*case)[1]
        gamma = np.random.default_rng(27).standard_normal(len(units) - 1)
        phi = responses(*case, units)
        left = phi[-1] - np.tensordot(gamma, phi[:-1], 1)
        right = responses(*case, units[-1:] - gamma @ units[:-1])[0]
        errors.append(relative_gap(left, right))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "saddles/eq28",
    "A network with a dependent unit as one with a unit less",
    against="the outputs of both networks",
    seconds=5,
)
def eq28() -> CheckResult:
    """Eq. 28, with the dependent unit at any place."""
    errors = _reductions("dependent")
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "saddles/app-f3",
    "Networks on invariant manifolds as networks with a unit less",
    against="the outputs of both networks, and of a network with two units less under two constraints",
    seconds=20,
)
def app_f3() -> CheckResult:
    """App. F.3 (i) to (iv): factors 2, 1, 1 + γ² and Eq. 28; each constraint takes a unit away."""
    errors = [error for form in FORMS for error in _reductions(form)]
    return CheckResult(max(errors), 1e-12, len(errors))


def _reductions(form: str) -> list[float]:
    errors = []
    for seed, (name, layer) in enumerate(layers()):
        here, rng = instance(name), np.random.default_rng(seed)
        kind = here.network.kinds[layer]
        manifold = random_manifold(form, rng, here.num_units(layer))
        if not manifold.is_invariant(kind):
            continue
        weights = _on(here, manifold, rng, layer)
        units = manifold.reduce(here.network.units(weights, layer), kind)
        less = here.network.with_units(weights, units, layer)
        errors.append(relative_gap(here.outputs(less), here.outputs(weights)))
    return [*errors, _two_constraints(form)]


def _two_constraints(form: str) -> float:
    """Two pairs of units under one constraint each, in a linear network, which allows all forms."""
    here, rng = instance("linear"), np.random.default_rng(1)
    kind, weights = here.network.kinds[0], here.random_weights(rng)
    first = random_manifold(form, rng, 2)
    u, v = here.network.units(weights, 0)
    pairs = [first.project(models.Units(u[half], v[half])) for half in (slice(2), slice(2, 4))]
    full, less = (
        here.network.with_units(weights, models.Units(*map(np.concatenate, zip(*p, strict=True))))
        for p in (pairs, [first.reduce(pair, kind) for pair in pairs])
    )
    return relative_gap(here.outputs(less), here.outputs(full))


@check(
    "saddles/app-f4",
    "Embedded fixed points on invariant manifolds",
    against="residuals of embedded units; automatic differentiation; the narrow weights they came from",
    seconds=20,
)
def app_f4() -> CheckResult:
    """App. F.4: with the stated factors an embedded fixed point is on the manifold, with others it is not.

    Taking the unit away again gives back the narrow weights.
    """
    errors = []
    for seed, (name, layer) in enumerate(layers()):
        here, rng = instance(name), np.random.default_rng(seed)
        kind = here.network.kinds[layer]
        count = here.num_units(layer) - 1
        narrow, error = here.narrow_fixed_point(rng, layer, count)
        for manifold in _embeddings(rng, count):
            if not manifold.is_invariant(kind):
                continue
            wide = theory.embed(here.network, narrow, manifold.embedding(), layer=layer)
            jacobian, units = here.jacobian(wide), here.network.units(wide, layer)
            errors.append(np.abs(error @ jacobian).max() / np.max(np.abs(error) @ np.abs(jacobian)))
            errors.append(float(manifold.residual(units)) / _length(units))
            pairs = zip(
                manifold.reduce(units, kind), here.network.units(narrow, layer), strict=True
            )
            errors += [relative_gap(found, start) for found, start in pairs]
    return CheckResult(max(*errors, 1.0 - _off_the_manifold()), 1e-12, len(errors))


def _embeddings(rng: Any, count: int) -> list[Any]:
    """A manifold of each form that ties a new unit to the others."""
    factor = float(rng.uniform(0.3, 2))
    return [
        theory.EqualManifold(int(rng.integers(count))),
        theory.ZeroManifold(),
        theory.ProportionalManifold(factor, int(rng.integers(count))),
        theory.ProportionalManifold(-factor, int(rng.integers(count))),
        theory.DependentManifold(rng.standard_normal(count)),
    ]


def _off_the_manifold() -> bool:
    """Whether embedded units with other outgoing factors are off the manifold, by more than a tenth."""
    here, rng = instance("linear"), np.random.default_rng(2)
    units = here.network.units(here.narrowed(here.random_weights(rng), 0, 3))
    kind, gamma = here.network.kinds[0], np.array([0.5, -1.0, 2.0])
    off = [
        (theory.EqualManifold(1), theory.SplitUnit(1, 0.7)),
        (theory.ProportionalManifold(0.5, 1), theory.ProportionalUnit(1, 0.5, 0.6)),
        (theory.DependentManifold(gamma), theory.DependentUnit(gamma, 0.3 * gamma)),
    ]
    return all(manifold.residual(made.apply(units, kind)) > 0.1 for manifold, made in off)


def _embedded_units(seed: int, gamma_u: np.ndarray, gamma_v: np.ndarray) -> "models.Units":
    rng = np.random.default_rng(seed)
    start = models.Units(
        rng.standard_normal((len(gamma_u), 3)), rng.standard_normal((len(gamma_u), 2))
    )
    kind = instance("linear").network.kinds[0]
    return theory.DependentUnit(gamma_u, gamma_v).apply(start, kind)


@check(
    "saddles/eq29", "A proportional embedded unit in terms of its partner", against="Eq. 6 applied"
)
def eq29() -> CheckResult:
    """Eq. 29: the first equality for any γ_v with γ_u γ_v ≠ 1, the second for γ_v = γ_u/(1 + γ_u²)."""
    errors = []
    for seed in range(6):
        gamma_u, gamma_v = np.random.default_rng(seed).standard_normal(2)
        for outgoing in (gamma_v, gamma_u / (1 + gamma_u**2)):
            u, v = _embedded_units(seed, np.array([gamma_u]), np.array([outgoing]))
            errors.append(relative_gap(outgoing / (1 - gamma_u * outgoing) * v[0], v[1]))
            errors.append(relative_gap(gamma_u * u[0], u[1]))
        errors.append(relative_gap(gamma_u * v[0], v[1]))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("saddles/eq30", "A dependent embedded unit in terms of the others", against="Eq. 7 applied")
def eq30() -> CheckResult:
    """Eq. 30, where Σγ_vγ_u ≠ 1.

    Where that sum is 1 the combination Σγ_v v_i of the others vanishes, and v_H is no function of them:
    Eq. 7 has no division and stays right.
    """
    errors = []
    for seed, width in enumerate((1, 2, 3, 5, 8)):
        rng = np.random.default_rng(seed)
        gamma_u, gamma_v = rng.standard_normal((2, width))
        v = _embedded_units(seed, gamma_u, gamma_v).outgoing
        errors.append(relative_gap(gamma_v @ v[:-1] / (1 - gamma_v @ gamma_u), v[-1]))
        gamma_v = gamma_v / (gamma_v @ gamma_u)
        v = _embedded_units(seed, gamma_u, gamma_v).outgoing
        errors.append(np.abs(gamma_v @ v[:-1]).max() / np.abs(np.outer(gamma_v, v[-1])).max())
    return CheckResult(max(errors), 1e-11, len(errors))


@check(
    "saddles/eq31", "A dependent embedded unit on the invariant manifold", against="Eq. 7 applied"
)
def eq31() -> CheckResult:
    """Eq. 31: with γ_v = γ_u/(1 + Σγ_u²) the new unit is the combination of the others by γ_u."""
    errors = []
    for seed, width in enumerate((1, 2, 3, 5, 8)):
        gamma = np.random.default_rng(seed).standard_normal(width)
        u, v = _embedded_units(seed, gamma, gamma / (1 + gamma @ gamma))
        errors += [relative_gap(gamma @ u[:-1], u[-1]), relative_gap(gamma @ v[:-1], v[-1])]
    return CheckResult(max(errors), 1e-12, len(errors))
