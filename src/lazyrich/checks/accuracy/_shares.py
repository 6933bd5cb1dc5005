"""Shares of Gaussian errors below a threshold, and what inverts them, at many digits."""

import functools
from typing import Any

from lazyrich.checks.accuracy._grid import mp


def share_below(loss: Any, threshold: Any, outputs: Any) -> Any:
    """P(|z|²/d ≤ ε) for d normal numbers of variance `loss`."""
    x = outputs * threshold / (2 * loss)
    if x > 400 + 20 * outputs:  # the rest is below rounding, and its series long
        return mp.mpf(1)
    return mp.gammainc(outputs / 2, 0, x, regularized=True)


@functools.cache
def loss_at(share: Any, outputs: int) -> Any:
    """The loss at which errors below 1 have this share."""
    if outputs == 1:
        return 1 / (2 * mp.erfinv(share) ** 2)
    a = mp.mpf(outputs) / 2
    odds = mp.log(1 - share) - mp.log(share)

    def excess(y: Any) -> Any:
        x = mp.exp(y)
        below = mp.gammainc(a, 0, x, regularized=True)
        return mp.log(mp.gammainc(a, x, mp.inf, regularized=True)) - mp.log(below) - odds

    guess = _guess(float(a), share)
    return outputs / (2 * mp.exp(mp.findroot(excess, (guess, guess * (1 + mp.mpf(10) ** -9)))))


def _guess(a: float, share: Any) -> Any:
    from scipy.special import gammainccinv, gammaincinv

    low = share < 0.5
    return mp.log(float(gammaincinv(a, float(share)) if low else gammainccinv(a, float(1 - share))))


def level_condition(share: Any, outputs: int) -> Any:
    """Relative change of the loss by a relative change of the share: x·(density of x) is its inverse."""
    a, x = mp.mpf(outputs) / 2, outputs / (2 * loss_at(share, outputs))
    return share * mp.gamma(a) * mp.exp(x) / x**a
