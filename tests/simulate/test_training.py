"""Gradient descent and gradient flow of any training."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.core import ArgumentError, Cancelled, Context
from lazyrich.simulate import (
    LinearClassifier,
    Training,
    TwoLayerStudent,
    gradient_descent,
    gradient_flow,
)

# flows are compiled for each training and number of times: four for bowls, two for students
SMALL = TwoLayerStudent(5, 8, width=6, output_dimension=2, thresholds=(1e-2, 1e-1), num_test=30)


@dataclasses.dataclass(frozen=True)
class Bowl(Training):
    """L = ½ Σ k θ², whose descent and flow are powers and exponentials."""

    curvatures: tuple[float, ...] = (1.0, 0.2)
    sign: float = 1.0

    def start(self, seed):
        return {"theta": np.full(len(self.curvatures), 1.0 + seed)}, np.array(self.curvatures)

    def loss(self, weights, data):
        return self.sign * jnp.sum(data * weights["theta"] ** 2) / 2

    def record(self, weights, data):
        return {"loss": self.loss(weights, data), "theta": weights["theta"]}

    record_dims = {"theta": ("direction",)}  # noqa: RUF012


def test_descent_is_a_power():
    steps = [0, 1, 7, 200]
    run = gradient_descent(Bowl(), steps, learning_rate=0.3, seeds=[0, 4])
    exact = (1 - 0.3 * np.array([1.0, 0.2])) ** np.array(steps)[:, None]
    np.testing.assert_allclose(run.theta, np.array([1, 5])[:, None, None] * exact, rtol=1e-12)
    assert run.theta.dims == ("seed", "time", "direction")


@pytest.mark.parametrize("implicit", [False, True])
def test_flow_is_an_exponential(implicit):
    times = np.array([0, 0.5, 3, 30.0])
    run = gradient_flow(
        Bowl(), times, seeds=[0, 4], learning_rate=0.3, tolerance=1e-10, implicit=implicit
    )
    exact = np.exp(-0.3 * np.array([1.0, 0.2]) * times[:, None])
    np.testing.assert_allclose(
        run.theta, np.array([1, 5])[:, None, None] * exact, rtol=1e-8, atol=5 * 1e-10
    )  # the tolerance times the largest weight


def test_an_implicit_flow_is_not_held_up_by_a_narrow_valley():
    narrow, times = Bowl((1e6, 0.2)), [0, 0.5, 3, 30.0]
    run = gradient_flow(narrow, times, seeds=[0], implicit=True)
    np.testing.assert_allclose(run.theta[0, :, 1], np.exp(-0.2 * np.array(times)), atol=1e-7)
    assert not run.diverged.any()
    assert np.abs(run.theta[0, 1:, 0]).max() < 1e-7
    assert gradient_flow(narrow, times, seeds=[0]).diverged.all()  # 3e7 times 1/curvature


@pytest.mark.parametrize("implicit", [False, True])
def test_flow_error_falls_with_the_tolerance(implicit):
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        run = gradient_flow(
            Bowl(), [0, 0.5, 1, 2.0], seeds=[0], tolerance=tolerance, implicit=implicit
        )
        errors.append(float(np.abs(run.theta[0, -1] - np.exp([-2, -0.4])).max()))
    assert errors[0] > 20 * errors[1] > 400 * errors[2]


@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_descent_tends_to_the_flow_at_first_order(activation):
    student = dataclasses.replace(SMALL, activation=activation)
    flow = gradient_flow(student, [0, 40.0], seeds=[3], tolerance=1e-11).train_loss[0, 1].item()
    gaps = []
    for steps in (200, 400):
        descent = gradient_descent(student, [0, steps], learning_rate=40 / steps, seeds=[3])
        gaps.append(descent.train_loss[0, 1].item() - flow)
    assert gaps[0] / gaps[1] == pytest.approx(2, abs=0.05)


def test_implicit_and_explicit_flows_agree():
    explicit, implicit = (
        gradient_flow(SMALL, [0, 40.0], seeds=[3], tolerance=1e-10, implicit=how)
        for how in (False, True)
    )
    np.testing.assert_allclose(implicit.train_loss, explicit.train_loss, rtol=1e-7)


def plain_descent(student, seed, steps, rate):
    """The same in NumPy, on all data, with the gradient written out."""
    plain = dataclasses.replace(student, activation=lambda z: z)  # takes the path of any activation
    (S0, S1), data = plain.start(seed)
    X, Y, N, d_out = data.inputs, data.targets, student.num_samples, student.output_dimension
    for _ in range(steps):
        error = X @ S0 @ S1 - Y
        G0, G1 = X.T @ error @ S1.T, (X @ S0).T @ error
        S0, S1 = S0 - 2 * rate / (N * d_out) * G0, S1 - 2 * rate / (N * d_out) * G1
    errors = np.mean((X @ S0 @ S1 - Y) ** 2, axis=1)
    test = np.mean((data.test_inputs @ S0 @ S1 - data.test_targets) ** 2, axis=1)
    T_and_S = (np.sum(S0**2) + np.sum(S1**2)) / 2
    return errors, test, T_and_S


def test_second_moments_give_what_all_data_give():
    errors, test, kernel = plain_descent(SMALL, 2, 50, 0.5)
    run = gradient_descent(SMALL, [0, 50], learning_rate=0.5, seeds=[2]).isel(seed=0, time=1)
    assert run.train_loss.item() == pytest.approx(errors.mean(), rel=1e-10)
    assert run.sampled_test_loss.item() == pytest.approx(test.mean(), rel=1e-10)
    assert run.kernel.item() == pytest.approx(kernel, rel=1e-12)
    for index, level in enumerate(SMALL.thresholds):
        assert run.train_accuracy[index].item() == pytest.approx(np.mean(errors <= level))
        assert run.test_accuracy[index].item() == pytest.approx(np.mean(test <= level))


def test_the_test_loss_is_the_expectation_for_linear_networks():
    large = dataclasses.replace(SMALL, num_test=200_000)
    run = gradient_descent(large, [0], learning_rate=1.0, seeds=[0]).isel(seed=0, time=0)
    assert run.test_loss.item() == pytest.approx(run.sampled_test_loss.item(), rel=0.02)


def test_the_flow_never_climbs():
    early, late = (
        gradient_flow(SMALL, [0, time], seeds=range(3), tolerance=1e-10).train_loss
        for time in (10.0, 1000.0)
    )
    assert bool((early[:, 1] < early[:, 0]).all())
    assert bool((late[:, 1] < early[:, 1]).all())


def test_runs_do_not_depend_on_each_other():
    alone = gradient_flow(SMALL, [0, 30.0], seeds=[5])
    together = gradient_flow(SMALL, [0, 30.0], seeds=[1, 5])
    assert alone.train_loss[0, 1].item() == together.train_loss[1, 1].item()
    alone = gradient_descent(SMALL, [0, 30], learning_rate=0.1, seeds=[5])
    together = gradient_descent(SMALL, [0, 30], learning_rate=0.1, seeds=[1, 5])
    assert alone.train_loss[0, 1].item() == pytest.approx(
        together.train_loss[1, 1].item(), rel=1e-12
    )


@pytest.mark.parametrize("simulator", [gradient_flow, gradient_descent])
def test_divergence_is_a_result(simulator):
    climbing = Bowl(sign=-1.0)
    run = simulator(climbing, [0, 1, 2, 10_000], learning_rate=1.0, seeds=[0])
    assert run.diverged.values.tolist() == [True]
    run = simulator(Bowl(), [0, 1, 2, 10], learning_rate=0.1, seeds=[0])
    assert run.diverged.values.tolist() == [False]


def test_attributes_say_how_it_came_about():
    run = gradient_flow(SMALL, [0, 1.0], seeds=[0], learning_rate=0.5)
    assert run.attrs["learning_rate"] == 0.5
    assert run.attrs["width"] == 6
    assert "no ½" in run.attrs["loss_convention"]
    assert run.attrs["simulation"].startswith("gradient_flow")


@pytest.mark.parametrize(
    ("simulator", "training", "rate", "unit"),
    [
        (gradient_flow, SMALL, 1.0, "learning rate × step"),
        (gradient_flow, SMALL, 0.5, "steps"),
        (gradient_descent, LinearClassifier(4, 2, 1, 2, num_test=2), 1.0, "steps"),
    ],
)
def test_the_simulator_says_what_time_counts(simulator, training, rate, unit):
    run = simulator(training, [0, 1], seeds=[0], learning_rate=rate)
    assert run.attrs["time_unit"] == unit
    assert ("learning rate × step" in run.attrs["time_convention"]) is (unit != "steps")
    assert run.attrs["loss_convention"] == training.loss_convention


def test_a_training_that_says_nothing_has_the_library_s_loss():
    assert "exactly this loss" in Bowl().loss_convention


def test_a_flow_stops_between_seeds():
    seen = []
    context = Context(report=lambda label, done, total: seen.append((done, total)),
                      should_stop=lambda: len(seen) > 1)  # fmt: skip
    with pytest.raises(Cancelled):
        gradient_flow(SMALL, [0, 1.0], seeds=[0, 1], context=context)
    assert seen == [(0, 2), (1, 2)]


def test_progress_and_cancellation():
    seen = []
    context = Context(report=lambda label, done, total: seen.append((done, total)),
                      should_stop=lambda: len(seen) > 2)  # fmt: skip
    with pytest.raises(Cancelled):
        gradient_descent(SMALL, [0, 1, 2, 3], learning_rate=0.1, seeds=[0], context=context)
    assert seen == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("simulator", [gradient_flow, gradient_descent])
@pytest.mark.parametrize(
    ("argument", "wrong", "message"),
    [("learning_rate", 0, "`learning_rate` must"), ("learning_rate", -1, "`learning_rate` must"),
     ("learning_rate", np.nan, "`learning_rate` must"), ("learning_rate", "x", "`learning_rate` must"),
     ("seeds", [], "`seeds` must"), ("seeds", [-1], r"`seeds\[0\]` must"),
     ("seeds", [0.5], r"`seeds\[0\]` must"), ("training", 3, "`training` must be a Training"),
     ("times", [], "must be a list of numbers in increasing order"),
     ("times", [3, 2], "must be a list of numbers in increasing order"),
     ("times", [-1], "must"), ("times", [np.inf], "must"), ("times", 5, "must be a list")],
)  # fmt: skip
def test_bad_input(simulator, argument, wrong, message):
    arguments = {"training": SMALL, "times": [0, 1], "learning_rate": 0.1, "seeds": [0]} | {
        argument: wrong
    }
    training, times = arguments.pop("training"), arguments.pop("times")
    with pytest.raises(ArgumentError, match=message):
        simulator(training, times, **arguments)


@pytest.mark.parametrize("wrong", [0, 1, -1e-3, np.nan, "x"])
def test_bad_tolerance(wrong):
    with pytest.raises(ArgumentError, match="`tolerance` must"):
        gradient_flow(SMALL, [0, 1], seeds=[0], tolerance=wrong)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("input_dimension", 0), ("num_samples", 0), ("width", 1.5), ("output_dimension", -2),
     ("activation", "nope"), ("thresholds", ()), ("thresholds", (0.0,)), ("thresholds", (np.nan,)),
     ("num_test", 0)],
)  # fmt: skip
def test_bad_students(field, wrong):
    with pytest.raises(ArgumentError, match=f"`{field}"):
        dataclasses.replace(SMALL, **{field: wrong})
