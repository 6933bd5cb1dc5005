"""Scaling laws of infinitely many skills."""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, count, is_traced, moderate, real
from lazyrich.theory._emergence import start_odds
from lazyrich.theory._skill_sum import DIRECT, MOST_DIRECT, frequency, quadrature, skill_sum, zeta
from lazyrich.theory._solution import Solution, check_broadcast, fitting, learning_rate_of, times

MARGIN = 40.0
"""Beyond this exponent a logistic function is 0 or 1 to all digits."""


class ScalingLaw(NamedTuple):
    r"""What a loss tends to as a resource grows, returned by `SkillScaling.law_of_time` and its like.

    $$ L(R) \sim c R^q $$

    Symbols:
        $q$ → `exponent`, $c$ → `constant`, as of `measures.power_law`; $R$ is time, samples or units.

    Source:
        layerwise, Sec. 4.4, App. D.1–D.4.

    Holds when:
        as `SkillScaling`, for much of the resource.

    Checked by:
        checks `layerwise/app-d1`, `layerwise/app-d3`; `tests/theory/test_skill_scaling.py`.

    Attributes:
        exponent: negative.
        constant: the loss at R = 1, if the law held there.

    Example:
        >>> from lazyrich.theory import SkillScaling
        >>> float(SkillScaling(exponent=1.5).law_of_units().exponent)
        -0.5
    """

    exponent: Any
    constant: Any


class SkillScaling(Solution):
    r"""Loss of the model of Eq. 11 with infinitely many skills, whose frequencies follow a power law.

    $$ p_k = \frac{k^{-(\alpha+1)}}{\zeta(\alpha+1)}, \qquad L(t) = \frac{S^2}{2} \sum_{k=1}^\infty
       \frac{p_k}{\left(1 + (S/r - 1)^{-1} e^{2\eta S p_k t}\right)^2}, \qquad L(D) = \frac{(S-r)^2}{2}
       \sum_{k=1}^\infty p_k (1 - p_k)^D, \qquad L(N) = \frac{S^2}{2} \sum_{k>N} p_k $$

    Each skill is learned abruptly, and their sum falls as a power of the resource:

    $$ L(t) \sim t^{-\alpha/(\alpha+1)}, \qquad L(D) \sim D^{-\alpha/(\alpha+1)}, \qquad L(N) \sim N^{-\alpha}
       $$

    Symbols:
        $\alpha + 1$ → `exponent`, $S$ → `target_scale`, $r = a_k(0)b_k(0)$ → `start`, $\eta$ →
        `learning_rate`, $t$ → `time`, $D$ → `num_samples`, $N$ → `num_units`.

    Source:
        layerwise, Sec. 4.4, Eq. 11, 60, App. D.1–D.4; emergence, Sec. 4 and App. J.

    Holds when:
        as `Emergence` with one sample and one unit for each skill; one resource is limited, the others are
        not.

    Computed as:
        the first skills one by one, the others by Euler–Maclaurin's formula, with an integral over
        frequencies instead of skills; L(N) by Hurwitz's zeta function. L(t) is exact to 1e-12 at any time,
        for starts r down to 1e-300: the smaller r, the more abruptly a skill is learned and the more of them
        are summed one by one, about $24(\alpha+1)\ln(S/r)$. Where exponent, scale or start are traced it is
        1024 of them, which gives 1e-12 up to $(\alpha+1)\ln(S/r) \approx 40$ and 1e-8 up to 400.

    Checked by:
        checks `layerwise/app-d1`, `layerwise/app-d3`; `tests/theory/test_skill_scaling.py`.

    Args:
        exponent: α + 1 > 1, any shape.
        target_scale: S > 0, any shape.
        start: r, between 0 and S, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> from lazyrich.theory import SkillScaling
        >>> skills = SkillScaling(exponent=1.6, start=1e-3)
        >>> skills.loss([0.0, 1e3, 1e6]).round(5)
        array([0.499  , 0.05539, 0.00415])
        >>> law = skills.law_of_time()
        >>> float(law.exponent.round(4)), float((law.constant * 1e6**law.exponent).round(5))
        (-0.375, 0.00415)
    """

    exponent: Any
    target_scale: Any
    start: Any
    learning_rate: Any

    def __init__(
        self, exponent: Any, target_scale: Any = 1.0, start: Any = 1e-3, learning_rate: Any = 1.0
    ):
        self.exponent = real(
            "exponent", exponent, above=1, at_most=100, advice="Pass α + 1, e.g. 1.6."
        )
        self.target_scale = moderate("target_scale", target_scale, above=0, advice="Use e.g. 5.")
        self.start = real("start", start, above=0, advice="Use a small product such as 1e-4.")
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)
        if not is_traced(self) and np.any(self.start >= self.target_scale):
            raise argument_error("start", "be below `target_scale`", np.max(self.start))

    def frequencies(self, num_skills: Any) -> Any:
        r"""$p_1, p_2, \ldots$ up to a number of skills, last axis the skills."""
        skills = np.arange(
            1.0, count("num_skills", num_skills, at_most=10**8, advice="Use e.g. 10.") + 1
        )
        return compute(_frequencies, self.exponent, skills)

    def loss(self, time: Any) -> Any:
        """Loss after a time, with unlimited data and parameters."""
        return compute(_loss_by(_num_direct(self)), self, times(time, self))

    def loss_from_data(self, num_samples: Any) -> Any:
        """Expected loss after long training on D samples."""
        D = real("num_samples", num_samples, at_least=0, advice="Pass a number of samples.")
        return compute(_loss_from_data, self, fitting("num_samples", D, self))

    def loss_from_units(self, num_units: Any) -> Any:
        """Loss after long training of the N most frequent skills."""
        N = real("num_units", num_units, at_least=0, advice="Pass a number of features.")
        return compute(_loss_from_units, self, fitting("num_units", N, self))

    def law_of_time(self) -> ScalingLaw:
        r"""What L(t) tends to, $L \sim A t^{-\alpha/(\alpha+1)}$."""
        return ScalingLaw(*compute(_law_of_time, self))

    def law_of_data(self) -> ScalingLaw:
        r"""What L(D) tends to.

        $$ L \sim \frac{(S-r)^2 \Gamma(\alpha/(\alpha+1))}{2(\alpha+1)\zeta(\alpha+1)^{1/(\alpha+1)}}\,
           D^{-\alpha/(\alpha+1)} $$
        """
        return ScalingLaw(*compute(_law_of_data, self))

    def law_of_units(self) -> ScalingLaw:
        r"""What L(N) tends to, $L \sim \frac{S^2}{2\alpha\zeta(\alpha+1)} N^{-\alpha}$."""
        return ScalingLaw(*compute(_law_of_units, self))


