"""Training on pairs of group elements, against dense one-hot inputs and optimisers written out."""

import dataclasses

import jax
import numpy as np
import pytest

from lazyrich import groups, measures, models, simulate, tasks
from lazyrich.core import ArgumentError

M, K, RATE, DECAY = 5, 7, 0.05, 0.02
TASK = tasks.GroupArithmetic(groups.cyclic(M), 0.6)
NETWORK = models.PairNetwork(M, K, output_scale=2.0)
TRAINING = simulate.FeatureLearning(NETWORK, TASK, initial_scale=1.5)
DESCENT = {"learning_rate": RATE, "weight_decay": DECAY, "dtype": "float64"}


def by_definition(W, V, data, centring="classes", objective="squared"):
    """Loss and gradients of the quadratic network with inputs written out, in NumPy."""
    n = len(data.pairs)
    X = np.eye(2 * M)[data.pairs[:, 0]] + np.eye(2 * M)[M + data.pairs[:, 1]]
    Y = np.eye(M)[data.labels]
    axis = {"classes": 1, "samples": 0}.get(centring)
    F = (X @ W) ** 2
    R = Y - 2.0 * F @ V
    if axis is not None:
        R = R - R.mean(axis=axis, keepdims=True)
    slope = -2 / n * 2.0 * R
    loss = np.sum(R**2) / n
    return loss, X.T @ (slope @ V.T * 2 * (X @ W)), F.T @ slope


def stepped(W, V, data, steps, rule, **kind):
    """The weights after some steps of a rule written out."""
    w, m, v = [W, V], [0.0, 0.0], [0.0, 0.0]
    for t in range(1, steps + 1):
        g = by_definition(*w, data, **kind)[1:]
        if rule != "adamw":
            g = [a + DECAY * b for a, b in zip(g, w, strict=True)]
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g, strict=True)]
        v = [0.999 * a + 0.001 * b**2 for a, b in zip(v, g, strict=True)]
        u = [
            (a / (1 - 0.9**t)) / (np.sqrt(b / (1 - 0.999**t)) + 1e-8)
            for a, b in zip(m, v, strict=True)
        ]
        if rule == "adamw":
            u = [a + DECAY * b for a, b in zip(u, w, strict=True)]
        w = [a - RATE * b for a, b in zip(w, g if rule == "sgd" else u, strict=True)]
    return w


@pytest.mark.parametrize(
    ("rule", "centring"),
    [("adam", "classes"), ("adamw", "samples"), ("sgd", "none")],
)
def test_optimizers_and_centrings_by_hand(rule, centring):
    training = dataclasses.replace(TRAINING, centring=centring, records=("weights",))
    weights, data = training.start(4)
    run = simulate.gradient_descent(training, [0, 6], seeds=[4], optimizer=rule, **DESCENT)
    W, V = stepped(weights.first, weights.second, data, 6, rule, centring=centring)
    np.testing.assert_allclose(run.first[0, 1], W, rtol=1e-9)
    np.testing.assert_allclose(run.second[0, 1], V, rtol=1e-9)
    loss = by_definition(W, V, data, centring)[0]
    assert run.train_loss[0, 1].item() == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("centring", ["classes", "samples", "none"])
def test_test_numbers_by_hand(centring):
    """Over the pairs left out; with the mean over samples free, outputs are moved to the labels' mean."""
    training = dataclasses.replace(TRAINING, centring=centring)
    (W, _, V), data = training.start(1)
    run = simulate.gradient_descent(training, [0], seeds=[1], optimizer="adam", **DESCENT)
    X = np.eye(2 * M)[data.all_pairs[:, 0]] + np.eye(2 * M)[M + data.all_pairs[:, 1]]
    R = np.eye(M)[data.all_labels] - 2.0 * (X @ W) ** 2 @ V
    train = data.is_train > 0
    outputs = np.eye(M)[data.all_labels] - R
    if centring == "classes":
        R = R - R.mean(axis=1, keepdims=True)
    if centring == "samples":
        outputs, R = outputs + R[train].mean(axis=0), R - R[train].mean(axis=0)
    right = outputs.argmax(1) == data.all_labels
    for name, part in (("train", train), ("test", ~train)):
        expected = np.mean(np.sum(R[part] ** 2, axis=1)), right[part].mean()
        got = run[f"{name}_loss"].item(), run[f"{name}_accuracy"].item()
        assert got == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("objective", ["cross-entropy", "stable-softmax"])
