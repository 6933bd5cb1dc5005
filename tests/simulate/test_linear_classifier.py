"""A linear classifier against plain steps, and its starts."""

import numpy as np
import pytest

from lazyrich import simulate
from lazyrich.core import ArgumentError

SHAPE = {
    "input_dimension": 12,
    "num_classes": 3,
    "samples_per_class": 3,
    "width": 4,
    "num_test": 20,
}


@pytest.mark.parametrize("bias", [False, True])
def test_same_as_plain_steps(bias):
    training = simulate.LinearClassifier(**SHAPE, initial_std=0.3, bias=bias)
    (A, B, b), data = training.start(1)
    n, losses = len(data.inputs), []
    for _ in range(201):
        H = data.inputs @ A
        E = (H @ B + b - data.targets) / n
        losses.append(n * np.sum(E**2) / 2)
        last = H, B, b
        A, B, b = (
            A - 0.1 * data.inputs.T @ E @ B.T,
            B - 0.1 * H.T @ E,
            b - 0.1 * bias * E.sum(axis=0),
        )
    run = simulate.gradient_descent(training, np.arange(201), learning_rate=0.1, seeds=[1])
    np.testing.assert_allclose(run.loss[0], losses, rtol=1e-10)
    for name, exact in zip(("features", "last_layer", "bias"), last, strict=True):
        np.testing.assert_allclose(run[name][0, -1], exact, rtol=1e-9, atol=1e-12)
    assert np.any(b) == bias


def test_cases_share_seeds_and_differ_in_what_they_say():
    plain, large = (simulate.LinearClassifier(**SHAPE, initial_std=std) for std in (1e-3, 1.0))
    (A, B, _), data = plain.start(0)
    (A1, B1, _), data1 = large.start(0)
    np.testing.assert_allclose(A1, 1000 * A)
    np.testing.assert_allclose(B1, 1000 * B)
    np.testing.assert_array_equal(data.inputs, data1.inputs)
    random = simulate.LinearClassifier(**SHAPE, random_labels=True)
    assert np.any(random.labels(0) != plain.labels(0))
    assert np.bincount(random.labels(0)).tolist() == [3, 3, 3]
    np.testing.assert_array_equal(random.start(0)[1].targets.argmax(axis=1), random.labels(0))
    white = simulate.LinearClassifier(**SHAPE, whitened=True).start(0)[1].inputs
    np.testing.assert_allclose(white @ white.T, np.eye(9), atol=1e-12)


@pytest.mark.parametrize("unconstrained", [False, True])
def test_balanced_starts(unconstrained):
    training = simulate.LinearClassifier(**SHAPE, balanced=True, unconstrained=unconstrained)
    (A, B, _), data = training.start(3)
    np.testing.assert_allclose(A.T @ A, B @ B.T, atol=1e-18)
    if unconstrained:
        np.testing.assert_array_equal(data.inputs, np.eye(9, 12))
        np.testing.assert_array_equal(A[9:], 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"input_dimension": 5},
            "`input_dimension` must be at least 9, the number of samples, got 5",
        ),
        ({"num_classes": 1}, "`num_classes` must be .* ≥ 2"),
        ({"initial_std": 0}, "`initial_std` must be a finite real number > 0"),
        ({"separation": 2}, "`separation` must be .* ≤ 1"),
        ({"width": 2, "balanced": True}, "`width` must be at least 3 to balance"),
        ({"samples_per_class": 0}, "`samples_per_class` must be .* ≥ 1"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ArgumentError, match=message):
        simulate.LinearClassifier(**SHAPE | changes)
