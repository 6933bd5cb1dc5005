"""Maxima of the energy of a node on a group, and what is left of it once irreps are learned."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks.accuracy._characters import GROUPS_IN_WORDS, characters, known_groups
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import length, numbers
from lazyrich.core import Comparison, accuracy

SMALL = ("Z7", "D3", "Dic2", "Z7 ⋊ Z3", "S4")
NODES_IN_WORDS = f"4 random nodes for each of {', '.join(SMALL)}"


def _groups() -> Iterator["groups.Group"]:
    return (group for group in known_groups() if group.name in SMALL)


@functools.cache
def _nodes(group: "groups.Group") -> np.ndarray:
    return np.random.default_rng(group.order).standard_normal((4, 2 * group.order))


def _indicator(group: "groups.Group", chi: np.ndarray) -> int:
    """Frobenius and Schur's mean of χ(g²): 1 real, 0 complex, −1 quaternionic."""
    return round(float(mp.re(mp.fsum(chi[np.diagonal(group.table)])) / group.order))


def _energy_at_maximum(group: "groups.Group", chi: np.ndarray) -> Any:
    halves = 2 if _indicator(group, chi) == 1 else 4
    return mp.mpf(group.order) / (halves * chi[group.identity].real)


def _class_sums(group: "groups.Group", w: np.ndarray) -> list[Any]:
    """Σ σ(u_a + v_b) over the pairs with product h, σ(x) = x²."""
    u, v = numbers(w[: group.order]), numbers(w[group.order :])
    sums = [mp.mpf(0)] * group.order
    for a in range(group.order):
        for b in range(group.order):
            sums[group.table[a, b]] += (u[a] + v[b]) ** 2
    return sums


def _gradient(group: "groups.Group", w: np.ndarray, force: Any) -> np.ndarray:
    """Σ_h force_h ∂z_h/∂w."""
    u, v = numbers(w[: group.order]), numbers(w[group.order :])
    found = np.array([mp.mpf(0)] * (2 * group.order), dtype=object)
    for a in range(group.order):
        for b in range(group.order):
            push = 2 * (u[a] + v[b]) * force[group.table[a, b]]
            found[a] += push
            found[group.order + b] += push
    return found


def _centred(sums: list[Any]) -> np.ndarray:
    mean = mp.fsum(sums) / len(sums)
    return np.array([value - mean for value in sums], dtype=object)


@accuracy(
    "theory.GroupFeatures.families",
    "Energies of all local maxima, and of those that are left",
    against="M/2d and M/4d with dimensions and types from textbook characters",
    grid=f"all families of {GROUPS_IN_WORDS}; b = 1 and 0.3; half of the irreps learned to 0.25",
    also=("theory.ModulatedEnergy.maxima",),
    seconds=1,
)
def families() -> Iterator[Comparison]:
    """Whole numbers over whole numbers."""
    for group in known_groups():
        if group.order < 2:
            continue
        chi = characters(group)
        where = {"group": group.name}
        for b in (1.0, 0.3):
            found = theory.GroupFeatures(group, 0.5, b).families
            true = [mp.mpf(b) ** 2 * _energy_at_maximum(group, chi[f.members[0]]) for f in found]
            yield Comparison([f.energy for f in found], np.array(true), where | {"quadratic": b})
        learned = [k for f in found[::2] for k in f.members]
        maxima = theory.ModulatedEnergy(group, learned, 0.25).maxima
        rest = [(mp.mpf(1) / 16 if k[0] in learned else mp.mpf(1), k[0]) for k in maxima.irreps]
        true = [share * _energy_at_maximum(group, chi[k]) for share, k in rest]
        yield Comparison(maxima.energies, np.array(true), where | {"learned": str(learned)})


@accuracy(
    "theory.GroupFeatures.maximum",
    "A maximum with given vectors",
    against="real parts of roots of unity",
    grid="Z2, Z7, Z12 and Z4 × Z6, all families, 5 random phases; errors relative to the largest weight",
    seconds=1,
)
def maximum() -> Iterator[Comparison]:
    """For Abelian groups nothing depends on a basis."""
    rng = np.random.default_rng(0)
    for group in known_groups():
        if group.name not in ("Z2", "Z7", "Z12", "Z4 × Z6"):
            continue
        features, chi = theory.GroupFeatures(group), characters(group)
        for family in features.families:
            for _ in range(5):
                x, y, z = rng.standard_normal(3) + 1j * rng.standard_normal(3) * (
                    family.kind != "real"
                )
                found = features.maximum(family.index, [x], [y], [z])
                waves = [mp.conj(c) for c in chi[family.members[0]]]
                p, q, r = (mp.mpmathify(c) / abs(mp.mpmathify(c)) for c in (x, y, z))
                pair = (p * mp.conj(q), q * mp.conj(r))
                true = np.array([mp.re(wave * c) for c in pair for wave in waves], dtype=object)
                true = true / length(true)
                where = {"group": group.name, "irreps": str(family.members)}
                yield Comparison(found, true, where, scale=max(abs(true)))