def test_cross_entropies_by_hand(objective):
    training = dataclasses.replace(TRAINING, objective=objective)
    (W, _, V), data = training.start(0)
    outputs = np.array([2 * (W[g] + W[M + h]) ** 2 @ V for g, h in data.pairs]) * 30
    V = V * 30  # large outputs of both signs
    growth = {
        "cross-entropy": np.exp,
        "stable-softmax": lambda x: np.where(x >= 0, x + 1, 1 / (1 - np.minimum(x, 0))),
    }[objective](outputs)
    chances = growth / growth.sum(axis=1, keepdims=True)
    expected = -np.mean(np.log(chances[np.arange(len(chances)), data.labels]))
    with jax.enable_x64(True):
        value, slope = jax.jit(jax.value_and_grad(training.loss))(
            models.PairWeights(W, (), V), data
        )
        step = models.PairWeights(W - 1e-6 * slope.first, (), V - 1e-6 * slope.second)
        lower = float(jax.jit(training.loss)(step, data))
    assert float(value) == pytest.approx(expected, rel=1e-12)
    squares = sum(float(np.sum(np.asarray(leaf) ** 2)) for leaf in jax.tree.leaves(slope))
    assert (expected - lower) / 1e-6 == pytest.approx(squares, rel=1e-3)


@pytest.mark.parametrize(("centring", "width"), [("classes", 7), ("samples", 7), ("samples", 40)])
def test_ridge_top_layer_minimises(centring, width):
    """The top layer is the minimiser, by brute force, and the first layer's gradient that of the minimum."""
    network = models.PairNetwork(M, width, output_scale=2.0)
    training = simulate.FeatureLearning(network, TASK, centring=centring, top_decay=0.1)
    weights, data = training.start(2)
    n = TASK.num_samples
    eta = n * 0.1 / 2
    assert data.ridge == pytest.approx(eta)

    def minimum(W):
        F = np.array([2 * (W[g] + W[M + h]) ** 2 for g, h in data.pairs])
        Y = np.eye(M)[data.labels]
        if centring == "samples":
            F, Y = F - F.mean(0), Y - Y.mean(0)
        if centring == "classes":
            Y = Y - Y.mean(1, keepdims=True)
        tall = np.concatenate([F, np.sqrt(eta) * np.eye(width)])
        V = np.linalg.lstsq(tall, np.concatenate([Y, np.zeros((width, M))]), rcond=None)[0]
        return V, (np.sum((Y - F @ V) ** 2) + eta * np.sum(V**2)) / n

    with jax.enable_x64(True):
        top = jax.jit(training.with_top)(weights, data).second
        slope = jax.jit(jax.grad(training.loss))(weights, data)
    np.testing.assert_allclose(top, minimum(weights.first)[0], rtol=1e-9, atol=1e-12)
    assert not np.any(slope.second)
    direction = np.random.default_rng(0).standard_normal(weights.first.shape)
    ahead, behind = (minimum(weights.first + s * 1e-5 * direction)[1] for s in (1, -1))
    assert np.sum(np.asarray(slope.first) * direction) == pytest.approx(
        (ahead - behind) / 2e-5, rel=1e-6
    )


