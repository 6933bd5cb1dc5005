"""Gradient descent on a linear student: any step directly, none in between."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from lazyrich.core import argument_error, real, whole
from lazyrich.tasks import TeacherStudent

if TYPE_CHECKING:
    import xarray

LARGEST = 1e140
"""A diverging weight beyond this counts as infinite; its square is still a number."""


def linear_descent(
    task: TeacherStudent,
    steps: Any,
    *,
    learning_rate: float,
    seeds: Sequence[int],
    thresholds: Sequence[float] = (1e-3,),
    num_test: int = 1000,
) -> "xarray.Dataset":
    r"""Full-batch gradient descent of a linear student at the given steps, exactly.

    $$ D_{t+1} = \left(I - \tfrac{2\eta}{d_\mathrm{out}}\Sigma\right) D_t \quad\Rightarrow\quad
       D_t = V (1 - \tfrac{2\eta}{d_\mathrm{out}}\nu)^t\, V^\top D_0 $$

    The update is linear, so in the eigenbasis V, ν of the training covariance Σ step t is a power.
    A million steps cost what one costs. `tests/simulate/test_linear_descent.py` compares with stepping.

    Args:
        task: sizes and loss convention.
        steps: numbers of steps at which to record, whole, ≥ 0, shape (time,).
        learning_rate: η > 0.
        seeds: one run for each; seed s always gives the same run, whatever the others are.
        thresholds: squared errors up to which a sample counts as correct.
        num_test: size of the test set, drawn afresh for each seed.

    Returns:
        A dataset over `seed`, `time` (in steps) and `threshold`: `train_loss`, `test_loss` (the expectation
        over fresh inputs), `sampled_test_loss`, `train_accuracy`, `test_accuracy` (both on samples), and
        `diverged`, true where the learning rate is too large for the largest eigenvalue.

    Example:
        >>> from lazyrich import simulate, tasks
        >>> task = tasks.TeacherStudent(input_dimension=20, num_samples=40)
        >>> run = simulate.linear_descent(task, [0, 10, 100_000], learning_rate=0.01, seeds=[0, 1])
        >>> run.train_loss.dims, bool(run.train_loss[0, -1] < 1e-30)
        (('seed', 'time'), True)
    """
    steps = whole("steps", steps, at_least=0, advice="Record at whole numbers of steps.")
    if steps.ndim != 1 or steps.size == 0:
        raise argument_error("steps", "have the shape (time,), not empty", steps.shape)
    learning_rate = float(real("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01."))
    levels = real("thresholds", thresholds, above=0, advice="Pass a list such as [1e-3].")
    num_test = int(whole("num_test", num_test, advice="Draw at least one test sample."))
    seeds = [int(whole("seeds", seed, at_least=0)) for seed in seeds]
    if levels.ndim != 1 or not seeds:
        raise argument_error("thresholds and seeds", "be lists, not empty", (thresholds, seeds))
    runs = [_one_run(task, num_test, seed, steps, learning_rate, levels) for seed in seeds]
    records = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    return _dataset(task, records, steps, seeds, levels, learning_rate, num_test)


def _one_run(
    task: TeacherStudent, num_test: int, seed: int, t: Any, eta: float, levels: Any
) -> dict[str, Any]:
    # LAPACK by way of NumPy: nothing here gains from compiling, and every task size would compile anew
    X, X_test, D0 = _draw(task, num_test, seed)  # (N, d_in), (num_test, d_in), (d_in, d_out)
    nu, V = np.linalg.eigh(X.T @ X / task.num_samples)
    nu = np.maximum(nu, 0)
    rate = 2 * eta * nu / task.output_dimension
    powers = _powers(rate, t)
    C = powers[:, :, None] * (V.T @ D0)  # (time, d_in, d_out), in the eigenbasis
    D = np.tensordot(C, V, axes=(1, 1))  # (time, d_out, d_in)
    train_errors, test_errors = _squared_errors(X, D), _squared_errors(X_test, D)  # (time, samples)
    square = np.mean(C**2, axis=2)
    overflow = np.max(np.abs(powers), axis=1) >= LARGEST
    losses = {
        "train_loss": square @ nu,
        "test_loss": np.sum(square, axis=1),
        "sampled_test_loss": np.mean(test_errors, axis=1),
    }
    return {name: np.where(overflow, np.inf, loss) for name, loss in losses.items()} | {
        "train_accuracy": _shares_below(train_errors, levels),
        "test_accuracy": _shares_below(test_errors, levels),
        "diverged": np.max(rate) > 2,
    }


def _draw(task: TeacherStudent, num_test: int, seed: int) -> tuple[Any, Any, Any]:
    with jax.enable_x64(True):
        key_train, key_test, key_teacher, key_student = jax.random.split(jax.random.key(seed), 4)
        D0 = task.weights(key_student) - task.weights(key_teacher)
        X, X_test = task.inputs(key_train), task.inputs(key_test, num_test)
    return np.asarray(X), np.asarray(X_test), np.asarray(D0)


def _powers(rate: Any, t: Any) -> Any:
    """(1 − rate)^t for whole t, shape (time, eigenvalue), without losing the digits of small rates."""
    small = rate < 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        log_size = np.where(small, np.log1p(-np.where(small, rate, 0)), np.log(np.abs(1 - rate)))
        log_power = np.where(t[:, None] > 0, t[:, None] * log_size, 0)  # 0·log 0 would be NaN
    size = np.exp(np.minimum(log_power, np.log(LARGEST) + 1))
    is_negative = (rate > 1) & (t[:, None] % 2 == 1)
    return np.where(is_negative, -size, size)


def _squared_errors(X: Any, D: Any) -> Any:
    return np.mean(np.tensordot(D, X, axes=(2, 1)) ** 2, axis=1)


def _shares_below(errors: Any, levels: Any) -> Any:
    return np.stack([np.mean(errors <= level, axis=1) for level in levels])


def _dataset(
    task: TeacherStudent, records: dict[str, Any], steps: Any, seeds: Any, levels: Any,
    learning_rate: float, num_test: int,
) -> "xarray.Dataset":  # fmt: skip
    import xarray

    by_threshold = ("seed", "threshold", "time")
    dims = {"diverged": ("seed",), "train_accuracy": by_threshold, "test_accuracy": by_threshold}
    variables = {
        name: (dims.get(name, ("seed", "time")), np.asarray(values))
        for name, values in records.items()
    }
    attributes = task.convention.attributes() | {
        "simulation": "linear_descent: exact discrete gradient descent in the eigenbasis",
        "input_dimension": task.input_dimension,
        "num_samples": task.num_samples,
        "output_dimension": task.output_dimension,
        "learning_rate": learning_rate,
        "num_test": num_test,
    }
    coordinates = {"seed": seeds, "time": steps, "threshold": levels}
    return xarray.Dataset(variables, coordinates, attributes)
