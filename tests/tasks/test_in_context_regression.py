"""In-context regression: sequences, and the exact moments that linear attention learns from."""

import itertools

import jax
import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import InContextRegression

CORRELATED = [[0.6, 0.2], [0.2, 0.5]]


def test_sequences_hold_examples_of_one_linear_map_and_a_query():
    data = InContextRegression(CORRELATED, context=6, num_samples=40).dataset(jax.random.key(0))
    assert data.inputs.shape == (40, 7, 3)
    assert data.inputs.dtype == np.float64
    assert (data.inputs[:, -1, -1] == 0).all()  # the query's label is asked for
    for tokens, label in zip(data.inputs, data.targets, strict=True):
        w, residual, *_ = np.linalg.lstsq(tokens[:-1, :2], tokens[:-1, 2], rcond=None)
        assert residual == pytest.approx(0, abs=1e-20)
        np.testing.assert_allclose(tokens[-1, :2] @ w, label, rtol=1e-7)
    np.testing.assert_array_equal(data.weights, np.full(40, 1 / 40))


def test_samples_have_the_stated_spread():
    data = InContextRegression(CORRELATED, context=1, num_samples=50_000).dataset(jax.random.key(0))
    x, q = data.inputs[:, 0, :2], data.inputs[:, 1, :2]
    for values in (x, q):
        products = values[:, :, None] * values[:, None]
        errors = products.std(axis=0) / np.sqrt(5e4)
        assert (np.abs(products.mean(axis=0) - CORRELATED) < 4.5 * errors).all()
    assert abs((x * q).mean()) < 4.5 * (x * q).std() / np.sqrt(1e5)
    power = data.targets**2  # E y² = Tr Λ, as w is white
    assert abs(power.mean() - 1.1) < 4.5 * power.std() / np.sqrt(5e4)


def test_the_key_decides():
    task = InContextRegression(2, 3, 5)
    one, other, again = (task.dataset(jax.random.key(seed)).inputs for seed in (0, 1, 0))
    assert (one == again).all()
    assert (one[:, :-1] != other[:, :-1]).all()


def sampled(task, num=150_000):
    """z_abc and y of brute-force sequences."""
    rng = np.random.default_rng(5)
    root, D = np.linalg.cholesky(task.covariance), task.input_dimension
    x = rng.standard_normal((num, task.context + 1, D)) @ root.T
    w = rng.standard_normal((num, D))
    tokens = np.concatenate([x, np.einsum("ntd,nd->nt", x, w)[..., None]], axis=2)
    y = tokens[:, -1, -1].copy()
    tokens[:, -1, -1] = 0
    z = np.einsum("nta,ntb,nc->nabc", tokens, tokens, tokens[:, -1], optimize=True)
    return z, y


def test_moments_are_those_of_many_samples():
    task = InContextRegression(CORRELATED, context=3)
    correlation, covariance, power = task.moments()
    z, y = sampled(task)
    num, flat = len(y), z.reshape(len(y), -1)
    mean, square = flat.T @ flat / num, (flat**2).T @ flat**2 / num
    errors = np.sqrt(np.maximum(square - mean**2, 0) / num) + 1e-12
    # 729 entries with heavy tails, many of them equal by symmetry
    assert (np.abs(mean - covariance.reshape(mean.shape)) < 5.5 * errors).all()
    mixed = flat * y[:, None]
    errors = mixed.std(axis=0) / np.sqrt(num) + 1e-12
    assert (np.abs(mixed.mean(axis=0) - correlation.ravel()) < 5 * errors).all()
    assert abs(np.mean(y**2) - power) < 4.5 * np.std(y**2) / np.sqrt(num)


