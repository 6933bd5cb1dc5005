"""A two-layer linear network with one input and one output."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import ArgumentError, Crossing, Status, argument_error, compute, is_traced, real
from lazyrich.theory import _two_layer_flow as flow
from lazyrich.theory._solution import (
    Solution,
    fitting,
    learning_rate_of,
    require_targets,
    times,
)


class ScalarNetwork(Solution):
    r"""Gradient flow of a linear network with one input, one output and any weights at the start.

    $$ f(x) = \frac{x}{Z} \sum_i a_i b_i = x\theta, \qquad \mathcal{L} = \tfrac12 (\theta - S)^2, \qquad
       \dot a_i = -\frac{\theta - S}{Z}\, b_i, \quad \dot b_i = -\frac{\theta - S}{Z}\, a_i $$

    All features share one growth γ:

    $$ a_i, b_i = \frac{a_i(0) + b_i(0)}{2}\, \gamma^{1/2} \pm \frac{a_i(0) - b_i(0)}{2}\, \gamma^{-1/2} $$

    $$ \gamma(t) = \frac{1 + (\Sigma_0 - S_0 + S)\, T}{1 + (\Sigma_0 + S_0 - S)\, T}, \quad
       T = \frac{\tanh(R \eta t/Z)}{R} $$

    $$ S_0 = \frac1Z \sum_i a_i(0) b_i(0), \qquad
       \Sigma_0 = \frac{1}{2Z} \sum_i \left(a_i(0)^2 + b_i(0)^2\right), \qquad
       R = \sqrt{\Sigma_0^2 - S_0^2 + S^2} $$

    With $c = \sqrt{\Sigma_0^2 - S_0^2}$ the growth at the end is
    $\ln\gamma_+ = \operatorname{arsinh}(S/c) - \operatorname{arsinh}(S_0/c)$: near 0, and training lazy,
    where target and first output are small beside $\Sigma_0$.

    Symbols:
        $S$ → `target`, $a_i$ → `first`, $b_i$ → `second`, $Z$ → `normalisation`, $\eta$ → `learning_rate`,
        $t$ → `time`, $\theta$ → `output`, $\Delta\theta$ → `spread`, $\gamma$ → `growth`, $\gamma_+$ →
        `final_growth`, $S_0$ → `initial_output`, $\Sigma_0$ → `initial_spread`.

    Source:
        layerwise, Eq. 15–20, 71–98, Theorem H.1, Remarks H.2, H.3. The paper's exponent is twice too large in
        Eq. 75 and 90–97, its rates twice too small in Eq. 16–18.

    Holds when:
        inputs have mean square 1; loss = ½ mean squared error (for losses without the ½ time runs twice
        as fast); gradient flow. The paper asks for S > 0; a target of either sign or 0 is the same with
        all $b_i$ negated, and holds too.

    Computed as:
        `DiagonalNetwork`, from $\Sigma_0 \pm S_0$: γ is a ratio of sums of terms that are ≥ 0, so that tiny
        weights, long times and $\Sigma_0 \pm S_0 \to 0$ lose no digits; the error is
        $\theta - S = (S_0 - S) / (\cosh^2(R\eta t/Z)\, n\, d)$ with numerator and denominator of γ. Where no
        weight can grow towards the target (all $b_i = -a_i$, S > 0) the output ends at 0, at the saddle.

    Checked by:
        checks `layerwise/thm-h1`, `layerwise/eq16`, `layerwise/eq19`, `layerwise/eq75`, `layerwise/eq96`,
        `layerwise/remark-h2`, `layerwise/remark-h3`; `tests/theory/test_scalar_network.py`.

    Args:
        target: S, of a shape that broadcasts with the leading one of the layers.
        first: $a_i(0)$, shape (..., features).
        second: $b_i(0)$, of the same shape.
        normalisation: Z > 0, likewise; $\sqrt{\text{features}}$ for the NTK parametrisation.
        learning_rate: η > 0, likewise; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import ScalarNetwork
        >>> rich = ScalarNetwork(target=1.0, first=[0.1, 0.1], second=[0.1, -0.1])
        >>> rich.features([0.0, 2.0, 20.0]).round(3)
        array([[ 0.01 , -0.01 ],
               [ 0.358, -0.   ],
               [ 1.   , -0.   ]])
        >>> rich.weight_to_target_ratio.round(4), rich.final_growth.round(2)
        (np.float64(0.02), np.float64(100.01))
    """

    target: Any
    first: Any
    second: Any
    normalisation: Any
    learning_rate: Any

    def __init__(
        self,
        target: Any,
        first: Any,
        second: Any,
        normalisation: Any = 1.0,
        learning_rate: Any = 1.0,
    ):
        self.target = real("target", target, advice="Pass a number such as 1.0.")
        self.first = real("first", first, advice="Pass the first layer, shape (features,).")
        self.second = real("second", second, advice="Pass the second layer, shape (features,).")
        self.normalisation = real(
            "normalisation", normalisation, above=0,
            advice="Use 1, or √features. For a negative one negate it and `second`.",
        )  # fmt: skip
        self.learning_rate = learning_rate_of(learning_rate)
        _check(self)

    def growth(self, time: Any) -> Any:
        r"""$\gamma(t)$, by which all squares $(a_i + b_i)^2$ have grown (Eq. 75); inf where it overflows."""
        return compute(_growth, self, self._times(time))

    def layers(self, time: Any) -> tuple[Any, Any]:
        """$a_i(t)$ and $b_i(t)$, last axis the features (Eq. 73, 74)."""
        return compute(_layers, self, self._times(time))

    def features(self, time: Any) -> Any:
        r"""$h_i = a_i b_i/Z$, what each feature adds to the output (Eq. 24, 25); last axis the features."""
        return compute(_features, self, self._times(time))

    def movement(self, time: Any) -> Any:
        r"""$h_i(t) - h_i(0)$, signed, last axis the features; keeps its digits where features hardly move."""
        return compute(_movement, self, self._times(time))

    def output(self, time: Any) -> Any:
        r"""$\theta(t) = \sum_i h_i$."""
        return compute(_output, self, self._times(time))

    def spread(self, time: Any) -> Any:
        r"""$\frac{1}{2Z}\sum_i (a_i^2 + b_i^2)$, which is $\Delta\theta$ of Eq. 17 where $a_i^2 = b_i^2$.

        $$ \dot\theta = -\frac2Z \Delta\theta\, (\theta - S), \qquad
           \frac{d\Delta\theta}{dt} = -\frac2Z \theta\, (\theta - S) $$

        With this spread both hold for any start; $\Delta\theta^2 - \theta^2$ is conserved.
        """
        return compute(_spread, self, self._times(time))

    def aligned(self, time: Any) -> Any:
        r"""Output of the features that start aligned with the target, $a_i(0) b_i(0) S > 0$."""
        self._require_target("no feature is aligned with it")
        return compute(_aligned, self, self._times(time))

    def anti_aligned(self, time: Any) -> Any:
        r"""Output of the features that start against the target, $a_i(0) b_i(0) S < 0$."""
        self._require_target("no feature is aligned with it")
        return compute(_anti_aligned, self, self._times(time))

    def loss(self, time: Any) -> Any:
        r"""$\tfrac12(\theta - S)^2$ (Eq. 72)."""
        return compute(_loss, self, self._times(time))

    def lazy_output(self, time: Any) -> Any:
        r"""The output if the kernel $2\Sigma_0/Z$ never changed: $S + (S_0 - S)\,e^{-2\Sigma_0 t/Z}$.

        Two limits lead here. Target downscaling, $S \to 0$ at $S_0 = 0$: $\theta/S$ tends to
        $1 - e^{-2\Sigma_0 t/Z}$, the difference being $O(S/\Sigma_0)^2$. NTK, $Z = \sqrt p$ with
        $p \to \infty$ features of variance 1: then $\Sigma_0/Z \to 1$ while $S_0$ stays $O(1)$, and the
        kernel tends to 2.
        """
        return compute(_lazy_output, self, self._times(time))

    def residual(self, time: Any) -> Any:
        r"""$S - \theta$, accurate also where it is far smaller than S."""
        return compute(_residual, self, self._times(time))

    def limit(self) -> Any:
        """The output for t → ∞: S, or 0 where no weight can grow towards it."""
        return compute(_limit, self)

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When the output first reaches a share of its target; inf and `NEVER` where it is stuck.

        Args:
            share: between 0 and 1, of a shape that broadcasts with the networks.
        """
        require_targets(self.target)
        level = real("share", share, above=0, below=1, advice="Use e.g. 0.9.")
        return compute(_saturation_time, self, fitting("share", level, self, _leading(self)))

    def inflection_time(self) -> Crossing:
        r"""When γ turns from convex to concave (Remark H.2); `NEVER` where it is one of the two throughout.

        $$ t = \frac{Z}{2R} \ln \frac{R + S - \Sigma_0 - S_0}{R - S + \Sigma_0 + S_0}, \qquad
           S > \Sigma_0 + S_0 $$
        """
        return compute(_inflection_time, self)

    def output_inflection_time(self) -> Crossing:
        r"""When learning turns from speeding up to slowing down: where the output's curve bends over.

        $$ \theta = \tfrac14\left(S + \sqrt{S^2 - 8(\Sigma_0^2 - S_0^2)}\right) $$

        For small balanced weights this is S/2, the middle of a sigmoid. `NEVER` where the root is not real or
        the output starts beyond it: then learning slows down throughout.
        """
        return compute(_output_inflection_time, self)

    @property
    def initial_output(self) -> Any:
        """$S_0$ (Eq. 20)."""
        return compute(_initial_output, self)

    @property
    def initial_spread(self) -> Any:
        r"""$\Sigma_0$ (Eq. 20)."""
        return compute(_initial_spread, self)

    @property
    def final_growth(self) -> Any:
        r"""$\gamma_+ = (S + R)/(\Sigma_0 + S_0)$ (Eq. 19); inf or 0 where nothing can grow to the target."""
        return compute(_final_growth, self)

    @property
    def is_concave(self) -> Any:
        r"""Whether γ is concave at all times, $S_0 \le S \le \Sigma_0 + S_0$ (Remark H.2)."""
        return compute(_is_concave, self)

    @property
    def weight_to_target_ratio(self) -> Any:
        r"""$\Sigma_0/\lvert S\rvert$: small is rich (Remark H.3); large is lazy if $S_0 \ll \Sigma_0$ too."""
        self._require_target("the ratio is infinite")
        return compute(_ratio, self)

    def _times(self, time: Any) -> Any:
        return fitting("time", times(time), self, _leading(self))

    def _require_target(self, otherwise: str) -> None:
        if not is_traced(self.target) and np.any(self.target == 0):
            raise argument_error("target", "not be 0 here", 0.0, f"Without a target {otherwise}.")


