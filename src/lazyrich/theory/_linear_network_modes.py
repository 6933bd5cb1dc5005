"""Linear networks on whitened inputs, from small aligned weights: one sigmoid for each mode."""

import functools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    Crossing,
    argument_error,
    compute,
    count,
    is_traced,
    items,
    known,
    moderate,
    number,
    real,
)
from lazyrich.theory._aligned_weights import aligned_modes
from lazyrich.theory._deep_modes import deep_mode, deep_time_of_share, vanishing_mode
from lazyrich.theory._linear_task import output_power_of, unexplained_power
from lazyrich.theory._solution import Solution, learning_rate_of, mode_times, target_share
from lazyrich.theory._stages import ModeStages, stages_of
from lazyrich.theory._two_layer_flow import (
    flow_of_imbalance,
    product_at,
    residual_at,
    time_of_share,
)


class LinearNetworkModes(Solution):
    r"""Gradient flow of a linear network on whitened inputs, balanced and aligned with its task.

    $$ f(x)^\top = x^\top W_1 W_2 \cdots W_L, \qquad E[xy^\top] = \sum_i \rho_i u_i v_i^\top, \qquad
       W_1 \cdots W_L = \sum_i s_i u_i v_i^\top, \qquad \dot s_i = L\,s_i^{2-2/L}(\rho_i - s_i) $$

    With two layers $s_i = \alpha_i^2$, where $\alpha_i$ is the singular value of each layer, and

    $$ \frac{s_i(t)}{\rho_i} = \frac{1}{1 + (\rho_i/s_i(0) - 1)\,e^{-2\rho_i t}} $$

    Modes are learned in the order of their singular values, and the rank of the network goes up one by one.

    Symbols:
        $E[yx^\top]$ → `correlation`, $s_i(0)$ → `start`, $L$ → `depth`, $E\lVert y\rVert^2$ → `output_power`,
        $u_i, v_i$ → columns of `left`, `right`, $\rho_i$ → `singular_values`, $t$ → `time` ×
        `learning_rate`.

    Source:
        layerwise, Eq. 12, 49–59, with $E[xy^\top] = U P V^\top$. Depth beyond two is an extension.

    Holds when:
        $E[xx^\top] = 1$; layers are balanced, $W_l^\top W_l = W_{l+1}W_{l+1}^\top$, and their product is
        diagonal in the singular vectors of the correlation, with no negative entry; loss = ½ mean squared
        norm of the error; gradient flow. `from_weights` measures this for given weights. Small random weights
        are nearly aligned once they have grown, not at the start.

    Computed as:
        for two layers as `BalancedModes` with λ = 0; for more by inverting the time at which a strength is
        reached, a sum over the L-th roots of unity.

    Checked by:
        checks `layerwise/eq12`, `layerwise/eq48`, `layerwise/eq50`, `layerwise/eq57`, `layerwise/eq58`,
        `layerwise/eq59`; `tests/theory/test_layerwise_modes.py`.

    Args:
        correlation: E[yxᵀ], shape (outputs, inputs).
        start: s(0) ≥ 0, the strength of the modes of the product: a number, or one for each mode, largest
            singular value first. A mode that starts at 0 stays there.
        depth: number of layers L ≥ 2.
        learning_rate: η > 0, a number; time is then counted in steps. With 1, the default, time is learning
            rate × step.
        output_power: E‖y‖², without which the labels count as a linear function of the inputs.
        basis: the vectors (left, right) to use, where singular values repeat and the choice matters.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import LinearNetworkModes
        >>> network = LinearNetworkModes(np.diag([3.0, 1.0]), start=1e-4)
        >>> network.modes(3.0).round(3)
        array([2.999, 0.039])
        >>> network.rank([0.0, 3.0, 10.0]).tolist()
        [0, 2, 2]
        >>> network.saturation_time(0.5).time.round(2)
        array([1.72, 4.61])
    """

    correlation: Any
    start: Any
    learning_rate: Any
    output_power: Any
    left: Any
    right: Any
    singular_values: Any
    depth: int = eqx.field(static=True)

    def __init__(
        self,
        correlation: Any,
        start: Any,
        depth: int = 2,
        learning_rate: Any = 1.0,
        *,
        output_power: Any = None,
        basis: tuple[Any, Any] | None = None,
    ):
        self.correlation = moderate("correlation", correlation, advice="Pass Y.T @ X / N.")
        self.start = real("start", start, at_least=0, advice="Use e.g. 1e-4.")
        self.depth = count(
            "depth", depth, at_least=2, at_most=1000, advice="Use `LinearModes` for one layer."
        )
        self.learning_rate = learning_rate_of(learning_rate, is_single=True)
        _check(self.correlation, self.start)
        given = (
            None
            if basis is None
            else tuple(moderate("basis", side) for side in items("basis", basis))
        )
        self.left, self.singular_values, self.right = _decomposed(self.correlation.T, given)
        self.output_power = output_power_of(output_power, np.sum(self.singular_values**2))

    @classmethod
    def from_weights(
        cls, correlation: Any, weights: Sequence[Any], learning_rate: Any = 1.0, *,
        covariance: Any = None, output_power: Any = None, tolerance: float = 1e-8,
    ) -> "LinearNetworkModes":  # fmt: skip
        """The solution that starts at given weights, if its assumptions hold for them.

        Args:
            correlation: E[yxᵀ], shape (outputs, inputs).
            weights: W₁ … W_L, the first of shape (inputs, hidden).
            learning_rate: as for the class.
            covariance: E[xxᵀ], to check that it is 1; without it this is taken for granted.
            output_power: as for the class.
            tolerance: largest violation that counts as rounding, as a share of the size of what is compared:
                for the balance that of the single units, so that a large mode hides no small one.

        Raises:
            AssumptionError: inputs not whitened, layers not balanced, weights not aligned, and by how much.
        """
        C = moderate("correlation", correlation, advice="Pass Y.T @ X / N.")
        layers = [
            moderate("weights", layer, advice="Pass one matrix for each layer.")
            for layer in items("weights", weights)
        ]
        tolerance = number("tolerance", tolerance, above=0, below=1, advice="Use 1e-8.")
        _check(C, np.zeros(()))
        left, start, right = aligned_modes(C.T, layers, covariance, tolerance)
        return cls(
            C, start, len(layers), learning_rate, output_power=output_power, basis=(left, right)
        )

    def modes(self, time: Any) -> Any:
        """s, the strength of each mode; last axis the modes (Eq. 12, 58)."""
        return self._flow(time)[0]

    def residual(self, time: Any) -> Any:
        """ρ − s of each mode, accurate also where it is far smaller than ρ."""
        return self._flow(time)[1]

    def layer_strengths(self, time: Any) -> Any:
        """The singular values of every single layer, α = s^(1/L); last axis the modes."""
        return self.modes(time) ** (1 / self.depth)

    def product(self, time: Any) -> Any:
        """W₁ ⋯ W_L, last two axes (inputs, outputs) (Eq. 59)."""
        return compute(_product, self.left, self.modes(time), self.right)

    def loss(self, time: Any) -> Any:
        """½ mean squared norm of the error."""
        return compute(_loss, self.output_power, self.singular_values, self.residual(time))

    def rank(self, time: Any, tolerance: Any = 0.01) -> Any:
        """How many singular values of the product are above `tolerance` times the correlation's largest."""
        level = number("tolerance", tolerance, above=0, below=1, advice="Use e.g. 0.01.")
        return (self.modes(time) > level * self.singular_values.max()).sum(axis=-1)

    def saturation_time(self, share: Any = 0.9) -> Crossing:
        """When each mode first reaches a share of its singular value; inf and `NEVER` from s(0) = 0.

        Args:
            share: between 0 and 1.
        """
        level, rho = target_share(share, self.singular_values), self.singular_values
        if self.depth == 2:
            return compute(_two_layers_time, self.start, rho, level, self.learning_rate)
        with np.errstate(all="ignore"):
            found = deep_time_of_share(self.start + 0 * rho, rho, self.depth, float(level))
        return Crossing(compute(jnp.divide, found.time, self.learning_rate), found.status)

    def stages(self, lower: float = 0.1, upper: float = 0.9) -> ModeStages:
        """When the modes are learned, and whether one after the other."""
        return stages_of(self.saturation_time, lower, upper)

    def _flow(self, time: Any) -> tuple[Any, Any]:
        """Strengths s, and ρ − s."""
        t, rate = mode_times(time, 1), self.learning_rate
        if self.depth == 2:
            return compute(_two_layers, self.start, self.singular_values, t, rate)
        flow = functools.partial(_more_layers, self.depth)
        if is_traced(self.start, t, rate):
            return compute(flow, self.start, self.singular_values, t, rate)
        with np.errstate(all="ignore"):  # branches that `where` throws away
            return flow(self.start, self.singular_values, t, rate)


