"""Linear networks of any depth from aligned weights."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mp
from lazyrich.checks.accuracy._matrix import entries, exact
from lazyrich.core import Comparison, accuracy

RHO = np.array([30.0, 3.0, 1.0, 1e-2, 1e-5])
STARTS = (1e-12, 1e-4, 0.5)
TIMES = decades(1e-3, 1e6, 13, zero=True)
DEEP_TIMES = decades(1e-2, 1e4, 7)
SHARES = (1e-3, 0.1, 0.5, 0.9, 1 - 1e-9)
EXACT = (
    "the sigmoid for two layers; for more, Newton's method on the integral of 1/(s^(2−2/L)(ρ − s))"
)
GRID = (
    "ρ: 30, 3, 1, 0.01, 1e-5; s(0): 1e-12, 1e-4, 0.5 (above some ρ); L = 2: t: 0 and 13 from 1e-3 to 1e6; "
    "L = 3, 4, 7: 7 from 0.01 to 1e4"
)


def _network(start: float, depth: int) -> "theory.LinearNetworkModes":
    return theory.LinearNetworkModes(np.diag(RHO), start, depth, basis=(np.eye(5), np.eye(5)))


def _clock(u: Any, c: Any) -> Any:
    """∫ du/(u^c|1 − u|) for u = s/ρ, from a constant below or above 1."""
    if u < 1:
        return u ** (1 - c) / (1 - c) * mp.hyp2f1(1, 1 - c, 2 - c, u)
    return u**-c / c * mp.hyp2f1(1, c, 1 + c, 1 / u)


def _fractions(u: Any, depth: int) -> Any:
    """The same in partial fractions of x = u^(1/L), which is faster near 1."""
    x = u ** (mp.mpf(1) / depth)
    total = mp.log(abs(1 - x))
    for k in range(1, depth):
        root = mp.expjpi(mp.mpf(2 * k) / depth)
        total += mp.re(root**2 * mp.log(1 - x / root))
    return depth * x ** (2 - depth) / (2 - depth) - total


@functools.cache
def _rest(start: float, rho: float, depth: int, time: float) -> tuple[Any, Any]:
    """The strength s and ρ − s, with as many digits as ρ − s loses."""
    s0, target, t = mp.mpf(start), mp.mpf(rho), mp.mpf(time)
    goal = _goal(
        s0, target, depth, t
    )  # beyond 0 about the logarithm of ρ/(ρ − s), in base e^½ and below
    if goal > 3000:
        return target, mp.mpf(0)
    with mp.workdps(60 + int(min(max(goal, 0), 340))):
        if depth == 2:
            s = target / (1 + (target / s0 - 1) * mp.exp(-2 * target * t))
            return s, target - s
        return _newton(s0 / target, _goal(s0, target, depth, t), depth, target)


def _goal(s0: Any, target: Any, depth: int, t: Any) -> Any:
    """The clock after this time."""
    begin = mp.log(s0 / abs(target - s0)) if depth == 2 else _fractions(s0 / target, depth)
    return begin + depth * target ** (2 - mp.mpf(2) / depth) * t


def _newton(first: Any, goal: Any, depth: int, target: Any) -> tuple[Any, Any]:
    """The root in ℓ = log(u/|1 − u|), in which the clock is nearly straight."""
    below, power = first < 1, 2 - mp.mpf(2) / depth
    low, high = mp.log(first / abs(1 - first)), mp.mpf(4000)

    def share(ell: Any) -> Any:
        return 1 / (1 + mp.exp(-ell)) if below else 1 / (1 - mp.exp(-ell))

    ell = low
    for _ in range(200):
        u = share(ell)
        value = goal - _fractions(u, depth)
        low, high = (ell, high) if value > 0 else (low, ell)
        step = value * u ** (power - 1)  # dT/dℓ = u^{1−c} on both sides
        after = ell + step
        after = after if low < after < high else (low + high) / 2
        if abs(after - ell) < mp.mpf(10) ** -45:
            break
        ell = after
    u = share(ell)
    return target * u, target * (1 - u)


def _cases() -> Iterator[tuple[Any, dict[str, Any], Any, np.ndarray, np.ndarray]]:
    """Network, where, times, s and ρ − s."""
    for depth in (2, 3, 4, 7):
        times = TIMES if depth == 2 else DEEP_TIMES
        for start in STARTS:
            both = [[_rest(start, rho, depth, t) for rho in RHO.tolist()] for t in times.tolist()]
            s, rest = (np.array([[each[k] for each in row] for row in both]) for k in (0, 1))
            where = {"depth": depth, "start": start}
            yield _network(start, depth), where, times, s, rest


def _change(s: np.ndarray, rest: np.ndarray, times: np.ndarray, depth: int) -> np.ndarray:
    """By how much s moves if time is longer by a share, t·ds/dt."""
    power = 2 - mp.mpf(2) / depth
    speed = np.array([[depth * v**power for v in row] for row in s]) * np.abs(rest)
    return speed * times[:, None]


@accuracy(
    "theory.LinearNetworkModes.modes",
    "Strengths of the modes of a linear network, and what they lack",
    against=EXACT,
    grid=GRID,
    explanation="In deep networks small modes escape late, at ρt of 1e4 and more, and then fast: "
    "the rounding of such times is amplified.",
    also=("theory.LinearNetworkModes.residual", "theory.LinearNetworkModes.layer_strengths"),
    seconds=15,
)
def modes() -> Iterator[Comparison]:
    """Modes that start above their target too; one without a target; a start from given weights."""
    for network, where, times, s, rest in _cases():
        where |= {"time": times[:, None], "singular value": RHO}
        change = _change(s, rest, times, network.depth)
        of_rest = change / np.where(rest == 0, mp.inf, np.abs(rest))
        yield Comparison(network.modes(times), s, where, condition=change / s)
        yield Comparison(network.residual(times), rest, where, condition=of_rest)
        roots = np.array([[v ** (mp.mpf(1) / network.depth) for v in row] for row in s])
        yield Comparison(network.layer_strengths(times), roots, where, condition=change / s)
    yield from _vanishing()


def _vanishing() -> Iterator[Comparison]:
    for depth in (2, 3, 7):
        network = theory.LinearNetworkModes(
            np.diag([1.0, 0.0]), 0.5, depth, basis=(np.eye(2), np.eye(2))
        )
        p = 2 - mp.mpf(2) / depth

        def reference(t: Any, p: Any = p, depth: int = depth) -> Any:
            return mp.mpf(0.5) * (1 + depth * p * mp.mpf(0.5) ** p * t) ** (-1 / p)

        yield Comparison(network.modes(TIMES)[:, 1], reference, {"time": TIMES})


@accuracy(
    "theory.LinearNetworkModes.loss",
    "Loss, rank and product of a linear network",
    against=EXACT,
    grid=f"{GRID}; entries of the product relative to the largest strength",
    explanation="In deep networks small modes escape late, at ρt of 1e4 and more, and then fast: "
    "the rounding of such times is amplified.",
    also=(
        "theory.LinearNetworkModes.product", "theory.LinearNetworkModes.rank",
        "theory.LinearNetworkModes.from_weights",
    ),
    seconds=15,
)  # fmt: skip
def loss() -> Iterator[Comparison]:
    """Products in turned bases; solutions that start from given layers."""
    bases = [np.linalg.qr(np.random.default_rng(k).standard_normal((5, 5)))[0] for k in (0, 1)]
    for network, where, times, s, rest in _cases():
        total = np.array([mp.fsum(v**2 for v in row) / 2 for row in rest])
        change = 2 * np.sum(_change(s, rest, times, network.depth) * np.abs(rest), axis=1)
        size = np.sum(rest**2, axis=1)
        condition = change / np.where(size == 0, mp.inf, size)
        yield Comparison(network.loss(times), total, where | {"time": times}, condition=condition)
        ranks = np.array([sum(v > mp.mpf(0.01) * 30 for v in row) for row in s])
        yield Comparison(network.rank(times), ranks, where | {"time": times, "part": "rank"})
        yield from _products(where, times, s, *bases)
    for start, depth in ((1e-4, 2), (1e-4, 3)):
        layer = np.eye(5) * start ** (1 / depth)
        found = theory.LinearNetworkModes.from_weights(np.diag(RHO), [layer] * depth)
        begin = float(found.start[0])
        true = np.array(
            [[_rest(begin, rho, depth, t)[0] for rho in RHO.tolist()] for t in (0.1, 10.0)]
        )
        where = {"layers": depth, "start": start}
        yield Comparison(found.start, mp.mpf(layer[0, 0]) ** depth, where)
        yield Comparison(found.modes([0.1, 10.0]), true, where)


def _products(where: Any, times: Any, s: Any, left: Any, right: Any) -> Iterator[Comparison]:
    network = theory.LinearNetworkModes(
        right @ np.diag(RHO) @ left.T, where["start"], where["depth"], basis=(left, right)
    )
    U, V = exact(left), exact(right)
    change = _change(s, RHO - s, times, where["depth"])
    conditions = np.max(change, axis=1) / np.max(s, axis=1)
    for value, row, t, condition in zip(network.product(times), s, times, conditions, strict=True):
        true = U * mp.diag(row.tolist()) * V.T
        yield Comparison(
            value, entries(true), where | {"time": t}, scale=max(row), condition=condition
        )


@accuracy(
    "theory.LinearNetworkModes.saturation_time",
    "When a mode of a linear network reaches a share of its singular value",
    against="logarithms for two layers, a ₂F₁ for more",
    grid="ρ: 30, 3, 1, 0.01, 1e-5; s(0): 1e-12, 1e-4, 0.5; L = 2, 3, 4, 7; 5 shares from 1e-3 to 1 − 1e-9",
    seconds=2,
)
def saturation_time() -> Iterator[Comparison]:
    """0 where a mode starts beyond."""

    def reference(rho: Any, start: Any, depth: int, share: Any) -> Any:
        if start >= share * rho:
            return mp.mpf(0)
        if depth == 2:
            return mp.log((rho / start - 1) * share / (1 - share)) / (2 * rho)
        power = 2 - mp.mpf(2) / depth
        spent = _clock(share, power) - _clock(start / rho, power)
        return spent / (depth * rho**power)

    for depth in (2, 3, 4, 7):
        for start in STARTS:
            network = _network(start, depth)
            for share in SHARES:
                where = {"singular value": RHO, "start": start, "depth": depth, "share": share}
                yield Comparison(network.saturation_time(share).time, reference, where)
