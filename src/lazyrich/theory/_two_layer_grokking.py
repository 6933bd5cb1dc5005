"""Grokking in a two-layer network whose kernel hardly moves."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    AssumptionError,
    compute,
    compute_elementwise,
    falling_time,
    is_traced,
    real,
    shortened,
    whole,
)
from lazyrich.models import activation as named_activation
from lazyrich.theory._activation_moments import ActivationMoments, activation_moments
from lazyrich.theory._first_crossing import Falling
from lazyrich.theory._grokking_solution import GrokkingSolution
from lazyrich.theory._laplace import atom, laplace
from lazyrich.theory._marchenko_pastur import MarchenkoPastur
from lazyrich.theory._quadrature import panels
from lazyrich.theory._solution import (
    check_broadcast,
    learning_rate_of,
    times,
)
from lazyrich.theory._spectral_mean import bulk_sums


class TwoLayerGrokking(GrokkingSolution):
    r"""A wide two-layer student learns a two-layer teacher of the same shape by gradient flow.

    $$ \dot D = -\frac{2\eta h}{d_\mathrm{out}^2}\, \Sigma D, \qquad
       \dot h = -\frac{4\eta}{d_\mathrm{out}} \operatorname{Tr}[(T + D)^\top \Sigma D], \qquad
       D = S_0 S_1 - T_0 T_1, \qquad h = \tfrac12(\|S_0\|^2 + \|S_1\|^2) $$

    for linear units. In a wide network h stays at its start, ½, and for any activation σ, with
    $x = \eta t/d_\mathrm{out}^2$ and $z \sim \mathcal{N}(0, q)$, $q = 1/2d_h$,

    $$ e = e^{-x(a^2\nu + \lambda v)}, \qquad r = \frac{a^2\nu e + \lambda v}{a^2\nu + \lambda v}, \qquad
       a = \mathbb{E}\,\sigma'(z), \quad v = \operatorname{Var} \sigma'(z) $$

    $$ d_\mathrm{out} \mathcal{L}_\mathrm{tr} = q a^2\, \mathbb{E}[\nu e^2] + m^2 c^2
         + n^2 \left[(1 - \lambda)^+ e_0^2 + \lambda\, \mathbb{E}_\mathrm{bulk}[e^2]\right], \qquad
       d_\mathrm{out} \mathcal{L}_\mathrm{gen} = q a^2\, \mathbb{E}[r^2] + m^2 c^2
         + n^2 \left(1 + \lambda\,
         \mathbb{E}\left[\frac{a^4\nu(1 - e)^2}{(a^2\nu + \lambda v)^2}\right]\right) $$

    Here $m = \mathbb{E}\,\sigma$ and $n^2 = \operatorname{Var}\sigma - q a^2$ are the parts of σ that are
    constant and that look like noise to a linear student, $e_0$ is e at ν = 0, and
    $c = e^{-x(2d_\mathrm{out}d_h m^2 + q (\mathbb{E}\sigma'')^2)}$. For linear units a = 1 and
    v = m = n = 0: then the losses are those of `LinearGrokking`, times $1/2d_h$, at learning rate
    $\eta/2d_\mathrm{out}$.

    Symbols:
        $\lambda = d_\mathrm{in}/N$ → `aspect_ratio`, $d_h$ → `width`, $\eta$ → `learning_rate`,
        $\epsilon$ → `threshold`, $d_\mathrm{out}$ → `output_dimension`, $\sigma$ → `activation`,
        $t$ → `time`.

    Source:
        linear-grokking, Eq. 16–18, 39–42, with two factors mended (see the errata). The kernel for an
        activation, which Sec. 4.2 mentions, is derived in the theory page.

    Holds when:
        $d_\mathrm{in}, N \to \infty$ at fixed λ, $d_h \gg d_\mathrm{out}$ and $d_\mathrm{in} \gg
        d_\mathrm{out}$; unless σ is nearly linear also $d_\mathrm{in} d_h \gg N d_\mathrm{out}$. Rates then
        spread by a share of about $\pm 2\sqrt{d_\mathrm{out}/d_h}$, which the tail of a loss shows. Loss =
        mean over samples and outputs of the squared error, without ½; first layers drawn with variance
        $1/2d_\mathrm{in}d_h$, second ones with $1/2d_\mathrm{out}d_h$.

    Computed as:
        a trapezoidal rule of 481 nodes that resolves every scale of ν; all terms are positive. The moments
        of σ are Gauss–Legendre sums with an edge at 0, so that a kink there does no harm.

    Checked by:
        checks `linear-grokking/eq17`, `linear-grokking/eq18`, `linear-grokking/eq41`, `linear-grokking/eq42`;
        `tests/theory/test_two_layer_grokking.py`.

    Args:
        aspect_ratio: λ, > 0, any shape.
        width: number of hidden units, whole, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        threshold: ε, > 0, any shape: a squared error, mean over outputs, up to this counts as correct.
        output_dimension: number of outputs, whole, any shape.
        activation: σ by name, or a function of an array.

    Example:
        >>> from lazyrich.theory import TwoLayerGrokking
        >>> model = TwoLayerGrokking(0.9, width=200, learning_rate=0.01, threshold=1e-4, output_dimension=5)
        >>> model.test_loss(0.0).round(12)
        np.float64(0.0005)
        >>> round(float(model.grokking_delay(0.95).time))
        21410
    """

    aspect_ratio: Any
    width: Any
    learning_rate: Any
    threshold: Any
    output_dimension: Any
    activation: "str | Callable[[Any], Any]" = eqx.field(static=True)

    def __init__(
        self,
        aspect_ratio: Any,
        width: Any,
        learning_rate: Any = 1.0,
        threshold: Any = 1e-3,
        *,
        output_dimension: Any = 1,
        activation: "str | Callable[[Any], Any]" = "linear",
    ):
        named_activation(activation)
        self.aspect_ratio = MarchenkoPastur(aspect_ratio).aspect_ratio
        self.width = whole("width", width, at_most=1_000_000_000, advice="Use e.g. 200.")
        self.learning_rate = learning_rate_of(learning_rate)
        self.threshold = real("threshold", threshold, above=0, advice="Use e.g. 1e-3.")
        self.output_dimension = whole(
            "output_dimension", output_dimension, at_most=1_000_000, advice="Use e.g. 1."
        )
        self.activation = activation
        check_broadcast(self)

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set, at the kernel of the start (Eq. 18)."""
        return compute_elementwise(_train_loss, self, times(time, self))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh inputs, at the kernel of the start (Eq. 18)."""
        return compute_elementwise(_test_loss, self, times(time, self))

    def kernel(self, time: Any) -> Any:
        r"""h(t) of the coupled equations (Eq. 17), for linear units.

        $$ h^2 = \tfrac14 - \frac{d_\mathrm{out}}{d_h}\, \mathbb{E}[e - e^2], \qquad
           e = e^{-2\eta\nu\tau/d_\mathrm{out}^2}, \quad \dot\tau = h $$

        It dips by a share of at most $d_\mathrm{out}/2d_h$ and comes back to ½.
        """
        _assume_linear(self)
        return compute(_kernel, self, times(time, self))

    def coupled_losses(self, time: Any) -> tuple[Any, Any]:
        """Training and test loss with the kernel moving as `kernel` says (Eq. 17), for linear units."""
        _assume_linear(self)
        return compute(_coupled_losses, self, times(time, self))

    def _resolved(self) -> "TwoLayerGrokking":
        return self

    def _falling(self, which: int) -> Falling:
        network = _network(self)
        return Falling(
            log_loss=lambda x: jnp.log(_losses(network, x)[which]),
            start=_losses(network, jnp.zeros_like(self.aspect_ratio))[which],
            limit=_losses(network, jnp.full_like(self.aspect_ratio, jnp.inf))[which],
            rate=_x(self, 1),
            may_rise=which == 1 and self.activation != "linear",
        )


def _assume_linear(m: TwoLayerGrokking) -> None:
    if m.activation != "linear":
        raise AssumptionError(
            f"The coupled equations assume `activation` = 'linear', got {shortened(m.activation)}. "
            "`train_loss` and `test_loss` take any activation."
        )
    known = not (is_traced(m.width) or is_traced(m.output_dimension))
    if known and np.any(m.width <= m.output_dimension):
        raise AssumptionError(
            "The coupled equations assume `width` > `output_dimension`, got "
            f"{shortened(m.width.tolist())} and {shortened(m.output_dimension.tolist())}. Widen the network: "
            "they hold for much wider ones."
        )


def _x(m: TwoLayerGrokking, t: Any) -> Any:
    return m.learning_rate * t / m.output_dimension**2


class _Network(NamedTuple):
    """The letters of the formulas, the moments of σ worked out."""

    lam: Any
    q: Any  # variance of a preactivation
    d: Any  # number of outputs
    moments: ActivationMoments


def _network(m: TwoLayerGrokking) -> _Network:
    q = 1 / (2 * m.width)
    if m.activation == "linear":  # rounding errors of the quadrature would not decay with the loss
        zero, one = jnp.zeros_like(q), jnp.ones_like(q)
        moments = ActivationMoments(zero, one, zero, zero, zero)
    else:
        moments = activation_moments(named_activation(m.activation), q)
    return _Network(m.aspect_ratio, q, m.output_dimension, moments)


def _losses(network: _Network, x: Any) -> tuple[Any, Any]:
    """Both losses at x = ηt/d_out², infinity allowed."""
    lam, q, d, (mean, a, v, curvature, rest) = network
    flat = lam * v

    def modes(nu: Any) -> tuple[Any, Any]:
        rate = a**2 * nu + flat
        safe = jnp.where(rate > 0, rate, 1)
        exponent = _times(x, rate)
        e, learned = jnp.exp(-exponent), -jnp.expm1(-exponent)
        r = e + flat / safe * learned
        memory, carried = lam * e**2 / nu, lam * (a**2 * learned / safe) ** 2
        return q * a**2 * e**2 + rest * memory, q * a**2 * r**2 / nu + rest * carried

    train, test = bulk_sums(lam, modes)  # sums are means of ν·modes(ν)
    constant = mean**2 * jnp.exp(-2 * _times(x, d / q * mean**2 + curvature))
    outside = rest * jnp.maximum(1 - lam, 0) * jnp.exp(-2 * _times(x, flat))
    return (train + constant + outside) / d, (test + q * a**2 * atom(lam) + constant + rest) / d


def _times(x: Any, rate: Any) -> Any:
    """The product, with ∞·0 = 0: what does not decay is still there in the end."""
    return jnp.where(rate > 0, x, 0) * rate


def _train_loss(m: TwoLayerGrokking, t: Any) -> Any:
    return _losses(_network(m), _x(m, t))[0]


def _test_loss(m: TwoLayerGrokking, t: Any) -> Any:
    return _losses(_network(m), _x(m, t))[1]


def _kernel_at(m: TwoLayerGrokking, x: Any) -> Any:
    """The kernel h where x = 2ητ/d_out², so that e = exp(−νx)."""
    lam, x = jnp.broadcast_arrays(m.aspect_ratio, x)
    return jnp.sqrt(0.25 - m.output_dimension / m.width * (laplace(lam, x) - laplace(lam, 2 * x)))


def _travelled(m: TwoLayerGrokking, t: Any) -> Any:
    """Where x is at time t: the solution of dx/dt = 2ηh(x)/d_out²."""
    y, weight = (jnp.asarray(values, t.dtype) for values in _log_nodes())

    def elapsed(x: Any) -> Any:  # ∫₀ˣ du/2h(u) with u = x·exp(−y)
        u = x[..., None] * jnp.exp(-y)
        slim = _with_last_axis(m)
        return x * jnp.sum(weight / (2 * _kernel_at(slim, u)), axis=-1)

    goal = _x(m, t)
    goal = goal + 0 * _kernel_at(m, goal)  # the full shape
    x = falling_time(lambda x: -elapsed(x), -jnp.where(goal > 0, goal, 1))
    return jnp.where(goal > 0, x, 0 * goal)  # NaN stays NaN


def _with_last_axis(m: TwoLayerGrokking) -> TwoLayerGrokking:
    """The same parameters with one more axis, to be broadcast against nodes."""
    return jax.tree.map(lambda leaf: leaf[..., None], m)


def _log_nodes() -> tuple[np.ndarray, np.ndarray]:
    y, weights = panels(np.array([0, 1, 2, 3, 4, 6, 9, 14, 22, 40.0]), 16)
    return y, weights * np.exp(-y)


def _kernel(m: TwoLayerGrokking, t: Any) -> Any:
    return _kernel_at(m, _travelled(m, t))


def _coupled_losses(m: TwoLayerGrokking, t: Any) -> tuple[Any, Any]:
    return _losses(_network(m), _travelled(m, t))
