"""Irreducible representations as unitary matrices, and their types."""

import dataclasses
import functools

import numpy as np

from lazyrich.groups._decompose import decompose, violation
from lazyrich.groups._group import Group, require_group

ACCURACY = 1e-11
"""Largest violation of the orthogonality relations and of ρ(a)ρ(b) = ρ(ab) that is let pass."""

ATTEMPTS = 20
"""Random elements tried; each fails only where two eigenvalues agree by accident."""

_APART = 1e-6
"""Eigenvalues of sums of unitary matrices further apart than this count as different."""

_TURN = 95 * 2**20
"""Angles are compared as whole multiples of a turn / 10⁸. The factor 2²⁰ keeps the angles that occur, simple
fractions of a turn, away from the middle between two multiples."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Irrep:
    """An irreducible representation of a group by unitary matrices.

    Attributes:
        number: its place in `irreps(group)`.
        matrices: ρ(g) for each element g, shape (M, d, d), complex; ρ(a)ρ(b) = ρ(ab). Of the kind
            "real" the imaginary parts are zero.
        kind: "real" (equivalent to real matrices), "complex" (not equivalent to its conjugate) or
            "quaternionic" (equivalent to its conjugate, yet not to real matrices).
        conjugate: number of the conjugate representation; its own where the character is real.
    """

    number: int
    matrices: np.ndarray
    kind: str
    conjugate: int

    @property
    def dimension(self) -> int:
        """Size d of the matrices."""
        return self.matrices.shape[1]

    @functools.cached_property
    def character(self) -> np.ndarray:
        """Trace of ρ(g) for each element g, shape (M,), complex."""
        return _frozen(np.einsum("gii->g", self.matrices))

    @functools.cached_property
    def kernel(self) -> np.ndarray:
        """Numbers of the elements with ρ(g) = 1, a normal subgroup on whose cosets ρ is constant."""
        return _frozen(np.flatnonzero(np.abs(self.character - self.dimension) < 1e-8))

    def __repr__(self) -> str:
        return f"Irrep {self.number}: {self.kind}, dimension {self.dimension}"


def irreps(group: Group) -> tuple[Irrep, ...]:
    r"""All irreducible representations of a group, from its multiplication table alone.

    $$ \rho(a)\rho(b) = \rho(ab), \qquad
       \sum_g \rho^{(k)}_{ij}(g)\, \overline{\rho^{(l)}_{mn}(g)}
         = \frac{M}{d_k} \delta_{kl}\delta_{im}\delta_{jn}, \qquad \sum_k d_k^2 = M $$

    The trivial representation is first, the others are ordered by their dimensions, then by the angles of
    their characters. For `cyclic(M)` number k is $e^{2\pi i k g/M}$; for a product of cyclic groups it is
    $\exp(2\pi i \sum_j k_j g_j / M_j)$, where k has the digits $k_j$ as the element g has $g_j$.

    A representation is fixed up to a change of basis. Here generators of the group are diagonal as far as
    possible, one after the other, and conjugates have conjugate matrices. So the matrices are the
    same in every call. The orthogonality relations are verified before anything is returned.

    Args:
        group: the group. Time and memory grow as the cube and the square of its order; order 200 takes
            a fraction of a second.

    Returns:
        The representations, a tuple of `Irrep`, one for each conjugacy class. Results are cached.

    Example:
        >>> from lazyrich.groups import irreps, quaternion
        >>> for irrep in irreps(quaternion()):
        ...     print(irrep)
        Irrep 0: real, dimension 1
        Irrep 1: real, dimension 1
        Irrep 2: real, dimension 1
        Irrep 3: real, dimension 1
        Irrep 4: quaternionic, dimension 2
    """
    return _cached(require_group(group))


@functools.lru_cache(maxsize=64)
def _cached(group: Group) -> tuple[Irrep, ...]:
    for seed in range(ATTEMPTS):
        raw = decompose(group, seed)
        found = _standard_forms(group, raw) if raw else ()
        if found and violation(group, [irrep.matrices for irrep in found]) < ACCURACY:
            return found
    raise RuntimeError(f"no irreducible representations of {group!r} in {ATTEMPTS} attempts")


def _standard_forms(group: Group, representations: list[np.ndarray]) -> tuple[Irrep, ...]:
    """The representations in their order, each in its own basis, with kinds and conjugates."""
    raw = [_exact_roots(group, rho) if rho.shape[1] == 1 else rho for rho in representations]
    raw.sort(key=lambda rho: _place(group, rho))
    characters = np.array([np.einsum("gii->g", rho) for rho in raw])
    # Σ_g χ_k(g) χ_l(g) is M where l is the conjugate of k, else 0
    conjugates = np.argmax(np.abs(characters @ characters.T), axis=1).tolist()
    found: list[Irrep] = []
    for k, rho in enumerate(raw):
        kind = _kind(group, characters[k])
        if conjugates[k] < k:
            matrices = found[conjugates[k]].matrices.conj()
        else:
            matrices = rho if rho.shape[1] == 1 else _own_form(group, rho, kind)
        found.append(Irrep(k, _frozen(matrices), kind, conjugates[k]))
    return tuple(found)


def _kind(group: Group, character: np.ndarray) -> str:
    """By the Frobenius–Schur indicator, the mean of χ(g²): 1, 0 or −1."""
    squares = np.diagonal(group.table)
    indicator = round(float(np.mean(character[squares]).real))
    return {1: "real", 0: "complex", -1: "quaternionic"}[indicator]


def _exact_roots(group: Group, rho: np.ndarray) -> np.ndarray:
    """A representation of dimension one, its phases rounded to the roots of unity they must be."""
    orders = group.element_orders
    steps = np.round(np.angle(rho[:, 0, 0]) * orders / (2 * np.pi))
    angle = 2 * np.pi * steps / orders
    return _without_dust(np.cos(angle), np.sin(angle))[:, None, None]


def _place(group: Group, rho: np.ndarray) -> tuple:
    """Sorting key: trivial first, dimension, then characters, of the generators from the last one on.

    Characters are ordered by angle, those of equal angle by modulus, so that real ones fall: 2, 1, 0, −1, −2.
    """
    character = np.einsum("gii->g", rho)[[*group.generators[::-1], *range(group.order)]]
    moduli = np.round(np.abs(character), 6)
    turns = np.round(np.angle(character) / (2 * np.pi) * _TURN).astype(int) % _TURN
    turns[moduli == 0] = _TURN // 4
    moduli[np.real(character) > 1e-9] *= -1  # not by the sign of a rounding error
    trivial = np.allclose(character, 1)
    return not trivial, rho.shape[1], list(zip(turns.tolist(), moduli.tolist(), strict=True))


def _own_form(group: Group, rho: np.ndarray, kind: str) -> np.ndarray:
    """The representation in its own basis, real if it can be."""
    if kind == "real":
        rho = np.real(_change_basis(rho, _real_basis(rho)))
    rho = _change_basis(rho, _own_basis(group, rho))
    return _without_dust(np.real(rho), np.imag(rho))


def _without_dust(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """A complex array in which parts that are rounding errors of zero are zero."""
    return np.where(np.abs(real) < 1e-15, 0, real) + 1j * np.where(
        np.abs(imaginary) < 1e-15, 0, imaginary
    )


def _change_basis(rho: np.ndarray, basis: np.ndarray) -> np.ndarray:
    return basis.conj().T @ rho @ basis


def invariant_form(rho: np.ndarray) -> np.ndarray:
    """The unitary U with ρ(g)U = U conj ρ(g); symmetric for the real kind, antisymmetric for quaternionic.

    By orthogonality the mean of ρ_ij(g) ρ_kl(g) is U_ik conj(U_jl) / d.
    """
    M, d = rho.shape[:2]
    flat = rho.reshape(M, d * d)
    means = (flat.T @ flat / M).reshape(d, d, d, d)
    sizes = np.einsum("jjll->jl", means).real
    j, m = np.unravel_index(np.argmax(sizes), sizes.shape)
    U = means[:, j, :, m]
    return U * np.sqrt(d) / np.linalg.norm(U)


def _real_basis(rho: np.ndarray) -> np.ndarray:
    """Orthonormal vectors that the antilinear map v → U conj(v) keeps; in them ρ is real."""
    U = invariant_form(rho)
    U = (U + U.T) / 2
    # (v + U conj v) / 2 as a map of real and imaginary parts: a projector of rank d
    reflection = np.block([[U.real, U.imag], [U.imag, -U.real]])
    _, vectors = np.linalg.eigh(reflection)
    d = rho.shape[1]
    W = vectors[:d, d:] + 1j * vectors[d:, d:]
    left, _, right = np.linalg.svd(W)
    return left @ right


def _own_basis(group: Group, rho: np.ndarray) -> np.ndarray:
    """The basis in which the generators, one after the other, are diagonal as far as possible.

    It does not depend on the basis that `rho` comes in. What the generators leave open a random element of
    the group algebra decides, always the same.
    """
    weights = np.random.default_rng(group.order).standard_normal(group.order)
    parts = []
    for S in [*rho[list(group.generators)], np.tensordot(weights, rho, axes=1)]:
        parts.append(-(S + S.conj().T))
        if np.iscomplexobj(rho):
            parts.append(1j * (S - S.conj().T))
    basis, blocks = np.eye(rho.shape[1], dtype=rho.dtype), [np.arange(rho.shape[1])]
    for H in parts:
        pieces = []
        for block in blocks:
            B = basis[:, block]
            values, vectors = np.linalg.eigh(B.conj().T @ H @ B)
            edges = np.flatnonzero(np.diff(values) > _APART) + 1
            if edges.size:
                basis[:, block] = B @ vectors
            pieces += np.split(block, edges)
        blocks = pieces
    return basis / _phases(basis.conj().T @ rho[list(group.generators)] @ basis)


def _phases(generators: np.ndarray) -> np.ndarray:
    """Phases that make entries ρ_ji(s) positive: the first large one from a settled i to a new j, in turn."""
    d = generators.shape[1]
    phases, settled = np.ones(d, generators.dtype), np.arange(d) == 0
    while not settled.all():
        links = np.abs(generators) * settled * ~settled[:, None]
        s, j, i = np.argwhere(links > (1 - 1e-6) * links.max())[0]
        entry = generators[s, j, i]
        phases[j] = phases[i] * np.conj(entry) / np.abs(entry)
        settled[j] = True
    return phases


def _frozen(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
