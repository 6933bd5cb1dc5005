"""Grokking in a linear student at late times and for small thresholds: forms that can be read."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import AssumptionError, Crossing, Status, compute, is_traced, real, shortened
from lazyrich.theory._lambert import lambert_of_log
from lazyrich.theory._marchenko_pastur import MarchenkoPastur
from lazyrich.theory._solution import Solution, check_broadcast, learning_rate_of, times


class LateGrokking(Solution):
    r"""Late-time forms of `LinearGrokking`, for one output, no decay, no noise and scale 1.

    $$ \mathcal{L}_\mathrm{tr} \simeq \frac{e^{-4\eta g^2t}}{16\sqrt\pi\lambda^{3/4}(\eta t)^{3/2}}, \qquad
       \mathcal{L}_\mathrm{gen} \simeq \frac{\mathcal{L}_\mathrm{tr}}{g^2}, \qquad g = 1 - \sqrt\lambda $$

    Symbols:
        $\lambda = d_\mathrm{in}/N$ → `aspect_ratio`, $\eta$ → `learning_rate`, $\epsilon$ → `threshold`,
        $t$ → `time`. "gen" in the paper is "test" here.

    Source:
        linear-grokking, Eq. 10, 11, 15, 21–25.

    Holds when:
        as for `LinearGrokking`, and $8\sqrt\lambda\eta t \gg 1$; for the test loss also $4\eta g^2 t \gg 1$.
        All but the training loss need λ < 1. `LinearGrokking` is exact at every time.

    Computed as:
        it is written, with $g = (1-\lambda)/(1+\sqrt\lambda)$ near λ = 1, and logarithms of Lambert's
        argument, which may exceed every number.

    Checked by:
        checks `linear-grokking/eq10`, `linear-grokking/eq11`, `linear-grokking/eq15`,
        `linear-grokking/eq21` to `linear-grokking/eq25`; `tests/theory/test_late_grokking.py`.

    Args:
        aspect_ratio: λ, > 0, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        threshold: ε, > 0, any shape: a squared error up to this counts as correct. Only times need it.

    Example:
        >>> from lazyrich.theory import LateGrokking
        >>> late = LateGrokking(aspect_ratio=0.9, learning_rate=0.01, threshold=1e-3)
        >>> round(float(late.test_time().time - late.train_time().time))
        22904
        >>> round(float(late.small_threshold_delay()))
        56386
    """

    aspect_ratio: Any
    learning_rate: Any
    threshold: Any

    def __init__(self, aspect_ratio: Any, learning_rate: Any = 1.0, threshold: Any = 1e-3):
        self.aspect_ratio = MarchenkoPastur(aspect_ratio).aspect_ratio
        self.learning_rate = learning_rate_of(learning_rate)
        self.threshold = real("threshold", threshold, above=0, advice="Use e.g. 1e-3.")
        check_broadcast(self)

    def train_loss(self, time: Any) -> Any:
        r"""$e^{-4\eta g^2t}/16\sqrt\pi\lambda^{3/4}(\eta t)^{3/2}$ (Eq. 10, 21), for every λ.

        Its relative error falls as $3/64\sqrt\lambda\eta t$ (check `linear-grokking/eq10`).
        """
        return compute(_train_loss, self, times(time, self))

    def test_loss(self, time: Any) -> Any:
        r"""The training loss divided by $g^2$ (Eq. 10); λ < 1.

        Needs $4\eta g^2 t \gg 1$ besides: close to λ = 1 that is much later.
        """
        _assume_below_one(self)
        return compute(_test_loss, self, times(time, self))

    def intermediate_test_loss(self, time: Any) -> Any:
        r"""The late training loss integrated to infinity (Eq. 22); λ < 1.

        With $y = 4\eta g^2 t$ it is $g\,[e^{-y}y^{-1/2} - \Gamma(\tfrac12, y)] / \sqrt\pi\lambda^{3/4}$. Good
        from $\eta t \gg 1/\sqrt\lambda$ on, also before $y \gg 1$.
        """
        _assume_below_one(self)
        return compute(_intermediate_test_loss, self, times(time, self))

    def train_time(self) -> Crossing:
        r"""When the late training loss falls to ε/4, by Lambert's function (Eq. 23); λ < 1.

        $$ t = \frac{3}{8\eta g^2}\, W\!\left(
           \frac{2^{5/3} g^2}{3\pi^{1/3}\sqrt\lambda\,\epsilon^{2/3}}\right) $$
        """
        _assume_below_one(self)
        return compute(_train_time, self)

    def test_time(self) -> Crossing:
        r"""When the late test loss falls to ε/4 (Eq. 24); λ < 1.

        As above, with $g^{2/3}$ for $g^2$ in the argument of W.
        """
        _assume_below_one(self)
        return compute(_test_time, self)

    def two_term_delay(self) -> Any:
        r"""Delay between these two times with $W(z) \simeq \log z - \log\log z$ (Eq. 25); λ < 1.

        $$ \Delta t = \frac{-\log g}{2\eta g^2}
           + \frac{3}{8\eta g^2} \log\left(1 + \frac{4\log g}{3\log z_\mathrm{gen}}\right) $$

        Its first term is `small_threshold_delay`. NaN where ε is so large that $z_\mathrm{gen}$, the
        argument of W in Eq. 24, leaves no logarithm to take.
        """
        _assume_below_one(self)
        return compute(_two_term_delay, self)

    def small_threshold_delay(self) -> Any:
        r"""Limit ε → 0 of the grokking time, $-\log g/2\eta g^2$ (Eq. 11); λ < 1.

        Convergence is logarithmic in ε; near λ = 1 it takes $\epsilon \ll g$. `AssumptionError` (in a trace
        NaN) for λ ≥ 1, where the limit does not exist. `LinearGrokking.grokking_delay` is exact at any ε.
        """
        _assume_below_one(self)
        return compute(_small_threshold_delay, self)

    def decay_limit_delay(self) -> Any:
        r"""$\log(1+\sqrt\lambda)/2\eta g^2$, the third term of Eq. 15; λ < 1.

        The limit γ → 0 of the delay between the two losses reaching the same large multiple of their limits
        under decay. It is not the delay between accuracies, which `LinearGrokking.grokking_delay` has.
        """
        _assume_below_one(self)
        return compute(_decay_limit_delay, self)


def _assume_below_one(m: LateGrokking) -> None:
    if not is_traced(m.aspect_ratio) and np.any(m.aspect_ratio >= 1):
        raise AssumptionError(
            f"This late-time form assumes `aspect_ratio` < 1, got {shortened(m.aspect_ratio.tolist())}. "
            "From 1 on it does not exist; `LinearGrokking` is exact for every λ."
        )


def _gap(m: Any) -> Any:
    lam = m.aspect_ratio
    return (1 - lam) / (1 + jnp.sqrt(lam))  # 1 − √λ without cancellation near λ = 1


def _log_gap(m: Any) -> Any:
    """log(1 − √λ), which keeps its digits where λ is small and where it is close to 1; NaN from 1 on."""
    lam = m.aspect_ratio
    small, below = lam < 0.25, lam < 1
    near_zero = jnp.log1p(-jnp.sqrt(jnp.where(small, lam, 0.25)))
    gap = _gap(m)
    return jnp.where(small, near_zero, jnp.log(jnp.where(below, gap, jnp.nan)))


def _train_loss(m: Any, t: Any) -> Any:
    """Eq. 10 and 21."""
    lam, tau = m.aspect_ratio, m.learning_rate * t
    return jnp.exp(-4 * _gap(m) ** 2 * tau) / (16 * jnp.sqrt(jnp.pi) * lam**0.75 * tau**1.5)


def _intermediate_test_loss(m: Any, t: Any) -> Any:
    """Eq. 22."""
    lam, gap = m.aspect_ratio, jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    y = 4 * m.learning_rate * gap**2 * t
    x = jnp.sqrt(y)  # e^{−y}/x − √π erfc(x) is the bracket
    return gap * jnp.exp(-y) * _erfc_defect(x) / (x * jnp.sqrt(jnp.pi) * lam**0.75)


def _erfc_defect(x: Any) -> Any:
    """1 − √π x exp(x²) erfc(x) without cancellation, as π^(−½) ∫ exp(−u²) u²/(x² + u²) du.

    The trapezoidal rule at half-shifted nodes, with the residue of its pole at u = ix where that matters.
    """
    h = 0.4
    u = (jnp.arange(16, dtype=x.dtype) + 0.5) * h
    terms = jnp.exp(-(u**2)) * u**2 / (x[..., None] ** 2 + u**2)
    near = jnp.minimum(x, jnp.pi / h)
    pole = jnp.where(
        x < jnp.pi / h,
        2 * jnp.pi * near * jnp.exp(near**2 - jnp.logaddexp(0, 2 * jnp.pi * near / h)),
        0,
    )
    return (2 * h * jnp.sum(terms, axis=-1) / jnp.sqrt(jnp.pi)) - pole / jnp.sqrt(jnp.pi)


def _test_loss(m: Any, t: Any) -> Any:
    """Eq. 10."""
    late = _train_loss(m, t) / _gap(m) ** 2
    return jnp.where(m.aspect_ratio < 1, late, jnp.nan)


def _small_threshold_delay(m: Any) -> Any:
    """Eq. 11."""
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return -_log_gap(m) / (2 * m.learning_rate * gap**2)


def _log_z(m: Any, power: float) -> Any:
    """Logarithm of the argument of W in Eq. 23 (power 2) and Eq. 24 (power 2/3)."""
    constant = jnp.log(2 ** (5 / 3) / (3 * jnp.pi ** (1 / 3)))
    return (
        constant + power * _log_gap(m) - jnp.log(m.aspect_ratio) / 2 - 2 / 3 * jnp.log(m.threshold)
    )


def _train_time(m: Any) -> Crossing:
    """Eq. 23."""
    return _crossing(m, 2)


def _test_time(m: Any) -> Crossing:
    """Eq. 24."""
    return _crossing(m, 2 / 3)


def _crossing(m: Any, power: float) -> Crossing:
    # late forms grow without bound towards time 0: every level is reached
    time = 3 / (8 * m.learning_rate * _gap(m) ** 2) * lambert_of_log(_log_z(m, power))
    return Crossing(time, jnp.where(jnp.isnan(time), Status.INVALID, Status.REACHED))


def _two_term_delay(m: Any) -> Any:
    """Eq. 25."""
    inner = 4 / 3 * _log_gap(m) / _log_z(m, 2 / 3)
    second = (
        3 / (8 * m.learning_rate * _gap(m) ** 2) * jnp.log1p(jnp.where(inner > -1, inner, jnp.nan))
    )
    return _small_threshold_delay(m) + second


def _decay_limit_delay(m: Any) -> Any:
    """Eq. 15."""
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return jnp.log1p(jnp.sqrt(m.aspect_ratio)) / (2 * m.learning_rate * gap**2)
