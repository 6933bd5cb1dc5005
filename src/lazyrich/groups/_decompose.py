"""The regular representation taken apart, from the multiplication table alone."""

import itertools

import numpy as np

from lazyrich.groups._group import Group

_SAME = 1e-9
"""Eigenvalues this close, beside the largest, are taken as one; round-off moves them by 1e-14."""


def decompose(group: Group, seed: int) -> list[np.ndarray] | None:
    """One unitary representation (M, d, d) of every irreducible kind, in no particular order or basis.

    A random Hermitian matrix that commutes with all left multiplications has eigenspaces on which the
    group acts irreducibly. To keep matrices small it is first restricted to the eigenspaces of one
    multiplication from the right, which commutes with the left ones too.

    Returns:
        The representations; or None where eigenvalues agreed by accident and another seed is needed.
    """
    values, vectors = _eigenvectors(group, seed)
    spaces = _eigenspaces(values)
    starts = np.array([space.start for space in spaces])
    characters = _characters(group, vectors, starts)
    overlaps = np.abs(characters @ characters.conj().T) / group.order
    if np.any(np.abs(np.diagonal(overlaps) - 1) > 1e-6):  # 2 or more: reducible
        return None
    chosen = np.unique(np.argmax(overlaps > 0.5, axis=1))  # the first space of every kind
    return [_action_on(group, vectors[:, spaces[k]], characters[k]) for k in chosen]


def violation(group: Group, representations: list[np.ndarray]) -> float:
    """Largest entry by which a complete list violates orthogonality or ρ(as) = ρ(a)ρ(s), s generating."""
    M = group.order
    columns = [np.sqrt(rho.shape[1] / M) * rho.reshape(M, -1) for rho in representations]
    entries = np.concatenate(columns, axis=1)  # a unitary matrix if all is well
    if entries.shape != (M, M):
        return np.inf
    worst = np.max(np.abs(entries.conj().T @ entries - np.eye(M)))
    for rho in representations:
        for s in group.generators:
            worst = max(worst, np.max(np.abs(rho @ rho[s] - rho[group.table[:, s]])))
    return float(worst)


def _eigenvectors(group: Group, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n, M/n) and eigenvectors (M, M) of the restrictions to f(xa) = e^{2πij/n} f(x)."""
    cosets = _cosets(group)
    m, n = cosets.shape
    c = _random_function(group, seed)
    X = c[group.table[group.inverses[cosets.reshape(-1, 1)], cosets.reshape(1, -1)]]
    j = np.arange(n)
    waves = np.exp(2j * np.pi * (np.outer(j, j) % n) / n) / np.sqrt(n)
    half = np.tensordot(waves.conj(), X.reshape(m, n, m, n), axes=(1, 1))  # (j, t, s, k)
    values, vectors = np.linalg.eigh(np.einsum("jtsk,jk->jts", half, waves))
    full = np.empty((group.order, group.order), complex)
    full[cosets.reshape(-1)] = np.einsum("ji,jtv->tijv", waves, vectors).reshape(m * n, n * m)
    return values, full


def _cosets(group: Group) -> np.ndarray:
    """The elements t aⁱ, one row for each coset of the powers of an element a of largest order n."""
    a = int(np.argmax(group.element_orders))
    powers = [group.identity]
    while len(powers) < group.element_orders[a]:
        powers.append(int(group.table[powers[-1], a]))
    free = np.ones(group.order, bool)
    rows = []
    while free.any():
        rows.append(group.table[np.argmax(free), powers])
        free[rows[-1]] = False
    return np.array(rows)


def _random_function(group: Group, seed: int) -> np.ndarray:
    """Random c on the group such that the matrix c(x⁻¹y), which left multiplications keep, is Hermitian."""
    parts = np.random.default_rng(seed).standard_normal((2, group.order))
    c = parts[0] + 1j * parts[1]
    return c + c[group.inverses].conj()


def _eigenspaces(values: np.ndarray) -> list[slice]:
    """Runs of equal eigenvalues within each row, as slices of the flattened array."""
    step = np.diff(values, axis=1) > _SAME * np.max(np.abs(values))
    first = np.concatenate([np.ones((len(values), 1), bool), step], axis=1)
    edges = [*np.flatnonzero(first).tolist(), values.size]
    return [slice(start, stop) for start, stop in itertools.pairwise(edges)]


def _characters(group: Group, vectors: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Character of the action on each eigenspace, shape (spaces, M).

    The projector on an invariant space is a function p(x⁻¹y), and its product with the multiplication
    by g has the trace Σ_x p(x⁻¹gx): M times the mean of p over the class of g.
    """
    p = np.add.reduceat(vectors[group.identity] * vectors.conj(), starts, axis=1).T
    of_class = np.eye(len(group.conjugacy_classes))[group.class_of]  # (M, classes)
    means = p @ of_class / of_class.sum(axis=0)
    return group.order * means[:, group.class_of]


def _action_on(group: Group, basis: np.ndarray, character: np.ndarray) -> np.ndarray:
    """The left multiplications in an invariant space: ρ(g) = B* L_g B with (L_g f)(x) = f(g⁻¹x).

    An error ε of the space leaves only ε² here, since L_g leads out of no invariant space.
    """
    if basis.shape[1] == 1:
        return character[:, None, None]
    adjoint = basis.conj().T
    return np.stack([adjoint @ basis[group.table[inverse]] for inverse in group.inverses])
