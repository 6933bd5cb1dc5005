"""Neural collapse of simplices, of random features against textbook formulas, and of batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.core import ArgumentError
from lazyrich.measures import CollapseMeter, feature_rank, neural_collapse


def textbook(features, labels, weights, bias):
    """As in Papyan, Han and Donoho's text: matrices over classes, no running sums."""
    classes = np.unique(labels)
    c, n = len(classes), len(features)
    mu = np.array([features[labels == k].mean(axis=0) for k in classes])
    centred = mu - mu.mean(axis=0)
    within = sum(np.outer(h - mu[k], h - mu[k]) for h, k in zip(features, labels, strict=True)) / n
    between = sum(np.outer(m, m) for m in centred) / c
    cosines = np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in centred] for a in centred])
    off = np.abs(cosines + 1 / (c - 1))[np.triu_indices(c, 1)]
    duals = [
        np.linalg.norm(w / np.linalg.norm(w) - m / np.linalg.norm(m))
        for w, m in zip(weights.T, centred, strict=True)
    ]
    decided = (features @ weights + bias).argmax(axis=1)
    nearest = [np.argmin([np.linalg.norm(h - m) for m in mu]) for h in features]
    return {
        "within_class": np.trace(within) / np.trace(between),
        "within_class_trace": np.trace(within),
        "within_class_pinv": np.trace(within @ np.linalg.pinv(between, rcond=1e-10)) / c,
        "simplex": off.max(),
        "simplex_mean": off.mean(),
        "duality": max(duals),
        "duality_mean": np.mean(duals),
        "disagreement": np.mean(decided != nearest),
    }


