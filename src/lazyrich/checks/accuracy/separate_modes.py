"""Modes that learn on their own: the linear model and the diagonal network."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy.scalar_network import growth_of
from lazyrich.checks.accuracy.scalar_network_numbers import reaching
from lazyrich.core import Comparison, accuracy

TIMES = decades(1e-6, 1e6, 25, zero=True)
SHARES = (1e-9, 0.1, 0.5, 0.9, 1 - 1e-9)
EXACT = "the corrected Theorem H.1 for one feature, at 120 digits and more"
DIAGONAL = (
    "a: 1e-100, 1e-20, 1e-3, 1, 30; b/a: ±1, 0, 0.3, −0.7, 1 + 1e-9, −1 − 1e-9; S: −2, 0, 1e-6, 1, 40; "
    "E[x²]: 0, 0.01, 1"
)
DIAGONAL_TIMES = f"{DIAGONAL}; t: 0 and 25 from 1e-6 to 1e6"
LINEAR = "S: −3, 1e-9, 1, 1e6; E[φ²]: 0, 1e-6, 0.3, 50; θ(0): −2, 0, 1e-12, 0.7"
LINEAR_TIMES = f"{LINEAR}; t: 0 and 25 from 1e-6 to 1e6"


def _linear(targets: Any = (-3.0, 1e-9, 1.0, 1e6)) -> tuple["theory.LinearModes", dict[str, Any]]:
    S, v, start = mesh(targets, [0.0, 1e-6, 0.3, 50.0], [-2.0, 0.0, 1e-12, 0.7])
    return theory.LinearModes(S, v, start), {"target": S, "variance": v, "start": start}


@accuracy(
    "theory.LinearModes.modes",
    "Coefficients θ(t) of a linear model, and what is left",
    against="θ = S + (θ(0) − S) exp(−E[φ²]t)",
    grid=f"{LINEAR_TIMES}; coefficients relative to the sum of their two parts",
    also=("theory.LinearModes.residual",),
    seconds=2,
)
def coefficients() -> list[Comparison]:
    """A coefficient may go through zero."""
    modes, where = _linear()
    t = TIMES[:, None]
    where |= {"time": t}

    def size(S: Any, v: Any, start: Any, t: Any) -> Any:
        return abs(start) * mp.exp(-v * t) + abs(S) * (1 - mp.exp(-v * t))

    def rest(S: Any, v: Any, start: Any, t: Any) -> Any:
        return (S - start) * mp.exp(-v * t)

    return [
        Comparison(modes.modes(TIMES), lambda *p: p[0] - rest(*p), where, scale=size),
        Comparison(modes.residual(TIMES), rest, where),
    ]


@accuracy(
    "theory.LinearModes.loss", "Loss of a linear model, all modes together",
    against="the sum over modes", grid=f"{LINEAR_TIMES}, modes of one E[φ²] at a time",
)  # fmt: skip
def linear_loss() -> Comparison:
    """To the smallest double."""
    _, where = _linear()
    S, start = np.unique(np.stack([where["target"], where["start"]]), axis=1)
    v = np.array([1e-6, 0.3, 50.0])
    values = np.stack([theory.LinearModes(S, each, start).loss(TIMES) for each in v])

    def reference(v: Any, t: Any) -> Any:
        squares = mp.fsum(
            (mp.mpf(s) - b) ** 2 for s, b in zip(S.tolist(), start.tolist(), strict=True)
        )
        return v * squares * mp.exp(-2 * v * t) / 2

    return Comparison(values, reference, {"variance": v[:, None], "time": TIMES})


@accuracy(
    "theory.LinearModes.saturation_time", "When a linear mode reaches a share of its target",
    against="its formula", grid=f"{LINEAR}; 5 shares from 1e-9 to 1 − 1e-9",
)  # fmt: skip
def linear_saturation() -> list[Comparison]:
    """0 where a mode is there at the start, infinite where it never moves."""
    modes, where = _linear()

    def reference(S: Any, v: Any, start: Any, share: Any) -> Any:
        missing = share - start / S
        if missing <= 0:
            return mp.mpf(0)
        return mp.log((1 - start / S) / (1 - share)) / v if v else mp.inf

    return [
        Comparison(modes.saturation_time(share).time, reference, where | {"share": share})
        for share in SHARES
    ]


@accuracy(
    "theory.LinearModes.stages",
    "Separation of the stages of modes",
    against="ratios of logarithms of the shares: sigmoids for the diagonal network, two layers and skills",
    grid="8 modes, rates from 1e-3 to 10; starts at 1e-12, 1e-3 and 0.05 of the target, or 0",
    also=(
        "theory.BalancedModes.stages", "theory.DiagonalNetwork.stages", "theory.Emergence.stages",
        "theory.LinearNetworkModes.stages",
    ),
    seconds=2,
)  # fmt: skip
def stages() -> list[Comparison]:
    """Begins, ends and separations, from a tenth to nine tenths of the target."""
    rates = np.geomspace(10.0, 1e-3, 8)
    found = [
        _stages(theory.LinearModes(1.0, rates).stages(), rates, "linear", lambda f: -mp.log1p(-f))
    ]
    for start in (1e-12, 1e-3, 0.05):
        weight = float(np.sqrt(start))
        of_weight = functools.partial(_logit, mp.mpf(weight) ** 2)
        diagonal = theory.DiagonalNetwork(1.0, first=weight, second=weight, variance=rates)
        found.append(_stages(diagonal.stages(), rates, f"diagonal, {start:g}", of_weight))
        alone = theory.LinearNetworkModes(
            np.diag(rates), start * rates, basis=(np.eye(8), np.eye(8))
        )
        of_strength = functools.partial(_logit, start)
        found.append(_stages(alone.stages(), rates, f"two layers, {start:g}", of_strength))
        sigmoids = theory.BalancedModes(rates, start=start * rates, imbalance=0.0).stages()
        found.append(_stages(sigmoids, rates, f"balanced, {start:g}", of_strength))
        rare = rates / 20  # frequencies sum to at most 1
        skills = theory.Emergence(rare, start=start).stages()
        found.append(_stages(skills, rare, f"skills, {start:g}", of_strength))
    return [comparison for each in found for comparison in each]


def _logit(start: Any, share: Any) -> Any:
    """The time of a sigmoid of rate 1 from one share to another."""
    return mp.log((1 / mp.mpf(start) - 1) * share / (1 - share)) / 2


def _stages(
    found: "theory.ModeStages", rates: np.ndarray, model: str, clock: Callable[[Any], Any]
) -> list[Comparison]:
    lower, upper = clock(mp.mpf(0.1)), clock(mp.mpf(0.9))

    def separation(model: str, rate: Any, following: Any) -> Any:
        return lower / upper * rate / following

    where = {"model": model, "rate": rates}
    apart = {"model": model, "rate": rates[:-1], "next rate": rates[1:]}
    return [
        Comparison(found.begin, lambda model, rate: lower / rate, where),
        Comparison(found.end, lambda model, rate: upper / rate, where),
        Comparison(found.separation, separation, apart),
    ]


def _diagonal(
    targets: Any = (-2.0, 0.0, 1e-6, 1.0, 40.0), variances: Any = (0.0, 0.01, 1.0)
) -> tuple["theory.DiagonalNetwork", dict[str, Any]]:
    a, ratio, S, v = mesh(
        [1e-100, 1e-20, 1e-3, 1.0, 30.0], [1, -1, 0, 0.3, -0.7, 1 + 1e-9, -1 - 1e-9], targets, variances
    )  # fmt: skip
    network = theory.DiagonalNetwork(S, first=a, second=a * ratio, variance=v)
    return network, {"first": a, "second": a * ratio, "target": S, "variance": v}


def _squares(a: Any, b: Any) -> tuple[Any, Any]:
    return (a + b) ** 2 / 2, (a - b) ** 2 / 2


def _flow(result: Callable[..., Any], *, agreeing: bool = False) -> Callable[..., Any]:
    """A function of growing part, decaying part, start and γ, with as many digits as tiny starts take."""

    def reference(a: Any, b: Any, S: Any, v: Any, t: Any) -> Any:
        digits = 120 - 4 * min(int(mp.log10(abs(a))), 0)
        if agreeing:  # output and target, in as many digits
            K = mp.hypot(S, (a - b) * (a + b) / 2)
            digits += int(min(K * v * t, 900))
        with mp.workdps(digits):
            return result(a, b, S, growth_of(*_squares(a, b), S, v * t))

    return reference


def _product(a: Any, b: Any, S: Any, gamma: Any) -> Any:
    A, B = _squares(a, b)
    return (A * gamma - B / gamma) / 2


def _product_size(a: Any, b: Any, S: Any, gamma: Any) -> Any:
    A, B = _squares(a, b)
    return min((A * gamma + B / gamma) / 2, abs(S)) if S else (A * gamma + B / gamma) / 2


@accuracy(
    "theory.DiagonalNetwork.modes",
    "Product ab of the layers of a mode",
    against=EXACT,
    grid=f"{DIAGONAL_TIMES}; errors relative to the smaller of the target and both parts of ab",
    seconds=12,
)
def product() -> Comparison:
    """The product goes through zero where it starts against the target."""
    network, where = _diagonal()
    where |= {"time": TIMES[:, None]}
    return Comparison(network.modes(TIMES), _flow(_product), where, scale=_flow(_product_size))


@accuracy(
    "theory.DiagonalNetwork.residual", "What a mode lacks to its target, S − ab",
    against=f"the difference; {EXACT}, up to 1500 where product and target agree",
    grid=f"{DIAGONAL_TIMES}; errors relative to the target where a mode starts there",
    explanation="Where a mode starts close to its target, what it lacks is a small difference, S − ab.",
    seconds=16,
)  # fmt: skip
def residual() -> Comparison:
    """To the smallest double."""
    network, where = _diagonal()
    reference = _flow(lambda a, b, S, gamma: S - _product(a, b, S, gamma), agreeing=True)

    def is_there(a: Any, b: Any, S: Any) -> bool:
        return abs(S - a * b) <= mp.mpf(1e-12) * abs(S)

    def at_target(a: Any, b: Any, S: Any, v: Any, t: Any) -> Any:
        return abs(S) if is_there(a, b, S) else mp.mpf(0)

    def condition(a: Any, b: Any, S: Any, v: Any, t: Any) -> Any:
        return mp.mpf(1) if is_there(a, b, S) else abs(a * b / (S - a * b))

    where |= {"time": TIMES[:, None]}
    return Comparison(network.residual(TIMES), reference, where, at_target, condition)


@accuracy(
    "theory.DiagonalNetwork.layers",
    "Both layers of a mode",
    against=EXACT,
    grid=f"{DIAGONAL}; t: 0 and 8 from 1e-3 to 1e3; errors relative to |a + b|/2 + |a − b|/2",
    seconds=8,
)
def layers() -> list[Comparison]:
    """A layer may change its sign."""
    network, where = _diagonal()
    times = decades(1e-3, 1e3, 8, zero=True)
    values = network.layers(times)
    where |= {"time": times[:, None]}

    def weight(sign: int, size: bool = False) -> Any:
        def layer(a: Any, b: Any, S: Any, gamma: Any) -> Any:
            up, down = (a + b) / 2 * mp.sqrt(gamma), (a - b) / 2 / mp.sqrt(gamma)
            return abs(up) + abs(down) if size else up + sign * down

        return _flow(layer)

    return [
        Comparison(value, weight(sign), where, scale=weight(sign, size=True))
        for value, sign in zip(values, (1, -1), strict=True)
    ]


@accuracy(
    "theory.DiagonalNetwork.loss", "Loss of a diagonal network, all modes together",
    against=f"the sum over modes; {EXACT}", grid="28 modes with S = 1 and 40; 13 times from 0 to 1e6",
    seconds=2,
)  # fmt: skip
def diagonal_loss() -> Comparison:
    """Modes that are stuck keep it from vanishing."""
    a, ratio, S = mesh([1e-20, 1e-3, 1.0], [1, -1, 0, 0.3, 1 + 1e-9], [1.0, 40.0])
    v, times = np.resize([1.0, 0.01, 0.3], a.size), TIMES[::2]
    rest = _flow(lambda a, b, S, gamma: S - _product(a, b, S, gamma), agreeing=True)

    def reference(t: Any) -> Any:
        modes = zip(*(map(mp.mpf, part.tolist()) for part in (a, a * ratio, S, v)), strict=True)
        return mp.fsum(mode[3] * rest(*mode, t) ** 2 for mode in modes) / 2

    values = theory.DiagonalNetwork(S, first=a, second=a * ratio, variance=v).loss(times)
    return Comparison(values, reference, {"time": times})


@accuracy(
    "theory.DiagonalNetwork.saturation_time",
    "When a mode reaches a share of its target; limit and conserved difference",
    against="growth from the product, time from the growth, at 520 digits",
    grid=f"{DIAGONAL}, S = 0 left out; 5 shares from 1e-9 to 1 − 1e-9",
    also=("theory.DiagonalNetwork.limit", "theory.DiagonalNetwork.conserved"),
    seconds=6,
)
def saturation_time() -> list[Comparison]:
    """Infinite where a mode is stuck."""
    network, where = _diagonal()
    found = [
        Comparison(network.limit(), _limit, where),
        Comparison(network.conserved, lambda a, b, S, v: b * b - a * a, where),
    ]
    network, where = _diagonal(targets=(-2.0, 1e-6, 1.0, 40.0))
    for share in SHARES:
        times = network.saturation_time(share).time
        found.append(Comparison(times, _saturation, where | {"share": share}))
    return found


def _limit(a: Any, b: Any, S: Any, v: Any) -> Any:
    stuck = a == -b if S > 0 else a == b
    return a * b if not v else 0 if stuck else S


def _saturation(a: Any, b: Any, S: Any, v: Any, share: Any) -> Any:
    with mp.workdps(520):
        if a * b / S >= share:
            return mp.mpf(0)
        return reaching(*_squares(a, b), S, 1, share * S) / v if v else mp.inf
