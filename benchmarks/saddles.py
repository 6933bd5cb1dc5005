"""Gradient descent on the panels of saddles against plain PyTorch loops, in one run.

    python benchmarks/saddles.py [--seeds 512] [--rounds 5] [--dtype float64] [--panels fig1b fig1g sizes]

Needs the extra `bench`. Both descend on a panel's data (8192 samples where the paper has them) at its
width and learning rate. PyTorch takes full-batch steps for one seed, in float32 and in float64, with one
thread and with all; the faster counts. The library takes them in float64, or as asked, for many seeds at
once; its time is that for one step of one seed, and its ratio that to PyTorch's float32. Both take turns, and
of all rounds the median counts. Compiling, and drawing the data of a seed, are not part of a step; they have
columns of their own. "All in all" is the ratio for the whole panel at 8 seeds: the library with draws, 201
records and, in the first number, compiling; PyTorch with its steps alone. It is left out where it takes
minutes.

Fig. 3 has minibatches of 64 on both sides, and the small digits set where the folder LAZYRICH_DATA does not
hold MNIST. Table 1 is not here: it descends on second moments in NumPy and records every step.

Before that both start from the same weights (of standard deviation 0.1, so that the loss falls soon), and
the largest difference of their losses over 300 steps in float64 is printed, as a share of the initial loss.
"""

import argparse
import dataclasses
import functools
import importlib
import itertools
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch

from lazyrich import models, simulate, tasks
from lazyrich.experiments.saddles import _spectra, fig1b, fig3, fig6
from lazyrich.experiments.saddles._pair_training import PairTraining
from lazyrich.simulate._gradient_descent import _advance, _Plan, _Run
from lazyrich.simulate._training import stacked

THREADS = {"one thread": 1, "all threads": torch.get_num_threads()}
DTYPES = {"float32": torch.float32, "float64": torch.float64}
AGREEMENT_STEPS = (300, 20)  # the latter where a step takes long
DISTINCT_STARTS, WHOLE_SEEDS, NUM_RECORDS = 8, 8, 200


