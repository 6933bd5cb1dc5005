"""Skills that emerge one after the other, with time, data and parameters."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    AssumptionError,
    Crossing,
    Status,
    argument_error,
    compute,
    is_traced,
    moderate,
    number,
    real,
    whole,
)
from lazyrich.theory._binomial_tails import binomial_tails
from lazyrich.theory._mode_solution import ModeSolution
from lazyrich.theory._solution import learning_rate_of


class Emergence(ModeSolution):
    r"""Strengths of skills in a diagonal linear network whose features are the skills.

    $$ f = \sum_{k \le N} a_k b_k g_k, \quad f^* = S \sum_k g_k, \quad g_i g_j = 0, \quad
       R_k = \frac{E[f g_k]}{E[g_k^2]} = a_k b_k $$

    $$ \text{time:} \quad \frac{R_k}{S} = \frac{1}{1 + (S/r - 1)\, e^{-2\eta S p_k t}}, \qquad
       \text{data:} \quad \frac{R_k - r}{S - r} = E\left[\min\left(1, \frac{d_k}{D_c}\right)\right], \qquad
       \text{parameters:} \quad \frac{R_k}{S} = \min\left(1, \max\left(0, \frac{N}{n_c} - k + 1\right)\right)
       $$

    with $d_k \sim \operatorname{Binomial}(D, p_k)$ samples of skill k among D. One sample is enough for a
    skill that is a feature of the model, $D_c = 1$, and then the law for data is $1 - (1 - p_k)^D$; one
    feature is, $n_c = 1$, and then a skill is learned if and only if $N \ge k$, with the skills numbered by
    falling frequency, whatever their order in `frequencies`. A network must build $g_k$
    from $D_c$ (or $n_c$) features $e_{kl}$ that are orthonormal and sum up to $\sqrt{D_c}\, g_k$; it finds
    the interpolation of least norm.

    Symbols:
        $p_k = E[g_k^2]$ → `frequencies`, $S$ → `target_scale`, $r = a_k(0) b_k(0)$ → `start`, $\eta$ →
        `learning_rate`, $D_c$ → `samples_needed`, $n_c$ → `units_needed`, $D$ → `num_samples`, $N$ →
        `num_units`, $t$ → `time`.

    Source:
        layerwise, Eq. 11, 60, Fig. 4, App. D.4; emergence, Sec. 3, 5, where the strength for $D_c > 1$ is
        printed as $1 - \sqrt{1 - d_k/D_c}$, which is that of a function with the same loss along $g_k$ (see
        the errata).

    Holds when:
        skills exclude each other, $g_i g_j = 0$; loss = ½ mean squared error (for losses without the ½ twice
        the learning rate); gradient flow from $a_k(0) = b_k(0) > 0$. Each law is that of one resource, with
        the other two unlimited. The law of data with $D_c > 1$ is a mean over features $e_{kl}$
        without a preferred direction.

    Computed as:
        logistic functions; binomial means by sums of positive terms, for the loss from the other side, so
        that neither loses digits, however many samples there are.

    Checked by:
        checks `layerwise/eq11`, `layerwise/eq60`, `layerwise/app-d4`; `tests/theory/test_emergence.py`.

    Args:
        frequencies: $p_k > 0$, shape (skills,), in any order, with a sum of at most 1.
        target_scale: S > 0.
        start: r, between 0 and S.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is learning rate ×
            step.
        samples_needed: $D_c$, a whole number.
        units_needed: $n_c > 0$.

    Example:
        >>> from lazyrich.theory import Emergence
        >>> skills = Emergence([0.6, 0.3, 0.1], target_scale=5.0, start=1e-4)
        >>> skills.modes(2.0).round(2)
        array([3.82, 0.04, 0.  ])
        >>> skills.modes_from_data(5).round(3)
        array([4.949, 4.16 , 2.048])
        >>> skills.modes_from_units(2)
        array([5., 5., 0.])
    """

    frequencies: Any
    target_scale: Any
    start: Any
    learning_rate: Any
    samples_needed: Any
    units_needed: Any

    def __init__(
        self, frequencies: Any, target_scale: Any = 1.0, start: Any = 1e-3, learning_rate: Any = 1.0,
        *, samples_needed: Any = 1, units_needed: Any = 1.0,
    ):  # fmt: skip
        self.frequencies = real("frequencies", frequencies, above=0, advice="Pass shares > 0.")
        self.target_scale = moderate("target_scale", target_scale, above=0, advice="Use e.g. 5.")
        self.start = real("start", start, above=0, advice="Use a small product such as 1e-4.")
        self.learning_rate = learning_rate_of(learning_rate)
        self.samples_needed = whole("samples_needed", samples_needed, advice="1: a skill is given.")
        self.units_needed = real(
            "units_needed", units_needed, above=0, advice="1: a skill is given."
        )
        self._check()

    def _check(self) -> None:
        if len(self.frequencies.shape) != 1 or 0 in self.frequencies.shape:
            raise argument_error("frequencies", "have the shape (skills,)", self.frequencies.shape)
        for name in ("target_scale", "start", "learning_rate", "samples_needed", "units_needed"):
            if getattr(self, name).shape != ():
                raise argument_error(name, "be a single number", getattr(self, name).shape)
        if not is_traced(self.frequencies) and np.sum(self.frequencies) > 1 + 1e-9:
            raise AssumptionError(
                "Skills must exclude each other, so that `frequencies` sum to at most 1, got "
                f"{np.sum(self.frequencies):g}. Divide them by their sum."
            )
        if not is_traced(self.start, self.target_scale) and self.start >= self.target_scale:
            raise argument_error(
                "start", f"be below `target_scale` = {self.target_scale:g}", self.start
            )

    def modes(self, time: Any) -> Any:
        """$R_k$ after a time, with unlimited data and parameters; last axis the skills (Eq. 9, 11)."""
        return compute(_modes, self, self._times(time))

    def residual(self, time: Any) -> Any:
        """$S - R_k$, accurate also where it is far smaller than S."""
        return compute(_residual, self, self._times(time))

    def loss(self, time: Any) -> Any:
        r"""$\frac12 \sum_k p_k (S - R_k)^2$."""
        return compute(_loss, self, self._times(time))

    def modes_from_data(self, num_samples: Any) -> Any:
        """Expected $R_k$ after long training on D samples; last axis the skills (Eq. 60, App. D.4)."""
        return compute(_from_data, self, _samples(num_samples))

    def loss_from_data(self, num_samples: Any) -> Any:
        r"""Expected loss after long training on D samples, $\frac12 (S - r) \sum_k p_k (S - R_k)$.

        Linear in $R_k$: what the data leave open is a random part of $g_k$, with the square of its length.
        """
        return compute(_loss_from_data, self, _samples(num_samples))

    def modes_from_units(self, num_units: Any) -> Any:
        """$R_k$ after long training of N units; last axis the skills (Eq. 60, App. D.4)."""
        return compute(_from_units, self, _units(num_units))

    def loss_from_units(self, num_units: Any) -> Any:
        r"""Loss after long training of N units, $\frac12 S \sum_k p_k (S - R_k)$."""
        return compute(_loss_from_units, self, _units(num_units))

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        r"""When each skill reaches a share of its strength.

        $$ t_k = \frac{1}{2\eta S p_k} \ln\frac{(S/r - 1)\,\text{share}}{1 - \text{share}} $$
        """
        share = number("share", share, above=0, below=1, advice="Use e.g. 0.5.")
        return compute(_saturation_time, self, np.float64(share))


def _samples(value: Any) -> Any:
    return whole("num_samples", value, at_least=0, advice="Pass a number of samples.")


def _units(value: Any) -> Any:
    return real("num_units", value, at_least=0, advice="Pass a number of hidden units.")


def start_odds(m: Any) -> Any:
    r"""$\ln(S/r - 1)$, minus the logit of the start."""
    return jnp.log(m.target_scale / m.start - 1)


def _growth(m: Emergence, t: Any) -> Any:
    return 2 * m.learning_rate * m.target_scale * m.frequencies * t


def _modes(m: Emergence, t: Any) -> Any:
    return m.target_scale * jax.nn.sigmoid(_growth(m, t) - start_odds(m))


def _residual(m: Emergence, t: Any) -> Any:
    return m.target_scale * jax.nn.sigmoid(start_odds(m) - _growth(m, t))


def _loss(m: Emergence, t: Any) -> Any:
    rest = jax.nn.sigmoid(start_odds(m) - _growth(m, t))  # 1 − R/S, with all its digits
    return m.target_scale**2 / 2 * jnp.sum(m.frequencies * rest**2, axis=-1)


def _learned_share(m: Emergence, D: Any) -> tuple[Any, Any]:
    """E[min(1, d/D_c)] for d of a binomial distribution, and what it lacks to 1, each with its digits."""
    p, c, D = m.frequencies, m.samples_needed, D[..., None]
    # E[min(d, c)] = D p P(Bin(D − 1, p) < c − 1) + c P(Bin(D, p) ≥ c)
    enough, too_few = binomial_tails(D, p, c)
    partly = D * p / c * binomial_tails(D - 1, p, c - 1)[1]
    return partly + enough, too_few - partly


def _from_data(m: Emergence, D: Any) -> Any:
    S, r = m.target_scale, m.start
    return r + (S - r) * _learned_share(m, D)[0]


def _loss_from_data(m: Emergence, D: Any) -> Any:
    S, r = m.target_scale, m.start
    return (S - r) ** 2 / 2 * jnp.sum(m.frequencies * _learned_share(m, D)[1], axis=-1)


def _from_units(m: Emergence, N: Any) -> Any:
    p = m.frequencies
    # of skills that are equally frequent the first comes first; both sorts are stable
    before = jnp.argsort(jnp.argsort(-p)).astype(p.dtype)
    return m.target_scale * jnp.clip(N[..., None] / m.units_needed - before, 0, 1)


def _loss_from_units(m: Emergence, N: Any) -> Any:
    S = m.target_scale
    return S / 2 * jnp.sum(m.frequencies * (S - _from_units(m, N)), axis=-1)


def _saturation_time(m: Emergence, share: Any) -> Crossing:
    time = (start_odds(m) + jnp.log(share / (1 - share))) / _growth(m, 1.0)
    at_start = time <= 0
    return Crossing(jnp.maximum(time, 0), jnp.where(at_start, Status.AT_START, Status.REACHED))
