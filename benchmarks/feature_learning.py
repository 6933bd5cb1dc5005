"""A training step of `FeatureLearning` against PyTorch and against bare matrix products, in one run.

    python benchmarks/feature_learning.py [--rounds 7] [--steps 5] [--growth] [--company]

Needs the extra `bench`. All train the two-layer network with quadratic units by full-batch Adam with coupled
decay, in float32, on the same training pairs of addition modulo M. PyTorch takes eager steps with dense
one-hot inputs. The bare products are F V, R Vᵀ and Fᵀ R by JAX, for arrays that are there already: what no
step can do without. All take turns, and of all rounds the fastest counts.

Before that both start from the same weights, and the largest difference of their losses over 30 steps is
printed as a share of the first loss. Then follows what Fig. 3 takes at the paper's size, from a step, a
record and the memory in use.

`--growth` shows how a step grows with M, K and n, `--company` runs one after another against runs in a
batch: bare steps, and whole calls with 20 records.
"""

import argparse
import dataclasses
import resource
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from lazyrich import groups, models, simulate, tasks
from lazyrich.simulate import _gradient_descent as descent

RATE, DECAY = 1e-3, 2e-4
ADAM = descent.resolved("adam")


@dataclasses.dataclass(frozen=True)
class Together(simulate.FeatureLearning):
    """The same training with its runs in a batch, whatever its size."""

    runs_together = None


@dataclasses.dataclass(frozen=True)
class Alone(simulate.FeatureLearning):
    """The same training with its runs one after another, whatever its size."""

    runs_together = 1


def training_of(M: int, K: int, fraction: float, kind: Any = simulate.FeatureLearning) -> Any:
    return kind(models.PairNetwork(M, K), tasks.GroupArithmetic(groups.cyclic(M), fraction))


def library_steps(training: Any, steps: int, runs: int = 1) -> Callable[[], Any]:
    """A function that takes some steps from the start."""
    weights, data = descent.stacked(training, list(range(runs)))
    state = descent._each(training, ADAM.init)(weights)
    numbers = jnp.full(runs, RATE), jnp.full(runs, DECAY)

    def advance() -> Any:
        moved = descent._full_batch(training, ADAM, (weights, state), data, numbers, 0, steps)
        return jax.block_until_ready(moved)

    return advance


def torch_run(training: Any) -> tuple[Callable[[], Any], Callable[[], float]]:
    """Functions that take an eager step with dense one-hot inputs, and that give the loss."""
    weights, data = training.start(0)
    M, n = training.network.num_symbols, len(data.pairs)
    X = np.eye(2 * M)[data.pairs[:, 0]] + np.eye(2 * M)[M + data.pairs[:, 1]]
    X, Y = (torch.tensor(array, dtype=torch.float32) for array in (X, np.eye(M)[data.labels]))
    W, V = (
        torch.tensor(array, dtype=torch.float32, requires_grad=True)
        for array in (weights.first, weights.second)
    )
    adam = torch.optim.Adam([W, V], lr=RATE, weight_decay=DECAY)

    def loss() -> Any:
        residual = Y - (X @ W) ** 2 @ V
        residual = residual - residual.mean(dim=1, keepdim=True)
        return (residual**2).sum() / n

    def step() -> None:
        adam.zero_grad()
        loss().backward()
        adam.step()

    return step, lambda: loss().item()


def bare_products(training: Any) -> Callable[[], Any]:
    weights, data = jax.tree.map(jnp.asarray, training.start(0))
    F = training.features(weights, data)
    V = weights.second
    R = F @ V
    three = jax.jit(lambda F, V, R: (F @ V, R @ V.T, F.T @ R))
    return lambda: jax.block_until_ready(three(F, V, R))


