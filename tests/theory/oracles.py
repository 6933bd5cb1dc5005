"""Independent values: Bessel functions and Marcum's Q function at 50 digits."""

import mpmath as mp


def log_weighted_laplace(ratio, s):
    """log E[ν exp(−sν)] = log[exp(−(1+λ)s) I₁(2√λ s)/(√λ s)], the density of an M/M/1 busy period."""
    with mp.workdps(50):
        lam, s = mp.mpf(ratio), mp.mpf(s)
        if s == 0:
            return mp.mpf(0)
        z = 2 * mp.sqrt(lam) * s
        return mp.log(mp.besseli(1, z) * 2 / z) - (1 + lam) * s


def log_laplace_by_bessel_integral(ratio, s):
    """log E[exp(−sν)] for λ < 1 as log ∫ₛ^∞ E[ν exp(−uν)] du, by quadrature of the above."""
    with mp.workdps(30):
        lam, s = mp.mpf(ratio), mp.mpf(s)
        low = (1 - mp.sqrt(lam)) ** 2
        root = mp.sqrt(lam)

        def scaled(x):  # x = u − s; the factor exp(−s·low) taken out
            u = s + x
            z = 2 * root * u
            return mp.exp(-low * x) * mp.exp(-z) * mp.besseli(1, z) * 2 / z

        width = 1 / low
        points = [0, *(width * k for k in (0.01, 0.1, 1, 4, 16, 64)), mp.inf]
        return mp.log(mp.quad(scaled, points)) - s * low
