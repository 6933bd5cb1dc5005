"""Eq. 78–96: the steps of the proof of Theorem H.1, each evaluated along integrated flows."""

import functools
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.layerwise._scalar_instances import FEATURES, Instance, instances, velocities
from lazyrich.core import CheckResult, check

AUTOMATIC = "automatic differentiation of the loss, along an integrated flow"
LIBRARY = (
    "derivative of the library's growth by automatic differentiation, along an integrated flow"
)
ALGEBRA = "evaluation of both sides along an integrated flow"


def _sum_and_difference(case: Instance) -> tuple[np.ndarray, np.ndarray]:
    """The weights' sums a + b and differences a − b along the flow."""
    return case.a + case.b, case.a - case.b


@functools.cache
def _rate_of_growth() -> Any:
    import jax

    return jax.jit(jax.vmap(jax.grad(lambda t, m: m.growth(t)), in_axes=(0, None)))


def _growth_and_rate(case: Instance) -> tuple[np.ndarray, np.ndarray]:
    """γ and dγ/dt of the library."""
    import jax

    with jax.enable_x64(True):
        rate = np.asarray(_rate_of_growth()(case.times, case.solution))
    return case.solution.growth(case.times), rate


@check("layerwise/eq78", "Rates of the weights", against=AUTOMATIC)
def eq78() -> CheckResult:
    """The printed m is p, the number of features."""
    errors = []
    for case in instances():
        a_rate, b_rate = velocities(case)
        force = case.force[:, None]
        errors += [relative_gap(-case.b * force, a_rate), relative_gap(-case.a * force, b_rate)]
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq79", "Rates of sums and differences of weights", against=AUTOMATIC)
def eq79() -> CheckResult:
    """Sums grow as differences decay."""
    errors = []
    for case in instances():
        a_rate, b_rate = velocities(case)
        (plus, minus), force = _sum_and_difference(case), case.force[:, None]
        errors += [
            relative_gap(-plus * force, a_rate + b_rate),
            relative_gap(minus * force, a_rate - b_rate),
        ]
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq80", "Growth as an integral", against="the integral, integrated beside the weights"
)
def eq80() -> CheckResult:
    """The definition of γ, and the library's γ."""
    errors = [relative_gap(case.solution.growth(case.times), case.gamma) for case in instances()]
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq81", "Rate of the growth", against=LIBRARY)
def eq81() -> CheckResult:
    """dγ/dt = −2γ·force, with the force of the integrated weights."""
    errors = []
    for case in instances():
        gamma, rate = _growth_and_rate(case)
        errors.append(relative_gap(-2 * gamma * case.force, rate))
    return CheckResult(max(errors), 1e-9, len(errors))


def _constant(case: Instance, sign: int) -> float:
    """Largest rate of change of γ^{∓½}(a ± b), relative to its two terms."""
    (gamma, rate), (a_rate, b_rate) = _growth_and_rate(case), velocities(case)
    value, value_rate = case.a + sign * case.b, a_rate + sign * b_rate
    power = -sign / 2
    first = (power * gamma ** (power - 1) * rate)[:, None] * value
    second = (gamma**power)[:, None] * value_rate
    return float(np.max(np.abs(first + second)) / np.max(np.abs(second)))


@check("layerwise/eq82", "What is constant in a + b", against=LIBRARY)
def eq82() -> CheckResult:
    """The second term has γ^{−½}, not γ^{½}: as printed the two do not cancel."""
    errors, printed = [], []
    for case in instances():
        errors.append(_constant(case, 1))
        (plus, _), force = _sum_and_difference(case), case.force
        term = (case.gamma**-0.5 * force)[:, None] * plus
        wrong = term - (case.gamma**0.5 * force)[:, None] * plus
        printed.append(float(np.max(np.abs(wrong)) / np.max(np.abs(term))))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="γ^{½} in the second term must be γ^{−½}: off by a factor γ",
    )  # fmt: skip


@check("layerwise/eq83", "What is constant in a − b", against=LIBRARY)
def eq83() -> CheckResult:
    """γ^{½}(a − b)."""
    errors = [_constant(case, -1) for case in instances()]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq84", "Sums and differences of weights by the growth", against="the integrated flow"
)
def eq84() -> CheckResult:
    """The relations are right, the reason is not: γ(0) is 1, not 0."""
    errors = []
    for case in instances():
        plus, minus = _sum_and_difference(case)
        root = np.sqrt(case.gamma)[:, None]
        errors += [relative_gap(root * plus[0], plus), relative_gap(minus[0] / root, minus)]
        errors.append(abs(float(case.solution.growth(0.0)) - 1))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=1.0,
        correction="“γ(0) = 0” must read γ(0) = 1, as Eq. 80 has it",
    )  # fmt: skip


