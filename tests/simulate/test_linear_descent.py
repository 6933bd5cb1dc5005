"""Powers of eigenvalues against plain steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich import simulate, tasks, theory
from lazyrich.core import ArgumentError, Cancelled, Context
from lazyrich.simulate._linear_descent import draw


def stepped(task, num_test, seed, steps, rate, thresholds, decay=0.0, scale=1.0):
    """The same descent, one automatic gradient after the other."""
    X, X_test, noise, T, S = draw(task, num_test, seed)
    Y, S = X @ T + noise, scale * S
    records = {name: [] for name in ("train_loss", "test_loss", "sampled_test_loss")}
    accuracies = {name: [] for name in ("train_accuracy", "test_accuracy")}

    def objective(S):
        return jnp.mean((X @ S - Y) ** 2) + decay / (2 * task.output_dimension) * jnp.sum(S**2)

    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(objective))
        for step in range(int(max(steps)) + 1):
            if step in steps:
                train, test = (np.mean(r**2, axis=1) for r in (X @ S - Y, X_test @ (S - T)))
                records["train_loss"].append(train.mean())
                records["test_loss"].append(np.sum((S - T) ** 2) / task.output_dimension)
                records["sampled_test_loss"].append(test.mean())
                accuracies["train_accuracy"].append([np.mean(train <= e) for e in thresholds])
                accuracies["test_accuracy"].append([np.mean(test <= e) for e in thresholds])
            S = S - rate * np.asarray(slope(S))
    return records, accuracies


@pytest.mark.parametrize(
    ("d_in", "num_samples", "d_out"), [(8, 20, 1), (12, 6, 1), (6, 9, 3), (5, 5, 2)]
)
@pytest.mark.parametrize("rate", [0.02, 0.4])
@pytest.mark.parametrize(
    ("decay", "scale", "noise"),
    [(0.0, 1.0, 0.0), (0.3, 2.0, 0.0), (0.0, 0.0, 0.5), (0.1, 1.0, 0.2)],
)
def test_agrees_with_stepping(d_in, num_samples, d_out, rate, decay, scale, noise):
    task = tasks.TeacherStudent(d_in, num_samples, d_out, label_noise=noise)
    steps, thresholds = [0, 1, 2, 7, 50, 333], [1e-3, 0.05]
    run = simulate.linear_descent(
        task, steps, learning_rate=rate, seeds=[5], thresholds=thresholds, num_test=40,
        weight_decay=decay, student_scale=scale,
    )  # fmt: skip
    records, accuracies = stepped(task, 40, 5, steps, rate, thresholds, decay, scale)
    for name, values in records.items():
        np.testing.assert_allclose(run[name][0], values, rtol=1e-9, atol=1e-14, err_msg=name)
    for name, values in accuracies.items():
        np.testing.assert_allclose(run[name][0], values, atol=1e-12, err_msg=name)


def test_too_large_a_rate_is_a_result_with_a_status():
    task = tasks.TeacherStudent(4, 8)
    run = simulate.linear_descent(task, [0, 3, 10_000], learning_rate=5.0, seeds=[0])
    assert bool(run.diverged[0])
    assert np.isinf(run.train_loss[0, -1])
    assert not np.any(np.isnan(run.train_loss))
    records, _ = stepped(task, 10, 0, [0, 3], 5.0, [1e-3])
    np.testing.assert_allclose(run.train_loss[0, :2], records["train_loss"], rtol=1e-9)


def test_a_seed_gives_the_same_bits_whatever_its_neighbours():
    task = tasks.TeacherStudent(30, 40)
    both = simulate.linear_descent(task, [1, 100], learning_rate=0.01, seeds=[3, 8])
    alone = simulate.linear_descent(task, [1, 100], learning_rate=0.01, seeds=[8])
    assert both.isel(seed=[1]).identical(alone)
    assert not np.array_equal(both.train_loss[0], both.train_loss[1])


def test_small_rates_keep_their_digits():
    """(1 − x)^t at x = 1e-9, t = 1e9: a power taken naively loses nine digits."""
    task = tasks.TeacherStudent(6, 10)
    run = simulate.linear_descent(task, [10**9], learning_rate=1e-9, seeds=[0])
    X, _, _, T, S = draw(task, 1, 0)
    exact = theory.LinearFlow(X.T @ X / len(X), (S - T)[:, 0]).train_loss(1.0)
    assert float(run.train_loss[0, 0]) == pytest.approx(exact, rel=1e-7)


def test_training_loss_falls_to_nothing_with_fewer_samples_than_dimensions():
    task = tasks.TeacherStudent(input_dimension=60, num_samples=20)
    run = simulate.linear_descent(task, [0, 100_000], learning_rate=0.01, seeds=range(3))
    assert np.all(run.train_loss[:, -1] < 1e-30)


def test_says_how_it_came_about():
    run = simulate.linear_descent(tasks.TeacherStudent(4, 8), [0], learning_rate=0.1, seeds=[0])
    assert run.attrs["time_unit"] == "steps"
    assert "no ½" in run.attrs["loss_convention"]
    assert run.attrs["learning_rate"] == 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": [0.5]}, "`steps.0.` must be a whole number ≥ 0, got 0.5"),
        ({"steps": []}, "`steps` must be a list of numbers, not empty"),
        ({"steps": [-1]}, "`steps.0.` must be .* ≥ 0, got -1"),
        ({"learning_rate": 0}, "`learning_rate` must be .* > 0, got 0.0"),
        ({"learning_rate": "fast"}, "`learning_rate` must be .* got 'fast'"),
        ({"seeds": []}, "`seeds` must be a list of numbers, not empty"),
        ({"seeds": [1.5]}, "`seeds.0.` must be a whole number"),
        ({"learning_rate": [0.1, 0.2]}, "`learning_rate` must be a single number"),
        ({"thresholds": 1e-3}, "`thresholds` must be a list"),
        ({"thresholds": [0.0]}, "`thresholds.0.` must be .* > 0"),
        ({"num_test": 0}, "`num_test` must be"),
    ],
)
def test_bad_input(changes, message):
    arguments = {"steps": [1], "learning_rate": 0.1, "seeds": [0]} | changes
    with pytest.raises(ArgumentError, match=message):
        simulate.linear_descent(tasks.TeacherStudent(4, 8), **arguments)


@pytest.mark.parametrize("outputs", [6, 40])
def test_more_outputs_than_inputs(outputs):
    """Then the outputs are rotated; losses and accuracies are those of plain steps."""
    task = tasks.TeacherStudent(input_dimension=5, num_samples=8, output_dimension=outputs)
    X, X_test, _, T, S = draw(task, 30, seed=4)
    D, rate = S - T, 0.3
    for _ in range(25):
        D = D - 2 * rate / outputs * (X.T @ X / 8) @ D
    run = simulate.linear_descent(
        task, [25], learning_rate=rate, seeds=[4], num_test=30, thresholds=(1e-3, 1e-2)
    ).isel(seed=0, time=0)
    errors, test = np.mean((X @ D) ** 2, axis=1), np.mean((X_test @ D) ** 2, axis=1)
    assert run.train_loss.item() == pytest.approx(errors.mean(), rel=1e-10)
    assert run.sampled_test_loss.item() == pytest.approx(test.mean(), rel=1e-10)
    assert run.test_loss.item() == pytest.approx(np.sum(D**2) / outputs, rel=1e-10)
    for index, level in enumerate((1e-3, 1e-2)):
        assert run.train_accuracy[index].item() == pytest.approx(np.mean(errors <= level))
        assert run.test_accuracy[index].item() == pytest.approx(np.mean(test <= level))


def test_accuracies_have_the_dimensions_of_every_run():
    task = tasks.TeacherStudent(3, 5)
    run = simulate.linear_descent(
        task,
        [0, 1],
        learning_rate=0.1,
        seeds=[0, 1, 2],
        thresholds=(1e-3, 0.1, 1.0, 9.0),
        num_test=4,
    )
    assert run.test_accuracy.dims == ("seed", "time", "threshold")
    assert run.test_accuracy.shape == (3, 2, 4)


def test_seeds_report_and_stop():
    seen = []
    context = Context(
        report=lambda label, done, total: seen.append((done, total)),
        should_stop=lambda: len(seen) > 1,
    )
    with pytest.raises(Cancelled):
        simulate.linear_descent(
            tasks.TeacherStudent(3, 5), [0], learning_rate=0.1, seeds=range(3), context=context
        )
    assert seen == [(0, 3), (1, 3)]
