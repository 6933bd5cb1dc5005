"""Theorems 6 and 7, Eq. 9 and 34: nodes that feel each other through the top layer."""

from typing import Any

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.core import CheckResult, check


def _groups() -> list[groups.Group]:
    """Odd and even cyclic groups, a product, and non-Abelian groups with all three types of irreps."""
    return [
        groups.cyclic(5), groups.cyclic(6), groups.product(groups.cyclic(2), groups.cyclic(4)),
        groups.symmetric(3), groups.dihedral(4), groups.quaternion(), groups.dihedral(5),
    ]  # fmt: skip


def _features(group: groups.Group, weights: np.ndarray) -> np.ndarray:
    """Squares of all pre-activations, samples (a, b) in order, shape (M², nodes); weights (nodes, 2M)."""
    first, second = weights[:, : group.order], weights[:, group.order :]
    return ((first[:, :, None] + second[:, None, :]) ** 2).reshape(len(weights), -1).T


def _targets(group: groups.Group) -> np.ndarray:
    """Centred one-hot labels of all products."""
    return np.eye(group.order)[group.table.ravel()] - 1 / group.order


def _random_features() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    found = [rng.standard_normal((12, 5)), rng.standard_normal((6, 9))]
    for group in _groups():
        found.append(_features(group, rng.standard_normal((6, 2 * group.order))))
    return found


def _residual_similarity(F: np.ndarray, eta: float, j: int, l: int) -> float:  # noqa: E741
    """One pair, by ridge regression of both features on all others."""
    others = np.delete(F, [j, l], axis=1)
    fit = np.linalg.solve(others.T @ others + eta * np.eye(others.shape[1]), others.T @ F[:, l])
    return float(F[:, j] @ (F[:, l] - others @ fit))


@check(
    "li2/thm6",
    "Nodes with similar features repel each other",
    against="a ridge regression for every pair, on all other features",
)
def thm6() -> CheckResult:
    """Signs of all $b_{jl}$ and the residual similarities; a wrong sign counts as an error of 1."""
    errors = []
    for F in _random_features():
        eta = 0.1 * np.mean(np.sum((F - F.mean(axis=0)) ** 2, axis=0))
        found = theory.feature_repulsion(F, eta)
        F = F - F.mean(axis=0)
        scale = np.max(np.abs(found.similarity))
        for j in range(F.shape[1]):
            for l in range(j):  # noqa: E741
                exact = _residual_similarity(F, eta, j, l)
                errors.append(abs(found.residual_similarity[j, l] - exact) / scale)
                errors.append(float(np.sign(found.coefficients[j, l]) != -np.sign(exact)))
    return CheckResult(max(errors), 1e-11, len(errors))


@check(
    "li2/eq9",
    "What replaces a node's feature in the backpropagated gradient",
    against="the matrix product of features and inverse Gram matrix, by linear solves",
)
def eq9() -> CheckResult:
    """The printed sum runs over all nodes, so that $b_{jj}f_j$ counts twice."""
    errors, printed = [], []
    for F in _random_features():
        found = theory.feature_repulsion(F, 0.5)
        F = F - F.mean(axis=0)
        B, K = found.coefficients, F.shape[1]
        exact = np.linalg.solve(F.T @ F + 0.5 * np.eye(K), F.T).T
        for j in range(K):
            total = sum(B[j, l] * F[:, l] for l in range(K))  # noqa: E741
            scale = np.max(np.abs(exact))
            errors.append(np.max(np.abs(found.mixed[:, j] - exact[:, j])) / scale)
            errors.append(np.max(np.abs(total - exact[:, j])) / scale)
            printed.append(np.max(np.abs(B[j, j] * F[:, j] + total - exact[:, j])) / scale)
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed),
        correction="the sum runs over l ≠ j; as printed node j counts twice",
    )  # fmt: skip


@check(
    "li2/eq34",
    "Projectors on irreps from characters",
    against="idempotence, commutation and traces in the regular representation",
)
def eq34() -> CheckResult:
    """Each is a projector, commutes with all $R_g$, and its trace with $R_g$ is $d_kχ_k(g)$."""
    errors = []
    for group in _groups():
        M = group.order
        R = np.zeros((M, M, M))  # R_h e_g = e_{hg}
        h, g = np.indices((M, M))
        R[h, group.table, g] = 1
        total = np.zeros((M, M), complex)
        for irrep in groups.irreps(group):
            d, chi = irrep.dimension, irrep.character
            P = d / M * np.einsum("g,gab->ab", chi.conj(), R)
            errors += [np.max(np.abs(P @ P - P)), np.max(np.abs(R @ P - P @ R))]
            errors.append(np.max(np.abs(np.einsum("ab,gba->g", P, R) - d * chi)))
            total += P
        errors.append(np.max(np.abs(total - np.eye(M))))
    return CheckResult(max(errors), 1e-10, len(errors))


def _cases() -> list[tuple[groups.Group, tuple[int, ...]]]:
    """Each group with its first irrep learned and with its last, which has the largest dimension."""
    found = []
    for group in _groups():
        every = groups.irreps(group)
        for irrep in (every[1], every[-1]) if group.order < 10 else (every[1],):
            found.append((group, tuple(sorted({irrep.number, irrep.conjugate}))))
    return found


