"""Largest curvature and trace, against Hessians that are known."""

import numpy as np
import pytest
from landscapes import linear_network, quadratic_form

from lazyrich.core import ArgumentError
from lazyrich.measures import sharpness


@pytest.mark.parametrize("dimension", [7, 400])
def test_a_known_spectrum(dimension):
    """A reflection turns the eigenvectors, so that signs do not give the trace away."""
    values = np.linspace(-0.5, 3, dimension)
    _, product, _ = quadratic_form(values)
    found = sharpness(product, np.ones(dimension), num_directions=40)
    assert abs(found.largest - 3) <= found.largest_error + 1e-12
    assert found.largest_error < 1e-3 * 3
    assert found.largest == pytest.approx(3, rel=1e-4)
    assert abs(found.trace - values.sum()) <= 4 * found.trace_uncertainty + 1e-10
    assert (found.trace_uncertainty == 0) == (dimension == 7)


def test_the_largest_is_no_negative_one():
    values = np.append(np.linspace(0, 1, 99), -5.0)
    found = sharpness(quadratic_form(values)[1], np.ones(100))
    assert found.largest == pytest.approx(1, rel=1e-3)


def test_a_linear_network():
    """The Hessian depends on the weights; built whole here."""
    rng = np.random.default_rng(1)
    Z, Y, w = rng.standard_normal((30, 6)), rng.standard_normal((30, 4)), rng.standard_normal(80)
    _, product = linear_network(Z, Y, 8)
    H = np.stack([product(w, e) for e in np.eye(80)])
    found = sharpness(product, w, num_directions=200, accuracy=1e-8)
    assert found.largest == pytest.approx(np.linalg.eigvalsh(H)[-1], rel=1e-7)
    assert abs(found.trace - np.trace(H)) < 4 * found.trace_uncertainty


def test_signs_scatter_as_they_say():
    _, product, _ = quadratic_form(np.linspace(0, 1, 60))
    found = [sharpness(product, np.ones(60), seed=seed) for seed in range(40)]
    spread = np.std([one.trace for one in found], ddof=1)
    assert spread == pytest.approx(np.mean([one.trace_uncertainty for one in found]), rel=0.4)


def test_a_flat_loss():
    assert sharpness(lambda w, v: 0 * v, np.ones(60)) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("product", "weights", "message"),
    [
        (lambda w, v: v[::-1] * np.arange(3), np.ones(3), "`hessian_product` must be symmetric"),
        (lambda w, v: v[:2], np.ones(3), r"`hessian_product\(weights, direction\)` must have the shape"),
        (1.0, np.ones(3), "`hessian_product` must be a function of weights and a direction"),
        (lambda w, v: v, np.ones((3, 1)), r"`weights` must have the shape \(weights,\)"),
        (lambda w, v: np.nan * v, np.ones(3), r"`hessian_product\(weights, direction\)\[0\]` must be"),
    ],
)  # fmt: skip
def test_bad_input_is_named(product, weights, message):
    with pytest.raises(ArgumentError, match=message):
        sharpness(product, weights)
