"""Irreps from multiplication tables: time, accuracy, and how both grow with the order.

    python benchmarks/groups.py [--rounds 3] [--largest 720]

Every group is decomposed from nothing (past the cache), and of all rounds the fastest counts. Beside it
stand the eigenvectors of one random Hermitian matrix of the group's order, the size that the problem has
before it is restricted to cosets; the rest of the time forms the matrices, brings them to their basis and
verifies them. "Violation" is the largest error of the orthogonality relations over all entries of all irreps.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import groups
from lazyrich.groups import _irreps
from lazyrich.groups._decompose import violation

CASES = {
    "cyclic, 71": lambda: groups.cyclic(71),
    "cyclic, 200": lambda: groups.cyclic(200),
    "two to the 7, 128": lambda: groups.product(*[groups.cyclic(2)] * 7),
    "dihedral, 200": lambda: groups.dihedral(100),
    "dicyclic, 200": lambda: groups.dicyclic(50),
    "S4, 24": lambda: groups.symmetric(4),
    "A5, 60": lambda: groups.alternating(5),
    "S5, 120": lambda: groups.symmetric(5),
    "S5 × Z3, 360": lambda: groups.product(groups.symmetric(5), groups.cyclic(3)),
    "S6, 720": lambda: groups.symmetric(6),
}


def fastest(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def one_matrix(order: int) -> Callable[[], Any]:
    parts = np.random.default_rng(0).standard_normal((2, order, order))
    X = parts[0] + 1j * parts[1]
    return lambda: np.linalg.eigh(X + X.conj().T)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--largest", type=int, default=720)
    options = parser.parse_args()
    print("| group, order | table, checked | irreps | one eigenproblem | violation | largest d |")
    print("|---|---|---|---|---|---|")
    for name, build in CASES.items():
        group = build()
        if group.order > options.largest:
            continue
        table = fastest(build, options.rounds)
        seconds = fastest(lambda: _irreps._cached.__wrapped__(group), options.rounds)  # noqa: B023
        plain = fastest(one_matrix(group.order), options.rounds)
        every = groups.irreps(group)
        error = violation(group, [irrep.matrices for irrep in every])
        largest = max(irrep.dimension for irrep in every)
        print(
            f"| {name} | {table:.4f} s | {seconds:.3f} s | {plain:.3f} s | {error:.1e} | {largest} |"
        )


if __name__ == "__main__":
    main()
