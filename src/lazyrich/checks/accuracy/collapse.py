"""Neural collapse of free features."""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.checks.accuracy._symmetric import Symmetric, riccati, trace
from lazyrich.checks.accuracy.balanced import growth
from lazyrich.core import Comparison, accuracy

LABELS = ((0, 0, 1, 1, 2, 2), (0, 0, 0, 1, 1, 2))
TIMES = np.array([0.0, 1e-4, 0.1, 1.0, 5.0, 20.0, 60.0, 200.0])
GRID = (
    "3 classes of 2, or of 3, 2 and 1 samples; random balanced starts of scale 1e-3, 0.5 and 0.1, "
    "widths 3, 3, 5; targets centred or not; t: 0 and 7 from 1e-4 to 200"
)
EXACT = "the Riccati solution with an integral, at 250 digits"


class _Model(NamedTuple):
    """A model, and at many digits its F, Q₀ and targets; `means` averages over classes."""

    model: "theory.UnconstrainedFeatures"
    where: dict[str, Any]
    F: Symmetric
    Q: Any
    targets: Any
    means: Any


@functools.cache
def _models() -> tuple[_Model, ...]:
    found = []
    for labels in LABELS:
        for width, scale in ((3, 1e-3), (3, 0.5), (5, 0.1)):
            for centring in ("none", "samples"):
                model = theory.UnconstrainedFeatures.small(
                    labels, width, scale, seed=1, centring=centring
                )
                where = {
                    "labels": str(labels),
                    "width": width,
                    "initial_std": scale,
                    "centring": centring,
                }
                with mp.workdps(250):
                    found.append(_model(model, labels, where))
    return tuple(found)


def _model(model: Any, labels: tuple[int, ...], where: dict[str, Any]) -> _Model:
    n, c = len(labels), max(labels) + 1
    sizes = [labels.count(k) for k in range(c)]
    Y, means = mp.matrix(n, c), mp.matrix(c, n)
    for i, k in enumerate(labels):
        means[k, i] = mp.mpf(1) / sizes[k]
        for j in range(c):
            Y[i, j] = (j == k) - (mp.mpf(sizes[j]) / n if where["centring"] == "samples" else 0)
    Q = mp.matrix(n + c, model.first.shape[1])
    H, W = exact(model.first), exact(model.second)
    for k in range(Q.cols):
        for i in range(n + c):
            Q[i, k] = H[i, k] if i < n else W[k, i - n]
    # Balanced layers use the same hidden directions. In those that W does not use, rounding of H would stay
    # for ever, and in the end be all that NC1 has.
    in_use = W * mp.inverse(W.T * W) * W.T
    return _Model(model, where, growth(Y, mp.mpf(0)), Q * in_use, Y, means)


@functools.cache
def _grams(index: int, time: float) -> tuple[Any, Any, Any]:
    """HHᵀ, HW and WᵀW."""
    with mp.workdps(250):
        case = _models()[index]
        n = case.targets.rows
        gram = riccati(case.F, case.Q, mp.mpf(time) / n)
        return gram[0:n, 0:n], gram[0:n, n : gram.rows], gram[n : gram.rows, n : gram.rows]


def _at_all_times(
    method: str,
) -> Iterator[tuple[_Model, Any, tuple[Any, Any, Any], dict[str, Any]]]:
    for index, case in enumerate(_models()):
        values = getattr(case.model, method)(TIMES)
        for value, t in zip(values, TIMES.tolist(), strict=True):
            yield case, value, _grams(index, t), case.where | {"time": t}


@accuracy(
    "theory.UnconstrainedFeatures.outputs",
    "Outputs, features and last layer of free features",
    against=EXACT,
    grid=f"{GRID}; products of features and of weights, which no rotation changes; relative to the length of "
    "all of them",
    also=(
        "theory.UnconstrainedFeatures.features", "theory.UnconstrainedFeatures.last_layer",
        "theory.UnconstrainedFeatures.singular_values",
    ),
    seconds=8,
)  # fmt: skip
def outputs() -> Iterator[Comparison]:
    """The singular values of the labels too."""
    for _, value, (features, product, weights), where in _at_all_times("outputs"):
        yield Comparison(value, entries(product), where, scale=length(features) + length(weights))
    for _, value, (features, _, weights), where in _at_all_times("features"):
        size = length(features) + length(weights)
        yield Comparison(value @ value.T, entries(features), where, scale=size)
    for _, value, (features, _, weights), where in _at_all_times("last_layer"):
        size = length(features) + length(weights)
        yield Comparison(value.T @ value, entries(weights), where, scale=size)
    for case in _models():
        values = sorted(mp.eigsy(case.targets.T * case.targets, eigvals_only=True), reverse=True)
        true = np.array([mp.sqrt(max(v, 0)) for v in values], dtype=object)
        yield Comparison(case.model.singular_values, true, case.where, scale=1)


