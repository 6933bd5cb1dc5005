"""The node of largest energy for one product: focused on a pair, or spread."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.checks.accuracy._matrix import length, numbers
from lazyrich.core import Comparison, accuracy

NAMES = ("relu", "quadratic", "cubic", "tanh", "hyperbola")
IN_WORDS = (
    "ReLU, x², x³, tanh, √(1 + x²); 8 random distributions of 2 to 6 pairs, some with "
    "probabilities of 1e-6"
)


def _cubic(x: Any) -> Any:
    return x**3


def _hyperbola(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.sqrt(1 + x**2)


def _activation(name: str) -> Any:
    return {"cubic": _cubic, "hyperbola": _hyperbola}.get(name, name)


def _ratio(name: str, x: Any) -> Any:
    """φ(x) = σ′(x)/x."""
    return {
        "relu": lambda: 1 / x, "quadratic": lambda: mp.mpf(2), "cubic": lambda: 3 * x,
        "tanh": lambda: mp.sech(x) ** 2 / x, "hyperbola": lambda: 1 / mp.sqrt(1 + x**2),
    }[name]()  # fmt: skip


def _value(name: str, x: Any) -> Any:
    return {
        "relu": lambda: x, "quadratic": lambda: x**2, "cubic": lambda: x**3,
        "tanh": lambda: mp.tanh(x), "hyperbola": lambda: mp.sqrt(1 + x**2),
    }[name]()  # fmt: skip


@functools.cache
def _probabilities() -> tuple[np.ndarray, ...]:
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        p = rng.random(2 + seed % 5) * np.where(np.arange(2 + seed % 5) == 1, 1e-6 ** (seed % 2), 1)
        found.append(p / p.sum())
    return tuple(found)


def _pair_sums(name: str, p: np.ndarray) -> list[Any]:
    """s_g of the best node: focused for φ that does not fall; else p_g φ(s_g) = 2λ and Σ s² = 2."""
    q = numbers(p)
    if name in ("quadratic", "cubic"):
        return [mp.sqrt(2) if g == int(np.argmax(p)) else mp.mpf(0) for g in range(p.size)]
    if name == "relu":
        return list(mp.sqrt(2) * q / length(q))

    def sums(multiplier: Any) -> list[Any]:
        return [_inverse(name, 2 * multiplier / each) for each in q]

    low, high = (_ratio(name, x) * max(q) / 2 for x in (mp.sqrt(2), mp.sqrt(mp.mpf(2) / p.size)))
    found = mp.findroot(
        lambda m: mp.fsum(s**2 for s in sums(m)) - 2, (low, high), solver="anderson", tol=1e-60
    )
    return sums(found)


def _inverse(name: str, level: Any) -> Any:
    if name == "hyperbola" and level >= 1:
        return mp.mpf(0)
    low, high = mp.mpf(10) ** -20, mp.mpf(4)
    return mp.findroot(
        lambda x: _ratio(name, x) / level - 1,
        (low, high),
        solver="anderson",
        tol=1e-60,
        maxsteps=400,
    )


def _cases() -> Iterator[tuple[str, np.ndarray, "theory.Memorisation", dict[str, Any]]]:
    for name in NAMES:
        for seed, p in enumerate(_probabilities()):
            where = {"activation": name, "distribution": seed}
            yield name, p, theory.Memorisation(p, _activation(name)), where


@accuracy(
    "theory.Memorisation.pair_sums",
    "What the best node receives from each pair, and its weights",
    against="the conditions for a maximum, solved at 50 digits",
    grid=IN_WORDS,
    also=("theory.Memorisation.weights", "theory.Memorisation.local_maxima"),
    seconds=8,
)
def pair_sums() -> Iterator[Comparison]:
    """Weights are half of the sums; local maxima are counted."""
    for name, p, found, where in _cases():
        true = _pair_sums(name, p)
        yield Comparison(found.pair_sums, np.array(true, dtype=object), where)
        M = p.size
        weights = np.array([mp.mpf(0)] * (2 * M), dtype=object)
        for g in range(M):
            weights[g] = weights[M + (M - 1 - g) % M] = true[g] / 2  # g⁻¹h for h = M − 1 in Z_M
        yield Comparison(
            found.weights(groups.cyclic(M), M - 1), weights, where | {"part": "weights"}
        )
        many = {"quadratic": 1, "cubic": M}.get(name, 0)
        yield Comparison(len(found.local_maxima), many, where | {"part": "local maxima"})


@accuracy(
    "theory.Memorisation.objective",
    "Objective, multiplier and energy of the best node",
    against="the conditions for a maximum, solved at 50 digits",
    grid=IN_WORDS,
    also=("theory.Memorisation.multiplier", "theory.Memorisation.energy"),
    seconds=8,
)
def objective() -> Iterator[Comparison]:
    """The energy is half the square of the objective."""
    for name, p, found, where in _cases():
        s, best = _pair_sums(name, p), int(np.argmax(p))
        total = mp.fsum(each * _value(name, x) for each, x in zip(numbers(p), s, strict=True))
        true = {
            "objective": total, "energy": total**2 / 2,
            "multiplier": mp.mpf(p[best]) * _ratio(name, s[best]) / 2,
        }  # fmt: skip
        for part, value in true.items():
            yield Comparison(getattr(found, part), value, where | {"part": part})


@accuracy(
    "theory.Memorisation.slope_ratio",
    "φ(x) = σ′(x)/x",
    against="derivatives by hand",
    grid="ReLU, x², x³, tanh, √(1 + x²); x: 40 from 1e-12 to 10",
    explanation="JAX differentiates tanh as 1 − tanh², which cancels where tanh is near 1. Solutions use "
    "x ≤ √2, where nothing is lost.",
    seconds=1,
)
def slope_ratio() -> list[Comparison]:
    """By automatic differentiation."""
    x = decades(1e-12, 10, 40)

    def condition(name: str, x: Any) -> Any:
        return mp.cosh(x) ** 2 if name == "tanh" else 1

    return [
        Comparison(
            theory.Memorisation([0.6, 0.4], _activation(name)).slope_ratio(x), _ratio,
            {"activation": name, "x": x}, condition=condition,
        )
        for name in NAMES
    ]  # fmt: skip