def test_rows_that_fill_up_do_not_count():
    """Other numbers of samples in as many rows share what is compiled, and change nothing."""
    runs = []
    for centring, rows in (("samples", None), ("samples", 20)):
        training = dataclasses.replace(TRAINING, centring=centring, padded_samples=rows)
        runs.append(
            simulate.gradient_descent(training, [9], seeds=[0], optimizer="adam", **DESCENT)
        )
    for name in ("train_loss", "test_loss"):
        assert runs[1][name].item() == pytest.approx(runs[0][name].item(), rel=1e-10)
    traced = []

    @dataclasses.dataclass(frozen=True)
    class Counted(simulate.FeatureLearning):
        def loss(self, weights, data):
            traced.append(1)
            return super().loss(weights, data)

    for fraction, scale, decay in ((0.5, 1.0, None), (0.7, 2.0, None), (0.2, 0.1, None)):
        task = tasks.GroupArithmetic(groups.cyclic(M), fraction)
        network = dataclasses.replace(NETWORK, output_scale=scale)
        training = Counted(network, task, padded_samples=20, top_decay=decay, initial_scale=scale)
        simulate.gradient_descent(training, [2], seeds=[1], optimizer="adam", **DESCENT)
    assert len(traced) == 1


def test_a_grid_is_its_runs():
    """Rates and decays are dimensions; every run of a large network has the bits it has alone."""
    training = dataclasses.replace(TRAINING, network=models.PairNetwork(M, 1400))
    rates, decays = [0.01, 0.1], [0.0, 0.3]
    grid = simulate.gradient_descent(
        training, [0, 5], seeds=[0, 3], optimizer="adam", learning_rate=rates, weight_decay=decays
    )
    assert grid.train_loss.dims == ("learning_rate", "weight_decay", "seed", "time")
    assert grid.diverged.dims == ("learning_rate", "weight_decay", "seed")
    assert grid.attrs["simulation"].endswith("float32")
    for rate, decay, seed in ((0.1, 0.0, 3), (0.01, 0.3, 0)):
        alone = simulate.gradient_descent(
            training, [0, 5], seeds=[seed], optimizer="adam", learning_rate=rate, weight_decay=decay
        )
        same = grid.sel(learning_rate=rate, weight_decay=decay, seed=seed)
        for name in ("train_loss", "test_loss", "test_accuracy"):
            np.testing.assert_array_equal(same[name], alone[name][0])


def norms(training, weights, data):
    """A probe: numbers and an array."""
    F = training.features(weights, data)
    return {"size": (F**2).sum(), "units": (F**2).sum(axis=0)}


def test_probe_weights_and_change():
    training = dataclasses.replace(
        TRAINING, records=("weights", "change"), probe=norms, padded_samples=20
    )
    run = simulate.gradient_descent(training, [3, 4], seeds=[0], optimizer="adam", **DESCENT)
    plain = simulate.gradient_descent(TRAINING, [4], seeds=[0], optimizer="adam", **DESCENT)
    assert run.train_loss[0, 1].item() == pytest.approx(plain.train_loss.item(), rel=1e-12)
    _, data = TRAINING.start(0)
    W = run.first[0, 1].values
    F = np.array([(W[g] + W[M + h]) ** 2 for g, h in data.pairs])
    assert run["size"][0, 1].item() == pytest.approx(np.sum(F**2), rel=1e-10)
    np.testing.assert_allclose(run.units[0, 1], np.sum(F**2, axis=0), rtol=1e-10)
    for name in ("first", "second"):
        a, b = run[name][0].values.reshape(2, -1)
        cosine = 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert run[f"{name}_change"][0, 0].item() == pytest.approx(cosine, rel=1e-6)


def test_pairs_that_a_seed_trains_on():
    training = dataclasses.replace(TRAINING, padded_samples=20)
    _, data = training.start(3)
    pairs = training.train_pairs(3)
    assert len(pairs) == TASK.num_samples
    np.testing.assert_array_equal(pairs, data.pairs[data.share > 0])
    assert not np.array_equal(pairs, training.train_pairs(4))


def test_going_on_from_recorded_weights():
    first = dataclasses.replace(TRAINING, records=("weights",))
    run = simulate.gradient_descent(first, [4, 9], seeds=[0], learning_rate=0.1, dtype="float64")
    there = models.PairWeights(run.first[0, 0].values, (), run.second[0, 0].values)
    later = dataclasses.replace(TRAINING, initial_weights=lambda seed: there)
    again = simulate.gradient_descent(later, [5], seeds=[0], learning_rate=0.1, dtype="float64")
    assert again.train_loss.item() == pytest.approx(run.train_loss[0, 1].item(), rel=1e-12)
    for wrong in (there._replace(first=there.second), there._replace(second=np.nan * there.second)):
        with pytest.raises(
            ArgumentError, match="`initial_weights` must give finite weights of the shapes"
        ):
            dataclasses.replace(TRAINING, initial_weights=lambda seed, wrong=wrong: wrong).start(0)


