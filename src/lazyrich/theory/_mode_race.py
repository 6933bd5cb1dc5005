"""Many modes of one weight vector grow at a rate of their own size: which wins, and when."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    AssumptionError,
    Crossing,
    Status,
    argument_error,
    compute,
    count,
    is_traced,
    known,
    moderate,
    number,
    real,
)
from lazyrich.theory._bisection import bisect
from lazyrich.theory._quadrature import legendre
from lazyrich.theory._solution import Solution, learning_rate_of, times

PANELS, NODES = 160, 12
"""Panels of the time integral, at most half a unit wide each, and Gauss–Legendre nodes in each. The
integrand's nearest poles are π away, so that the error is below rounding."""
HALVINGS = 64


class ModeRace(Solution):
    r"""A weight vector in the unit ball whose modes feed on themselves; the leader takes all.

    $$ \dot\alpha_l = \mu_l\alpha_l^d \quad (\lVert\alpha\rVert < 1), \qquad
       \dot\alpha_l = \mu_l\alpha_l^d - \lambda\alpha_l, \quad
       \lambda = \max\Bigl(0, \sum_k \mu_k\alpha_k^{d+1}\Bigr) \quad (\lVert\alpha\rVert = 1) $$

    with $d = 2$ in the paper. Along one curve, inside the ball and on the sphere alike,

    $$ x_l(s) = \alpha_l(0)\,\bigl(1 - (d-1) r_l s\bigr)^{-1/(d-1)}, \quad r_l = \mu_l\alpha_l(0)^{d-1},
       \qquad \alpha = \frac{x}{\max(1, \lVert x\rVert)}, \qquad
       \frac{dt}{ds} = \max(1, \lVert x\rVert)^{d-1} $$

    Symbols:
        $\mu_l$ → `rates`, $\alpha_l(0)$ → `start`, $d$ → `degree`, $t$ → `time` × `learning_rate`.

    Source:
        li2, Theorem 8, Eq. 10, Lemma 8. The paper has the ratio law
        $\tfrac{d}{dt}\ln(r_i/r_k) = r_i - r_k$; the curve and the time on it follow from it.

    Holds when:
        $\zeta_l$ are orthonormal and each mode's growth depends on itself alone. The paper takes all
        $\alpha_l > 0$. With $d = 2$ negative modes shrink, and if none is positive the weights go to zero
        and nothing wins. For σ(x) = x² the gradient of the energy has degree 3, not 2.

    Computed as:
        inside the ball in closed form. On the sphere one integral over $y = -\ln(1 - (d-1)r_{max}s)$,
        in which the integrand is smooth and tends to a constant, and its inverse by Newton's method.

    Checked by:
        checks `li2/eq10`, `li2/lemma8`; `tests/theory/test_mode_race.py`.

    Args:
        rates: $\mu_l > 0$, shape (modes,).
        start: $\alpha_l(0)$, shape (modes,), at most of length 1.
        degree: d ≥ 2.
        learning_rate: > 0, a number; time is then counted in steps. With 1, the default, time is learning
            rate × step.

    Example:
        >>> from lazyrich.theory import ModeRace
        >>> race = ModeRace(rates=[1.0, 0.5], start=[0.1, 0.15])
        >>> race.winner, race.hitting_time().time.round(4), race.amplitudes(30.0).round(4)
        (0, np.float64(8.8807), array([1., 0.]))
    """

    rates: Any
    start: Any
    learning_rate: Any
    degree: int = eqx.field(static=True)

    def __init__(self, rates: Any, start: Any, degree: int = 2, learning_rate: Any = 1.0):
        self.rates = real("rates", rates, above=0, advice="Pass one rate for each mode.")
        self.start = moderate("start", start, advice="Pass one amplitude for each mode.")
        self.degree = count(
            "degree", degree, at_least=2, at_most=1000, advice="Use 2, as the paper does."
        )
        self.learning_rate = learning_rate_of(learning_rate, is_single=True)
        if np.ndim(self.rates) != 1 or np.size(self.rates) == 0:
            raise argument_error("rates", "have the shape (modes,)", np.shape(self.rates))
        if np.shape(self.start) != np.shape(self.rates):
            raise argument_error(
                "start",
                f"have the shape {np.shape(self.rates)} of `rates`",
                np.shape(self.start),
            )
        if not is_traced(self.start) and not np.any(self.start):
            raise argument_error("start", "not vanish", 0.0, "Nothing moves then.")
        if not is_traced(self.start) and not np.linalg.norm(self.start) <= 1 + 1e-12:
            raise argument_error(
                "start", "be at most of length 1", float(np.linalg.norm(self.start)),
                "Scale it down: the winner stays the same.",
            )  # fmt: skip

    def amplitudes(self, time: Any) -> Any:
        """The modes $α_l(t)$, shape of the times and then (modes,)."""
        return _evaluate(_amplitudes, self.degree - 1, *self._parameters(), times(time))

    def shares(self, time: Any) -> Any:
        """Share of each mode in the squared length, shape of the times and then (modes,)."""
        squares = self.amplitudes(time) ** 2
        return squares / squares.sum(axis=-1, keepdims=True)

    @property
    def winner(self) -> int:
        """Number of the mode that takes all: the largest $μ_l α_l(0)^{d-1}$ (Lemma 8); −1 if none grows."""
        lead = self._lead()
        best = np.flatnonzero(lead == lead.max())
        if not lead.max() > 0:
            return -1
        if best.size > 1:
            raise AssumptionError(
                f"Lemma 8 needs one leader, but modes {best.tolist()} lead together: they share the end. "
                "Perturb `start`."
            )
        return int(best[0])

    def hitting_time(self) -> Crossing:
        """When the weights reach the unit sphere for good."""
        if self.winner < 0:
            return Crossing(np.float64(np.inf), np.int64(Status.NEVER))
        time = _evaluate(_hitting, self.degree - 1, *self._parameters())
        return Crossing(np.float64(time), np.int64(Status.REACHED if time > 0 else Status.AT_START))

    def winning_time(self, share: float = 0.99) -> Crossing:
        """When the winner's share of the squared length reaches this value."""
        share = number("share", share, above=0, below=1, advice="Pass a share such as 0.99.")
        if self.winner < 0:
            return Crossing(np.float64(np.inf), np.int64(Status.NEVER))
        if self.start[self.winner] ** 2 >= share * np.sum(self.start**2):
            return Crossing(np.float64(0.0), np.int64(Status.AT_START))
        time = _evaluate(_winning, self.degree - 1, *self._parameters(), np.float64(share))
        return Crossing(np.float64(time), np.int64(Status.REACHED))

    def _parameters(self) -> tuple[Any, Any, Any]:
        return self.rates, self.start, self.learning_rate

    def _lead(self) -> np.ndarray:
        known("rates", self, "Ask for it outside `jit`.")
        return self.rates * self.start ** (self.degree - 1)


