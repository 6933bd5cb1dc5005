"""Units added to a layer without changing its map, and relations between units that gradient flow keeps."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import models, theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import flat, length, numbers
from lazyrich.core import Comparison, accuracy

SCALES = [1e-90, 1e-6, 1.0, 1e6, 1e90]
FACTORS = np.array([0.3, -1.7, 0.1])


def _units(scale: float, number: int = 3) -> "models.Units":
    rng = np.random.default_rng(number)
    return models.Units(scale * rng.standard_normal((number, 4)), rng.standard_normal((number, 2)))


def _kind() -> Any:
    return models.TwoLayer(4, 2).kinds[0]


def _constructions() -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Each construction with the factors of Eq. 7 that the paper gives it."""
    one = np.array([0.0, 1.0, 0.0])
    yield theory.SplitUnit(1, share=0.3), one, 0.3 * one
    yield theory.ZeroUnit(), 0 * one, 0 * one
    yield theory.ProportionalUnit(1, 0.7, -0.2), 0.7 * one, -0.2 * one
    yield theory.DependentUnit(FACTORS, FACTORS[::-1]), FACTORS, FACTORS[::-1].copy()


_NAMES = ("SplitUnit", "ZeroUnit", "ProportionalUnit", "DependentUnit")


@accuracy(
    "theory.embed",
    "Units added to a layer without changing its map",
    against="Eq. 4 to 7 of saddles at 50 digits",
    grid="the four constructions on 3 random units; incoming weights of 5 scales from 1e-90 to "
    "1e90; errors relative to the layer",
    also=tuple(f"theory.{name}.{method}" for name in _NAMES for method in ("apply", "factors")),
)
def constructions() -> list[Comparison]:
    """New units, and what the others keep."""
    found, network = [], models.TwoLayer(4, 2)
    for scale in SCALES:
        units = _units(scale)
        u, v = (numbers(part) for part in units)
        for construction, gamma_u, gamma_v in _constructions():
            gu, gv = numbers(gamma_u), numbers(gamma_v)
            new_u, new_v = gu @ u, gv @ v
            exact = flat([u, new_u, v - np.multiply.outer(gu, new_v), new_v])
            sizes = flat([np.full(16, length(u)), np.full(8, length(v))])
            where = {"construction": type(construction).__name__, "scale": scale}
            weights = models.TwoLayerWeights(units.incoming.T, units.outgoing)
            wide = theory.embed(network, weights, construction)
            applied = construction.apply(units, _kind())
            for value in ((wide.first.T, wide.second), (applied.incoming, applied.outgoing)):
                found.append(Comparison(flat(value), exact, where, scale=sizes))
            factors = flat(construction.factors(3))
            found.append(Comparison(factors, flat([gu, gv]), where))
    return found


def _manifolds() -> Iterator[tuple[Any, np.ndarray]]:
    """Each manifold with the combination of the first three units that the last one equals."""
    one = np.array([0.0, 1.0, 0.0])
    yield theory.EqualManifold(1), one
    yield theory.ZeroManifold(), 0 * one
    yield theory.ProportionalManifold(of=1, factor=0.7), 0.7 * one
    yield theory.DependentManifold(FACTORS), FACTORS


_MANIFOLDS = ("EqualManifold", "ZeroManifold", "ProportionalManifold", "DependentManifold")


@accuracy(
    "theory.EqualManifold.project",
    "Units on an invariant manifold: distance, nearest point, reduction",
    against="θ − n(nᵀθ)/nᵀn and Eq. 28 of saddles at 50 digits",
    grid="the four manifolds, 4 random units; incoming weights of 5 scales from 1e-90 to 1e90; "
    "errors relative to the layer",
    also=tuple(
        f"theory.{name}.{method}"
        for name in _MANIFOLDS
        for method in ("project", "residual", "reduce", "factors")
        if (name, method) != ("EqualManifold", "project")
    ),
)
def manifolds() -> list[Comparison]:
    """The last unit is a combination of the others."""
    found = []
    for scale in SCALES:
        units = _units(scale, 4)
        theta = np.concatenate([numbers(part) for part in units], axis=1)
        for manifold, gamma in _manifolds():
            g = numbers(np.append(gamma, 0.0))
            normal = -g
            normal[-1] = mp.mpf(1)
            defect = normal @ theta
            nearest = theta - np.multiply.outer(normal, defect) / (normal @ normal)
            where = {"manifold": type(manifold).__name__, "scale": scale}
            size, sizes = (
                length(theta),
                np.repeat([length(theta[:, :4]), length(theta[:, 4:])], [4, 2]),
            )
            projected = manifold.project(units)
            found += [
                Comparison(np.concatenate(projected, axis=1), nearest, where, scale=sizes),
                Comparison(manifold.residual(units), length(defect), where, scale=size),
                Comparison(manifold.factors(4), g, where),
                _reduction(manifold, projected, g, where, sizes),
            ]
    return found


def _reduction(manifold: Any, units: Any, g: np.ndarray, where: Any, sizes: Any) -> Comparison:
    """What the last unit writes is shared among the others: v_j + γ_j Σ_k γ_k v_k."""
    u, v = (numbers(part) for part in units)
    exact = np.concatenate([u, v + np.multiply.outer(g, g @ v)], axis=1)[:3]
    values = np.concatenate(manifold.reduce(units, _kind()), axis=1)
    return Comparison(values, exact, where, scale=sizes)
