"""Eq. 6–8: the spectrum of the training covariance, and losses as means over it."""

import math

import numpy as np

from lazyrich import theory
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check


@check(
    "linear-grokking/eq6",
    "Density of the Marchenko–Pastur law, with its atom",
    against="the rank of Σ (atom) and the moments of Wishart matrices (Narayana numbers)",
)
def eq6() -> CheckResult:
    """Eq. 6: atom + ∫ density = 1, and ∫ νᵏ density = Σᵣ λʳ C(k, r) C(k−1, r)/(r + 1)."""
    from scipy.integrate import quad

    errors = []
    for ratio in (0.01, 0.3, 0.9, 1.0, 1.1, 3.0, 50.0):
        law = theory.MarchenkoPastur(ratio)
        low, high = law.edges

        def moment(k: int, law=law, low=low, high=high) -> float:
            def f(
                phi: float,
            ) -> float:  # ν = low + (high − low) sin²φ removes the roots at the edges
                nu = low + (high - low) * math.sin(phi) ** 2
                return law.density(nu) * nu**k * (high - low) * math.sin(2 * phi)

            return quad(f, 0, math.pi / 2, epsabs=0, epsrel=1e-12, limit=400)[0]

        rank_deficit = max(1 - 1 / ratio, 0)  # of d directions, N carry samples
        errors.append(abs(moment(0) + rank_deficit - 1))
        for k in range(1, 7):
            narayana = [math.comb(k, r) * math.comb(k - 1, r) / (r + 1) for r in range(k)]
            expected = sum(count * ratio**r for r, count in enumerate(narayana))
            errors.append(abs(moment(k) / expected - 1))
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "linear-grokking/eq7",
    "Losses as sums over eigenvalues",
    against="exact losses averaged over random starts (error in standard errors)",
)
def eq7() -> CheckResult:
    """Eq. 7 is Eq. 5 with D₀ averaged over directions at E‖D₀‖² = 1.

    Of 20 means, were they independent, one would be off by four standard errors once in 800 times.
    """
    rng = np.random.default_rng(7)
    d, num_starts, times = 40, 500, np.array([0.0, 0.3, 1.0, 3.0, 10.0])
    scores = []
    for num_samples in (25, 60):
        X = rng.standard_normal((num_samples, d))
        covariance = X.T @ X / num_samples
        nu = np.linalg.eigvalsh(covariance)
        starts = rng.standard_normal((num_starts, d)) / np.sqrt(d)
        flows = [theory.LinearFlow(covariance, start) for start in starts]
        for name, weight in (("train_loss", nu), ("test_loss", np.ones(d))):
            losses = np.stack(
                [getattr(flow, name)(times) for flow in flows]
            )  # Eq. 5, (start, time)
            printed = np.mean(np.exp(-4 * times[:, None] * nu) * weight, axis=1)
            error = losses.std(axis=0, ddof=1) / np.sqrt(num_starts)
            scores += list(np.abs(losses.mean(axis=0) - printed) / error)
    return CheckResult(max(scores), 4.0, len(scores))


@check(
    "linear-grokking/eq8",
    "Losses as expectations over the Marchenko–Pastur law",
    against="quadrature of the density at 30 digits (relative error / condition number)",
    seconds=15,
)
def eq8() -> CheckResult:
    """Eq. 8 for λ from 1e-4 to 100, through 1, and s = 4ηt from 0 to 1e6, far into the tail."""
    ratios = (1e-4, 0.01, 0.3, 0.9, 0.999, 1.0, 1.001, 1.5, 10.0, 100.0)
    errors = []
    for ratio in ratios:
        law = theory.LinearGrokking(ratio, learning_rate=0.25)  # then s = t
        for s in (0.0, 1e-3, 1.0, 30.0, 450.0, 1e4, 1e6):
            condition = 1 + s * (1 - math.sqrt(ratio)) ** 2
            if condition > 700:  # below the smallest float
                continue
            for weighted, loss in ((True, law.train_loss(s)), (False, law.test_loss(s))):
                exact = _oracles.log_loss(ratio, s, weighted=weighted)
                errors.append(abs(float(_exp(exact)) / loss - 1) / condition)
    return CheckResult(max(errors), 1e-12, len(errors))


def _exp(value):
    import mpmath as mp

    return mp.exp(value)
