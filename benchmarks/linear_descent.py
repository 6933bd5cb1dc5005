"""Fig. 1's simulation against stepping the same gradient descent in PyTorch, in one run.

    python benchmarks/linear_descent.py [--steps 5000] [--dimension 1000]

Needs the extra `bench`. Both descend on the same data, at the figure's size, in float64. The library goes
to the figure's last step, 10⁷. PyTorch really takes `--steps` steps; all of them cost the same, so its
time to the last step is extrapolated from the time per step. The losses on training and test set are
compared at every step of the figure that PyTorch has really reached.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lazyrich import simulate, tasks
from lazyrich.experiments.linear_grokking import fig1
from lazyrich.simulate._linear_descent import draw

CONFIG = fig1.Config()
SEED, LAST = 0, int(fig1.DELAY_STEPS[-1])


def stepped(task: tasks.TeacherStudent, steps: np.ndarray) -> np.ndarray:
    """Loss on training and test set at the given steps, one gradient step after the other."""
    X, X_test, _, teacher, start = draw(task, CONFIG.num_test, SEED)
    inputs, fresh, student = (torch.tensor(array) for array in (X, X_test, start - teacher))
    student.requires_grad_()
    recorded, wanted = [], set(steps)
    optimiser = torch.optim.SGD([student], lr=CONFIG.learning_rate)
    for step in range(int(steps[-1]) + 1):
        loss = torch.mean((inputs @ student) ** 2)
        if step in wanted:
            with torch.no_grad():
                recorded.append((loss.item(), torch.mean((fresh @ student) ** 2).item()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return np.array(recorded).T


def powers(task: tasks.TeacherStudent) -> np.ndarray:
    """The same by powers of eigenvalues, at every step of the figure."""
    run = simulate.linear_descent(
        task, fig1.DELAY_STEPS, learning_rate=CONFIG.learning_rate, seeds=[SEED],
        num_test=CONFIG.num_test,
    )  # fmt: skip
    return np.stack([run.train_loss.values[0], run.sampled_test_loss.values[0]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=5000, help="that PyTorch really takes")
    parser.add_argument("--dimension", type=int, default=CONFIG.input_dimension)
    arguments = parser.parse_args()
    reached = np.array([step for step in fig1.DELAY_STEPS if step <= arguments.steps])
    for ratio in (0.9, 1.5):
        task = tasks.TeacherStudent(arguments.dimension, round(arguments.dimension / ratio))
        _, first = timed(powers, task)  # compiles the random numbers of these shapes
        direct, again = timed(powers, task)
        losses, plain = timed(stepped, task, reached)
        report(ratio, task, int(reached[-1]), plain, (first, again))
        differences = np.max(np.abs(direct[:, : reached.size] / losses - 1), axis=1)
        print(f"  largest relative difference at the {reached.size} recorded steps really taken: "
              f"training loss {differences[0]:.1e}, test loss {differences[1]:.1e}")  # fmt: skip


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - begin


def report(
    ratio: float, task: tasks.TeacherStudent, taken: int, plain: float, direct: tuple[float, float]
) -> None:
    first, again = direct
    whole = plain / taken * LAST
    print(
        f"λ = {ratio:g}: {task.num_samples} samples in {task.input_dimension} dimensions, one seed"
    )
    print(f"  PyTorch: {taken} steps really taken in {plain:.2f} s, {plain / taken * 1e3:.3f} ms a step; "
          f"extrapolated to step {LAST}: {whole:.0f} s")  # fmt: skip
    print(f"  powers of eigenvalues: {fig1.DELAY_STEPS.size} steps up to {LAST} in {first:.2f} s, "
          f"{again:.2f} s once compiled")  # fmt: skip
    print(f"  ratio to step {LAST}: {whole / first:.0f}×, {whole / again:.0f}× once compiled; "
          f"to the steps really taken: {plain / again:.0f}×")  # fmt: skip


if __name__ == "__main__":
    main()
