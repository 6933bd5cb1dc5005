"""A finite group as its multiplication table."""

import dataclasses
import functools
from typing import Any

import numpy as np

from lazyrich.core import ArgumentError, argument_error

_ADVICE = "Pass a table with table[a, b] = ab, the elements numbered from 0."


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Group:
    """A finite group, its elements numbered 0, 1, …, M − 1.

    The order of multiplication, here and in all of `lazyrich.groups`: `table[a, b]` is ab, and where elements
    are functions (permutations, matrices) ab means *first b, then a*, as (ab)(x) = a(b(x)). Representations
    keep the order: ρ(ab) = ρ(a)ρ(b).

    The table is checked: whole numbers, closed, an identity, inverses, associative. Groups are equal, and
    hash equal, when their tables are; so a group can be the key of a cache or a static argument of `jit`.

    Args:
        table: the multiplication table, shape (M, M), entries 0 to M − 1.
        name: what to call the group in messages and figures; no part of equality.

    Example:
        >>> from lazyrich.groups import Group
        >>> group = Group([[0, 1, 2], [1, 2, 0], [2, 0, 1]], name="Z3")
        >>> group, group.order, group.inverses.tolist()
        (Group Z3 of order 3, 3, [0, 2, 1])
    """

    table: np.ndarray
    name: str = ""

    def __post_init__(self):
        table = _whole_table(self.table)
        identity = _identity(table)
        _require_inverses(table, identity)
        _require_associative(table)
        table.flags.writeable = False
        object.__setattr__(self, "table", table)
        if not isinstance(self.name, str):
            raise argument_error("name", "be a string", self.name, 'Pass e.g. name="Z7".')

    @property
    def order(self) -> int:
        """How many elements there are, M."""
        return self.table.shape[0]

    @functools.cached_property
    def identity(self) -> int:
        """Number of the neutral element; 0 in every group that this library builds."""
        return _identity(self.table)

    @functools.cached_property
    def inverses(self) -> np.ndarray:
        """Number of each element's inverse, shape (M,)."""
        return _frozen(np.argmax(self.table == self.identity, axis=1))

    @functools.cached_property
    def is_abelian(self) -> bool:
        """Whether ab = ba for all a and b."""
        return bool(np.array_equal(self.table, self.table.T))

    @functools.cached_property
    def element_orders(self) -> np.ndarray:
        """The smallest n > 0 with g to the power n neutral, for each element g, shape (M,)."""
        orders, power = np.zeros(self.order, int), np.arange(self.order)
        for n in range(1, self.order + 1):
            orders[(power == self.identity) & (orders == 0)] = n
            if orders.all():
                break
            power = self.table[power, np.arange(self.order)]
        return _frozen(orders)

    @functools.cached_property
    def generators(self) -> tuple[int, ...]:
        """A small generating set: the smallest element not yet generated, until nothing is left."""
        return tuple(_generators(self.table, [self.identity]))

    @functools.cached_property
    def conjugacy_classes(self) -> tuple[tuple[int, ...], ...]:
        """The classes {hgh⁻¹}, each increasing, in the order of their smallest elements."""
        smallest = self._class_representatives
        return tuple(
            tuple(np.flatnonzero(smallest == g).tolist()) for g in np.unique(smallest).tolist()
        )

    @functools.cached_property
    def class_of(self) -> np.ndarray:
        """Number of the conjugacy class of each element, shape (M,)."""
        return _frozen(np.unique(self._class_representatives, return_inverse=True)[1])

    @functools.cached_property
    def _class_representatives(self) -> np.ndarray:
        conjugates = self.table[self.table, self.inverses[:, None]]  # [h, g] = h g h⁻¹
        return conjugates.min(axis=0)

    def multiply(self, a: Any, b: Any) -> Any:
        """The product ab of element numbers, or of arrays of them that broadcast."""
        product = self.table[self._elements("a", a), self._elements("b", b)]
        return int(product) if product.ndim == 0 else product

    def _elements(self, name: str, value: Any) -> np.ndarray:
        return element_numbers(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self is other or np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.order, self.table.tobytes()))

    def __reduce__(self):
        # Rebuilt and not copied: a copied hash would be another process's, a copied table writeable.
        return Group, (np.array(self.table), self.name)

    def __repr__(self) -> str:
        return f"Group {self.name} of order {self.order}".replace("  ", " ")


