"""The sampling condition, and steps of its proof that are wrong in print."""

import numpy as np
import pytest

from lazyrich import groups
from lazyrich.checks.li2.survival import largest_curvature
from lazyrich.core import ArgumentError
from lazyrich.quantities import FeatureEnergy
from lazyrich.theory import GroupFeatures, sample_threshold


def test_formula_and_broadcasting():
    found = sample_threshold([7, 71], [[1], [2]], failure=0.1, constant=2.0)
    assert found.shape == (2, 2)
    assert found[1, 1] == pytest.approx(2 * 4 * 71 * np.log(710))
    assert sample_threshold(127, constant=2.7482) / 127**2 == pytest.approx(
        2.7482 * np.log(127) / 127
    )


def test_monotone():
    orders = np.arange(2, 200)
    assert np.all(np.diff(sample_threshold(orders)) > 0)
    assert np.all(np.diff(sample_threshold(orders) / orders**2)[2:] < 0)
    assert np.all(np.diff(sample_threshold(50, failure=np.linspace(0.01, 1, 9))) < 0)


def test_curvature_on_subsets_against_the_plain_hessian():
    """The check's Hessian is that of the library's energy on the same subset."""
    group = groups.dihedral(4)
    features = GroupFeatures(group)
    w = features.sample(3, seed=1)[0]
    a = np.arange(8)[:, None]
    kept = np.random.default_rng(5).random((8, 8)) < 0.6
    b = group.table[group.inverses]
    pairs = np.stack([np.broadcast_to(a, (8, 8))[kept], b[kept]], 1)
    energy = FeatureEnergy(pairs, group.table[pairs[:, 0], pairs[:, 1]], num_weights=16)
    H, along = energy.hessian(w), float(energy.gradient(w) @ w)
    P = np.eye(16) - np.outer(w, w)
    exact = np.linalg.eigvalsh(P @ (H - along * np.eye(16)) @ P)[-1] / along
    assert largest_curvature(group, w, 0.6, seed=5) == pytest.approx(exact, rel=1e-9)
    assert largest_curvature(group, w, 1.0, seed=5) == pytest.approx(0, abs=1e-12)


def test_proof_of_eq28_weights_exceed_two():
    """|w_h − 1| ≤ 1 is used there; with p < ½ it is exceeded, up to 1/p − 1."""
    M, p = 20, 0.1
    w = np.random.default_rng(0).binomial(M, p, 2000) / (p * M)
    assert np.abs(w - 1).max() > 1
    assert np.abs(w - 1).max() <= 1 / p - 1


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"order": 1}, r"`order` must be .* ≥ 2"),
        ({"order": 7, "dimension": 1.5}, r"`dimension` must be a whole number"),
        ({"order": 7, "failure": 0}, r"`failure` must be a finite real number > 0 and ≤ 1"),
        ({"order": 7, "constant": -1}, r"`constant` must be a finite real number > 0"),
        ({"order": "seven"}, r"`order` must be a whole number"),
    ],
)
def test_bad_input(arguments, match):
    with pytest.raises(ArgumentError, match=match):
        sample_threshold(**arguments)


def test_tiny_chances_of_failure():
    exact = 1000 * (
        np.log(1000) + 300 * np.log(10)
    )  # 1000/1e-300 is still a float, 1e9/1e-300 is not
    assert sample_threshold(1000, failure=1e-300) == pytest.approx(exact, rel=1e-14)
    exact = 1e9 * (9 + 300) * np.log(10)
    assert sample_threshold(10**9, failure=1e-300) == pytest.approx(exact, rel=1e-14)