@pytest.mark.parametrize(("variance", "context"), [(1.0, 1), (0.5, 32), (3.0, 7)])
def test_moments_in_one_dimension_by_hand(variance, context):
    """With T = Σ x²: the sums are S_ab = T wᵃ⁺ᵇ + q² [a = b = 0], and z_abc = S_ab q [c = 0]."""
    T, T2 = context * variance, variance**2 * (context**2 + 2 * context)
    q2, q4, q6 = variance, 3 * variance**2, 15 * variance**3
    w = {0: 1, 1: 0, 2: 1, 3: 0, 4: 3}
    moments = InContextRegression([[variance]], context).moments()
    for a, b, c, d, e, f in itertools.product(range(2), repeat=6):
        one, other = a == b == 0, d == e == 0
        exact = T2 * q2 * w[a + b + d + e] + T * q4 * (w[a + b] * other + w[d + e] * one)
        exact = (exact + q6 * (one and other)) * (c == f == 0)
        assert moments.covariance[a, b, c, d, e, f] == pytest.approx(exact, rel=1e-12, abs=1e-12)
    for a, b, c in itertools.product(range(2), repeat=3):
        # E[z y] with y = w q: the query's own square meets w once, so nothing is left of it
        exact = T * q2 * (a + b == 1) * (c == 0)
        assert moments.correlation[a, b, c] == pytest.approx(exact, rel=1e-12, abs=1e-12)
    assert moments.output_power == pytest.approx(variance)


def test_moments_have_their_symmetries():
    correlation, covariance, _ = InContextRegression(CORRELATED, 4).moments()
    np.testing.assert_allclose(covariance, covariance.transpose(1, 0, 2, 3, 4, 5), atol=1e-12)
    np.testing.assert_allclose(covariance, covariance.transpose(3, 4, 5, 0, 1, 2), atol=1e-12)
    np.testing.assert_allclose(correlation, correlation.transpose(1, 0, 2), atol=1e-12)
    values = np.linalg.eigvalsh(covariance.reshape(27, 27))
    assert values[0] > -1e-12 * values[-1]


def test_moments_scale_with_the_covariance():
    """Six factors x in E[zz], four in E[zy], two in E[y²]."""
    one, four = (InContextRegression(s * np.array(CORRELATED), 5).moments() for s in (1, 4))
    np.testing.assert_allclose(four.covariance, 64 * one.covariance, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(four.correlation, 16 * one.correlation, rtol=1e-12, atol=1e-12)
    assert four.output_power == pytest.approx(4 * one.output_power)


def test_a_direction_without_variance_is_not_there():
    less = InContextRegression([[2.0]], 5).moments()
    more = InContextRegression(np.diag([2.0, 0.0]), 5).moments()
    kept = [0, 2]  # the first input and the label
    np.testing.assert_allclose(
        more.covariance[np.ix_(*[kept] * 6)], less.covariance, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        more.correlation[np.ix_(*[kept] * 3)], less.correlation, rtol=1e-12, atol=1e-12
    )
    assert np.abs(more.covariance[1]).max() < 1e-12
    assert np.abs(more.correlation[:, :, 1]).max() < 1e-12
    assert more.output_power == less.output_power == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"covariance": 0}, r"`covariance` must be .* ≥ 1, got 0. Pass a matrix or the dimension D."),
     ({"covariance": [1.0]}, r"`covariance` must have the shape \(inputs, inputs\), got \(1,\)"),
     ({"covariance": [[1.0, 1.0], [0.0, 1.0]]}, "`covariance` must be symmetric"),
     ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "`covariance` must be positive semi-definite"),
     ({"covariance": [[np.nan]]}, r"`covariance\[0, 0\]` must be"),
     ({"context": 0}, r"`context` must be .* ≥ 1, got 0. Pass e.g. 32."),
     ({"context": 2.5}, "`context` must"), ({"num_samples": 0}, "`num_samples` must"),
     ({"num_samples": None}, "`num_samples` must")],
)  # fmt: skip
def test_bad_input(fields, message):
    with pytest.raises(ArgumentError, match=message):
        InContextRegression(**{"covariance": 2, "context": 3, "num_samples": 10} | fields)


def test_moments_of_many_dimensions_are_refused():
    with pytest.raises(
        ArgumentError,
        match=r"`covariance` must be at most 4 × 4 here, got 5. Draw samples instead.",
    ):
        InContextRegression(5, 3).moments()
