"""The last column of a polar factor in closed form."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import polar

from lazyrich.core import ArgumentError
from lazyrich.quantities import polar_factor
from lazyrich.theory import muon_projection


def case(seed, d=6, m=3):
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.standard_normal((d, m)))[0], rng.standard_normal(d)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), size=st.floats(1e-3, 1e3))
def test_agrees_with_the_whole_matrix(seed, size):
    Q, v = case(seed)
    exact = polar(np.column_stack([Q, size * v]))[0][:, -1]
    np.testing.assert_allclose(muon_projection(Q, size * v), exact, atol=1e-9)


def test_length_is_one_unless_the_vector_lies_in_the_span():
    Q, v = case(0)
    assert np.linalg.norm(muon_projection(Q, v)) == pytest.approx(1)
    inside = Q @ (Q.T @ v)
    np.testing.assert_allclose(
        muon_projection(Q, inside), inside / np.sqrt(1 + inside @ inside), atol=1e-12
    )
    np.testing.assert_allclose(
        muon_projection(Q, inside), polar_factor(np.column_stack([Q, inside]))[:, -1], atol=1e-9
    )
    outside = v - inside
    np.testing.assert_allclose(muon_projection(Q, outside), outside / np.linalg.norm(outside))


def test_what_is_known_is_discounted_by_at_least_half():
    Q, v = case(1)
    v *= 0.9 / np.linalg.norm(v)
    w = muon_projection(Q, v)
    before, after = ((np.linalg.norm(Q.T @ x) / np.linalg.norm(x - Q @ (Q.T @ x))) for x in (v, w))
    beta = np.linalg.norm(v - Q @ (Q.T @ v))
    assert after / before == pytest.approx(beta / (1 + beta))
    assert after < before / 2


def test_error_of_the_printed_form_is_quadratic_in_what_is_known():
    Q, v = case(2)
    inside, outside = Q @ (Q.T @ v), v - Q @ (Q.T @ v)
    sizes = np.array([1e-1, 1e-2])
    errors = []
    for size in sizes:
        x = size * inside + outside
        beta = np.linalg.norm(outside)
        printed = outside / beta + size * inside / (1 + beta)
        errors.append(np.linalg.norm(printed - muon_projection(Q, x)))
    assert np.log(errors[0] / errors[1]) / np.log(10) == pytest.approx(2, abs=0.05)


def test_vectors_batch_and_trace():
    Q, _ = case(3)
    v = np.random.default_rng(4).standard_normal((2, 5, 6))
    batch = muon_projection(Q, v)
    np.testing.assert_allclose(batch[1, 2], muon_projection(Q, v[1, 2]))
    traced = jax.jit(lambda v: muon_projection(Q, v))(v.astype(np.float32))
    np.testing.assert_allclose(traced, batch, atol=1e-5)


def test_bad_input_is_named():
    Q, v = case(5)
    with pytest.raises(ArgumentError, match=r"`basis` must have orthonormal columns"):
        muon_projection(2 * Q, v)
    with pytest.raises(ArgumentError, match=r"`vector` must have the shape \(..., 6\)"):
        muon_projection(Q, v[:3])
    with pytest.raises(ArgumentError, match=r"`basis` must have the shape \(d, m\)"):
        muon_projection(v, v)
