"""Linear networks whose layers are out of balance by a given amount."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.checks.accuracy._symmetric import Symmetric, riccati, trace
from lazyrich.checks.accuracy.scalar_network import growth_of
from lazyrich.checks.accuracy.scalar_network_numbers import reaching
from lazyrich.core import Comparison, accuracy

TIMES = decades(1e-4, 1e4, 17, zero=True)
SHARES = (1e-9, 0.1, 0.9, 1 - 1e-9)
TARGETS = (-1.5, 1e-6, 1.0, 20.0)
MODES = "λ: 0, 1e-12, 1e-3, −1, 30; ρ̃: −1.5, 1e-6, 1, 20; ρ(0): −0.5, 0, 1e-12, 0.01, 2.5"
GRID = f"{MODES}; t: 0 and 17 from 1e-4 to 1e4"
EXACT = "the mode as a product of two weights and Theorem H.1, at 120 digits and more"


def _modes() -> tuple["theory.BalancedModes", dict[str, Any]]:
    lam, S, start = mesh([0.0, 1e-12, 1e-3, -1.0, 30.0], TARGETS, [-0.5, 0.0, 1e-12, 0.01, 2.5])
    return theory.BalancedModes(S, start=start, imbalance=lam), {
        "imbalance": lam,
        "target": S,
        "start": start,
    }


def _squares(lam: Any, start: Any) -> tuple[Any, Any]:
    """(a ± b)²/2 of weights with ab = ρ(0) and b² − a² = λ."""
    root = mp.sqrt(lam**2 + 4 * start**2)
    return (root + 2 * start) / 2, (root - 2 * start) / 2


def _of_product(result: Callable[..., Any], *, agreeing: bool = False) -> Callable[..., Any]:
    """A function of target, start, ρ(t) and the sum of its two parts."""

    def reference(lam: Any, S: Any, start: Any, t: Any) -> Any:
        K = mp.sqrt(S**2 + lam**2 / 4)
        with mp.workdps(120 + (int(min(K * t, 900)) if agreeing else 0)):
            A, B = _squares(lam, start)
            gamma = growth_of(A, B, S, t)
            up, down = A * gamma / 2, B / gamma / 2
            return result(S, start, up - down if t else start, up + down)

    return reference


@accuracy(
    "theory.BalancedModes.modes",
    "Singular values of a λ-balanced network",
    against=EXACT,
    grid=f"{GRID}; errors relative to the smaller of the target and both parts of ρ",
    seconds=4,
)
def modes() -> Comparison:
    """A mode that starts against its target goes through zero."""
    found, where = _modes()
    size = _of_product(lambda S, start, rho, parts: min(parts, abs(S)))
    reference = _of_product(lambda S, start, rho, parts: rho)
    return Comparison(found.modes(TIMES), reference, where | {"time": TIMES[:, None]}, scale=size)


@accuracy(
    "theory.BalancedModes.residual",
    "What is left of the way to the target, as a number and as a share",
    against=f"the difference; {EXACT}, up to 1000 where it is small",
    grid=GRID,
    also=("theory.BalancedModes.remainder",),
    seconds=9,
)
def residual() -> list[Comparison]:
    """To the smallest double."""
    found, where = _modes()
    where |= {"time": TIMES[:, None]}
    rest = _of_product(lambda S, start, rho, parts: S - rho, agreeing=True)
    share = _of_product(lambda S, start, rho, parts: (S - rho) / (S - start), agreeing=True)
    return [
        Comparison(found.residual(TIMES), rest, where),
        Comparison(found.remainder(TIMES), share, where),
    ]


@accuracy(
    "theory.BalancedModes.transition",
    "Share of the way to the target, and its two limits",
    against=f"{EXACT}; the limits λ → 0 and λ → ∞ of Eq. 70",
    grid=GRID,
    also=(
        "theory.BalancedModes.sigmoidal_transition", "theory.BalancedModes.exponential_transition",
    ),
    seconds=5,
)  # fmt: skip
def transition() -> list[Comparison]:
    """From the smallest share on."""
    found, where = _modes()
    where |= {"time": TIMES[:, None]}
    share = _of_product(lambda S, start, rho, parts: (rho - start) / (S - start))

    def sigmoid(lam: Any, S: Any, start: Any, t: Any) -> Any:
        return share(mp.mpf(0), S, start, t)

    def exponential(lam: Any, S: Any, start: Any, t: Any) -> Any:
        return 1 - mp.exp(-abs(lam) * t)

    return [
        Comparison(found.transition(TIMES), share, where),
        Comparison(found.sigmoidal_transition(TIMES), sigmoid, where),
        Comparison(found.exponential_transition(TIMES), exponential, where),
    ]


@accuracy(
    "theory.BalancedModes.saturation_time", "When a λ-balanced mode reaches a share of its target",
    against="growth from the product, time from the growth, at 120 digits",
    grid=f"{MODES}; shares 1e-9, 0.1, 0.9, 1 − 1e-9", seconds=2,
)  # fmt: skip
def saturation_time() -> list[Comparison]:
    """Infinite where a mode is stuck, 0 where it starts beyond."""
    found, where = _modes()

    def reference(lam: Any, S: Any, start: Any, share: Any) -> Any:
        with mp.workdps(120):
            if start / S >= share:
                return mp.mpf(0)
            A, B = _squares(lam, start)
            return reaching(A, B, S, 1, share * S) if A + B else mp.inf

    return [
        Comparison(found.saturation_time(share).time, reference, where | {"share": share})
        for share in SHARES
    ]


class _Network(NamedTuple):
    """A start and a task, as doubles; F, Q₀, Σ and the grams at the start, at many digits."""

    network: "theory.BalancedNetwork"
    where: dict[str, Any]
    F: Symmetric
    Q: Any
    task: Any
    inputs: int


NETWORK_TIMES = np.array([0.0, 1e-6, 1e-3, 0.1, 0.5, 2.0, 7.0, 25.0, 80.0])
NETWORKS = (
    "random tasks of 3 × 3 with W₂ = W₁ᵀ (λ = 0, 2 and 4 units), and of 3 × 2 with λ = ±0.5, 3; scales "
    "1e-6, 0.1, 1; t: 0 and 8 from 1e-6 to 80"
)


@functools.cache
def _networks() -> tuple[_Network, ...]:
    found = []
    for seed, (lam, units, scale) in enumerate(
        (lam, units, scale)
        for lam, units in ((0.0, 2), (0.0, 4), (0.5, 2), (-0.5, 2), (3.0, 2))
        for scale in (1e-6, 0.1, 1.0)
    ):
        rng = np.random.default_rng(seed)
        if lam == 0:
            first = scale * rng.standard_normal((3, units))
            second, task = first.T, rng.standard_normal((3, 3))
        else:
            small = scale * rng.random(2)
            large = np.sqrt(abs(lam) + small**2)
            a, b = (small, large) if lam > 0 else (large, small)
            first, second = np.eye(3)[:, :2] * a, np.diag(b)
            task = rng.standard_normal((2, 3))
        found.append(
            _network(task, first, second, {"imbalance": lam, "units": units, "scale": scale})
        )
    return tuple(found)


def _network(task: Any, first: Any, second: Any, where: dict[str, Any]) -> _Network:
    with mp.workdps(250):
        W1, W2, sigma = exact(first), exact(second), exact(task).T
        lam = trace(W2 * W2.T - W1.T * W1) / W1.cols
        d, c = sigma.rows, sigma.cols
        Q = mp.matrix(d + c, W1.cols)
        for i in range(d + c):
            for k in range(W1.cols):
                Q[i, k] = W1[i, k] if i < d else W2[k, i - d]
        network = theory.BalancedNetwork(task, first, second)
        return _Network(network, where, growth(sigma, lam), Q, sigma, d)


def growth(sigma: Any, lam: Any) -> Symmetric:
    """F, with Σ off the diagonal and ∓λ/2 on it."""
    d, c = sigma.rows, sigma.cols
    F = mp.matrix(d + c, d + c)
    for i in range(d + c):
        F[i, i] = lam / 2 if i >= d else -lam / 2
    for i in range(d):
        for j in range(c):
            F[i, d + j] = F[d + j, i] = sigma[i, j]
    return Symmetric(F)


@functools.cache
def _gram(index: int, time: float) -> Any:
    """QQᵀ at 250 digits."""
    with mp.workdps(250):
        case = _networks()[index]
        return riccati(case.F, case.Q, mp.mpf(time))


def _blocks(gram: Any, d: int) -> tuple[Any, Any, Any]:
    n = gram.rows
    return gram[0:d, 0:d], gram[0:d, d:n], gram[d:n, d:n]


def _at_all_times(method: str) -> Iterator[tuple[_Network, float, Any, Any, dict[str, Any]]]:
    for index, case in enumerate(_networks()):
        values = getattr(case.network, method)(NETWORK_TIMES)
        for k, t in enumerate(NETWORK_TIMES.tolist()):
            value = tuple(part[k] for part in values) if isinstance(values, tuple) else values[k]
            yield case, t, value, _gram(index, t), case.where | {"time": t}


@accuracy(
    "theory.BalancedNetwork.product",
    "The map of a λ-balanced network, its grams and layers",
    against="the Riccati solution with an integral, at 250 digits",
    grid=f"{NETWORKS}; entries of QQᵀ, W₁W₁ᵀ and W₂ᵀW₂ relative to the length of each, of W₁W₂ relative to "
    "‖W₁‖‖W₂‖",
    explanation="Both layers are read off one matrix Q and have the rounding of the larger one. The length "
    "of Q over that of the smaller layer is the condition number: where layers differ by a factor of a "
    "million, the smaller one has ten digits.",
    also=(
        "theory.BalancedNetwork.gram", "theory.BalancedNetwork.representations",
        "theory.BalancedNetwork.weights",
    ),
    seconds=6,
)  # fmt: skip
def network() -> Iterator[Comparison]:
    """Layers are known up to a mixing of units: their products are compared."""
    for _, _, value, gram, where in _at_all_times("gram"):
        yield Comparison(value, entries(gram), where, scale=length(gram))
    for case, _, value, gram, where in _at_all_times("product"):
        yield from _of_blocks(case, gram, where, {1: value})
    for case, _, values, gram, where in _at_all_times("representations"):
        yield from _of_blocks(case, gram, where, {0: values[0], 2: values[1]})
    for case, _, (W1, W2), gram, where in _at_all_times("weights"):
        yield from _of_blocks(case, gram, where, {0: W1 @ W1.T, 1: W1 @ W2, 2: W2.T @ W2})


def _of_blocks(
    case: _Network, gram: Any, where: dict[str, Any], values: dict[int, Any]
) -> Iterator[Comparison]:
    """Blocks of QQᵀ, each relative to the layers it is made of."""
    blocks = _blocks(gram, case.inputs)
    squares = trace(blocks[0]), trace(blocks[2])
    condition = mp.sqrt((squares[0] + squares[1]) / min(squares))
    sizes = length(blocks[0]), mp.sqrt(squares[0] * squares[1]), length(blocks[2])
    for k, value in values.items():
        yield Comparison(value, entries(blocks[k]), where, scale=sizes[k], condition=condition)


@accuracy(
    "theory.BalancedNetwork.loss", "Loss of a λ-balanced network",
    against="½‖W₁W₂ − Σ‖² at 250 digits",
    grid=f"{NETWORKS}; relative to the loss, or to 2⁻⁵²‖Σ‖² where it is below that",
    explanation="The loss is that of a difference: where map and task agree to a share δ, a share ε/δ of it "
    "is rounding.",
    seconds=4,
)  # fmt: skip
def loss() -> Iterator[Comparison]:
    """In the end the loss is the square of the rounding of Σ."""
    for case, _, value, gram, where in _at_all_times("loss"):
        rest = length(_blocks(gram, case.inputs)[1] - case.task)
        size = length(case.task)
        floor = mp.mpf(2) ** -52 * size**2
        yield Comparison(value, rest**2 / 2, where, scale=floor, condition=size / rest)


@accuracy(
    "theory.BalancedNetwork.kernel_distance", "How far the tangent kernel has moved",
    against="traces of its two factors at 250 digits", grid=f"{NETWORKS}; relative to 1", seconds=4,
)  # fmt: skip
def kernel_distance() -> Iterator[Comparison]:
    """Between 0 and 1."""
    begin: dict[int, Any] = {}
    for case, _, value, gram, where in _at_all_times("kernel_distance"):
        A, _, B = _blocks(gram, case.inputs)
        A0, B0 = begin.setdefault(id(case), (A, B))  # times begin with 0
        yield Comparison(value, _distance(A0, B0, A, B), where, scale=1)


def _distance(A: Any, B: Any, A2: Any, B2: Any) -> Any:
    """1 − ⟨K, K′⟩/‖K‖‖K′‖ on whitened inputs."""

    def inner(A: Any, B: Any, A2: Any, B2: Any) -> Any:
        d, c = A.rows, B.rows
        return (
            d * trace(B * B2) + trace(B) * trace(A2) + trace(B2) * trace(A) + c * trace(A * A2)
        )  # fmt: skip

    lengths = mp.sqrt(inner(A, B, A, B) * inner(A2, B2, A2, B2))
    return 1 - inner(A, B, A2, B2) / lengths