def test_deep_complex_and_muon_learn():
    """Kinds that no oracle here covers at least fit their training pairs, from zero-init too."""
    cases = [
        ({"middle_layers": 1, "activation": "relu", "width": 64}, {"top_scale": 0.0}, "adam", 0.01),
        ({"complex_weights": True, "width": 24}, {"records": ("weights",)}, "adam", 0.02),
        ({"width": 64}, {}, "polar-muon", 0.05),
        ({"complex_weights": True, "width": 24}, {}, "muon", 0.05),
    ]
    for network, more, rule, rate in cases:
        training = simulate.FeatureLearning(models.PairNetwork(M, **network), TASK, **more)
        run = simulate.gradient_descent(
            training, [0, 150], seeds=[0], optimizer=rule, learning_rate=rate, weight_decay=1e-4
        )
        assert run.train_accuracy[0, 1] == 1, (network, rule)
        assert not run.diverged.any()
        if "first" in run:
            assert np.iscomplexobj(run.first)
            assert np.abs(run.first.values.imag).max() > 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"network": models.TwoLayer(10, 3)}, "`network` must be a PairNetwork"),
        ({"task": tasks.orthogonal_pair()}, "`task` must give pairs, labels"),
        ({"network": models.PairNetwork(6, 4)}, "`network` must have 5 symbols .*, got '6 symbols"),
        (
            {"network": models.PairNetwork(5, 4, 3)},
            "`network` must have 5 symbols .* and 3 outputs",
        ),
        (
            {"objective": "hinge"},
            "`objective` must be one of squared, cross-entropy, stable-softmax",
        ),
        ({"centring": "rows"}, "`centring` must be one of samples, classes, none"),
        ({"top_decay": -1}, "`top_decay` must"),
        ({"top_decay": 0.1, "objective": "cross-entropy"}, "`top_decay` must be None unless"),
        ({"initial_scale": -1}, "`initial_scale` must"),
        ({"top_scale": np.inf}, "`top_scale` must"),
        ({"padded_samples": 14}, "`padded_samples` must be at least 15"),
        ({"records": ("norms",)}, "`records` must hold only names of weights, change"),
        ({"records": "weights"}, "`records` must hold only names"),
        ({"probe": 3}, "`probe` must be a function"),
        ({"initial_weights": 3}, "`initial_weights` must be a function"),
    ],
)
def test_bad_training(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        simulate.FeatureLearning(**({"network": NETWORK, "task": TASK} | arguments))


def test_ridge_of_zero_on_a_singular_gram_matrix():
    wide = models.PairNetwork(M, 20)
    for centring in ("classes", "samples"):
        training = simulate.FeatureLearning(wide, TASK, top_decay=0.0, centring=centring)
        with pytest.raises(
            ArgumentError, match="`top_decay` must be > 0 as the features' Gram matrix is singular"
        ):
            training.start(0)
    simulate.FeatureLearning(NETWORK, TASK, top_decay=0.0).start(
        0
    )  # 7 units, 15 samples: it is regular


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weight_decay": -1e-4}, "`weight_decay` must be a finite real number ≥ 0"),
        ({"weight_decay": [0.1, np.nan]}, r"`weight_decay\[1\]` must"),
        ({"weight_decay": [[0.1]]}, "`weight_decay` must be a number or a list of them"),
        ({"learning_rate": [0.1, -1.0]}, r"`learning_rate\[1\]` must"),
        ({"learning_rate": []}, "`learning_rate` must be a number or a list of them"),
        ({"optimizer": "adagrad"}, "or one of sgd, adam, adamw, muon, polar-muon"),
        ({"checkpoint": 3}, "`checkpoint` must be a name"),
    ],
)
def test_bad_descent(arguments, message):
    given = {"optimizer": "adam", "learning_rate": 0.1} | arguments
    with pytest.raises(ArgumentError, match=message):
        simulate.gradient_descent(TRAINING, [0, 1], seeds=[0], **given)


