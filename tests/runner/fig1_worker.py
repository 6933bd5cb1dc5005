"""Runs the real Fig. 1 of linear-grokking at a toy size; prints which modules were loaded in the end."""

import dataclasses
import json
import sys

from lazyrich import experiments

ID = "linear-grokking/fig1"


def tiny():
    """The experiment with a preset that takes seconds, most of which is compiling."""
    real = experiments.get(ID)
    small = dataclasses.replace(
        real.presets["quick"], input_dimension=20, delay_ratios=(0.5, 0.9), num_test=10, num_seeds=4,
        num_curve_seeds=4, seeds_per_chunk=1,
    )  # fmt: skip
    return dataclasses.replace(real, presets={"quick": small})


def main():
    from lazyrich.cli import main

    found = {ID: tiny()}
    experiments._registry = lambda: found
    code = main(sys.argv[2:])
    with open(sys.argv[1], "w") as file:
        json.dump(sorted(sys.modules), file)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
