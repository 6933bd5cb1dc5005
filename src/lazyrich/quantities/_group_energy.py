"""The energy of features for all products in a group, through the group's Fourier transform."""

import collections
import functools
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, flag, moderate, number, real, representable, untraced
from lazyrich.groups import Group, irreps


class GroupEnergy:
    r"""`feature_energy` for all $M^2$ products in a group and an activation $ax + bx^2$: exact and fast.

    With unitary Fourier coefficients $\hat f_k = \sqrt{d_k/M} \sum_g f(g)\rho_k(g)$ of both halves of a node,
    $w = [w_1; w_2]$, the energy is a sum over the irreps,

    $$ \mathcal{E}(w) = 2 b^2 M \sum_{k \ne 0} \frac{1}{d_k} \bigl\| \hat w_{1,k} \hat w_{2,k} \bigr\|_F^2,
       \qquad \|w\|^2 = \sum_k \|\hat w_{1,k}\|_F^2 + \|\hat w_{2,k}\|_F^2 $$

    Neither the linear part of the activation nor the squares $w_{1,a}^2$ and $w_{2,b}^2$ enter, because every
    element is a first (and a second) factor once for every product. A gradient costs $\sum_k d_k^3$
    multiplications instead of $M^2$.

    Args:
        group: the group.
        quadratic: b, not 0.

    Example:
        >>> import numpy as np
        >>> from lazyrich.groups import symmetric
        >>> from lazyrich.quantities import GroupEnergy
        >>> energy = GroupEnergy(symmetric(3))
        >>> sign = np.where(energy.group.element_orders == 2, -1, 1) / np.sqrt(12)
        >>> float(energy.value(np.concatenate([sign, sign])).round(12))
        3.0
    """

    def __init__(self, group: Group, quadratic: Any = 1.0):
        if not isinstance(group, Group):
            raise argument_error("group", "be a group", group, "Pass e.g. groups.cyclic(7).")
        self.group = group
        self.quadratic = number("quadratic", quadratic, advice="Pass b of the activation ax + bx².")
        if self.quadratic == 0:
            raise argument_error(
                "quadratic", "not be 0", 0.0, "A linear activation has no energy on all products."
            )
        moderate("quadratic", self.quadratic)
        scale = 2 * self.quadratic**2 * group.order
        self._plans = {whole: _plan(group, scale, whole) for whole in (False, True)}
        self.transform = self._plans[True].transform

    def plan(self, is_complex: bool) -> "_Plan":
        """What `energy_and_gradient` needs; for real nodes one of each pair of conjugate irreps is enough."""
        return self._plans[flag("is_complex", is_complex)]

    @untraced
    def value(self, weights: Any) -> np.ndarray:
        """The energies of nodes of shape (..., 2M), real or complex."""
        return self._evaluate(weights)[0]

    @untraced
    def gradient(self, weights: Any) -> np.ndarray:
        """The gradients, shape (..., 2M); for complex nodes the direction of steepest ascent."""
        return self._evaluate(weights)[1]

    def _evaluate(self, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        w = self._checked(np.asarray(weights))
        plan = self.plan(np.iscomplexobj(w))
        with np.errstate(over="ignore", invalid="ignore"):
            found = group_energy_and_gradient(w, plan.transform, plan.factors, plan.layout, np)
        return representable(found, weights=w)

    @untraced
    def hessian(self, weights: Any) -> np.ndarray:
        """The Hessians of real nodes, shape (..., 2M, 2M)."""
        w = real(
            "weights", weights, advice="Pass real nodes; for complex ones use `FeatureEnergy`."
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return representable(self._hessian(self._checked(w)), weights=w)

    def _hessian(self, w: np.ndarray) -> np.ndarray:
        M, table, b = self.group.order, self.group.table, self.quadratic
        w1, w2 = w[..., :M], w[..., M:]
        divide = table[self.group.inverses]  # [a, h] = a⁻¹h
        quotients = table[:, self.group.inverses]  # [h, b] = hb⁻¹
        J1, J2 = 2 * b * w2[..., divide], 2 * b * w1[..., quotients].swapaxes(-1, -2)
        J = np.concatenate([J1, J2], axis=-2)  # (..., 2M, M): derivatives of the class sums
        J = J - J.mean(-1, keepdims=True)
        z = np.sum(w1[..., :, None] * J1, axis=-2)
        z = z - z.mean(-1, keepdims=True)
        H = J @ J.swapaxes(-1, -2)
        cross = 2 * b * z[..., table]
        H[..., :M, M:] += cross
        H[..., M:, :M] += cross.swapaxes(-1, -2)
        return H

    @untraced
    def blocks(self, weights: Any) -> np.ndarray:
        """Unitary Fourier coefficients of both halves, shape (..., 2, M): irreps in order, by rows."""
        w = np.asarray(weights)
        kind = np.complex128 if np.iscomplexobj(w) else np.float64
        halves = self._checked(w).astype(kind).reshape(*w.shape[:-1], 2, self.group.order)
        return halves @ self.transform.T

    @untraced
    def from_blocks(self, blocks: Any) -> np.ndarray:
        """Nodes of shape (..., 2M) from their Fourier coefficients; complex."""
        C, M = np.asarray(blocks), self.group.order
        self._checked_parts("blocks", C)
        if C.ndim < 2 or C.shape[-2:] != (2, M):
            raise argument_error("blocks", f"have the shape (..., 2, {M})", C.shape)
        halves = C @ self.transform.conj()
        return halves.reshape(*halves.shape[:-2], 2 * self.group.order)

    @untraced
    def matrices(self, weights: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Fourier matrices of both halves, irrep by irrep, each of shape (..., d, d)."""
        blocks, start, found = self.blocks(weights), 0, []
        for irrep in irreps(self.group):
            d = irrep.dimension
            part = blocks[..., start : start + d * d].reshape(*blocks.shape[:-1], d, d)
            found.append((part[..., 0, :, :], part[..., 1, :, :]))
            start += d * d
        return found

    @staticmethod
    def _checked_parts(name: str, w: np.ndarray) -> None:
        for part in (np.real(w), np.imag(w)) if np.iscomplexobj(w) else (w,):
            real(name, part, advice="Pass nodes without NaN.")

    def _checked(self, w: np.ndarray) -> np.ndarray:
        self._checked_parts("weights", w)
        if w.ndim < 1 or w.shape[-1] != 2 * self.group.order:
            raise argument_error(
                "weights", f"have the shape (..., {2 * self.group.order})", w.shape
            )
        return w


class _Plan(NamedTuple):
    """Number and dimension of irreps, rows of the unitary Fourier matrix, the factor of each irrep."""

    layout: tuple[tuple[int, int], ...]
    transform: np.ndarray
    factors: tuple[np.ndarray, ...]


def group_energy_and_gradient(
    weights: Any, transform: Any, factors: Any, layout: tuple[tuple[int, int], ...], xp: Any
) -> tuple[Any, Any]:
    """Energy and gradient of nodes (..., 2M); `xp` is NumPy or jax.numpy. No checks, any dtype."""
    halves = weights.reshape(*weights.shape[:-1], 2, weights.shape[-1] // 2)
    if xp.iscomplexobj(weights):
        energy, g = _block_energy(halves @ transform.T, layout, factors, xp)
        return energy, (g @ xp.conj(transform)).reshape(weights.shape)
    # products of real matrices: a real times a complex one would be made complex first
    blocks = (halves @ transform.real.T) + 1j * (halves @ transform.imag.T)
    energy, g = _block_energy(blocks, layout, factors, xp)
    return energy, (g.real @ transform.real + g.imag @ transform.imag).reshape(weights.shape)


def _block_energy(
    blocks: Any, layout: tuple[tuple[int, int], ...], factors: Any, xp: Any
) -> tuple[Any, Any]:
    """Energy and gradient of Fourier coefficients (..., 2, M)."""
    energy, gradients, start = 0.0, [], 0
    for (n, d), factor in zip(layout, factors, strict=True):
        part = blocks[..., start : start + n * d * d]
        start += n * d * d
        if d == 1:  # elementwise: the case of Abelian groups
            A, B = part[..., 0, :], part[..., 1, :]
            a, b = (value.real**2 + value.imag**2 for value in (A, B))
            energy = energy + xp.sum(factor * a * b, -1)
            gradients.append(xp.stack([2 * factor * b * A, 2 * factor * a * B], -2))
            continue
        part = part.reshape(*part.shape[:-1], n, d, d)
        A, B = part[..., 0, :, :, :], part[..., 1, :, :, :]
        C = _product(A, B)
        energy = energy + xp.sum(factor * xp.sum(C.real**2 + C.imag**2, (-1, -2)), -1)
        scale = 2 * factor[:, None, None]
        both = [scale * _product(C, _adjoint(B, xp)), scale * _product(_adjoint(A, xp), C)]
        gradients.append(xp.stack([g.reshape(*g.shape[:-3], n * d * d) for g in both], -2))
    return energy, xp.concatenate(gradients, -1)


def _product(A: Any, B: Any) -> Any:
    """Products of many small matrices; as sums of d outer products they vectorise, as calls of BLAS not."""
    C = A[..., :, 0, None] * B[..., 0, None, :]
    for k in range(1, A.shape[-1]):
        C = C + A[..., :, k, None] * B[..., k, None, :]
    return C


def _adjoint(matrix: Any, xp: Any) -> Any:
    return xp.conj(xp.swapaxes(matrix, -1, -2))


@functools.lru_cache(maxsize=64)
def _plan(group: Group, scale: float, whole: bool) -> _Plan:
    """All irreps, or one of each conjugate pair with twice its factor; they are ordered by dimension."""
    M = group.order
    chosen = [r for r in irreps(group) if whole or r.conjugate >= r.number]
    layout = [(n, d) for d, n in collections.Counter(r.dimension for r in chosen).items()]
    rows = [np.sqrt(r.dimension / M) * r.matrices.reshape(M, -1).T for r in chosen]
    single = [
        0.0
        if r.number == 0
        else scale / r.dimension * (1 if whole or r.conjugate == r.number else 2)
        for r in chosen
    ]
    ends = np.cumsum([n for n, _ in layout])[:-1]
    return _Plan(tuple(layout), np.concatenate(rows), tuple(np.split(np.array(single), ends)))