def _leading(m: ScalarNetwork) -> tuple[int, ...]:
    others = (m.target, m.normalisation, m.learning_rate)
    return np.broadcast_shapes(m.first.shape[:-1], *(np.shape(value) for value in others))


def _check(m: ScalarNetwork) -> None:
    a, b = m.first, m.second
    if a.ndim < 1 or a.shape[-1] == 0:
        raise argument_error("first", "have the shape (..., features), features ≥ 1", a.shape)
    if b.shape != a.shape:
        raise argument_error("second", f"have the shape {a.shape} of `first`", b.shape)
    try:
        _leading(m)
    except ValueError:
        raise ArgumentError(
            f"`target` must have a shape that broadcasts with the leading shape {a.shape[:-1]} of `first` "
            f"and the shapes {m.normalisation.shape} and {m.learning_rate.shape} of `normalisation` and "
            f"`learning_rate`, got {m.target.shape}. Pass single numbers, or one for each network."
        ) from None
    if is_traced(a, b, m.normalisation):
        return
    with np.errstate(over="ignore", under="ignore"):
        for part in ((a + b) / 2, (a - b) / 2):
            square = np.sum(part**2, axis=-1) / m.normalisation
            if not np.all(np.isfinite(square)):
                raise argument_error(
                    "first",
                    "have squares that a float can hold, as `second`",
                    _largest(a, b),
                    "Rescale.",
                )
            # their growth could not be followed: a square that is lost cannot come back
            if np.any((square < 1e-290) & np.any(part != 0, axis=-1)):
                raise argument_error(
                    "first", "differ from ±`second` by 0 or by more than 1e-145·√Z", _largest(a, b),
                    "Z is `normalisation`. Rescale.",
                )  # fmt: skip


