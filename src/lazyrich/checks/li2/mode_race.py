"""Lemma 8 and Eq. 10: modes that race."""

import numpy as np

from lazyrich import theory
from lazyrich.core import CheckResult, check


def _race(seed: int, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rates up to 1 and a positive start inside the ball."""
    rng = np.random.default_rng(seed)
    alpha = rng.exponential(size=modes) ** -0.5
    return rng.uniform(0.3, 1, modes), rng.uniform(0.2, 0.8) * alpha / np.linalg.norm(alpha)


def _integrated(
    zeta: np.ndarray, mu: np.ndarray, alpha: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """Weights of Eq. 10 by Runge–Kutta, first inside the ball, then projected on the sphere; (times, d)."""
    from scipy.integrate import solve_ivp

    def free(t: float, w: np.ndarray) -> np.ndarray:
        return zeta @ np.diag(mu * (zeta.T @ w)) @ zeta.T @ w

    def on_sphere(t: float, w: np.ndarray) -> np.ndarray:
        v = free(t, w)
        return v - w * max(0.0, w @ v)

    def hit(t: float, w: np.ndarray) -> float:
        return float(w @ w - 1)

    hit.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    how = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13}
    inside = solve_ivp(free, (0, times[-1]), zeta @ alpha, events=hit, t_eval=times, **how)
    start = inside.y_events[0][0]
    rest = times[inside.t.size :]
    outside = solve_ivp(on_sphere, (inside.t_events[0][0], times[-1]), start, t_eval=rest, **how)
    return np.concatenate([inside.y.T, outside.y.T])


@check(
    "li2/eq10",
    "Modes that feed on themselves, in the ball and on the sphere",
    against="Runge–Kutta integration in a rotated basis",
)
def eq10() -> CheckResult:
    """Amplitudes at all times, before and after the sphere is reached."""
    errors, times = [], np.linspace(0, 40, 21)
    for seed in range(4):
        mu, alpha = _race(seed, 5)
        zeta = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
        exact = _integrated(zeta, mu, alpha, times) @ zeta
        errors.append(np.max(np.abs(theory.ModeRace(mu, alpha).amplitudes(times) - exact)))
    return CheckResult(max(errors), 1e-8, len(errors) * times.size)


@check(
    "li2/lemma8",
    "The initial leader wins",
    against="Euler steps of the projected dynamics",
)
def lemma8() -> CheckResult:
    """Share of positive starts that do not end at the largest $μ_lα_l(0)$; distance from the library's."""
    rng = np.random.default_rng(8)
    mu = rng.uniform(0.2, 1, 5)
    start = rng.exponential(size=(400, 5)) ** -0.5
    alpha = start = 0.5 * start / np.linalg.norm(start, axis=1, keepdims=True)
    for _ in range(6000):
        velocity = mu * alpha**2
        alpha = alpha + 0.1 * velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
        alpha = alpha / np.maximum(1, np.linalg.norm(alpha, axis=1, keepdims=True))
    winners = [theory.ModeRace(mu, one).winner for one in start]
    distance = np.linalg.norm(alpha - np.eye(5)[winners], axis=1)
    share = np.mean(np.argmax(alpha, axis=1) != np.argmax(mu * start, axis=1))
    return CheckResult(max(float(np.max(distance)), float(share)), 1e-6, len(start))
