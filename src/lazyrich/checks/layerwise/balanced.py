"""Eq. 14, 69, 70, Definition F.1, Theorem F.2 and App. F.3: layers out of balance by λ."""

from typing import Any

import numpy as np

from lazyrich import models, quantities, theory
from lazyrich.checks._oracles import two_layer_flow
from lazyrich.core import CheckResult, check

SHAPES = ((2, 2, 2), (4, 2, 2), (2, 2, 4), (5, 3, 4), (4, 5, 6), (3, 3, 3))
"""Inputs, units and outputs."""
TIMES = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 5.0])
LONG = np.array([*TIMES, 20.0, 100.0])


def _starts(shapes: Any = SHAPES) -> list[tuple[Any, Any, Any, float]]:
    """Balanced starts of all shapes with every sign of λ that exists, and random tasks."""
    import jax

    found = []
    for seed, (d, p, c) in enumerate(shapes):
        sigma = np.random.default_rng(seed).standard_normal((d, c))
        signs = [0.0, *([1.5] if p <= c else []), *([-2.5] if p <= d else [])]
        for lam in signs:
            start = models.balanced_weights(
                jax.random.key(seed), d, p, c, imbalance=lam, scale=0.1 + seed
            )
            found.append((*start, sigma, lam))
    return found


@check(
    "layerwise/eq14",
    "W₂W₂ᵀ − W₁ᵀW₁ is conserved, and can be λI",
    against="Runge–Kutta integration from random weights with correlated inputs, and from balanced ones",
)
def eq14() -> CheckResult:
    """Conserved for any start and covariance; a multiple of 1 for the starts of `balanced_weights`."""
    errors = []
    for seed, (d, p, c) in enumerate(SHAPES):
        rng = np.random.default_rng(seed)
        W1, W2, sigma, root = (rng.standard_normal(s) for s in ((d, p), (p, c), (d, c), (d, d)))
        found = quantities.imbalance(
            *two_layer_flow(sigma, W1, W2, TIMES, covariance=root @ root.T / d)
        )
        size = np.abs(found.matrix[0]).max()
        errors.append(np.abs(found.matrix - found.matrix[0]).max() / size)
    for first, second, sigma, lam in _starts():
        found = quantities.imbalance(*two_layer_flow(sigma, first, second, TIMES))
        size = 1 + abs(lam) + np.sum(first**2)
        errors += [np.abs(found.coefficient - lam).max() / size, found.residual.max() / size]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/def-f1",
    "λ-balanced weights, W₂ᵀW₂ − W₁W₁ᵀ = λI",
    against="the conserved matrix along the flow, for layers that multiply from the left and from the right",
)
def def_f1() -> CheckResult:
    """The printed product is right for outputs W₂W₁x, and not conserved for xᵀW₁W₂, as in Eq. 14."""
    errors, printed = [], []
    for first, second, sigma, lam in _starts():
        W1, W2 = two_layer_flow(sigma, first, second, TIMES)
        left1, left2 = np.swapaxes(W1, 1, 2), np.swapaxes(W2, 1, 2)  # outputs = left2 @ left1 @ x
        delta = left2.swapaxes(1, 2) @ left2 - left1 @ left1.swapaxes(1, 2)
        size = 1 + abs(lam) + np.sum(first**2)
        errors.append(np.abs(delta - lam * np.eye(first.shape[1])).max() / size)
        if (
            len({*first.shape, second.shape[1]}) == 1
        ):  # in others the printed product has no meaning
            wrong = W2.swapaxes(1, 2) @ W2 - W1 @ W1.swapaxes(1, 2)
            printed.append(np.abs(wrong - lam * np.eye(wrong.shape[1])).max() / size)
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="holds for outputs W₂W₁x, as in the source; with xᵀW₁W₂ of Eq. 1 it is Eq. 14",
    )  # fmt: skip


@check(
    "layerwise/thm-f2",
    "W₁W₂ over time for λ-balanced weights, aligned with the task or not",
    against="Runge–Kutta integration of both layers, in six shapes, until all modes have settled",
    seconds=8,
)
def thm_f2() -> CheckResult:
    """The matrix solution for any start; for aligned ones also the form ŨP(t)Ṽᵀ with the modes' solution."""
    errors = []
    for first, second, sigma, _ in _starts():
        W1, W2 = two_layer_flow(sigma, first, second, LONG)
        network = theory.BalancedNetwork(sigma.T, first, second)
        Q = np.concatenate([W1, np.swapaxes(W2, 1, 2)], axis=1)
        exact = Q @ np.swapaxes(Q, 1, 2)
        errors.append(np.abs(network.gram(LONG) - exact).max() / np.abs(exact).max())
    errors += [_aligned_error(lam) for lam in (0.0, 0.7, -3.0)]
    return CheckResult(max(errors), 1e-9, len(errors))