@accuracy(
    "theory.GroupFeatures.classify",
    "Energy, slope and share of nodes, and their power in each family",
    against="sums over all products and textbook characters at 50 digits",
    grid=f"{NODES_IN_WORDS}",
    also=("theory.GroupFeatures.power",),
    seconds=3,
)
def classify() -> Iterator[Comparison]:
    """By definition: the centred sums over all pairs of each product."""
    for group in _groups():
        features, chi = theory.GroupFeatures(group), characters(group)
        nodes = _nodes(group)
        found, shares = features.classify(nodes), features.power(nodes)
        energies = [_energy_at_maximum(group, chi[f.members[0]]) for f in features.families]
        for i, w in enumerate(nodes):
            power = _shares(group, w, [(0,), *(f.members for f in features.families)])
            squares = mp.fsum(v * v for v in numbers(w))
            force = _centred(_class_sums(group, w))
            energy = mp.fsum(value**2 for value in force) / 2 / squares**2
            slope = _gradient(group, w, force)
            along = numbers(w) * (np.dot(slope, numbers(w)) / squares)
            best = int(np.argmax([float(share) for share in power[1:]]))
            true = {
                "family": best, "share": power[1 + best], "energy": energy,
                "relative_energy": energy / energies[best],
                "slope": length(slope - along) / length(slope), "is_maximum": 0,
            }  # fmt: skip
            for name, value in true.items():
                where = {"group": group.name, "node": i, "part": name}
                yield Comparison(float(getattr(found, name)[i]), value, where)
            where = {"group": group.name, "node": i, "part": "power"}
            yield Comparison(shares[i], np.array(power, dtype=object), where, scale=1)


def _shares(group: "groups.Group", w: np.ndarray, families: list[tuple[int, ...]]) -> list[Any]:
    """Share of both halves' squared length in irreps, by autocorrelations."""
    halves = numbers(w[: group.order]), numbers(w[group.order :])
    sums = [
        mp.fsum(
            f[group.table[group.inverses[h], y]] * f[y] for f in halves for y in range(group.order)
        )
        for h in range(group.order)
    ]
    chi, total = characters(group), sums[group.identity]
    return [
        mp.fsum(mp.re(mp.fdot(chi[k], sums)) * chi[k][group.identity].real for k in members)
        / (group.order * total)
        for members in families
    ]


@accuracy(
    "theory.GroupFeatures.curvature",
    "Eigenvalues of the Hessian on the sphere at maxima",
    against="0, −4𝓔* and −8𝓔*, as many zeros as flat directions",
    grid=f"a maximum of each family of {', '.join(SMALL)}; errors relative to 8𝓔*",
    seconds=2,
)
def curvature() -> Iterator[Comparison]:
    """The eigenvalues that the maxima must have."""
    for group in _groups():
        features, chi = theory.GroupFeatures(group), characters(group)
        for family in features.families:
            found = features.curvature(features.sample(family.index, seed=1)[0])
            energy = _energy_at_maximum(group, chi[family.members[0]])
            d, kind = family.dimension, _indicator(group, chi[family.members[0]])
            flat = {1: 3 * (d - 1), 0: 6 * d - 4, -1: 6 * d - 6}[kind]
            nearest = [
                energy * -4 * k for k in np.rint(found.eigenvalues / float(-4 * energy)).tolist()
            ]
            where = {"group": group.name, "irreps": str(family.members)}
            yield Comparison(found.num_flat, flat, where | {"part": "flat"})
            allowed = [value for value in nearest if value in (0, -4 * energy, -8 * energy)]
            yield Comparison(len(nearest), len(allowed), where | {"part": "number"})
            yield Comparison(found.eigenvalues, np.array(nearest), where, scale=8 * energy)


@accuracy(
    "theory.ModulatedEnergy.value",
    "Energy that is left for new nodes, and its gradient",
    against="projectors from textbook characters, sums over all products at 50 digits",
    grid=f"{NODES_IN_WORDS}; half of the irreps learned to 0.25; gradients relative to their length",
    also=("theory.ModulatedEnergy.gradient",),
    seconds=4,
)
def modulated() -> Iterator[Comparison]:
    """What a fitted network leaves of the targets takes the place of the centred labels."""
    for group in _groups():
        chi, quotient = characters(group), group.table[:, group.inverses]
        members = [f.members for f in theory.GroupFeatures(group).families]
        learned = [k for each in members[::2] for k in each]
        energy = theory.ModulatedEnergy(group, learned, 0.25)
        residual = sum(
            (mp.mpf(1) / 4 if k in learned else 1) * chi[k][group.identity].real / group.order
            * np.array([mp.re(c) for c in chi[k]], dtype=object)[quotient]
            for k in range(1, len(chi))
        )  # fmt: skip
        values, gradients = energy.value(_nodes(group)), energy.gradient(_nodes(group))
        for i, w in enumerate(_nodes(group)):
            seen = residual @ np.array(_class_sums(group, w), dtype=object)
            where = {"group": group.name, "node": i}
            yield Comparison(values[i], mp.fsum(value**2 for value in seen) / 2, where)
            slope = _gradient(group, w, residual @ seen)
            yield Comparison(gradients[i], slope, where | {"part": "gradient"}, scale=length(slope))
