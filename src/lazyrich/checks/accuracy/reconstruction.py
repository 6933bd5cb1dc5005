"""Targets of a group task from single-irrep features."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks.accuracy._characters import GROUPS_IN_WORDS, characters, known_groups
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import entries, length, numbers
from lazyrich.core import Comparison, accuracy


def _features(group: "groups.Group", first: np.ndarray) -> np.ndarray:
    """Squares of sums of two weights, without their mean over all pairs; mpmath numbers."""
    W, M = numbers(first), group.order
    F = ((W[:M, None] + W[None, M:]) ** 2).reshape(M * M, -1)
    return F - F.sum(axis=0) / (M * M)


def _targets(group: "groups.Group") -> np.ndarray:
    M = group.order
    return numbers(np.eye(M)[group.table.ravel()]) - mp.mpf(1) / M


def _weights(group: "groups.Group", is_complex: bool) -> np.ndarray:
    rng = np.random.default_rng(group.order)
    W = rng.standard_normal((2 * group.order, 4))
    return W + 1j * rng.standard_normal(W.shape) if is_complex else W


def _small() -> Iterator[tuple["groups.Group", "theory.TargetReconstruction", dict[str, Any]]]:
    for group in known_groups():
        if group.name in ("Z2", "Z7", "D3", "Dic2"):
            for is_complex in (False, True):
                where = {"group": group.name, "complex": is_complex}
                yield group, theory.TargetReconstruction(group, complex_weights=is_complex), where


@accuracy(
    "theory.TargetReconstruction.num_nodes",
    "Numbers of nodes, their bound, and the targets",
    against="dimensions and types from textbook characters",
    grid=f"real and complex nodes; {GROUPS_IN_WORDS} (targets: Z2, Z7, D3, Dic2)",
    also=(
        "theory.TargetReconstruction.num_nontrivial", "theory.TargetReconstruction.num_economical",
        "theory.TargetReconstruction.bound", "theory.TargetReconstruction.targets",
    ),
    seconds=1,
)  # fmt: skip
def numbers_of_nodes() -> Iterator[Comparison]:
    """Whole numbers."""
    for group in known_groups():
        if group.order < 2:
            continue
        chi, M = characters(group)[1:], group.order
        dimensions = [round(float(row[group.identity].real)) for row in chi]
        squares = np.diagonal(group.table)
        kinds = [round(float(mp.re(mp.fsum(row[squares]))) / M) for row in chi]
        for is_complex in (False, True):
            found = theory.TargetReconstruction(group, complex_weights=is_complex)
            pairs = {1: 1, 0: 1.5, -1: 2} if not is_complex else {1: 1, 0: 1, -1: 1}
            cubes = [pairs[kind] * d**3 for kind, d in zip(kinds, dimensions, strict=True)]
            kappa = len(chi)
            true = {
                "num_nontrivial": kappa, "num_nodes": 2 * sum(d**4 for d in dimensions),
                "bound": 2 * ((M - kappa) ** 2 + kappa - 1), "num_economical": int(2 * sum(cubes)),
            }  # fmt: skip
            for name, value in true.items():
                where = {"group": group.name, "complex": is_complex, "part": name}
                yield Comparison(getattr(found, name), value, where)
    for group, found, where in _small():
        yield Comparison(found.targets, _targets(group), where)


@accuracy(
    "theory.TargetReconstruction.node_features",
    "Centred features of nodes, and their Gram matrix",
    against="sums and products at 50 digits",
    grid="4 random nodes, real and complex, for Z2, Z7, D3, Dic2; errors relative to the length of a feature",
    also=("theory.TargetReconstruction.gram",),
    seconds=2,
)
def node_features() -> Iterator[Comparison]:
    """On all pairs of elements."""
    for group, found, where in _small():
        W = _weights(group, where["complex"])
        F = _features(group, W)
        size = np.array([length(column) for column in F.T], dtype=object)
        yield Comparison(found.node_features(W), F, where, scale=size)
        conjugate = np.array([[mp.conj(v) for v in row] for row in F.T], dtype=object)
        yield Comparison(found.gram(W), conjugate @ F, where, scale=np.outer(size, size))


@accuracy(
    "theory.TargetReconstruction.outputs",
    "What the best top layer makes of features, and the share it misses",
    against="normal equations at 50 digits; the targets themselves for nodes that suffice",
    grid="4 random nodes, and those of forms conjugate and economical; Z2, Z7, D3, Dic2, real and complex; "
    "outputs relative to the length of the targets, shares to 1",
    also=("theory.TargetReconstruction.error", "theory.TargetReconstruction.nodes"),
    seconds=4,
)
def outputs() -> Iterator[Comparison]:
    """Nodes themselves depend on a basis; that they suffice does not."""
    for group, found, where in _small():
        Y = _targets(group)
        W = _weights(group, where["complex"])[:, : min(4, group.order - 1)]
        F = mp.matrix(_features(group, W).tolist())
        best = entries(F * (mp.inverse(F.H * F) * (F.H * mp.matrix(Y.tolist()))))
        missed = length(Y - best) ** 2 / length(Y) ** 2
        yield Comparison(found.outputs(W), best, where | {"nodes": "random"}, scale=length(Y))
        yield Comparison(found.error(W), missed, where | {"nodes": "random"}, scale=1)
        for form in ("economical", *(("conjugate",) if where["complex"] else ())):
            nodes = found.nodes(form)
            yield Comparison(found.outputs(nodes), Y, where | {"nodes": form}, scale=length(Y))
            yield Comparison(found.error(nodes), 0, where | {"nodes": form}, scale=1)
