"""Any network on any task: the cheap ways to the loss give what plain sums over samples give."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.adapters import derivatives
from lazyrich.core import ArgumentError
from lazyrich.models import (
    Attention,
    Convolution,
    Deep,
    SkipNetwork,
    TwoLayer,
    TwoLayerWeights,
)
from lazyrich.simulate import (
    Moments,
    Supervised,
    gradient_descent,
    gradient_flow,
    weights_key,
)
from lazyrich.tasks import (
    GaussianRegression,
    GivenData,
    InContextRegression,
    orthogonal_pair,
)

CORRELATED = [[1.0, 0.5, 0.0], [0.5, 2.0, 0.3], [0.0, 0.3, 0.7]]


def target(x, outputs):
    """No network with features can give these labels exactly, so that the least loss is not 0."""
    return np.stack([x[:, 1] + np.sin(x[:, 0] + k) + x[:, 0] * x[:, 1] for k in range(outputs)], 1)


def regression(outputs, samples=60):
    return GaussianRegression(CORRELATED, lambda x: target(x, outputs), samples)


IN_CONTEXT = InContextRegression([[0.6, 0.2], [0.2, 0.5]], context=5, num_samples=80)
FEATURES = {
    "linear with bias": (TwoLayer(3, 9, 2, bias=True), regression(2)),
    "quadratic": (TwoLayer(3, 4, 2, "quadratic"), regression(2)),
    "cubic with bias": (TwoLayer(3, 4, 1, "cubic", bias=True), regression(1)),
    "convolution": (Convolution(3, 8, kernel=2, output_dimension=2), regression(2)),
    "convolution with bias": (
        Convolution(3, 6, kernel=2, output_dimension=1, bias=True),
        regression(1),
    ),
    "merged attention": (Attention(3, 14, merged=True), IN_CONTEXT),
    "transformer": (Deep(Attention(3, 3, rank=2, output_dimension=2), ("linear",)), IN_CONTEXT),
    "skipping network": (SkipNetwork(3, 4, 2, skip=1), regression(2)),
}
THREE_LAYERS = (Deep(TwoLayer(3, 7, 3), ("linear",), output_dimension=2), regression(2))
HUGE = 100_000


def samples_of(training, seed):
    return training.task.dataset(jax.random.split(jax.random.key(seed))[0])


def plain_descent(training, seed, steps, rate):
    """Losses before and after each step, and units after one step and at the end, over samples."""
    network, weights = training.network, training.start(seed)[0]
    x, y, _ = samples_of(training, seed)

    def loss(weights):
        return jnp.mean(jnp.sum((network.apply(weights, x) - y) ** 2, axis=1))

    @jax.jit
    def step(weights):
        value, slope = jax.value_and_grad(loss)(weights)
        return value, jax.tree.map(lambda w, g: w - rate * g, weights, slope)

    with jax.enable_x64(True):
        losses, path = [], [weights]
        for _ in range(steps + 1):
            value, weights = step(weights)
            losses.append(float(value))
            path.append(jax.tree.map(np.asarray, weights))
    return np.array(losses), network.units(path[1]), network.units(path[steps])


@pytest.mark.parametrize("name", FEATURES)
def test_descent_by_moments_is_descent_over_samples(name):
    """Losses, the first step, which is the gradient, and the end."""
    network, task = FEATURES[name]
    training = Supervised(network, task, initial_std=0.15 if name == "merged attention" else 0.4)
    assert isinstance(training.start(1)[1], Moments)
    steps, rate = np.array([0, 1, 10, 100, 200, 300]), 5e-3
    losses, first, last = plain_descent(training, 1, steps[-1], rate)
    run = gradient_descent(training, steps, learning_rate=rate, seeds=[1]).isel(seed=0)
    assert losses[-1] < 0.95 * losses[0]  # it learns, so that the comparison says something
    np.testing.assert_allclose(run.loss, losses[steps], rtol=1e-9)
    for name_of, one, end in zip(("incoming", "outgoing"), first, last, strict=True):
        found = run[name_of].values
        gradient = one - found[0]
        np.testing.assert_allclose(
            found[1] - found[0], gradient, atol=1e-10 * np.abs(gradient).max()
        )
        np.testing.assert_allclose(found[-1], end, rtol=0, atol=1e-9 * np.abs(end).max())


@pytest.mark.parametrize(("network", "task"), [FEATURES["convolution"], THREE_LAYERS])
def test_fewer_units_descend_like_all(network, task):
    training = Supervised(network, task, initial_std=0.3)
    # a start that is given is never reduced
    plain = dataclasses.replace(
        training, initial_weights=lambda seed: network.init(weights_key(seed), 0.3)
    )
    both = [
        gradient_descent(t, [0, 400], learning_rate=5e-3, seeds=[0, 6]) for t in (training, plain)
    ]
    assert bool((both[1].loss[:, -1] < 0.9 * both[1].loss[:, 0]).all())
    for key in ("loss", "incoming", "outgoing"):
        np.testing.assert_allclose(
            both[0][key], both[1][key], rtol=0, atol=1e-12 * float(np.abs(both[1][key]).max())
        )


def stacked(training):
    start = training.start(0)[0]
    with jax.enable_x64(True):
        weights, frame = training.reduce(jax.tree.map(lambda a: jnp.asarray(a)[None], start))
        return start, jax.tree.map(np.asarray, weights), frame


def test_units_are_as_many_as_a_unit_has_weights():
    training = Supervised(*FEATURES["convolution"], initial_std=1.0)
    start, weights, frame = stacked(training)
    assert weights.first.shape == (1, 2, 6)
    assert weights.second.shape == (1, 6, 2, 2)  # N_u + N_v = 2 + 2 · 2
    with jax.enable_x64(True):
        again = training.expand(jax.tree.map(lambda a: a[0], weights), frame[0])
    for found, exact in zip(again, start, strict=True):
        np.testing.assert_allclose(found, exact, atol=1e-14)


@pytest.mark.parametrize(
    "training",
    [Supervised(TwoLayer(3, 5, 2), regression(2), 0.1),  # no more units than weights
     Supervised(TwoLayer(3, 9, 2, "quadratic"), regression(2), 0.1),
     Supervised(TwoLayer(3, 9, 2), regression(2),
                initial_weights=lambda seed: TwoLayer(3, 9, 2).init(weights_key(seed), 0.1))],
)  # fmt: skip
def test_units_that_stay_as_they_are(training):
    start, weights, frame = stacked(training)
    assert frame is None
    assert all((a == b[0]).all() for a, b in zip(start, weights, strict=True))


def test_small_units_of_a_given_start_keep_their_digits():
    """Mixed with units of size 1 they would be lost in the rounding."""
    first, second = np.ones((3, 9)), np.ones((9, 1))
    first[:, 1:], second[1:] = 1e-30, 2e-30
    training = Supervised(
        TwoLayer(3, 9), regression(1), initial_weights=lambda seed: TwoLayerWeights(first, second)
    )
    run = gradient_descent(training, [0, 10], learning_rate=1e-3, seeds=[0])
    small = run.incoming[0, 1, 1:].values
    assert (small > 0).all()
    assert small.max() < 1e-29


def test_a_start_at_zero_rests():
    run = gradient_descent(
        Supervised(TwoLayer(3, 9), regression(1), 0.0), [0, 50], learning_rate=0.1, seeds=[0]
    )
    assert (run.incoming == 0).all()
    assert run.loss[0, 0] == run.loss[0, 1]
    assert not run.diverged[0]


def test_directions_without_variance_do_no_harm():
    """Pixels that are always 0, and one that copies another: the covariance of features is singular."""
    x = np.random.default_rng(0).standard_normal((30, 4))
    x[:, 1], x[:, 2] = 0, x[:, 0]
    task = GivenData(x, target(x, 1))
    training = Supervised(TwoLayer(4, 3, activation="quadratic"), task, initial_std=0.5)
    losses, *_ = plain_descent(training, 0, 200, 0.005)
    run = gradient_descent(training, [0, 100, 200], learning_rate=0.005, seeds=[0])
    np.testing.assert_allclose(run.loss[0], losses[[0, 100, 200]], rtol=1e-9)


@pytest.mark.parametrize("name", ["linear with bias", "quadratic", "transformer"])
def test_the_population_is_the_limit_of_many_samples(name):
    network, task = FEATURES[name]
    training = Supervised(network, task, initial_std=0.5, population=True)
    weights, moments = training.start(0)
    huge = dataclasses.replace(task, num_samples=HUGE).dataset(jax.random.key(9))
    with jax.enable_x64(True):
        exact = float(training.loss(weights, moments))
        errors = np.sum((np.asarray(network.apply(weights, huge.inputs)) - huge.targets) ** 2, 1)
    assert abs(errors.mean() - exact) < 4.5 * errors.std() / np.sqrt(HUGE)
    assert errors.std() / np.sqrt(HUGE) < 0.05 * exact


def test_quadrature_is_exact_for_polynomials():
    """Second moments of the products of two inputs, by pairing them (Isserlis)."""
    network, C = TwoLayer(3, 2, 1, "quadratic"), np.array(CORRELATED)
    task = GaussianRegression(C, lambda x: x[:, :1] * x[:, 1:2])
    moments = Supervised(network, task, initial_std=1.0, population=True).data(None)
    assert isinstance(moments, Moments)
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    exact = [
        [C[i, j] * C[k, m] + C[i, k] * C[j, m] + C[i, m] * C[j, k] for k, m in pairs]
        for i, j in pairs
    ]
    np.testing.assert_allclose(moments.covariance, exact, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(moments.best[:, 0], [p == (0, 1) for p in pairs], atol=1e-10)
    assert moments.least == pytest.approx(0, abs=1e-11)


def test_a_network_without_features_learns_the_population_by_quadrature():
    training = Supervised(TwoLayer(1, 5, activation="tanh"),
                          GaussianRegression(1, lambda x: np.tanh(2 * x), 20_000), 0.5)  # fmt: skip
    whole = dataclasses.replace(training, population=True)
    runs = [gradient_descent(t, [0, 30], learning_rate=0.05, seeds=[2]) for t in (training, whole)]
    assert runs[0].loss[0, 1].item() == pytest.approx(runs[1].loss[0, 1].item(), rel=0.05)
    assert runs[0].loss[0, 1] != runs[1].loss[0, 1]


def test_the_mean_over_outputs_halves_loss_and_time():
    training = Supervised(*FEATURES["quadratic"], initial_std=0.3)
    mean = dataclasses.replace(training, mean_outputs=True)
    run = gradient_descent(training, [0, 100], learning_rate=0.002, seeds=[0])
    half = gradient_descent(mean, [0, 100], learning_rate=0.004, seeds=[0])
    np.testing.assert_allclose(2 * half.loss, run.loss, rtol=1e-10)
    assert "over samples and outputs" in half.attrs["loss_convention"]


def one_hot(samples):
    """Each sample moves one incoming weight only: what moved tells which samples were used."""
    network = TwoLayer(samples, 1, activation=linear)
    start = TwoLayerWeights(np.ones((samples, 1)), np.ones((1, 1)))
    return Supervised(
        network, GivenData(np.eye(samples), np.zeros(samples)), initial_weights=lambda seed: start
    )


def linear(z):
    """Linear, but the library does not know: it has to use samples."""
    return 1.0 * z


def test_a_pass_uses_each_sample_once():
    run = gradient_descent(
        one_hot(12), np.arange(13), learning_rate=1e-6, seeds=[0, 1], batch_size=3
    )
    used = run.incoming.diff("time").values[..., 0, :] != 0
    assert (used.sum(axis=-1) == 3).all()
    passes = used.reshape(2, 3, 4, 12)  # seeds, passes, batches, samples
    assert (passes.sum(axis=2) == 1).all()
    assert (passes[:, 0] != passes[:, 1]).any(axis=(1, 2)).all()  # a new order
    assert (passes[0] != passes[1]).any()  # of each seed its own


def test_samples_left_over_are_not_used_in_a_pass():
    run = gradient_descent(one_hot(8), np.arange(41), learning_rate=1e-6, seeds=[0], batch_size=3)
    used = run.incoming.diff("time").values[0, :, 0] != 0
    passes = used.reshape(20, 2, 8).sum(axis=1)
    assert (passes.sum(axis=1) == 6).all()
    assert passes.max() == 1
    assert (passes.sum(axis=0) > 0).all()  # though in some later pass


def test_minibatches_have_the_right_mean_gradient():
    training = Supervised(TwoLayer(3, 4, 2, "tanh"), regression(2), initial_std=0.8)
    rate = 1e-7  # weights hardly move: the steps of a pass add up to that many full ones
    moved = [
        gradient_descent(training, [0, 6], learning_rate=rate, seeds=[0], batch_size=size)
        .incoming.diff("time").values
        for size in (10, None)
    ]  # fmt: skip
    np.testing.assert_allclose(moved[0], moved[1], rtol=0, atol=1e-4 * np.abs(moved[1]).max())


def test_one_batch_of_all_samples_is_the_full_batch():
    training = Supervised(TwoLayer(3, 4, 2, "tanh"), regression(2), initial_std=0.8)
    runs = [
        gradient_descent(training, [0, 20], learning_rate=0.05, seeds=[0], batch_size=size)
        for size in (60, None)
    ]
    np.testing.assert_allclose(runs[0].loss, runs[1].loss, rtol=1e-12)
    assert "minibatches of 60" in runs[0].attrs["simulation"]


def test_minibatches_do_not_depend_on_when_one_records():
    training = Supervised(TwoLayer(3, 4, 2, "tanh"), regression(2), initial_std=0.8)
    often, once = (
        gradient_descent(training, steps, learning_rate=0.05, seeds=[0], batch_size=7)
        for steps in ([0, 3, 11, 20], [20])
    )
    assert often.loss[0, -1].item() == pytest.approx(once.loss[0, -1].item(), rel=1e-13)


def test_descent_tends_to_the_flow():
    """Here over moments; `test_training` has it over samples."""
    training = Supervised(*FEATURES["quadratic"], 0.3)
    flow = gradient_flow(training, [0, 0.4], seeds=[4], tolerance=1e-11).loss[0, 1].item()
    gaps = [
        gradient_descent(training, [steps], learning_rate=0.4 / steps, seeds=[4]).loss.item() - flow
        for steps in (400, 800)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(2, abs=0.05)
    assert abs(gaps[1]) < 0.01 * flow


def test_equal_trainings_share_what_is_compiled():
    calls = []

    def counted(z):
        calls.append(z)
        return jnp.tanh(z)

    network = TwoLayer(3, 4, 1, counted)
    one = Supervised(network, regression(1), initial_std=0.1)
    other = Supervised(network, GivenData(np.ones((60, 3)), np.ones(60)), initial_std=(0.2, 3.0))
    run = functools.partial(gradient_descent, steps=[0, 5], learning_rate=0.1, seeds=[0])
    first = run(one).loss
    traced = len(calls)
    assert traced > 0
    second = run(other).loss
    assert len(calls) == traced
    assert abs(first - second).max() > 0.01


def test_what_makes_trainings_equal():
    one = Supervised(*FEATURES["linear with bias"], initial_std=0.1)
    other = Supervised(TwoLayer(3, 9, 2, bias=True), regression(2, 30), 0.3, population=True)
    assert one == other
    assert hash(one) == hash(other)
    for change in ({"network": TwoLayer(3, 8, 2)}, {"mean_outputs": True}, {"records": ()}):
        assert dataclasses.replace(one, **change) != one


def test_seeds_draw_their_own_data_and_weights():
    training = Supervised(*FEATURES["quadratic"], initial_std=0.1)
    (w0, d0), (w1, d1), (w2, d2) = (training.start(seed) for seed in (0, 1, 0))
    assert (w0.first != w1.first).all()
    assert (d0.covariance != d1.covariance).all()
    assert (w0.first == w2.first).all()
    assert (d0.covariance == d2.covariance).all()


def test_records():
    training = Supervised(
        *FEATURES["linear with bias"], 0.3, records=("units", "singular_values", "norms")
    )
    run = gradient_descent(training, [0, 10], learning_rate=0.01, seeds=[0, 1])
    assert run.incoming.dims == ("seed", "time", "unit", "incoming_weight")
    assert run.incoming.shape == (2, 2, 9, 4)
    assert run.outgoing.shape == (2, 2, 9, 2)
    weights = training.start(1)[0]
    np.testing.assert_allclose(run.incoming[1, 0], weights.first.T, atol=1e-15)
    np.testing.assert_allclose(run.outgoing[1, 0], weights.second, atol=1e-15)
    np.testing.assert_allclose(
        run.singular_values, np.linalg.svd(run.incoming.values, compute_uv=False), rtol=1e-12
    )
    norms = [np.linalg.norm(run[name], axis=(2, 3)) for name in ("incoming", "outgoing")]
    np.testing.assert_allclose(run.norms, np.stack(norms, axis=-1), rtol=1e-12)
    bare = gradient_descent(dataclasses.replace(training, records=()), [0, 10], learning_rate=0.01,
                            seeds=[0])  # fmt: skip
    assert set(bare.data_vars) == {"loss", "diverged"}
    assert run.attrs["mean_outputs"] is False
    assert "TwoLayer(" in run.attrs["network"]


@pytest.mark.parametrize("case", [*FEATURES, "three layers"])
def test_all_weights_are_recorded_when_asked(case):
    """Flat, in the order in which `adapters.derivatives` flattens them, also where fewer units descend."""
    network, task = FEATURES.get(case, THREE_LAYERS)
    training = Supervised(network, task, 0.1, records=("weights",))
    run = gradient_descent(training, [0, 1], learning_rate=0.01, seeds=[0])
    weights, data = training.start(0)
    made = derivatives(lambda w: training.loss(w, data), weights)
    assert run.weights.dims == ("seed", "time", "weight")
    np.testing.assert_allclose(run.weights[0, 0], made.weights, rtol=0, atol=1e-13)
    step = made.weights - 0.01 * made.gradient(made.weights)
    np.testing.assert_allclose(run.weights[0, 1], step, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("inputs", "activation", "at_zero"),
    [(14, "linear", 14), (9, "quadratic", 99), (7, "cubic", 147)],
)
def test_population_losses_in_many_inputs(inputs, activation, at_zero):
    """⟨(Σ x)²⟩, ⟨(Σ x²)²⟩ = D² + 2D, and ⟨(Σ x³)²⟩ = 15 D + … of independent cubes."""
    power = {"linear": 1, "quadratic": 2, "cubic": 3}[activation]
    task = GaussianRegression(inputs, lambda x: (x**power).sum(axis=1, keepdims=True))
    training = Supervised(TwoLayer(inputs, 2, activation=activation), task, 0.0, population=True)
    weights, data = training.start(0)
    exact = {"linear": inputs, "quadratic": inputs**2 + 2 * inputs, "cubic": 15 * inputs}
    assert float(training.loss(weights, data)) == pytest.approx(exact[activation], rel=1e-12)
    assert data.least == pytest.approx(0, abs=1e-9 * at_zero)


def test_a_distribution_that_quadrature_cannot_average_is_refused():
    task = GaussianRegression(9, lambda x: x[:, :1])
    training = Supervised(TwoLayer(9, 2, activation="relu"), task, 0.1, population=True)
    with pytest.raises(ArgumentError, match=r"points over 9 inputs, got 6\. Draw samples instead"):
        training.start(0)


def descend(training, **options):
    return gradient_descent(training, [0, 2], learning_rate=0.01, seeds=[0], **options)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"network": "mlp"}, "`network` must be a network, got 'mlp'. Use one of `lazyrich.models`."),
     ({"task": None}, r"`task` must give a data set by `dataset\(key\)`, got None. Use e.g. `tasks."),
     ({"population": True}, "`population` must be False for this task, which is no distribution, got True"),
     ({"records": ("unit",)}, r"`records` must be among units, weights, singular_values, norms, got"),
     ({"records": "units"}, "`records` must be among units, weights, singular_values, norms, got 'units'"),
     ({"initial_std": -1.0}, "`initial_std` must be a finite real number ≥ 0, got -1.0"),
     ({"initial_std": np.nan}, "`initial_std` must be"), ({"initial_std": "small"}, "`initial_std` must be")],
)  # fmt: skip
def test_bad_fields(fields, message):
    good = {
        "network": TwoLayer(2, 3, activation="relu"),
        "task": orthogonal_pair(),
        "initial_std": 0.1,
    }
    with pytest.raises(ArgumentError, match=message):
        Supervised(**good | fields)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_labels_must_be_finite(wrong):
    task = GaussianRegression(2, lambda x: np.where(x[:, :1] > 0, wrong, 0.0), 20)
    for activation in ("linear", "tanh"):
        with pytest.raises(
            ArgumentError, match="`task` must give finite targets, got 'NaN or infi"
        ):
            descend(Supervised(TwoLayer(2, 3, activation=activation), task, 0.1))


@pytest.mark.parametrize("activation", ["linear", "tanh"])
@pytest.mark.parametrize(
    "start",
    [TwoLayerWeights(np.ones((2, 4)), np.ones((4, 2))), TwoLayerWeights(np.ones((3, 4)), np.ones((4, 1))),
     TwoLayerWeights(np.ones((2, 4)), np.ones((5, 1))), (np.ones((2, 4)), np.ones((4, 1))),
     TwoLayerWeights(np.ones((2, 0)), np.ones((0, 1)))],
)  # fmt: skip
def test_a_start_that_does_not_fit(activation, start):
    training = Supervised(
        TwoLayer(2, 4, activation=activation), regression_2d(), initial_weights=lambda seed: start
    )
    with pytest.raises(
        ArgumentError,
        match=r"`initial_weights` must give weights of the shapes TwoLayerW.*≥ 1, may differ",
    ):
        descend(training)


def regression_2d():
    return GaussianRegression(2, lambda x: x[:, :1], 20)


def test_a_start_may_have_another_number_of_units():
    start = TwoLayerWeights(np.ones((2, 7)), np.ones((7, 1)))
    assert descend(
        Supervised(TwoLayer(2, 4), regression_2d(), initial_weights=lambda seed: start)
    ).incoming.shape == (1, 2, 7, 2)


def test_a_start_must_be_finite():
    start = TwoLayerWeights(np.full((2, 4), np.nan), np.ones((4, 1)))
    with pytest.raises(
        ArgumentError, match="`initial_weights` must give finite weights, got 'NaN or inf"
    ):
        descend(Supervised(TwoLayer(2, 4), regression_2d(), initial_weights=lambda seed: start))


def test_no_units_are_no_network():
    with pytest.raises(ArgumentError, match="`width` must be"):
        TwoLayer(2, 0)


@pytest.mark.parametrize(
    ("activation", "size", "message"),
    [("linear", 4, "`batch_size` must be None for a network that learns from moments"),
     ("tanh", 21, "`batch_size` must be at most 20, the number of samples, got 21"),
     ("tanh", 0, "`batch_size` must be"), ("tanh", 2.5, "`batch_size` must be"),
     ("tanh", np.nan, "`batch_size` must be")],
)  # fmt: skip
def test_bad_batches(activation, size, message):
    training = Supervised(TwoLayer(2, 3, activation=activation), regression_2d(), 0.1)
    with pytest.raises(ArgumentError, match=message):
        descend(training, batch_size=size)
