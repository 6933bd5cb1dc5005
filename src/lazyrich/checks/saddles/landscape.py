"""Theorem 1, Corollary 2, Eq. 4–7 and App. E: fixed points of narrow networks in wider ones."""

import functools
from typing import Any

import numpy as np

from lazyrich import models, theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.saddles._instances import (
    FORMS,
    instance,
    layers,
    networks,
    random_construction,
)
from lazyrich.core import CheckResult, check

AGAINST = "automatic differentiation, on data for which random narrow weights are at rest"


@functools.cache
def _embedded(form: str) -> tuple[float, ...]:
    """Largest change of the map and largest gradient in any layer, for all networks and layers.

    One unit is added to a layer, and all but one. Both errors are relative: to the outputs, and to the
    gradient that the same errors have at random weights.
    """
    errors = []
    for seed, (name, layer) in enumerate(layers()):
        here, rng = instance(name), np.random.default_rng(seed)
        if random_construction(form, rng, 1).lacks(here.network.kinds[layer]):
            continue
        for units in sorted({1, here.num_units(layer) - 1}):
            narrow, error = here.narrow_fixed_point(rng, layer, units)
            wide = _widened(
                here, narrow, layer, lambda count, rng=rng: random_construction(form, rng, count)
            )
            errors += _gaps(here, narrow, wide, error)
    return tuple(errors)


def _widened(here: Any, weights: Any, layer: int, construction: Any) -> Any:
    """Units added to a layer, one after the other, until it has its full width."""
    for count in range(len(here.network.units(weights, layer).incoming), here.num_units(layer)):
        weights = theory.embed(here.network, weights, construction(count), layer=layer)
    return weights


def _gaps(here: Any, narrow: Any, wide: Any, error: np.ndarray) -> list[float]:
    """By how much the map has changed, and the gradient in all layers."""
    jacobian, outputs = here.jacobian_and_outputs(wide)
    expected = here.outputs(narrow)
    return [
        float(np.abs(outputs - expected).max() / np.abs(expected).max()),
        float(np.abs(error @ jacobian).max()) / _scale(jacobian, error),
    ]


def _scale(jacobian: np.ndarray, error: np.ndarray) -> float:
    """The size that the gradient would have without cancellation."""
    return float(np.max(np.abs(error) @ np.abs(jacobian)))


def _result(*forms: str) -> CheckResult:
    errors = [error for form in forms for error in _embedded(form)]
    return CheckResult(max(errors), 1e-12, len(errors))


@check("saddles/eq4", "A split unit", against=AGAINST, seconds=10)
def eq4() -> CheckResult:
    """Theorem 1 (i), for all networks and layers."""
    return _result("split")


@check("saddles/eq5", "A zero unit", against=AGAINST, seconds=10)
def eq5() -> CheckResult:
    """Theorem 1 (ii), for all networks and layers whose units are silent at zero."""
    return _result("zero")


@check(
    "saddles/eq6",
    "A proportional unit",
    against=AGAINST + "; the loss beside the fixed point, by its definition",
    seconds=10,
)
def eq6() -> CheckResult:
    """Theorem 1 (iii), factors of either sign for linear units and positive ones for ReLU.

    The range γ_u ≥ 0 that is printed for ReLU includes 0, where the loss has a kink: it changes linearly in
    some directions. The printed error is that slope, relative to its size without cancellation.
    """
    errors = [error for form in ("proportional", "negative") for error in _embedded(form)]
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=_slope_at_zero(),
        correction="for ReLU γ_u > 0 is needed, or γ_v = 0: at γ_u = 0 the loss has a kink, beside which it "
        "changes linearly; its gradient is zero there by the convention ReLU′(0) = 0 alone",
    )  # fmt: skip


def _slope_at_zero(step: float = 1e-6) -> float:
    """How steeply the loss changes beside γ_u = 0 in a direction of the new unit's incoming weights."""
    here, rng = instance("relu"), np.random.default_rng(0)
    narrow, error = here.narrow_fixed_point(rng, 0, 3)
    labels = here.outputs(narrow) - error
    wide = theory.embed(here.network, narrow, theory.ProportionalUnit(0, 0.0, 1.0))

    def loss(direction: np.ndarray) -> float:
        moved = wide._replace(first=wide.first + step * np.outer(direction, [0, 0, 0, 1]))
        return float(np.sum((here.outputs(moved) - labels) ** 2) / 2)

    slopes = [abs(loss(d) - loss(0 * d)) / step for d in rng.standard_normal((20, 3))]
    return max(slopes) / _scale(here.jacobian(wide), error)


