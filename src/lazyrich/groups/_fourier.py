"""Functions on a group, and their Fourier transforms."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyrich.core import argument_error, items, representable
from lazyrich.groups._group import Group, require_group
from lazyrich.groups._irreps import irreps
from lazyrich.groups._real_irreps import real_irreps


def regular(group: Group) -> np.ndarray:
    r"""The regular representation: matrices that multiply the elements from the left.

    $$ R_h e_g = e_{hg}, \qquad (R_h f)(g) = f(h^{-1}g) $$

    Args:
        group: the group, of order at most 500.

    Returns:
        R_h for each element h, shape (M, M, M), zeros and ones.

    Example:
        >>> from lazyrich.groups import cyclic, regular
        >>> regular(cyclic(3))[1] @ [1.0, 0.0, 0.0]
        array([0., 1., 0.])
    """
    if require_group(group).order > 500:
        raise argument_error("group", "have order at most 500", group, "Use `group.table` itself.")
    h, g = np.indices(group.table.shape)
    R = np.zeros((group.order,) * 3)
    R[h, group.table, g] = 1
    return R


def projectors(group: Group) -> np.ndarray:
    r"""Projectors on the parts of the functions on a group that belong to each irrep.

    $$ \Pi_k = \frac{d_k}{M} \sum_g \overline{\chi_k(g)} R_g, \qquad
       \Pi_k \Pi_l = \delta_{kl} \Pi_k, \qquad \sum_k \Pi_k = 1, \qquad \operatorname{tr} \Pi_k = d_k^2 $$

    Args:
        group: the group, of order at most 500.

    Returns:
        Π_k, shape (irreps, M, M), complex and Hermitian.

    Example:
        >>> from lazyrich.groups import projectors, symmetric
        >>> [round(P.trace().real) for P in projectors(symmetric(3))]
        [1, 1, 4]
    """
    if require_group(group).order > 500:
        raise argument_error("group", "have order at most 500", group, "Use `power` instead.")
    quotients = group.table[:, group.inverses]  # [x, y] = x y⁻¹, the only g that takes y to x
    return np.stack(
        [k.dimension / group.order * k.character.conj()[quotients] for k in irreps(group)]
    )


def fourier(group: Group, function: Any) -> tuple[np.ndarray, ...]:
    r"""The Fourier transform of a function on a group, one matrix for each irrep.

    $$ \hat f_k = \sum_g f(g) \rho_k(g), \qquad \widehat{R_h f}_k = \rho_k(h) \hat f_k, \qquad
       \widehat{(f * h)}_k = \hat f_k \hat h_k \quad\text{for}\quad (f * h)(g) = \sum_a f(a) h(a^{-1}g) $$

    For `cyclic(M)` that is M times NumPy's inverse transform `ifft`.

    Args:
        group: the group.
        function: f, real or complex, shape (…, M).

    Returns:
        The transforms, a tuple over the irreps of arrays of shape (…, d_k, d_k), complex.

    Example:
        >>> from lazyrich.groups import cyclic, fourier
        >>> [complex(f[0, 0].round(12)) for f in fourier(cyclic(2), [3.0, 1.0])]
        [(4+0j), (2+0j)]
    """
    f = _function(group, function)
    entries, _ = _entries(group)
    transform = f @ entries
    blocks = np.split(transform, _starts(group)[1:], axis=-1)
    sizes = [irrep.dimension for irrep in irreps(group)]
    return tuple(block.reshape(*f.shape[:-1], d, d) for block, d in zip(blocks, sizes, strict=True))


def inverse_fourier(group: Group, transforms: Sequence[Any]) -> np.ndarray:
    r"""The function with given Fourier transforms.

    $$ f(g) = \frac1M \sum_k d_k \operatorname{tr}\left(\rho_k(g)^* \hat f_k\right) $$

    Args:
        group: the group.
        transforms: one array of shape (…, d_k, d_k) for each irrep, as `fourier` returns them.

    Returns:
        f, shape (…, M), complex.

    Example:
        >>> from lazyrich.groups import fourier, inverse_fourier, symmetric
        >>> f = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        >>> inverse_fourier(symmetric(3), fourier(symmetric(3), f)).real.round(9).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    every = irreps(require_group(group))
    advice = "Pass what `fourier` returns."
    given = items("transforms", transforms, advice=advice)
    if len(given) != len(every):
        raise argument_error("transforms", f"have {len(every)} entries", len(given), advice)
    blocks = []
    for k, (block, irrep) in enumerate(zip(given, every, strict=True)):
        d = irrep.dimension
        block = _numbers(f"transforms[{k}]", block, advice)
        if block.ndim < 2 or block.shape[-2:] != (d, d):
            shape = f"have the shape (…, {d}, {d})"
            raise argument_error(f"transforms[{k}]", shape, block.shape, advice)
        blocks.append(block.reshape(*block.shape[:-2], d * d))
        if blocks[k].shape[:-1] != blocks[0].shape[:-1]:
            same = f"have the leading axes {blocks[0].shape[:-1]} of the first"
            raise argument_error(f"transforms[{k}]", same, block.shape, advice)
    entries, weights = _entries(group)
    return (np.concatenate(blocks, axis=-1) * weights) @ entries.conj().T