@check("layerwise/eq85", "Rate of the logarithm of the growth", against=LIBRARY)
def eq85() -> CheckResult:
    """The printed m is p, the number of features."""
    errors = []
    for case in instances():
        gamma, rate = _growth_and_rate(case)
        Z = case.normalisation
        right = -2 * np.sum(case.a * case.b, axis=1) / Z**2 + 2 * case.target / Z
        errors.append(relative_gap(right, rate / gamma))
    return CheckResult(max(errors), 1e-9, len(errors))


def _product(case: Instance) -> np.ndarray:
    """Z⁻² Σ a_j b_j along the flow."""
    return np.sum(case.a * case.b, axis=1) / case.normalisation**2


@check("layerwise/eq86", "The output by sums and differences of weights", against=ALGEBRA)
def eq86() -> CheckResult:
    """As printed."""
    errors = []
    for case in instances():
        plus, minus = _sum_and_difference(case)
        right = np.sum(plus**2 / 4 - minus**2 / 4, axis=1) / case.normalisation**2
        errors.append(relative_gap(right, _product(case)))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq87", "The output by the growth", against=ALGEBRA)
def eq87() -> CheckResult:
    """The second sum is over (a(0) − b(0))², not (a(0) + b(0))² again."""
    errors, printed = [], []
    for case in instances():
        a, b, Z = case.first, case.second, case.normalisation
        plus, minus = np.sum((a + b) ** 2) / (4 * Z**2), np.sum((a - b) ** 2) / (4 * Z**2)
        exact, gamma = _product(case), case.gamma
        errors.append(relative_gap(plus * gamma - minus / gamma, exact))
        printed.append(relative_gap(plus * gamma - plus / gamma, exact))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="the second sum is over (a_j(0) − b_j(0))²; as printed the first output would always be 0",
    )  # fmt: skip


@check("layerwise/eq88", "The output by the growth, rearranged", against=ALGEBRA)
def eq88() -> CheckResult:
    """Right as it stands, though Eq. 87 before it is not."""
    errors = []
    for case in instances():
        (S0, Sigma0), g = case.sums, case.gamma
        right = S0 * (g + 1 / g) / 2 + Sigma0 * (g - 1 / g) / 2
        errors.append(relative_gap(right / case.normalisation, _product(case)))
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq90", "Rate of the growth, closed", against=LIBRARY)
def eq90() -> CheckResult:
    """S₀ and Σ₀ have changed places in the first form; the second is twice too large."""
    errors, printed = [], []
    for case in instances():
        (S0, Sigma0), S, Z = case.sums, case.target, case.normalisation
        g, rate = _growth_and_rate(case)
        even, odd = (g + 1 / g) / 2, (g - 1 / g) / 2
        quadratic = (Sigma0 + S0) * g**2 - 2 * S * g - (Sigma0 - S0)
        right = [-2 / Z * g * (S0 * even + Sigma0 * odd - S), -quadratic / Z]
        wrong = [-2 / Z * g * (S0 * odd + Sigma0 * even - S), -2 * quadratic / Z]
        errors += [relative_gap(form, rate) for form in right]
        printed += [relative_gap(form, rate) for form in wrong]
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="S₀ and Σ₀ exchanged in the first form; the second has 2Z⁻¹ in place of Z⁻¹",
    )  # fmt: skip


@check(
    "layerwise/eq91",
    "The spread is at least the first output",
    against="random weights, balanced ones included",
)
def eq91() -> CheckResult:
    """The largest violation, for Z > 0; a negative Z turns it round."""
    rng, found = np.random.default_rng(91), []
    for kind in range(300):
        a = rng.standard_normal(rng.integers(1, 6))
        b = [rng.standard_normal(a.size), a, -a][kind % 3]
        Z = rng.uniform(0.1, 3)
        Sigma0, middle = np.sum(a**2 + b**2) / (2 * Z), np.sum(np.abs(a * b)) / Z
        found.append(max(middle / Sigma0 - 1, abs(a @ b) / Z / Sigma0 - middle / Sigma0))
    return CheckResult(max(0.0, *found), 1e-14, len(found))


def _roots(case: Instance) -> tuple[float, float]:
    """γ₋ and γ₊ of Eq. 93."""
    (S0, Sigma0), S, R = case.sums, case.target, case.root
    return (S - R) / (Sigma0 + S0), (S + R) / (Sigma0 + S0)


