"""Implicit against explicit gradient flow, where one unit rests in a narrow valley: Fig. 4H of saddles.

python benchmarks/gradient_flow.py
"""

import argparse
import time

import numpy as np

from lazyrich import simulate
from lazyrich.experiments.saddles import fig4h


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=120_000, help="of descent that the flow spans")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    config = fig4h.PRESETS["paper"]
    training = fig4h.PANEL.training(config)
    steps = simulate.even_steps(arguments.steps, config.num_records)
    seconds, losses = {}, {}
    for implicit in (False, True):
        taken = []
        for _ in range(arguments.rounds + 1):  # the first compiles
            start = time.perf_counter()
            run = simulate.gradient_flow(
                training, steps, learning_rate=config.learning_rate, seeds=[0], implicit=implicit
            )
            taken.append(time.perf_counter() - start)
        seconds[implicit], losses[implicit] = min(taken[1:]), run.loss.values
        name = "implicit" if implicit else "explicit"
        print(f"{name}: {seconds[implicit]:.1f} s for a seed, {taken[0]:.1f} s with compiling")
    gap = np.max(np.abs(losses[True] / losses[False] - 1))
    print(f"ratio {seconds[False] / seconds[True]:.1f}, largest relative difference {gap:.0e}")


if __name__ == "__main__":
    main()
