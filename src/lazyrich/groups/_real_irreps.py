"""Irreducible representations over the real numbers."""

import dataclasses
import functools

import numpy as np

from lazyrich.groups._group import Group, require_group
from lazyrich.groups._irreps import Irrep, irreps


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class RealIrrep:
    """A representation by orthogonal matrices that cannot be split over the real numbers.

    Attributes:
        number: its place in `real_irreps(group)`.
        matrices: ρ(g) for each element g, shape (M, D, D), real.
        kind: the kind of the complex irreps in it: "real" (D = d), "complex" or "quaternionic" (D = 2d).
        members: the numbers of those complex irreps: one, or a conjugate pair for the kind "complex".
    """

    number: int
    matrices: np.ndarray
    kind: str
    members: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """Size D of the matrices."""
        return self.matrices.shape[1]

    @functools.cached_property
    def character(self) -> np.ndarray:
        """Trace of ρ(g) for each element g, shape (M,)."""
        return np.einsum("gii->g", self.matrices)

    def __repr__(self) -> str:
        return (
            f"RealIrrep {self.number}: {self.kind}, dimension {self.dimension}, of {self.members}"
        )


def real_irreps(group: Group) -> tuple[RealIrrep, ...]:
    """All irreducible representations of a group by real orthogonal matrices.

    A complex irrep of the kind "real" is taken as it is. A conjugate pair, and one of the kind
    "quaternionic", becomes real with twice the dimension: a + ib turns into the blocks [[a, −b], [b, a]], so
    e^{iθ} into the rotation by θ. They come in the order of their first members.

    Args:
        group: the group.

    Returns:
        A tuple of `RealIrrep`. Results are cached.

    Example:
        >>> from lazyrich.groups import cyclic, real_irreps
        >>> for irrep in real_irreps(cyclic(4)):
        ...     print(irrep)
        RealIrrep 0: real, dimension 1, of (0,)
        RealIrrep 1: complex, dimension 2, of (1, 3)
        RealIrrep 2: real, dimension 1, of (2,)
    """
    return _cached(require_group(group))


@functools.lru_cache(maxsize=64)
def _cached(group: Group) -> tuple[RealIrrep, ...]:
    leaders = [irrep for irrep in irreps(group) if irrep.number <= irrep.conjugate]
    return tuple(_real_form(number, irrep) for number, irrep in enumerate(leaders))


def _real_form(number: int, irrep: Irrep) -> RealIrrep:
    a, b = np.real(irrep.matrices), np.imag(irrep.matrices)
    if irrep.kind == "real":
        matrices = a.copy()
    else:
        matrices = np.concatenate(
            [np.concatenate([a, -b], axis=2), np.concatenate([b, a], axis=2)], axis=1
        )
    matrices.flags.writeable = False
    members = tuple(sorted({irrep.number, irrep.conjugate}))
    return RealIrrep(number, matrices, irrep.kind, members)