def _complete_nodes(group: groups.Group, learned: tuple[int, ...], rng: Any) -> np.ndarray:
    """A node of the learned irreps, moved by (a, b) → (xat, t⁻¹by) for all x, y, t; shape (M³, 2M)."""
    table, inverse, M = group.table, group.inverses, group.order
    rows = [groups.irreps(group)[k].matrices.reshape(M, -1) for k in learned]
    rho = np.concatenate(rows, axis=1)  # all functions of these types
    u, v = ((rho @ (rho.conj().T @ rng.standard_normal(M))).real / M for _ in range(2))
    a = np.arange(M)
    x, y, t = (index.ravel() for index in np.indices((M, M, M)))
    first = table[table[x[:, None], a], t[:, None]]
    second = table[table[inverse[t][:, None], a], y[:, None]]
    return np.concatenate([u[first], v[second]], axis=1)


def _ridge(F: np.ndarray, Y: np.ndarray, eta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residual of ridge regression, the top weights, and $P_η$."""
    inverse = np.linalg.inv(F @ F.T + eta * np.eye(len(F)))
    return eta * inverse @ Y, F.T @ inverse @ Y, eta * inverse


@check(
    "li2/thm7",
    "The gradient for new nodes once some irreps are learned",
    against="ridge regression on all features of the learned irreps and one new node",
    seconds=2.0,
)
def thm7() -> CheckResult:
    """The residual, the gradient of a new node, the energy it climbs, and where ascent from anywhere ends."""
    errors, printed, rng = [], [], np.random.default_rng(1)
    for group, learned in _cases():
        Y = _targets(group)
        F = _features(group, _complete_nodes(group, learned, rng))
        F = F - F.mean(axis=0)
        eta = 1e-3 * float(np.trace(F @ F.T))
        R, _, P = _ridge(F, Y, eta)
        rest = _rest(group, learned, F, eta)
        energy = theory.ModulatedEnergy(group, learned, rest)
        errors.append(np.max(np.abs(R - energy.residual[group.table.ravel()])))
        printed.append(np.max(np.abs(R - _printed_residual(group, learned)[group.table.ravel()])))
        errors.append(_new_node_error(group, F, R, P, eta, energy, rng))
        errors.append(_maxima_error(theory.ModulatedEnergy(group, learned), rng))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="the residual is Ỹ − Ŷ and made of projectors: products of characters are not characters "
        "of products where d > 1, and the sign is the other one",
    )  # fmt: skip


def _rest(group: groups.Group, learned: tuple[int, ...], F: np.ndarray, eta: float) -> float:
    """η/(η + s) with s the eigenvalue of F̃F̃ᵀ on the labels of the learned irreps."""
    character = np.sum([np.real(groups.irreps(group)[k].character) for k in learned], axis=0)
    label = character[group.table.ravel()]  # a function of that type
    s = label @ F @ F.T @ label / (label @ label)
    return float(eta / (eta + s))


def _printed_residual(group: groups.Group, learned: tuple[int, ...]) -> np.ndarray:
    """$Φ_SΦ_S^*$, printed as Ŷ − Ỹ."""
    missing = [k for k in groups.irreps(group)[1:] if k.number not in learned]
    Phi = np.stack([np.sqrt(k.dimension / group.order) * k.character for k in missing], axis=1)
    return -np.real(Phi @ Phi.conj().T)


def _new_node_error(group: Any, F: Any, R: Any, P: Any, eta: float, energy: Any, rng: Any) -> float:
    """Backpropagated gradient of a node added to the network, and of its energy, against the formulas."""
    w = rng.standard_normal(2 * group.order)
    f = _features(group, w[None])[:, 0]
    centred = f - f.mean()
    full, V, _ = _ridge(np.column_stack([F, centred]), _targets(group), eta)
    G = full @ V[-1]
    q = eta + centred @ P @ centred
    formula = (R @ (R.T @ f) - P @ centred * np.sum((R.T @ f) ** 2) / q) / q
    back = (
        2
        * (w[: group.order, None] + w[None, group.order :])
        * (R @ (R.T @ f)).reshape(group.order, -1)
    )
    gradient = np.concatenate([back.sum(axis=1), back.sum(axis=0)])
    value = 0.5 * np.sum((R.T @ f) ** 2)
    return max(
        relative_gap(formula, G),
        relative_gap(energy.gradient(w), gradient),
        abs(energy.value(w) / value - 1),
    )


def _maxima_error(energy: "theory.ModulatedEnergy", rng: Any) -> float:
    """Distance of the energies that ascent on the unit sphere ends with from the listed ones."""
    w = rng.standard_normal((12, 2 * energy.group.order))
    for _ in range(200):
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        g = energy.gradient(w)
        w = w + g / np.linalg.norm(g, axis=1, keepdims=True)
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    listed = energy.maxima.energies
    return float(np.max(np.min(np.abs(energy.value(w)[:, None] / listed - 1), axis=1)))
