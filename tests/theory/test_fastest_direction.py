"""The fastest direction of small ReLU units, against grids and random search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.theory import fastest_direction
from lazyrich.theory._fastest_direction import _ascend, _gain, _heights

PAIR, LABELS = np.array([[1.0, 0.5], [-1.0, 2.0]]), np.array([1.0, -1.0])
"""The data of Fig. 1D."""


def gains(u, x, y, weights=None):
    """⟨ReLU(uᵀx) y⟩ for directions in the rows of u."""
    p = np.full(len(x), 1 / len(x)) if weights is None else weights
    return np.maximum(u @ x.T, 0) @ (p[:, None] * y.reshape(len(x), -1))


def circle(num=20001):
    angle = np.linspace(0, 2 * np.pi, num)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_on_a_circle_as_a_grid_says(seed, samples, outputs, weighted):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((samples, 2)), rng.standard_normal((samples, outputs))
    weights = rng.uniform(0, 1, samples) if weighted else None
    found = fastest_direction(x, y, weights)
    grid = np.linalg.norm(gains(circle(), x, y, weights), axis=1).max()
    steepest = np.abs(y).sum() * np.abs(x).sum()
    assert (
        -1e-12 <= found.rate - grid < steepest * 2e-4
    )  # a maximum on a kink may lie between points
    at = gains(found.incoming[None], x, y, weights)[0]
    assert found.outgoing @ at == pytest.approx(found.rate, rel=1e-9)
    assert np.linalg.norm(found.incoming) == pytest.approx(1)
    assert np.linalg.norm(found.outgoing) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 10), st.sampled_from([1, -1]))
def test_with_a_sign(seed, samples, sign):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((samples, 2)), rng.standard_normal(samples)
    found = fastest_direction(x, y, sign=sign)
    grid = (sign * gains(circle(), x, y)[:, 0]).max()
    assert -1e-12 <= found.rate - grid < np.abs(y).sum() * np.abs(x).sum() * 2e-4
    both = fastest_direction(x, y).rate
    assert both == pytest.approx(max(fastest_direction(x, y, sign=s).rate for s in (1, -1)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 10), st.integers(1, 2))
def test_ascent_finds_what_is_exact(seed, samples, outputs):
    """The method for many dimensions, in two."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((samples, 2)), rng.standard_normal((samples, outputs)) / samples
    starts = np.concatenate([x, -x, rng.standard_normal((30, 2))])
    heights = [_heights(_gain(_ascend(u, x, y, (1, -1)), x, y), (1, -1)) for u in starts]
    assert max(heights) == pytest.approx(float(fastest_direction(x, y * samples).rate), rel=1e-9)


def test_the_pair_of_the_first_figure():
    """Each input is orthogonal to the other, so that units grow along them, at half their length."""
    positive, negative = (fastest_direction(PAIR, LABELS, sign=sign) for sign in (1, -1))
    np.testing.assert_allclose(positive.incoming, PAIR[0] / np.sqrt(1.25), atol=1e-12)
    np.testing.assert_allclose(negative.incoming, PAIR[1] / np.sqrt(5), atol=1e-12)
    assert positive.rate == pytest.approx(np.sqrt(1.25) / 2)
    assert negative.rate == pytest.approx(np.sqrt(5) / 2)
    assert fastest_direction(PAIR, LABELS).outgoing[0] == -1


def test_the_maximum_on_a_kink():
    """Two inputs at an acute angle with opposite labels: a unit grows orthogonally to the wrong one."""
    x, y = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]), np.array([1.0, -1.0])
    for data in (x[:, :2], x):
        found = fastest_direction(data, y, sign=1)
        np.testing.assert_allclose(found.incoming[:2], [np.sqrt(0.5), -np.sqrt(0.5)], atol=1e-9)
        assert found.rate == pytest.approx(np.sqrt(0.5) / 2)


@pytest.mark.parametrize(("seed", "outputs"), [(0, 1), (1, 3)])
def test_five_dimensions_against_random_search(seed, outputs):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((20, 5)), rng.standard_normal((20, outputs))
    found = fastest_direction(x, y, num_starts=40)
    u = rng.standard_normal((100_000, 5))
    best = np.linalg.norm(gains(u / np.linalg.norm(u, axis=1, keepdims=True), x, y), axis=1).max()
    assert best <= found.rate < 1.05 * best
    assert 1 / 40 <= found.agreement <= 1
    again = fastest_direction(x, y, num_starts=40, seed=7)
    assert again.rate == pytest.approx(float(found.rate))


def test_turns_with_the_inputs_and_scales():
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((8, 3)), rng.standard_normal(8)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    found, turned = fastest_direction(x, y), fastest_direction(2 * x @ Q.T, 3 * y)
    assert turned.rate == pytest.approx(6 * found.rate)
    np.testing.assert_allclose(turned.incoming, Q @ found.incoming, atol=1e-6)


def test_one_label_sign_without_negatives_is_the_linear_direction():
    """All inputs in a half-space and positive labels: every sample is active, as in a linear network."""
    rng = np.random.default_rng(0)
    x = np.abs(rng.standard_normal((10, 4)))
    y = np.abs(rng.standard_normal(10))
    found = fastest_direction(x, y)
    mean = y @ x / 10
    assert found.rate == pytest.approx(np.linalg.norm(mean))
    np.testing.assert_allclose(found.incoming, mean / np.linalg.norm(mean), atol=1e-12)
    assert found.agreement > 0.3


def test_one_dimension_and_nothing_to_gain():
    found = fastest_direction([[1.0], [-3.0]], [2.0, 2.0])
    assert found.incoming == -1
    assert found.rate == 3
    around = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert fastest_direction(around, -np.ones(3), sign=1).rate < 0
    assert fastest_direction(np.eye(3), -np.ones(3), sign=1).rate <= 0


def test_small_units_turn_to_it():
    """Gradient flow of a small unit with the pair of Fig. 1D, by Euler steps."""
    found = fastest_direction(PAIR, LABELS)
    u, v, h = np.array([1e-6, 1e-6]), -1e-6, 1e-3
    for _ in range(10000):
        active = (PAIR @ u > 0) * LABELS / 2
        u, v = u + h * v * (active @ PAIR), v + h * (active @ (PAIR @ u))
    assert u @ found.incoming / np.linalg.norm(u) > 0.99
    rate = np.linalg.norm(v * (active @ PAIR)) / np.linalg.norm(u)
    assert rate == pytest.approx(float(found.rate), rel=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fastest_direction([1.0, 2.0], [1.0]), r"`inputs` must have the shape \(samples, inputs\)"),
        (lambda: fastest_direction(PAIR, [1.0]), r"`targets` must have the shape \(2,\) or \(2, outputs\)"),
        (lambda: fastest_direction(PAIR, [np.nan, 1.0]), r"`targets\[0\]` must be a finite real number"),
        (lambda: fastest_direction(PAIR, [0.0, 0.0]), "`targets` must not vanish"),
        (lambda: fastest_direction(PAIR, LABELS, [1.0]), r"`sample_weights` must have the shape \(2,\)"),
        (lambda: fastest_direction(PAIR, LABELS, [1.0, -1.0]), r"`sample_weights\[1\]` must be .* ≥ 0"),
        (lambda: fastest_direction(PAIR, LABELS, sign=2), "`sign` must be 1, -1 or None, got 2"),
        (lambda: fastest_direction(PAIR, PAIR, sign=1), "`sign` must be None for 2 outputs"),
        (lambda: fastest_direction(PAIR, LABELS, num_starts=0), "`num_starts` must be"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
