"""Measures of records and weights on runs by hand in NumPy, beside what NumPy and SciPy compute."""

import numpy as np
import pytest
from foreign_runs import classifier
from scipy.spatial.distance import cosine

from lazyrich import measures


def test_curves():
    """Two weights multiply to 3 and to 1. Each loss ½(s − a)² is half-way when a = s(1 − 1/√2)."""
    rate, small, targets = 0.002, 1e-5, np.array([3.0, 1.0])
    u, v = (np.full(2, small) for _ in range(2))
    times, losses, shares = [], [], []
    for step in range(9000):
        if step % 10 == 0:
            times.append(rate * step)
            losses.append(float(np.sum((targets - u * v) ** 2) / 2))
            shares.append(u * v / targets)
        error = rate * (targets - u * v)
        u, v = u + error * v, v + error * u

    def when(share):  # a/s = 1/(1 + (s/a₀ − 1) e^{−2st})
        return np.log((targets / small**2 - 1) * share / (1 - share)) / (2 * targets)

    found = measures.plateaus(times, losses)
    np.testing.assert_allclose(found.levels, [5, 0.5, 0], atol=1e-3)
    np.testing.assert_allclose(found.drop_times, when(1 - np.sqrt(0.5)), rtol=0.01)
    curves = np.transpose(shares)
    half = measures.crossing_time(times, curves, level=0.5)
    np.testing.assert_allclose(half.time, when(0.5), rtol=0.01)
    later = measures.grokking_delay(times, curves[0], curves[1], level=0.5)
    assert later.time == pytest.approx(half.time[1] - half.time[0], rel=1e-12)
    assert later.ratio == pytest.approx(3, rel=0.15)  # times go as 1/s, but for a logarithm
    fallen = measures.crossing_time(times, losses, level=0.25, falling=True)
    assert fallen.time == pytest.approx(when(1 - np.sqrt(0.5))[1], rel=0.01)


def test_means_over_runs():
    rng = np.random.default_rng(0)
    runs = [rng.standard_normal(4).tolist() for _ in range(5)]
    mean, error = measures.seed_mean(runs)
    np.testing.assert_allclose(mean, np.mean(runs, axis=0), rtol=1e-13)
    np.testing.assert_allclose(error, np.std(runs, axis=0, ddof=1) / np.sqrt(5), rtol=1e-13)
    other = measures.seed_mean(np.transpose(runs), dimension=-1)
    np.testing.assert_array_equal(other.uncertainty, error)
    assert np.isnan(measures.seed_mean(runs[:1]).uncertainty).all()
    sizes = np.exp(runs)
    geometric = measures.seed_geometric_mean(sizes.tolist())
    np.testing.assert_allclose(geometric.mean, np.exp(mean), rtol=1e-13)
    np.testing.assert_allclose(geometric.uncertainty, np.exp(mean) * error, rtol=1e-13)
    median = measures.seed_median(runs).median
    np.testing.assert_array_equal(median, np.median(runs, axis=0))
    ratio = measures.seed_ratio(runs, sizes.tolist()).ratio
    np.testing.assert_allclose(ratio, np.mean(runs, axis=0) / np.mean(sizes, axis=0), rtol=1e-13)


def test_powers():
    """Steps to halve a loss ½ k w² by descent go as 1/k, but for whole steps."""
    curvatures, steps = [0.01, 0.02, 0.04, 0.08], []
    for k in curvatures:
        w, step = 1.0, 0
        while w**2 > 0.5:
            w, step = w - 0.1 * k * w, step + 1
        steps.append(step)
    found = measures.power_law(curvatures, steps)
    slope, offset = np.polyfit(np.log(curvatures), np.log(steps), 1)
    assert found.exponent == pytest.approx(-1, abs=0.01)
    np.testing.assert_allclose(found[:2], (slope, np.exp(offset)), rtol=1e-12)


def test_nodes_until_all_maxima_are_found():
    """Nodes climb towards the larger of three weights, by hand; a set says when all three were seen."""
    w = np.random.default_rng(0).random((20, 15, 3))
    for _ in range(200):
        w = w + 0.05 * w**2
        w = w / np.linalg.norm(w, axis=-1, keepdims=True)
    found = w.argmax(axis=-1).tolist()
    seen = [[len(set(trial[: n + 1])) == 3 for n in range(15)] for trial in found]
    expected = [trial.index(True) + 1 if True in trial else np.inf for trial in seen]
    np.testing.assert_array_equal(measures.collection_times(found, 3), expected)


