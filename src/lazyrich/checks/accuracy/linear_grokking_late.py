"""Late-time forms of the losses and times of a linear student."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.core import Comparison, accuracy

BELOW_ONE = np.concatenate([decades(1e-12, 0.5, 40), 1 - decades(1e-12, 0.4, 40)])
TIMES = decades(1e-6, 1e6, 60)
_LAMBDA = "λ: 80 from 1e-12 to 1 − 1e-12"


def _gap(ratio: Any) -> Any:
    return 1 - mp.sqrt(ratio)


def _curve(method: str) -> tuple[Any, dict[str, Any]]:
    ratio, t = mesh(BELOW_ONE, TIMES)
    model = theory.LateGrokking(ratio, learning_rate=0.01)
    return getattr(model, method)(t), {"aspect_ratio": ratio, "time": t}


@accuracy(
    "theory.LateGrokking.train_loss",
    "Late training loss",
    against="Eq. 10 of linear-grokking at 50 digits",
    grid=f"{_LAMBDA}; 60 times from 1e-6 to 1e6",
)
def train_loss() -> Comparison:
    """A power times an exponential."""
    values, where = _curve("train_loss")
    return Comparison(values, _train_loss, where)


def _train_loss(ratio: Any, t: Any) -> Any:
    tau = mp.mpf(0.01) * t
    power = 16 * mp.sqrt(mp.pi) * ratio ** (mp.mpf(3) / 4) * tau ** (mp.mpf(3) / 2)
    return mp.exp(-4 * _gap(ratio) ** 2 * tau) / power


@accuracy(
    "theory.LateGrokking.test_loss",
    "Late test loss",
    against="Eq. 10 of linear-grokking at 50 digits",
    grid=f"{_LAMBDA}; 60 times from 1e-6 to 1e6",
)
def test_loss() -> Comparison:
    """The training loss divided by (1 − √λ)²."""
    values, where = _curve("test_loss")
    return Comparison(values, lambda ratio, t: _train_loss(ratio, t) / _gap(ratio) ** 2, where)


@accuracy(
    "theory.LateGrokking.intermediate_test_loss",
    "Late training loss integrated to infinity",
    against="Eq. 22 of linear-grokking with the incomplete Γ function at 50 digits",
    grid=f"{_LAMBDA}; 60 times from 1e-6 to 1e6",
    seconds=2,
)
def intermediate_test_loss() -> Comparison:
    """The two terms of the bracket cancel at late times."""
    values, where = _curve("intermediate_test_loss")
    return Comparison(values, _intermediate_test_loss, where)


def _intermediate_test_loss(ratio: Any, t: Any) -> Any:
    y = 4 * mp.mpf(0.01) * _gap(ratio) ** 2 * t
    if y > 800:
        return mp.mpf(0)  # too small for double precision
    bracket = mp.exp(-y) / mp.sqrt(y) - mp.sqrt(mp.pi) * mp.erfc(mp.sqrt(y))
    return _gap(ratio) * bracket / (mp.sqrt(mp.pi) * ratio ** (mp.mpf(3) / 4))


def _delay(method: str) -> tuple[Any, dict[str, Any]]:
    ratio, threshold = mesh(BELOW_ONE, decades(1e-30, 10, 40))
    model = theory.LateGrokking(ratio, learning_rate=0.01, threshold=threshold)
    found = getattr(model, method)()
    values = np.broadcast_to(getattr(found, "time", found), ratio.shape)
    return values, {"aspect_ratio": ratio, "threshold": threshold}


def _argument(ratio: Any, threshold: Any, power: Any) -> Any:
    constant = mp.mpf(2) ** (mp.mpf(5) / 3) / (3 * mp.cbrt(mp.pi))
    return constant * _gap(ratio) ** power / (mp.sqrt(ratio) * threshold ** (mp.mpf(2) / 3))


def _rate(ratio: Any) -> Any:
    return mp.mpf(0.01) * _gap(ratio) ** 2


@accuracy(
    "theory.LateGrokking.train_time",
    "When the late training loss falls to ε/4",
    against="Lambert's function in Eq. 23 of linear-grokking at 50 digits",
    grid=f"{_LAMBDA}; 40 thresholds from 1e-30 to 10",
)
def train_time() -> Comparison:
    """The argument of Lambert's function spans 40 decades."""
    values, where = _delay("train_time")
    return Comparison(values, lambda lam, eps: _lambert_time(lam, eps, 2), where)


