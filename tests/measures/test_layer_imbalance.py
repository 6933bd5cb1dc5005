"""The imbalance of layers, on networks trained here."""

import itertools

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.measures import balance, layer_imbalance

SIZES = (4, 3, 5, 2)


def descent(rate, steps, relu=False):
    """Three layers by hand-written gradient descent on ½ mean squared error; a record of every layer."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, SIZES[0])), rng.standard_normal((20, SIZES[-1]))
    layers = [0.5 * rng.standard_normal(s) for s in itertools.pairwise(SIZES)]
    record = [[w.copy() for w in layers]]
    for _ in range(steps):
        inputs = [X]
        for w in layers[:-1]:
            inputs.append(np.maximum(inputs[-1] @ w, 0) if relu else inputs[-1] @ w)
        error = (inputs[-1] @ layers[-1] - Y) / 20
        slopes = []
        for h, w in zip(inputs[::-1], layers[::-1], strict=True):
            slopes.insert(0, h.T @ error)
            error = (error @ w.T) * ((h > 0) if relu else 1)
        layers = [w - rate * g for w, g in zip(layers, slopes, strict=True)]
        record.append(layers)
    return [np.stack(each) for each in zip(*record, strict=True)]


def test_descent_keeps_it_up_to_the_step():
    fine, coarse = (layer_imbalance(descent(rate, round(2 / rate))) for rate in (1e-3, 1e-2))
    assert fine.coefficient.shape == (2001, 2)
    assert np.all(fine.drift[0] == 0)
    assert np.all(fine.drift[-1] < 2e-3 * fine.scale[0])
    np.testing.assert_allclose(coarse.drift[-1] / fine.drift[-1], 10, rtol=0.2)


def test_relu_keeps_the_coefficient_and_not_the_whole():
    found = layer_imbalance(descent(1e-3, 3000, relu=True))
    moved = np.abs(found.coefficient[-1] - found.coefficient[0])
    assert np.all(moved < 2e-3 * found.scale[0])
    assert found.drift[-1].max() > 10 * moved.max()


def test_is_the_balance_of_units():
    layers = descent(1e-2, 3)
    one = layer_imbalance([w[-1] for w in layers])
    matrix = balance(layers[0][-1].T, layers[1][-1], matrix=True).values
    assert one.coefficient[0] == pytest.approx(np.trace(matrix) / 3)
    assert one.residual[0] == pytest.approx(np.linalg.norm(matrix - one.coefficient[0] * np.eye(3)))
    assert np.all(one.drift == 0)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([np.eye(2)], "`layers` must be a list of at least two layers"),
        (np.eye(2), "`layers` must be a list"),
        ([np.eye(2), np.eye(3)], r"`layers\[1\]` must have the shape \(2, outputs\).*Transpose"),
        (
            [np.ones((7, 2, 2)), np.ones((6, 2, 2))],
            r"`layers\[1\]` must have the shape \(7, 2, outputs\)",
        ),
        ([np.ones(2), np.eye(2)], r"`layers\[0\]` must have the shape"),
        ([np.eye(2), np.full((2, 2), np.nan)], r"`layers\[1\]"),
    ],
)
def test_bad_input(layers, message):
    with pytest.raises(ArgumentError, match=message):
        layer_imbalance(layers)