def seconds(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def fastest(rounds: int, **functions: Callable[[], Any]) -> dict[str, float]:
    """Of all rounds, in turns; the first call of each is not counted."""
    for function in functions.values():
        function()
    found = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            found[name].append(seconds(function))
    return {name: min(times) for name, times in found.items()}


def agreement(training: Any) -> float:
    step, loss = torch_run(training)
    losses = []
    for _ in range(31):
        losses.append(loss())
        step()
    ours = simulate.gradient_descent(training, range(31), seeds=[0], optimizer="adam",
                                     learning_rate=RATE, weight_decay=DECAY).train_loss[0]  # fmt: skip
    return float(np.max(np.abs(ours - losses)) / losses[0])


def one_step(rounds: int, steps: int) -> None:
    training = training_of(71, 2048, 0.4)
    print(f"largest difference of losses over 30 steps: {agreement(training):.1e} of the first")
    (step, _), bare = torch_run(training), bare_products(training)
    times = fastest(
        rounds,
        library=library_steps(training, steps),
        torch=lambda: [step() for _ in range(steps)],
        products=lambda: [bare() for _ in range(steps)],
    )
    ms = {name: 1e3 * value / steps for name, value in times.items()}
    print("M = 71, K = 2048, n = 2016, one step in ms:",
          ", ".join(f"{name} {value:.1f}" for name, value in ms.items()))  # fmt: skip
    print(f"PyTorch / library = {ms['torch'] / ms['library']:.2f} (aim: at least 1.5), "
          f"library / products = {ms['library'] / ms['products']:.2f} (aim: at most 1.6)")  # fmt: skip
    weights, data = descent.stacked(training, [0])
    record = lambda: jax.block_until_ready(  # noqa: E731
        descent._record(training, weights, None, None, data)
    )
    moment = fastest(rounds, record=record)["record"]
    minutes = 30 * (600 * ms["library"] / 1e3 + 40 * moment) / 60
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"Fig. 3, 15 seeds with and without decay, 600 epochs, 40 records of {1e3 * moment:.0f} ms: "
          f"{minutes:.1f} minutes (aim: 20); memory with PyTorch: {memory:.2f} GiB (aim: 4)")  # fmt: skip


def growth(rounds: int) -> None:
    print("      M     K      n   ms/step  GFLOP/s of the three products")
    sizes = [
        (23, 256, 0.8), (41, 256, 0.8), (71, 256, 0.4), (71, 512, 0.4), (71, 1024, 0.4),
        (71, 2048, 0.4), (71, 2048, 0.2), (71, 2048, 0.8), (127, 1024, 0.2), (127, 2048, 0.2),
    ]  # fmt: skip
    for M, K, fraction in sizes:
        training = training_of(M, K, fraction)
        n = training.task.num_samples
        steps = max(1, int(4e8 / (n * K * M)))
        time_ = fastest(rounds, step=library_steps(training, steps))["step"] / steps
        print(f"{M:7d} {K:5d} {n:6d} {1e3 * time_:9.2f} {6e-9 * n * K * M / time_:8.1f}")


def company(rounds: int) -> None:
    sizes = [
        (7, 32, 0.8, 16, 300), (13, 128, 0.8, 16, 60), (23, 256, 0.8, 8, 10), (71, 2048, 0.4, 3, 2),
    ]  # fmt: skip
    for M, K, fraction, runs, steps in sizes:
        alone, batch = (training_of(M, K, fraction, kind) for kind in (Alone, Together))
        one = library_steps(alone, steps)
        times = fastest(
            rounds,
            alone=lambda one=one, runs=runs: [one() for _ in range(runs)],
            batch=library_steps(batch, steps, runs),
        )
        each = {name: 1e3 * value / steps / runs for name, value in times.items()}
        print(f"M = {M}, K = {K}, {runs} runs, ms per step and run: "
              f"one after another {each['alone']:.4g}, in a batch {each['batch']:.4g}")  # fmt: skip
    for M, K, runs, steps in ((7, 32, 64, 1000), (13, 128, 32, 500), (23, 256, 8, 200)):
        times = fastest(
            min(rounds, 3),
            **{
                kind.__name__: lambda kind=kind, M=M, K=K, runs=runs, steps=steps: whole(
                    training_of(M, K, 0.8, kind), steps, runs
                )
                for kind in (Alone, Together)
            },
        )
        print(f"M = {M}, K = {K}, {runs} runs, s for {steps} steps with 20 records: "
              f"one after another {times['Alone']:.2f}, in a batch {times['Together']:.2f}")  # fmt: skip


def whole(training: Any, steps: int, runs: int) -> Any:
    records = np.linspace(0, steps, 20).astype(int)
    return simulate.gradient_descent(training, records, seeds=range(runs), optimizer="adam",
                                     learning_rate=RATE, weight_decay=DECAY)  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--company", action="store_true")
    options = parser.parse_args()
    one_step(options.rounds, options.steps)
    if options.growth:
        growth(min(options.rounds, 3))
    if options.company:
        company(options.rounds)
