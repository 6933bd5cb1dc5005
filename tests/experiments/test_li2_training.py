"""What the figures of trained networks rest on: epochs and their ratios, probes against measures."""

import types

import jax
import numpy as np
import pytest
import xarray

from lazyrich import groups, measures, models, simulate, tasks
from lazyrich.core import ArgumentError
from lazyrich.experiments._times import ratio_of_times
from lazyrich.experiments.li2 import _deep, _stages, _zero_init, fig2, fig3

M, K = 7, 12


@pytest.mark.parametrize(
    ("slow", "fast", "ratio", "bound"),
    [
        ([20, 40], [10, 20], 2, "exact"),
        ([np.inf, 100], [10, 10], 10, "at least"),
        ([20, 20], [np.inf, 100], 0.2, "at most"),
        ([np.inf, np.inf], [np.inf, np.inf], np.nan, "unknown"),
    ],
)
def test_ratio_of_times_and_what_missing_runs_make_of_it(slow, fast, ratio, bound):
    np.testing.assert_allclose(ratio_of_times(slow, fast, 100), [ratio, ratio])
    assert _zero_init.bound(slow, fast) == bound


@pytest.fixture(scope="module")
def trained():
    """A network, its weights and its data, half of all pairs."""
    task = tasks.GroupArithmetic(groups.cyclic(M), 0.5)
    training = simulate.FeatureLearning(models.PairNetwork(M, K), task)
    return training, *training.start(0)


def test_stages_probe_agrees_with_the_measures(trained):
    (training, weights, data), ridge = trained, 0.3
    with jax.enable_x64(True):
        probe = jax.jit(lambda weights, data: _stages._probe(ridge)(training, weights, data))
        found = {name: float(value) for name, value in probe(weights, data).items()}
        F = np.asarray(training.features(weights, data))
    gram = measures.gram_diagonality(F, entries=True)
    for name, other in (("node", gram.nodes), ("sample", gram.samples)):
        for kind in _stages.KINDS:
            assert found[f"{name}_{kind}"] == pytest.approx(getattr(other, kind), rel=1e-9)
    V, Y = np.asarray(weights.second), np.eye(M)[np.asarray(data.labels)]
    for name, top in (("gradient_norm", V), ("ridge_gradient_norm", _minimiser(F, Y, ridge))):
        residual = Y - F @ top
        residual = residual - residual.mean(axis=1, keepdims=True)
        pull = (residual - residual.mean(axis=0)) @ top.T
        assert found[name] == pytest.approx(np.linalg.norm(pull), rel=1e-4)


def _minimiser(F, Y, ridge):
    """Of ‖(Y − FV) centred over classes‖² + ridge ‖V‖², from its normal equations class by class."""
    targets = Y - Y.mean(axis=1, keepdims=True)
    return np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ targets)


def test_the_ridge_top_is_where_the_loss_with_decay_is_stationary():
    rng = np.random.default_rng(0)
    for n, num in ((30, 6), (8, 20)):  # more samples than nodes, and fewer
        F, Y = rng.standard_normal((n, num)), np.eye(5)[rng.integers(0, 5, n)]
        with jax.enable_x64(True):
            found = np.asarray(jax.jit(_stages._ridge_top)(F, Y, 0.2))
        assert np.allclose(found, _minimiser(F, Y, 0.2), atol=1e-4)


@pytest.mark.parametrize("order", [7, 8])
def test_frequency_shares_are_those_of_the_group(order):
    first = np.random.default_rng(1).standard_normal((2 * order, 5))
    with jax.enable_x64(True):
        shares = np.asarray(jax.jit(_deep.frequency_shares)(first))
    power = measures.node_features(first, groups.cyclic(order)).power[:, 1:]
    assert np.allclose(shares.sum(axis=0), 1)
    expected = np.sort(power / power.sum(axis=1, keepdims=True), axis=1)
    assert np.allclose(np.sort(shares.T, axis=1), expected)


def test_label_share_is_one_for_functions_of_the_label_and_none_for_noise(trained):
    _, weights, data = trained
    labels = np.asarray(data.all_labels)
    rng = np.random.default_rng(2)

    @jax.jit
    def share(features):
        unscaled = types.SimpleNamespace(
            output_dimension=M, features=lambda weights, pairs: features
        )
        return _deep._label_share(types.SimpleNamespace(unscaled=unscaled), weights, data)

    assert share(rng.standard_normal((M, 50))[labels]) == pytest.approx(1, abs=1e-5)
    noise = [float(share(rng.standard_normal((M * M, 50)))) for _ in range(20)]
    assert abs(np.mean(noise)) < 0.02


def test_half_of_the_turning():
    time = np.arange(11.0)
    even, early = np.full(11, 0.02), np.where(time < 1, 0.02, 0.0)
    found = fig3._half_turned(time, np.stack([even, early]))
    assert found[0] == pytest.approx(5)
    assert found[1] < 1


def test_first_epoch_of_a_stage():
    codes = xarray.DataArray([[0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]], dims=("seed", "time"))
    result = xarray.Dataset({"stage": codes}, {"time": [0, 3, 9, 20]})
    assert fig2._begins(result, "interactive").tolist() == [9, np.inf]
    assert fig2._begins(result, "lazy").tolist() == [0, 0]


def test_speed_up_reads_each_start_on_its_own_epochs():
    """A step at record 5 of 10, on grids that end at 100 and at 50: twice as fast."""
    step = (np.arange(10) >= 5).astype(float)
    curves = np.broadcast_to(step, (1, 1, 2, 3, 10))
    grids = np.stack([np.linspace(10, 100, 10), np.linspace(5, 50, 10)])[None, None]
    dims = ("layers", "fraction", "start", "seed", "record")
    result = xarray.Dataset(
        {"test_accuracy": (dims, curves), "recorded_time": (dims[:3] + dims[4:], grids)}
    )
    found = _zero_init.speed_up(result, 0, 0)
    assert found.ratio == pytest.approx(2)
    assert found.reached.all()
    assert found.text == "2×"
    never = result.assign(test_accuracy=result.test_accuracy.where(result.start == 1, 0.0))
    bounded = _zero_init.speed_up(never, 0, 0)
    assert bounded.bound == "at least"
    assert bounded.reached.all()
    assert bounded.ratio > found.ratio
    neither = _zero_init.speed_up(result.assign(test_accuracy=0 * result.test_accuracy), 0, 0)
    assert np.isnan(neither.ratio)
    assert neither.text == "never"
    assert _zero_init.smallest([found, neither]) is neither


@pytest.mark.parametrize("number", [5, 20, 40, 54])
def test_as_many_records_for_every_share(number):
    config = _zero_init.Config(last_epochs=(700, 90, 60), num_records=number, zero_epochs=0.9)
    grids = [_zero_init._epochs(config, i, start) for i in range(3) for start in _zero_init.STARTS]
    for grid in grids:
        assert grid.size == number
        assert np.all(np.diff(grid) > 0)
        assert grid[-1] in (700, 630, 90, 81, 60, 54)


def test_more_records_than_epochs_are_refused():
    config = _zero_init.Config(last_epochs=(50,), num_records=60)
    with pytest.raises(ArgumentError, match="`num_records` must be at most 50"):
        _zero_init._epochs(config, 0, "usual")