def _frequencies(beta: Any, k: Any) -> Any:
    return frequency(k, beta[..., None])


def _fall(x: Any) -> Any:
    """Derivative of the squared logistic function."""
    return 2 * jax.nn.sigmoid(x) ** 2 * jax.nn.sigmoid(-x)


def _num_direct(m: SkillScaling) -> int:
    """Skills that are summed one by one: past them 24 or more are on their way at a time."""
    if is_traced(m.exponent, m.target_scale, m.start):
        return DIRECT
    steepness = float(np.max(m.exponent * np.log(m.target_scale / m.start)))
    return min(max(DIRECT, 2 ** math.ceil(math.log2(max(24 * steepness, 1.0)))), MOST_DIRECT)


@functools.cache
def _loss_by(direct: int) -> Any:
    return functools.partial(_loss, direct=direct)


@functools.partial(
    jax.jit, static_argnames="direct"
)  # a user's derivative is compiled as one piece
def _loss(m: SkillScaling, t: Any, direct: int) -> Any:
    odds = start_odds(m)
    rate = jnp.maximum(2 * m.learning_rate * m.target_scale * t, 1e-30)
    low, high = jnp.maximum(odds - MARGIN, 0) / rate, (jnp.maximum(odds, 0) + MARGIN) / rate

    def fall(p: Any) -> Any:
        return rate * _fall(odds - rate * p)

    rest = skill_sum(
        m.exponent, lambda p: jax.nn.sigmoid(odds - rate * p) ** 2, fall, low, high, direct
    )
    return jnp.where(t >= 0, m.target_scale**2 / 2 * rest, jnp.nan)


@jax.jit
def _loss_from_data(m: SkillScaling, D: Any) -> Any:
    beta, high = m.exponent, 2 * MARGIN / jnp.maximum(D, 1e-30)
    # 1 − p of the first skill, which may be all but 1; no other is above one half
    others = zeta(beta, jnp.full_like(beta, 2)) / zeta(beta, jnp.ones_like(beta))

    def missed(p: Any) -> Any:
        return jnp.exp(D * jnp.where(p > 0.5, jnp.log(others), jnp.log1p(-jnp.minimum(p, 0.5))))

    def fall(p: Any) -> Any:
        return D * missed(p) / (1 - p)

    unseen = skill_sum(m.exponent, missed, fall, 0 * high, high)
    return (m.target_scale - m.start) ** 2 / 2 * unseen


def _loss_from_units(m: SkillScaling, N: Any) -> Any:
    beta = m.exponent
    return m.target_scale**2 / 2 * zeta(beta, N + 1) / zeta(beta, jnp.ones_like(beta))


def _law_of_time(m: SkillScaling) -> tuple[Any, Any]:
    """The tail's integral of `skill_sum` from k = 0, where all frequencies are present."""
    beta, odds = jnp.broadcast_arrays(m.exponent, start_odds(m))
    power = (beta - 1) / beta

    low, high = jnp.maximum(odds - MARGIN, 0), jnp.maximum(odds, 0) + MARGIN
    A = 1 / zeta(beta, jnp.ones_like(beta))
    rate = 2 * m.learning_rate * m.target_scale * A
    integral = quadrature(lambda z: z**power * _fall(odds - z), low, high)
    constant = m.target_scale**2 / 2 * A / (beta - 1) * rate**-power * integral
    return -power * jnp.ones_like(odds), constant


def _law_of_data(m: SkillScaling) -> tuple[Any, Any]:
    beta = m.exponent
    power = (beta - 1) / beta
    gamma = jnp.exp(jax.scipy.special.gammaln(power))
    scale = zeta(beta, jnp.ones_like(beta)) ** (-1 / beta) / beta
    return -power, (m.target_scale - m.start) ** 2 / 2 * scale * gamma


def _law_of_units(m: SkillScaling) -> tuple[Any, Any]:
    alpha = m.exponent - 1
    scale = 1 / (alpha * zeta(m.exponent, jnp.ones_like(alpha)))
    return -alpha, m.target_scale**2 / 2 * scale
