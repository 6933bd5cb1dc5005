"""Eq. 15–20, 71–77, Theorem H.1 and its remarks: networks with one input and one output."""

import functools
import itertools
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.layerwise._scalar_instances import (
    Instance,
    extreme_instances,
    instances,
    signed_instances,
    velocities,
)
from lazyrich.core import CheckResult, check

FLOW = "Runge–Kutta integration of the weights"
AUTOMATIC = "automatic differentiation of the loss, along an integrated flow"


def _inputs() -> np.ndarray:
    """Inputs whose mean square is 1, as the loss of Eq. 72 assumes."""
    x = np.random.default_rng(15).standard_normal(50)
    return x / np.sqrt(np.mean(x**2))


def _forward(instance: Instance) -> np.ndarray:
    """Outputs of the network, matrix by matrix, on all inputs along the flow."""
    x = _inputs()[:, None]
    layers = zip(instance.a, instance.b, strict=True)
    return np.array(
        [(x @ a[None, :] @ b[:, None])[:, 0] / instance.normalisation for a, b in layers]
    )


def _outputs_error() -> float:
    return max(
        relative_gap(np.outer(case.solution.output(case.times), _inputs()), _forward(case))
        for case in instances()
    )


@check("layerwise/eq15", "The network with one input and one output", against=FLOW)
def eq15() -> CheckResult:
    """f(x) = xθ: the library's θ times x, and the network's outputs with integrated weights."""
    return CheckResult(_outputs_error(), 1e-9, len(instances()))


@check("layerwise/eq71", "The same network in App. H", against=FLOW)
def eq71() -> CheckResult:
    """Eq. 15, printed again letter by letter: the same comparison."""
    return CheckResult(_outputs_error(), 1e-9, len(instances()))


@check("layerwise/eq72", "Its loss", against="half the mean squared error over samples")
def eq72() -> CheckResult:
    """For inputs with mean square 1."""
    errors = []
    for case in instances():
        residual = _forward(case) - case.target * _inputs()
        errors.append(
            relative_gap(case.solution.loss(case.times), np.mean(residual**2, axis=1) / 2)
        )
    return CheckResult(max(errors), 1e-9, len(errors))


