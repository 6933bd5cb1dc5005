"""Stages of training and what became of runs: made-up records, and small runs of each kind."""

import group_runs
import numpy as np
import pytest
from group_runs import hidden, pairs_of, waves

from lazyrich import groups
from lazyrich.core import ArgumentError
from lazyrich.measures import (
    StageEvidence,
    TrainingStage,
    backpropagated_gradient,
    grokking_case,
    memorisation_kind,
    training_stage,
    weight_change,
)

GROUP = groups.cyclic(23)


def stages_of(run, **changes):
    train, _, _, first, second, *_ = run
    given = {"inputs": train, "start": first[0], "group": GROUP} | changes
    return training_stage(first, second, lambda W: hidden(W, train), train.sum(1) % 23, **given)


def test_a_run_that_groks():
    """Lazy, then independent, then interactive; generalising at the end."""
    run = group_runs.grokked()
    train, _, times, first, _, *accuracies = run
    stages = stages_of(run)
    found = grokking_case(times, *accuracies, stages)
    assert found.case == "grokked", found.reason
    assert 0 < found.independent_time < found.interactive_time
    assert found.train_time < found.test_time
    before = stages.stage[times < found.independent_time]
    assert set(before) == {"lazy"}
    assert stages.stage[0] == "lazy"
    assert "the median node is 0% new" in stages.reason(0)
    assert memorisation_kind(first[0], GROUP, train).kind == "random features"
    assert memorisation_kind(first[-1], GROUP, train).kind == "generalising features"


def test_a_run_that_is_stuck():
    run = group_runs.stuck()
    train, _, times, first, _, *accuracies = run
    stages = stages_of(run)
    found = grokking_case(times, *accuracies, stages)
    assert found.case == "stuck lazy", found.reason
    assert stages.stage[-1] == "lazy"
    assert stages.evidence.gradient_norm[-1] < 0.1 * stages.evidence.gradient_norm[0]
    assert memorisation_kind(first[-1], GROUP, train).kind == "random features"


def test_a_run_that_memorises():
    run = group_runs.memorised()
    train, _, times, first, _, *accuracies = run
    stages = stages_of(run)
    found = grokking_case(times, *accuracies, stages)
    assert found.case == "memorising features", found.reason
    assert np.isfinite(found.independent_time)
    assert found.test_time == np.inf
    kind = memorisation_kind(first, GROUP, train)
    assert kind.kind[0] == "random features"
    assert kind.kind[-1] == "memorising features"


def test_a_run_with_features_from_the_start():
    run = group_runs.early()
    train, _, times, first, _, *accuracies = run
    found = grokking_case(times, *accuracies, stages_of(run))
    assert found.case == "features early", found.reason
    assert memorisation_kind(first[0], GROUP, train).kind == "generalising features"


def test_what_is_not_known_is_not_needed():
    """Without the group, or the start, or both: the same where it can be told, never the opposite."""
    run = group_runs.memorised()
    full = stages_of(run)
    for changes in ({"group": None}, {"start": None}, {"group": None, "start": None}):
        stages = stages_of(run, **changes)
        assert stages.stage[0] == "lazy"
        assert stages.stage[-1] == full.stage[-1]
        assert np.mean(stages.stage == full.stage) > 0.7
        assert grokking_case(*run[2:3], *run[5:], stages).case == "memorising features"
    stuck = stages_of(group_runs.stuck(), group=None)
    assert stuck.stage[-1] in ("lazy", "undecided")


def test_evidence_is_that_of_the_single_measures():
    train, _, _, first, second, *_ = group_runs.grokked()
    labels = train.sum(1) % 23
    stages = training_stage(
        first[3], second[3], hidden(first[3], train), labels, inputs=train, group=GROUP,
        later=(first[4], second[4]), ridge=0.2, start=first[0],
    )  # fmt: skip
    evidence = stages.evidence
    assert isinstance(str(stages.stage), str)
    pull = backpropagated_gradient(hidden(first[3], train), labels, second[3])
    assert evidence.alignment == pull.alignment
    assert evidence.first_change == weight_change(first[3], first[4]).whole
    assert evidence.second_change == weight_change(second[3], second[4], node_axis=-2).whole
    assert 0 < evidence.ridge_distance < 1.5
    cosines = (
        np.sum(first[3] * first[0], 0)
        / np.linalg.norm(first[3], axis=0)
        / np.linalg.norm(first[0], axis=0)
    )
    assert evidence.turned == pytest.approx(np.median(1 - cosines**2), rel=1e-9)
    plain = stages_of(group_runs.grokked()).evidence
    assert np.isnan(plain.ridge_distance).all()
    assert plain.alignment[3] == pytest.approx(pull.alignment, rel=1e-12)


def test_known_nodes():
    """Waves with the gradient of independent nodes, and with one that is not."""
    rng, M = np.random.default_rng(0), 23
    train, _ = pairs_of(M, 0.7)
    labels = train.sum(1) % M
    W = waves(M, rng.integers(1, 12, 64), *rng.uniform(0, 6, (2, 64)))
    F, Y = hidden(W, train), np.eye(M)[labels]
    key = (F - F.mean(0)).T @ (Y - Y.mean(0))
    given = {"inputs": train, "start": rng.standard_normal(W.shape), "group": GROUP}
    assert training_stage(W, 1e-6 * key, F, labels, **given).stage == "independent"
    assert (
        training_stage(W, rng.standard_normal(key.shape), F, labels, **given).stage == "interactive"
    )
    assert (
        training_stage(
            given["start"], 1e-6 * key, hidden(given["start"], train), labels, **given
        ).stage
        == "lazy"
    )
    scaled = training_stage(9 * W, 1e-6 * key, 81 * F, labels, **given)
    assert scaled.stage == "independent"


