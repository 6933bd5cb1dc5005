"""Measures of features, labels and groups on runs by hand in NumPy, beside matrices formed in full."""

import numpy as np
import pytest
from foreign_runs import classifier, sums
from scipy import stats

from lazyrich import groups, measures

TABLE = [[(a + b) % 11 for b in range(11)] for a in range(11)]


def test_rank_and_collapse():
    run = classifier()
    h, v, labels = run.hidden(run.u[-1]), run.v[-1], run.labels.astype(np.int32)
    rank = measures.feature_rank(h, tolerance=0.05)
    s = np.linalg.svd(h, compute_uv=False)
    assert rank.numerical == np.linalg.matrix_rank(h, tol=0.05 * s[0])
    assert rank.effective == pytest.approx(np.exp(stats.entropy(s**2)), rel=1e-12)
    found = measures.neural_collapse(h, labels, v)
    means = np.array([h[labels == k].mean(axis=0) for k in range(3)])
    centred = means - means.mean(axis=0)
    within = np.mean([np.sum((row - means[k]) ** 2) for row, k in zip(h, labels, strict=True)])
    assert found.within_class == pytest.approx(
        within / np.mean(np.sum(centred**2, axis=1)), rel=1e-12
    )
    m, w = (a / np.linalg.norm(a, axis=1)[:, None] for a in (centred, v.T))
    assert found.simplex == pytest.approx(
        max(abs(m[i] @ m[j] + 0.5) for i, j in ((0, 1), (0, 2), (1, 2)))
    )
    assert found.duality == pytest.approx(np.linalg.norm(w - m, axis=1).max(), rel=1e-12)
    nearest = [np.argmin([np.linalg.norm(row - mean) for mean in means]) for row in h]
    assert found.disagreement == np.mean(np.argmax(h @ v, axis=1) != nearest)
    meter = measures.CollapseMeter(v)
    for part in (slice(0, 7), slice(7, 30)):
        meter.add(h[part].tolist(), labels[part].tolist())
    for part in (slice(0, 7), slice(7, 30)):
        meter.compare(h[part])
    assert meter.result().within_class == pytest.approx(found.within_class, rel=1e-12)


def test_gradient_ridge_and_gram():
    run = sums()
    F, V = (features(run, run.first[-1]), run.second[-1])
    n, K = F.shape
    Y, P = np.eye(11)[run.labels], np.eye(n) - 1 / n
    found = measures.backpropagated_gradient(F, run.labels, V)
    G, key = P @ (Y - F @ V) @ V.T, P @ Y @ Y.T @ P @ F
    assert found.norm == pytest.approx(np.linalg.norm(G), rel=1e-10)
    assert found.alignment == pytest.approx(angle(G, key), rel=1e-9)
    eta = n * 1e-3 / 2
    tall = np.vstack([P @ F, np.sqrt(eta) * np.eye(K)])
    best = np.linalg.lstsq(tall, np.vstack([P @ Y, np.zeros((K, 11))]), rcond=None)[0]
    ridge = measures.ridge_distance(F, run.labels, V, ridge=eta)
    expected = np.linalg.norm(V - best) / np.linalg.norm(best)
    assert ridge.weights == pytest.approx(expected, rel=1e-8)
    gram = measures.gram_diagonality(F, entries=True)
    for said, A in ((gram.nodes, F.T @ P @ F), (gram.samples, P @ F @ F.T @ P)):
        off, on = A[~np.eye(len(A), dtype=bool)], np.diag(A)
        assert said.typical == pytest.approx(np.sqrt(np.mean(off**2) / np.mean(on**2)), rel=1e-9)
        assert said.largest == pytest.approx(np.abs(off).max() / on.mean(), rel=1e-9)


def features(run, first):
    return (first[run.pairs[:, 0]] + first[run.modulus + run.pairs[:, 1]]) ** 2


def angle(a, b):
    return np.sum(a * b) / np.linalg.norm(a) / np.linalg.norm(b)


def explained(f, design, more):
    """R² and its chance of more columns beyond a design, by least squares and the F distribution."""

    def rest(columns):
        fit = np.linalg.lstsq(columns, f, rcond=None)
        return np.sum((f - columns @ fit[0]) ** 2), fit[2]

    (small, rank), (large, rank_all) = rest(design), rest(np.hstack([design, more]))
    r, d = rank_all - rank, len(f) - rank
    ratio = (small - large) / r / (large / (d - r))
    share = 1 - large / small
    return (share - r / d) / (1 - r / d), stats.f.sf(ratio, r, d - r)