def _two_layers(start: Any, rho: Any, t: Any, rate: Any) -> tuple[Any, Any]:
    """Strengths s, and ρ − s."""
    balanced = flow_of_imbalance(0 * start, start, rho)
    return product_at(balanced, rate * t), residual_at(balanced, rate * t)


def _more_layers(depth: int, start: Any, rho: Any, t: Any, rate: Any) -> tuple[Any, Any]:
    """Strengths s, and ρ − s."""
    xp, t = jnp if is_traced(start, rho, t, rate) else np, rate * t
    moves, has_target = start > 0, rho > 0
    s0 = xp.where(has_target & moves, start, 0.5)  # any number on the way to 1
    target = xp.where(has_target & moves, rho, 1.0)
    strength, rest = deep_mode(s0, target, depth, t)
    gone = vanishing_mode(xp.where(moves, start, 1.0), depth, t)
    s = xp.where(moves, xp.where(has_target, strength, gone), 0 * strength)
    return s, xp.where(moves & has_target, rest, rho - s)


def _two_layers_time(start: Any, rho: Any, share: Any, rate: Any) -> Crossing:
    return time_of_share(flow_of_imbalance(0 * start, start, rho), share, rate)


def _product(left: Any, s: Any, right: Any) -> Any:
    return (left * s[..., None, :]) @ right.T


