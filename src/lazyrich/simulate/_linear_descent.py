"""Gradient descent on a linear student: any step directly, none in between."""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from lazyrich.core import Context, Convention, argument_error, count, is_traced, number, real, whole
from lazyrich.core._arguments import MAX_NUMBERS
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._seed import checked_seeds, keys_of
from lazyrich.simulate._training import STEPS
from lazyrich.tasks import TeacherStudent

if TYPE_CHECKING:
    import xarray

LARGEST = 1e140
"""A diverging weight beyond this counts as infinite; its square is still a number."""
LARGEST_SCALE = 1e10
"""Of the student at the start: times a weight that has not diverged, its square is a number."""
LARGEST_BLOCK = 2e7
"""How many predictions are held in memory at a time."""


def linear_descent(
    task: TeacherStudent,
    steps: Any,
    *,
    learning_rate: float,
    seeds: Sequence[int],
    weight_decay: float = 0.0,
    student_scale: float = 1.0,
    thresholds: Sequence[float] = (1e-3,),
    num_test: int = 1000,
    context: Context | None = None,
) -> "xarray.Dataset":
    r"""Full-batch gradient descent of a linear student at the given steps, exactly.

    $$ D_{t+1} = D_t - \tfrac{2\eta}{d_\mathrm{out}} \left[(\Sigma + \tfrac\gamma2) D_t
       + \tfrac\gamma2 T - \tfrac1N X^\top\delta\right] $$

    for the difference D = S − T of student and teacher, with weight decay γ (the gradient of
    γ‖S‖²/2d_out) and label noise δ. The update is linear, so in the eigenbasis V, ν of the training
    covariance Σ step t is a power: with $\rho = (1 - 2\eta(\nu + \gamma/2)/d_\mathrm{out})^t$,

    $$ V^\top D_t = \rho\, V^\top S_0 - \frac{\nu\rho + \gamma/2}{\nu + \gamma/2}\, V^\top T
       + \frac{1 - \rho}{\nu + \gamma/2}\, V^\top X^\top \delta / N $$

    A million steps cost what one costs. `tests/simulate/test_linear_descent.py` compares with stepping.

    Args:
        task: sizes, label noise and loss convention.
        steps: numbers of steps at which to record, whole, ≥ 0, shape (time,).
        learning_rate: η > 0.
        seeds: one run for each; seed s always gives the same run, whatever the others are.
        weight_decay: γ ≥ 0.
        student_scale: α, from 0 to 1e10, factor on the student's weights at the start.
        thresholds: squared errors, mean over outputs, up to which a sample counts as correct.
        num_test: size of the test set, drawn afresh for each seed.
        context: progress and cancellation, between seeds.

    Returns:
        A dataset over `seed`, `time` (in steps) and `threshold`: `train_loss` (on the labels that are
        trained on, noise included), `test_loss` (the expectation over fresh inputs with clean labels),
        `sampled_test_loss`, `train_accuracy`, `test_accuracy` (all three on samples), and `diverged`,
        true where the learning rate is too large for the largest eigenvalue.

    Example:
        >>> from lazyrich import simulate, tasks
        >>> task = tasks.TeacherStudent(input_dimension=20, num_samples=40)
        >>> run = simulate.linear_descent(task, [0, 10, 100_000], learning_rate=0.01, seeds=[0, 1])
        >>> run.train_loss.dims, bool(run.train_loss[0, -1] < 1e-30)
        (('seed', 'time'), True)
    """
    if not isinstance(task, TeacherStudent):
        raise argument_error("task", "be a TeacherStudent", task, "See `lazyrich.tasks`.")
    steps = _list(
        "steps", whole("steps", steps, at_least=0, advice="Record at whole numbers of steps.")
    )
    levels = real("thresholds", thresholds, above=0, advice="Pass a list such as [1e-3].")
    levels = _list("thresholds", levels)
    seeds, most = checked_seeds(seeds), max(MAX_NUMBERS // task.input_dimension, 1)
    descent = _Descent(
        learning_rate=number("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01."),
        weight_decay=number("weight_decay", weight_decay, at_least=0, advice="Use 0 for none."),
        student_scale=number(
            "student_scale", student_scale, at_least=0, at_most=LARGEST_SCALE, advice="Use e.g. 1."
        ),
        num_test=count("num_test", num_test, at_most=most, advice="Draw at least one test sample."),
    )
    runs = [
        _one_run(task, descent, seed, steps, levels)
        for seed in checked_context(context).track(seeds, "gradient descent")
    ]
    records = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    for name in ("train_accuracy", "test_accuracy"):
        records[name] = np.swapaxes(records[name], 1, 2)
    return _dataset(task, descent, records, {"seed": seeds, "time": steps, "threshold": levels})


def _list(name: str, values: Any) -> Any:
    if is_traced(values) or values.ndim != 1 or values.size == 0:
        raise argument_error(
            name, "be a list of numbers, not empty", np.shape(values), "Pass e.g. [1]."
        )
    return values


@dataclasses.dataclass(frozen=True)
class _Descent:
    learning_rate: float
    weight_decay: float
    student_scale: float
    num_test: int


class Draw(NamedTuple):
    """What is random in a run."""

    inputs: np.ndarray  # (N, d_in)
    test_inputs: np.ndarray  # (num_test, d_in)
    noise: np.ndarray  # (N, d_out)
    teacher: np.ndarray  # (d_in, d_out)
    student: np.ndarray  # (d_in, d_out), at scale 1


def draw(task: TeacherStudent, num_test: int, seed: int) -> Draw:
    """Everything random in the run with this seed, for those who want to step it themselves."""
    keys = _keys(seed)
    return Draw(
        task.inputs(keys[0]), task.inputs(keys[1], num_test), task.noise(keys[4]),
        task.weights(keys[2]), task.weights(keys[3]),
    )  # fmt: skip


def _keys(seed: int) -> Any:
    with jax.ensure_compile_time_eval():
        return keys_of(seed, 5)


@functools.lru_cache(maxsize=16)
def _spectrum(input_dimension: int, num_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of a training covariance.

    Runs that differ in outputs, noise or decay share them.
    """
    X = TeacherStudent(input_dimension, num_samples).inputs(_keys(seed)[0])
    nu, V = np.linalg.eigh(X.T @ X / num_samples)
    nu[: max(input_dimension - num_samples, 0)] = 0  # exactly; rounding would end as a loss
    return np.maximum(nu, 0), V


class _Eigenbasis(NamedTuple):
    """A run seen from the eigenvectors of its training covariance."""

    eigenvalues: np.ndarray  # (d_in,)
    vectors: np.ndarray | None  # (d_in, d_in), where inputs are as they were drawn
    inputs: np.ndarray  # (N, d_in)
    test_inputs: np.ndarray  # (num_test, d_in)
    noise: np.ndarray  # (N, d_out)
    pulled: np.ndarray  # (d_in, d_out), where noise pulls the student: Xᵀδ/N
    teacher: np.ndarray  # (d_in, d_out)
    student: np.ndarray  # (d_in, d_out)


def _one_run(
    task: TeacherStudent, descent: _Descent, seed: int, t: Any, levels: Any
) -> dict[str, Any]:
    # LAPACK by way of NumPy: nothing here gains from compiling, and every task size would compile anew
    nu, V = _spectrum(task.input_dimension, task.num_samples, seed)
    run = _rotated(task, descent, draw(task, descent.num_test, seed), nu, V)
    outputs = run.student.shape[1]
    if t.size * outputs > len(run.inputs) + len(run.test_inputs):
        # inputs are turned once, as they are fewer than weights to turn back at all times
        X, X_test = run.inputs @ V, run.test_inputs @ V
        run = run._replace(vectors=None, inputs=X, test_inputs=X_test)
    widest = max(task.input_dimension, task.num_samples, descent.num_test)
    blocks = np.array_split(t, math.ceil(t.size * widest * outputs / LARGEST_BLOCK))
    parts = [_record(task, descent, run, block, levels) for block in blocks]
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]} | {
        "diverged": np.max(_rates(task, descent, run.eigenvalues)) > 2
    }


def _rotated(
    task: TeacherStudent, descent: _Descent, run: Draw, nu: np.ndarray, V: np.ndarray
) -> _Eigenbasis:
    X, X_test, noise, T, S0 = run
    pulled = V.T @ (X.T @ noise) / task.num_samples
    S0, T = descent.student_scale * (V.T @ S0), V.T @ T
    is_plain = not (task.label_noise or descent.weight_decay)
    if is_plain and task.output_dimension > task.input_dimension:
        # only S − T matters, and only the lengths of its rows: rotate the outputs until most of them vanish
        S0 = np.transpose(np.linalg.qr((S0 - T).T, mode="r"))
        T, pulled, noise = np.zeros_like(S0), np.zeros_like(S0), noise[:, : S0.shape[1]]
    return _Eigenbasis(nu, V, X, X_test, noise, pulled, T, S0)


def _rates(task: TeacherStudent, descent: _Descent, nu: Any) -> Any:
    return 2 * descent.learning_rate * (nu + descent.weight_decay / 2) / task.output_dimension


def _record(
    task: TeacherStudent, descent: _Descent, run: _Eigenbasis, t: Any, levels: Any
) -> dict[str, Any]:
    nu, V, X, X_test, noise, pulled, T, S0 = run
    g = descent.weight_decay / 2
    rho = _powers(_rates(task, descent, nu), t)
    # (1 − ρ)/(ν + g); where ν + g = 0 it multiplies 0
    relaxed = (1 - rho) / np.where(nu + g > 0, nu + g, 1)
    D = rho[..., None] * (S0 - T) - (g * relaxed)[..., None] * T + relaxed[..., None] * pulled
    weights = np.swapaxes(D, 0, 1).reshape(nu.size, -1)  # (d_in, time × outputs)
    if V is not None:
        weights = V @ weights
    # (time, samples); S0 may have fewer columns than the task has outputs
    train_errors = _squared_errors(X, weights, t.size, noise) / task.output_dimension
    test_errors = _squared_errors(X_test, weights, t.size, np.zeros((1, 1))) / task.output_dimension
    square = np.sum(D**2, axis=2) / task.output_dimension
    losses = {
        # by eigenvalues, where nothing is subtracted, unless there is noise to subtract
        "train_loss": np.mean(train_errors, axis=1) if task.label_noise else square @ nu,
        "test_loss": np.sum(square, axis=1),
        "sampled_test_loss": np.mean(test_errors, axis=1),
    }
    overflow = np.max(np.abs(rho), axis=1) >= LARGEST
    return {name: np.where(overflow, np.inf, loss) for name, loss in losses.items()} | {
        "train_accuracy": _shares_below(train_errors, levels),
        "test_accuracy": _shares_below(test_errors, levels),
    }


def _powers(rate: Any, t: Any) -> Any:
    """(1 − rate)^t for whole t, shape (time, eigenvalue), without losing the digits of small rates."""
    small = rate < 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        log_size = np.where(small, np.log1p(-np.where(small, rate, 0)), np.log(np.abs(1 - rate)))
        log_power = np.where(t[:, None] > 0, t[:, None] * log_size, 0)  # 0·log 0 would be NaN
    size = np.exp(np.minimum(log_power, np.log(LARGEST) + 1))
    is_negative = (rate > 1) & (t[:, None] % 2 == 1)
    return np.where(is_negative, -size, size)


def _squared_errors(X: Any, weights: Any, num_times: int, noise: Any) -> Any:
    """Summed over outputs, shape (time, samples): one product of matrices for all times."""
    predictions = (X @ weights).reshape(len(X), num_times, -1)
    return np.sum((predictions - np.expand_dims(noise, -2)) ** 2, axis=2).T


def _shares_below(errors: Any, levels: Any) -> Any:
    return np.stack([np.mean(errors <= level, axis=1) for level in levels])


def _dataset(
    task: TeacherStudent, descent: _Descent, records: dict[str, Any], coordinates: dict[str, Any]
) -> "xarray.Dataset":
    import xarray

    by_threshold = ("seed", "time", "threshold")
    dims = {"diverged": ("seed",), "train_accuracy": by_threshold, "test_accuracy": by_threshold}
    variables = {
        name: (dims.get(name, ("seed", "time")), values) for name, values in records.items()
    }
    counted = Convention(task.loss_convention, *STEPS).attributes()
    attributes = {"simulation": "linear_descent: exact discrete gradient descent in the eigenbasis"}
    attributes |= counted | dataclasses.asdict(task) | dataclasses.asdict(descent)
    return xarray.Dataset(variables, coordinates, attributes)