def _mode_rates(case: Instance, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of Eq. 16 as printed, for the aligned (+1) or the anti-aligned (−1) mode."""
    a_rate, _ = velocities(case)
    mode = sign * case.first * case.second * case.target > 0
    left = np.sum(2 * case.a * a_rate, axis=1, where=mode)
    return left, -sign * case.force * np.sum(case.a**2, axis=1, where=mode)


@check("layerwise/eq16", "Rates of the aligned and the anti-aligned mode", against=AUTOMATIC)
def eq16() -> CheckResult:
    """Weights ±1 at the start. Twice the printed right side, since da²/dt = 2a·da/dt."""
    pairs = [_mode_rates(case, sign) for case in signed_instances() for sign in (1, -1)]
    errors = [relative_gap(2 * right, left) for left, right in pairs]
    for case in signed_instances():
        h = case.a * case.b / case.normalisation
        mode = case.first * case.second > 0
        errors.append(
            relative_gap(case.solution.aligned(case.times), np.sum(h, axis=1, where=mode))
        )
        errors.append(
            relative_gap(case.solution.anti_aligned(case.times), np.sum(h, axis=1, where=~mode))
        )
    return CheckResult(
        max(errors), 1e-9, len(errors),
        printed_error=min(relative_gap(right, left) for left, right in pairs),
        correction="a factor 2 is lost: the square of a weight changes by 2a·da/dt",
    )  # fmt: skip


def _theta_and_spread(case: Instance) -> tuple[np.ndarray, ...]:
    """θ, Δθ and their rates of change along the flow."""
    a_rate, b_rate = velocities(case)
    sign, Z = np.sign(case.first * case.second), case.normalisation
    rates = a_rate * case.b + case.a * b_rate
    values = case.a * case.b
    return tuple(np.sum(x, axis=1) / Z for x in (values, sign * values, rates, sign * rates))


@check("layerwise/eq17", "Rate of the output", against=AUTOMATIC)
def eq17() -> CheckResult:
    """Twice the printed right side; with Σ(a² + b²)/2Z for Δθ it holds for any start."""
    errors, printed = [], []
    for case in signed_instances():
        _, spread, theta_rate, _ = _theta_and_spread(case)
        errors.append(relative_gap(-2 * spread * case.force, theta_rate))
        errors.append(relative_gap(case.solution.spread(case.times), spread))
        printed.append(relative_gap(-spread * case.force, theta_rate))
    for case in instances():
        _, _, theta_rate, _ = _theta_and_spread(case)
        errors.append(relative_gap(-2 * case.solution.spread(case.times) * case.force, theta_rate))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="a factor 2 is lost, as in Eq. 16",
    )  # fmt: skip


@check("layerwise/eq18", "Rate of the spread", against=AUTOMATIC)
def eq18() -> CheckResult:
    """Twice the printed right side; with Σ(a² + b²)/2Z for Δθ it holds for any start."""
    errors, printed = [], []
    for case in signed_instances():
        theta, _, _, spread_rate = _theta_and_spread(case)
        errors.append(relative_gap(-2 * theta * case.force, spread_rate))
        printed.append(relative_gap(-theta * case.force, spread_rate))
    for case in instances():
        a_rate, b_rate = velocities(case)
        exact = np.sum(case.a * a_rate + case.b * b_rate, axis=1) / case.normalisation
        errors.append(relative_gap(-2 * case.solution.output(case.times) * case.force, exact))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="a factor 2 is lost, as in Eq. 16",
    )  # fmt: skip


def _limit_error() -> float:
    """The printed γ₊ and the library's, beside the growth of the integrated weights at a late time."""
    errors = []
    for case in instances():
        S0, Sigma0 = case.sums
        printed = (case.target + case.root) / (Sigma0 + S0)
        errors += [
            abs(value / case.gamma[-1] - 1) for value in (printed, case.solution.final_growth)
        ]
    return float(max(errors))


@check("layerwise/eq19", "The growth at the end", against=FLOW)
def eq19() -> CheckResult:
    """γ₊."""
    return CheckResult(_limit_error(), 1e-9, len(instances()))


@check("layerwise/eq77", "The growth at the end, in Theorem H.1", against=FLOW)
def eq77() -> CheckResult:
    """Eq. 19 again, there as the limit of Eq. 75: that it is one, whatever the exponent."""
    errors = [_limit_error()]
    for case in instances():
        (S0, Sigma0), S, R = case.sums, case.target, case.root
        late = case._replace(times=np.array([1e3 * case.normalisation / R]))
        for exponent in (2, 4):
            errors.append(abs(printed_growth(late, exponent)[0] * (Sigma0 + S0) / (S + R) - 1))
    return CheckResult(max(errors), 1e-9, 3 * len(instances()))


@check("layerwise/eq98", "The growth at the end, from Eq. 96", against=FLOW)
def eq98() -> CheckResult:
    """Eq. 19 again, there as the limit of Eq. 96, which the wrong exponent does not change."""
    errors = [_limit_error()]
    for case in instances():
        (S0, Sigma0), S, R = case.sums, case.target, case.root
        late = case._replace(times=np.array([1e3 * case.normalisation / R]))
        for exponent in (2, 4):
            errors.append(abs(_implicit_growth(late, exponent)[0] * (Sigma0 + S0) / (S + R) - 1))
    return CheckResult(max(errors), 1e-9, 3 * len(instances()))


def _implicit_growth(case: Instance, exponent: float) -> np.ndarray:
    """The γ that solves Eq. 96 from γ(0) = 1, with a number for the 4 in its exponent."""
    (S0, Sigma0), S, R = case.sums, case.target, case.root
    low, high = (S - R) / (Sigma0 + S0), (S + R) / (Sigma0 + S0)
    share = (1 - high) / (1 - low) * np.exp(-exponent * R * case.times / case.normalisation)
    return (high - low * share) / (1 - share)


@functools.cache
def _output_and_slopes() -> Any:
    import jax
    import jax.numpy as jnp

    def output(a: Any, b: Any, Z: Any) -> Any:
        return jnp.sum(a * b) / Z

    return jax.jit(jax.value_and_grad(output, argnums=(0, 1)))


def _sums_error() -> float:
    """S₀ is the output at x = 1, 2Σ₀/Z the squared gradient of the output, by automatic differentiation."""
    import jax

    errors = []
    for case in instances():
        with jax.enable_x64(True):
            theta, slopes = _output_and_slopes()(case.first, case.second, case.normalisation)
        kernel = sum(np.sum(np.asarray(slope) ** 2) for slope in slopes)
        network = case.solution
        for S0, Sigma0 in (case.sums, (network.initial_output, network.initial_spread)):
            errors.append(abs(S0 - float(theta)) / Sigma0)
            errors.append(abs(2 * Sigma0 / case.normalisation / kernel - 1))
    return float(max(errors))


KERNEL = (
    "the output at the start and the squared length of its gradient, by automatic differentiation"
)


@check("layerwise/eq20", "First output and spread of the weights", against=KERNEL)
def eq20() -> CheckResult:
    """S₀ and Σ₀; 2Σ₀/Z is the neural tangent kernel at x = 1."""
    return CheckResult(_sums_error(), 1e-13, len(instances()))


@check("layerwise/eq76", "First output and spread, in Theorem H.1", against=KERNEL)
def eq76() -> CheckResult:
    """Eq. 20, printed again with 1/Z before the sums: the same comparison."""
    return CheckResult(_sums_error(), 1e-13, len(instances()))


@check("layerwise/eq89", "First output and spread, in the proof", against=KERNEL)
def eq89() -> CheckResult:
    """Eq. 20, printed again with 1/Z before the sums: the same comparison."""
    return CheckResult(_sums_error(), 1e-13, len(instances()))


@check("layerwise/eq73", "First layer over time", against=FLOW)
def eq73() -> CheckResult:
    """With the right γ."""
    cases = (*instances(), *extreme_instances())
    errors = [relative_gap(case.solution.layers(case.times)[0], case.a) for case in cases]
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq74", "Second layer over time", against=FLOW)
def eq74() -> CheckResult:
    """With the right γ."""
    cases = (*instances(), *extreme_instances())
    errors = [relative_gap(case.solution.layers(case.times)[1], case.b) for case in cases]
    return CheckResult(max(errors), 1e-9, len(errors))


def printed_growth(case: Instance, exponent: float) -> np.ndarray:
    """Eq. 75 as printed, with a number for the 4 in its exponent."""
    (S0, Sigma0), S, R = case.sums, case.target, case.root
    E = np.exp(-exponent * R * case.times / case.normalisation)
    above = Sigma0 - S0 + S + R + (-Sigma0 + S0 - S + R) * E
    return above / (Sigma0 + S0 - S + R + (-Sigma0 - S0 + S + R) * E)


def _growth_errors() -> tuple[float, float]:
    """Errors of the library's γ and of the printed one with 2 in the exponent; and of the printed one."""
    right = [relative_gap(case.solution.growth(case.times), case.gamma) for case in instances()]
    right += [relative_gap(printed_growth(case, 2), case.gamma) for case in instances()]
    printed = [relative_gap(printed_growth(case, 4), case.gamma) for case in instances()]
    return max(right), min(printed)


@check("layerwise/eq75", "Growth over time", against=FLOW)
def eq75() -> CheckResult:
    """The exponent is 2R t/Z, not 4R t/Z."""
    error, printed = _growth_errors()
    return CheckResult(
        error, 1e-9, len(instances()), printed_error=printed,
        correction="the exponent is twice too large: 2 in place of 4, from Eq. 90",
    )  # fmt: skip


@check("layerwise/eq97", "Growth over time, in the proof", against=FLOW)
def eq97() -> CheckResult:
    """Eq. 75, printed again letter by letter, there as the solution of Eq. 96; that it is one."""
    error, printed = _growth_errors()
    solved = [
        relative_gap(printed_growth(case, exponent), _implicit_growth(case, exponent))
        for case in instances()
        for exponent in (2, 4)
    ]
    return CheckResult(
        max(error, *solved), 1e-9, len(instances()) + len(solved), printed_error=printed,
        correction="the exponent is twice too large: 2 in place of 4, from Eq. 90",
    )  # fmt: skip


@check("layerwise/thm-h1", "Exact solution from any start", against=FLOW)
def thm_h1() -> CheckResult:
    """All weights, also for tiny and balanced starts and targets ≤ 0; γ is monotone towards γ₊."""
    errors, printed = [], []
    for case in (*instances(), *extreme_instances()):
        network = case.solution
        found = np.stack(network.layers(case.times))
        errors.append(relative_gap(found, np.stack([case.a, case.b])))
        steps = np.diff(network.growth(case.times)) * np.sign(case.target - case.sums[0])
        errors.append(float(np.max(-steps, initial=0.0)))
    for case in instances():
        root = np.sqrt(printed_growth(case, 4))[:, None]
        p, q = (case.first + case.second) / 2, (case.first - case.second) / 2
        printed.append(relative_gap(p * root + q / root, case.a))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="γ runs twice too fast: 2 in place of 4 in the exponent of Eq. 75",
    )  # fmt: skip


