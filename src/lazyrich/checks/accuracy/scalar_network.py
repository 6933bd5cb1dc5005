"""The two-layer network with one input and one output."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.core import Comparison, accuracy

SCALES, TARGETS = (1e-8, 1e-3, 1.0, 1e3), (-2.0, -1e-3, 0.0, 1e-6, 1.0, 50.0)
TIMES = decades(1e-6, 1e6, 25, zero=True)
SHARES = np.array([1e-12, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 1e-12])
STARTS_IN_WORDS = (
    "24 starts of 3 features (random, a = ±b, b = 0, a = ±b but for 1e-9; scales 1e-8 to 1e3) × 6 targets "
    "from −2 to 50, 0 too; Z = 1 or √3"
)
GRID = f"{STARTS_IN_WORDS}; t: 0 and 25 from 1e-6 to 1e6"
EXACT = "the corrected Theorem H.1 in exponentials of any size, at 120 digits and more"


@functools.cache
def _starts() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng, found = np.random.default_rng(7), {}
    for scale in SCALES:
        a, b = scale * rng.standard_normal((2, 3))
        kinds = {
            "random": b, "a = b": a, "a = −b": -a, "b = 0": 0 * a,
            "nearly a = b": a * (1 + 1e-9), "nearly a = −b": -a * (1 + 1e-9),
        }  # fmt: skip
        found |= {f"{kind}, {scale:g}": (a, second) for kind, second in kinds.items()}
    return found


class Networks(NamedTuple):
    """Many networks, and what they are in words and numbers."""

    network: "theory.ScalarNetwork"
    where: dict[str, Any]


def networks(targets: Any = TARGETS) -> Networks:
    """All starts and targets, flat; the normalisation goes with the target."""
    names, target = mesh(list(_starts()), targets)
    Z = np.where(np.isin(target, (0.0, 1.0, -1e-3)), np.sqrt(3), 1.0)
    first, second = (np.array([_starts()[name][k] for name in names.tolist()]) for k in (0, 1))
    where = {"start": names, "target": target, "normalisation": Z}
    return Networks(
        theory.ScalarNetwork(target, first=first, second=second, normalisation=Z), where
    )


class State(NamedTuple):
    """Growing and decaying parts of each feature, A = Σ₀ + S₀, B = Σ₀ − S₀, R, the exponent Rt/Z and γ."""

    p: list[Any]
    q: list[Any]
    A: Any
    B: Any
    R: Any
    x: Any
    gamma: Any


def state(start: str, S: Any, Z: Any, t: Any = 0) -> State:
    """A network at a time, from Theorem H.1."""
    first, second = ([mp.mpf(v) for v in side.tolist()] for side in _starts()[start])
    p = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    q = [(a - b) / 2 for a, b in zip(first, second, strict=True)]
    A, B = (2 * mp.fsum(v * v for v in part) / Z for part in (p, q))
    R = mp.sqrt(A * B + S * S)
    return State(p, q, A, B, R, R * t / Z, growth_of(A, B, S, t / Z))


def growth_of(A: Any, B: Any, S: Any, tau: Any) -> Any:
    """γ after τ = t/Z; many digits are needed where A or B is far smaller than S."""
    R = mp.sqrt(A * B + S * S)
    if tau == 0:
        return mp.mpf(1)
    if R == 0:
        return (1 + B * tau) / (1 + A * tau)
    up = mp.exp(R * tau)
    rise = up * (R + B + S) + (R - B - S) / up
    fall = up * (R + A - S) + (R - A + S) / up
    return rise / fall


def precise(function: Callable[..., Any]) -> Callable[..., Any]:
    """At 120 digits: differences of A, B and S lose up to 70."""

    def at_many_digits(*arguments: Any) -> Any:
        with mp.workdps(120):
            return function(*arguments)

    return at_many_digits


def _parts(s: State, feature: int) -> tuple[Any, Any]:
    root = mp.sqrt(s.gamma)
    return s.p[feature] * root, s.q[feature] / root


def _theta(s: State) -> Any:
    return (s.A * s.gamma - s.B / s.gamma) / 2


def _spread(s: State) -> Any:
    return (s.A * s.gamma + s.B / s.gamma) / 2


def _of_time(method: str, reference: Any, scale: Any = None, targets: Any = TARGETS) -> Comparison:
    network, where = networks(targets)
    values = getattr(network, method)(TIMES[:, None])
    scale = None if scale is None else precise(scale)
    return Comparison(values, precise(reference), where | {"time": TIMES[:, None]}, scale=scale)


def _of_features(
    method: str, reference: Any, scale: Any = None, layer: int | None = None
) -> Comparison:
    network, where = networks()
    values = getattr(network, method)(TIMES[:, None])
    values = values if layer is None else values[layer]
    where = {name: column[:, None] for name, column in where.items()}
    where |= {"time": TIMES[:, None, None], "feature": np.arange(3)}
    scale = None if scale is None else precise(scale)
    return Comparison(values, precise(reference), where, scale=scale)


@accuracy(
    "theory.ScalarNetwork.growth", "Growth γ(t) that all features share", against=EXACT, grid=GRID, seconds=3,
)  # fmt: skip
def growth() -> Comparison:
    """Also where nothing can grow to the target, and γ leaves the range of double precision."""
    return _of_time("growth", lambda start, S, Z, t: state(start, S, Z, t).gamma)


@accuracy(
    "theory.ScalarNetwork.layers",
    "Weights a(t), b(t)",
    against=EXACT,
    grid=f"{GRID}; errors relative to the two parts, (a ± b)/2, that make a weight up",
    seconds=9,
)
def layers() -> list[Comparison]:
    """A weight changes sign on its way, where its two parts cancel."""

    def size(start: str, S: Any, Z: Any, t: Any, feature: int) -> Any:
        p, q = _parts(state(start, S, Z, t), feature)
        return abs(p) + abs(q)

    def weight(sign: int) -> Any:
        def reference(start: str, S: Any, Z: Any, t: Any, feature: int) -> Any:
            p, q = _parts(state(start, S, Z, t), feature)
            return p + sign * q

        return reference

    return [_of_features("layers", weight(sign), size, layer) for layer, sign in enumerate((1, -1))]


@accuracy(
    "theory.ScalarNetwork.features",
    "What each feature adds to the output, a b/Z",
    against=EXACT,
    grid=f"{GRID}; errors relative to the sum of the growing and the decaying part",
    seconds=6,
)
def features() -> Comparison:
    """A feature against the target goes through zero."""

    def reference(start: str, S: Any, Z: Any, t: Any, feature: int) -> Any:
        p, q = _parts(state(start, S, Z, t), feature)
        return (p * p - q * q) / Z

    def size(start: str, S: Any, Z: Any, t: Any, feature: int) -> Any:
        p, q = _parts(state(start, S, Z, t), feature)
        return (p * p + q * q) / Z

    return _of_features("features", reference, size)


@accuracy(
    "theory.ScalarNetwork.movement", "Change of each feature since the start",
    against=f"the difference of two features; {EXACT}", grid=GRID, seconds=6,
)  # fmt: skip
def movement() -> Comparison:
    """Relative to the change itself, however small."""

    def reference(start: str, S: Any, Z: Any, t: Any, feature: int) -> Any:
        s = state(start, S, Z, t)
        p, q = s.p[feature], s.q[feature]
        return (p * p * (s.gamma - 1) - q * q * (1 / s.gamma - 1)) / Z

    return _of_features("movement", reference)


@accuracy(
    "theory.ScalarNetwork.output",
    "Output θ(t)",
    against=EXACT,
    grid=f"{GRID}; errors relative to the smaller of the spread and the target",
    seconds=4,
)
def output() -> Comparison:
    """The output goes through zero where it starts against the target."""

    def size(start: str, S: Any, Z: Any, t: Any) -> Any:
        spread = _spread(state(start, S, Z, t))
        return min(spread, abs(S)) if S else spread

    return _of_time("output", lambda start, S, Z, t: _theta(state(start, S, Z, t)), size)


@accuracy(
    "theory.ScalarNetwork.spread", "Spread Δθ(t), half the sum of squared weights", against=EXACT, grid=GRID,
    seconds=3,
)  # fmt: skip
def spread() -> Comparison:
    """A sum of two terms that are not negative."""
    return _of_time("spread", lambda start, S, Z, t: _spread(state(start, S, Z, t)))


@accuracy(
    "theory.ScalarNetwork.residual",
    "What the output lacks to its target, S − θ, and the loss ½(S − θ)²",
    against=f"the difference; {EXACT}, up to 900 where output and target agree",
    grid=GRID,
    also=("theory.ScalarNetwork.loss",),
    seconds=12,
)
def residual() -> list[Comparison]:
    """To the smallest double."""

    def rest(start: str, S: Any, Z: Any, t: Any) -> Any:
        agree = int(min(state(start, S, Z, t).x, 800))  # each unit of Rt/Z takes 0.87 digits
        with mp.workdps(120 + agree):
            return S - _theta(state(start, S, Z, t))

    def loss(*point: Any) -> Any:
        return rest(*point) ** 2 / 2

    return [_of_time("residual", rest), _of_time("loss", loss)]


@accuracy(
    "theory.ScalarNetwork.aligned",
    "Output of features that start with the target, and of those against it",
    against=EXACT,
    grid=f"{GRID}, target 0 left out; errors relative to the sum of all parts of these features",
    also=("theory.ScalarNetwork.anti_aligned",),
    seconds=8,
)
def aligned() -> list[Comparison]:
    """Both signs."""

    def chosen(sign: int, inner: int) -> Any:
        def total(start: str, S: Any, Z: Any, t: Any) -> Any:
            s = state(start, S, Z, t)
            pairs = zip(s.p, s.q, strict=True)
            squares = [(p * p, q * q) for p, q in pairs]
            kept = [(p, q) for p, q in squares if sign * (p - q) * S > 0]
            return mp.fsum(p * s.gamma + inner * q / s.gamma for p, q in kept) / Z

        return total

    targets = [S for S in TARGETS if S]
    return [
        _of_time(method, chosen(sign, -1), chosen(sign, 1), targets)
        for method, sign in (("aligned", 1), ("anti_aligned", -1))
    ]


@accuracy(
    "theory.ScalarNetwork.lazy_output",
    "Output with a kernel that never changes",
    against="its formula",
    grid=f"{GRID}; errors relative to the target or the start",
    seconds=3,
)
def lazy_output() -> Comparison:
    """The distance to the target times an exponential."""

    def reference(start: str, S: Any, Z: Any, t: Any) -> Any:
        s = state(start, S, Z)
        return S + ((s.A - s.B) / 2 - S) * mp.exp(-(s.A + s.B) * t / Z)

    def size(start: str, S: Any, Z: Any, t: Any) -> Any:
        s = state(start, S, Z)
        return abs(S) + (s.A + s.B) / 2 * mp.exp(-(s.A + s.B) * t / Z)

    return _of_time("lazy_output", reference, size)
