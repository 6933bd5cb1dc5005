"""What the checks compare with: none of it uses the formulas under test."""

from typing import Any

import numpy as np

from lazyrich.checks._oracles import integrate


def training_set(seed: int, dimension: int, num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, shape (N, d), and a difference D₀ of length about 1, shape (d,)."""
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((num_samples, dimension))
    return inputs, rng.standard_normal(dimension) / np.sqrt(dimension)


def integrated_flow(inputs: np.ndarray, start: np.ndarray, rate: float, times: Any) -> np.ndarray:
    """Gradient flow of the sample loss by a Runge–Kutta method, shape (time, d)."""

    def velocity(t: float, D: np.ndarray) -> np.ndarray:
        residuals = inputs @ D
        return -rate * 2 * inputs.T @ residuals / len(inputs)

    return integrate(velocity, start, times, rtol=1e-13, atol=1e-16)


def log_loss(aspect_ratio: float, s: Any, *, weighted: bool) -> Any:
    """Logarithm of E[ν exp(−sν)] or E[exp(−sν)], integrating the density in Eq. 6 at 30 digits."""
    import mpmath as mp

    with mp.workdps(30):
        lam, s = mp.mpf(aspect_ratio), mp.mpf(s)
        low, high = (1 - mp.sqrt(lam)) ** 2, (1 + mp.sqrt(lam)) ** 2

        def integrand(nu: Any) -> Any:
            radicand = (high - nu) * (nu - low)
            density = mp.sqrt(max(radicand, mp.mpf(0))) / (2 * mp.pi * lam * nu)
            return density * mp.exp(-s * (nu - low)) * (nu if weighted else 1)

        # the exponential lives within a few 1/s of the lower edge, the pole of 1/ν within low of it
        scales = [k / (1 + s) for k in (1, 4, 16, 64)] + [low, 8 * low]
        inner = sorted({low + scale for scale in scales if 0 < scale < high - low})
        bulk = mp.quad(integrand, [low, *inner, high])
        atom = max(1 - 1 / lam, mp.mpf(0)) if not weighted else mp.mpf(0)
        return mp.log(bulk + atom * mp.exp(s * low)) - s * low


def falling_time(aspect_ratio: float, log_level: Any, *, weighted: bool) -> Any:
    """The s at which a loss has fallen to a level, by a secant method on `log_loss`."""
    import mpmath as mp

    with mp.workdps(20):
        low = (1 - mp.sqrt(aspect_ratio)) ** 2
        guess = -log_level / low

        def excess(s: Any) -> Any:
            return log_loss(aspect_ratio, s, weighted=weighted) - log_level

        return mp.findroot(excess, (guess * 0.9, guess), tol=1e-12)


def integrated_decay(
    sigma: np.ndarray, start: np.ndarray, teacher: np.ndarray, decay: float, rate: float, times: Any
) -> np.ndarray:
    """Ḋ = −2η(Σ + γ/2)D − ηγT by a Runge–Kutta method, shape (time, d, 1)."""

    def velocity(t: float, D: np.ndarray) -> np.ndarray:
        return -2 * rate * (sigma @ D + decay / 2 * D) - rate * decay * teacher[:, 0]

    return integrate(velocity, start, times, rtol=1e-13, atol=1e-15)[..., None]


def integrated_modes(
    nu: np.ndarray, decay: float, rate: float, times: Any, *, student: float, teacher: float
) -> np.ndarray:
    """The same for modes with eigenvalues ν, shape (time, mode)."""

    def velocity(t: float, D: np.ndarray) -> np.ndarray:
        return -2 * rate * (nu + decay / 2) * D - rate * decay * teacher

    return integrate(velocity, np.full(nu.size, student - teacher), times, atol=1e-14)
