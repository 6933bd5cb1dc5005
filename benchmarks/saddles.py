"""Gradient descent on panels of Figs. 1, 4 and 5 against plain PyTorch loops, in one run.

    python benchmarks/saddles.py [--seeds 512] [--rounds 5] [--panels fig1b fig1g sizes]

Needs the extra `bench`. Both descend on a panel's data (8192 samples where the paper has them) at its
width and learning rate. PyTorch takes full-batch steps for one seed, in float32 and in float64, with one
thread and with all; the faster counts. The library takes them in float64 for many seeds at once; its time
is that for one step of one seed, and its ratio that to PyTorch's float32. Both take turns, and of all
rounds the fastest counts. Compiling, and drawing the data of a seed, are not part of a step; they have
columns of their own. "All in all" is the ratio for the whole panel at 8 seeds: the library with draws, 201
records and, in the first number, compiling; PyTorch with its steps alone.

Before that both start from the same weights (of standard deviation 0.1, so that the loss falls soon), and
the largest difference of their losses over 300 steps in float64 is printed, as a share of the initial loss.
"""

import argparse
import dataclasses
import importlib
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from lazyrich import simulate
from lazyrich.experiments.saddles import fig1b
from lazyrich.simulate._gradient_descent import _full_batch
from lazyrich.simulate._training import starts

THREADS = {"one thread": 1, "all threads": torch.get_num_threads()}
DTYPES = {"float32": torch.float32, "float64": torch.float64}
AGREEMENT_STEPS, DISTINCT_STARTS, WHOLE_SEEDS = 300, 8, 8


