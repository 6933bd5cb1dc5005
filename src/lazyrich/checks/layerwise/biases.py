"""App. I.3: the bias of the last layer."""

import itertools

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.core import CheckResult, check

TIMES = np.array([0.0, 0.3, 1.0, 2.0, 5.0])


def _bias_of_flow(
    shapes: tuple[int, ...], mean: float, hidden_bias: bool
) -> tuple[np.ndarray, ...]:
    """The last bias along the integrated flow of a linear network, its start, and the mean target.

    Loss ½⟨‖f − y‖²⟩ over samples. All weights and the biases move; `mean` is that of every input.
    """
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, shapes[0]))
    X = X - X.mean(axis=0) + mean
    Y = (
        X @ rng.standard_normal((shapes[0], shapes[-1]))
        + 1.0
        + rng.standard_normal((40, shapes[-1]))
    )
    sizes = list(itertools.pairwise(shapes))
    weights = [0.3 * rng.standard_normal(size) for size in sizes]
    biases = [rng.standard_normal(size[1]) for size in sizes]
    free = np.array([hidden_bias] * (len(sizes) - 1) + [True])
    if not hidden_bias:
        biases[:-1] = [np.zeros_like(bias) for bias in biases[:-1]]
    cuts = np.cumsum([array.size for array in (*weights, *biases)])[:-1]

    def velocity(t: float, state: np.ndarray) -> np.ndarray:
        arrays = np.split(state, cuts)
        W = [array.reshape(size) for array, size in zip(arrays[: len(sizes)], sizes, strict=True)]
        layers = [X]
        for weight, bias in zip(W, arrays[len(sizes) :], strict=True):
            layers.append(layers[-1] @ weight + bias)
        error, slopes, bias_slopes = (layers[-1] - Y) / len(X), [], []
        for layer in reversed(range(len(sizes))):
            slopes.insert(0, layers[layer].T @ error)
            bias_slopes.insert(0, free[layer] * error.sum(axis=0))
            error = error @ W[layer].T
        return -np.concatenate([slope.ravel() for slope in (*slopes, *bias_slopes)])

    start = np.concatenate([array.ravel() for array in (*weights, *biases)])
    states = integrate(velocity, start, TIMES, rtol=1e-11, atol=1e-12, interpolated=False)
    return states[:, cuts[-1] :], biases[-1], Y.mean(axis=0)


def _error(shapes: tuple[int, ...], mean: float = 0.0, hidden_bias: bool = False) -> float:
    """Largest distance of the last bias from an exponential towards the mean target, relative to its way."""
    found, start, limit = _bias_of_flow(shapes, mean, hidden_bias)
    # `LinearFlow` has the loss without ½, which halves the time
    flow = theory.LinearFlow(np.eye(start.size), start - limit, learning_rate=0.5)
    exact = limit + flow.difference(TIMES)
    return float(np.max(np.abs(found - exact)) / np.max(np.abs(start - limit)))


@check(
    "layerwise/app-i3",
    "The bias of the last layer saturates exponentially",
    against="Runge–Kutta integration of whole networks over samples",
)
def app_i3() -> CheckResult:
    """The bias follows db/dt = −(b + ⟨h⟩W − ⟨y⟩) with the last layer's inputs h and weights W.

    So it is exponential where ⟨h⟩ = 0 at all times: in linear networks of any depth on centred inputs,
    without other biases. With inputs of mean 1 or with biases in hidden layers the weights drive it.
    """
    errors = [_error((3, 4, 2)), _error((3, 4, 4, 2)), _error((3, 2))]
    printed = [_error((3, 4, 2), mean=1.0), _error((3, 4, 2), hidden_bias=True)]
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="only where the last layer's inputs have mean 0: centred data, no bias before it",
    )  # fmt: skip
