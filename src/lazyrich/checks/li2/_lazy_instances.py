"""Features and targets for checks of the first stage: products in groups, and random matrices."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich import groups


class Instance(NamedTuple):
    """Centred features (n, K), centred targets (n, M) and a first readout (K, M)."""

    features: np.ndarray
    targets: np.ndarray
    initial: np.ndarray


def centre(array: np.ndarray) -> np.ndarray:
    """Without the mean over samples."""
    return array - array.mean(axis=0)


def some_groups() -> list[Any]:
    """Cyclic of odd and even order, a product, and three that are not Abelian; few orders."""
    return [
        groups.cyclic(5), groups.cyclic(6), groups.product(groups.cyclic(2), groups.cyclic(4)),
        groups.dihedral(3), groups.quaternion(), groups.dihedral(4),
    ]  # fmt: skip


def group_data(group: Any) -> tuple[np.ndarray, np.ndarray]:
    """All pairs as two one-hot vectors (M², 2M), and their products as one-hot labels."""
    first, second = np.indices((group.order, group.order)).reshape(2, -1)
    one_hot = np.eye(group.order)
    inputs = np.concatenate([one_hot[first], one_hot[second]], axis=1)
    return inputs, one_hot[np.asarray(group.table)[first, second]]


def group_instance(group: Any, width: int, seed: int, share: float = 0.6) -> Instance:
    """Random quadratic features of a share of the pairs."""
    rng = np.random.default_rng(seed)
    X, Y = group_data(group)
    kept = rng.permutation(len(X))[: round(share * len(X))]
    W = rng.standard_normal((X.shape[1], width)) / X.shape[1] ** 0.5
    return _instance((X[kept] @ W) ** 2, Y[kept], rng)


def random_instance(n: int, K: int, M: int, seed: int, rank: int | None = None) -> Instance:
    """Normal features, of lower rank if asked for, and normal targets."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, K))
    if rank is not None:
        F = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, K))
    return _instance(F, rng.standard_normal((n, M)), rng)


def realisable_instance(n: int, K: int, M: int, seed: int) -> Instance:
    """As (A1) and (A2) ask: full column rank, and targets that the features can express."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, K))
    return _instance(F, F @ rng.standard_normal((K, M)), rng)


def _instance(F: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> Instance:
    return Instance(centre(F), centre(Y), rng.standard_normal((F.shape[1], Y.shape[1])))


def instances() -> list[Instance]:
    """Fewer nodes than samples and more, all groups, a rank below both."""
    widths = {5: 4, 6: 9, 8: 45}  # for 15, 22 and 38 samples
    found = [group_instance(g, widths[g.order], i) for i, g in enumerate(some_groups())]
    return [*found, random_instance(9, 8, 2, 3, rank=4)]


def flow(i: Instance, time: float, decay: float, scale: float = 1.0) -> tuple[Any, Any, Any]:
    """V, E and −∂J/∂F̃ by the exponential of the system's matrix; times may be negative."""
    from scipy.linalg import expm

    F, Y, V0 = i
    (K, M), top = V0.shape, scale**2 * F.T @ F + decay * np.eye(V0.shape[0])
    system = np.block([[-top, scale * F.T @ Y], [np.zeros((M, K + M))]])
    V = (expm(time * system) @ np.concatenate([V0, np.eye(M)]))[:K]
    E = Y - scale * F @ V
    return V, E, scale * E @ V.T


def distance(found: Any, exact: Any) -> float:
    """Relative distance in the Frobenius norm."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def cosine(first: Any, second: Any) -> float:
    """Of the angle between two matrices."""
    return float(np.sum(first * second) / (np.linalg.norm(first) * np.linalg.norm(second)))