def two_layers(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: sigma(x @ U) @ V


def deep(first: Callable[..., Any], sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    """Fully connected layers after a first one with its outgoing weights."""
    return lambda x, U, V, *rest: functools.reduce(lambda z, W: sigma(z) @ W, rest, first(x, U, V))


def convolution(sigma: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, U, V: torch.einsum("npi,ipo->no", sigma(x.unfold(1, 2, 2) @ U), V)


def attention(x: Any, KQ: Any, V: Any) -> Any:
    key, query = KQ.chunk(2)
    scores = (x @ key) * (x[:, -1:] @ query)  # (samples, tokens, heads)
    return torch.einsum("nah,hao->no", x.transpose(1, 2) @ scores, V)


def softmax_attention(x: Any, KQ: Any, V: Any) -> Any:
    key, query = KQ.chunk(2)
    scores = torch.softmax((x @ key) * (x[:, -1:] @ query), dim=1)
    return torch.einsum("nah,hao->no", x.transpose(1, 2) @ scores, V)


def attention_from_sums(x: Any, KQ: Any, V: Any) -> Any:
    (key, query), tokens = KQ.chunk(2), x.shape[-1]
    sums, asked = x[:, :tokens], x[:, tokens:]
    return torch.einsum("nah,hao->no", (sums @ key) * (asked @ query), V)


def sums_and_query(x: Any) -> Any:
    """What a user could compute once, before the loop."""
    return torch.cat([x.transpose(1, 2) @ x, x[:, -1:]], dim=1)


def identity(z: Any) -> Any:
    return z


class Setting(NamedTuple):
    """What is trained: by PyTorch on samples, and by the library."""

    sampled: Any
    training: Any
    rate: float
    last_step: int | None = None  # of the whole panel, where it does not take minutes
    batch_size: int | None = None


class Panel(NamedTuple):
    """A panel in PyTorch, and how the library runs it."""

    setting: Callable[[], Setting]
    forward: Callable[..., Any]
    seeds: int | None = None  # fewer than asked for, where a seed's step is long
    prepare: Callable[[Any], Any] = identity


def panel(name: str, *, whole: bool = True, preset: str = "paper") -> Callable[[], Setting]:
    """A panel of Figs. 1, 4 or 5, the library's side by its preset."""

    def setting() -> Setting:
        module = importlib.import_module(f"lazyrich.experiments.saddles.{name}")
        make, config, paper = module.PANEL.training, module.PRESETS[preset], module.PRESETS["paper"]
        sampled = make(dataclasses.replace(paper, population=False))
        last_step = config.last_step if whole else None
        return Setting(sampled, make(config), paper.learning_rate, last_step)

    return setting


def linear_spectrum() -> Setting:
    training = _spectra.linear(_spectra.Config(population=False))
    return Setting(training, training, 0.01, 4000)


def attention_spectrum() -> Setting:
    training = _spectra.attention(_spectra.Both(population=False))
    return Setting(training, training, 0.1, 8000)


def no_skip(activation: str) -> Callable[[], Setting]:
    def setting() -> Setting:
        training = fig6.training(activation, "no skip", fig6.PRESETS["paper"])
        return Setting(training, training, fig6.PRESETS["paper"].learning_rate)

    return setting


def digits(activation: str) -> Callable[[], Setting]:
    """0 and 1 by minibatches, at the paper's width."""

    def setting() -> Setting:
        config = fig3.PRESETS["paper"]
        task = tasks.DigitPair(0, 1, source=os.environ.get("LAZYRICH_DATA"))
        network = models.TwoLayer(task.input_dimension, config.width, 2, activation)
        training = PairTraining(network, task, config.initial_std, task.digits.white, 100)
        return Setting(training, training, config.learning_rate, batch_size=config.batch_size)

    return setting


def z_tanh(z: Any) -> Any:
    return z * torch.tanh(z)


def z2_tanh(z: Any) -> Any:
    return z * z * torch.tanh(z)


def versine(z: Any) -> Any:
    return 1 - torch.cos(z)


def cube(z: Any) -> Any:
    return z * z * z


SMOOTH = {
    "fig4b": torch.sigmoid, "fig4c": torch.sin, "fig4d": torch.tanh, "fig4e": versine, "fig4f": z_tanh,
}  # fmt: skip
PANELS = {
    "fig1b": Panel(panel("fig1b"), two_layers(identity)),
    "fig1c": Panel(panel("fig1c"), convolution(identity)),
    "fig1f": Panel(panel("fig1f"), attention),
    "fig1f-sums": Panel(panel("fig1f"), attention_from_sums, prepare=sums_and_query),
    "fig1g": Panel(panel("fig1g"), two_layers(torch.square)),
    "fig1d": Panel(panel("fig1d"), two_layers(torch.relu)),
    "fig1e": Panel(panel("fig1e"), convolution(torch.relu)),
    "fig2-linear": Panel(linear_spectrum, two_layers(identity)),
    "fig2-attention": Panel(attention_spectrum, attention, seeds=128),
    "fig3-linear": Panel(digits("linear"), two_layers(identity), seeds=2),
    "fig3-relu": Panel(digits("relu"), two_layers(torch.relu), seeds=2),
    "fig4a": Panel(panel("fig4a", whole=False), softmax_attention, seeds=1),
    **{
        f"{name}{end}": Panel(panel(name, whole=bool(end), preset=preset), two_layers(sigma), seeds)
        for name, sigma in SMOOTH.items()
        for end, preset, seeds in (("", "paper", 2), ("-nodes", "quick", 8))
    },
    "fig4g": Panel(panel("fig4g", whole=False), two_layers(cube), seeds=64),
    "fig4h": Panel(panel("fig4h", whole=False), two_layers(z2_tanh), seeds=8),
    "fig5a": Panel(panel("fig5a"), deep(two_layers(identity), identity), seeds=64),
    "fig5b": Panel(panel("fig5b"), deep(convolution(identity), identity), seeds=64),
    "fig5c": Panel(panel("fig5c"), deep(two_layers(torch.relu), torch.relu), seeds=64),
    "fig5d": Panel(panel("fig5d"), deep(convolution(torch.relu), torch.relu), seeds=64),
    "fig5e": Panel(panel("fig5e", whole=False), deep(attention, identity), seeds=64),
    "fig5f": Panel(panel("fig5f"), deep(two_layers(torch.square), identity), seeds=64),
    "fig6-linear": Panel(no_skip("linear"), deep(two_layers(identity), identity), seeds=64),
    "fig6-relu": Panel(no_skip("relu"), deep(two_layers(torch.relu), torch.relu), seeds=64),
}
"""`-sums`: PyTorch takes the sums over tokens once. `-nodes`: the library learns the whole distribution by
quadrature, as `reproduce` does by default (Figs. 4G and 4H in every preset); PyTorch 8192 samples of it."""


class Plain:
    """Full-batch gradient descent in PyTorch, one seed."""

    num_seeds = 1

    def __init__(self, panel: Panel, setting: Setting, dtype: str, threads: str):
        training, self.batch_size = setting.sampled, setting.batch_size
        inputs, targets = samples(training)
        self.threads, self.rate, self.forward = THREADS[threads], setting.rate, panel.forward
        self.inputs = panel.prepare(torch.tensor(inputs, dtype=DTYPES[dtype]))
        self.labels = torch.tensor(targets, dtype=DTYPES[dtype])
        mean_outputs = getattr(training, "mean_outputs", False)
        self.share = 1 / targets.shape[1] if mean_outputs else 1.0
        self.weights = [
            torch.tensor(array, dtype=DTYPES[dtype], requires_grad=True)
            for array in jax.tree.leaves(training.start(0)[0])
        ]

    def step(self) -> torch.Tensor:
        """One step; the loss before it."""
        x, y = self.inputs, self.labels
        if self.batch_size is not None:
            drawn = torch.randint(len(x), (self.batch_size,))
            x, y = x[drawn], y[drawn]
        errors = self.forward(x, *self.weights) - y
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


def samples(training: Any) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets that PyTorch learns from."""
    if isinstance(training, PairTraining):
        pixels, targets = training.start(0)[1]
        return pixels / training.white, targets
    data = training.task.dataset(jax.random.split(jax.random.key(0))[0])
    return np.asarray(data.inputs), np.asarray(data.targets)


class Library:
    """The library's steps, many seeds at once."""

    def __init__(self, setting: Setting, num_seeds: int, dtype: str):
        training, self.num_seeds, self.is_double = setting.training, num_seeds, dtype == "float64"
        distinct = min(DISTINCT_STARTS, num_seeds)
        with jax.enable_x64(self.is_double):
            stacked(training, range(distinct))  # compiles the draws
            drawn, seconds = timed(stacked, training, range(distinct))
            self.draw_seconds = seconds / distinct
            # a step costs the same for all numbers: few starts, many times over
            index = np.arange(num_seeds) % distinct
            weights, self.data = jax.tree.map(lambda array: jnp.asarray(array)[index], drawn)
            self.weights, _ = training.reduce(weights)
            plan = _Plan(training, None, setting.batch_size, [])
            runs = [_Run(setting.rate, None, seed) for seed in range(num_seeds)]
            self.advance = _advance(plan, self.data, runs)
        self.compile_seconds = timed(self.run, 1)[1]

    def run(self, steps: int) -> None:
        """So many steps of all seeds."""
        with jax.enable_x64(self.is_double):
            jax.block_until_ready(self.advance((self.weights, None), self.data, 0, steps))


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - begin


def step_seconds(contenders: dict[Any, Any], rounds: int) -> dict[Any, float]:
    """Seconds for a step of one seed, of each contender in turn, in a tenth of a second or more."""
    found: dict[Any, list[float]] = {name: [] for name in contenders}
    for _, (name, contender) in itertools.product(range(rounds), contenders.items()):
        contender.run(1)
        steps = 1 + int(0.1 / timed(contender.run, 1)[1])
        found[name].append(timed(contender.run, steps)[1] / steps / contender.num_seeds)
    return {name: float(np.median(seconds)) for name, seconds in found.items()}


def difference(panel: Panel, setting: Setting) -> float:
    """The largest difference of losses from the same start, in initial losses; NaN with minibatches."""
    if setting.batch_size is not None:
        return np.nan
    training = dataclasses.replace(setting.sampled, initial_std=0.1)
    plain = Plain(panel, setting._replace(sampled=training), "float64", "one thread")
    steps = np.arange(AGREEMENT_STEPS[panel.seeds == 1] + 1)
    losses = np.array([plain.step().item() for _ in steps])
    run = simulate.gradient_descent(training, steps[::10], learning_rate=setting.rate, seeds=[0])
    return float(np.max(np.abs(run.loss.values[0] - losses[::10])) / losses[0])


def whole_seconds(setting: Setting) -> list[float]:
    """Seconds for a seed of the figure: with compiling, and once more."""
    if setting.last_step is None:
        return []
    steps = np.round(np.linspace(0, setting.last_step, NUM_RECORDS + 1))
    runs = [
        timed(
            lambda: simulate.gradient_descent(
                setting.training, steps, learning_rate=setting.rate, seeds=range(WHOLE_SEEDS)
            )
        )
        for _ in range(2)
    ]
    return [seconds / WHOLE_SEEDS for _, seconds in runs]


def report(name: str, panel: Panel, num_seeds: int, rounds: int, dtype: str) -> None:
    setting = panel.setting()
    gap = difference(panel, setting)
    jax.clear_caches()
    whole = whole_seconds(setting)
    library = Library(setting, min(num_seeds, panel.seeds or num_seeds), dtype)
    plain: dict[Any, Any] = {
        pair: Plain(panel, setting, *pair) for pair in itertools.product(DTYPES, THREADS)
    }
    found = step_seconds(plain | {"library": library}, rounds)
    ours = found["library"]
    theirs = [min(found[dtype, threads] for threads in THREADS) for dtype in DTYPES]
    ratios = [f"{theirs[0] * (setting.last_step or 0) / seconds:.0f}×" for seconds in whole]
    row(name, *[f"{1e6 * seconds:.0f}" for seconds in theirs], f"{1e6 * ours:.3g}", library.num_seeds,
        f"{theirs[0] / ours:.3g}×", ", ".join(ratios) or "–", f"{library.compile_seconds:.1f} s",
        f"{1e3 * library.draw_seconds:.1f} ms", f"{gap:.0e}")  # fmt: skip


def row(*cells: Any) -> None:
    widths = (14, 9, 9, 9, 6, 9, 14, 8, 9, 11)
    print(" ".join(f"{cell:>{n}}" for cell, n in zip(cells, widths, strict=False)), flush=True)


def report_sizes(num_seeds: int, rounds: int) -> None:
    """A step on moments does not know how many samples there are; drawing them does."""
    print("\nFig. 1B, by number of samples; µs for a step in float64")
    row("samples", "PyTorch", "", "library", "seeds", "ratio", "", "", "draw")
    config = fig1b.PRESETS["paper"]
    for exponent in (3, 4, 5, 6):
        training = fig1b.training(dataclasses.replace(config, num_samples=10**exponent))
        setting = Setting(training, training, config.learning_rate)
        library = Library(setting, num_seeds, "float64")
        plain = {name: Plain(PANELS["fig1b"], setting, "float64", name) for name in THREADS}
        best = step_seconds(plain | {"library": library}, rounds)
        ours, theirs = best.pop("library"), min(best[name] for name in THREADS)
        row(f"10^{exponent}", f"{1e6 * theirs:.0f}", "", f"{1e6 * ours:.3g}", num_seeds,
            f"{theirs / ours:.0f}×", "", "", f"{1e3 * library.draw_seconds:.1f} ms")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=512, help="that the library advances together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dtype", choices=DTYPES, default="float64", help="of the library's steps")
    parser.add_argument(
        "--panels", nargs="+", choices=(*PANELS, "sizes"), default=(*PANELS, "sizes")
    )
    arguments = parser.parse_args()
    print("µs for a step of one seed")
    row("panel", "float32", "float64", "library", "seeds", "ratio", "all in all", "compile", "draw",
        "difference")  # fmt: skip
    for name, panel in PANELS.items():
        if name in arguments.panels:
            report(name, panel, arguments.seeds, arguments.rounds, arguments.dtype)
    if "sizes" in arguments.panels:
        report_sizes(arguments.seeds, arguments.rounds)


if __name__ == "__main__":
    main()
