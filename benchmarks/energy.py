"""Ascents of the energy of features: the fast path for groups beside the plain one, in one run.

    python benchmarks/energy.py [--ascents 10000] [--order 71] [--plain 200]
    python benchmarks/energy.py --stability 97 199 397

The fast path climbs the energy of all products through the group's Fourier transform, the plain one over its
M² samples. Both start at the same nodes (the plain one at fewer) and must find the same energies. Then the
same for other groups, and the cost of one gradient against M. Only the first time includes compiling.

With --stability it prints the share p of products, and C = pM/(d² log M), at which maxima become unstable
by their Hessian on random subsets, in cyclic groups of these orders and in two others: the numbers that
`theory.sample_threshold` quotes.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import groups
from lazyrich.checks.li2.survival import STABLE, largest_curvature
from lazyrich.quantities import FeatureEnergy, GroupEnergy
from lazyrich.simulate import energy_ascent
from lazyrich.theory import GroupFeatures


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    return function(), time.perf_counter() - begin


def plain(group: groups.Group) -> FeatureEnergy:
    a, b = np.divmod(np.arange(group.order**2), group.order)
    return FeatureEnergy(np.stack([a, b], 1), group.table[a, b])


def ascents(group: groups.Group, number: int, number_plain: int) -> None:
    starts = np.random.default_rng(0).standard_normal((number, 2 * group.order))
    fast, first = timed(lambda: energy_ascent(GroupEnergy(group), starts))
    _, again = timed(lambda: energy_ascent(GroupEnergy(group), starts))
    found = GroupFeatures(group).classify(fast.weights)
    energy_ascent(plain(group), starts[:number_plain], max_steps=1)  # compiles
    slow, seconds = timed(lambda: energy_ascent(plain(group), starts[:number_plain]))
    same = np.abs(slow.energy / fast.energy[:number_plain] - 1).max()
    print(
        f"| {group.name} | {number} | {first:.2f} s | {again:.2f} s | {fast.steps.mean():.0f} | "
        f"{found.is_maximum.mean():.4f} | {seconds * number / number_plain / again:.0f} | {same:.1e} |",
        flush=True,
    )


def gradients(orders: tuple[int, ...], nodes: int = 256) -> None:
    print("\n| M | fast gradient, one node | plain gradient, one node | ratio |")
    print("|---|---|---|---|")
    for order in orders:
        group = groups.cyclic(order)
        w = np.random.default_rng(0).standard_normal((nodes, 2 * order))
        seconds = []
        for energy in (GroupEnergy(group), plain(group)):
            energy.gradient(w)
            rounds = [timed(lambda e=energy, w=w: e.gradient(w))[1] for _ in range(5)]
            seconds.append(1e6 * min(rounds) / nodes)
        fast, slow = seconds
        print(f"| {order} | {fast:.1f} µs | {slow:.1f} µs | {slow / fast:.0f} |")


def unstable_share(group: groups.Group, family: int, rounds: int) -> float:
    """Where the mean of the largest curvature crosses the check's level, by bisection."""
    nodes = GroupFeatures(group).sample(family, rounds, seed=1)
    low, high = 0.01, 0.99
    for _ in range(7):
        p = (low + high) / 2
        mean = np.mean([largest_curvature(group, w, p, seed) for seed, w in enumerate(nodes)])
        low, high = (low, p) if mean < STABLE else (p, high)
    return (low + high) / 2


def stability(orders: list[int]) -> None:
    print("| group | kind | d | p | C |\n|---|---|---|---|---|")
    others = (groups.dihedral(96), groups.product(groups.symmetric(4), groups.cyclic(8)))
    for group in (*(groups.cyclic(order) for order in orders), *others):
        seen, M = set(), group.order
        for family in GroupFeatures(group).families:
            d = round(
                M / (2 * family.energy)
            )  # conjugate pairs and the quaternionic type count twice
            if (family.kind, d) in seen:
                continue
            seen.add((family.kind, d))
            p = unstable_share(group, family.index, 2 if M > 150 else 4)
            print(
                f"| {group.name} | {family.kind} | {d} | {p:.3f} | {p * M / (d**2 * np.log(M)):.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Ascents of the energy of features.")
    parser.add_argument("--ascents", type=int, default=10_000)
    parser.add_argument("--order", type=int, default=71)
    parser.add_argument("--plain", type=int, default=200)
    parser.add_argument("--stability", type=int, nargs="+")
    arguments = parser.parse_args()
    if arguments.stability:
        stability(arguments.stability)
        return
    print(
        "| group | ascents | first time | again | mean steps | at a maximum | plain / fast | difference |"
    )
    print("|---|---|---|---|---|---|---|---|")
    cyclic = groups.cyclic(arguments.order)
    for group in (cyclic, groups.dihedral(35), groups.symmetric(4), groups.symmetric(5)):
        ascents(group, arguments.ascents, arguments.plain if group.order < 100 else 20)
    gradients((11, 23, 47, 71))


if __name__ == "__main__":
    main()
