"""What isomorphic groups have in common."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from lazyrich.groups._group import Group, require_group
from lazyrich.groups._irreps import irreps
from lazyrich.groups._subgroups import centre, commutator_subgroup, quotient


class GroupSummary(NamedTuple):
    """Numbers that isomorphic groups share; groups whose summaries differ are not isomorphic.

    The converse fails from order 16 on.

    Attributes:
        order: number of elements.
        is_abelian: whether all elements commute.
        exponent: the smallest n > 0 with gⁿ neutral for all g.
        element_orders: pairs (order, how many elements have it).
        class_sizes: pairs (size, how many conjugacy classes have it).
        irreps: triples (dimension, kind, how many).
        centre_order: how many elements commute with all.
        commutator_order: size of the subgroup that the commutators generate.
        abelian_invariants: prime powers; the quotient by that subgroup is the product of cyclic groups of
            these orders.
    """

    order: int
    is_abelian: bool
    exponent: int
    element_orders: tuple[tuple[int, int], ...]
    class_sizes: tuple[tuple[int, int], ...]
    irreps: tuple[tuple[int, str, int], ...]
    centre_order: int
    commutator_order: int
    abelian_invariants: tuple[int, ...]


def summary(group: Group) -> GroupSummary:
    """Invariants of a group under isomorphism.

    Example:
        >>> from lazyrich.groups import quaternion, summary
        >>> summary(quaternion()).element_orders, summary(quaternion()).abelian_invariants
        (((1, 1), (2, 1), (4, 6)), (2, 2))
    """
    orders = require_group(group).element_orders
    commutators = commutator_subgroup(group)
    kinds = Counter((irrep.dimension, irrep.kind) for irrep in irreps(group))
    return GroupSummary(
        order=group.order,
        is_abelian=group.is_abelian,
        exponent=int(np.lcm.reduce(orders)),
        element_orders=tuple(sorted(Counter(orders.tolist()).items())),
        class_sizes=tuple(sorted(Counter(map(len, group.conjugacy_classes)).items())),
        irreps=tuple((*key, many) for key, many in sorted(kinds.items())),
        centre_order=len(centre(group)),
        commutator_order=len(commutators),
        abelian_invariants=_invariants(quotient(group, commutators).group),
    )


def character_table(group: Group) -> np.ndarray:
    """The characters, one irrep for each row and one conjugacy class for each column.

    Example:
        >>> from lazyrich.groups import character_table, symmetric
        >>> character_table(symmetric(3)).real.round().astype(int).tolist()
        [[1, 1, 1], [1, -1, 1], [2, 0, -1]]
    """
    first = [members[0] for members in require_group(group).conjugacy_classes]
    return np.array([irrep.character[first] for irrep in irreps(group)])


def _invariants(abelian: Group) -> tuple[int, ...]:
    """Prime powers, by how many elements the powers of each prime make neutral.

    In a product of cyclic groups of orders pᵉ the elements with pʲg = 0 number p to the power Σ min(j, e), so
    going from j − 1 to j multiplies their number by p for each factor with e ≥ j.
    """
    found: list[int] = []
    for p in _primes(abelian.order):
        q, before, factors = 1, 1, []
        while True:
            q *= p
            now = int(np.sum(q % abelian.element_orders == 0))
            if now == before:
                break
            factors.append(round(np.log(now / before) / np.log(p)))  # with e ≥ j
            before = now
        more = [*factors[1:], 0]
        for j, (here, beyond) in enumerate(zip(factors, more, strict=True), 1):
            found += [p**j] * (here - beyond)
    return tuple(sorted(found))


def _primes(n: int) -> list[int]:
    return [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))]