def _aligned_error(lam: float) -> float:
    """How far the modes are from the whole flow of a start with the task's singular vectors."""
    rng = np.random.default_rng(5)
    sigma = rng.standard_normal((4, 3))
    U, s, Vt = np.linalg.svd(sigma, full_matrices=False)
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    rho = np.array([0.1, 2.0, 0.5])
    root = np.hypot(lam, 2 * rho)
    first, second = (U * np.sqrt((root - lam) / 2)) @ R.T, (R * np.sqrt((root + lam) / 2)) @ Vt
    W1, W2 = two_layer_flow(sigma, first, second, TIMES)
    modes = theory.BalancedModes(s, start=rho, imbalance=lam).modes(TIMES)
    return float(np.abs(W1 @ W2 - (U * modes[:, None]) @ Vt).max())


def _mode_flow(lam: float, target: float, start: float, times: Any = TIMES) -> np.ndarray:
    """A weight in each layer, b² − a² = λ, by Runge–Kutta; their product."""
    heavy = np.sqrt((np.hypot(lam, 2 * start) + abs(lam)) / 2)
    light = start / heavy if heavy else 0.0  # the difference of the two would cancel
    a, b = (light, heavy) if lam >= 0 else (heavy, light)
    W1, W2 = two_layer_flow(np.array([[target]]), np.array([[a]]), np.array([[b]]), times)
    return (W1 * W2)[:, 0, 0]


@check(
    "layerwise/eq69",
    "Singular values move from their start to their target by a transition function",
    against="Runge–Kutta integration of one weight in each layer",
)
def eq69() -> CheckResult:
    """γ at random λ, targets and starts of either sign; it rises, from 0 to 1 but for the saddle at λ = 0."""
    rng, errors = np.random.default_rng(0), []
    for _ in range(20):
        lam, target, start = rng.normal(size=3) * (rng.choice([0.0, 1.0, 4.0]), 1.5, 1.0)
        modes = theory.BalancedModes(target, start=start, imbalance=lam)
        errors.append(np.abs(modes.modes(TIMES) - _mode_flow(lam, target, start)).max())
        gamma = modes.transition(np.linspace(0, 50, 200))
        errors.append(max(0.0, -np.diff(gamma).min()))
        if lam != 0 or target * start > 0:
            errors += [abs(float(gamma[0])), abs(float(modes.remainder(1e4)))]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq70",
    "The transition is a sigmoid for λ → 0 and an exponential for λ → ±∞",
    against="Runge–Kutta integration at λ = 0, 1e-7 and ±1e5; the end of the solution of Eq. 69 at λ = 3",
)
def eq70() -> CheckResult:
    """Both limits with s = ρ and τ = 1/η; the second at a given |λ|t, as at a given t it says 1 = 1.

    It is missed by the square of target/λ. At any finite λ the rate at the end is √(λ² + 4ρ̃²), not |λ|.
    """
    errors = []
    for target, start in ((1.0, 0.2), (0.7, 2.0), (2.0, 0.01)):
        for lam, name in (
            (0.0, "sigmoidal"),
            (1e-7, "sigmoidal"),
            (1e5, "exponential"),
            (-1e5, "exponential"),
        ):
            times = TIMES / max(abs(lam), 1)
            found = (_mode_flow(lam, target, start, times) - start) / (target - start)
            shipped = getattr(
                theory.BalancedModes(target, start=start, imbalance=lam), f"{name}_transition"
            )(times)
            errors.append(np.abs(found - shipped).max())
        grown = np.expm1(2 * target * TIMES)  # as printed
        sigmoid = theory.BalancedModes(target, start=start, imbalance=0.0).sigmoidal_transition(
            TIMES
        )
        errors.append(np.abs(sigmoid - grown / (grown + target / start)).max())
        modes = theory.BalancedModes(target, start=start, imbalance=3.0)
        left = modes.remainder(np.array([20.0, 21.0]))
        errors.append(abs(np.log(left[0] / left[1]) / np.hypot(3.0, 2 * target) - 1))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/app-f3",
    "Which limit of λ keeps funnel and anti-funnel networks lazy",
    against="kernel distances along the integrated flow of both layers",
)
def app_f3() -> CheckResult:
    """Printed: funnels are lazy for λ → −∞, anti-funnels for λ → ∞. With Eq. 14 it is the other way round.

    The error is the distance by which the kernel moves in the limit called lazy, at |λ| = 12.
    """
    import jax

    lazy, opposite = [], []
    for seed, (d, p, c) in enumerate(((4, 2, 2), (2, 2, 4))):
        sign = 1 if d > c else -1
        sigma = np.linalg.qr(np.random.default_rng(seed).standard_normal((max(d, c), 2)))[0]
        sigma = sigma if d > c else sigma.T
        for lam, found in ((12.0 * sign, lazy), (-12.0 * sign, opposite)):
            start = models.balanced_weights(jax.random.key(seed), d, p, c, imbalance=lam, scale=0.5)
            W1, W2 = two_layer_flow(sigma, *start, np.array([0.0, 100.0]))
            moved = quantities.linear_kernel_distance(*start, W1[-1], W2[-1], np.eye(d))
            found.append(float(moved))
    return CheckResult(
        max(lazy), 0.01, len(lazy) + len(opposite), printed_error=min(opposite),
        correction="the signs are exchanged: with Eq. 14 funnels are lazy for λ → ∞, anti-funnels for λ → −∞",
    )  # fmt: skip