@accuracy(
    "theory.UnconstrainedFeatures.loss", "Loss of free features", against=EXACT,
    grid=f"{GRID}; relative to the loss, or to 2⁻⁵² of that of zero outputs where it is below",
    explanation="The loss is that of a difference: where outputs and targets agree to a share δ, a share ε/δ "
    "of it is rounding.",
    seconds=4,
)  # fmt: skip
def loss() -> Iterator[Comparison]:
    """In the end the square of rounding."""
    for case, value, (_, product, _), where in _at_all_times("loss"):
        rest, size, n = length(product - case.targets), length(case.targets), case.targets.rows
        floor = mp.mpf(2) ** -52 * size**2 / (2 * n)
        yield Comparison(value, rest**2 / (2 * n), where, scale=floor, condition=size / rest)


def _centred_means(case: _Model, features: Any) -> Any:
    """Inner products of class means less their mean."""
    c = case.means.rows
    centring = mp.eye(c) - mp.ones(c) / c
    return centring * case.means * features * case.means.T * centring


def _spread(case: _Model, features: Any) -> Any:
    """Traces of the covariances within and between classes, as a ratio; within, traces cancel."""
    with mp.workdps(250):
        means = case.means * features * case.means.T
        sizes = [1 / max(case.means[k, :]) for k in range(means.rows)]
        inside = trace(features) - mp.fsum(n * means[k, k] for k, n in enumerate(sizes))
        between = trace(_centred_means(case, features)) / means.rows
        return inside / features.rows / between


@accuracy(
    "theory.UnconstrainedFeatures.within_class",
    "Collapse: spread within classes (NC1) and simplex of class means (NC2)",
    against=EXACT,
    grid=f"{GRID}; NC1 relative to itself, NC2 to 1; features only in the hidden directions that the last "
    "layer uses, as they have them in a balanced network: others are rounding, which never decays",
    also=("theory.UnconstrainedFeatures.simplex",),
    seconds=5,
)
def within_class() -> Iterator[Comparison]:
    """NC1 to its last digits: it is kept apart from the means."""
    for case, value, (features, _, _), where in _at_all_times("within_class"):
        yield Comparison(value, _spread(case, features), where)
    for case, value, (features, _, _), where in _at_all_times("simplex"):
        G = _centred_means(case, features)
        c = G.rows
        cosines = [
            abs(G[i, j] / mp.sqrt(G[i, i] * G[j, j]) + mp.mpf(1) / (c - 1))
            for i in range(c) for j in range(c) if i != j
        ]  # fmt: skip
        yield Comparison(value, max(cosines), where, scale=1)


@accuracy(
    "theory.UnconstrainedFeatures.duality",
    "Collapse: self-duality (NC3) and nearest class means (NC4)",
    against=EXACT,
    grid=f"{GRID}; relative to 1",
    also=(
        "theory.UnconstrainedFeatures.duality_centred", "theory.UnconstrainedFeatures.disagreement",
    ),
    seconds=6,
)  # fmt: skip
def duality() -> Iterator[Comparison]:
    """Lengths of differences of unit vectors; NC4 counts samples."""
    c = 3
    centring = mp.eye(c) - mp.ones(c) / c
    for method, shift in (("duality", mp.eye(c)), ("duality_centred", centring)):
        for case, value, (features, product, weights), where in _at_all_times(method):
            M = _centred_means(case, features)
            cross = centring * case.means * product * shift  # means by weights
            W = shift * weights * shift
            squares = [2 - 2 * cross[k, k] / mp.sqrt(M[k, k] * W[k, k]) for k in range(c)]
            yield Comparison(value, mp.sqrt(max(max(squares), 0)), where, scale=1)
    for case, value, (features, product, _), where in _at_all_times("disagreement"):
        means = case.means * features * case.means.T
        cross = features * case.means.T  # samples by means
        n, bias = features.rows, case.model.bias
        off = 0
        for i in range(n):
            decided = max(range(c), key=lambda k: product[i, k] + mp.mpf(float(bias[k])))
            nearest = min(range(c), key=lambda k: means[k, k] - 2 * cross[i, k])
            off += decided != nearest
        yield Comparison(value, mp.mpf(off) / n, where, scale=1)
