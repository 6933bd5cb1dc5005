"""Fixed points of a narrow network in a wider one."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, number, real
from lazyrich.models import Network, UnitKind, Units
from lazyrich.theory._unit_relations import (
    checked_units,
    lacks_homogeneity,
    lacks_linearity,
    lacks_zero,
    one_unit,
    require,
    unit_count,
    unit_kind,
    unit_number,
    vector,
)


class Construction(abc.ABC):
    """How a further unit is made from those there are, such that the network's map stays as it is.

    Every construction is Eq. 7 with factors of its own; they differ in what the units must satisfy.
    """

    @abc.abstractmethod
    def factors(self, num_units: int) -> tuple[np.ndarray, np.ndarray]:
        """The factors γ_u and γ_v of Eq. 7, one for each unit there is."""

    @abc.abstractmethod
    def lacks(self, kind: UnitKind) -> str:
        """What the units would have to satisfy and do not; empty where nothing is missing."""

    def apply(self, units: Units, kind: UnitKind) -> Units:
        """The units with the further one, which is the last; `AssumptionError` if φ does not allow it."""
        u, v = checked_units(units)
        require(type(self).__name__, self.lacks(kind))
        gamma_u, gamma_v = self.factors(len(u))
        new = gamma_v @ v
        return Units(
            np.concatenate([u, (gamma_u @ u)[None]]),
            np.concatenate([v - np.outer(gamma_u, new), new[None]]),
        )


@dataclasses.dataclass(frozen=True)
class SplitUnit(Construction):
    r"""A copy of a unit, which takes over a share of what it writes.

    $$ u_H = u_i^*, \qquad v_H = \gamma_v v_i^*, \qquad v_i = (1-\gamma_v) v_i^* $$

    Symbols:
        $i$ → `unit`, $\gamma_v$ → `share`.

    Source:
        saddles, Theorem 1 (i), Eq. 4.

    Holds when:
        always: for any units.

    Checked by:
        checks `saddles/thm1`, `saddles/eq4`; `tests/theory/test_embedding.py`.

    Attributes:
        unit: number of the unit, from 0; −1 is the last.
        share: any number. With ½, the default, both units are equal and stay so (`EqualManifold`).

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import SplitUnit
        >>> units = Units([[1.0, 2.0]], [[4.0]])
        >>> SplitUnit(0, share=0.25).apply(units, TwoLayer(2, 1, activation="tanh").kinds[0]).outgoing
        array([[3.],
               [1.]])
    """

    unit: int
    share: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", unit_number("unit", self.unit))
        object.__setattr__(self, "share", number("share", self.share, advice="Use e.g. 0.5."))

    def factors(self, num_units: int) -> tuple[np.ndarray, np.ndarray]:
        """1 and the share for the unit that is split."""
        one = one_unit("unit", self.unit, num_units)
        return one, self.share * one

    def lacks(self, kind: UnitKind) -> str:
        """Nothing."""
        unit_kind(kind)
        return ""


@dataclasses.dataclass(frozen=True)
class ZeroUnit(Construction):
    r"""A unit that reads nothing and writes nothing.

    $$ u_H = 0, \qquad v_H = 0 $$

    Symbols:
        $u_H$ → the last of `Units.incoming`, $v_H$ → the last of `Units.outgoing`.

    Source:
        saddles, Theorem 1 (ii), Eq. 5, with $u_\mathrm{zero} = 0$.

    Holds when:
        units without incoming weights are silent, φ(z; 0) = 0: not for sigmoid units and softmax heads.

    Checked by:
        checks `saddles/thm1`, `saddles/eq5`; `tests/theory/test_embedding.py`.

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import ZeroUnit
        >>> kind = TwoLayer(2, 1, activation="quadratic").kinds[0]
        >>> ZeroUnit().apply(Units([[1.0, 2.0]], [[4.0]]), kind).incoming
        array([[1., 2.],
               [0., 0.]])
    """

    def factors(self, num_units: int) -> tuple[np.ndarray, np.ndarray]:
        """Zeros."""
        n = unit_count(num_units)
        return np.zeros(n), np.zeros(n)

    def lacks(self, kind: UnitKind) -> str:
        """Silence at zero."""
        return lacks_zero(kind)


@dataclasses.dataclass(frozen=True)
class ProportionalUnit(Construction):
    r"""A unit proportional to another one, which makes up for what the new one writes.

    $$ u_H = \gamma_u u_i^*, \qquad v_H = \gamma_v v_i^*, \qquad v_i = (1-\gamma_u\gamma_v) v_i^* $$

    Symbols:
        $i$ → `unit`, $\gamma_u$ → `incoming`, $\gamma_v$ → `outgoing`.

    Source:
        saddles, Theorem 1 (iii), Eq. 6.

    Holds when:
        units are homogeneous of degree 1, φ(z; αu) = αφ(z; u), with $\gamma_u > 0$ where this holds for
        positive α only, as for ReLU. At $\gamma_u = 0$ a ReLU has no derivative: the gradient vanishes by
        the convention ReLU′(0) = 0 of `jax.nn.relu`, though the loss has a kink there unless
        $\gamma_v = 0$, and falls linearly for at least one sign of $\gamma_v$. See the errata.

    Checked by:
        checks `saddles/thm1`, `saddles/eq6`, `saddles/eq25`; `tests/theory/test_embedding.py`.

    Attributes:
        unit: number of the unit, from 0; −1 is the last.
        incoming: $\gamma_u$.
        outgoing: $\gamma_v$, any number. With $\gamma_u/(1+\gamma_u^2)$ the two units stay proportional
            (`ProportionalManifold`).

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import ProportionalUnit
        >>> kind = TwoLayer(2, 1, activation="relu").kinds[0]
        >>> ProportionalUnit(0, 2.0, 0.25).apply(Units([[1.0, 2.0]], [[4.0]]), kind).outgoing
        array([[2.],
               [1.]])
    """

    unit: int
    incoming: float
    outgoing: float

    def __post_init__(self) -> None:
        for name in ("incoming", "outgoing"):
            value = number(name, getattr(self, name), advice="Use e.g. 0.5.")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "unit", unit_number("unit", self.unit))

    def factors(self, num_units: int) -> tuple[np.ndarray, np.ndarray]:
        """The two factors for the unit it is proportional to."""
        one = one_unit("unit", self.unit, num_units)
        return self.incoming * one, self.outgoing * one

    def lacks(self, kind: UnitKind) -> str:
        """Homogeneity, for negative factors too where the factor is negative."""
        return lacks_homogeneity(kind, self.incoming)


@dataclasses.dataclass(frozen=True)
class DependentUnit(Construction):
    r"""A unit that is a combination of all others, which make up for what the new one writes.

    $$ u_H = \sum_i \gamma_{u_i} u_i^*, \qquad v_H = \sum_i \gamma_{v_i} v_i^*, \qquad
       v_i = v_i^* - \gamma_{u_i} \sum_j \gamma_{v_j} v_j^* $$

    Symbols:
        $\gamma_{u_i}$ → `incoming`, $\gamma_{v_i}$ → `outgoing`.

    Source:
        saddles, Theorem 1 (iv), Eq. 7.

    Holds when:
        units are linear in their incoming weights.

    Checked by:
        checks `saddles/thm1`, `saddles/eq7`, `saddles/app-e`; `tests/theory/test_embedding.py`.

    Attributes:
        incoming: $\gamma_{u_i}$, one for each unit there is.
        outgoing: $\gamma_{v_i}$, as many. With $\gamma_{u_i}/(1+\sum_j\gamma_{u_j}^2)$ the units stay
            dependent (`DependentManifold`).

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import DependentUnit
        >>> units = Units([[1.0, 0.0], [0.0, 1.0]], [[2.0], [3.0]])
        >>> DependentUnit([1, 2], [0, 1]).apply(units, TwoLayer(2, 2).kinds[0]).outgoing
        array([[-1.],
               [-3.],
               [ 3.]])
    """

    incoming: Sequence[float] | np.ndarray
    outgoing: Sequence[float] | np.ndarray

    def __post_init__(self) -> None:
        for name in ("incoming", "outgoing"):
            object.__setattr__(self, name, vector(name, getattr(self, name)))

    def factors(self, num_units: int) -> tuple[np.ndarray, np.ndarray]:
        """The two lists of factors."""
        n = unit_count(num_units)
        for name in ("incoming", "outgoing"):
            if len(getattr(self, name)) != n:
                raise argument_error(
                    name, f"have {n} entries, `num_units`, one for each", getattr(self, name)
                )
        return np.array(self.incoming), np.array(self.outgoing)

    def lacks(self, kind: UnitKind) -> str:
        """Linearity."""
        return lacks_linearity(kind)


def embed(network: Network, weights: Any, *constructions: Construction, layer: int = 0) -> Any:
    r"""Weights of a wider network with the same map, and at rest where the narrow one is.

    $$ \nabla\mathcal{L}(\theta^*_{1:H-1}) = 0 \;\Rightarrow\; \nabla\mathcal{L}(\theta_{1:H}) = 0, \qquad
       f(x; \theta_{1:H}) = f(x; \theta^*_{1:H-1}) $$

    Each construction adds a unit to a hidden layer, after the units there are. It holds for any data and
    any loss, and for the gradient in all layers. To widen several layers, embed again (Corollary 2).

    Symbols:
        $\theta^*_{1:H-1}$ → `weights`, $\theta_{1:H}$ → what is returned.

    Source:
        saddles, Theorem 1, Corollary 2.

    Holds when:
        the layer's units allow the construction; otherwise `AssumptionError` says what is missing.

    Computed as:
        Eq. 7 with the factors of each construction, one construction after the other.

    Checked by:
        checks `saddles/thm1`, `saddles/cor2`; `tests/theory/test_embedding.py`.

    Args:
        network: a network of `models`.
        weights: its weights, with any number of units.
        *constructions: `SplitUnit`, `ZeroUnit`, `ProportionalUnit`, `DependentUnit`. Their numbers of units
            count the units there are by then, those added before included.
        layer: the hidden layer that gets the units, counted from 0 among the layers that have units.

    Returns:
        Weights with one further unit for each construction, as NumPy arrays in float64.

    Example:
        >>> import numpy as np
        >>> from lazyrich.models import TwoLayer, TwoLayerWeights
        >>> from lazyrich.theory import SplitUnit, ZeroUnit, embed
        >>> narrow = TwoLayerWeights(np.array([[1.0], [2.0]]), np.array([[4.0]]))
        >>> wide = embed(TwoLayer(2, 1, activation="relu"), narrow, SplitUnit(0), SplitUnit(0), ZeroUnit())
        >>> wide.second[:, 0]
        array([1., 2., 1., 0.])
    """
    if not isinstance(network, Network):
        raise argument_error(
            "network", "be a network of `models`", network, "Pass e.g. `TwoLayer(2, 1)`."
        )
    layer = network.check_layer(layer)
    weights = _checked_weights(network, weights)
    for construction in constructions:
        if not isinstance(construction, Construction):
            raise argument_error(
                "constructions", "be constructions", construction, "Pass e.g. `SplitUnit(0)`."
            )
        units = checked_units(network.units(weights, layer), "weights")
        units = construction.apply(units, network.kinds[layer])
        weights = network.with_units(weights, units, layer)
    return weights


def _checked_weights(network: Network, weights: Any) -> Any:
    """Weights as writable float64 arrays, in the tree that the network has."""
    is_shape = lambda node: type(node) is tuple and all(isinstance(n, int) for n in node)  # noqa: E731
    expected = jax.tree.structure(network.shapes(), is_leaf=is_shape)
    if jax.tree.structure(weights) != expected:
        raise argument_error(
            "weights", "be a tree of arrays as `network.init` returns", weights,
            "Pass weights of this network.",
        )  # fmt: skip
    advice = "Pass finite weights."
    return jax.tree.map(lambda w: np.array(real("weights", w, advice=advice)), weights)