@check("saddles/eq7", "A unit that depends on all others", against=AGAINST, seconds=10)
def eq7() -> CheckResult:
    """Theorem 1 (iv), for all layers of units that are linear in their incoming weights."""
    return _result("dependent")


@check("saddles/thm1", "Embedded fixed points", against=AGAINST, seconds=20)
def thm1() -> CheckResult:
    """Theorem 1 (i) to (iv), the gradient in all layers included, with γ_u > 0 for ReLU (see Eq. 6)."""
    return _result(*FORMS)


@check(
    "saddles/cor2", "Fixed points embedded in several layers at once", against=AGAINST, seconds=10
)
def cor2() -> CheckResult:
    """Corollary 2: each layer of a deep network is widened by any number of units, in forms they allow."""
    errors = []
    for name in (name for name, network in networks().items() if len(network.kinds) > 1):
        here = instance(name)
        num_layers = len(here.network.kinds)
        for seed in range(5):
            rng = np.random.default_rng(seed)
            widths = {n: int(rng.integers(1, here.num_units(n) + 1)) for n in range(num_layers)}
            narrow, error = here.fixed_point(rng, widths)
            wide = narrow
            for layer, kind in enumerate(here.network.kinds):
                any_form = functools.partial(_any_construction, rng, kind)
                wide = _widened(here, wide, layer, any_form)
            errors += _gaps(here, narrow, wide, error)
    return CheckResult(max(errors), 1e-12, len(errors))


def _any_construction(rng: Any, kind: Any, units: int) -> Any:
    """A construction of a random form that the units allow."""
    made = [random_construction(form, rng, units) for form in FORMS]
    allowed = [construction for construction in made if not construction.lacks(kind)]
    return allowed[rng.integers(len(allowed))]


@check(
    "saddles/app-e",
    "Gradients of an embedded network, at rest or not",
    against="automatic differentiation at random weights and errors",
    seconds=10,
)
def app_e() -> CheckResult:
    """App. E: the gradients are combinations of those of the narrow network, which proves Theorem 1.

    For all constructions v̇_i = v̇_i*, u̇_i = u̇_i* − γ_{u_i} Σ_j γ_{v_j} u̇_j*, v̇_H = Σ γ_{u_i} v̇_i* and
    u̇_H = Σ γ_{v_i} u̇_i*. In part (iv) a plus is printed in the second; at a fixed point both are zero.
    """
    errors, printed = [], []
    for seed, (name, layer) in enumerate(layers()):
        here, rng = instance(name), np.random.default_rng(seed)
        full, count = here.random_weights(rng), here.num_units(layer) - 1
        error = rng.standard_normal(here.outputs(full).size)
        silent = here.silenced(full, layer, count)
        narrow = here.network.units(here.gradient(silent, error), layer)
        for form in FORMS:
            construction = random_construction(form, rng, count)
            if construction.lacks(here.network.kinds[layer]):
                continue
            start = here.narrowed(full, layer, count)
            wide = theory.embed(here.network, start, construction, layer=layer)
            found = here.network.units(here.gradient(wide, error), layer)
            factors = construction.factors(count)
            errors.append(_largest_gap(found, _combined(narrow, factors, -1)))
            if form == "dependent":
                printed.append(_largest_gap(found, _combined(narrow, factors, +1)))
    return CheckResult(
        max(errors), 1e-11, len(errors), printed_error=max(printed),
        correction="in part (iv) u̇_i = u̇_i* − γ_u Σ γ_v u̇_j*, not plus; no consequence where both vanish",
    )  # fmt: skip


def _combined(narrow: "models.Units", factors: Any, sign: int) -> "models.Units":
    """Gradients of the units of the embedded network from those of the narrow one."""
    gamma_u, gamma_v = factors
    u, v = narrow.incoming[: len(gamma_u)], narrow.outgoing[: len(gamma_u)]
    new_u, new_v = gamma_v @ u, gamma_u @ v
    return models.Units(
        np.concatenate([u + sign * np.outer(gamma_u, new_u), new_u[None]]),
        np.concatenate([v, new_v[None]]),
    )


def _largest_gap(found: "models.Units", expected: "models.Units") -> float:
    # relative to what automatic differentiation found
    return max(relative_gap(b, a) for a, b in zip(found, expected, strict=True))