def test_complex_weights():
    rng, M = np.random.default_rng(1), 7
    train, _ = pairs_of(M, 0.9)
    W = rng.standard_normal((14, 5)) + 1j * rng.standard_normal((14, 5))
    V = rng.standard_normal((5, 7)) + 1j * rng.standard_normal((5, 7))
    turned = W * np.exp(1j * rng.uniform(0, 6, 5))  # phases are no new directions
    found = training_stage(
        turned,
        V,
        lambda W: hidden(W, train),
        train.sum(1) % M,
        inputs=train,
        start=W,
        group=groups.cyclic(7),
    )
    assert found.evidence.turned < 1e-12
    assert found.stage == "lazy"


TIME = np.array([1.0, 10, 100, 1000])


def made_up(train, test, learned, generalising=None, words=("lazy",) * 4):
    evidence = StageEvidence(*np.full((12, 4), np.nan))._replace(learned=np.array(learned, float))
    if generalising is not None:
        evidence = evidence._replace(generalising=np.array(generalising, float))
    return grokking_case(TIME, train, test, TrainingStage(np.array(words), evidence))


FITS = [0.1, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("curves", "case", "reason"),
    [
        ((FITS, [0, 0, 0.5, 1], [0, 0, 0.5, 0.9]), "grokked", "ahead by up to 1.00"),
        ((FITS, [0.1, 0.9, 0.95, 1], [0, 0.9, 0.9, 0.9]), "features early", "ahead by up to 0.10"),
        ((FITS, [0.1, 0.6, 0.95, 1], [0, 0.9, 0.9, 0.9]), "undecided", "ahead by up to 0.40"),
        ((FITS, [0, 0, 0, 0], [0, 0.1, 0.1, 0.1]), "stuck lazy", "10% of the nodes have a feature"),
        ((FITS, [0, 0, 0, 0], [0, 0, 0.1, 0.2]), "undecided", "more still get one"),
        ((FITS, [0, 0, 0, 0.3], [0, 0.1, 0.1, 0.1]), "undecided", "and still rises"),
        ((FITS, [0, 0, 0, 0], [0, 0.5, 0.9, 0.9]), "memorising features", "90% of the nodes have a feature"),
        ((FITS, [0, 0, 0, 0], [0, 0.5, 0.9, 0.9], [0, 0, 0, 0.8]), "undecided", "90% of the nodes"),
        ((FITS, [0, 0, 0, 0], [0, 0.3, 0.3, 0.3]), "undecided", "30% of the nodes"),
        (([0, 0.2, 0.5, 0.6], [0, 0, 0, 0], [0, 0, 0, 0]), "undecided", "training accuracy ends at 0.60"),
        ((FITS, [0, 0, 0, 0], [np.nan] * 4), "undecided", "nothing is known about the nodes"),
    ],
)  # fmt: skip
def test_cases(curves, case, reason):
    found = made_up(*curves)
    assert (found.case, reason in found.reason) == (case, True), found.reason


def test_times_of_change_and_seeds():
    words = np.array([["lazy", "independent", "interactive", "independent"], ["lazy"] * 4])
    evidence = StageEvidence(*np.zeros((12, 2, 4)))
    accuracy = np.array([FITS, FITS]), np.array([[0, 0, 0, 1.0], [0, 0, 0, 0]])
    found = grokking_case(TIME, *accuracy, TrainingStage(words, evidence))
    assert found.case.tolist() == ["grokked", "stuck lazy"]
    np.testing.assert_array_equal(found.independent_time, [10, np.inf])
    np.testing.assert_array_equal(found.interactive_time, [100, np.inf])
    np.testing.assert_array_equal(found.gap, [1, 1])


TRAIN = pairs_of(7, 0.9)[0]
W, V, LABELS = np.ones((14, 3)), np.ones((3, 7)), TRAIN.sum(1) % 7


def call(first=W, second=V, features=None, labels=LABELS, **rest):
    features = (lambda W: hidden(W, TRAIN)) if features is None else features
    return training_stage(first, second, features, labels, **({"inputs": TRAIN} | rest))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"second": V.T}, r"`second` must have the shape \(..., 3, classes\)"),
        ({"start": V}, r"`start` must have the shape \(..., 14, 3\)"),
        ({"later": W}, "`later` must be a tuple of W and V one epoch later"),
        ({"later": (W, W)}, r"`later` must have the shape \(3, 7\)"),
        ({"features": np.ones((44, 4))}, "`features` must have the shape"),
        ({"features": lambda W: np.full((44, 3), np.nan)}, "got nan"),
        ({"labels": np.arange(44)}, r"`labels\[7\]` must be a whole number ≥ 0 and ≤ 6"),
        ({"ridge": -1}, "`ridge` must be a finite real number ≥ 0"),
        ({"group": groups.cyclic(5)}, r"`first` must have the shape \(..., 10, nodes\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        call(**arguments)


def test_bad_records():
    stages = TrainingStage(np.array(["lazy"] * 4), StageEvidence(*np.zeros((12, 4))))
    with pytest.raises(ArgumentError, match=r"`stages` must have the shape \(3,\)"):
        grokking_case([1, 2, 3], [0, 1, 1], [0, 0, 1], stages)
    with pytest.raises(
        ArgumentError, match=r"`level` must be a finite real number > 0 and ≤ 1, got 2.0"
    ):
        grokking_case(TIME, FITS, FITS, stages, level=2)
    with pytest.raises(ArgumentError, match=r"`test_accuracy` must have the shape \(4,\)"):
        grokking_case(TIME, FITS, [FITS], stages)
