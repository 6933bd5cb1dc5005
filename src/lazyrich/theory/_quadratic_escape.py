"""How a quadratic layer leaves the saddle at zero."""

from typing import Any

import numpy as np

from lazyrich.core import (
    Crossing,
    Status,
    argument_error,
    known,
    moderate,
    number,
)
from lazyrich.theory._bisection import bisect
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._path_time import path_times
from lazyrich.theory._quadratic_path import paths
from lazyrich.theory._solution import times


class QuadraticEscape(Frozen):
    r"""Small weights of a two-layer network that is quadratic in its first layer grow, unit by unit.

    $$ \dot v_i = u_i^\top \Sigma_{yZ} u_i, \qquad \dot u_i = 2 v_i \Sigma_{yZ} u_i $$

    Units do not see each other. With $\Sigma_{yZ} r_k = s_k r_k$, $b_k = r_k^\top u(0)$ and
    $y = 2\int_0^t v\,dt'$, each is a particle on a line,

    $$ u(t) = \sum_k b_k e^{s_k y} r_k, \qquad
       v^2 = G(y) = v(0)^2 + \tfrac12 \sum_k b_k^2 \left(e^{2 s_k y} - 1\right), \qquad
       \dot y = 2v = \pm 2\sqrt{G(y)} $$

    $G$ is convex. A unit that moves against its slope, $v \dot v < 0$, slows down; where $G$ reaches 0 it
    turns, $v$ changes its sign, and the unit grows in the other direction. It becomes infinite at the time

    $$ T = \int \frac{\lvert dy\rvert}{2\sqrt{G(y)}} $$

    taken along the path, to the turning point and back. Halving all weights doubles $T$.

    Symbols:
        $\Sigma_{yZ}$ → `correlation`, $u_i$ → column i of `first`, $v_i$ → entry i of `second`, $t$ → `time`,
        $T$ → `blow_up_time`, $\pi_k = e^{s_k y}$ → `growth`.

    Source:
        saddles, Proposition 5, Eq. 14, 45–58. The paper's $a_k$ is $r_k^\top u/\sqrt2$, and its time from
        Eq. 48 on is twice that of Eq. 14, which is used here. Its Eq. 55–58 hold without a turning point.

    Holds when:
        the weights are so small that the terms of Eq. 44 with $\Sigma_{ZZ}$ are negligible: during a plateau;
        loss = ½ mean squared error (for losses without the ½ time runs twice as fast); gradient flow.

    Computed as:
        Gauss–Legendre quadrature of the time along the path, on panels that adapt, with $G$ written as a sum
        of positive terms around its minimum or the turning point; positions by Newton's iteration. Times have
        relative errors of about 1e-13, and more where the minimum of $G$ is a tiny share of $v(0)^2$; weights
        also share the error of $T - t$. Where that minimum is 0 to within rounding, the unit comes to rest
        there and never blows up.

    Checked by:
        checks `saddles/eq14`, `saddles/eq55`, `saddles/eq56`, `saddles/eq58`, `saddles/prop5`;
        `tests/theory/test_quadratic_escape.py`.

    Args:
        correlation: $\Sigma_{yZ}$, shape (D, D), symmetric.
        first: first layer at the start, shape (D, units).
        second: second layer at the start, shape (units,).
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import QuadraticEscape
        >>> first = 1e-3 * np.array([[1.0, 1.0], [2.0, 1.0]])
        >>> escape = QuadraticEscape(np.diag([1.0, -1.0]), first, second=[1e-3, -1e-3])
        >>> escape.blow_up_time().time.round(3), escape.order
        (array([834.79 , 655.514]), array([1, 0]))
        >>> escape.units(655.0).round(3)[:, 0]
        array([ 0.003, -0.972])
    """

    def __init__(self, correlation: Any, first: Any, second: Any, learning_rate: Any = 1.0):
        self.correlation = moderate(
            "correlation", correlation, size=1e100, advice="Pass the mean of y·Z(x)."
        )
        self.first = moderate(
            "first", first, size=1e100, advice="Pass the first layer, shape (D, units)."
        )
        self.second = moderate(
            "second", second, size=1e100, advice="Pass the second layer, shape (units,)."
        )
        self.learning_rate = number(
            "learning_rate", learning_rate, above=0, advice="Use 1 as usual."
        )
        _check(self.correlation, self.first, self.second)
        s, self.eigenvectors = np.linalg.eigh((self.correlation + self.correlation.T) / 2)
        largest = np.abs(s).max()
        self.eigenvalues = np.where(np.abs(s) <= s.size * np.finfo(float).eps * largest, 0.0, s)
        self._parts = self.first.T @ self.eigenvectors  # (units, D)
        size = np.maximum(np.abs(self._parts).max(1) / np.sqrt(2), np.abs(self.second))
        self._size = np.where(size > 0, size, 1.0)
        self._rate = 2 * self.learning_rate * largest * self._size  # of the scaled units' time
        scaled = paths(
            self.eigenvalues / largest,
            (self._parts / self._size[:, None]) ** 2 / 2,
            self.second / self._size,
        )
        self._clock = path_times(scaled)

    def units(self, time: Any) -> np.ndarray:
        """The weights, last two axes (unit, 1 + D), second layer first; NaN from a unit's blow-up on."""
        y, v = self._position(time)
        exponents = np.where(self._parts != 0, self.eigenvalues * y[..., None], 0.0)  # not 0 × inf
        u = (self._parts * np.exp(exponents)) @ self.eigenvectors.T
        return np.concatenate([v[..., None], u], axis=-1)

    def growth(self, time: Any) -> np.ndarray:
        """By what factor each eigenvector's part of a unit has grown, π_k (Eq. 53); last axes (unit, D).

        NaN from a unit's blow-up on.
        """
        y, _ = self._position(time)
        with np.errstate(over="ignore"):  # a part that is 0 may have an infinite factor
            return np.exp(self.eigenvalues * y[..., None])

    def blow_up_time(self) -> Crossing:
        """When each unit becomes infinite (Eq. 56, along the path); inf and `NEVER` where it does not."""
        blows_up = self._clock.paths.blows_up
        time = np.where(blows_up, self._clock.total / self._rate, np.inf)
        return Crossing(time, np.where(blows_up, Status.REACHED, Status.NEVER))

    def turning_time(self) -> Crossing:
        """When the second layer's weight of each unit changes its sign; inf and `NEVER` where it does not."""
        path = self._clock.paths
        time = self._clock.at(np.arange(self.second.size), np.zeros(self.second.size)) / self._rate
        status = np.where(path.begin < 0, Status.REACHED, Status.AT_START)
        return Crossing(
            np.where(path.turns, time, np.inf), np.where(path.turns, status, Status.NEVER)
        )

    def escape_time(self, size: Any = 1.0) -> Crossing:
        r"""When the length of each unit, $\sqrt{v^2 + \lVert u\rVert^2}$, first reaches a size."""
        size = number("size", size, above=0, advice="Use 1, the size that counts as large.")
        reached = np.hypot(self.second, np.linalg.norm(self.first, axis=0)) >= size
        grows = self._clock.paths.blows_up & ~reached
        time = np.where(reached, 0.0, np.inf)
        time[grows] = self._time_of(size, np.flatnonzero(grows))
        status = np.where(reached, Status.AT_START, np.where(grows, Status.REACHED, Status.NEVER))
        return Crossing(time, status)

    @property
    def order(self) -> np.ndarray:
        """Numbers of the units, from the first to blow up to the last (Eq. 57)."""
        return np.argsort(self.blow_up_time().time, kind="stable")

    @property
    def conserved(self) -> np.ndarray:
        r"""$v_i^2 - \tfrac12\lVert u_i\rVert^2$, which does not change (Eq. 50), shape (units,)."""
        return self.second**2 - np.sum(self.first**2, axis=0) / 2

    def _position(self, time: Any) -> tuple[np.ndarray, np.ndarray]:
        """Where units are, y, and the second layer's weights; last axis the units."""
        time, path, total = times(time), self._clock.paths, self._clock.total
        known("time", time, "Evaluate outside `jit`.")
        t = time[..., None] * np.where(path.rests, 0.0, self._rate)
        ended = path.blows_up & (t >= total)
        unit = np.broadcast_to(np.arange(total.size), t.shape)
        q = self._clock.position(unit.ravel(), np.where(ended, 0.0, t).ravel()).reshape(t.shape)
        speed = np.sqrt(path.squared_speed(q)) * np.where(path.turns, np.sign(q), 1.0)
        v = self._size * path.sign * np.where(path.rests, 0.0, speed)
        y = path.sign * (path.base + path.z(q)) / np.abs(self.eigenvalues).max()
        return np.where(ended, np.nan, y), np.where(ended, np.nan, v)

    def _time_of(self, size: float, units: np.ndarray) -> np.ndarray:
        """When growing units have a size; v² is (size² + 2·conserved)/3 then, and rises from q = 0 on."""
        path, scale = self._clock.paths.take(units), self._size[units]
        v, u = self.second[units] / scale, self.first[:, units] / scale
        level = (np.minimum(size / scale, 1e100) ** 2 + 2 * v**2 - np.sum(u**2, axis=0)) / 3
        ends = np.zeros(len(units)), path.end
        high = bisect(lambda q: path.squared_speed(q) < level, *ends, steps=100)[1]
        return self._clock.at(units, high) / self._rate[units]


def _check(correlation: Any, first: Any, second: Any) -> None:
    known("correlation, first and second", (correlation, first, second))
    if correlation.ndim != 2 or len(set(correlation.shape)) > 1 or correlation.size == 0:
        raise argument_error("correlation", "have the shape (D, D)", correlation.shape)
    scale, asymmetry = np.abs(correlation).max(), np.abs(correlation - correlation.T).max()
    if scale == 0:
        raise argument_error(
            "correlation", "not vanish", 0.0, "Nothing grows then: pass the mean of y·Z(x)."
        )
    if asymmetry > 1e-10 * scale:
        raise argument_error(
            "correlation", "be symmetric", f"an asymmetry of {asymmetry:.2g}",
            "Pass its symmetric part, the only one that enters the loss.",
        )  # fmt: skip
    shape = f"({correlation.shape[0]}, units)"
    if first.ndim != 2 or first.shape[0] != correlation.shape[0] or first.shape[1] < 1:
        raise argument_error("first", f"have the shape {shape} to fit `correlation`", first.shape)
    if second.shape != first.shape[1:]:
        raise argument_error(
            "second", f"have the shape {first.shape[1:]} to fit `first`", second.shape
        )