@check("layerwise/eq92", "The quadratic and its roots", against="numpy.roots")
def eq92() -> CheckResult:
    """Both sides at any γ, and the roots."""
    errors = []
    for case in instances():
        (S0, Sigma0), S, (low, high) = case.sums, case.target, _roots(case)
        g = np.linspace(-3, 5, 17)
        left = (Sigma0 + S0) * g**2 - 2 * S * g - (Sigma0 - S0)
        errors.append(relative_gap((Sigma0 + S0) * (g - low) * (g - high), left))
        found = np.sort(np.roots([Sigma0 + S0, -2 * S, -(Sigma0 - S0)]))
        errors.append(relative_gap(found, [low, high]))
    return CheckResult(max(errors), 1e-11, len(errors))


@check("layerwise/eq93", "Signs of the roots", against="numpy.roots; random and balanced starts")
def eq93() -> CheckResult:
    """γ₋ ≤ 0 ≤ γ₊, and γ₊ is where the library's growth ends; balanced weights, a = b, have γ₋ = 0.

    The printed error is the share of balanced starts at which the printed < fails: all.
    """
    rng, errors, strict = np.random.default_rng(93), [], []
    for _ in range(100):
        a, S = rng.standard_normal(FEATURES), rng.uniform(0.1, 2)
        for b in (rng.standard_normal(FEATURES), a):
            Sigma0, S0 = (a @ a + b @ b) / 2, a @ b
            low, high = np.sort(np.roots(np.array([Sigma0 + S0, -2 * S, S0 - Sigma0])))
            ends = float(theory.ScalarNetwork(S, first=a, second=b).final_growth)
            errors += [max(low, 0.0), max(-high, 0.0), abs(ends / high - 1)]
            if b is a:
                strict.append(low < 0 < high)
    return CheckResult(
        float(max(errors)), 1e-11, len(errors), printed_error=1 - sum(strict) / len(strict),
        correction="γ₋ ≤ 0 ≤ γ₊; equality for weights with a_i = b_i, which then are a sigmoid with γ₋ = 0",
    )  # fmt: skip


def _moving(case: Instance) -> slice:
    """The times before γ has reached its limit to within rounding."""
    return slice(0, len(case.times) - 1)


@check("layerwise/eq94", "Partial fractions", against=LIBRARY)
def eq94() -> CheckResult:
    """The decomposition is right; the rate lacks the 2."""
    errors, printed = [], []
    for case in instances():
        (S0, Sigma0), (low, high), Z = case.sums, _roots(case), case.normalisation
        gamma, rate = (x[_moving(case)] for x in _growth_and_rate(case))
        left = rate / ((gamma - low) * (gamma - high))
        middle = (1 / (gamma - high) - 1 / (gamma - low)) * rate / (high - low)
        right = np.full(left.shape, -(Sigma0 + S0) / Z)
        errors += [relative_gap(middle, left), relative_gap(left, right)]
        printed.append(relative_gap(2 * right, left))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="−Z⁻¹(Σ₀ + S₀), without the factor 2",
    )  # fmt: skip


@check("layerwise/eq95", "Rate of the logarithm of Eq. 96", against=LIBRARY)
def eq95() -> CheckResult:
    """−2R/Z, not −4R/Z; the two printed forms agree with each other."""
    errors, printed = [], []
    for case in instances():
        (S0, Sigma0), (low, high), Z = case.sums, _roots(case), case.normalisation
        gamma, rate = (x[_moving(case)] for x in _growth_and_rate(case))
        left = rate / (gamma - high) - rate / (gamma - low)
        for right in (-(Sigma0 + S0) * (high - low) / Z, -2 * case.root / Z):
            errors.append(relative_gap(left, np.full(left.shape, right)))
            printed.append(relative_gap(left, np.full(left.shape, 2 * right)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="−2Z⁻¹√(Σ₀² − S₀² + S²), half of what is printed",
    )  # fmt: skip


@check("layerwise/eq96", "The growth, implicitly", against="the integrated flow")
def eq96() -> CheckResult:
    """With 2 in the exponent. Below it, γ lies in (γ₋, γ₊) for S > S₀ only; for S < S₀ it lies above γ₊."""
    errors, printed = [], []
    for case in instances():
        (low, high), Z, gamma = _roots(case), case.normalisation, case.gamma
        left = (gamma - high) / (gamma - low)
        right = {n: left[0] * np.exp(-n * case.root * case.times / Z) for n in (2, 4)}
        errors.append(relative_gap(right[2], left))
        printed.append(relative_gap(right[4], left))
        inside = (gamma > low) & (gamma < high * (1 + 1e-9))
        errors.append(float(np.any(inside[:-1]) != (case.target > case.sums[0])))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="the exponent is −2√(Σ₀² − S₀² + S²) t/Z, half of what is printed",
    )  # fmt: skip
