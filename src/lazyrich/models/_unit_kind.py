"""What the theorems about units need to know of a unit."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from lazyrich.core import argument_error, count, flag


@dataclasses.dataclass(frozen=True)
class UnitKind:
    r"""What holds for a unit's response $\phi(z; u)$ as a function of its incoming weights u.

    Source:
        saddles, Theorem 1, Sec. 5 (end), Sec. 7.

    Attributes:
        order: the lowest order in u at which $\phi(z; u)$ does not vanish at u = 0. From 1 on a unit
            without incoming weights is silent: $\phi(z; 0) = 0$.
        degree: p if $\phi(z; \alpha u) = \alpha^p \phi(z; u)$ for α ≥ 0, or None.
        signed: whether that holds for negative α too.
        linear: whether φ is linear in u.

    Example:
        >>> from lazyrich.models import TwoLayer
        >>> kind = TwoLayer(2, 10, activation="quadratic").kinds[0]
        >>> kind.order, kind.has_zero, kind.is_homogeneous, kind.separates
        (2, True, False, 'units')
    """

    order: int
    degree: int | None = None
    signed: bool = False
    linear: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", count("order", self.order, at_least=0))
        if self.degree is not None:
            object.__setattr__(self, "degree", count("degree", self.degree, at_least=0))
        for name in ("signed", "linear"):
            object.__setattr__(self, name, flag(name, getattr(self, name)))

    @property
    def has_zero(self) -> bool:
        """Whether there are incoming weights, zero, that silence a unit for all inputs."""
        return self.order >= 1

    @property
    def is_homogeneous(self) -> bool:
        """Whether φ is homogeneous of degree 1, at least for positive factors."""
        return self.degree == 1

    @property
    def separates(self) -> str:
        """What learns one after the other from small weights: directions, units, or nothing (order 0)."""
        return ("nothing", "directions", "units")[min(self.order, 2)]


FACTORS = (0.5, *10.0 ** np.arange(-8, 9))
"""By which arguments are scaled: functions that bend far out, as ReLU6 does at 6, are not homogeneous."""


@functools.lru_cache(maxsize=256)
def kind_of(function: Callable[[Any], Any]) -> UnitKind:
    """The kind of a unit σ(uᵀz), found by trying σ at small, large and opposite arguments."""
    with jax.enable_x64(True), jax.ensure_compile_time_eval(), np.errstate(all="ignore"):
        sigma = lambda z: np.asarray(function(np.asarray(z, dtype=float)), dtype=float)  # noqa: E731
        order = _order(sigma)
        z = np.array([0.3, 0.7, 1.9, -0.4, -1.1])
        degree = order if _scales(sigma, z, order, FACTORS) else None
        signed = degree is not None and _scales(sigma, z, order, tuple(-a for a in FACTORS))
    return UnitKind(order, degree, signed, linear=degree == 1 and signed)


def _order(sigma: Callable[[Any], Any]) -> int:
    if abs(sigma(0.0)) > 1e-12:
        return 0
    h = 1e-3
    pairs = [(abs(sigma(sign * h)), abs(sigma(2 * sign * h))) for sign in (1, -1)]
    orders = [round(np.log2(far / near)) for near, far in pairs if near > 0 and far > 0]
    if not orders:
        raise argument_error(
            "activation",
            "not vanish around zero",
            "a function that does",
            "Nothing would be learned.",
        )
    return max(min(orders), 1)  # what is level already at h still vanishes at zero


def _scales(sigma: Callable[[Any], Any], z: Any, degree: int, factors: tuple[float, ...]) -> bool:
    near = sigma(z)
    size = 1e-9 * np.max(np.abs(near))
    return all(np.allclose(sigma(a * z) / a**degree, near, rtol=0, atol=size) for a in factors)