def test_muon_is_optax_on_hidden_matrices_and_adam_on_top():
    import optax

    with jax.enable_x64(True):
        weights = models.PairNetwork(5, 24, middle_layers=1).init(jax.random.key(0))
        slopes = jax.tree.map(lambda w: w**3, weights)

        def twice(rule, weights, slopes):
            state = rule.init(weights)
            for _ in range(2):
                change, state = rule.update(slopes, state, weights)
            return change

        ours, exact = (
            jax.jit(twice, static_argnums=0)(rule, weights, slopes)
            for rule in (simulate.muon(top_factor=0.5), simulate.muon(exact=True, top_factor=0.5))
        )
        theirs = jax.jit(twice, static_argnums=0)(
            optax.contrib.muon(1.0), weights.first, slopes.first
        )
        adam = jax.jit(twice, static_argnums=0)(optax.adam(0.5), weights.second, slopes.second)
    np.testing.assert_allclose(ours.first, theirs, rtol=1e-12)
    for change in (ours, exact):
        np.testing.assert_allclose(change.second, adam, rtol=1e-12)
    spread = np.linalg.svd(ours.first, compute_uv=False) / np.sqrt(2.4)
    assert spread.max() - spread.min() > 0.1  # optax does not make the polar factor
    np.testing.assert_allclose(np.linalg.svd(exact.first, compute_uv=False), np.sqrt(2.4))
    np.testing.assert_allclose(np.linalg.svd(exact.middle[0], compute_uv=False), 1)


def test_muon_takes_complex_weights_for_complex_matrices():
    """The exact step is the polar factor of the complex momentum; optax's is close to it."""
    rng, shape = np.random.default_rng(0), (10, 24)
    weights = models.PairNetwork(5, 24, complex_weights=True).init(jax.random.key(0))
    slopes = [jax.tree.map(lambda w: rng.standard_normal(w.shape), weights) for _ in range(2)]
    found = {}
    with jax.enable_x64(True):
        for exact in (True, False):
            rule = simulate.muon(exact=exact)
            state, update = rule.init(weights), jax.jit(rule.update)
            for slope in slopes:
                step, state = update(slope, state, weights)
            found[exact] = step
    m, g = np.zeros(shape), [slope.first[0] + 1j * slope.first[1] for slope in slopes]
    for slope in g:
        m = 0.95 * m + 0.05 * slope
    ahead = 0.95 * m / (1 - 0.95**3) + 0.05 * g[1] / (1 - 0.95**2)
    U, _, Vh = np.linalg.svd(ahead, full_matrices=False)
    parts = [np.asarray(found[key].first) for key in (True, False)]
    exact, optax_step = (real + 1j * imaginary for real, imaginary in parts)
    np.testing.assert_allclose(exact, -np.sqrt(2.4) * U @ Vh, atol=1e-10)
    spread = np.linalg.svd(optax_step, compute_uv=False) / np.sqrt(2.4)
    assert 0.68 < spread.min() < spread.max() < 1.14
    # polynomials of a matrix keep its singular vectors
    inside = U.conj().T @ optax_step @ Vh.conj().T
    np.testing.assert_allclose(inside, np.diag(np.diag(inside)), atol=1e-10)
    assert found[True].second.shape == weights.second.shape


