"""Cosine distances of weights, down to angles that one minus a cosine does not see."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import weight_change


@given(st.integers(0, 10**6), st.booleans())
def test_textbook(seed, is_complex):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 4, 3))
    if is_complex:
        a, b = a + 1j * rng.standard_normal((4, 3)), b - 1j * rng.standard_normal((4, 3))

    def distance(x, y):
        return 1 - np.vdot(x, y).real / np.sqrt(np.vdot(x, x).real * np.vdot(y, y).real)

    found = weight_change(a, b)
    assert found.whole == pytest.approx(distance(a, b), abs=1e-12)
    np.testing.assert_allclose(
        found.nodes, [distance(*pair) for pair in zip(a.T, b.T, strict=True)], atol=1e-12
    )
    rows = weight_change(a, b, node_axis=-2).nodes
    np.testing.assert_allclose(
        rows, [distance(*pair) for pair in zip(a, b, strict=True)], atol=1e-12
    )
    assert weight_change(5 * b, 0.1 * a).whole == pytest.approx(found.whole, abs=1e-12)


@pytest.mark.parametrize("angle", [1e-3, 1e-9, 1e-14])
def test_small_angles(angle):
    """Half the squared angle, where 1 − cos is zero in float64."""
    before, after = np.array([[1.0], [0.0]]), np.array([[1.0], [angle]])
    assert weight_change(before, after).whole == pytest.approx(angle**2 / 2, rel=1e-5)


def test_records():
    record = np.random.default_rng(0).standard_normal((2, 6, 4, 3))
    found = weight_change(record[:, ::2], record[:, 1::2])
    assert found.whole.shape == (2, 3)
    assert found.nodes.shape == (2, 3, 3)
    assert found.whole[1, 2] == weight_change(record[1, 4], record[1, 5]).whole


def test_a_node_without_weights_has_no_direction():
    found = weight_change([[1.0, 0.0]], [[1.0, 2.0]])
    assert found.nodes[0] == 0
    assert np.isnan(found.nodes[1])
    assert np.isnan(weight_change([[0.0]], [[1.0]]).whole)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: weight_change([[1.0]], [[1.0, 2.0]]),
            r"`after` must have the shape \(..., 1, 1\)",
        ),
        (
            lambda: weight_change([[1.0]], [[1.0]], node_axis=0),
            "`node_axis` must be -1 or -2, got 0",
        ),
        (lambda: weight_change([[np.nan]], [[1.0]]), "finite real number, got nan"),
        (lambda: weight_change(None, [[1.0]]), "`before` must be a finite real number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
