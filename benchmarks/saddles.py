"""Gradient descent on the panels of Figs. 1, 4 and 5 against plain PyTorch loops, in one run.

    python benchmarks/saddles.py [--seeds 512] [--rounds 5] [--panels fig1b fig1g]

Needs the extra `bench`. Both descend on the panel's data (8192 samples where the paper has them) at its width
and learning rate. PyTorch takes full-batch steps for one seed, in float32 and float64, with one thread and with
all; its fastest counts. The library takes them in float64 for many seeds at once; its time is for one of them.
Both take turns, and of all rounds the fastest counts. Before, both run from the same start, and the largest relative
difference of their losses over 300 steps is printed.

"Whole" compares all of a panel as the figure computes it, records, draws of data and (in the first of two numbers)
compiling included, with PyTorch's steps alone.
"""

import argparse
import importlib
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import torch

from lazyrich import simulate
from lazyrich.experiments.saddles import _settings, fig1b
from lazyrich.simulate._gradient_descent import _full_batch
from lazyrich.simulate._training import starts

AGREE_STEPS, DRAWN = 300, 8
WHOLE_SEEDS, WHOLE_RECORDS = 8, 200


def two_layers(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: sigma(x @ U) @ V


def three_layers(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V, W: sigma(sigma(x @ U) @ V) @ W


def convolution(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: torch.einsum("npi,ipo->no", sigma(x.unfold(1, 2, 2) @ U), V)


def attention(x: Any, KQ: Any, V: Any) -> Any:
    keys, query = x @ KQ[:3], x[:, -1] @ KQ[3:]
    scores = keys * query[:, None]
    return torch.einsum("nth,nta,hao->no", scores, x, V)


def attention_from_sums(prepared: Any, KQ: Any, V: Any) -> Any:
    """The same by a user who takes the sums over tokens once, before the loop."""
    sums, query = prepared[:, :3], prepared[:, 3]
    scores = sums @ KQ[:3] * (query @ KQ[3:])[:, None]  # (samples, entries, heads)
    return torch.einsum("nah,hao->no", scores, V)


def sums_and_query(x: Any) -> Any:
    return torch.cat([x.transpose(1, 2) @ x, x[:, -1:]], dim=1)


class Panel(NamedTuple):
    """How a panel is written in PyTorch, and how the library is set for it."""

    module: str
    forward: Callable[..., Any]
    prepare: Callable[[Any], Any] = torch.clone
    population: bool = False
    seeds: int | None = None


def linear(z: Any) -> Any:
    return z


def z_tanh(z: Any) -> Any:
    return z * torch.tanh(z)


PANELS = {
    "fig1b": Panel("fig1b", two_layers(linear)),
    "fig1c": Panel("fig1c", convolution(linear)),
    "fig1f": Panel("fig1f", attention),
    "fig1f, sums over tokens once": Panel("fig1f", attention_from_sums, sums_and_query),
    "fig1g": Panel("fig1g", two_layers(torch.square)),
    "fig1d": Panel("fig1d", two_layers(torch.relu)),
    "fig1e": Panel("fig1e", convolution(torch.relu)),
    "fig4d": Panel("fig4d", two_layers(torch.tanh), seeds=2),
    "fig4d, the library by quadrature": Panel("fig4d", two_layers(torch.tanh), population=True, seeds=8),
    "fig4f": Panel("fig4f", two_layers(z_tanh), seeds=2),
    "fig4f, the library by quadrature": Panel("fig4f", two_layers(z_tanh), population=True, seeds=8),
    "fig5a": Panel("fig5a", three_layers(linear), seeds=64),
    "fig5c": Panel("fig5c", three_layers(torch.relu), seeds=64),
}  # fmt: skip


class PlainLoop:
    """Full-batch gradient descent in PyTorch."""

    def __init__(self, panel: Panel, training: Any, rate: float, dtype: torch.dtype):
        data_key, _ = jax.random.split(jax.random.key(0))
        data = training.task.dataset(data_key)
        self.forward, self.rate = panel.forward, rate
        self.inputs = panel.prepare(torch.tensor(data.inputs, dtype=dtype))
        self.labels = torch.tensor(data.labels, dtype=dtype)
        self.share = 1 / data.labels.shape[1] if training.mean_outputs else 1.0
        start = jax.tree.leaves(training.start(0)[0])
        self.weights = [
            torch.tensor(np.asarray(array), dtype=dtype, requires_grad=True) for array in start
        ]

    def step(self) -> torch.Tensor:
        errors = self.forward(self.inputs, *self.weights) - self.labels
        loss = self.share * errors.square().sum(dim=1).mean()
        slopes = torch.autograd.grad(loss, self.weights)
        with torch.no_grad():
            for weight, slope in zip(self.weights, slopes, strict=True):
                weight -= self.rate * slope
        return loss.detach()

    def seconds(self, steps: int) -> float:
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        return (time.perf_counter() - begin) / steps


class Library:
    """The library's steps, for many seeds at once."""

    def __init__(self, training: Any, rate: float, seeds: int):
        self.training, self.rate, self.num_seeds = training, rate, seeds
        drawn = min(DRAWN, seeds)
        begin = time.perf_counter()
        with jax.enable_x64(True):
            _, tree = starts(training, range(drawn))
            self.start_seconds = (time.perf_counter() - begin) / drawn
            # a step costs the same for all numbers: few starts, many times over
            weights, self.data = jax.tree.map(
                lambda x: np.repeat(x, -(-seeds // drawn), 0)[:seeds], tree
            )
            self.weights, _ = training.reduce(jax.tree.map(jax.numpy.asarray, weights))
        begin = time.perf_counter()
        self.seconds(1)
        self.compile_seconds = time.perf_counter() - begin

    def seconds(self, steps: int) -> float:
        with jax.enable_x64(True):
            begin = time.perf_counter()
            ends = _full_batch(self.training, self.weights, self.data, self.rate, 0, steps)
            jax.block_until_ready(ends)
        return (time.perf_counter() - begin) / steps / self.num_seeds


def fastest(contenders: dict[str, Any], rounds: int, least: float = 0.1) -> dict[str, float]:
    """Seconds for a step of each, in turns."""
    best = dict.fromkeys(contenders, np.inf)
    for _, (name, contender) in itertools.product(range(rounds), contenders.items()):
        if isinstance(contender, PlainLoop):
            torch.set_num_threads(1 if "one thread" in name else ALL_THREADS)
        contender.seconds(2)
        whole = 2 * contender.seconds(2) * getattr(contender, "num_seeds", 1)
        best[name] = min(best[name], contender.seconds(1 + int(2 * least / whole)))
    return best


ALL_THREADS = torch.get_num_threads()


def difference(panel: Panel, training: Any, rate: float) -> float:
    """The largest relative difference of losses over some hundred steps from the same start."""
    plain = PlainLoop(panel, training, rate, torch.float64)
    losses = [plain.step().item() for _ in range(AGREE_STEPS + 1)]
    steps = np.arange(0, AGREE_STEPS + 1, 10)
    run = simulate.gradient_descent(training, steps, learning_rate=rate, seeds=[0])
    return float(np.max(np.abs(run.loss.values[0] / np.array(losses)[steps] - 1)))


def whole(training: Any, config: Any) -> list[float]:
    """Seconds for a seed of the figure: with compiling, and once more."""
    steps = np.round(np.linspace(0, config.last_step, WHOLE_RECORDS + 1))
    found = []
    for _ in range(2):
        jax.block_until_ready(jax.numpy.zeros(()))
        begin = time.perf_counter()
        simulate.gradient_descent(
            training, steps, learning_rate=config.learning_rate, seeds=range(WHOLE_SEEDS)
        )
        found.append((time.perf_counter() - begin) / WHOLE_SEEDS)
    return found


def report(name: str, panel: Panel, seeds: int, rounds: int) -> None:
    module = importlib.import_module(f"lazyrich.experiments.saddles.{panel.module}")
    config = module.PRESETS["paper"]
    sampled = module.training(config)
    training = module.training(config) if not panel.population else with_population(sampled)
    rate, gap = config.learning_rate, difference(panel, sampled, config.learning_rate)
    together = whole(training, config)
    library = Library(training, rate, panel.seeds or seeds)
    loops = {
        f"{dtype}, {threads}": PlainLoop(panel, sampled, rate, getattr(torch, dtype))
        for dtype in ("float32", "float64")
        for threads in ("one thread", "all threads")
    }
    best = fastest(loops | {"library": library}, rounds)
    ours = best["library"]
    single, double = (min(best[f"{d}, {t} thread{'s' * (t == 'all')}"] for t in ("one", "all"))
                      for d in ("float32", "float64"))  # fmt: skip
    plain_whole = single * config.last_step
    print(f"{name:<33} {single * 1e6:9.0f} {double * 1e6:9.0f} {ours * 1e6:10.3f} {single / ours:8.0f}× {double / ours:8.0f}× "
          f"{plain_whole / together[0]:7.0f}×, {plain_whole / together[1]:5.0f}× {library.compile_seconds:7.2f} "
          f"{library.start_seconds * 1e3:9.1f} {gap:10.0e}", flush=True)  # fmt: skip


def with_population(training: Any) -> Any:
    import dataclasses

    return dataclasses.replace(training, population=True)


def report_sizes(seeds: int, rounds: int) -> None:
    print(
        "\nFig. 1B by number of samples:  samples   PyTorch float64 µs/step   library µs/step/seed"
    )
    config = fig1b.PRESETS["paper"]
    for num_samples in (10**3, 10**4, 10**5, 10**6):
        import dataclasses

        training = fig1b.training(dataclasses.replace(config, num_samples=num_samples))
        loop = PlainLoop(PANELS["fig1b"], training, config.learning_rate, torch.float64)
        library = Library(training, config.learning_rate, seeds)
        best = fastest({"all threads": loop, "library": library}, rounds)
        print(
            f"{num_samples:38.0e} {best['all threads'] * 1e6:25.0f} {best['library'] * 1e6:22.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=512, help="that the library advances together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--panels", nargs="*", choices=[*PANELS, "sizes"], default=[*PANELS, "sizes"]
    )
    arguments = parser.parse_args()
    for name in arguments.panels:
        if name != "sizes":
            report(name, PANELS[name], arguments.seeds, arguments.rounds)
    if "sizes" in arguments.panels:
        report_sizes(arguments.seeds, arguments.rounds)


if __name__ == "__main__":
    main()
