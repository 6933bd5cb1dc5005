"""Grids of linear networks and the matrix solution against plain NumPy loops, in one run.

    python benchmarks/layerwise.py [--grids fig6a fig10a fig10b fig6b] [--cells 6] [--coarse 1] [--times 1000]

Grids: the library trains all cells and seeds of a figure's `paper` grid (40 × 40 cells, 8 seeds, 4000
steps) and records the kernel's distance at the end. The plain loop takes one cell of one seed after the
other: steps over the samples in NumPy, and the whole kernel at the start and at the end. It runs `--cells`
cells, spread over the grid, and its time for the grid is extrapolated; both end with the same distances, and
the largest difference is printed. Both run with one BLAS thread, which is faster for such small matrices.
`--coarse 4` takes every fourth λ and every fourth scale. The library's first time has compiling in it.

The matrix solution: the product W₁W₂ of a network with as many inputs, units and outputs at `--times` times,
against Euler steps of 1e-3 to the last of them, recorded at the same times.
"""

import argparse
import importlib
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import numpy as np

from lazyrich import models, simulate, tasks, theory
from lazyrich.experiments.layerwise import _kernel_grid, fig6b

GRIDS = ("fig6a", "fig10a", "fig10b", "fig6b")


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - begin


def balanced_grid(config: Any, coarse: int) -> tuple[Any, ...]:
    """Weights, moments and data sets of all cells and seeds, with leading axes (seed, λ, scale)."""
    lam, scale = config.imbalances[::coarse, None], config.scales[::coarse]
    seeds = range(config.num_seeds)
    starts, moments = _kernel_grid._starts(config, seeds, lam, scale)
    task = tasks.RandomRegression(
        config.num_samples, config.input_dimension, config.output_dimension
    )
    keys = [jax.random.split(jax.random.key(seed))[1] for seed in seeds]
    data = [task.dataset(key) for key in keys]
    first, second = (np.stack(arrays) for arrays in zip(*starts, strict=True))
    S, C = (np.stack(arrays)[:, None, None] for arrays in list(zip(*moments, strict=True))[:2])
    return first, second, C, S, data, np.ones(scale.size)


def ratio_grid(config: Any, coarse: int) -> tuple[Any, ...]:
    """The same for Fig. 6b: labels are divided by the ratio."""
    starts, moments = zip(
        *(fig6b._start(config, seed) for seed in range(config.num_seeds)), strict=True
    )
    task = tasks.RandomRegression(
        config.num_samples, config.input_dimension, config.output_dimension, whitened=False
    )
    keys = [jax.random.split(jax.random.key(seed))[1] for seed in range(config.num_seeds)]
    data = [task.dataset(key) for key in keys]
    ratios = config.ratios[::coarse]
    first, second = (np.stack(a)[:, ::coarse, None] for a in zip(*starts, strict=True))
    S, C = (np.stack(arrays)[:, None, None] for arrays in list(zip(*moments, strict=True))[:2])
    return first, second, C, S / ratios[:, None, None], data, ratios


def plain_cell(W1: Any, W2: Any, X: Any, Y: Any, rate: float, steps: int) -> float:
    """One network as one would write it: steps over samples, the kernel as a matrix."""

    def kernel() -> Any:
        return np.kron(X @ X.T, W2.T @ W2) + np.kron(X @ W1 @ (X @ W1).T, np.eye(Y.shape[1]))

    first = kernel()
    for _ in range(steps):
        hidden = X @ W1
        error = (Y - hidden @ W2) / len(X)
        W1, W2 = W1 + rate * (X.T @ (error @ W2.T)), W2 + rate * (hidden.T @ error)
    last = kernel()
    return 1 - np.sum(first * last) / (np.linalg.norm(first) * np.linalg.norm(last))


def report_grid(name: str, num_cells: int, coarse: int) -> None:
    config = importlib.import_module(f"lazyrich.experiments.layerwise.{name}").PRESETS["paper"]
    first, second, C, S, data, divisors = (ratio_grid if name == "fig6b" else balanced_grid)(
        config, coarse
    )
    grid = np.broadcast_shapes(first.shape[:-2], S.shape[:-2])

    def library() -> Any:
        return simulate.linear_network_descent(
            correlation=S, covariance=C, first=first, second=second, steps=[config.last_step],
            learning_rate=config.learning_rate,
        )  # fmt: skip

    runs, whole = timed(library)
    _, again = timed(library)
    cells = np.linspace(0, np.prod(grid) - 1, num_cells).round().astype(int)
    gaps, seconds = [], 0.0
    first, second = (np.broadcast_to(w, grid + w.shape[-2:]) for w in (first, second))
    for cell in cells:
        index = np.unravel_index(cell, grid)
        X, Y, _ = data[index[0]]
        weights = first[index], second[index], X, Y / divisors[index[2]]
        distance, spent = timed(plain_cell, *weights, config.learning_rate, config.last_step)
        seconds += spent
        gaps.append(abs(distance - runs.kernel_distance[index][0]))
    extrapolated = seconds / num_cells * np.prod(grid)
    row(name, " × ".join(map(str, grid)), f"{whole:.1f} s", f"{again:.1f} s", f"{extrapolated:.0f} s",
        f"{extrapolated / whole:.0f}×", f"{max(gaps):.0e}")  # fmt: skip


def report_solution(size: int, num_times: int) -> None:
    start = models.balanced_weights(jax.random.key(0), size, size, size, imbalance=0.5)
    S = np.random.default_rng(0).standard_normal((size, size)) / np.sqrt(size)
    times = np.linspace(0, 10, num_times)
    network, making = timed(theory.BalancedNetwork, S.T, *start)
    exact, first = timed(network.product, times)
    again = min(timed(network.product, times)[1] for _ in range(3))
    stepped, seconds = timed(euler, *start, S, times)
    print(f"\nThe matrix solution, {size} × {size}, {num_times} times up to {times[-1]:g}")
    off = np.abs(stepped - exact).max()
    print(f"made in {making:.2f} s; first call {first:.2f} s with compiling, then {again:.2f} s")
    print(f"Euler steps {seconds:.2f} s, {seconds / again:.1f}×, and off by {off:.0e}")


def euler(W1: Any, W2: Any, S: Any, times: Any, step: float = 1e-3) -> np.ndarray:
    found, now = [], 0
    for time_ in times:
        while now * step < time_ - step / 2:
            rest = S - W1 @ W2
            W1, W2, now = W1 + step * rest @ W2.T, W2 + step * W1.T @ rest, now + 1
        found.append(W1 @ W2)
    return np.array(found)


def row(*cells: Any) -> None:
    widths = (8, 14, 14, 10, 12, 8, 12)
    print(" ".join(f"{cell:>{n}}" for cell, n in zip(cells, widths, strict=True)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grids", nargs="*", choices=GRIDS, default=GRIDS)
    parser.add_argument("--cells", type=int, default=6, help="that the plain loop trains")
    parser.add_argument("--coarse", type=int, default=1, help="take every so-many-th λ and scale")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--times", type=int, default=1000)
    arguments = parser.parse_args()
    row("grid", "seeds × cells", "with compiling", "again", "plain loop", "ratio", "difference")
    for name in arguments.grids:
        report_grid(name, arguments.cells, arguments.coarse)
    report_solution(arguments.size, arguments.times)


if __name__ == "__main__":
    main()
