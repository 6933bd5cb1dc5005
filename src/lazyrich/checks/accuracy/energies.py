"""Energies of features with their derivatives, and the gradients that layers receive."""

from typing import Any

import numpy as np

from lazyrich import groups, quantities
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import apply, flat, length, numbers
from lazyrich.core import Comparison, accuracy

SCALES = [1e-6, 1e-3, 1.0, 30.0]
ACTIVATIONS = ("quadratic", "sine", "tanh")


def _pairs() -> tuple[np.ndarray, np.ndarray]:
    """All products of the cyclic group of order 5, the last three left out so that classes differ in size."""
    a, b = np.divmod(np.arange(22), 5)
    return np.stack([a, b], 1), (a + b) % 5


def _nodes(number: int, num_weights: int) -> np.ndarray:
    scale = np.repeat(SCALES, number)[:, None]
    return np.random.default_rng(0).standard_normal((number * len(SCALES), num_weights)) * scale


def _activation(name: str) -> tuple[Any, Any, Any]:
    """An activation, its slope and its curvature."""
    return {
        "quadratic": (lambda z: z * z, lambda z: 2 * z, lambda z: mp.mpf(2)),
        "sine": (mp.sin, mp.cos, lambda z: -mp.sin(z)),
        "tanh": (
            mp.tanh, lambda z: mp.sech(z) ** 2, lambda z: -2 * mp.tanh(z) * mp.sech(z) ** 2,
        ),
    }[name]  # fmt: skip


class _Energy:
    """½|Ỹᵀσ(Xw)|² with its gradient and Hessian, from the class sums z and their derivatives."""

    def __init__(self, pairs: np.ndarray, labels: np.ndarray, name: str, w: np.ndarray):
        sigma, slope, curvature = _activation(name)
        half = len(w) // 2
        rows = np.eye(len(w), dtype=int)
        X = rows[pairs[:, 0]] + rows[half + pairs[:, 1]]
        Y = (labels[:, None] == np.arange(labels.max() + 1)).astype(int)
        centred = numbers(Y) - numbers(Y.sum(0)) / len(labels)
        x = X @ numbers(w)
        self.z = centred.T @ apply(sigma, x)
        self.jacobian = centred.T @ (apply(slope, x)[:, None] * X)
        self.value = np.sum(self.z**2) / 2
        self.gradient = self.z @ self.jacobian
        bent = (centred @ self.z) * apply(curvature, x)
        self.hessian = self.jacobian.T @ self.jacobian + X.T @ (bent[:, None] * X)
        # what would be added without signs: energies cancel where classes explain nothing
        self.bulk = np.abs(centred).T @ np.abs(apply(sigma, x))
        # JAX's slope of tanh is 1 − tanh², whose rounding is relative to 1 where units saturate
        slopes = np.abs(apply(slope, x)) + (name == "tanh")
        steep = np.abs(centred).T @ (slopes[:, None] * X)
        curved = np.abs(centred @ self.z) * (np.abs(apply(curvature, x)) + (name == "tanh"))
        self.sizes = (
            np.sum(self.bulk**2) / 2,
            length(self.bulk @ steep),
            length(steep) ** 2 + np.sum(curved) * len(labels),
        )


@accuracy(
    "quantities.feature_energy",
    "Energy of a node's feature, with gradient and Hessian",
    against="sums over samples at 50 digits, by the product rule",
    grid="22 pairs of 5 symbols; 8 nodes at each of 4 scales from 1e-6 to 30; z², sin, tanh; "
    "errors relative to the "
    "same sums without signs, and for tanh with slopes of 1",
    also=tuple(
        f"quantities.FeatureEnergy.{name}"
        for name in ("value", "gradient", "hessian", "hessian_product")
    ),
    seconds=8,
)
def feature_energy() -> list[Comparison]:
    """Every entry of every derivative."""
    pairs, labels = _pairs()
    nodes, found = _nodes(8, 10), []
    along = np.random.default_rng(1).standard_normal(10)
    for name in ACTIVATIONS:
        energy = quantities.FeatureEnergy(pairs, labels, name)
        exact = [_Energy(pairs, labels, name, w) for w in nodes]
        scale = np.array([e.sizes for e in exact], dtype=object)
        where = {"activation": name, "node": np.arange(len(nodes))}
        deep = {"activation": name, "node": np.arange(len(nodes))[:, None]}
        value = np.array([e.value for e in exact])
        gradient = np.array([e.gradient for e in exact])
        product = np.array([e.hessian @ numbers(along) for e in exact])
        hessian = np.array([e.hessian.ravel() for e in exact])
        found += [
            Comparison(energy.value(nodes), value, where, scale[:, 0]),
            Comparison(quantities.feature_energy(nodes, pairs, labels, name), value, where, scale[:, 0]),
            Comparison(energy.gradient(nodes), gradient, deep, scale[:, 1:2]),
            Comparison(energy.hessian_product(nodes, along), product, deep, scale[:, 2:] * length(along)),
            Comparison(energy.hessian(nodes).reshape(len(nodes), -1), hessian, deep, scale[:, 2:]),
        ]  # fmt: skip
    return found