def two_layers(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: sigma(x @ U) @ V


def three_layers(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V, W: sigma(sigma(x @ U) @ V) @ W


def convolution(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: torch.einsum("npi,ipo->no", sigma(x.unfold(1, 2, 2) @ U), V)


def attention(x: Any, KQ: Any, V: Any) -> Any:
    scores = (x @ KQ[:3]) * (x[:, -1:] @ KQ[3:])  # (samples, tokens, heads)
    return torch.einsum("nah,hao->no", x.transpose(1, 2) @ scores, V)


def attention_from_sums(x: Any, KQ: Any, V: Any) -> Any:
    sums, query = x[:, :3], x[:, 3:]
    return torch.einsum("nah,hao->no", (sums @ KQ[:3]) * (query @ KQ[3:]), V)


def sums_and_query(x: Any) -> Any:
    """What a user could compute once, before the loop."""
    return torch.cat([x.transpose(1, 2) @ x, x[:, -1:]], dim=1)


def identity(z: Any) -> Any:
    return z


class Panel(NamedTuple):
    """A panel in PyTorch, and how the library runs it."""

    module: str
    forward: Callable[..., Any]
    seeds: int | None = None  # fewer than asked for, where a seed's step is long
    preset: str = "paper"
    prepare: Callable[[Any], Any] = identity


PANELS = {
    "fig1b": Panel("fig1b", two_layers(identity)),
    "fig1c": Panel("fig1c", convolution(identity)),
    "fig1f": Panel("fig1f", attention),
    "fig1f-sums": Panel("fig1f", attention_from_sums, prepare=sums_and_query),
    "fig1g": Panel("fig1g", two_layers(torch.square)),
    "fig1d": Panel("fig1d", two_layers(torch.relu)),
    "fig1e": Panel("fig1e", convolution(torch.relu)),
    "fig5a": Panel("fig5a", three_layers(identity), seeds=64),
    "fig5c": Panel("fig5c", three_layers(torch.relu), seeds=64),
    "fig4d": Panel("fig4d", two_layers(torch.tanh), seeds=2),
    "fig4d-nodes": Panel("fig4d", two_layers(torch.tanh), seeds=8, preset="quick"),
    "fig4f": Panel("fig4f", two_layers(lambda z: z * torch.tanh(z)), seeds=2),
    "fig4f-nodes": Panel("fig4f", two_layers(lambda z: z * torch.tanh(z)), seeds=8, preset="quick"),
}
"""`-sums`: PyTorch takes the sums over tokens once. `-nodes`: the library learns the whole distribution by
quadrature, at 24 nodes for each input, as the quick preset does; PyTorch 8192 samples of it."""


class Plain:
    """Full-batch gradient descent in PyTorch, one seed."""

    num_seeds = 1

    def __init__(self, panel: Panel, training: Any, rate: float, dtype: str, threads: str):
        data = training.task.dataset(jax.random.split(jax.random.key(0))[0])
        self.threads, self.rate, self.forward = THREADS[threads], rate, panel.forward
        self.inputs = panel.prepare(torch.tensor(data.inputs, dtype=DTYPES[dtype]))
        self.labels = torch.tensor(data.labels, dtype=DTYPES[dtype])
        self.share = 1 / data.labels.shape[1] if training.mean_outputs else 1.0
        self.weights = [
            torch.tensor(array, dtype=DTYPES[dtype], requires_grad=True)
            for array in jax.tree.leaves(training.start(0)[0])
        ]

    def step(self) -> torch.Tensor:
        """One step; the loss before it."""
        errors = self.forward(self.inputs, *self.weights) - self.labels
        loss = self.share * errors.square().sum(dim=1).mean()
        slopes = torch.autograd.grad(loss, self.weights)
        with torch.no_grad():
            for weight, slope in zip(self.weights, slopes, strict=True):
                weight -= self.rate * slope
        return loss.detach()

    def run(self, steps: int) -> None:
        """So many steps."""
        torch.set_num_threads(self.threads)
        for _ in range(steps):
            self.step()


class Library:
    """The library's steps, many seeds at once."""

    def __init__(self, training: Any, rate: float, num_seeds: int):
        self.training, self.rate, self.num_seeds = training, rate, num_seeds
        distinct = min(DISTINCT_STARTS, num_seeds)
        with jax.enable_x64(True):
            starts(training, range(distinct))  # compiles the draws
            (_, drawn), seconds = timed(starts, training, range(distinct))
            self.draw_seconds = seconds / distinct
            # a step costs the same for all numbers: few starts, many times over
            index = np.arange(num_seeds) % distinct
            weights, self.data = jax.tree.map(lambda array: jnp.asarray(array)[index], drawn)
            self.weights, _ = training.reduce(weights)
        self.compile_seconds = timed(self.run, 1)[1]

    def run(self, steps: int) -> None:
        """So many steps of all seeds."""
        with jax.enable_x64(True):
            jax.block_until_ready(
                _full_batch(self.training, self.weights, self.data, self.rate, 0, steps)
            )


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - begin


def step_seconds(contenders: dict[Any, Any], rounds: int) -> dict[Any, float]:
    """Seconds for a step of one seed, of each contender in turn, in a tenth of a second or more."""
    best = dict.fromkeys(contenders, np.inf)
    for _, (name, contender) in itertools.product(range(rounds), contenders.items()):
        contender.run(1)
        steps = 1 + int(0.1 / timed(contender.run, 1)[1])
        seconds = timed(contender.run, steps)[1] / steps / contender.num_seeds
        best[name] = min(best[name], seconds)
    return best


def difference(panel: Panel, training: Any, rate: float) -> float:
    """The largest difference of losses from the same start, in initial losses."""
    training = dataclasses.replace(training, initial=0.1)
    plain = Plain(panel, training, rate, "float64", "one thread")
    steps = np.arange(AGREEMENT_STEPS + 1)
    losses = np.array([plain.step().item() for _ in steps])
    run = simulate.gradient_descent(training, steps[::10], learning_rate=rate, seeds=[0])
    return float(np.max(np.abs(run.loss.values[0] - losses[::10])) / losses[0])


def whole_seconds(training: Any, config: Any) -> list[float]:
    """Seconds for a seed of the figure: with compiling, and once more."""
    steps = np.round(np.linspace(0, config.last_step, config.num_records + 1))
    runs = [
        timed(
            lambda: simulate.gradient_descent(
                training, steps, learning_rate=config.learning_rate, seeds=range(WHOLE_SEEDS)
            )
        )
        for _ in range(2)
    ]
    return [seconds / WHOLE_SEEDS for _, seconds in runs]


def report(name: str, panel: Panel, num_seeds: int, rounds: int) -> None:
    module = importlib.import_module(f"lazyrich.experiments.saddles.{panel.module}")
    config, rate = module.PRESETS[panel.preset], module.PRESETS["paper"].learning_rate
    sampled, training = module.training(module.PRESETS["paper"]), module.training(config)
    gap = difference(panel, sampled, rate)
    jax.clear_caches()
    whole = [] if name in ("fig4d", "fig4f") else whole_seconds(training, config)  # minutes
    library = Library(training, rate, min(num_seeds, panel.seeds or num_seeds))
    plain: dict[Any, Any] = {
        pair: Plain(panel, sampled, rate, *pair) for pair in itertools.product(DTYPES, THREADS)
    }
    best = step_seconds(plain | {"library": library}, rounds)
    ours = best["library"]
    theirs = [min(best[dtype, threads] for threads in THREADS) for dtype in DTYPES]
    ratios = [f"{theirs[0] * config.last_step / seconds:.0f}×" for seconds in whole]
    row(name, *[f"{1e6 * seconds:.0f}" for seconds in theirs], f"{1e6 * ours:.3g}", library.num_seeds,
        f"{theirs[0] / ours:.0f}×", ", ".join(ratios) or "–", f"{library.compile_seconds:.1f} s",
        f"{1e3 * library.draw_seconds:.1f} ms", f"{gap:.0e}")  # fmt: skip


def row(*cells: Any) -> None:
    widths = (12, 9, 9, 9, 6, 9, 14, 8, 9, 11)
    print(" ".join(f"{cell:>{n}}" for cell, n in zip(cells, widths, strict=False)), flush=True)


def report_sizes(num_seeds: int, rounds: int) -> None:
    """A step on moments does not know how many samples there are; drawing them does."""
    print("\nFig. 1B, by number of samples; µs for a step in float64")
    row("samples", "PyTorch", "", "library", "seeds", "ratio", "", "", "draw")
    config = fig1b.PRESETS["paper"]
    for exponent in (3, 4, 5, 6):
        training = fig1b.training(dataclasses.replace(config, num_samples=10**exponent))
        rate = config.learning_rate
        library = Library(training, rate, num_seeds)
        plain = {name: Plain(PANELS["fig1b"], training, rate, "float64", name) for name in THREADS}
        best = step_seconds(plain | {"library": library}, rounds)
        ours, theirs = best.pop("library"), min(best[name] for name in THREADS)
        row(f"10^{exponent}", f"{1e6 * theirs:.0f}", "", f"{1e6 * ours:.3g}", num_seeds,
            f"{theirs / ours:.0f}×", "", "", f"{1e3 * library.draw_seconds:.1f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=512, help="that the library advances together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--panels", nargs="+", choices=(*PANELS, "sizes"), default=(*PANELS, "sizes")
    )
    arguments = parser.parse_args()
    print("µs for a step of one seed")
    row("panel", "float32", "float64", "library", "seeds", "ratio", "all in all", "compile", "draw",
        "difference")  # fmt: skip
    for name, panel in PANELS.items():
        if name in arguments.panels:
            report(name, panel, arguments.seeds, arguments.rounds)
    if "sizes" in arguments.panels:
        report_sizes(arguments.seeds, arguments.rounds)


if __name__ == "__main__":
    main()