@accuracy(
    "theory.LateGrokking.test_time",
    "When the late test loss falls to ε/4",
    against="Lambert's function in Eq. 24 of linear-grokking at 50 digits",
    grid=f"{_LAMBDA}; 40 thresholds from 1e-30 to 10",
)
def test_time() -> Comparison:
    """As above, with another power of 1 − √λ."""
    values, where = _delay("test_time")
    return Comparison(values, lambda lam, eps: _lambert_time(lam, eps, mp.mpf(2) / 3), where)


def _lambert_time(ratio: Any, threshold: Any, power: Any) -> Any:
    return 3 / (8 * _rate(ratio)) * mp.lambertw(_argument(ratio, threshold, power)).real


@accuracy(
    "theory.LateGrokking.small_threshold_delay",
    "Grokking time for ε → 0",
    against="Eq. 11 of linear-grokking at 50 digits",
    grid="λ: 1000 from 1e-12 to 1 − 1e-12",
)
def small_threshold_delay() -> Comparison:
    """Small for small λ, where the logarithm of a number close to 1 is taken."""
    ratio = np.concatenate([decades(1e-12, 0.5, 500), 1 - decades(1e-12, 0.4, 500)])
    values = theory.LateGrokking(ratio, 0.01).small_threshold_delay()
    return Comparison(values, _small_threshold, {"aspect_ratio": ratio})


def _small_threshold(ratio: Any) -> Any:
    return -mp.log(_gap(ratio)) / (2 * _rate(ratio))


@accuracy(
    "theory.LateGrokking.decay_limit_delay",
    "Third term of Eq. 15",
    against="log(1 + √λ)/2η(1 − √λ)² at 50 digits",
    grid="λ: 1000 from 1e-12 to 1 − 1e-12",
)
def decay_limit_delay() -> Comparison:
    """The delay between losses near their limits."""
    ratio = np.concatenate([decades(1e-12, 0.5, 500), 1 - decades(1e-12, 0.4, 500)])
    values = theory.LateGrokking(ratio, 0.01).decay_limit_delay()
    return Comparison(
        values, lambda lam: mp.log(1 + mp.sqrt(lam)) / (2 * _rate(lam)), {"aspect_ratio": ratio}
    )


@accuracy(
    "theory.LateGrokking.two_term_delay",
    "Delay with two terms of Lambert's function",
    against="Eq. 25 of linear-grokking at 50 digits",
    grid=f"{_LAMBDA}; 40 thresholds from 1e-30 to 10, where the logarithms exist",
    seconds=2,
)
def two_term_delay() -> Comparison:
    """Where ε is too large there is no logarithm; those points are left out."""
    values, where = _delay("two_term_delay")
    keep = np.isfinite(values)
    where = {name: column[keep] for name, column in where.items()}
    return Comparison(values[keep], _two_terms, where, condition=_two_term_condition)


def _inner(ratio: Any, threshold: Any) -> Any:
    return 4 * mp.log(_gap(ratio)) / (3 * mp.log(_argument(ratio, threshold, mp.mpf(2) / 3)))


def _two_terms(ratio: Any, threshold: Any) -> Any:
    second = 3 / (8 * _rate(ratio)) * mp.log(1 + _inner(ratio, threshold))
    return _small_threshold(ratio) + second


def _two_term_condition(ratio: Any, threshold: Any) -> Any:
    return abs(_small_threshold(ratio) / _two_terms(ratio, threshold))
