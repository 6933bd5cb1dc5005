"""Character tables of some groups, from textbooks, at many digits."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich import groups
from lazyrich.checks.accuracy._grid import mp

GROUPS_IN_WORDS = "Z1, Z2, Z7, Z12, Z97, Z4 × Z6, D3, D8, D15, Dic2, Dic3, Dic5, Z7 ⋊ Z3, S4, A5"


@functools.cache
def known_groups() -> tuple["groups.Group", ...]:
    """The groups whose characters are known here."""
    frobenius = groups.semidirect(groups.cyclic(7), groups.cyclic(3), lambda h, n: n * 2**h % 7)
    return (
        *(groups.cyclic(n) for n in (1, 2, 7, 12, 97)),
        groups.product(groups.cyclic(4), groups.cyclic(6)),
        *(groups.dihedral(n) for n in (3, 8, 15)),
        *(groups.dicyclic(n) for n in (2, 3, 5)),
        frobenius,
        groups.symmetric(4),
        groups.alternating(5),
    )


@functools.cache
def characters(group: "groups.Group") -> np.ndarray:
    """The value of each character at each element, in the order of `groups.irreps`; mpmath numbers.

    Rows are put in this order by their doubles, so an error of the library's is not hidden.
    """
    found = _table(group)
    rough = found.astype(complex)
    shipped = np.array([irrep.character for irrep in groups.irreps(group)])
    distance = np.abs(shipped[:, None] - rough[None]).max(-1)
    order = np.argmin(distance, axis=1)
    if sorted(order.tolist()) != list(range(len(order))):
        raise AssertionError(f"two irreps of {group!r} have the same nearest character")
    return found[order]


def _rows(order: int, *functions: Callable[[int], Any]) -> np.ndarray:
    return np.array([[mp.mpmathify(f(g)) for g in range(order)] for f in functions], dtype=object)


def _turn(numerator: int, denominator: int) -> Any:
    """A root of unity."""
    return mp.expjpi(mp.mpf(2 * (numerator % denominator)) / denominator)


def _table(group: "groups.Group") -> np.ndarray:
    kind, M = group.name, group.order
    if kind == "Z4 × Z6":
        return _rows(
            M, *(lambda g, j=j, k=k: _turn(j * (g // 6), 4) * _turn(k * (g % 6), 6)
                 for j in range(4) for k in range(6))
        )  # fmt: skip
    if kind == "Z7 ⋊ Z3":
        return _frobenius()
    if kind[0] == "Z":
        return _rows(M, *(lambda g, k=k: _turn(k * g, M) for k in range(M)))
    if kind.startswith("Dic"):
        return _flips(M, quarter=M // 4)
    if kind[0] == "D":
        return _flips(M)
    return _permutations(group)


def _flips(M: int, quarter: int = 0) -> np.ndarray:
    """Dihedral groups, and with `quarter` dicyclic ones: element r + (M/2)s is aʳxˢ."""
    n = M // 2
    lines: list[Callable[[int], Any]] = [lambda g: 1, lambda g: (-1) ** (g // n)]
    if n % 2 == 0:
        x = mp.mpc(0, 1) if quarter % 2 else 1  # x² = aⁿᐟ² is −1 here if that is an odd power
        lines += [lambda g: (-1) ** g * x ** (g // n), lambda g: (-1) ** g * (-x) ** (g // n)]
    planes = [
        lambda g, k=k: 2 * _turn(k * g, n).real if g < n else 0 for k in range(1, (n + 1) // 2)
    ]
    return _rows(M, *lines, *planes)


def _frobenius() -> np.ndarray:
    """Z7 ⋊ Z3; element (n, h) is 3n + h, and squares modulo 7 are 1, 2, 4."""

    def plane(g: int, sign: int) -> Any:
        n, h = divmod(g, 3)
        if h:
            return 0
        return 3 if n == 0 else mp.mpc(-1, sign * (1 if n in (1, 2, 4) else -1) * mp.sqrt(7)) / 2

    lines = [lambda g, k=k: _turn(k * (g % 3), 3) for k in range(3)]
    return _rows(21, *lines, lambda g: plane(g, 1), lambda g: plane(g, -1))


def _permutations(group: "groups.Group") -> np.ndarray:
    """S4 and A5, by the order of an element and the size of its class."""
    sizes = np.array([len(members) for members in group.conjugacy_classes])
    order, size = group.element_orders, sizes[group.class_of]
    if group.order == 24:
        columns = {(1, 1): 0, (2, 6): 1, (2, 3): 2, (3, 8): 3, (4, 6): 4}
        table = [
            [1, 1, 1, 1, 1],
            [1, -1, 1, 1, -1],
            [2, 0, 2, -1, 0],
            [3, 1, -1, 0, -1],
            [3, -1, -1, 0, 1],
        ]
        return _rows(
            24, *(lambda g, row=row: row[columns[int(order[g]), int(size[g])]] for row in table)
        )
    golden, first = (1 + mp.sqrt(5)) / 2, int(np.argmax(order == 5))
    near = group.class_of == group.class_of[first]

    def column(g: int) -> int:
        return {1: 0, 2: 1, 3: 2, 5: 3 if near[g] else 4}[int(order[g])]

    table = [
        [1, 1, 1, 1, 1], [3, -1, 0, golden, 1 - golden], [3, -1, 0, 1 - golden, golden],
        [4, 0, 1, -1, -1], [5, 1, -1, 0, 0],
    ]  # fmt: skip
    return _rows(60, *(lambda g, row=row: row[column(g)] for row in table))
