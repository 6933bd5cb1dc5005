"""The weight-to-target ratio of any network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import weight_to_target_ratio
from lazyrich.theory import ScalarNetwork


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 5), st.floats(0.2, 4))
def test_is_the_ratio_of_the_scalar_network(seed, S, Z):
    rng = np.random.default_rng(seed)
    a, b, x = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(5)
    jacobian = np.outer(x, np.concatenate([b, a])) / Z
    found = weight_to_target_ratio([a, b], jacobian @ jacobian.T, -S * x)
    network = ScalarNetwork(-S, first=a, second=b, normalisation=Z)
    assert found == pytest.approx(network.weight_to_target_ratio, rel=1e-12)


def relu_network(weights, x):
    first, second, third = weights
    return jax.nn.relu(jax.nn.relu(x @ first) @ second) @ third


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(0)
    start = [rng.standard_normal(s) / np.sqrt(s[0]) for s in ((4, 10), (10, 10), (10, 2))]
    x, y = rng.standard_normal((12, 4)), rng.standard_normal((12, 2))

    @jax.jit
    def jacobian(weights, x, scale):
        rows = jax.jacobian(lambda w: scale * relu_network(w, x).ravel())(weights)
        return jnp.concatenate([row.reshape(24, -1) for row in rows], axis=1)

    def measure(weight=1.0, target=1.0, inputs=1.0, outputs=1.0):
        weights = [weight * w for w in start]
        with jax.enable_x64(True):
            J = np.asarray(jacobian(weights, inputs * x, outputs))
        flat = np.concatenate([w.ravel() for w in weights])
        return weight_to_target_ratio(flat, J @ J.T, target * y, degree=3), J, flat, y

    return measure


@pytest.mark.parametrize(
    ("change", "factor"),
    [({"weight": 5.0}, 125.0), ({"target": 30.0}, 1 / 30), ({"inputs": 0.01}, 0.01), ({"outputs": 0.1}, 0.1)],
)  # fmt: skip
def test_the_four_rescalings(measured, change, factor):
    assert measured(**change)[0] == pytest.approx(factor * measured()[0], rel=1e-10)


def test_inverse_is_the_relative_movement_along_the_gradient(measured):
    ratio, J, weights, y = measured(target=1e-3)
    y = 1e-3 * y.ravel()
    step = J.T @ y
    size = (y @ y) / (y @ (J @ step))  # makes the outputs' part along y as large as y
    assert y @ (J @ (size * step)) == pytest.approx(y @ y, rel=1e-12)
    moved = np.linalg.norm(size * step) / np.linalg.norm(weights)
    assert 1 / (3 * ratio) == pytest.approx(moved, rel=1e-12)


def test_lazier_than_by_the_shortest_way(measured):
    # Cauchy–Schwarz: the shortest movement that fits all targets is not shorter
    ratio, J, weights, y = measured()
    shortest = np.linalg.lstsq(J, y.ravel())[0]
    assert 1 / (3 * ratio) <= np.linalg.norm(shortest) / np.linalg.norm(weights)


def test_traced_kernels_share_outputs_equally():
    rng = np.random.default_rng(2)
    W1, W2, x, y = (rng.standard_normal(s) for s in ((3, 5), (5, 2), (7, 3), (7, 2)))
    # the first layer is silent: every output has the kernel of the hidden layer
    J = np.einsum("ih,op->ioph", x @ W1, np.eye(2)).reshape(14, -1)
    full = weight_to_target_ratio(W2, J @ J.T, y, degree=1)
    hidden = 2 * (x @ W1) @ (x @ W1).T
    assert weight_to_target_ratio(W2, hidden, y, degree=1) == pytest.approx(full, rel=1e-12)


def test_no_gradient_no_ratio():
    assert weight_to_target_ratio(np.zeros(3), np.zeros((2, 2)), [1.0, 2.0]) == 0
    assert weight_to_target_ratio(np.ones(3), np.diag([1.0, 0.0]), [0.0, 2.0]) == 0


GOOD = {"weights": np.ones(4), "kernel": np.eye(3), "targets": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"targets": np.zeros(3)}, "`targets` must not vanish.*nothing to learn"),
     ({"targets": [1.0, 2.0]}, r"`kernel` must have the shape \(2, 2\) or \(2, 2\)"),
     ({"targets": np.ones((3, 2)), "kernel": np.eye(5)}, r"`kernel` must have the shape \(6, 6\) or \(3, 3"),
     ({"targets": 1.0}, r"`targets` must have the shape \(n,\) or \(n, c\)"),
     ({"targets": [1.0, np.nan, 0.0]}, r"`targets\[1\]` must be a finite real number"),
     ({"kernel": -np.eye(3)}, "`kernel` must have no negative eigenvalues"),
     ({"kernel": "K"}, "`kernel` must be a finite real number"),
     ({"weights": []}, "`weights` must not be empty"),
     ({"weights": [np.inf]}, r"`weights\[0\]` must be a finite real number"),
     ({"degree": 0}, "`degree` must be"),
     ({"degree": 1.5}, "`degree` must be")],
)  # fmt: skip
def test_bad_input(changes, message):
    with pytest.raises(ArgumentError, match=message):
        weight_to_target_ratio(**GOOD | changes)
