"""Moments and limits of the two-layer network with one input and one output."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy.scalar_network import (
    STARTS_IN_WORDS,
    TARGETS,
    networks,
    precise,
    state,
)
from lazyrich.core import Comparison, accuracy

SHARES = np.array([1e-12, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 1e-12])


def reaching(A: Any, B: Any, S: Any, Z: Any, output: Any) -> Any:
    """When the output is this: γ from (Aγ − B/γ)/2, then T from γ, and t from tanh(Rt/Z) = RT."""
    if S < 0:
        A, B, S, output = B, A, -S, -output
    if A == 0:
        if output >= 0:
            return mp.inf
        gamma = -B / (2 * output)
    else:
        gamma = (output + mp.sqrt(output**2 + A * B)) / A
    T = (gamma - 1) / (B + S - gamma * (A - S))
    R = mp.sqrt(A * B + S**2)
    return Z * mp.atanh(R * T) / R if R else Z * T


@accuracy(
    "theory.ScalarNetwork.saturation_time",
    "When the output reaches a share of its target",
    against="growth from the output, time from the growth, at 120 digits",
    grid=f"{STARTS_IN_WORDS}; shares: 7 from 1e-12 to 1 − 1e-12",
    seconds=2,
)
def saturation_time() -> Comparison:
    """0 where the output is there at the start, infinite where nothing can grow to the target."""
    network, where = networks([S for S in TARGETS if S])

    def reference(start: str, S: Any, Z: Any, share: Any) -> Any:
        s = state(start, S, Z)
        begin = (s.A - s.B) / 2
        return reaching(s.A, s.B, S, Z, share * S) if begin / S < share else mp.mpf(0)

    values = network.saturation_time(SHARES[:, None]).time
    return Comparison(values, precise(reference), where | {"share": SHARES[:, None]})


def _inflection(start: str, S: Any, Z: Any) -> Any:
    s = state(start, S, Z)
    if not 0 < s.A < S:
        return mp.inf
    return Z / (2 * s.R) * mp.log((s.R + S - s.A) / (s.R - S + s.A))


def _output_inflection(start: str, S: Any, Z: Any) -> Any:
    s = state(start, S, Z)
    sign = -1 if S < 0 else 1
    under, begin = S**2 - 8 * s.A * s.B, sign * (s.A - s.B) / 2
    if under < 0 or S == 0 or (s.A if sign > 0 else s.B) == 0:
        return mp.inf
    level = (abs(S) + mp.sqrt(under)) / 4
    return reaching(s.A, s.B, S, Z, sign * level) if begin < level else mp.inf


@accuracy(
    "theory.ScalarNetwork.inflection_time",
    "When growth, or the output, turns from convex to concave",
    against="Remark H.2, and the time at which the output's second derivative vanishes, at 120 digits",
    grid=STARTS_IN_WORDS,
    also=("theory.ScalarNetwork.output_inflection_time",),
)
def inflection_times() -> list[Comparison]:
    """Infinite where curves do not bend over."""
    network, where = networks()
    return [
        Comparison(network.inflection_time().time, precise(_inflection), where),
        Comparison(network.output_inflection_time().time, precise(_output_inflection), where),
    ]


def _final_growth(start: str, S: Any, Z: Any) -> Any:
    s = state(start, S, Z)
    if S == 0 and s.A * s.B == 0:
        return mp.mpf(0) if s.A else mp.inf
    return (S + s.R) / s.A if s.A else (mp.inf if S > 0 else s.B / (s.R - S))


def _limit(start: str, S: Any, Z: Any) -> Any:
    s = state(start, S, Z)
    return S if (s.B if S < 0 else s.A) else mp.mpf(0)


def _is_concave(start: str, S: Any, Z: Any) -> bool:
    s = state(start, S, Z)
    return (s.A - s.B) / 2 <= S <= s.A


CONSTANTS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "initial_output": (
        lambda start, S, Z: (state(start, S, Z).A - state(start, S, Z).B) / 2,
        lambda start, S, Z: (state(start, S, Z).A + state(start, S, Z).B) / 2,
    ),
    "initial_spread": (lambda start, S, Z: (state(start, S, Z).A + state(start, S, Z).B) / 2, None),
    "final_growth": (_final_growth, None),
    "limit": (_limit, None),
    "is_concave": (_is_concave, None),
}
"""Properties, their references, and their scales where they pass through zero."""


@accuracy(
    "theory.ScalarNetwork.final_growth",
    "Growth, output and spread at the start and at the end",
    against="Eq. 19 and 20 at 120 digits",
    grid=f"{STARTS_IN_WORDS}; errors of the first output relative to the first spread",
    also=(
        "theory.ScalarNetwork.initial_output", "theory.ScalarNetwork.initial_spread",
        "theory.ScalarNetwork.limit", "theory.ScalarNetwork.is_concave",
        "theory.ScalarNetwork.weight_to_target_ratio",
    ),
)  # fmt: skip
def constants() -> list[Comparison]:
    """The ratio of weights to target needs a target."""
    network, where = networks()
    found = [
        Comparison(
            _known(network, name), precise(reference), {"name": name} | where,
            scale=scale and precise(scale),
        )
        for name, (reference, scale) in ((n, _without_name(*pair)) for n, pair in CONSTANTS.items())
    ]  # fmt: skip
    network, where = networks([S for S in TARGETS if S])
    ratio = network.weight_to_target_ratio
    return [*found, Comparison(ratio, precise(_ratio), where)]


def _ratio(start: str, S: Any, Z: Any) -> Any:
    s = state(start, S, Z)
    return (s.A + s.B) / 2 / abs(S)


def _known(network: Any, name: str) -> Any:
    return network.limit() if name == "limit" else getattr(network, name)


def _without_name(reference: Any, scale: Any) -> tuple[Any, Any]:
    return _nameless(reference), scale and _nameless(scale)


def _nameless(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, *point: function(*point)
