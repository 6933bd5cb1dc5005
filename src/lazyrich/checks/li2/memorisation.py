"""Theorem 5, Lemmas 5 and 6: one product only, and nodes that memorise."""

from typing import Any

import numpy as np

from lazyrich import groups, quantities, theory
from lazyrich.core import CheckResult, check

SPREADING = ("relu", "tanh", "versine")
SIGMAS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "versine": lambda x: 1 - np.cos(x),
}


POWERS = {2: "quadratic", 3: "cubic"}


def _probabilities(seed: int, M: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(M))


def _best(p: np.ndarray, sigma: Any) -> tuple[float, np.ndarray]:
    """The largest F over squares m = s², Σ m = 2, where F is concave, by sequential quadratic programming."""
    from scipy.optimize import minimize

    found = minimize(
        lambda m: -float(p @ sigma(np.sqrt(np.maximum(m, 0)))), np.full(p.size, 2 / p.size), method="SLSQP",
        bounds=[(1e-12, 2)] * p.size, constraints={"type": "eq", "fun": lambda m: m.sum() - 2},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    return -float(found.fun), np.sqrt(found.x)


@check("li2/lemma5", "Conditions for the best node", against="sequential quadratic programming")
def lemma5() -> CheckResult:
    """Lemma 5: at the best s the budget is used and p_g φ(s_g) is the same wherever s_g > 0.

    These hold. The sign of Σ μ_g s_g in the proof, which is wrong, has a test of its own.
    """
    errors = []
    for seed, name in enumerate(SPREADING[:2]):
        p = _probabilities(seed)
        solution = theory.Memorisation(p, name)
        _, direct = _best(p, SIGMAS[name])
        s = solution.pair_sums
        errors += [abs(np.sum(s**2) / 2 - 1), np.max(np.abs(direct - s))]
        active = s > 0
        levels = p[active] * solution.slope_ratio(s[active]) / (2 * solution.multiplier)
        errors.append(np.max(np.abs(levels - 1)))
    return CheckResult(max(errors), 3e-5, len(errors))


@check(
    "li2/lemma6",
    "Focused or spread, by the monotony of σ'(x)/x",
    against="sequential quadratic programming; vertices and random points where F is convex",
)
def lemma6() -> CheckResult:
    """Lemma 6, with a finite limit of φ at 0 too (1 − cos x), where rare pairs get nothing."""
    errors = []
    for seed, name in enumerate(SPREADING):
        p = _probabilities(seed)
        solution = theory.Memorisation(p, name)
        best, _ = _best(p, SIGMAS[name])
        errors.append(abs(best / solution.objective - 1))
        errors.append(float(solution.kind != "spread"))
        order = np.argsort(p)
        errors.append(max(0.0, -float(np.min(np.diff(solution.pair_sums[order])))))
    rng = np.random.default_rng(6)
    for power in (2, 3):
        p = _probabilities(power)
        solution = theory.Memorisation(p, POWERS[power])
        points = np.sqrt(2 * rng.dirichlet(np.full(p.size, 0.3), 2000))
        errors.append(max(0.0, float(np.max(points**power @ p)) / solution.objective - 1))
        errors.append(
            float(solution.kind != "focused" or np.argmax(solution.pair_sums) != np.argmax(p))
        )
    relu = theory.Memorisation(_probabilities(0), "relu")
    errors.append(float(np.ptp(relu.pair_sums / relu.probabilities)))  # s is in proportion to p
    return CheckResult(max(errors), 1e-6, len(errors))


def _vertices_reached(p: np.ndarray, power: int, num_starts: int) -> set[int]:
    """On which pairs ascents of F over nodes of norm 1 end."""
    M = p.size
    w = np.abs(np.random.default_rng(power).standard_normal((num_starts, 2 * M)))
    for _ in range(200):
        slope = p * (w[:, :M] + w[:, M:]) ** (power - 1)
        w = np.concatenate(
            [slope, slope], axis=1
        )  # F is convex, so that power steps never lower it
        w /= np.linalg.norm(w, axis=1, keepdims=True)
    s = w[:, :M] + w[:, M:]
    arrived = np.abs(s.max(1) - np.sqrt(2)) < 1e-6
    return set(s[arrived].argmax(1).tolist()) | ({-1} if not arrived.all() else set())


@check(
    "li2/thm5",
    "One product only: the best node memorises",
    against="ascents over nodes of norm 1; the plain energy on the samples",
)
def thm5() -> CheckResult:
    """Theorem 5, corrected: for x^q with q > 2 a node on any pair is a local maximum, not only on the best.

    The energy must be taken without centring: centred, the targets of one class vanish, and so does it. The
    printed error counts the local maxima that the theorem denies.
    """
    errors, denied = [], []
    p = np.array([0.3, 0.2, 0.17, 0.13, 0.11, 0.09])
    for power in (2, 3):
        solution = theory.Memorisation(p, POWERS[power])
        reached = _vertices_reached(p, power, 200)
        errors.append(len(reached ^ set(solution.local_maxima.tolist())))
        denied.append(len(reached) - 1)
    for group, target in ((groups.cyclic(6), 2), (groups.symmetric(3), 4)):
        pairs = np.stack([np.arange(6), group.table[group.inverses, target]], 1)
        probabilities = _probabilities(target)
        for name in ("relu", "tanh"):
            solution = theory.Memorisation(probabilities, name)
            w = solution.weights(group, target)
            received = SIGMAS[name](w[pairs[:, 0]] + w[6 + pairs[:, 1]])
            errors.append(abs((received @ probabilities) ** 2 / 2 / solution.energy - 1))
            errors.append(abs(np.linalg.norm(w) - 1))
        centred = quantities.FeatureEnergy(
            pairs, np.full(6, target), num_weights=12, sample_weights=probabilities
        )
        errors.append(float(centred.value(w)))
    correction = (
        "for x^q with q > 2 every pair is a local maximum; with centred targets there is no energy"
    )
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(denied), correction=correction
    )
