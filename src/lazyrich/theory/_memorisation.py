"""What a hidden node learns from the products of one element only: it memorises."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import AssumptionError, argument_error, compute, real, untraced
from lazyrich.groups import Group
from lazyrich.models import activation as activation_function
from lazyrich.theory._bisection import bisect
from lazyrich.theory._frozen import Frozen

BUDGET = 2.0
"""Σ s², where s_g is what a node of norm 1 receives from a pair."""
SMALLEST = 1e-100
"""Where the limit of φ at 0 is read off."""


class Memorisation(Frozen):
    r"""The node of largest energy when all samples have one product h: focused on a pair, or spread.

    Pairs $(g, g^{-1}h)$ come with probabilities $p_g$. A node of norm 1 receives $s_g = u_g + v_{g^{-1}h}$
    from them, $\sum_g s_g^2 \le 2$, and without centring its energy is

    $$ \mathcal{E} = \tfrac12 F(s)^2, \qquad F(s) = \sum_g p_g \sigma(s_g) $$

    With $\varphi(x) = \sigma'(x)/x$: if φ does not decrease, $s_g = \sqrt2$ for the most frequent pair and
    0 for all others (focused). If φ decreases strictly,

    $$ s_g = \varphi^{-1}(2\lambda/p_g), \qquad \sum_g s_g^2 = 2 $$

    and $s_g = 0$ where $2\lambda/p_g \ge \varphi(0^+)$ (spread). The weights are $u_g = v_{g^{-1}h} = s_g/2$.

    Symbols:
        $p_g$ → `probabilities`, $\sigma$ → `activation`, $s_g$ → `pair_sums`, $\lambda$ → `multiplier`, $F$ →
        `objective`, $\varphi$ → `slope_ratio`, $\varphi(0^+)$ → `limit_ratio`.

    Source:
        li2, Theorem 5, Lemmas 5 and 6, App. F.4.

    Holds when:
        σ' > 0 on (0, √2], φ is monotone there (both are tried on a grid), and the targets are not
        centred: centred, the targets of a single class are zero and so is every energy. Where φ does not
        decrease, one pair must be more frequent than all others: for $x^2$ and equally frequent ones every
        split of $\sum s_g^2 = 2$ among them is as good.

    Computed as:
        nested bisections for λ and φ⁻¹, on logarithms.

    Checked by:
        checks `li2/thm5`, `li2/lemma5`, `li2/lemma6`; `tests/theory/test_memorisation.py`.

    Args:
        probabilities: $p_g$ for each element g of the group, shape (M,), ≥ 0, summing to 1.
        activation: a name of `models.activation`, or a function.

    Example:
        >>> from lazyrich.theory import Memorisation
        >>> Memorisation([0.5, 0.3, 0.2], "quadratic").pair_sums.round(4)
        array([1.4142, 0.    , 0.    ])
        >>> spread = Memorisation([0.5, 0.3, 0.2], "relu")
        >>> spread.kind, (spread.pair_sums / spread.pair_sums.sum()).round(4)
        ('spread', array([0.5, 0.3, 0.2]))
    """

    @untraced
    def __init__(self, probabilities: Any, activation: Any = "quadratic"):
        self.probabilities = real("probabilities", probabilities, at_least=0, advice="Pass p_g.")
        if self.probabilities.ndim != 1 or self.probabilities.size < 2:
            raise argument_error(
                "probabilities", "have the shape (M,) with M ≥ 2", self.probabilities.shape
            )
        total = float(self.probabilities.sum())
        if abs(total - 1) > 1e-9:
            raise argument_error("probabilities", "sum to 1", total, "Divide them by their sum.")
        self.activation = activation_function(activation)
        grid = np.geomspace(1e-6, np.sqrt(BUDGET), 2001)
        ratio = np.asarray(self.slope_ratio(np.append(SMALLEST, grid)))
        self._last_ratio = float(ratio[-1])
        self.kind = _kind(grid, ratio[1:])
        if self.kind == "focused":
            _require_one_best(self.probabilities)
        self.limit_ratio = np.inf if ratio[0] > SMALLEST**-0.2 else float(ratio[0])
        if self.kind == "spread" and self.limit_ratio < ratio[1] * (1 - 1e-6):
            raise AssumptionError(
                f"φ = σ'(x)/x must fall from 0 on, but at {SMALLEST:g} it is {ratio[0]:.3g}, and "
                f"{ratio[1]:.3g} at {grid[0]:g}: σ' is rounding there. Write the activation such that its "
                "derivative is no difference of larger numbers."
            )

    def slope_ratio(self, x: Any) -> Any:
        """φ(x) = σ'(x)/x for x > 0, any shape."""
        x = real("x", x, above=0, advice="φ is defined for positive numbers.")
        return compute(_functions(self.activation)["ratio"], x)

    @functools.cached_property
    def pair_sums(self) -> np.ndarray:
        """What the best node receives from each pair, shape (M,)."""
        if self.kind == "focused":
            s = np.zeros(self.probabilities.size)
            s[int(np.argmax(self.probabilities))] = np.sqrt(BUDGET)
            return s
        solve = _functions(self.activation)["spread"]
        return compute(solve, self.probabilities, np.minimum(self.limit_ratio, 1e300))

    @functools.cached_property
    def _multiplier_and_objective(self) -> tuple[float, float]:
        summary = _functions(self.activation)["summary"]
        return compute(summary, self.probabilities, self.pair_sums)

    @property
    def multiplier(self) -> float:
        r"""λ: $p_g \varphi(s_g) = 2\lambda$ wherever $s_g > 0$."""
        return float(self._multiplier_and_objective[0])

    @property
    def objective(self) -> float:
        """F at the best node."""
        return float(self._multiplier_and_objective[1])

    @property
    def energy(self) -> float:
        """½F², the energy without centring, for sample weights that are the probabilities."""
        return self.objective**2 / 2

    @property
    def local_maxima(self) -> np.ndarray:
        r"""Elements on which a node may be focused at a local maximum; the first is the global one.

        A node on g is one where $p_g\varphi(\sqrt2) > p_{g'}\varphi(0^+)$ for all other g'. For $x^2$ that
        is the most frequent pair only; for $x^q$ with q > 2 every pair, although the paper says that there
        is no other. Empty where the best node is spread, which is the only maximum.
        """
        if self.kind != "focused":
            return np.zeros(0, int)
        p, top = self.probabilities, self._last_ratio
        others = np.array([np.delete(p, g).max() for g in range(p.size)])
        found = np.flatnonzero((p > 0) & (p * top > others * self.limit_ratio))
        return found[np.argsort(-p[found], kind="stable")]

    def weights(self, group: Group, target: int) -> np.ndarray:
        """The node itself, shape (2M,), for one product of a group."""
        M = self.probabilities.size
        if not isinstance(group, Group) or group.order != M:
            raise argument_error("group", f"be a group of order {M}", group)
        if (
            isinstance(target, bool)
            or not isinstance(target, int | np.integer)
            or not 0 <= target < M
        ):
            raise argument_error("target", f"be the number of an element, 0 to {M - 1}", target)
        w = np.zeros(2 * M)
        w[:M] = self.pair_sums / 2
        w[M + group.table[group.inverses, target]] = self.pair_sums / 2
        return w


