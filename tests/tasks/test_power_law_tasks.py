"""Tasks whose modes follow a power law."""

import numpy as np
import pytest

from lazyrich.core import ArgumentError
from lazyrich.tasks import power_law_contexts, power_law_regression, power_law_strengths
from lazyrich.theory import LinearFixedPoints


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 3.0])
def test_strengths_fall_by_their_power_and_sum_to_one(exponent):
    s = power_law_strengths(8, exponent)
    assert s.sum() == pytest.approx(1, rel=1e-15)
    np.testing.assert_allclose(s[1::2] / s[:4], 2.0**-exponent, rtol=1e-14)  # s_2n over s_n


def test_regression_has_the_strengths_as_singular_values():
    found = power_law_regression(3, exponent=2.0).moments()
    np.testing.assert_allclose(found.covariance, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(found.correlation, np.diag([36, 9, 4]) / 49, atol=1e-14)
    # all that can be learned is there to be learned
    points = LinearFixedPoints(found.correlation, found.covariance, found.output_power)
    assert float(points.loss(range(3))) == pytest.approx(0, abs=1e-14)


def test_contexts_have_the_strengths_as_correlations():
    """E[(XXᵀ)_{a,y} x_{q,a} y] is NΛ_a² for each entry a, by Isserlis: w has covariance 1."""
    task = power_law_contexts(3, exponent=1.0, context=5)
    correlation = task.moments().correlation  # (D+1, D+1, D+1)
    found = np.array([correlation[a, 3, a] for a in range(3)])
    np.testing.assert_allclose(found, power_law_strengths(3, 1.0), rtol=1e-13)


def test_bad_sizes_are_named():
    with pytest.raises(ArgumentError, match="num_modes"):
        power_law_regression(0)
    with pytest.raises(ArgumentError, match="exponent"):
        power_law_contexts(3, exponent=-1.0)
