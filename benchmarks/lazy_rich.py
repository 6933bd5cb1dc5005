"""Kernel distance on 512 probe points of a network with a million weights: time and memory, side by side.

    python benchmarks/lazy_rich.py [--points 512] [--outputs 1] [--width 700] [--ways layers sketch]

A network 784-width-width-outputs, tanh, moves from one random start to another nearby. Each way finds both
tangent kernels and their distance:

    layers   exact, from the layers' inputs and slopes (`layered_tangent_kernel`)
    blocks   exact, from rows of the Jacobian in at most 512 MB (`tangent_kernel`)
    sketch   from random directions; errors are its own estimates
    dense    exact, the whole Jacobian in memory; left out where it would take more than --most-memory

Each runs in a process of its own. "Memory" is what its largest resident set adds to that before the
kernels; compiling is part of the time.
"""

import argparse
import itertools
import multiprocessing
import resource
import time
from typing import Any

WAYS = ("layers", "blocks", "sketch", "dense")


def network(points: int, outputs: int, width: int) -> tuple[Any, Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    sizes = (784, width, width, outputs)
    shapes = list(itertools.pairwise(sizes))
    first = [rng.standard_normal(shape) / shape[0] ** 0.5 for shape in shapes]
    last = [w + 0.5 * rng.standard_normal(w.shape) / w.shape[0] ** 0.5 for w in first]
    return first, last, rng.standard_normal((points, 784))


def apply(weights: Any, x: Any) -> Any:
    import jax.numpy as jnp

    for w in weights[:-1]:
        x = jnp.tanh(x @ w)
    return x @ weights[-1]


def layers(weights: Any, x: Any) -> list[tuple[Any, Any]]:
    """Inputs and slopes of every layer, by hand."""
    import numpy as np

    inputs = [x]
    for w in weights[:-1]:
        inputs.append(np.tanh(inputs[-1] @ w))
    outputs = weights[-1].shape[1]
    slopes = [np.broadcast_to(np.eye(outputs), (len(x), outputs, outputs))]
    for w, h in zip(weights[:0:-1], inputs[:0:-1], strict=True):
        back = slopes[0].reshape(-1, w.shape[1]) @ w.T  # one large product, not one for each point
        slopes.insert(0, back.reshape(len(x), outputs, -1) * (1 - h[:, None] ** 2))
    return list(zip(inputs, slopes, strict=True))


def resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way: str, options: argparse.Namespace, results: Any) -> None:
    import numpy as np

    from lazyrich import adapters, measures, quantities

    first, last, x = network(options.points, options.outputs, options.width)
    net = adapters.tangents(apply, first, x)
    net.outputs(net.weights)
    before, start, worked, error = resident(), time.perf_counter(), time.process_time(), 0.0
    if way == "layers":
        kernels = [measures.layered_tangent_kernel(layers(w, x)).kernel for w in (first, last)]
    elif way == "dense":
        rows = np.arange(options.points * options.outputs)
        shape = (options.points, options.outputs, -1)
        kernels = [
            measures.tangent_kernel(net.rows(net.flat(w), rows).reshape(shape)).kernel
            for w in (first, last)
        ]
    else:
        method = "exact" if way == "blocks" else "sketch"
        found = [
            measures.tangent_kernel(net.at(w), method=method, num_directions=options.directions)
            for w in (first, last)
        ]
        kernels, error = [one.kernel for one in found], max(one.uncertainty for one in found)
    if way == "sketch":
        distance, spread = measures.sketched_kernel_distance(*found)
    else:
        distance, spread = float(quantities.kernel_distance(*kernels)), 0.0
    seconds = (time.perf_counter() - start, time.process_time() - worked)
    results.put((distance, spread, error, *seconds, resident() - before))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("points", 512), ("outputs", 1), ("width", 700), ("directions", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--most-memory", type=float, default=3000, help="MB")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    weights = 784 * options.width + options.width**2 + options.width * options.outputs
    print(f"{options.points} points, {options.outputs} outputs, {weights:.3g} weights")
    context = multiprocessing.get_context("spawn")
    for way in options.ways:
        size = options.points * options.outputs * weights * 8 / 2**20
        if way == "dense" and 2 * size > options.most_memory:
            print(f"{way:8s} left out: the Jacobian alone takes {size:.0f} MB")
            continue
        results = context.Queue()
        process = context.Process(target=measure, args=(way, options, results))
        process.start()
        distance, spread, error, seconds, worked, memory = results.get()
        process.join()
        print(
            f"{way:8s} S = {distance:.6f} ± {spread:.6f}  kernel error {error:.3f}  {seconds:7.2f} s  "
            f"{worked:7.2f} processor s  {memory:7.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