def _largest(a: Any, b: Any) -> float:
    return float(np.max(np.abs([a, b])))


def _parts(m: ScalarNetwork) -> tuple[Any, Any, Any, Any]:
    """What grows of each feature and what decays, (a ± b)/2; and A, B = Σ₀ ± S₀, not by subtraction."""
    p, q = (m.first + m.second) / 2, (m.first - m.second) / 2
    A, B = (2 * jnp.sum(part**2, axis=-1) / m.normalisation for part in (p, q))
    return p, q, A, B


def _initial_output(m: ScalarNetwork) -> Any:
    return jnp.sum(m.first * m.second, axis=-1) / m.normalisation


def _initial_spread(m: ScalarNetwork) -> Any:
    return jnp.sum(m.first**2 + m.second**2, axis=-1) / (2 * m.normalisation)


def _flow(m: ScalarNetwork) -> flow.Flow:
    _, _, A, B = _parts(m)
    return flow.Flow(A, B, _initial_output(m), m.target)


def _rate(m: ScalarNetwork) -> Any:
    return m.learning_rate / m.normalisation


def _growth(m: ScalarNetwork, t: Any) -> Any:
    return flow.growth_at(_flow(m), _rate(m) * t)


def _times_unless_zero(value: Any, factor: Any) -> Any:
    """The product; 0 where the value is 0 and the factor may be infinite."""
    return jnp.where(value == 0, 0, value * jnp.where(value == 0, 1, factor))


