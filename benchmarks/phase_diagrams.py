"""Fig. 7's three phase diagrams against SciPy's quadrature and root finder, in one run.

    python benchmarks/phase_diagrams.py [--points 100] [--sample 30]

SciPy computes a random sample of the points one by one: `quad` for both losses, `brentq` for when they
fall to the level that the accuracy needs. Its time for all points is extrapolated from the sample; the
largest relative difference of the delays on it is printed. Two rows: the density as it is printed, and
after the substitution that the library uses, which makes it smooth.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import xarray
from losses import RATE, by_quadrature, over_angle, over_density
from scipy.optimize import brentq
from scipy.special import gammaincinv

from lazyrich.experiments.linear_grokking import fig7

LATEST = 1e12
"""A loss that is above the level by then stays above."""


def plain_delay(
    config: fig7.Config, mean: Callable, decay: float, outputs: float, ratio: float
) -> float:
    level = outputs * config.threshold / (2 * gammaincinv(outputs / 2, config.accuracy))

    def time_of(name: str) -> float:
        return falling_time(
            lambda t: by_quadrature(name, decay, ratio, t, int(outputs), mean), level
        )

    test = time_of("test_loss")
    return test if np.isinf(test) else test - time_of("train_loss")


def falling_time(loss: Callable[[float], float], level: float) -> float:
    if loss(0.0) <= level:
        return 0.0
    if loss(LATEST) > level:
        return np.inf
    after = 1.0
    while loss(after) > level:
        after *= 10
    before = after / 10 if after > 1 else 0.0
    return brentq(lambda t: np.log(loss(t) / level), before, after, xtol=1e-12 * after)


def sample_points(
    result: xarray.Dataset, config: fig7.Config, number: int
) -> list[tuple[float, dict]]:
    """Delays that the library found, with the parameters that they belong to."""
    rng = np.random.default_rng(0)
    fixed = {"decay": 0.0, "outputs": 1.0, "ratio": config.aspect_ratio}
    delays = [result[name] for name in result.data_vars if name.startswith("delay_")]
    points = []
    for delay in (delays[i] for i in rng.integers(len(delays), size=number)):
        point = delay[tuple(rng.integers(delay.shape))]
        points.append((float(point), fixed | {d: float(point[d]) for d in delay.dims}))
    return points


def timed_run(config: fig7.Config) -> tuple[xarray.Dataset, float]:
    begin = time.perf_counter()
    result = fig7.diagrams(config)
    return result, time.perf_counter() - begin


def compared(config: fig7.Config, points: list, mean: Callable) -> tuple[float, float]:
    """SciPy's seconds for each point, and the largest relative difference of the delays."""
    begin = time.perf_counter()
    plain = np.array([plain_delay(config, mean, **parameters) for _, parameters in points])
    seconds = (time.perf_counter() - begin) / len(points)
    found = np.array([delay for delay, _ in points])
    positive = np.isfinite(plain) & (plain > 0)
    if not np.array_equal(plain[~positive], found[~positive]):
        raise SystemExit("SciPy and the library disagree on which points are never reached.")
    return seconds, float(np.max(np.abs(found[positive] / plain[positive] - 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--sample", type=int, default=30)
    arguments = parser.parse_args()
    config = fig7.Config(num_points=arguments.points, learning_rate=RATE)
    (result, with_compiling), (_, without) = timed_run(config), timed_run(config)
    total = sum(result[name].size for name in result.data_vars if name.startswith("delay_"))
    print(f"three diagrams, {total} points: {with_compiling:.2f} s, {without:.2f} s once compiled")
    points = sample_points(result, config, arguments.sample)
    print(f"SciPy, extrapolated from {len(points)} points drawn at random:")
    for label, mean in (("density as printed", over_density), ("substituted", over_angle)):
        seconds, difference = compared(config, points, mean)
        seconds *= total
        print(f"  {label:>18}: {seconds:6.0f} s, ratio {seconds / with_compiling:.0f}×, once compiled "
              f"{seconds / without:.0f}×; largest relative difference {difference:.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