def _evaluate(function: Any, p: int, *arguments: Any) -> Any:
    """The function with JAX if an argument is traced, else with NumPy, where nothing has to be compiled."""
    if is_traced(arguments):
        return compute(_jitted(function, p), *arguments)
    return function(*(np.asarray(a) for a in arguments), p=p, xp=np)


@functools.cache
def _jitted(function: Any, p: int) -> Any:
    return jax.jit(functools.partial(function, p=p, xp=jnp))  # derivatives compile as one piece


class _Curve:
    """The curve x(s) in the coordinate y, in which the leader blows up at infinity; p = d − 1."""

    def __init__(self, mu: Any, alpha: Any, p: int, xp: Any):
        r = mu * alpha**p
        # where no mode grows, the curve of another start: its values are not used
        self.grows = xp.max(r) > 0
        r = xp.where(self.grows, r, mu)
        self.alpha, self.p, self.xp = xp.where(self.grows, alpha, 1 / len(mu)), p, xp
        self.rate = p * xp.max(r)
        self.leads = r == xp.max(r)
        self.kappa = xp.where(
            self.leads, 1, xp.minimum(r / xp.max(r), 1)
        )  # division may not give 1
        self.top = 0.9 * float(np.log(np.finfo(alpha.dtype).max))
        self.nodes, self.weights = (xp.asarray(a, dtype=alpha.dtype) for a in legendre(NODES))

    def bounded(self, y: Any) -> Any:
        """The curve times e^{−y/p}, which stays finite; modes last."""
        return self.alpha * self._decay(y) ** (-1 / self.p)

    def _decay(self, y: Any) -> Any:
        growth = self.xp.exp(self.xp.minimum(y, self.top))[..., None]
        return self.kappa + (1 - self.kappa) * growth

    def log_length(self, y: Any) -> Any:
        return 0.5 * self.xp.log(self.xp.sum(self.bounded(y) ** 2, axis=-1)) + y / self.p

    def speed(self, y: Any) -> Any:
        """dt/dy on the sphere."""
        return self.xp.sum(self.bounded(y) ** 2, axis=-1) ** (self.p / 2) / self.rate

    def time_inside(self, y: Any) -> Any:
        return -self.xp.expm1(-y) / self.rate

    def time_between(self, low: Any, high: Any) -> Any:
        """Time on the sphere from one y to another close by."""
        half = (high - low) / 2
        y = low[..., None] + half[..., None] * (1 + self.nodes)
        return half * self.xp.sum(self.speed(y) * self.weights, axis=-1)

    def hit(self) -> Any:
        """Where, in y, the sphere is reached for good: the length is convex in s, so there is one."""
        xp = self.xp
        high = -self.p * xp.log(xp.max(xp.where(self.leads, xp.abs(self.alpha), 0)))
        y = self.bisect(lambda y: self.log_length(y) < 0, xp.zeros_like(high), xp.maximum(high, 0))
        squares = self.bounded(y) ** 2
        slope = xp.sum(squares * self.kappa / self._decay(y)) / xp.sum(squares) / self.p
        return xp.maximum(y - self.log_length(y) / xp.where(slope > 0, slope, 1), 0)

    def panels(self, start: Any) -> tuple[Any, Any]:
        """Edges in y from the sphere on until only the leader is left, and the times there."""
        xp = self.xp
        gap = xp.where(self.kappa < 1, 1 - self.kappa, 1)
        end = xp.maximum(start, xp.max(-xp.log(gap))) + 20 * self.p
        edges = start + (end - start) * xp.asarray(np.linspace(0, 1, PANELS + 1), dtype=start.dtype)
        lengths = self.time_between(edges[:-1], edges[1:])
        return edges, xp.concatenate([xp.zeros_like(lengths[:1]), xp.cumsum(lengths)])

    def on_sphere(self, edges: Any, after: Any, tau: Any) -> Any:
        """The y reached a time τ after the sphere: Newton's method in a panel, a line beyond the last."""
        xp = self.xp
        i = xp.clip(xp.searchsorted(after, tau, side="right") - 1, 0, PANELS - 1)
        low, high, begin = edges[i], edges[i + 1], after[i]

        def newton(y: Any) -> Any:
            return y - (begin + self.time_between(low, y) - tau) / self.speed(y)

        y = self.constant(low + (high - low) * (tau - begin) / (after[i + 1] - begin))
        y = self.repeat(8, lambda y: xp.clip(newton(y), low, high), xp.clip(y, low, high))
        y = newton(self.constant(y))  # one more, through which derivatives flow
        beyond = edges[-1] + (tau - after[-1]) / self.speed(edges[-1])
        return xp.where(tau > after[-1], beyond, y)

    def constant(self, value: Any) -> Any:
        return value if self.xp is np else jax.lax.stop_gradient(value)

    def repeat(self, times: int, function: Any, value: Any) -> Any:
        if self.xp is not np:
            return jax.lax.fori_loop(0, times, lambda _, x: function(x), value)
        for _ in range(times):
            value = function(value)
        return value

    def bisect(self, below: Any, low: Any, high: Any) -> Any:
        ends = self.constant((low, high))
        return self.constant(bisect(below, *ends, steps=HALVINGS, xp=self.xp)[1])


