"""Escape from the saddle at zero."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from lazyrich.core import ArgumentError, Status
from lazyrich.theory import LinearEscape


def draw(seed, outputs=3, inputs=4, units=5, scale=1.0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((outputs, inputs)), scale * rng.standard_normal((inputs, units)),
            scale * rng.standard_normal((units, outputs)))  # fmt: skip


def stacked(first, second):
    return np.concatenate([second, first.T], axis=1)


@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.floats(0, 3))
def test_is_the_matrix_exponential(seed, outputs, inputs, units, time):
    S, first, second = draw(seed, outputs, inputs, units)
    M = np.block([[np.zeros((outputs, outputs)), S], [S.T, np.zeros((inputs, inputs))]])
    exact = stacked(first, second) @ expm(time * M)
    np.testing.assert_allclose(
        LinearEscape(S, first, second).units(time), exact, rtol=1e-9, atol=1e-9
    )


@given(st.integers(0, 50), st.floats(0, 2), st.floats(0, 2))
def test_semigroup(seed, one, two):
    S, first, second = draw(seed)
    half = LinearEscape(S, first, second).units(one)
    again = LinearEscape(S, half[:, 3:].T, half[:, :3]).units(two)
    np.testing.assert_allclose(
        again, LinearEscape(S, first, second).units(one + two), rtol=1e-8, atol=1e-8
    )


@given(st.integers(0, 50), st.floats(0, 5))
def test_rotations_of_inputs_and_outputs_rotate_the_units(seed, time):
    S, first, second = draw(seed)
    rng = np.random.default_rng(seed + 100)
    A, B = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (3, 4))
    turned = LinearEscape(A @ S @ B.T, B @ first, second @ A.T).units(time)
    plain = LinearEscape(S, first, second).units(time)
    right = np.concatenate([plain[:, :3] @ A.T, plain[:, 3:] @ B.T], axis=1)
    np.testing.assert_allclose(turned, right, rtol=1e-7, atol=1e-7 * np.abs(right).max())


@given(st.integers(0, 50), st.floats(0, 5))
def test_imbalance_is_conserved(seed, time):
    """The linear flow keeps u_iᵀu_j − v_iᵀv_j for all pairs of units."""
    S, first, second = draw(seed)
    units = LinearEscape(S, first, second).units(time)
    now = units[:, 3:] @ units[:, 3:].T - units[:, :3] @ units[:, :3].T
    np.testing.assert_allclose(
        now, first.T @ first - second @ second.T, rtol=0, atol=1e-10 * np.abs(units).max() ** 2
    )


@given(st.integers(0, 50), st.floats(0, 5))
def test_parts_add_up(seed, time):
    escape = LinearEscape(*draw(seed))
    square = escape.aligned(time) ** 2 + escape.misaligned(time) ** 2
    np.testing.assert_allclose(square, np.sum(escape.units(time) ** 2, axis=-1), rtol=1e-10)


@given(st.integers(0, 50), st.floats(1e-3, 1e3), st.floats(0.01, 3))
def test_rate_and_time_are_one(seed, rate, time):
    slow = LinearEscape(*draw(seed), rate).units(time / rate)
    np.testing.assert_allclose(slow, LinearEscape(*draw(seed)).units(time), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("values", [(3.0, 1.0), (2.0, 2.0), (1.0, 0.0)])
def test_multiplicity_and_exponent(values):
    escape = LinearEscape(np.diag(values), np.ones((2, 1)), np.ones((1, 2)))
    assert escape.multiplicity == (2 if values[0] == values[1] else 1)
    expected = 1 - (values[1] / values[0] if values[1] < values[0] else 0)
    assert escape.misalignment_exponent == pytest.approx(expected)
    np.testing.assert_allclose(escape.singular_values, values, atol=1e-15)


def test_escape_times_and_their_status():
    S = np.diag([2.0, 1.0])
    first = np.array([[1e-6, 5.0, 0.0], [0.0, 0.0, 1.0]])
    second = np.array([[1e-6, 0.0], [5.0, 0.0], [0.0, -1.0]])
    found = LinearEscape(S, first, second).escape_time(1.0)
    assert found.status.tolist() == [Status.REACHED, Status.AT_START, Status.NEVER]
    assert found.time[0] == pytest.approx(np.log(1 / np.sqrt(2e-12)) / 2)
    assert found.time[1] == 0
    assert np.isinf(found.time[2])


@given(st.integers(0, 200))
def test_a_start_orthogonal_to_the_winner_never_escapes_in_any_basis(seed):
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (3, 4))
    S = A @ np.eye(3, 4) * [2.0, 1.0, 0.5, 0.0] @ B.T
    first = 1e-4 * B[:, 1:] @ rng.standard_normal((3, 2))
    second = 1e-4 * rng.standard_normal((2, 2)) @ A[:, 1:].T
    escape = LinearEscape(S, first, second)
    assert escape.escape_time().status.tolist() == [Status.NEVER] * 2
    late = escape.units(60.0)  # rounding errors would have grown to 1e30
    right = 1e-4 * np.exp(60)
    assert np.all(np.linalg.norm(late, axis=1) < 10 * right)


def test_a_small_part_that_is_no_rounding_error_counts():
    """Written in the basis of the correlation the part is exact, however small."""
    first, second = np.array([[1e-25], [1e-2]]), np.zeros((1, 2))
    found = LinearEscape(np.diag([2.0, 1.0]), first, second).escape_time()
    assert found.time[0] == pytest.approx(np.log(np.sqrt(2) / 1e-25) / 2)


def test_tiny_rests_keep_their_digits():
    escape = LinearEscape(*draw(1, scale=1e-100))
    time = float(escape.escape_time().time[0])
    s = escape.singular_values
    late = escape.misaligned(time)[0] / escape.misaligned(time / 2)[0]
    assert np.log(late) / (time / 2) == pytest.approx(s[1], rel=0.02)
    assert escape.misaligned(time)[0] < 1e-5


def test_gradients_at_equal_singular_values():
    first, second = np.ones((2, 1)), np.ones((1, 2))

    def size(shift):
        S = np.eye(2) + shift * np.array([[0.3, 0.1], [0.0, -0.2]])
        return jnp.sum(LinearEscape(S, first, second).units(0.7) ** 2)

    with jax.enable_x64(True):
        slope = float(jax.grad(size)(0.0))
        difference = float(size(1e-6) - size(-1e-6)) / 2e-6
    assert slope == pytest.approx(difference, rel=1e-6)


def test_what_needs_a_known_correlation_says_so():
    first, second = np.ones((2, 1)), np.ones((1, 2))
    with pytest.raises(ArgumentError, match="`correlation` must be known now"):
        jax.jit(lambda S: LinearEscape(S, first, second).aligned(1.0))(np.eye(2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"correlation": np.ones(3)}, "`correlation` must have the shape"),
     ({"correlation": np.zeros((3, 4))}, "`correlation` must not vanish"),
     ({"correlation": np.full((3, 4), np.nan)}, "`correlation"),
     ({"first": np.ones((3, 5))}, "`first` must have the shape"),
     ({"first": np.ones((4, 0))}, "`first` must have the shape"),
     ({"second": np.ones((5, 4))}, "`second` must have the shape"),
     ({"learning_rate": 0}, "`learning_rate` must"),
     ({"degeneracy": 1.0}, "`degeneracy` must"), ({"degeneracy": -1}, "`degeneracy` must")],
)  # fmt: skip
def test_bad_input(changes, message):
    S, first, second = draw(0)
    with pytest.raises(ArgumentError, match=message):
        LinearEscape(**{"correlation": S, "first": first, "second": second} | changes)


@pytest.mark.parametrize("size", [0, -1, np.nan, "a", None])
def test_bad_size(size):
    with pytest.raises(ArgumentError, match="`size` must"):
        LinearEscape(*draw(0)).escape_time(size)