def _require_one_best(p: np.ndarray) -> None:
    """Two that differ by the rounding of a division by their sum count as equal."""
    best = np.flatnonzero(p >= p.max() * (1 - 1e-12))
    if best.size > 1:
        raise AssumptionError(
            f"One pair must be more frequent than all others where φ = σ'(x)/x does not decrease, but "
            f"{best.size} have the largest probability {p.max():.3g}: no single node is the best. Use an "
            "activation such as 'relu', or other probabilities."
        )


def _kind(x: np.ndarray, ratio: np.ndarray) -> str:
    """Which way φ goes on a grid of (0, √2]."""
    if not np.all(np.isfinite(ratio)):
        raise AssumptionError("σ' must be finite on (0, √2]. Use an activation such as 'relu'.")
    if np.any(ratio <= 0):
        where = float(x[np.argmax(ratio <= 0)])
        raise AssumptionError(f"σ' must be positive on (0, √2], but it is not at {where:.3g}.")
    change = np.diff(ratio) / ratio[1:]
    noise = 1e-9  # of a derivative near 0, over the distance of two points
    if np.all(change >= -noise):
        return "focused"
    if np.all(change < noise):
        return "spread"
    rises, falls = (float(x[np.argmax(sign * change)]) for sign in (1, -1))
    raise AssumptionError(
        f"φ = σ'(x)/x must be monotone on (0, √2], but it rises at {rises:.3g} and falls at {falls:.3g}. "
        "Maximise the energy numerically, with simulate.energy_ascent."
    )


@functools.lru_cache(maxsize=64)
def _functions(activation: Any) -> dict[str, Any]:
    def slope(x: Any) -> Any:
        return jax.jvp(activation, (x,), (jnp.ones_like(x),))[1]

    def ratio(x: Any) -> Any:
        return slope(x) / x

    def inverse(level: Any, limit: Any) -> Any:
        """φ⁻¹ by bisection of the logarithm; 0 from the limit on."""
        low, high = jnp.full_like(level, np.log(1e-150)), jnp.full_like(level, np.log(BUDGET) / 2)
        low, high = bisect(lambda log: ratio(jnp.exp(log)) > level, low, high, xp=jnp)  # φ falls
        return jnp.where(level >= limit, 0.0, jnp.exp((low + high) / 2))

    def spread(p: Any, limit: Any) -> Any:
        """The largest s, that of the largest p, lies between √(2/M) and √2; the others follow from it."""
        best = jnp.max(p)
        safe = jnp.where(p > 0, p, 1.0)

        def sums(largest: Any) -> Any:
            level = best * ratio(largest) / safe
            return jnp.where(p > 0, inverse(level, limit), 0.0)

        ends = (jnp.sqrt(BUDGET / p.size) * (1 - 1e-12), jnp.sqrt(jnp.asarray(BUDGET, p.dtype)))
        low, high = bisect(lambda s: jnp.sum(sums(s) ** 2) < BUDGET, *ends, steps=56, xp=jnp)
        return sums((low + high) / 2)

    def summary(p: Any, s: Any) -> tuple[Any, Any]:
        best = jnp.argmax(p)
        return p[best] * ratio(s[best]) / 2, jnp.sum(p * activation(s))

    return {"ratio": ratio, "spread": spread, "summary": summary}
