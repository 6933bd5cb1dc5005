"""Groups, plain energies and plain ascents that the checks of stage II share."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import groups
from lazyrich.checks.li2._lazy_instances import group_data

SQUARE = (lambda x: x**2, lambda x: 2 * x)
ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "quadratic": SQUARE,
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "cubic": (lambda x: x**3, lambda x: 3 * x**2),
    "sine": (np.sin, np.cos),
}
"""Activations and their derivatives, by hand."""


@functools.cache
def all_groups() -> "tuple[groups.Group, ...]":
    """Odd and even cyclic groups, products, and four that are not Abelian, one of each type of irrep."""
    Z = groups.cyclic
    return (
        Z(2), Z(7), Z(8), groups.product(Z(2), Z(2)), groups.product(Z(3), Z(3)), groups.dihedral(5),
        groups.quaternion(), groups.dicyclic(3), groups.alternating(4),
    )  # fmt: skip


@functools.cache
def large_groups() -> "tuple[groups.Group, ...]":
    """Of orders around a hundred: cyclic, odd and even, products, and five that are not Abelian.

    The last ones have irreps of dimension 3, 4, and both, and of quotients by cyclic factors.
    """
    Z = groups.cyclic
    return (
        Z(96), Z(97), groups.product(*[Z(3)] * 4), groups.product(*[Z(2)] * 7), groups.dihedral(60),
        groups.dicyclic(24), groups.product(groups.symmetric(4), Z(8)), groups.product(_affine(), Z(9)),
        groups.product(groups.alternating(5), Z(2)),
    )  # fmt: skip


def _affine() -> "groups.Group":
    """The 20 maps x → ax + b of the numbers modulo 5, which have an irrep of dimension 4."""
    return groups.semidirect(groups.cyclic(5), groups.cyclic(4), lambda h, n: n * 2 ** int(h) % 5)


def dense(group: "groups.Group") -> tuple[np.ndarray, np.ndarray]:
    """One-hot inputs of all pairs and centred one-hot targets."""
    X, Y = group_data(group)
    return X, Y - 1 / group.order


def plain_energy(X: np.ndarray, Y: np.ndarray, w: Any, sigma: Callable[[Any], Any]) -> Any:
    """Eq. 7 as it is written, for weights (..., d)."""
    return 0.5 * np.sum(np.abs(sigma(w @ X.T) @ Y) ** 2, axis=-1)


def plain_gradient(X: np.ndarray, Y: np.ndarray, w: Any, activation: Any = SQUARE) -> np.ndarray:
    """The right side of Eq. 6 with factor 1."""
    sigma, slope = activation
    x = w @ X.T
    return (slope(x) * (sigma(x) @ Y @ Y.T)) @ X


def plain_ascent(
    group: "groups.Group", num_starts: int, num_steps: int = 120, seed: int = 0
) -> np.ndarray:
    """Where random real starts end under steps of 2/3 of the norm over the gradient's length."""
    X, Y = dense(group)
    w = np.random.default_rng(seed).standard_normal((num_starts, 2 * group.order))
    for _ in range(num_steps):
        w = w / np.linalg.norm(w, axis=-1, keepdims=True)
        g = plain_gradient(X, Y, w)
        size = np.linalg.norm(g, axis=-1, keepdims=True)
        w = w + (g - np.sum(g * w, -1, keepdims=True) * w) / size * 2 / 3
    return w / np.linalg.norm(w, axis=-1, keepdims=True)


def decomposed(group: "groups.Group", S: np.ndarray) -> list[tuple[int, int, list[np.ndarray]]]:
    """Conjugate, dimension and blocks Ŝ_{k,r} of Q*SQ for every irrep but the trivial one (Eq. 16)."""
    M, found = group.order, []
    for irrep in groups.irreps(group)[1:]:
        d = irrep.dimension
        # column l of copy r: the regular representation acts on it as the irrep does
        Q = np.sqrt(d / M) * irrep.matrices.conj()  # [g, l, r]
        blocks = [Q[:, :, r].conj().T @ S @ Q[:, :, r] for r in range(d)]
        found.append((irrep.conjugate - irrep.number, d, blocks))
    return found


def class_sums(group: "groups.Group", S: np.ndarray) -> np.ndarray:
    """z_h, the trace of R_hᵀS (Eq. 13), summed entry by entry."""
    j = np.arange(group.order)
    return np.array([S[group.table[h, j], j].sum() for h in range(group.order)])
