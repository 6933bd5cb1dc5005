"""What constructions of units and relations between units share."""

from typing import Any

import numpy as np

from lazyrich.core import AssumptionError, argument_error, count, known, moderate, whole
from lazyrich.models import UnitKind, Units

MAX_UNITS = 10**6


def checked_units(units: Any, name: str = "units") -> Units:
    """The units of a layer as two float64 arrays of equal length."""
    if not isinstance(units, tuple) or len(units) != 2:
        raise argument_error(
            name, "be `Units(incoming, outgoing)`", units, "Use e.g. `network.units(weights)`."
        )
    u, v = (moderate(name, part, size=1e100, advice="Pass finite weights.") for part in units)
    if u.ndim != 2 or v.ndim != 2 or len(u) != len(v) or len(u) < 1:
        raise argument_error(
            name, "have the shapes (units, N_u) and (units, N_v)", (u.shape, v.shape)
        )
    return Units(u, v)


def vector(name: str, value: Any) -> tuple[float, ...]:
    """A list of numbers, hashable."""
    array = moderate(name, known(name, value), size=1e100, advice="Pass one number for each unit.")
    if array.ndim != 1:
        raise argument_error(name, "be a list of numbers", value, "Pass one for each unit.")
    return tuple(array.tolist())


def unit_number(name: str, value: Any) -> int:
    """The number of a unit, from 0 or, below 0, from the end."""
    return count(name, value, at_least=-MAX_UNITS, at_most=MAX_UNITS, advice="Use -1 for the last.")


def unit_count(value: Any) -> int:
    """The argument `num_units`."""
    return count("num_units", value, at_most=MAX_UNITS, advice="Pass how many units there are.")


def unit_kind(kind: Any) -> UnitKind:
    """The argument `kind`."""
    if not isinstance(kind, UnitKind):
        raise argument_error("kind", "be a `UnitKind`", kind, "Use e.g. `network.kinds[0]`.")
    return kind


def one_unit(name: str, unit: int, num_units: int) -> np.ndarray:
    """1 for one of the units, 0 for the others."""
    num_units = unit_count(num_units)
    advice = f"There are {num_units} units, counted from 0; -1 is the last."
    index = whole(name, unit, at_least=-num_units, at_most=num_units - 1, advice=advice)
    if index.ndim != 0:
        raise argument_error(name, "be a single number", unit, advice)
    chosen = np.zeros(num_units)
    chosen[int(index)] = 1
    return chosen


def require(what: str, lack: str) -> None:
    """Raises where something is lacking."""
    if lack:
        raise AssumptionError(f"`{what}` needs {lack}")


def lacks_zero(kind: UnitKind) -> str:
    """What is missing for units that are silent at zero."""
    if unit_kind(kind).has_zero:
        return ""
    return (
        "units that are silent without incoming weights, φ(z; 0) = 0; these are not, as sigmoid units and "
        "softmax heads are not. Split a unit instead, which all units allow."
    )


def lacks_homogeneity(kind: UnitKind, factor: float) -> str:
    """What is missing for units proportional by a factor."""
    if not unit_kind(kind).is_homogeneous:
        found = "not homogeneous" if kind.degree is None else f"homogeneous of degree {kind.degree}"
        return (
            f"units that are homogeneous of degree 1, φ(z; αu) = αφ(z; u); these are {found}. "
            "Split a unit instead, which all units allow."
        )
    if factor < 0 and not kind.signed:
        return (
            f"a factor ≥ 0 for units that are homogeneous for positive factors only, as ReLU units are, "
            f"got {factor:g}. Use a positive factor."
        )
    return ""


def lacks_linearity(kind: UnitKind) -> str:
    """What is missing for units that depend on several others."""
    if unit_kind(kind).linear:
        return ""
    return (
        "units that are linear in their incoming weights; these are not. Split a unit instead, which all "
        "units allow."
    )
