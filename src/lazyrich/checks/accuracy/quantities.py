"""Imbalance, distances of kernels, polar factors, and accuracies from losses."""

from typing import Any

import numpy as np

from lazyrich import quantities
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length, numbers
from lazyrich.checks.accuracy._shares import level_condition, loss_at, share_below
from lazyrich.core import Comparison, accuracy

OUTPUTS = [1, 2, 5, 50, 1000]


@accuracy(
    "quantities.threshold_accuracy",
    "Share of errors below a threshold",
    against="the regularised incomplete Γ function at 50 digits",
    grid="losses: 0 and 400 from 1e-9 to 1e12; threshold 1e-3; 1, 2, 5, 50 and 1000 outputs",
    seconds=2,
)
def threshold_accuracy() -> Comparison:
    """From almost 0 to 1."""
    loss, outputs = mesh(decades(1e-9, 1e12, 400, zero=True), OUTPUTS)
    outputs = outputs.astype(int)
    values = quantities.threshold_accuracy(loss, 1e-3, outputs)
    return Comparison(values, _share, {"loss": loss, "outputs": outputs})


def _share(loss: Any, outputs: int) -> Any:
    return share_below(loss, mp.mpf(1e-3), mp.mpf(outputs)) if loss else mp.mpf(1)


@accuracy(
    "quantities.threshold_loss",
    "Loss at which an accuracy is reached",
    against="the inverse error function, or a root of the incomplete Γ function, at 50 digits",
    grid="accuracies: 60 from 1e-12 to 0.5, 60 from 0.5 to 1 − 1e-12; threshold 4; 1, 2, 5 and 50 outputs",
    explanation="An accuracy close to 1 enters by its distance to 1, which double precision holds "
    "with few digits.",
    seconds=4,
)
def threshold_loss() -> Comparison:
    """The inverse of `threshold_accuracy`."""
    shares = np.concatenate([decades(1e-12, 0.5, 60), 1 - decades(1e-12, 0.45, 60)])
    share, outputs = mesh(shares, OUTPUTS[:4])
    outputs = outputs.astype(int)
    values = quantities.threshold_loss(share, 4.0, outputs)
    where = {"accuracy": share, "outputs": outputs}
    return Comparison(values, lambda a, d: 4 * loss_at(a, d), where, condition=level_condition)


@accuracy(
    "quantities.imbalance",
    "Difference of two layers, its coefficient and residual",
    against="the matrix products at 50 digits",
    grid="36 pairs of random layers, 1 to 8 units, scales 1e-6 to 1e6; errors relative to the larger layer",
)
def imbalance() -> list[Comparison]:
    """Entries of Δ cancel where layers are balanced, so errors are relative to the layers."""
    found = []
    for seed, (units, scale) in enumerate(
        zip(*mesh([1, 2, 4, 8], decades(1e-6, 1e6, 9)), strict=True)
    ):
        first, second = _layers(seed, int(units), scale)
        result = quantities.imbalance(first, second)
        true, layers = _imbalance(first, second)
        for name, value, reference in zip(result._fields, result, true, strict=True):
            where = {"part": name, "seed": seed, "scale": scale}
            found.append(Comparison(value, reference, where, scale=layers))
    return found


