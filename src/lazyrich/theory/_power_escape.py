"""The simplest race between units: each grows like a power of itself."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import Crossing, Status, argument_error, compute, is_traced, moderate, real
from lazyrich.theory._solution import (
    Solution,
    check_broadcast,
    fitting,
    learning_rate_of,
    mode_times,
    shape_of,
)


class PowerEscape(Solution):
    r"""Weights that grow like a power of themselves: the largest wins, and the others hardly move.

    $$ \dot v = v^p, \qquad v(t) = \left(v(0)^{1-p} - (p-1)\,t\right)^{-1/(p-1)}, \qquad
       T = \frac{v(0)^{1-p}}{p-1} $$

    for $v(0) > 0$, and $v(t) = v(0) e^t$ for $p = 1$. A negative weight grows in the same way if p is odd; if
    p is even it shrinks, $v(t) = -(\lvert v(0)\rvert^{1-p} + (p-1)t)^{-1/(p-1)}$. When another weight, the
    leader, is $v_j$, then $v_i = (v_i(0)^{1-p} - v_j(0)^{1-p} + v_j^{1-p})^{-1/(p-1)}$: `relative`.

    Symbols:
        $v(0)$ → `start`, $p$ → `degree`, $t$ → `time`, $T$ → `blow_up_time`, $v_j(0)$ → `leader`,
        $v_j$ → `value`.

    Source:
        saddles, Eq. 15 and 16 (p = 2), and the end of Sec. 5.2 (p > 2).

    Holds when:
        each weight obeys this equation alone. For the layers of the paper it is a caricature.

    Computed as:
        logarithms, $\ln v = \ln v(0) - \ln(1 - (p-1)x)/(p-1)$ with $x = v(0)^{p-1}t$, for which p = 1 is a
        limit.

    Checked by:
        checks `saddles/eq15`, `saddles/eq16`; `tests/theory/test_power_escape.py`.

    Args:
        start: $v(0)$, any shape; negative ones need a whole degree.
        degree: p ≥ 1, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import PowerEscape
        >>> escape = PowerEscape(start=np.array([1e-3, 2e-3, -1e-3]))
        >>> escape.blow_up_time().time
        array([1000.,  500.,   inf])
        >>> escape.relative(leader=2e-3, value=1.0).round(6).tolist()
        [0.001996, 1.0, -0.000667]
    """

    start: Any
    degree: Any
    learning_rate: Any

    def __init__(self, start: Any, degree: Any = 2.0, learning_rate: Any = 1.0):
        self.start = moderate("start", start, advice="Pass the weights at time 0.")
        self.degree = real("degree", degree, at_least=1, advice="Use 2 for quadratic growth.")
        self.learning_rate = learning_rate_of(learning_rate)
        check_broadcast(self)
        if not is_traced(self.start, self.degree):
            fractional = np.any((self.start < 0) & (self.degree != np.floor(self.degree)))
            if fractional:
                raise argument_error(
                    "degree", "be a whole number where `start` is negative", degree,
                    "A negative weight has no other powers.",
                )  # fmt: skip

    def units(self, time: Any) -> Any:
        """The weights (Eq. 15): the axes of time, then those of the weights; NaN from a blow-up on."""
        return compute(_units, self, mode_times(time, len(shape_of(self))))

    def blow_up_time(self) -> Crossing:
        """When each weight becomes infinite; inf and `NEVER` where it does not."""
        return compute(_blow_up_time, self)

    def relative(self, leader: Any, value: Any) -> Any:
        """The weights when one that started at `leader` > 0 has reached `value` ≥ `leader` (Eq. 16)."""
        leader = fitting(
            "leader", real("leader", leader, above=0, advice="Pass where it started."), self
        )
        value = real("value", value, above=0, advice="Pass what it has become.")
        if not is_traced(leader, value) and np.any(value < leader):
            raise argument_error(
                "value", "be at least `leader`, as it grows", value, "Use e.g. 1.0."
            )
        return compute(_relative, self, leader, fitting("value", value, self))


def _powers(m: PowerEscape) -> tuple[Any, Any, Any, Any]:
    """Size and sign of the start, whether the size grows (1) or shrinks (−1), and p − 1."""
    v0, p = m.start, m.degree
    is_odd = jnp.mod(p, 2) == 1
    grows = jnp.where((v0 > 0) | is_odd, 1.0, -1.0).astype(v0.dtype)
    return jnp.abs(v0), jnp.sign(v0), grows, p - 1


def _units(m: PowerEscape, t: Any) -> Any:
    r, sign, grows, c = _powers(m)
    safe = jnp.where(r > 0, r, 1)
    x = grows * jnp.exp(c * jnp.log(safe)) * m.learning_rate * t
    v = sign * safe * jnp.exp(_growth(x, c))
    return jnp.where(r > 0, v, m.start + 0 * x)  # NaN stays NaN


def _growth(x: Any, c: Any) -> Any:
    """−log(1 − c·x)/c, x for c = 0, NaN where the logarithm is none."""
    is_small = jnp.abs(c) < 1e-8
    ends = c * x >= 1
    inside = jnp.where(ends | is_small, 0, c * x)
    regular = -jnp.log1p(-inside) / jnp.where(is_small, 1, c)
    return jnp.where(ends, jnp.nan, jnp.where(is_small, x * (1 + c * x / 2), regular))


def _blow_up_time(m: PowerEscape) -> Crossing:
    r, _, grows, c = _powers(m)
    blows_up = (r > 0) & (grows > 0) & (c > 0)
    size, c = jnp.where(blows_up, r, 1), jnp.where(blows_up, c, 1)
    time = jnp.exp(-c * jnp.log(size)) / (c * m.learning_rate)
    invalid = jnp.isnan(m.start) | jnp.isnan(m.degree) | jnp.isnan(m.learning_rate)
    time = jnp.where(invalid, jnp.nan, jnp.where(blows_up, time, jnp.inf))
    status = jnp.where(blows_up, Status.REACHED, Status.NEVER)
    return Crossing(time, jnp.where(invalid, Status.INVALID, status))


def _relative(m: PowerEscape, leader: Any, value: Any) -> Any:
    r, sign, grows, c = _powers(m)
    safe = jnp.where(r > 0, r, leader)
    ahead, grown = _log_ratio(safe, leader), _log_ratio(value, leader)
    is_small = jnp.abs(c) < 1e-8  # then all of them grow by nearly the same factor
    log_left = _log_left(ahead, grown, grows, jnp.where(is_small, 1, c))
    log_growth = jnp.where(is_small, grown * (1 + c * ahead), -log_left / jnp.where(is_small, 1, c))
    return jnp.where(r > 0, sign * safe * jnp.exp(log_growth), m.start + 0 * log_growth)


def _log_ratio(a: Any, b: Any) -> Any:
    """log(a/b), exact also where a is close to b."""
    is_close = (a > b / 2) & (a < 2 * b)
    return jnp.where(is_close, jnp.log1p(jnp.where(is_close, a - b, 0) / b), jnp.log(a / b))


def _log_left(ahead: Any, grown: Any, grows: Any, c: Any) -> Any:
    """log(1 − c·x) of `_growth` at the leader's time; c·x = ρ(1 − (leader/value)^c), ρ = (r/leader)^c."""
    share = jnp.exp(c * ahead)
    spent = -grows * share * jnp.expm1(-c * grown)
    # close to the end 1 − c·x is small: a sum of two positive numbers, (1 − ρ) + ρ(leader/value)^c
    left = -jnp.expm1(c * ahead) + share * jnp.exp(-c * grown)
    near = spent > 0.5
    log_left = jnp.where(
        near, jnp.log(jnp.where(near & (left > 0), left, 1)), jnp.log1p(-jnp.where(near, 0, spent))
    )
    return jnp.where(near & (left <= 0), jnp.nan, log_left)