def _bend(case: Instance) -> np.ndarray:
    """γ'' along the flow, from γ' = −2γ·force and the weights' rates."""
    a_rate, b_rate = velocities(case)
    force_rate = np.sum(a_rate * case.b + case.a * b_rate, axis=1) / case.normalisation**2
    return -2 * case.gamma * (force_rate - 2 * case.force**2)


@check("layerwise/remark-h2", "When the growth is concave", against=AUTOMATIC)
def remark_h2() -> CheckResult:
    """γ'' is ≤ 0 throughout iff S₀ ≤ S ≤ Σ₀ + S₀, ≥ 0 for S < S₀; else it changes its sign once.

    The printed Δ₀ is not defined. Read as the paper's only other Δ at time 0, which is Σ₀ for balanced
    weights, the height of the centre is wrong; it must be S₀.
    """
    errors, printed = [], []
    for case in instances():
        (S0, Sigma0), S = case.sums, case.target
        bend, network = _bend(case), case.solution
        turns = Sigma0 + S0 < S
        errors.append(float(bool(network.is_concave) != (S0 <= S <= Sigma0 + S0)))
        if not turns:
            sign = -1 if S > S0 else 1
            errors.append(float(np.max(-sign * bend, initial=0.0)) / np.max(np.abs(bend)))
            continue
        time = float(network.inflection_time().time)
        wrong = np.where(case.times < time, -bend, bend)[
            :-1
        ]  # at the last time γ'' is 0 to rounding
        errors.append(float(np.max(wrong, initial=0.0)) / np.max(np.abs(bend)))
        center = (case.root + S - (case.root - S)) / (2 * (Sigma0 + S0))  # of γ₋ and γ₊
        errors.append(abs(float(network.growth(time)) / center - 1))
        printed.append(abs(S / (2 * Sigma0) / center - 1))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="Δ₀ is not defined; it must be S₀ in both places",
    )  # fmt: skip


