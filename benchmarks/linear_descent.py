"""Fig. 1's simulation against stepping the same gradient descent in PyTorch, in one run.

    python benchmarks/linear_descent.py [--steps 20000]

Needs the extra `bench`. Both descend on the same data in float64 to the same step; the largest relative
difference of their losses is printed beside the ratio of times. Stepping costs the same for every step,
powers of eigenvalues cost the same for every number of steps: the ratio grows with the number.
"""

import argparse
import time

import numpy as np
import torch

from lazyrich import simulate, tasks
from lazyrich.simulate._linear_descent import draw

RATE, SEED, NUM_TEST = 0.01, 0, 1000


def stepped(task: tasks.TeacherStudent, steps: np.ndarray) -> list[float]:
    X, X_test, _, teacher, start = draw(task, NUM_TEST, SEED)
    inputs, fresh, student = (torch.tensor(array) for array in (X, X_test, start - teacher))
    student.requires_grad_()
    recorded, wanted = [], set(steps)
    optimiser = torch.optim.SGD([student], lr=RATE)
    for step in range(int(steps[-1]) + 1):
        loss = torch.mean((inputs @ student) ** 2)
        if step in wanted:
            with torch.no_grad():
                torch.mean((fresh @ student) ** 2)
            recorded.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=1000)
    arguments = parser.parse_args()
    steps = np.unique(np.round(np.geomspace(1, arguments.steps, 100)))
    print(f"{'λ':>5} {'steps':>8} {'PyTorch':>10} {'powers':>10} {'ratio':>8} {'difference':>11}")
    for ratio in (0.9, 1.5):
        task = tasks.TeacherStudent(arguments.dimension, round(arguments.dimension / ratio))
        simulate.linear_descent(task, steps, learning_rate=RATE, seeds=[1], num_test=NUM_TEST)
        begin = time.perf_counter()
        run = simulate.linear_descent(
            task, steps, learning_rate=RATE, seeds=[SEED], num_test=NUM_TEST
        )
        powers = time.perf_counter() - begin
        begin = time.perf_counter()
        losses = stepped(task, steps)
        plain = time.perf_counter() - begin
        difference = np.max(np.abs(run.train_loss.values[0] / losses - 1))
        print(
            f"{ratio:5g} {arguments.steps:8d} {plain:9.2f}s {powers:9.2f}s {plain / powers:7.0f}× "
            f"{difference:11.1e}"
        )
        whole = plain / arguments.steps * 1e7 / powers
        print(f"      to 10⁷ steps, as the right panel needs: {whole:.0f}× (extrapolated per step)")


if __name__ == "__main__":
    main()
