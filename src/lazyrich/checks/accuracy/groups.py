"""Characters of groups, and the Fourier transform on them."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import groups
from lazyrich.checks.accuracy._characters import GROUPS_IN_WORDS, characters, known_groups
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import numbers
from lazyrich.core import Comparison, accuracy

TEXTBOOK = "character tables of textbooks at 50 digits"


@accuracy(
    "groups.irreps",
    "Characters and matrices of all irreps, complex and real",
    against=f"{TEXTBOOK}; for matrices ρ(a)ρ(b) at 50 digits",
    grid=f"all elements of {GROUPS_IN_WORDS}; characters relative to the dimension; ρ(ab) for all a, and "
    "generators b, in groups of order up to 60, entries relative to 1",
    also=(
        "groups.character_table", "groups.real_irreps", "groups.Irrep.character",
        "groups.RealIrrep.character",
    ),
    seconds=3,
)  # fmt: skip
def irreps() -> Iterator[Comparison]:
    """From multiplication tables alone. Matrices depend on a choice of basis; that they multiply does not."""
    yield from _characters()
    for group in known_groups():
        if group.order <= 60:
            for irrep in (*groups.irreps(group), *groups.real_irreps(group)):
                yield from _multiplied(group, irrep)


def _multiplied(group: "groups.Group", irrep: Any) -> Iterator[Comparison]:
    rho = numbers(irrep.matrices)
    for b in group.generators:
        where = {"group": group.name, "irrep": repr(irrep), "generator": b}
        product = np.array([matrix @ rho[b] for matrix in rho], dtype=object)
        yield Comparison(irrep.matrices[group.table[:, b]], product, where, scale=1)


def _characters() -> Iterator[Comparison]:
    for group in known_groups():
        chi = characters(group)
        first = [members[0] for members in group.conjugacy_classes]
        where = {"group": group.name}
        dimension = chi[:, group.identity]
        found = np.array([irrep.character for irrep in groups.irreps(group)])
        size = np.broadcast_to(dimension[:, None], found.shape)
        yield Comparison(found, chi, where | {"element": np.arange(group.order)}, scale=size)
        yield Comparison(
            groups.character_table(group), chi[:, first], where | {"element": first},
            scale=size[:, first],
        )  # fmt: skip
        for real in groups.real_irreps(group):
            copies = {"real": 1, "quaternionic": 2, "complex": 1}[real.kind]
            total = copies * sum(chi[k] for k in real.members)
            part = where | {"irreps": str(real.members), "element": np.arange(group.order)}
            yield Comparison(real.character, total, part, scale=real.dimension)


@accuracy(
    "groups.projectors",
    "Projectors on the functions of each irrep",
    against=TEXTBOOK,
    grid="D8, Dic3, Z7 ⋊ Z3, S4; errors relative to d²/M",
    seconds=1,
)
def projectors() -> Iterator[Comparison]:
    """d/M times the conjugate character of x y⁻¹."""
    for group in known_groups():
        if group.name not in ("D8", "Dic3", "Z7 ⋊ Z3", "S4"):
            continue
        quotient = group.table[:, group.inverses]
        for k, (found, chi) in enumerate(
            zip(groups.projectors(group), characters(group), strict=True)
        ):
            d = chi[group.identity]
            true = (
                d
                / group.order
                * np.array([mp.conj(value) for value in chi], dtype=object)[quotient]
            )
            yield Comparison(
                found, true, {"group": group.name, "irrep": k}, scale=d * d / group.order
            )


@functools.cache
def _functions(group: "groups.Group", pair: bool = False) -> np.ndarray:
    rng = np.random.default_rng(group.order)
    shape = (2, 2 * group.order if pair else group.order)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape) * [[0], [1]]


def _power(group: "groups.Group", f: np.ndarray) -> list[Any]:
    """d/M Σ conj χ(yx⁻¹) f(x) conj f(y): the projection's squared length, by autocorrelation."""
    values = numbers(f)
    conjugate = np.array([mp.conj(v) for v in values], dtype=object)
    shares = [
        mp.fsum(
            values[group.table[group.inverses[h], y]] * conjugate[y] for y in range(group.order)
        )
        for h in range(group.order)
    ]
    return [
        mp.re(chi[group.identity] / group.order * mp.fdot(shares, chi, conjugate=True))
        for chi in characters(group)
    ]


@accuracy(
    "groups.power",
    "How much of a function belongs to each irrep, complex or real, or of a node's halves",
    against=f"autocorrelations and {TEXTBOOK}",
    grid=f"a real and a complex random function on each of {GROUPS_IN_WORDS} (Z97 left out); "
    "errors relative to the squared length",
    also=("groups.real_power", "groups.pair_power", "groups.real_pair_power"),
    seconds=3,
)
def power() -> Iterator[Comparison]:
    """Does not depend on the basis of an irrep."""
    for group in known_groups():
        if group.order > 60:
            continue
        members = [list(real.members) for real in groups.real_irreps(group)]
        for f in _functions(group):
            true = np.array(_power(group, f), dtype=object)
            where, size = (
                {"group": group.name, "complex": bool(f.imag.any())},
                np.sum(np.abs(f) ** 2),
            )
            yield Comparison(groups.power(group, f), true, where, scale=size)
            real = np.array([sum(true[m]) for m in members], dtype=object)
            yield Comparison(groups.real_power(group, f), real, where, scale=size)
        w = _functions(group, pair=True)[0].real
        u, v = w[: group.order], w[group.order :][group.inverses]
        true = np.array([_power(group, u), _power(group, v)], dtype=object)
        where, size = {"group": group.name}, np.sum(w**2)
        yield Comparison(groups.pair_power(group, w), true, where, scale=size)
        real = np.stack([true[:, m].sum(axis=1) for m in members], axis=1)
        yield Comparison(groups.real_pair_power(group, w), real, where, scale=size)


@accuracy(
    "groups.fourier",
    "The Fourier transform on a group and its inverse",
    against="sums over roots of unity for Abelian groups; the function itself for the inverse",
    grid=f"a real and a complex random function on each of {GROUPS_IN_WORDS}; "
    "errors relative to the length of the function",
    also=("groups.inverse_fourier",),
    seconds=2,
)
def fourier() -> Iterator[Comparison]:
    """Transforms of other groups depend on the basis; what comes back does not."""
    for group in known_groups():
        for f in _functions(group):
            where, size = {"group": group.name, "complex": bool(f.imag.any())}, np.linalg.norm(f)
            blocks = groups.fourier(group, f)
            if group.is_abelian:
                found = np.array([block[0, 0] for block in blocks])
                values = numbers(f)
                true = np.array([mp.fdot(chi, values) for chi in characters(group)], dtype=object)
                yield Comparison(found, true, where | {"irrep": np.arange(len(true))}, scale=size)
            back = groups.inverse_fourier(group, blocks)
            yield Comparison(
                back, numbers(f), where | {"element": np.arange(group.order)}, scale=size
            )
