"""Exponentials of symmetric matrices, differentiable where eigenvalues coincide."""

import functools
from typing import Any

import jax
import jax.numpy as jnp


def propagate_in_basis(basis: tuple[Any, Any], start: Any, tau: Any) -> Any:
    """exp(τA)·B for a symmetric A given by eigenvalues and eigenvectors, shape (…τ, n, m)."""
    lam, V = basis
    growth = jnp.exp(tau[..., None] * lam)
    return V @ (growth[..., None] * (V.T @ start))


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def propagate(matrix: Any, start: Any, tau: Any, largest: float = jnp.inf) -> Any:
    """exp(τA)·B for a symmetric A, shape (n, n), and B, shape (n, m), at times τ of any shape.

    Eigenvalues above `largest` count as that: with 0, what rounding leaves above zero does not grow.
    """
    lam, V = jnp.linalg.eigh(matrix)
    return propagate_in_basis((jnp.minimum(lam, largest), V), start, tau)


@propagate.defjvp
def _propagate_jvp(largest: float, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Daleckii and Krein: dA enters through the divided differences of the exponential."""
    matrix, start, tau = primals
    d_matrix, d_start, d_tau = tangents
    lam, V = jnp.linalg.eigh(matrix)
    lam = jnp.minimum(lam, largest)
    growth, c = jnp.exp(tau[..., None] * lam), V.T @ start
    gap, most = jnp.abs(lam[:, None] - lam), jnp.maximum(lam[:, None], lam)
    x = tau[..., None, None] * gap
    share = jnp.where(x > 0, -jnp.expm1(-x) / jnp.where(x > 0, x, 1), 1)
    divided = tau[..., None, None] * jnp.exp(tau[..., None, None] * most) * share
    symmetric = V.T @ (d_matrix + d_matrix.T) @ V / 2
    turned = (divided * symmetric) @ c
    rate = (d_tau[..., None] * lam * growth)[..., None] * c
    moved = turned + growth[..., None] * (V.T @ d_start) + rate
    return V @ (growth[..., None] * c), V @ moved