def test_it_groks():
    """M = 23, K = 256, 20 % test: about 0.44 at epoch 50, 0.9 at 150, 1 at 350, and not without decay."""
    task = tasks.GroupArithmetic(groups.cyclic(23), 0.8)
    training = simulate.FeatureLearning(models.PairNetwork(23, 256), task)
    run = simulate.gradient_descent(
        training, [0, 25, 50, 150, 350], seeds=[0, 1], optimizer="adam", learning_rate=5e-3,
        weight_decay=5e-5,
    ).mean("seed")  # fmt: skip
    assert (run.train_accuracy[2:] == 1).all()
    early, middle, late, last = run.test_accuracy[1:].values
    assert early < 0.1
    assert 0.2 < middle < 0.7
    assert late > 0.8
    assert last > 0.98


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["deep", "complex"])
def test_same_numbers_as_pytorch(kind):
    """Residual layers, and Adam on complex weights, which takes real and imaginary part for themselves."""
    torch = pytest.importorskip("torch", reason="needs the `bench` extra")
    more = {
        "deep": {"middle_layers": 2, "activation": "tanh"},
        "complex": {"complex_weights": True},
    }
    training = simulate.FeatureLearning(models.PairNetwork(M, K, **more[kind]), TASK)
    weights, data = training.start(0)
    values = jax.tree.leaves(weights)
    if kind == "complex":
        values = [parts[0] + 1j * parts[1] for parts in values]
    arrays = [torch.tensor(array, requires_grad=True) for array in values]
    X = torch.tensor(np.eye(2 * M)[data.pairs[:, 0]] + np.eye(2 * M)[M + data.pairs[:, 1]])
    X, Y = X.to(arrays[0].dtype), torch.tensor(np.eye(M)[data.labels])
    sigma = torch.tanh if kind == "deep" else torch.square
    adam, losses = torch.optim.Adam(arrays, lr=RATE, weight_decay=DECAY), []
    for _ in range(31):
        F = sigma(X @ arrays[0])
        for W in arrays[1:-1]:
            F = sigma(F + F @ W)
        R = Y - F @ arrays[-1]
        R = R - R.mean(dim=1, keepdim=True)
        loss = (R.abs() ** 2).sum() / len(Y)
        losses.append(loss.item())
        adam.zero_grad()
        loss.backward()
        adam.step()
    run = simulate.gradient_descent(training, range(31), seeds=[0], optimizer="adam", **DESCENT)
    np.testing.assert_allclose(run.train_loss[0], losses, rtol=1e-8)


def test_zero_init_has_no_direction_at_first():
    """As `measures.weight_change` has it: NaN from a matrix of zeros, which is no divergence."""
    training = dataclasses.replace(TRAINING, top_scale=0.0, records=("weights", "change"))
    run = simulate.gradient_descent(training, [0, 1, 2], seeds=[0], optimizer="adam", **DESCENT)
    known = measures.weight_change(run.second[0, :-1], run.second[0, 1:], node_axis=-2).whole
    np.testing.assert_allclose(run.second_change[0, :-1], known, rtol=1e-6)
    assert np.isnan(known[0])
    assert np.isfinite(run.first_change).all()
    assert not run.diverged.any()


def test_accuracies_of_a_diverged_run_are_no_numbers():
    run = simulate.gradient_descent(TRAINING, [0, 60], seeds=[0], learning_rate=1e6)
    assert run.diverged.all()
    for part in ("train", "test"):
        assert np.isfinite(run[f"{part}_accuracy"][0, 0])
        assert np.isnan(run[f"{part}_loss"][0, 1])
        assert np.isnan(run[f"{part}_accuracy"][0, 1])


def test_small_networks_advance_together_and_large_ones_alone():
    """In parts of 64 runs; what they come to is the same but for rounding."""
    large = models.PairNetwork(13, 256)
    task = tasks.GroupArithmetic(groups.cyclic(13), 0.5)
    assert simulate.FeatureLearning(large, task).runs_together == 1
    assert TRAINING.runs_together == 64
    arguments = {"optimizer": "adam", **DESCENT, "learning_rate": [0.01, 0.05]}
    many = simulate.gradient_descent(TRAINING, [0, 9], seeds=range(33), **arguments)
    for seed in (0, 31, 32):
        one = simulate.gradient_descent(TRAINING, [0, 9], seeds=[seed], **arguments)
        for name in one:
            np.testing.assert_allclose(one[name][:, 0], many[name].sel(seed=seed), rtol=1e-9)