def test_what_labels_explain():
    run = sums()
    F = features(run, run.first[-1])
    found = measures.class_share(F, run.labels, run.pairs)
    design = np.hstack([np.ones((len(F), 1)), np.eye(11)[run.pairs].reshape(len(F), -1)])
    expected = [explained(f, design, np.eye(11)[run.labels]) for f in F.T]
    np.testing.assert_allclose(found.share, [one[0] for one in expected], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.chance, [one[1] for one in expected], rtol=1e-6, atol=1e-300)


def test_skills():
    """Two skills that never meet, as a network by hand has learned them."""
    rng = np.random.default_rng(0)
    g = np.zeros((40, 2))
    g[np.arange(40), np.arange(40) % 2] = rng.choice([-1, 1], 40)
    outputs = 3 * g[:, 0] + g[:, 1] + rng.standard_normal(40)
    found = measures.skill_strength(outputs.tolist(), g.astype(int))
    for k in range(2):
        seen = g[:, k] != 0
        ratios = outputs[seen] / g[seen, k]
        assert found.strength[k] == pytest.approx(ratios.mean(), rel=1e-12)
        assert found.uncertainty[k] == pytest.approx(stats.sem(ratios), rel=1e-9)


def test_nodes():
    """Powers of frequencies by the fast Fourier transform, on the group of a plain table."""
    run, group = sums(), groups.Group(TABLE)
    W = run.first[-1]
    found = measures.node_features(W, group)
    waves = np.abs(np.fft.fft(np.stack([W[:11], W[11:]]), axis=1)) ** 2  # (halves, M, nodes)
    power = waves.sum(axis=0)[1:6]  # k and −k have the same
    np.testing.assert_allclose(found.purity, power.max(axis=0) / power.sum(axis=0), rtol=1e-10)
    assert found.cyclic.frequency.tolist() == (1 + power.argmax(axis=0)).tolist()
    k = found.cyclic.frequency
    expected = np.angle(np.fft.fft(W[11:], axis=0)[k, np.arange(24)])
    np.testing.assert_allclose(found.cyclic.phases[:, 1], expected, atol=1e-10)


def test_kinds_of_memorising():
    """Waves generalise, random weights do not; labels by another numbering of the elements too."""
    rng, order = np.random.default_rng(2), np.random.default_rng(3).permutation(23)
    table = np.argsort(order)[np.add.outer(order, order) % 23]  # element g is the residue order[g]
    pairs = np.argwhere(rng.random((23, 23)) < 0.6)
    angles = 2 * np.pi * rng.integers(1, 12, 32) * order[:, None] / 23
    waves = np.vstack([np.cos(angles + phase) for phase in rng.uniform(0, 7, (2, 32))])
    record = [rng.standard_normal((46, 32)), waves]
    found = measures.memorisation_kind(record, groups.Group(table), pairs, activation=np.square)
    assert found.kind.tolist() == ["random features", "generalising features"]


def test_stages():
    run, chosen = sums(), [0, 5, 40]
    first, second = ([record[i] for i in chosen] for record in (run.first, run.second))
    found = measures.training_stage(
        first, second, lambda W: features(run, W), run.labels.tolist(), inputs=run.pairs,
        start=run.first[0], group=groups.Group(TABLE),
    )  # fmt: skip
    lengths = [np.linalg.norm(w, axis=0) for w in (run.first[0], run.first[40])]
    cosines = np.sum(run.first[0] * run.first[40], axis=0) / lengths[0] / lengths[1]
    live = lengths[1] > 0.1 * lengths[1].max()
    assert found.evidence.turned[2] == pytest.approx(np.median(1 - cosines[live] ** 2), rel=1e-9)
    assert found.stage[0] == "lazy"
    assert found.evidence.turned[0] == pytest.approx(0, abs=1e-12)
    F, Y = features(run, first[2]), np.eye(11)[run.labels]
    P = np.eye(len(F)) - 1 / len(F)
    G = P @ (Y - F @ second[2]) @ second[2].T
    assert found.evidence.alignment[2] == pytest.approx(angle(G, P @ Y @ Y.T @ P @ F), rel=1e-9)
    accuracies = [0.1, 0.95, 1.0], [0.1, 0.1, 0.97]  # the test accuracy comes late
    case = measures.grokking_case([1, 10, 100], *accuracies, found)
    assert case.case == "grokked"
    assert case.gap == pytest.approx(0.95 - 0.1)
    assert case.train_time < 10 < case.test_time < 100
