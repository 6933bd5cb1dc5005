"""Groups that the tests share, and what every list of irreps must satisfy."""

import math

import numpy as np

from lazyrich import groups

PSL27 = [[1, 2, 3, 4, 5, 6, 0, 7], [0, 2, 4, 6, 1, 3, 5, 7], [7, 6, 3, 2, 5, 4, 1, 0]]


def frobenius(prime, order):
    """The maps x → ax + b modulo a prime, with the a of some order."""
    [*_, root] = [
        a for a in range(1, prime) if min(k for k in range(1, prime) if a**k % prime == 1) == order
    ]
    action = [[n * root**h % prime for n in range(prime)] for h in range(order)]
    return groups.semidirect(groups.cyclic(prime), groups.cyclic(order), action)


def heisenberg(p):
    """Extraspecial of order p³: upper triangular matrices with unit diagonal modulo p."""
    a, b, c = np.unravel_index(np.arange(p**3), (p, p, p))
    first, second, third = (x[:, None] + x for x in (a, b, c))
    third = third + a[:, None] * b
    return groups.Group((first % p * p + second % p) * p + third % p, f"Heisenberg {p}")


def special_linear(p):
    """The 2 × 2 matrices of determinant 1 modulo a prime."""
    matrices = np.stack(np.unravel_index(np.arange(p**4), (p,) * 4), axis=1).reshape(-1, 2, 2)
    determinants = matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0]
    elements = matrices[determinants % p == 1]
    products = np.einsum("aij,bjk->abik", elements, elements) % p
    codes = products.reshape(*products.shape[:2], 4) @ p ** np.arange(4)[::-1]
    own = elements.reshape(-1, 4) @ p ** np.arange(4)[::-1]
    return groups.Group(np.searchsorted(own, codes), f"SL(2,{p})")


def central_product(first, second):
    """Two groups with centres of order two, the centres made one."""
    pair = groups.product(first, second)
    z = [int(max(groups.centre(group))) for group in (first, second)]
    return groups.quotient(pair, [0, z[0] * second.order + z[1]]).group


def relabelled(group, permutation):
    """The same group, element g called permutation[g]."""
    back = np.argsort(permutation)
    return groups.Group(np.asarray(permutation)[group.table[np.ix_(back, back)]])


def small():
    """A few groups of every kind, of order at most 24."""
    cyclic, product = groups.cyclic, groups.product
    return [
        cyclic(1), cyclic(2), cyclic(7), cyclic(12), product(cyclic(2), cyclic(2)),
        product(cyclic(3), cyclic(4)), groups.symmetric(3), groups.quaternion(), groups.dihedral(4),
        groups.dicyclic(3), groups.alternating(4), frobenius(7, 3), groups.symmetric(4),
        special_linear(3),
    ]  # fmt: skip


def worst_violation(group, every):
    """Largest violation of completeness, orthogonality, unitarity, and of ρ(ab) = ρ(a)ρ(b) for generators b.

    (Every element is a product of generators, so that says the same of all b; order up to 24: all b.)
    """
    M = group.order
    if sum(k.dimension**2 for k in every) != M or len(every) != len(group.conjugacy_classes):
        return math.inf
    worst = 0.0
    for k in every:
        rho, d = k.matrices, k.dimension
        for b in range(M) if M <= 24 else group.generators:
            worst = max(worst, np.abs(rho @ rho[b] - rho[group.table[:, b]]).max())
        worst = max(worst, np.abs(rho @ rho.conj().transpose(0, 2, 1) - np.eye(d)).max())
    flat = np.concatenate([k.matrices.reshape(M, -1) for k in every], axis=1)
    sizes = np.concatenate([np.full(k.dimension**2, M / k.dimension) for k in every])
    return float(max(worst, np.abs(flat.conj().T @ flat - np.diag(sizes)).max() / M))
