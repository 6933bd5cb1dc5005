"""Ridge regression and the first gradient."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.theory import initial_gradient_norm, ridge_readout


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (5, 5)])
def test_ridge_solves_the_normal_equations(shape):
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal(shape), rng.standard_normal((shape[0], 3))
    V = ridge_readout(F, Y, 0.3, output_scale=2.0)
    F, Y = F - F.mean(0), Y - Y.mean(0)
    np.testing.assert_allclose(2 * F.T @ (Y - 2 * F @ V), 0.3 * V, atol=1e-12)


def test_ridge_of_zero():
    rng = np.random.default_rng(1)
    F, Y = rng.standard_normal((9, 4)), rng.standard_normal((9, 2))
    exact = np.linalg.lstsq(F - F.mean(0), Y - Y.mean(0), rcond=None)[0]
    np.testing.assert_allclose(ridge_readout(F, Y, 0.0), exact, atol=1e-12)
    with pytest.raises(
        AssumptionError, match=r"must not be singular .* got rank 3 for 9 nodes\. Use a ridge > 0"
    ):
        ridge_readout(F[:4].repeat(3, axis=1)[:, :9], Y[:4], 0.0)


def test_mean_square_of_the_first_gradient():
    rng = np.random.default_rng(2)
    F, Y = rng.standard_normal((7, 3)), rng.standard_normal((7, 2))
    F, Y = F - F.mean(0), Y - Y.mean(0)
    for alpha, beta in ((0.01, 1.0), (1.0, 1.0), (0.5, 2.0)):
        V = alpha * rng.standard_normal((40_000, 3, 2))
        G = beta * np.einsum("snm,skm->snk", Y - beta * np.einsum("nk,skm->snm", F, V), V)
        measured = np.sqrt(np.mean(np.sum(G**2, axis=(1, 2))))
        assert initial_gradient_norm(F, Y, alpha, beta) == pytest.approx(measured, rel=0.03)
    assert initial_gradient_norm(F, Y, 0.0) == 0


@pytest.mark.parametrize("function", [ridge_readout, initial_gradient_norm])
@pytest.mark.parametrize("bad", [-1.0, np.nan, "1", None, True, [1.0, 2.0]])
def test_bad_numbers(function, bad):
    with pytest.raises(ArgumentError, match=r"`(ridge|initial_std)` must be"):
        function(np.eye(3), np.eye(3), bad)


def test_bad_shapes():
    with pytest.raises(ArgumentError, match=r"`targets` must have the shape \(3, outputs\)"):
        ridge_readout(np.eye(3), np.eye(2), 1.0)
    with pytest.raises(ArgumentError, match=r"`features\[0, 1\]` must be a finite real number"):
        ridge_readout([[1.0, np.nan]], [[1.0]], 1.0)
