"""The gradient below a random layer."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.theory import random_layer_gradient

RNG = np.random.default_rng(0)
F, Y = RNG.standard_normal((6, 3)), RNG.standard_normal((6, 2))
A = (Y - Y.mean(0)) @ (Y - Y.mean(0)).T


def test_linear_layer_passes_the_signal():
    found = random_layer_gradient(F, Y, "linear", 0.5)
    np.testing.assert_allclose(found.gradient, 0.25 * A @ F, atol=1e-12)
    np.testing.assert_allclose(found.bend, 0, atol=1e-12)


def test_quadratic_layer():
    found = random_layer_gradient(F, Y, "quadratic", 0.5)
    np.testing.assert_allclose(found.gate, F @ F.T, atol=1e-12)  # 4τ² f_i·f_k
    np.testing.assert_allclose(found.bend, np.tile(0.5 * np.sum(F**2, axis=1), (6, 1)), atol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_against_many_nodes(activation):
    sigma, slope = {
        "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
        "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    }[activation]
    W = 0.7 * np.random.default_rng(1).standard_normal((3, 200_000))
    Z = F @ W
    exact = (slope(Z) * (A @ sigma(Z))) @ W.T / W.shape[1]
    found = random_layer_gradient(F, Y, activation, 0.7).gradient
    assert np.linalg.norm(found - exact) < 0.015 * np.linalg.norm(exact)


def test_relu_is_the_limit_of_smooth_units():
    import jax

    sharp, off = random_layer_gradient(F, Y, "relu", 1.0), ~np.eye(6, dtype=bool)

    def gaps(sharpness):
        units = lambda z: jax.nn.softplus(sharpness * z) / sharpness  # noqa: E731
        smooth = random_layer_gradient(F, Y, units, 1.0)
        return [
            np.abs(a - b)[off].max()
            for a, b in ((smooth.gate, sharp.gate), (smooth.bend, sharp.bend))
        ]

    assert np.all(np.array(gaps(16)) < 0.6 * np.array(gaps(8)))


def test_rotations_of_the_layer_below():
    Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    turned = random_layer_gradient(F @ Q, Y, "tanh", 0.3).gradient
    np.testing.assert_allclose(
        turned, random_layer_gradient(F, Y, "tanh", 0.3).gradient @ Q, atol=1e-10
    )


def test_bad_input():
    with pytest.raises(ArgumentError, match=r"`features\[1\]` must not be zero"):
        random_layer_gradient([[1.0, 0.0], [0.0, 0.0]], np.eye(2))
    with pytest.raises(ArgumentError, match=r"`initial_std` must be .* > 0"):
        random_layer_gradient(F, Y, "relu", 0.0)
    with pytest.raises(ArgumentError, match="`activation` must be a function or one of"):
        random_layer_gradient(F, Y, "rleu")


def test_small_angles_keep_their_digits():
    angle = 1e-9  # its cosine is 1 in double precision
    rows = np.array([[1.0, 0.0], [1.0, angle], [-1.0, angle]])
    found = random_layer_gradient(rows, RNG.standard_normal((3, 2)), "relu")
    assert np.all(np.diag(found.gate) == 0.5)
    assert np.all(np.diag(found.bend) == 0)
    np.testing.assert_allclose(found.bend[0, 1], angle / (2 * np.pi), rtol=1e-13)
    np.testing.assert_allclose(found.gate[0, 2], angle / (2 * np.pi), rtol=1e-13)