@accuracy(
    "quantities.GroupEnergy.value",
    "Energy for all products in a group, with gradient and Hessian",
    against="sums over all products at 50 digits",
    grid="Z₆, S₃ and the quaternions; 4 nodes at each of 4 scales from 1e-6 to 30; errors relative "
    "to the same sums without "
    "signs",
    also=("quantities.GroupEnergy.gradient", "quantities.GroupEnergy.hessian"),
    seconds=2,
)
def group_energy() -> list[Comparison]:
    """Through irreps on one side, through the multiplication table on the other."""
    found = []
    for group in (groups.cyclic(6), groups.symmetric(3), groups.quaternion()):
        M = group.order
        a, b = np.divmod(np.arange(M * M), M)
        pairs, labels = np.stack([a, b], 1), group.table[a, b]
        nodes = _nodes(4, 2 * M)
        energy = quantities.GroupEnergy(group)
        exact = [_Energy(pairs, labels, "quadratic", w) for w in nodes]
        scale = np.array([e.sizes for e in exact], dtype=object)
        node = np.arange(len(nodes))
        where = {"group": f"{group.name} of order {M}", "node": node}
        deep = where | {"node": node[:, None]}
        hessian = energy.hessian(nodes).reshape(len(nodes), -1)
        found += [
            Comparison(energy.value(nodes), np.array([e.value for e in exact]), where, scale[:, 0]),
            Comparison(energy.gradient(nodes), np.array([e.gradient for e in exact]), deep, scale[:, 1:2]),
            Comparison(hessian, np.array([e.hessian.ravel() for e in exact]), deep, scale[:, 2:]),
        ]  # fmt: skip
    return found


@accuracy(
    "quantities.GroupEnergy.blocks",
    "Fourier coefficients of nodes, and nodes from them",
    against="characters exp(2πi kg/M) at 50 digits",
    grid="cyclic groups of order 2, 7 and 12; 4 nodes at each of 4 scales; errors relative to the node",
    also=("quantities.GroupEnergy.from_blocks", "quantities.GroupEnergy.matrices"),
)
def fourier_coefficients() -> list[Comparison]:
    """There and back."""
    found = []
    for M in (2, 7, 12):
        energy = quantities.GroupEnergy(groups.cyclic(M))
        nodes = _nodes(4, 2 * M)
        blocks, k = energy.blocks(nodes), np.arange(M)
        F = apply(mp.expjpi, 2 * numbers(np.outer(k, k) % M) / M) / mp.sqrt(M)
        exact = numbers(nodes).reshape(-1, 2, M) @ F.T
        back = numbers(blocks) @ apply(mp.conj, F)
        scale = np.array([length(w) for w in nodes], dtype=object)
        where = {"order": M, "node": np.arange(len(nodes))[:, None]}
        matrices = np.concatenate(
            [np.stack([A, B], 1)[..., 0] for A, B in energy.matrices(nodes)], -1
        )
        for value, true in ((blocks, exact), (matrices, exact), (energy.from_blocks(blocks), back)):
            both = value.reshape(len(nodes), -1), true.reshape(len(nodes), -1)
            found.append(Comparison(*both, where, scale=scale[:, None]))
    return found


@accuracy(
    "quantities.layer_gradients",
    "Activations and gradients of every layer",
    against="the chain rule at 50 digits",
    grid="3 layers of 4 units, 5 samples; tanh and sin; the three residual connections; weights of "
    "4 scales from 1e-3 to 3; "
    "errors relative to each layer's largest entries",
)
def layer_gradients() -> list[Comparison]:
    """What each layer is asked to do."""
    found = []
    for scale in (1e-3, 0.1, 1.0, 3.0):
        rng = np.random.default_rng(0)
        X, V, Y = (rng.standard_normal(shape) for shape in ((5, 4), (4, 2), (5, 2)))
        W = [scale * rng.standard_normal((4, 4)) for _ in range(3)]
        for name in ("tanh", "sine"):
            for residual in ("none", "outside", "inside"):
                result = quantities.layer_gradients(X, W, V, Y, name, residual)
                exact, sizes = _backpropagated(X, W, V, Y, name, residual)
                value = flat([*result.features, *result.gradients, result.error])
                where = {"scale": scale, "activation": name, "residual": residual}
                found.append(Comparison(value, exact, where, scale=sizes))
    return found


def _backpropagated(
    X: Any, W: Any, V: Any, Y: Any, name: str, residual: str
) -> tuple[np.ndarray, np.ndarray]:
    sigma, slope, _ = _activation(name)
    X, V, Y, W = numbers(X), numbers(V), numbers(Y), [numbers(w) for w in W]
    F, gates = [X], []
    for layer, w in enumerate(W):
        joined = residual if layer else "none"
        z = F[-1] @ w + (F[-1] if joined == "inside" else 0)
        F.append(apply(sigma, z) + (F[-1] if joined == "outside" else 0))
        gates.append(apply(slope, z))
    E = Y - F[-1] @ V
    E = E - np.sum(E, axis=0) / len(E)
    G = [E @ V.T]
    for layer in (2, 1):
        gated = gates[layer] * G[0]
        passed = {"none": 0, "outside": G[0], "inside": gated}[residual]
        G.insert(0, gated @ W[layer].T + passed)
    parts = [*F[1:], *G, E]
    sizes = flat([np.full(part.shape, length(part), dtype=object) for part in parts])
    return flat(parts), sizes