def _grown(m: ScalarNetwork, t: Any) -> tuple[Any, Any]:
    """(a + b)/2 and (a − b)/2 at a time."""
    p, q, _, _ = _parts(m)
    up, down = flow.roots_at(_flow(m), _rate(m) * t)
    return _times_unless_zero(p, up[..., None]), _times_unless_zero(q, down[..., None])


def _layers(m: ScalarNetwork, t: Any) -> tuple[Any, Any]:
    p, q = _grown(m, t)
    return p + q, p - q


def _features(m: ScalarNetwork, t: Any) -> Any:
    p, q = _grown(m, t)
    return (p - q) * (p + q) / m.normalisation[..., None]


def _movement(m: ScalarNetwork, t: Any) -> Any:
    p, q, _, _ = _parts(m)
    up, down = flow.excess_at(_flow(m), _rate(m) * t)
    moved = _times_unless_zero(p**2, up[..., None]) + _times_unless_zero(q**2, down[..., None])
    return moved / m.normalisation[..., None]


def _spread(m: ScalarNetwork, t: Any) -> Any:
    _, _, A, B = _parts(m)
    gamma = _growth(m, t)
    return (_times_unless_zero(A, gamma) + _times_unless_zero(B, 1 / gamma)) / 2


def _residual(m: ScalarNetwork, t: Any) -> Any:
    return flow.residual_at(_flow(m), _rate(m) * t)


def _output(m: ScalarNetwork, t: Any) -> Any:
    return flow.product_at(_flow(m), _rate(m) * t)


def _loss(m: ScalarNetwork, t: Any) -> Any:
    return _residual(m, t) ** 2 / 2


def _of_sign(m: ScalarNetwork, t: Any, sign: int) -> Any:
    start = m.first * m.second * m.target[..., None]
    return jnp.sum(jnp.where(sign * start > 0, _features(m, t), 0), axis=-1)


def _aligned(m: ScalarNetwork, t: Any) -> Any:
    return _of_sign(m, t, 1)


def _anti_aligned(m: ScalarNetwork, t: Any) -> Any:
    return _of_sign(m, t, -1)


def _lazy_output(m: ScalarNetwork, t: Any) -> Any:
    kernel = 2 * _initial_spread(m) * _rate(m)
    return m.target + (_initial_output(m) - m.target) * jnp.exp(-kernel * t)


def _final_growth(m: ScalarNetwork) -> Any:
    return jnp.broadcast_to(flow.growth_limit_of(_flow(m)), _leading(m))


def _limit(m: ScalarNetwork) -> Any:
    return jnp.broadcast_to(flow.limit_of(_flow(m)), _leading(m))


def _is_concave(m: ScalarNetwork) -> Any:
    _, _, A, _ = _parts(m)
    return (_initial_output(m) <= m.target) & (m.target <= A)


def _ratio(m: ScalarNetwork) -> Any:
    return _initial_spread(m) / jnp.abs(m.target)


def _saturation_time(m: ScalarNetwork, share: Any) -> Crossing:
    return flow.time_of_share(_flow(m), share, _rate(m))


def _inflection_time(m: ScalarNetwork) -> Crossing:
    A, B, _, S = _flow(m)
    R = flow.constant_of(_flow(m))
    happens = (S > A) & (A > 0)
    low = jnp.where(happens, A * (1 + B / jnp.where(happens, R + S, 1)), 1)  # A + R − S
    ratio = jnp.log1p(jnp.where(happens, 2 * (S - A) / low, 0))
    return _crossing(happens, ratio / (jnp.where(happens, 2 * R, 1) * _rate(m)))


def _output_inflection_time(m: ScalarNetwork) -> Crossing:
    A, B, start, S = _flow(m)
    some = S != 0
    size = jnp.where(some, S, 1)
    under = 1 - 8 * (A / size) * (B / size)
    root = jnp.where(under > 0, jnp.sqrt(jnp.where(under > 0, under, 1)), 0)
    share = (1 + root) / 4
    happens = some & (under >= 0) & (jnp.where(S > 0, A, B) > 0) & (start / size < share)
    return _crossing(happens, _saturation_time(m, share).time)


def _crossing(happens: Any, time: Any) -> Crossing:
    status = jnp.where(happens, Status.REACHED, Status.NEVER)
    return Crossing(jnp.where(happens, time, jnp.inf), status)
