"""References of the accuracy report that are a closed form at many digits, against the flow that it solves.

All these models are two layers W₁, W₂ with Ẇ₁ = r(Σ − W₁W₂/Z)W₂ᵀ and Ẇ₂ = rW₁ᵀ(Σ − W₁W₂/Z). Power series in
time, summed at 40 digits step after step, solve that without any formula for the result.
"""

import mpmath
import numpy as np
import pytest
from mpmath import mp

from lazyrich.checks.accuracy import balanced, collapse, scalar_network, separate_modes
from lazyrich.checks.accuracy._matrix import entries
from lazyrich.checks.accuracy._symmetric import riccati

DIGITS, ORDER = 40, 26
STEP = 0.1
"""Of a series, in units of the rate at which layers change: the first term left out is below 1e-26."""
TOLERANCE = mpmath.mpf(10) ** -25


def flow(first, second, task, time, *, rate=1, normalisation=1):
    """Both layers after a time, from arrays of numbers."""
    A, B, sigma = (
        np.vectorize(mp.mpmathify, otypes=[object])(part) for part in (first, second, task)
    )
    rate, left = mp.mpmathify(rate), mp.mpmathify(time)
    while left > 0:
        speed = rate * sum(np.sum(part**2) for part in (A, B)) / normalisation + rate * np.max(
            abs(sigma)
        )
        h = min(left, STEP / speed)
        A, B = (total(parts, h) for parts in series(A, B, sigma, rate, normalisation))
        left -= h
    return A, B


def series(A, B, sigma, rate, normalisation):
    """The coefficients of a power series of each layer."""
    a, b, error = [A], [B], []
    for n in range(ORDER):
        product = sum(a[i] @ b[n - i] for i in range(n + 1)) / normalisation
        error.append((sigma if n == 0 else 0) - product)
        step = rate / (n + 1)
        a.append(sum(error[i] @ b[n - i].T for i in range(n + 1)) * step)
        b.append(sum(a[i].T @ error[n - i] for i in range(n + 1)) * step)
    return a, b


def total(coefficients, h):
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * h + coefficient
    return value


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


def agree(found, true):
    found, true = (
        np.ravel(np.asarray(found, dtype=object)),
        np.ravel(np.asarray(true, dtype=object)),
    )
    size = max(abs(value) for value in true)
    assert size > 1e-9
    assert max(abs(x - y) for x, y in zip(found, true, strict=True)) < TOLERANCE * size


def test_the_series_solves_what_can_be_solved_by_hand():
    """Equal weights: ab is a sigmoid."""
    A, B = flow([[0.125]], [[0.125]], [[1.0]], 1)
    agree(A @ B, 1 / (1 + (mp.mpf(64) - 1) * mp.exp(-2)))


@pytest.mark.parametrize(
    ("start", "S", "Z", "t"),
    [
        ("random, 1", 1.0, 3**0.5, 1.0),
        ("random, 1", -2.0, 1.0, 0.5),
        ("b = 0, 1", 50.0, 1.0, 0.05),
        ("nearly a = −b, 1", 1e-6, 1.0, 2.0),
        ("a = −b, 0.001", 0.0, 3**0.5, 2.0),
    ],
)
def test_scalar_network(start, S, Z, t):
    a, b = scalar_network._starts()[start]
    A, B = flow(
        [a.tolist()],
        [[v] for v in b.tolist()],
        [[S]],
        t,
        rate=1 / mp.mpf(Z),
        normalisation=mp.mpf(Z),
    )
    with mp.workdps(120):
        s = scalar_network.state(start, mp.mpf(S), mp.mpf(Z), mp.mpf(t))
        parts = [scalar_network._parts(s, feature) for feature in range(3)]
    agree([p + q for p, q in parts], A)
    agree([p - q for p, q in parts], B)
    assert abs(scalar_network._theta(s) - (A @ B)[0, 0] / mp.mpf(Z)) < TOLERANCE


@pytest.mark.parametrize(
    ("a", "b", "S", "v", "t"),
    [(1e-3, 1e-3, 1.0, 1.0, 4.0), (1.0, -0.7, -2.0, 1.0, 1.0), (1.0, 0.3, 40.0, 0.01, 2.0)],
)
def test_diagonal_network(a, b, S, v, t):
    A, B = flow([[a]], [[b]], [[S]], t, rate=v)
    reference = separate_modes._flow(separate_modes._product)
    agree(reference(*map(mp.mpf, (a, b, S, v, t))), A @ B)


@pytest.mark.parametrize(
    ("imbalance", "S", "start", "t"),
    [(0.0, 1.0, 0.01, 3.0), (-1.0, -1.5, 2.5, 1.0), (1e-3, 20.0, 0.01, 0.25), (3.0, 1.0, 0.0, 1.0)],
)
def test_balanced_modes(imbalance, S, start, t):
    root = mp.sqrt(mp.mpf(imbalance) ** 2 + 4 * mp.mpf(start) ** 2)
    a, b = mp.sqrt((root - imbalance) / 2), mp.sqrt((root + imbalance) / 2)
    A, B = flow([[a]], [[b if start >= 0 else -b]], [[S]], t)
    reference = balanced._of_product(lambda S, start, rho, parts: rho)
    agree(reference(*map(mp.mpf, (imbalance, S, start, t))), A @ B)


def orthonormal(rows, columns, seed):
    numbers = np.random.default_rng(seed).standard_normal((rows, rows)).tolist()
    return entries(mp.qr(mp.matrix(numbers))[0])[:, :columns]


def gram_and_flow(F, task, squares, rate, time):
    """QQᵀ by the formula and by the flow, from layers whose singular values have these squares.

    They are balanced to all digits, as no start in doubles is.
    """
    first, second = (np.array([mp.sqrt(square) for square in layer]) for layer in squares)
    A = orthonormal(task.rows, len(first), 0) * first
    B = (orthonormal(task.cols, len(second), 1) * second).T
    start = mp.matrix(np.concatenate([A, B.T]).tolist())
    A, B = flow(A, B, entries(task), time, rate=rate)
    layers = np.concatenate([A, B.T])
    return entries(riccati(F, start, time * rate)), layers @ layers.T


@pytest.mark.parametrize(("lam", "time"), [(0.0, 0.5), (0.5, 0.25), (-0.5, 0.25), (3.0, 0.125)])
def test_balanced_network(lam, time):
    lam, small = mp.mpf(lam), [mp.mpf(0.125), mp.mpf(0.375)]
    large = [square + abs(lam) for square in small]
    task = mp.matrix(np.random.default_rng(2).standard_normal((3, 2)).tolist())
    squares = (small, large) if lam >= 0 else (large, small)
    agree(*gram_and_flow(balanced.growth(task, lam), task, squares, 1, mp.mpf(time)))


def test_unconstrained_features():
    case = collapse._models()[4]
    squares = [mp.mpf(0.125), mp.mpf(0.375)]
    rate = mp.mpf(1) / case.targets.rows
    agree(*gram_and_flow(case.F, case.targets, (squares, squares), rate, mp.mpf(1)))
