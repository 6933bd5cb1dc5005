"""Relations between units that gradient flow keeps."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyrich.core import argument_error, moderate, number
from lazyrich.models import UnitKind, Units
from lazyrich.theory._embedding import (
    Construction,
    DependentUnit,
    ProportionalUnit,
    SplitUnit,
    ZeroUnit,
)
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

ON_MANIFOLD = 1e-8
"""Residual, relative to the length of all weights, up to which units count as on a manifold."""


class UnitManifold(abc.ABC):
    """Units of a layer of which one is a combination of the others, θ_i = Σ_j γ_j θ_j with fixed γ.

    All manifolds of Theorem 3 are of this form; they differ in what the units must satisfy.
    """

    unit: int

    @abc.abstractmethod
    def factors(self, num_units: int) -> np.ndarray:
        """The γ_j, one for each unit, 0 for the dependent unit itself."""

    @abc.abstractmethod
    def lacks(self, kind: UnitKind) -> str:
        """What the units would have to satisfy and do not; empty where nothing is missing."""

    @abc.abstractmethod
    def embedding(self) -> Construction:
        """The construction that puts an embedded fixed point on the manifold (App. F.4)."""

    def is_invariant(self, kind: UnitKind) -> bool:
        """Whether gradient flow keeps units of this kind on the manifold."""
        return not self.lacks(kind)

    def residual(self, units: Units) -> Any:
        """Length of θ_i − Σ_j γ_j θ_j, zero on the manifold."""
        theta, normal = self._constraint(units)
        return np.linalg.norm(normal @ theta)

    def project(self, units: Units) -> Units:
        """The nearest units on the manifold."""
        theta, normal = self._constraint(units)
        theta = theta - np.outer(normal, normal @ theta) / (normal @ normal)
        return Units(*np.split(theta, [np.shape(units[0])[1]], axis=1))

    def reduce(self, units: Units, kind: UnitKind) -> Units:
        """Units of the same map with one unit less (App. F.3, Eq. 28).

        A fixed point stays one, but time on the way runs differently for the reduced units.
        """
        require(type(self).__name__, self.lacks(kind))
        u, v = checked_units(units)
        scale = np.hypot(np.linalg.norm(u), np.linalg.norm(v))
        residual = self.residual(units)
        if not residual <= ON_MANIFOLD * scale:
            raise argument_error(
                "units", "lie on the manifold", f"a residual of {residual:.2g}",
                "Use `project` first, if that is what you want.",
            )  # fmt: skip
        gamma = self.factors(len(u))
        v = v + np.outer(gamma, gamma @ v)
        kept = one_unit("unit", self.unit, len(u)) == 0
        return Units(u[kept], v[kept])

    def _constraint(self, units: Units) -> tuple[np.ndarray, np.ndarray]:
        """Weights θ, one unit for each row, and the combination of rows that vanishes on the manifold."""
        u, v = checked_units(units)
        normal = one_unit("unit", self.unit, len(u)) - self.factors(len(u))
        return np.concatenate([u, v], axis=1), normal

    def _require_last(self) -> None:
        if self.unit != -1:
            raise argument_error(
                "unit", "be -1", self.unit, "A construction adds a unit after all others."
            )


@dataclasses.dataclass(frozen=True)
class EqualManifold(UnitManifold):
    r"""Two units are equal.

    $$ \theta_i = \theta_j $$

    Symbols:
        $i$ → `unit`, $j$ → `of`, $\theta_i = (v_i, u_i)$ → a unit's row in `Units`.

    Source:
        saddles, Theorem 3 (i), App. F.3 (i), F.4 (i).

    Holds when:
        always: for any units; gradient flow. For ReLU it must not touch a kink, $u_i^\top x = 0$, where
        its solution need not be unique.

    Checked by:
        checks `saddles/thm3`, `saddles/app-f3`, `saddles/app-f4`; `tests/theory/test_invariant_manifolds.py`.

    Attributes:
        of: number of the other unit, from 0.
        unit: number of the unit that equals it; −1, the default, is the last.

    Example:
        >>> from lazyrich.models import Units
        >>> from lazyrich.theory import EqualManifold
        >>> units = Units([[1.0], [2.0]], [[1.0], [4.0]])
        >>> EqualManifold(0).residual(units).round(6), EqualManifold(0).project(units).outgoing[:, 0]
        (np.float64(3.162278), array([2.5, 2.5]))
    """

    of: int
    unit: int = -1

    def __post_init__(self) -> None:
        _check_numbers(self, "of", "unit")

    def factors(self, num_units: int) -> np.ndarray:
        """1 for the other unit."""
        return _other(self, num_units)

    def lacks(self, kind: UnitKind) -> str:
        """Nothing."""
        unit_kind(kind)
        return ""

    def embedding(self) -> SplitUnit:
        r"""Eq. 4 with $\gamma_v = \tfrac12$."""
        self._require_last()
        return SplitUnit(self.of, 0.5)


@dataclasses.dataclass(frozen=True)
class ZeroManifold(UnitManifold):
    r"""A unit is zero.

    $$ v_i = 0, \qquad u_i = 0 $$

    Symbols:
        $i$ → `unit`.

    Source:
        saddles, Theorem 3 (ii), App. F.3 (ii), F.4 (ii), with $u_\mathrm{zero} = 0$.

    Holds when:
        units without incoming weights are silent, φ(z; 0) = 0; gradient flow.

    Checked by:
        checks `saddles/thm3`, `saddles/app-f3`, `saddles/app-f4`; `tests/theory/test_invariant_manifolds.py`.

    Attributes:
        unit: number of the unit, from 0; −1, the default, is the last.

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import ZeroManifold
        >>> units = Units([[1.0], [0.0]], [[1.0], [0.0]])
        >>> ZeroManifold().reduce(units, TwoLayer(1, 2, activation="tanh").kinds[0]).incoming
        array([[1.]])
    """

    unit: int = -1

    def __post_init__(self) -> None:
        _check_numbers(self, "unit")

    def factors(self, num_units: int) -> np.ndarray:
        """Zeros."""
        return np.zeros(unit_count(num_units))

    def lacks(self, kind: UnitKind) -> str:
        """Silence at zero."""
        return lacks_zero(kind)

    def embedding(self) -> ZeroUnit:
        """Eq. 5."""
        self._require_last()
        return ZeroUnit()


@dataclasses.dataclass(frozen=True)
class ProportionalManifold(UnitManifold):
    r"""Two units are proportional, with a given factor.

    $$ \theta_i = \gamma \theta_j $$

    Symbols:
        $\gamma$ → `factor`, $i$ → `unit`, $j$ → `of`, $\theta_i = (v_i, u_i)$ → a unit's row in `Units`.

    Source:
        saddles, Theorem 3 (iii), App. F.3 (iii), F.4 (iii), Eq. 29.

    Holds when:
        units are homogeneous of degree 1, with γ ≥ 0 where that holds for positive factors only, as for
        ReLU; gradient flow, which for ReLU must not touch a kink, $u_i^\top x = 0$, where its solution
        need not be unique.

    Checked by:
        checks `saddles/thm3`, `saddles/app-f3`, `saddles/app-f4`, `saddles/eq29`;
        `tests/theory/test_invariant_manifolds.py`.

    Attributes:
        factor: γ.
        of: number of the other unit, from 0.
        unit: number of the proportional unit; −1, the default, is the last.

    Example:
        >>> from lazyrich.theory import ProportionalManifold
        >>> ProportionalManifold(2.0, of=0).embedding()
        ProportionalUnit(unit=0, incoming=2.0, outgoing=0.4)
    """

    factor: float
    of: int
    unit: int = -1

    def __post_init__(self) -> None:
        factor = number("factor", self.factor, advice="Use e.g. 0.5.")
        object.__setattr__(self, "factor", float(moderate("factor", factor, size=1e100)))
        _check_numbers(self, "of", "unit")

    def factors(self, num_units: int) -> np.ndarray:
        """The factor for the other unit."""
        return self.factor * _other(self, num_units)

    def lacks(self, kind: UnitKind) -> str:
        """Homogeneity, for negative factors too where the factor is negative."""
        return lacks_homogeneity(kind, self.factor)

    def embedding(self) -> ProportionalUnit:
        r"""Eq. 6 with $\gamma_u = \gamma$, $\gamma_v = \gamma/(1+\gamma^2)$."""
        self._require_last()
        return ProportionalUnit(self.of, self.factor, self.factor / (1 + self.factor**2))


@dataclasses.dataclass(frozen=True)
class DependentManifold(UnitManifold):
    r"""A unit is a combination of the others, with given factors.

    $$ \theta_i = \sum_{j\ne i} \gamma_j \theta_j, \qquad
       v_j^\mathrm{new} = v_j + \gamma_j \sum_{j'\ne i} \gamma_{j'} v_{j'} $$

    the second being the outgoing weights of the network without unit i.

    Symbols:
        $\gamma_j$ → `others`, $i$ → `unit`, $\theta_i = (v_i, u_i)$ → a unit's row in `Units`.

    Source:
        saddles, Theorem 3 (iv), App. F.3 (iv), F.4 (iv), Eq. 28, 30, 31.

    Holds when:
        units are linear in their incoming weights; gradient flow.

    Checked by:
        checks `saddles/thm3`, `saddles/eq28`, `saddles/eq30`, `saddles/eq31`;
        `tests/theory/test_invariant_manifolds.py`.

    Attributes:
        others: the $\gamma_j$, one for each other unit, in their order.
        unit: number of the dependent unit; −1, the default, is the last.

    Example:
        >>> from lazyrich.models import TwoLayer, Units
        >>> from lazyrich.theory import DependentManifold
        >>> units = Units([[1.0], [2.0], [5.0]], [[1.0], [0.0], [1.0]])
        >>> DependentManifold([1, 2]).reduce(units, TwoLayer(1, 3).kinds[0]).outgoing
        array([[2.],
               [2.]])
    """

    others: Sequence[float] | np.ndarray
    unit: int = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", vector("others", self.others))
        _check_numbers(self, "unit")

    def factors(self, num_units: int) -> np.ndarray:
        """The factors, with 0 for the dependent unit."""
        n = unit_count(num_units)
        if len(self.others) != n - 1:
            raise argument_error("others", f"have {n - 1} entries, `num_units` less 1", self.others)
        gamma = np.zeros(n)
        gamma[one_unit("unit", self.unit, num_units) == 0] = self.others
        return gamma

    def lacks(self, kind: UnitKind) -> str:
        """Linearity."""
        return lacks_linearity(kind)

    def embedding(self) -> DependentUnit:
        r"""Eq. 7 with $\gamma_{u_i} = \gamma_i$, $\gamma_{v_i} = \gamma_i/(1+\sum_j\gamma_j^2)$."""
        self._require_last()
        gamma = np.array(self.others)
        return DependentUnit(self.others, (gamma / (1 + gamma @ gamma)).tolist())


def _check_numbers(manifold: Any, *names: str) -> None:
    for name in names:
        object.__setattr__(manifold, name, unit_number(name, getattr(manifold, name)))


def _other(manifold: Any, num_units: int) -> np.ndarray:
    other = one_unit("of", manifold.of, num_units)
    if np.array_equal(other, one_unit("unit", manifold.unit, num_units)):
        raise argument_error("of", "be another unit than `unit`", manifold.of)
    return other