@check("layerwise/remark-h3", "The ratio bounds the growth from below", against=FLOW)
def remark_h3() -> CheckResult:
    """γ₊ ≥ S/Σ₀ for S > 0: the largest violation. The reason needs Σ₀ ≥ |S₀|, which Eq. 91 has."""
    cases = (*instances(), *signed_instances())
    bounds = [(case.target / case.sums[1]) / case.gamma[-1] - 1 for case in cases]
    return CheckResult(max(0.0, *bounds), 1e-9, len(bounds))


@check(
    "layerwise/sec7-1",
    "The weight-to-target ratio determines the growth",
    against="the growth at the end of networks with the same ratio and other first outputs",
)
def sec7_1() -> CheckResult:
    """Only where the first output is 0. In general ln γ₊ = arsinh(S/c) − arsinh(S₀/c), c² = Σ₀² − S₀².

    The printed reading: γ₊ at Σ₀/S = 1e6 is 1, whatever signs an even number of weights ±1 have.
    """
    S, errors, printed = 4e-6, [], []
    for signs in itertools.product([-1.0, 1.0], repeat=4):
        if abs(sum(signs)) == 4:
            continue  # balanced weights of one kind: c = 0
        network = theory.ScalarNetwork(S, first=np.ones(4), second=np.array(signs))
        S0, Sigma0 = sum(signs), 4.0
        c = np.sqrt(Sigma0**2 - S0**2)
        exact = (S + np.sqrt(c**2 + S**2)) / (Sigma0 + S0)
        errors.append(abs(np.exp(np.arcsinh(S / c) - np.arcsinh(S0 / c)) / exact - 1))
        errors.append(abs(float(network.final_growth) / exact - 1))
        printed.append(abs(exact - 1))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(printed),
        correction="the first output counts too: γ₊ → √((Σ₀ − S₀)/(Σ₀ + S₀)) as Σ₀/S → ∞",
    )  # fmt: skip