def element_numbers(group: Group, name: str, value: Any) -> np.ndarray:
    """Element numbers of a group as an integer array, checked."""
    array = np.asarray(value)
    advice = f"The elements of this group are numbered 0 to {group.order - 1}."
    if array.dtype.kind not in "iu":
        raise argument_error(name, "be a number of an element or an array of them", value, advice)
    wrong = array[(array < 0) | (array >= group.order)]
    if wrong.size:
        raise argument_error(name, f"be ≥ 0 and < {group.order}", int(wrong.flat[0]), advice)
    return array


def require_group(group: Any, name: str = "group") -> Group:
    """The argument itself, if it is a group."""
    if not isinstance(group, Group):
        advice = "Build one, e.g. groups.cyclic(7), or groups.Group(table) from a table."
        raise argument_error(name, "be a Group", group, advice)
    return group


def generated(table: np.ndarray, generators: list[int]) -> np.ndarray:
    """Which elements are products of generators (repeated multiplication from the right)."""
    reached = np.zeros(table.shape[0], bool)
    new = np.array(generators, int)
    while new.size:
        reached[new] = True
        products = np.unique(table[new][:, generators])
        new = products[~reached[products]]
    return reached


def _generators(table: np.ndarray, known: list[int]) -> list[int]:
    generators: list[int] = []
    reached = generated(table, known)
    while not reached.all():
        generators.append(int(np.argmin(reached)))
        reached = generated(table, known + generators)
    return generators


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _whole_table(value: Any) -> np.ndarray:
    try:
        table = np.asarray(value)
    except Exception as error:
        raise argument_error(
            "table", "be a square array of whole numbers", value, _ADVICE
        ) from error
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise argument_error("table", "have the shape (M, M)", table.shape, _ADVICE)
    if table.dtype.kind not in "iuf":
        raise argument_error("table", "consist of whole numbers", value, _ADVICE)
    wrong = np.argwhere(~(np.isfinite(table) & (table == np.floor(table))))
    if wrong.size:
        a, b = wrong[0].tolist()
        raise argument_error(f"table[{a}, {b}]", "be a whole number", table[a, b].item(), _ADVICE)
    _require_closed(table)
    return table.astype(np.int64)


def _require_closed(table: np.ndarray) -> None:
    order = table.shape[0]
    wrong = np.argwhere((table < 0) | (table >= order))
    if wrong.size:
        a, b = wrong[0].tolist()
        requirement = f"be an element, 0 to {order - 1} (closure)"
        raise argument_error(f"table[{a}, {b}]", requirement, table[a, b].item(), _ADVICE)


def _identity(table: np.ndarray) -> int:
    every = np.arange(table.shape[0])
    neutral = np.flatnonzero(
        np.all(table == every, axis=1) & np.all(table == every[:, None], axis=0)
    )  # at most one can be
    if not neutral.size:
        raise ArgumentError(
            "`table` must have an identity, an element e with table[e, b] = b and table[a, e] = a for all "
            f"a and b, got none among {table.shape[0]}. {_ADVICE}"
        )
    return int(neutral[0])


def _require_inverses(table: np.ndarray, identity: int) -> None:
    right = table == identity
    lacking = np.flatnonzero(~np.any(right & right.T, axis=1))
    if lacking.size:
        raise ArgumentError(
            f"`table` must have an inverse b of every element a, table[a, b] = table[b, a] = {identity}, "
            f"got none for the element {lacking[0]}. {_ADVICE}"
        )


def _require_associative(table: np.ndarray) -> None:
    """Light's test: elements b with (ab)c = a(bc) for all a, c form a closed set; generators suffice."""
    for b in _generators(table, [_identity(table)]):
        if not np.array_equal(table[table[:, b]], table[:, table[b]]):
            break
    else:
        return
    a, b, c = _first_offending_triple(table)
    left, right = table[table[a, b], c], table[a, table[b, c]]
    raise ArgumentError(
        f"`table` must be associative, got (ab)c = {left} and a(bc) = {right} for (a, b, c) = {(a, b, c)}. "
        f"{_ADVICE}"
    )


def _first_offending_triple(table: np.ndarray) -> tuple[int, int, int]:
    for a in range(table.shape[0]):
        wrong = np.argwhere(table[table[a]] != table[a][table])
        if wrong.size:
            return a, int(wrong[0, 0]), int(wrong[0, 1])
    raise AssertionError("Light's test failed although the table is associative")