def power(group: Group, function: Any) -> np.ndarray:
    r"""How much of a function belongs to each irrep; the sum is the squared length of the function.

    $$ p_k = \frac{d_k}{M} \lVert \hat f_k \rVert_F^2 = \lVert \Pi_k f \rVert^2, \qquad
       \sum_k p_k = \sum_g |f(g)|^2 $$

    Args:
        group: the group.
        function: f, real or complex, shape (…, M).

    Returns:
        The powers, shape (…, irreps).

    Example:
        >>> from lazyrich.groups import cyclic, power
        >>> power(cyclic(4), [1.0, 0.0, -1.0, 0.0]).round(9).tolist()
        [0.0, 1.0, 0.0, 1.0]
    """
    f = _function(group, function)
    entries, weights = _entries(group)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = weights * np.abs(f @ entries) ** 2
        return representable(np.add.reduceat(squares, _starts(group), axis=-1), function=f)


def real_power(group: Group, function: Any) -> np.ndarray:
    """How much of a function belongs to each real irrep: the powers of its members, added.

    Args:
        group: the group.
        function: f, real or complex, shape (…, M).

    Returns:
        The powers, shape (…, real irreps), in the order of `real_irreps`.

    Example:
        >>> from lazyrich.groups import cyclic, real_power
        >>> real_power(cyclic(4), [1.0, 0.0, -1.0, 0.0]).round(9).tolist()
        [0.0, 2.0, 0.0]
    """
    return _sum_members(group, power(group, function))


def pair_power(group: Group, weights: Any) -> np.ndarray:
    r"""How much of each half of a node's weights belongs to each irrep.

    The node sees a pair of elements one-hot, and its weights are $w = [u; Pv]$ with
    $(Pv)(g) = v(g^{-1})$: the second half is read backwards, so that $v = u$ for the maxima of the energy.

    Args:
        group: the group.
        weights: w, real or complex, shape (…, 2M): one node for each row. Of a first layer of shape
            (2M, K) pass the transpose.

    Returns:
        The powers of u and of v, shape (…, 2, irreps).

    Example:
        >>> from lazyrich.groups import cyclic, pair_power
        >>> pair_power(cyclic(3), [1, 1, 1, 0, 2, 0]).round(4).tolist()
        [[3.0, 0.0, 0.0], [1.3333, 1.3333, 1.3333]]
    """
    M = require_group(group).order
    w = _numbers("weights", weights, "Pass the rows of `first.T`.")
    if w.ndim < 1 or w.shape[-1] != 2 * M:
        advice = "Pass one node for each row, e.g. `first.T`."
        raise argument_error("weights", f"have the shape (…, {2 * M})", w.shape, advice)
    halves = np.stack([w[..., :M], w[..., M:][..., group.inverses]], axis=-2)
    return power(group, halves)


def real_pair_power(group: Group, weights: Any) -> np.ndarray:
    """How much of each half of a node's weights belongs to each real irrep: `pair_power`, members added.

    Args:
        group: the group.
        weights: w, real or complex, shape (…, 2M): one node for each row.

    Returns:
        The powers of both halves, shape (…, 2, real irreps), in the order of `real_irreps`.

    Example:
        >>> from lazyrich.groups import cyclic, real_pair_power
        >>> real_pair_power(cyclic(3), [1, 1, 1, 0, 2, 0]).round(4).tolist()
        [[3.0, 0.0], [1.3333, 2.6667]]
    """
    return _sum_members(group, pair_power(group, weights))


def _sum_members(group: Group, powers: np.ndarray) -> np.ndarray:
    columns = [powers[..., list(real.members)].sum(axis=-1) for real in real_irreps(group)]
    return np.stack(columns, axis=-1)


def _numbers(name: str, value: Any, advice: str) -> np.ndarray:
    try:
        array = np.asarray(value)
    except Exception as error:
        raise argument_error(name, "be an array of numbers", value, advice) from error
    if array.dtype.kind not in "iufc":
        raise argument_error(name, "be an array of real or complex numbers", value, advice)
    if not np.all(np.isfinite(array)):
        worst = array[~np.isfinite(array)].flat[0].item()
        raise argument_error(name, "be finite", worst, "Remove or repair non-finite entries first.")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _function(group: Group, function: Any) -> np.ndarray:
    M = require_group(group).order
    advice = "Pass one value for each element, on the last axis."
    f = _numbers("function", function, advice)
    if f.ndim < 1 or f.shape[-1] != M:
        raise argument_error("function", f"have the shape (…, {M})", f.shape, advice)
    return f


@functools.lru_cache(maxsize=16)
def _entries(group: Group) -> tuple[np.ndarray, np.ndarray]:
    """Entries of all irreps side by side, shape (M, M), and the weight d_k / M of each column."""
    every = irreps(group)
    entries = np.concatenate([k.matrices.reshape(group.order, -1) for k in every], axis=1)
    weights = [np.full(k.dimension**2, k.dimension / group.order) for k in every]
    return entries, np.concatenate(weights)


def _starts(group: Group) -> np.ndarray:
    sizes = [irrep.dimension**2 for irrep in irreps(group)]
    return np.cumsum([0, *sizes[:-1]])