def _layers(seed: int, units: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return scale * rng.standard_normal((5, units)), rng.standard_normal((units, 3)) / scale


def _imbalance(first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    W1, W2 = exact(first), exact(second)
    units = W1.cols
    delta = W2 * W2.T - W1.T * W1
    coefficient = mp.fsum(delta[i, i] for i in range(units)) / units
    rest = delta - coefficient * mp.eye(units)
    layers = length(first) ** 2 + length(second) ** 2
    return (entries(delta), coefficient, length(entries(rest))), layers


_CLOSE = (
    "Kernels that differ by a small angle are close to cancelling: rounding of their entries turns "
    "them by about 1e-16, "
    "the angle is √(2S), and the condition number is 2 over it."
)


@accuracy(
    "quantities.kernel_distance",
    "One minus the cosine between two kernels",
    against="1 − ⟨K, K′⟩/|K||K′| at 50 digits",
    grid="12 random kernels of size 3 against themselves turned by 1e-12 to 1 and scaled by 1e-100 to 1e98",
    explanation=_CLOSE,
)
def kernel_distance() -> list[Comparison]:
    """From kernels that are almost the same to different ones."""
    turns, found = decades(1e-12, 1, 40), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        K, other = (A @ A.T for A in rng.standard_normal((2, 3, 3)))
        scale = 10.0 ** (seed * 18 - 100)
        new = scale * (K + turns[:, None, None] * other)
        values = quantities.kernel_distance(K, new)
        true = np.array([_cosine_defect(numbers(K), numbers(k)) for k in new], dtype=object)
        angle = [2 / mp.sqrt(2 * t) for t in true]
        where = {"seed": seed, "turn": turns}
        found.append(Comparison(values, true, where, condition=np.array(angle, dtype=object)))
    return found


def _cosine_defect(first: np.ndarray, second: np.ndarray) -> Any:
    return 1 - np.sum(first * second) / (length(first) * length(second))


@accuracy(
    "quantities.linear_kernel_distance",
    "Distance of the tangent kernels of a linear network",
    against="the kernel matrices themselves at 50 digits",
    grid="12 random networks (3 inputs, 4 units, 2 outputs, 5 samples) against themselves moved by "
    "1e-12 to 1",
    explanation=_CLOSE,
    seconds=2,
)
def linear_kernel_distance() -> list[Comparison]:
    """Kernels of 10 rows, one for each sample and output."""
    moves, found = decades(1e-12, 1, 13), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        W1, V1, W2, V2 = (rng.standard_normal(s) for s in ((3, 4), (3, 4), (4, 2), (4, 2)))
        X = rng.integers(-4, 5, (5, 3)) / 4  # so that XᵀX/4 is exact
        new = W1 + moves[:, None, None] * V1, W2 + moves[:, None, None] * V2
        values = quantities.linear_kernel_distance(W1, W2, *new, covariance=X.T @ X / 4)
        K = _tangent_kernel(X, W1, W2)
        true = [_cosine_defect(K, _tangent_kernel(X, *pair)) for pair in zip(*new, strict=True)]
        angle = np.array([2 / mp.sqrt(2 * t) for t in true], dtype=object)
        where = {"seed": seed, "move": moves}
        found.append(Comparison(values, np.array(true, dtype=object), where, condition=angle))
    return found


def _tangent_kernel(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The products of the gradients of every pair of outputs, from the gradients themselves."""
    x, first, second = numbers(X), numbers(W1), numbers(W2)
    rows = []
    for sample in x:
        for c in range(second.shape[1]):
            wrt_first = np.multiply.outer(sample, second[:, c])
            wrt_second = np.multiply.outer(
                sample @ first, [mp.mpf(int(k == c)) for k in range(second.shape[1])]
            )
            rows.append(np.concatenate([wrt_first.ravel(), wrt_second.ravel()]))
    jacobian = np.array(rows, dtype=object)
    return jacobian @ jacobian.T


@accuracy(
    "quantities.polar_factor",
    "A matrix with its singular values set to one",
    against="Newton's iteration (G + G⁻ᵀ)/2 at 80 digits",
    grid="40 random 4 × 4 matrices with singular values from 1 down to 1 … 1e-8, scales 1e-150 to "
    "1e150; errors relative to 1",
    explanation="Small singular values have uncertain directions: the condition number is that of "
    "the matrix.",
    seconds=2,
)
def polar_factor() -> list[Comparison]:
    """Square matrices of full rank, for which the factor is a function of the matrix."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        U, V = (np.linalg.qr(rng.standard_normal((4, 4)))[0] for _ in range(2))
        smallest = 10.0 ** -(seed % 9)
        G = U @ np.diag(np.geomspace(1, smallest, 4)) @ V * 10.0 ** (150 * (seed % 3 - 1))
        where = {"seed": seed, "smallest singular value": smallest}
        found.append(
            Comparison(
                quantities.polar_factor(G), _polar(G), where, scale=1, condition=1 / smallest
            )
        )
    return found


def _polar(G: np.ndarray) -> np.ndarray:
    with mp.workdps(80):
        Q = exact(G)
        Q = Q / length(entries(Q))
        for _ in range(80):
            Q, before = (Q + (Q**-1).T) / 2, Q
            if mp.norm(Q - before) < mp.mpf(10) ** -60:
                break
        return entries(Q)