def _amplitudes(mu: Any, alpha: Any, rate: Any, t: Any, *, p: int, xp: Any) -> Any:
    mu = rate * mu
    curve = _Curve(mu, alpha, p, xp)
    y_hit = curve.hit()
    t_hit, (edges, after) = curve.time_inside(y_hit), curve.panels(y_hit)
    inside = t <= t_hit
    y_in = -xp.log1p(-curve.rate * xp.where(inside, t, 0))
    y_on = curve.on_sphere(edges, after, xp.where(inside, 0, t - t_hit))
    on = curve.bounded(y_on)
    on = on / xp.sqrt(xp.sum(on**2, axis=-1, keepdims=True))
    won = xp.where(inside[..., None], curve.bounded(y_in) * xp.exp(y_in / p)[..., None], on)
    shrinking = xp.where(curve.grows, 0, p * mu * alpha**p)
    free = alpha * (1 - shrinking * t[..., None]) ** (-1 / p)
    value = xp.where(curve.grows, won, free)
    return xp.where(xp.isnan(t)[..., None], t[..., None], value)


def _hitting(mu: Any, alpha: Any, rate: Any, *, p: int, xp: Any) -> Any:
    mu = rate * mu
    curve = _Curve(mu, alpha, p, xp)
    return curve.time_inside(curve.hit())


def _winning(mu: Any, alpha: Any, rate: Any, share: Any, *, p: int, xp: Any) -> Any:
    mu = rate * mu
    curve = _Curve(mu, alpha, p, xp)
    y_hit = curve.hit()
    edges, after = curve.panels(y_hit)

    def short(y: Any) -> Any:
        squares = curve.bounded(y) ** 2
        # what is left, compared without subtracting from 1: shares close to 1 keep their digits
        rest, lead = (xp.sum(xp.where(which, squares, 0)) for which in (~curve.leads, curve.leads))
        return rest > (1 - share) / share * lead

    far = edges[-1] + 400.0
    y = curve.bisect(short, xp.zeros_like(far), far)
    i = xp.clip(xp.searchsorted(edges, y, side="right") - 1, 0, PANELS - 1)
    within = after[i] + curve.time_between(edges[i], xp.minimum(y, edges[-1]))
    beyond = xp.maximum(y - edges[-1], 0) * curve.speed(edges[-1])
    on = curve.time_inside(y_hit) + within + beyond
    return xp.where(y <= y_hit, curve.time_inside(y), on)