def _loss(power: Any, rho: Any, residual: Any) -> Any:
    still_to_learn = jnp.sum(residual**2, axis=-1)
    return (unexplained_power(power, jnp.sum(rho**2)) + still_to_learn) / 2


def _check(correlation: Any, start: Any) -> None:
    known("correlation", correlation)
    if correlation.ndim != 2 or correlation.size == 0:
        raise argument_error("correlation", "have the shape (outputs, inputs)", correlation.shape)
    modes = min(correlation.shape)
    if start.shape not in ((), (modes,)):
        raise argument_error(
            "start", f"be a number or {modes} numbers, one for each mode", start.shape
        )
    if not is_traced(start) and not np.all((start == 0) | ((start >= 1e-300) & (start <= 1e100))):
        raise argument_error(
            "start", "be 0 or from 1e-300 to 1e100", start.tolist(), "Rescale the outputs."
        )
    if not np.any(correlation):
        raise argument_error(
            "correlation", "not vanish", 0.0, "There is nothing to learn then: pass Y.T @ X / N."
        )


def _decomposed(correlation: Any, basis: Any) -> tuple[Any, Any, Any]:
    """Left vectors, singular values and right vectors of E[xyᵀ]; what is rounding counts as 0."""
    if basis is None:
        U, rho, Vt = np.linalg.svd(correlation, full_matrices=False)
        V = Vt.T
    else:
        if len(basis) != 2:
            raise argument_error("basis", "be the pair (left, right)", len(basis))
        U, V = basis
        modes = min(correlation.shape)
        if U.shape != (correlation.shape[0], modes) or V.shape != (correlation.shape[1], modes):
            raise argument_error("basis", "have a column for each mode", (U.shape, V.shape))
        rho = np.einsum("im,ij,jm->m", U, correlation, V)
        off = np.abs((U * rho) @ V.T - correlation).max() / np.abs(correlation).max()
        if off > 1e-6 or np.any(rho < -1e-6 * np.abs(rho).max()):
            raise argument_error(
                "basis", "be singular vectors of `correlation`", f"a difference of {off:.2g}"
            )
    rho = np.where(rho > 1e-13 * rho.max(), rho, 0.0)
    return U, rho, V