@st.composite
def networks(draw):
    """Features, labels of every class in unequal numbers, last layer and bias."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    c = draw(st.integers(2, 5))
    p = draw(st.integers(c, 8))
    labels = np.concatenate([np.arange(c), rng.integers(c, size=draw(st.integers(c, 30)))])
    rng.shuffle(labels)
    features = rng.standard_normal((len(labels), p)) + rng.standard_normal((c, p))[labels]
    return features, labels, rng.standard_normal((p, c)), rng.standard_normal(c)


@given(networks())
@settings(max_examples=40, deadline=None)
def test_textbook(network):
    found = neural_collapse(*network)
    for name, exact in textbook(*network).items():
        assert getattr(found, name) == pytest.approx(exact, rel=1e-8, abs=1e-12), name


@given(networks(), st.integers(1, 11), st.floats(-1e4, 1e4))
@settings(max_examples=30, deadline=None)
def test_batches_give_the_same(network, size, shift):
    features, labels, weights, bias = network
    features = features + shift  # a far origin must not cost the digits of the spread
    whole, meter = neural_collapse(features, labels, weights, bias), CollapseMeter(weights, bias)
    batches = [slice(i, i + size) for i in range(0, len(labels), size)]
    for batch in batches:
        meter.add(features[batch], labels[batch])
    for batch in batches:
        meter.compare(features[batch])
    parts = meter.result()
    for name in ("within_class", "within_class_pinv", "simplex", "duality", "duality_centred"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-6), name
    assert parts.disagreement == whole.disagreement
    np.testing.assert_array_equal(parts.counts, whole.counts)


@given(networks(), st.floats(0.01, 100))
@settings(max_examples=25, deadline=None)
def test_scale_rotation_and_names_do_not_matter(network, scale):
    features, labels, weights, bias = network
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((features.shape[1],) * 2))[0]
    names = rng.permutation(weights.shape[1])
    old = neural_collapse(features, labels, weights, bias)
    back = np.argsort(names)
    new = neural_collapse(
        scale * features @ Q, names[labels], Q.T @ weights[:, back] / scale, bias[back]
    )
    for name in ("within_class", "within_class_pinv", "simplex", "duality", "disagreement"):
        assert getattr(new, name) == pytest.approx(getattr(old, name), rel=1e-6, abs=1e-12), name
    assert new.within_class_trace == pytest.approx(scale**2 * old.within_class_trace)


@given(st.integers(2, 7), st.integers(0, 5), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_a_collapsed_network_measures_zero(c, more, seed):
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.standard_normal((c + more, c)))[0].T  # orthonormal rows
    labels = np.concatenate([np.arange(c), rng.integers(c, size=9)])
    means = 5 * (frame - frame.mean(axis=0))
    offset = rng.standard_normal(c + more)
    found = neural_collapse(means[labels] + offset, labels, 3 * means.T, -3 * means @ offset)
    for name in ("within_class", "simplex", "length_spread", "duality", "duality_centred"):
        assert getattr(found, name) == pytest.approx(0, abs=1e-12), name
    assert found.disagreement == 0
    assert feature_rank(means[labels]).numerical == c - 1


def test_angles_of_a_simplex_imply_equal_lengths():
    """Centred means sum to zero, so Eq. 66 leaves no other lengths."""
    rng = np.random.default_rng(0)
    far = [neural_collapse(rng.standard_normal((4, 6)), range(4)) for _ in range(50)]
    assert all(found.length_spread <= 4 * found.simplex for found in far)


def test_two_classes_are_always_a_simplex():
    found = neural_collapse(np.random.default_rng(1).standard_normal((10, 3)), [0, 1] * 5)
    assert found.simplex == pytest.approx(0, abs=1e-14)
    assert (
        found.duality is found.duality_mean is found.duality_centred is found.disagreement is None
    )


def test_without_bias_orthogonal_weights_stay_off_their_simplex():
    for c in (2, 3, 10):
        found = neural_collapse(np.eye(c), range(c), np.eye(c))
        assert found.duality == pytest.approx(np.sqrt(2 - 2 * np.sqrt(1 - 1 / c)))
        assert found.duality_centred == pytest.approx(0, abs=1e-14)


X, Y = np.random.default_rng(2).standard_normal((6, 4)), [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (X, [0, 0, 2, 2, 0, 2]),
            r"`labels` must have a sample of each of the 3 classes, got 'none of class 1'",
        ),
        ((X, [0, 1, 0, 1, 0, 1], np.ones((4, 3))), r"each of the 3 classes, got 'none of class 2'"),
        ((X, [0] * 6), "`labels` must name at least two classes"),
        (
            (X[:, :1], Y),
            r"`features` must have a width of at least 2.*A simplex of 3 corners spans 2",
        ),
        (
            (np.where(X > 1, np.nan, X), Y),
            r"`features\[.*\]` must be a finite real number, got nan",
        ),
        ((X, np.eye(3)[Y]), r"`labels` must have the shape \(6,\).*argmax"),
        ((X, [0, 1, 2, 0, 1, 2.5]), r"`labels\[5\]` must be a whole number"),
        ((X, [0, 1, 2, 0, 1, -1]), r"`labels\[5\]` must be a whole number ≥ 0"),
        ((X, Y[:5]), r"`labels` must have the shape \(6,\)"),
        (
            (X, Y, np.ones((3, 4))),
            r"`second` must have the shape \(4, classes\).*Transpose",
        ),
        ((X, Y, np.eye(4, 3), np.zeros(4)), r"`bias` must have the shape \(3,\)"),
        ((X, Y, None, np.zeros(3)), "`bias` must come with `second`"),
        (
            (X, Y, np.diag([1.0, 1, 0, 0])[:, :3]),
            "`second` must not vanish, got 'zero for class 2'",
        ),
        ((X, Y, np.ones((4, 3))), "`second` must differ between classes"),
        ((np.ones((6, 4)), Y), "`features` must have class means that differ"),
        ((X[0], Y), r"`features` must have the shape \(samples, width\)"),
        ((X, Y, np.full((4, 3), np.nan)), r"`second\[0, 0\]` must be a finite"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        neural_collapse(*arguments)


def test_the_meter_wants_two_whole_passes():
    meter = CollapseMeter(np.eye(4, 3))
    with pytest.raises(ArgumentError, match="`add` must be called first"):
        meter.result()
    meter.add(X, Y)
    with pytest.raises(
        ArgumentError, match="`compare` must see all 6 samples before `result`, got 0"
    ):
        meter.result()
    meter.compare(X[:3])
    with pytest.raises(ArgumentError, match="`add` must come before `compare`"):
        meter.add(X, Y)
    with pytest.raises(ArgumentError, match=r"`features` must have the shape \(samples, 4\)"):
        meter.compare(X[:, :3])
    other = CollapseMeter()
    other.add(X, Y)
    with pytest.raises(ArgumentError, match="of earlier batches"):
        other.add(X[:, :3], Y)
    with pytest.raises(ArgumentError, match="`second` must be given for NC4"):
        CollapseMeter().compare(X)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_rank(rank):
    rng = np.random.default_rng(rank)
    record = rng.standard_normal((4, 20, rank)) @ rng.standard_normal((4, rank, 7))
    found = feature_rank(record + 1e-6 * rng.standard_normal(record.shape))
    assert found.numerical.tolist() == [rank] * 4
    assert np.all((found.effective >= 1) & (found.effective <= rank + 1e-3))
    assert found.singular_values.shape == (4, 7)
    flat = feature_rank(np.linalg.qr(rng.standard_normal((20, rank)))[0])
    assert flat.effective == pytest.approx(rank)


def test_rank_of_nothing_and_bad_input():
    assert feature_rank(np.zeros((3, 2))).numerical == feature_rank(np.zeros((3, 2))).effective == 0
    assert feature_rank(np.ones((3, 2)), centring="samples").numerical == 0
    with pytest.raises(
        ArgumentError, match=r"`features` must have the shape \(..., samples, width\)"
    ):
        feature_rank(np.ones(3))
    with pytest.raises(ArgumentError, match="`tolerance` must be a finite real number > 0 and < 1"):
        feature_rank(np.eye(2), tolerance=0)


def test_the_first_half_twice_is_not_the_whole():
    rng = np.random.default_rng(0)
    x, k = rng.standard_normal((40, 5)), np.arange(40) % 3
    meter = CollapseMeter(second=rng.standard_normal((5, 3)))
    meter.add(x, k)
    for _ in range(2):
        meter.compare(x[:20])
    with pytest.raises(
        ArgumentError, match="`compare` must see the samples that `add` saw, each once"
    ):
        meter.result()
