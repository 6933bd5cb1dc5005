"""The quanta model: a skill is learned or not."""

from typing import Any

import jax.numpy as jnp

from lazyrich.core import compute, real
from lazyrich.theory._skill_sum import zeta
from lazyrich.theory._solution import Solution, check_broadcast, fitting, times


class Quanta(Solution):
    r"""Loss of a model that has learned the n most frequent of infinitely many skills, and no other.

    $$ L(n) = L_\infty + (L_0 - L_\infty) \sum_{k > n} p_k, \qquad p_k =
       \frac{k^{-(\alpha+1)}}{\zeta(\alpha+1)} $$

    A skill takes $n_c$ parameters, $D_c$ samples of it, or a time τ/p_k:

    $$ n = \lfloor N / n_c \rfloor, \qquad n = \max\{k : D p_k \ge D_c\}, \qquad n = \max\{k : t p_k \ge
       \tau\} $$

    so that $L - L_\infty$ falls as $N^{-\alpha}$, $D^{-\alpha/(\alpha+1)}$ and $t^{-\alpha/(\alpha+1)}$, in
    steps.

    Symbols:
        $\alpha + 1$ → `exponent`, $L_0$ → `unlearned_loss`, $L_\infty$ → `learned_loss`, $n_c$ →
        `units_needed`, $D_c$ → `samples_needed`, $\tau$ → `time_needed`, $n$ → `num_learned`.

    Source:
        layerwise, App. D.3; quanta.

    Holds when:
        skills are learned in the order of their frequency, completely or not at all; one resource is limited.

    Computed as:
        Hurwitz's zeta function; the number of learned skills from the inverse of the power law, rounded down.

    Checked by:
        check `layerwise/app-d3`; `tests/theory/test_skill_scaling.py`.

    Args:
        exponent: α + 1 > 1, any shape.
        unlearned_loss: loss on samples of a skill that is not learned, any shape.
        learned_loss: loss on samples of a skill that is, any shape.
        units_needed, samples_needed, time_needed: what a skill takes, > 0, any shape.

    Example:
        >>> from lazyrich.theory import Quanta
        >>> quanta = Quanta(exponent=2.0, unlearned_loss=1.0)
        >>> quanta.loss_from_learned([0, 1, 2]).round(4)
        array([1.    , 0.3921, 0.2401])
        >>> float(quanta.loss_from_data(100.0).round(4)), int(quanta.learned_from_data(100.0))
        (0.0809, 7)
    """

    exponent: Any
    unlearned_loss: Any
    learned_loss: Any
    units_needed: Any
    samples_needed: Any
    time_needed: Any

    def __init__(
        self, exponent: Any, unlearned_loss: Any = 0.5, learned_loss: Any = 0.0, *,
        units_needed: Any = 1.0, samples_needed: Any = 1.0, time_needed: Any = 1.0,
    ):  # fmt: skip
        self.exponent = real("exponent", exponent, above=1, advice="Pass α + 1, e.g. 1.6.")
        self.unlearned_loss = real("unlearned_loss", unlearned_loss, advice="Pass a loss.")
        self.learned_loss = real("learned_loss", learned_loss, advice="Pass a loss, e.g. 0.")
        self.units_needed = real("units_needed", units_needed, above=0, advice="Use e.g. 1.")
        self.samples_needed = real("samples_needed", samples_needed, above=0, advice="Use e.g. 1.")
        self.time_needed = real("time_needed", time_needed, above=0, advice="Use e.g. 1.")
        check_broadcast(self)

    def loss(self, time: Any) -> Any:
        """Loss after a time, with unlimited data and parameters."""
        return self.loss_from_learned(self.learned_from_time(time))

    def loss_from_learned(self, num_learned: Any) -> Any:
        """Loss with the n most frequent skills learned; n is rounded down."""
        n = real("num_learned", num_learned, at_least=0, advice="Pass a number of skills.")
        return compute(_loss, self, fitting("num_learned", n, self))

    def learned_from_units(self, num_units: Any) -> Any:
        """How many skills N parameters hold."""
        N = real("num_units", num_units, at_least=0, advice="Pass a number of units.")
        return compute(_from_units, self, fitting("num_units", N, self))

    def learned_from_data(self, num_samples: Any) -> Any:
        """How many skills have enough samples among D."""
        D = real("num_samples", num_samples, at_least=0, advice="Pass a number of samples.")
        return compute(_from_data, self, fitting("num_samples", D, self))

    def learned_from_time(self, time: Any) -> Any:
        """How many skills are learned after a time."""
        return compute(_from_time, self, times(time, self))

    def loss_from_units(self, num_units: Any) -> Any:
        """Loss of N parameters."""
        return self.loss_from_learned(self.learned_from_units(num_units))

    def loss_from_data(self, num_samples: Any) -> Any:
        """Loss after D samples."""
        return self.loss_from_learned(self.learned_from_data(num_samples))


def _loss(m: Quanta, n: Any) -> Any:
    beta = m.exponent
    missing = zeta(beta, jnp.floor(n) + 1) / zeta(beta, jnp.ones_like(beta))
    return m.learned_loss + (m.unlearned_loss - m.learned_loss) * missing


def _whole(n: Any) -> Any:
    """Rounded down, but for rounding errors of numbers that are whole."""
    return jnp.floor(n * (1 + 4 * jnp.finfo(jnp.result_type(n)).eps))


def _from_units(m: Quanta, N: Any) -> Any:
    return _whole(N / m.units_needed)


def _from_data(m: Quanta, D: Any) -> Any:
    return _whole(_frequent(m, D / m.samples_needed))


def _from_time(m: Quanta, t: Any) -> Any:
    return _whole(_frequent(m, t / m.time_needed))


def _frequent(m: Quanta, inverse: Any) -> Any:
    """The k whose frequency is one over this."""
    beta = m.exponent
    return (inverse / zeta(beta, jnp.ones_like(beta))) ** (1 / beta)
