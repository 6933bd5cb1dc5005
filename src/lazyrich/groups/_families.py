"""Groups that have names: cyclic, dihedral, dicyclic, and products of groups."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import ArgumentError, argument_error, count
from lazyrich.groups._group import Group, require_group

LARGEST_ORDER = 5040
"""Beyond it a table takes more than 200 MB."""


def cyclic(order: int) -> Group:
    """The whole numbers modulo M under addition, Z_M; element g is the number g.

    Example:
        >>> from lazyrich.groups import cyclic
        >>> cyclic(5).multiply(3, 4)
        2
    """
    order = count("order", order, advice="Pass a whole number such as 7.")
    require_moderate("order", order)
    elements = np.arange(order)
    return Group((elements[:, None] + elements) % order, f"Z{order}")


def product(*factors: Group) -> Group:
    """The direct product of groups: tuples multiplied entry by entry.

    Elements are numbered as a NumPy array of the shape of the orders is, the last factor fastest:
    (a₁, a₂) is a₁ M₂ + a₂.

    Example:
        >>> from lazyrich.groups import cyclic, product
        >>> product(cyclic(2), cyclic(3)).multiply(4, 5)  # (1, 1) + (1, 2) = (0, 0)
        0
    """
    if not factors:
        raise argument_error("factors", "be at least one group", factors, "Pass groups.cyclic(2).")
    for position, factor in enumerate(factors):
        require_group(factor, f"factors[{position}]")
    require_moderate("factors", math.prod(factor.order for factor in factors))
    table = factors[0].table
    for factor in factors[1:]:
        order = table.shape[0] * factor.order
        blocks = table[:, None, :, None] * factor.order + factor.table[None, :, None, :]
        table = blocks.reshape(order, order)
    return Group(table, " × ".join(factor.name or "?" for factor in factors))


def semidirect(normal: Group, acting: Group, action: Any) -> Group:
    r"""The semidirect product of a normal subgroup N and a group H that acts on it.

    $$ (n_1, h_1)(n_2, h_2) = (n_1 \, \phi_{h_1}(n_2), \; h_1 h_2) $$

    The element (n, h) has the number n|H| + h. With the trivial action it is the direct product.

    Args:
        normal: N.
        acting: H.
        action: φ, an array of shape (|H|, |N|) with action[h, n] = φ_h(n), or a function of h and n. Every
            φ_h must be an automorphism of N, and φ_{gh} the map φ_h followed by φ_g.

    Example:
        >>> from lazyrich.groups import cyclic, semidirect
        >>> frobenius = semidirect(cyclic(7), cyclic(3), lambda h, n: n * 2**h % 7)
        >>> frobenius.order, frobenius.is_abelian
        (21, False)
    """
    N, H = require_group(normal, "normal").table, require_group(acting, "acting").table
    phi = _action(normal, acting, action)
    _require_automorphisms(N, phi)
    _require_homomorphism(H, phi)
    order = normal.order * acting.order
    require_moderate("normal", order)
    first = N[:, phi]  # [n₁, h₁, n₂] = n₁ φ_{h₁}(n₂)
    table = first[..., None] * acting.order + H[None, :, None, :]
    name = f"{normal.name or '?'} ⋊ {acting.name or '?'}"
    return Group(table.reshape(order, order), name)


def dihedral(sides: int) -> Group:
    """The symmetries of a regular polygon with n sides, order 2n.

    Element r + n s is r turns after s reflections (0 or 1): the rotations come first, the identity at their
    head, then the reflections.

    Example:
        >>> from lazyrich.groups import dihedral
        >>> dihedral(4).element_orders.tolist()
        [1, 4, 2, 4, 2, 2, 2, 2]
    """
    n = count("sides", sides, advice="Pass a whole number such as 4.")
    require_moderate("sides", 2 * n)
    return Group(_rotations_and_flips(n, square=0), f"D{n}")


def dicyclic(half: int) -> Group:
    """The dicyclic group of order 4n: a of order 2n, x with x² = aⁿ and xax⁻¹ = a⁻¹.

    Element k + 2n s is aᵏxˢ with s = 0 or 1. For n = 1 it is cyclic, for n = 2 the quaternion group.

    Example:
        >>> from lazyrich.groups import dicyclic
        >>> dicyclic(3).element_orders.tolist()
        [1, 6, 3, 2, 3, 6, 4, 4, 4, 4, 4, 4]
    """
    n = count("half", half, advice="Pass a quarter of the order, such as 2.")
    require_moderate("half", 4 * n)
    return Group(_rotations_and_flips(2 * n, square=n), f"Dic{n}")


def quaternion() -> Group:
    """The quaternion group of order 8; its elements are 1, i, −1, −i, j, k, −j, −k.

    Example:
        >>> from lazyrich.groups import quaternion
        >>> i, minus_i, j, k = 1, 3, 4, 5
        >>> quaternion().multiply(i, j) == k, quaternion().multiply(k, j) == minus_i
        (True, True)
    """
    return Group(dicyclic(2).table, "Q8")


def require_moderate(name: str, order: int) -> None:
    """Refuse groups whose table would not fit into memory."""
    if order > LARGEST_ORDER:
        raise ArgumentError(
            f"`{name}` must give a group of order at most {LARGEST_ORDER}, got order {order}. "
            "Use a smaller group."
        )


def _rotations_and_flips(n: int, square: int) -> np.ndarray:
    """Table of aʳxˢ with aⁿ = 1, x² = a to the power `square`, xax⁻¹ = a⁻¹; number r + n s."""
    s, r = np.divmod(np.arange(2 * n), n)
    sign = 1 - 2 * s
    turns = r[:, None] + sign[:, None] * r + square * (s[:, None] & s)
    return turns % n + n * (s[:, None] ^ s)


def _action(normal: Group, acting: Group, action: Any) -> np.ndarray:
    shape = (acting.order, normal.order)
    if isinstance(action, Callable):
        values = [[action(h, n) for n in range(shape[1])] for h in range(shape[0])]
    else:
        values = action
    phi = np.asarray(values)
    advice = "Pass an array with action[h, n] = φ_h(n), or a function of h and n."
    if phi.shape != shape:
        raise argument_error("action", f"have the shape {shape}", phi.shape, advice)
    if phi.dtype.kind not in "iu" or np.any((phi < 0) | (phi >= shape[1])):
        raise argument_error("action", f"consist of elements 0 to {shape[1] - 1}", action, advice)
    return phi.astype(np.int64)


def _require_automorphisms(N: np.ndarray, phi: np.ndarray) -> None:
    for h, image in enumerate(phi):
        wrong = np.argwhere(image[N] != N[np.ix_(image, image)])
        if wrong.size or np.unique(image).size != image.size:
            where = f"; φ(ab) ≠ φ(a)φ(b) at {tuple(wrong[0].tolist())}" if wrong.size else ""
            raise ArgumentError(
                f"`action[{h}]` must be an automorphism of `normal`, got {image.tolist()}{where}. "
                "Pass one-to-one maps that respect multiplication."
            )


def _require_homomorphism(H: np.ndarray, phi: np.ndarray) -> None:
    for g in range(H.shape[0]):
        wrong = np.argwhere(phi[H[g]] != phi[g][phi])
        if wrong.size:
            raise ArgumentError(
                "`action` must satisfy φ_{gh} = φ_g ∘ φ_h, got a difference at "
                f"(g, h, n) = {(g, *wrong[0].tolist())}. Let products act as their factors do in turn."
            )
