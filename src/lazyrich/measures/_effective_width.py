"""How many units a layer's weights amount to."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, number, untraced
from lazyrich.measures._units import lengths, unit_arrays

if TYPE_CHECKING:
    from lazyrich.models import UnitKind

BAND = (0.04, 0.4)
"""Shares of the largest between which a tolerance is sought: above, a value counts; below, it does not."""


class WidthTolerance(NamedTuple):
    """Shares of the largest below which a unit, a distance and a singular value count as zero."""

    units: float
    distances: float
    rank: float


STEADY = WidthTolerance(1.75, 2.0, 1.75)
"""A count is evidence if it stays the same when the tolerance is divided and multiplied by this. Larger
factors find less by chance in Gaussian weights; from 2 on a rest of a tenth, cut at 0.2, would be none.
By chance a construction is found in 2 to 10 % of Gaussian weights, and in half of them if there are as many
units as dimensions: a square random matrix is nearly singular."""


@dataclasses.dataclass(frozen=True)
class EffectiveWidth:
    """How many units a layer's weights amount to, by each construction of Theorem 1.

    Attributes:
        width: the effective width, that of `construction`; the number of units if there is none.
        construction: what makes the layer narrower than it is: `"zero"` (Eq. 5), `"equal"` (Eq. 4),
            `"proportional"` (Eq. 6), `"dependent"` (Eq. 7), or `"none"`.
        by_units: units whose weights are not zero (Eq. 5).
        by_groups: different incoming weights, among units with outgoing weights (Eq. 4).
        by_rays: rays of incoming weights, among units that are not zero (Eq. 6, positive factors).
        by_lines: the same with factors of either sign.
        by_rank: rank of the units' weights θ_i = (v_i, u_i) (Theorem 3 iv; Eq. 7 as restricted in F.4).
        by_layers: the larger of the two layers' ranks (Eq. 7 with any coefficients).
        prunable: units that may all be removed: they contribute next to nothing.
        tolerance: what counted as zero.
    """

    width: int
    construction: str
    by_units: int
    by_groups: int
    by_rays: int
    by_lines: int
    by_rank: int
    by_layers: int
    prunable: tuple[int, ...]
    tolerance: WidthTolerance

    @property
    def localised(self) -> bool:
        """Whether each feature sits in a unit of its own, as units that are zero leave it (App. C)."""
        return self.construction == "zero"


@untraced
def effective_width(
    incoming: Any, outgoing: Any, *, kind: "UnitKind | None" = None, tolerance: Any = None
) -> EffectiveWidth:
    r"""How many units suffice for what a layer does, and why.

    The layer is $\sum_i \phi(z; u_i)\, v_i$. Which count applies depends on φ: `by_groups` always, `by_units`
    if φ(z; 0) = 0, `by_rays` if φ is homogeneous for positive factors (ReLU), `by_lines` if for all factors,
    `by_rank` and `by_layers` if φ is linear in u. With `kind` the width is the smallest count that applies.
    Without it the weights alone must tell, from all counts but `by_lines` and `by_layers`, which ReLU units
    on opposite rays would deceive. A count is believed if it is smaller than for weights in general position
    and does not change when the tolerance is divided or multiplied by about 2. The smallest wins. Between
    constructions that give this width the strongest statement wins: zero, equal, proportional, dependent.

    Sizes are taken after each layer is divided by its norm, so that they do not depend on how layers share
    the scale. The size of a unit is the norm of θ_i, as Eq. 5 asks both its parts to vanish. Rays are told
    apart by distance, not angle: a unit lies on a ray if it is nearer to it than the tolerance, as the rest
    of a small unit turns it far. Each ray is that of the largest unit that no ray has yet. What a count
    leaves out, units that are zero and distances to rays or groups, may together be no more than the
    tolerance's share of what all units contribute: many small units are not nothing.

    Args:
        incoming: the $u_i$, shape (units, N_u).
        outgoing: the $v_i$, shape (units, N_v), or (units,) for N_v = 1.
        kind: what is known of φ, for instance `models.activation_kind("relu")`.
        tolerance: share of the largest below which a unit, a distance or a singular value counts as zero.
            Without it 0.1 for distances; for units and singular values the middle, in logarithm, of the
            widest gap between 4 % and 40 % of the largest, so that weights of one scale stay together and a
            rest of up to a tenth is left out, as networks have it on plateaus.

    Returns:
        Width, construction, all counts, and which units can be pruned. The contribution of a unit is
        $\lvert u_i\rvert^p \lvert v_i\rvert$, p being the degree of φ, 1 if it is not known, and 0 where
        φ(z; 0) ≠ 0, as of sigmoid units. Prunable units are small by its root of degree p + 1, a size like
        that of weights, and all of them together contribute no more than the tolerance's share of the sum
        over all units. Without `kind` φ(z; 0) = 0 is taken for granted.

    Source:
        saddles, Theorem 1 (Eq. 4–7), Theorem 3, App. C, F.3. Eq. 6 asks for degree 1, but with
        $1 - \gamma_u^p \gamma_v$ in place of $1 - \gamma_u\gamma_v$ it gives fixed points for every degree p.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import effective_width
        >>> sizes = np.array([[1.0], [0.5], [2.0]])
        >>> found = effective_width(sizes * [3.0, 4.0], sizes)  # three units on one ray
        >>> found.width, found.construction, found.by_units, found.localised
        (1, 'proportional', 3, False)
    """
    u, v = unit_arrays(incoming, outgoing)
    layer = _Layer(u, v, _degree(kind))
    accepted = _tolerance(layer, tolerance)
    counts = layer.counts(accepted)
    candidates = _guesses(layer, accepted) if kind is None else _applicable(counts, kind)
    narrower = [(name, width) for name, width in candidates if width < len(u)]
    construction, width = min(narrower, key=lambda one: one[1], default=("none", len(u)))
    return EffectiveWidth(
        width=width,
        construction=construction,
        **counts,
        prunable=_prunable(layer, accepted.units),
        tolerance=accepted,
    )


class _Layer:
    """What the counts need of a layer; every size is a share of the largest."""

    def __init__(self, u: np.ndarray, v: np.ndarray, degree: int):
        u, v = _normalised(u), _normalised(v)
        theta = np.concatenate([v, u], axis=1)
        self.num_units, self.dimensions = len(u), (u.shape[1], v.shape[1])
        self.degree, self.sizes = degree, _shares(lengths(theta))
        self.contributions = _shares(lengths(u) ** degree * lengths(v))
        self.spectra = [_shares(np.linalg.svd(m, compute_uv=False)) for m in (theta, u, v)]
        self.heard = _shares(lengths(v))
        self.incoming = u / max(lengths(u).max(), np.finfo(float).tiny)
        # the geometric mean of u and v keeps a unit's ray and is what it adds to the map
        self.strengths = self.contributions ** (1 / (degree + 1))
        self.rays = u * (self.strengths / np.where(lengths(u) > 0, lengths(u), 1.0))[:, None]

    def counts(self, tolerance: WidthTolerance) -> dict[str, int]:
        ranks = [int(np.sum(values > tolerance.rank)) for values in self.spectra]
        small = _negligible(self.sizes, self.contributions, tolerance.units)
        return {
            "by_units": self.num_units - int(np.sum(small)),
            "by_groups": self._groups(tolerance.distances),
            "by_rays": self._rays(tolerance, signed=False),
            "by_lines": self._rays(tolerance, signed=True),
            "by_rank": ranks[0],
            "by_layers": max(ranks[1:]),
        }

    def _rays(self, tolerance: WidthTolerance, *, signed: bool) -> int:
        def distance(direction: np.ndarray) -> np.ndarray:
            along = self.rays @ (direction / lengths(direction))
            along = along if signed else np.maximum(along, 0)
            return lengths(self.rays - np.outer(along, direction / lengths(direction)))

        # without a ray a unit is left out: then its distance is all of it
        large = np.where(self.sizes > tolerance.units, self.strengths, 0.0)
        cost = self.strengths**self.degree
        near = tolerance.distances
        return _cover(self.rays, self.strengths, large > near, distance, cost, near)

    def _groups(self, near: float) -> int:
        def distance(centre: np.ndarray) -> np.ndarray:
            return lengths(self.incoming - centre)

        alone = lengths(self.incoming) if self.degree else np.ones(self.num_units)
        return _cover(self.incoming, alone, self.heard > near, distance, self.heard, near)


def _degree(kind: Any) -> int:
    if kind is None:
        return 1
    from lazyrich.models import UnitKind

    if not isinstance(kind, UnitKind):
        advice = 'Pass `models.activation_kind("relu")`, or leave it out.'
        raise argument_error("kind", "be a UnitKind", kind, advice)
    return (kind.degree or 1) if kind.has_zero else 0


def _tolerance(layer: _Layer, given: Any) -> WidthTolerance:
    if given is None:
        return WidthTolerance(_gap(layer.sizes), 0.1, _gap(np.concatenate(layer.spectra)))
    share = number("tolerance", given, above=0, below=1, advice="Use e.g. 0.1, or leave it out.")
    return WidthTolerance(share, share, share)


def _applicable(counts: dict[str, int], kind: "UnitKind") -> list[tuple[str, int]]:
    """Constructions that hold for units of this kind, the strongest statement first."""
    ray = "by_lines" if kind.signed else "by_rays"
    return [
        *([("zero", counts["by_units"])] if kind.has_zero else []),
        ("equal", counts["by_groups"]),
        *([("proportional", counts[ray])] if kind.degree is not None else []),
        *([("dependent", min(counts["by_rank"], counts["by_layers"]))] if kind.linear else []),
    ]


def _guesses(layer: _Layer, tolerance: WidthTolerance) -> list[tuple[str, int]]:
    """Constructions that the weights themselves suggest, the strongest statement first."""
    low, middle, high = (
        layer.counts(
            WidthTolerance(*(t * f**power for t, f in zip(tolerance, STEADY, strict=True)))
        )
        for power in (-1, 0, 1)
    )
    # what weights in general position have: no more rays than two on a line, no higher rank than dimensions
    most = {
        "by_units": layer.num_units,
        "by_groups": layer.num_units,
        "by_rays": layer.num_units if layer.dimensions[0] > 1 else 2,
        "by_rank": sum(layer.dimensions),
    }
    believed = [middle[c] for c in most if low[c] == middle[c] == high[c] < most[c]]
    names = zip(("zero", "equal", "proportional", "dependent"), most, strict=True)
    return [(name, middle[c]) for name, c in names if middle[c] == min(believed, default=None)]


def _gap(shares: np.ndarray) -> float:
    """Middle of the widest gap, in logarithm, that values leave between the ends of the band."""
    low, high = BAND
    inside = np.sort(shares[(shares > low) & (shares < high)])
    edges = np.log(np.concatenate([[low], inside, [high]]))
    widest = int(np.argmax(np.diff(edges)))
    return float(np.exp((edges[widest] + edges[widest + 1]) / 2))


def _cover(
    points: np.ndarray, rest: np.ndarray, needed: np.ndarray,
    distance: Callable[[np.ndarray], np.ndarray], cost: np.ndarray, near: float,
) -> int:  # fmt: skip
    """How many of the points must be centres, so that the others are near one, or may be left out.

    Each is at the largest point that is needed and not near one yet; where all are, at the one that adds most
    to what is left out, until that is the share `near` of all.

    Args:
        points: one in each row.
        rest: what is left of each without a centre.
        needed: which may not be left out.
        distance: from a centre to all points.
        cost: of a unit of distance, for each point.
        near: the distance up to which a point is at a centre.
    """
    sizes, open_points, number = lengths(points), needed.copy(), 0
    budget = near * np.sum(cost * rest)
    while open_points.any() or np.sum(cost * rest) > budget:
        rank = np.where(open_points, sizes, -1.0) if open_points.any() else cost * rest
        chosen = int(np.argmax(rank))
        away = distance(points[chosen])
        away[chosen] = 0.0
        rest, open_points, number = np.minimum(rest, away), open_points & (away > near), number + 1
    return number


def _negligible(sizes: np.ndarray, contributions: np.ndarray, share: float) -> np.ndarray:
    """Units, the smallest first, that are small and together contribute little; shape (units,)."""
    order = np.lexsort((contributions, sizes))
    together = np.cumsum(contributions[order])
    negligible = np.zeros(len(sizes), bool)
    negligible[order] = (sizes[order] <= share) & (together <= share * together[-1])
    return negligible


def _prunable(layer: _Layer, share: float) -> tuple[int, ...]:
    found = _negligible(layer.strengths, layer.contributions, share)
    return tuple(int(i) for i in np.flatnonzero(found))


def _normalised(weights: np.ndarray) -> np.ndarray:
    """Divided by its norm, in two steps that neither overflow nor underflow; zero stays zero."""
    largest = np.max(np.abs(weights))
    if largest == 0:
        return weights
    scaled = weights / largest
    return scaled / np.linalg.norm(scaled)


def _shares(values: np.ndarray) -> np.ndarray:
    return values / values.max() if values.max() > 0 else values
