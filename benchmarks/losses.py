"""Losses at 10⁵ times for 10³ aspect ratios: time and peak memory, against SciPy's quadrature.

    python benchmarks/losses.py [--times 100000] [--ratios 1000] [--sample 300]

Every case runs in a process of its own, so that its peak memory, result included, is its own. Compiling
is part of the time. SciPy integrates the density for a random sample of the points in the same process;
its time for all of them is extrapolated from the sample, and the largest difference on it is printed.
"""

import argparse
import concurrent.futures
import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad

from lazyrich.theory import LinearGrokking

RATE = 0.01
CASES = (
    ("train_loss", 0.0, 1),
    ("test_loss", 0.0, 1),
    ("train_loss", 1e-3, 10),
    ("test_loss", 1e-3, 10),
)
"""Loss, weight decay, and what divides the number of times: decay needs 20 times as many nodes."""


class Measured(NamedTuple):
    """What one process found."""

    num_points: int
    seconds: float
    gibibytes: float
    plain_seconds: float
    difference: float


def measure(name: str, decay: float, num_ratios: int, num_times: int, num_sample: int) -> Measured:
    ratios, times = np.geomspace(0.01, 10, num_ratios), np.geomspace(1, 1e5, num_times)
    begin = time.perf_counter()
    result = getattr(LinearGrokking(ratios[:, None], RATE, weight_decay=decay), name)(times)
    seconds = time.perf_counter() - begin
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rng = np.random.default_rng(0)
    rows, columns = (
        rng.integers(num_ratios, size=num_sample),
        rng.integers(num_times, size=num_sample),
    )
    begin = time.perf_counter()
    plain = np.array([
        by_quadrature(name, decay, *point)
        for point in zip(ratios[rows], times[columns], strict=True)
    ])  # fmt: skip
    plain_seconds = (time.perf_counter() - begin) / num_sample * result.size
    difference = np.max(np.abs(plain - result[rows, columns]))
    return Measured(result.size, seconds, gibibytes, plain_seconds, float(difference))


def over_density(function: Callable[[float], float], ratio: float) -> float:
    """The mean over the bulk by adaptive quadrature of the density as it is printed."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2

    def integrand(nu: float) -> float:
        density = np.sqrt((high - nu) * (nu - low)) / (2 * np.pi * ratio * nu)
        return density * function(nu)

    return quad(integrand, low, high, epsabs=0, epsrel=1e-10, limit=200)[0]


def over_angle(function: Callable[[float], float], ratio: float) -> float:
    """The same with ν = λ₋ + 4√λ sin²φ, which takes out the roots at the edges: less work for SciPy."""
    low, width = (1 - np.sqrt(ratio)) ** 2, 4 * np.sqrt(ratio)

    def integrand(phi: float) -> float:
        nu = low + width * np.sin(phi) ** 2
        return 4 / np.pi * np.sin(2 * phi) ** 2 * function(nu) / nu

    return quad(integrand, 0, np.pi / 2, epsabs=0, epsrel=1e-10, limit=200)[0]


def by_quadrature(
    name: str, decay: float, ratio: float, t: float, outputs: int = 1, mean: Callable = over_density
) -> float:
    """The loss of the equations, one point at a time."""
    g, s = decay / 2, 4 * RATE * t / outputs

    def mode(nu: float) -> float:
        e = np.exp(-s * (nu + g) / 2)
        r = e if g == 0 else (nu * e + g) / (nu + g)
        return (e**2 + r**2) / (2 * outputs)

    if name == "train_loss":
        return mean(lambda nu: nu * mode(nu), ratio)
    return mean(mode, ratio) + max(1 - 1 / ratio, 0) * mode(0.0 if ratio > 1 else 1.0)


def alone(function: Callable[..., Measured], *arguments: object) -> Measured:
    """The function's value, from a fresh process."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100_000)
    parser.add_argument("--ratios", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=300)
    arguments = parser.parse_args()
    print(f"{'':>10} {'decay':>6} {'points':>8} {'time':>8} {'peak':>9} {'SciPy, extrapolated':>20} "
          f"{'ratio':>8} {'difference':>11}")  # fmt: skip
    for name, decay, divisor in CASES:
        num_times = max(1, arguments.times // divisor)
        found = alone(measure, name, decay, arguments.ratios, num_times, arguments.sample)
        print(
            f"{name:>10} {decay:6g} {found.num_points:8.0e} {found.seconds:7.2f}s "
            f"{found.gibibytes:5.2f} GiB {found.plain_seconds:19.0f}s "
            f"{found.plain_seconds / found.seconds:7.0f}× {found.difference:11.1e}"
        )


if __name__ == "__main__":
    main()