def linear_run():
    """A linear network by hand, three inputs, four units, two outputs: every step, as lists."""
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    u, v, record = rng.standard_normal((3, 4)), rng.standard_normal((4, 2)), []
    for _ in range(100):
        record.append((u, v))
        error = (x @ u @ v - y) / 20
        u, v = u - 0.05 * x.T @ error @ v.T, v - 0.05 * (x @ u).T @ error
    return [list(layer) for layer in zip(*record, strict=True)]


def test_conserved_quantities():
    us, vs = linear_run()
    incoming = [u.T for u in us]
    found = measures.balance(incoming, vs)
    by_hand = [
        [np.dot(v[i], v[i]) - np.dot(u[:, i], u[:, i]) for i in range(4)]
        for u, v in zip(us, vs, strict=True)
    ]
    np.testing.assert_allclose(found.values, by_hand, rtol=1e-12, atol=1e-12)
    steps = np.diff(incoming, axis=0), np.diff(vs, axis=0)
    predicted = measures.predicted_drift(*steps)
    np.testing.assert_allclose(found.drift, predicted, atol=1e-13)  # exact for linear units
    assert np.abs(predicted).max() > 1e-3
    pair = measures.layer_imbalance([us, vs])
    for i in (0, 50, 99):
        D = vs[i] @ vs[i].T - us[i].T @ us[i]
        assert pair.coefficient[i, 0] == pytest.approx(np.trace(D) / 4, rel=1e-12)
        rest = np.linalg.norm(D - np.trace(D) / 4 * np.eye(4))
        assert pair.residual[i, 0] == pytest.approx(rest, rel=1e-12)


def test_movement():
    run = classifier()
    flat = [np.concatenate([u.ravel(), v.ravel()]) for u, v in zip(run.u, run.v, strict=True)]
    moved = measures.weight_movement(flat[0], flat)
    expected = [np.linalg.norm(w - flat[0]) / np.linalg.norm(flat[0]) for w in flat]
    np.testing.assert_allclose(moved, expected, rtol=1e-13)
    epochs = [1, 2, 10, 11, 100, 101]
    for record, axis in ((run.u, -1), (run.v, -2)):
        record = np.array(record)[epochs]
        change = measures.weight_change(record[::2], record[1::2], node_axis=axis)
        for i in range(3):
            a, b = record[2 * i], record[2 * i + 1]
            assert change.whole[i] == pytest.approx(cosine(a.ravel(), b.ravel()), rel=1e-6)
            nodes = zip(*(np.moveaxis(w, axis, 0) for w in (a, b)), strict=True)
            expected = [cosine(*pair) for pair in nodes]
            np.testing.assert_allclose(change.nodes[i], expected, rtol=1e-5, atol=1e-15)


def test_units():
    """Trained units, of which two are then split as Theorem 1 allows, and one is added that does nothing."""
    run = classifier()
    u, v = run.u[-1].T, run.v[-1]
    shares = np.array([0.4, 0.6])
    equal = np.vstack([u, u[[0]]]), np.vstack([v, v[[0]]])
    equal[1][[0, -1]] *= shares[:, None]
    before, after = (np.tanh(run.x @ a.T) @ b for a, b in ((u, v), equal))
    np.testing.assert_allclose(before, after, atol=1e-14)
    assert measures.effective_width(*equal, tolerance=0.01).by_groups == 6
    idle = np.vstack([u, np.zeros(4)]).tolist(), np.vstack([v, np.zeros(3)]).tolist()
    found = measures.effective_width(*idle, tolerance=0.01)
    assert (found.by_units, found.prunable) == (6, (6,))
    theta = np.hstack([v, u])
    sizes = np.sort(np.linalg.norm(theta, axis=1))
    spectrum = np.linalg.svd(theta, compute_uv=False)
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(theta) for b in theta[:i]]
    expected = {
        "zero": np.linalg.norm(sizes[:3]), "dependent": np.linalg.norm(spectrum[3:]),
    }  # fmt: skip
    for manifold, distance in expected.items():
        near = measures.manifold_distance(u, v, manifold, width=3)
        assert near.distance == pytest.approx(distance, rel=1e-12)
        assert near.relative == pytest.approx(distance / np.linalg.norm(theta), rel=1e-12)
    near = measures.manifold_distance(u, v, "equal")
    assert near.distance == pytest.approx(min(gaps) / np.sqrt(2), rel=1e-12)
