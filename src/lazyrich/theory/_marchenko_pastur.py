"""The spectrum of a sample covariance: the Marchenko–Pastur law and its Laplace transforms."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lazyrich.core import compute, real, whole
from lazyrich.theory._solution import Solution

NUM_NODES, STEP = 24, 0.4
"""Nodes on each side of the trapezoidal rule below, and its step in units of a Gaussian's width."""


class MarchenkoPastur(Solution):
    r"""Eigenvalues of $\Sigma = X^\top X / N$ for $N$ Gaussian samples in $d = \lambda N$ dimensions.

    $$ p(\nu)\,d\nu = \left(1 - \tfrac1\lambda\right)^{+} \delta_0 +
       \frac{\sqrt{(\lambda_+ - \nu)(\nu - \lambda_-)}}{2\pi\lambda\nu}\,d\nu, \qquad
       \lambda_\pm = (1 \pm \sqrt\lambda)^2 $$

    Symbols:
        $\lambda$ → `aspect_ratio`, $\lambda_\pm$ → `edges`.

    Source:
        marchenko-pastur; linear-grokking, Eq. 6.

    Holds when:
        $d, N \to \infty$ at fixed $\lambda$; entries independent with unit variance.

    Computed as:
        with $\nu = \lambda_- + 4\sqrt\lambda \sin^2\phi$ the bulk is
        $\frac2\pi \int_{-\pi/2}^{\pi/2} \sin^2(2\phi) f(\nu) / \nu \, d\phi$: a periodic integral, for
        which the trapezoidal rule converges geometrically.

    Checked by:
        checks `linear-grokking/eq6`, `linear-grokking/eq8`; `tests/theory/test_marchenko_pastur.py`.

    Args:
        aspect_ratio: λ = dimension / samples, > 0, any shape.

    Example:
        >>> from lazyrich.theory import MarchenkoPastur
        >>> law = MarchenkoPastur(aspect_ratio=4.0)
        >>> law.atom, law.edges
        (np.float64(0.75), (np.float64(1.0), np.float64(9.0)))
    """

    aspect_ratio: Any

    def __init__(self, aspect_ratio: Any):
        self.aspect_ratio = _aspect_ratio(aspect_ratio)

    @property
    def atom(self) -> Any:
        """Weight of the eigenvalue 0."""
        return compute(_atom, self.aspect_ratio)

    @property
    def edges(self) -> tuple[Any, Any]:
        """Smallest and largest eigenvalue of the bulk."""
        return compute(_edges, self.aspect_ratio)

    def density(self, eigenvalue: Any) -> Any:
        """Density of the bulk; 0 outside the edges. The atom at 0 is apart, in `atom`."""
        eigenvalue = real("eigenvalue", eigenvalue, advice="Pass real eigenvalues.")
        return compute(_density, self.aspect_ratio, eigenvalue)

    def expectation(self, function: Callable[[Any], Any], *, num_nodes: int = 256) -> Any:
        """Mean of a smooth function of the eigenvalue, atom included.

        Args:
            function: JAX-traceable and smooth on the bulk; evaluated at 0 too where there is an atom.
            num_nodes: nodes of the rule. The error falls geometrically with it; where the function
                varies over a fraction δ of the bulk's width it takes some 10/√δ nodes.

        Returns:
            The mean, with the shape of `aspect_ratio`.
        """
        n = int(whole("num_nodes", num_nodes, advice="Take 256 or more."))
        return compute(lambda ratio: _expectation(ratio, function, n), self.aspect_ratio, jit=False)

    def laplace(self, s: Any) -> Any:
        r"""$\mathbb{E}[e^{-s\nu}]$, atom included, to rounding for every $s \ge 0$ and λ."""
        return compute(laplace, self.aspect_ratio, _transform_argument(s))

    def weighted_laplace(self, s: Any) -> Any:
        r"""$\mathbb{E}[\nu e^{-s\nu}]$, to rounding for every $s \ge 0$ and λ."""
        return compute(weighted_laplace, self.aspect_ratio, _transform_argument(s))


def _aspect_ratio(value: Any) -> Any:
    return real("aspect_ratio", value, above=0, advice="It is dimension / number of samples.")


def _transform_argument(s: Any) -> Any:
    return real("s", s, at_least=0, advice="The transform is taken at s ≥ 0.")


def _atom(ratio: Any) -> Any:
    return jnp.maximum((ratio - 1) / ratio, 0)


def _edges(ratio: Any) -> tuple[Any, Any]:
    one_plus_root = 1 + jnp.sqrt(ratio)
    return ((ratio - 1) / one_plus_root) ** 2, one_plus_root**2  # 1 − √λ itself cancels near λ = 1


def _density(ratio: Any, nu: Any) -> Any:
    lower, upper = _edges(ratio)
    inside = (nu > lower) & (nu < upper)
    radicand = jnp.where(inside, (upper - nu) * (nu - lower), 1)
    return jnp.where(
        inside, jnp.sqrt(radicand) / (2 * jnp.pi * ratio * jnp.where(inside, nu, 1)), 0
    )


def _expectation(ratio: Any, function: Callable[[Any], Any], num_nodes: int) -> Any:
    ratio = ratio[..., None]
    phi = (jnp.arange(num_nodes, dtype=ratio.dtype) + 0.5) * (jnp.pi / 2 / num_nodes)
    nu = _edges(ratio)[0] + 4 * jnp.sqrt(ratio) * jnp.sin(phi) ** 2
    weight = 2 / num_nodes * jnp.sin(2 * phi) ** 2 / nu
    # f(ν)/ν has a pole at ν = 0, just outside the bulk when λ ≈ 1: its share of the rule's error is
    # known, and together with the atom it is f(0) times what the weights lack of 1
    lacking = 1 - jnp.sum(weight, axis=-1, keepdims=True)
    total = jnp.sum(weight * function(nu), axis=-1, keepdims=True)
    return (total + lacking * function(jnp.zeros_like(ratio)))[..., 0]


def laplace(ratio: Any, s: Any) -> Any:
    """`MarchenkoPastur.laplace` for use inside other formulas: no checks, any dtype."""
    return jnp.exp(log_laplace(ratio, s))


def weighted_laplace(ratio: Any, s: Any) -> Any:
    """`MarchenkoPastur.weighted_laplace` for use inside other formulas."""
    return jnp.exp(log_weighted_laplace(ratio, s))


def log_weighted_laplace(ratio: Any, s: Any) -> Any:
    """Logarithm of E[ν exp(−sν)], finite far below the smallest float."""
    rule = _rule(ratio, s)
    return jnp.log(jnp.sum(rule.weight, axis=-1)) - rule.decay


def log_laplace(ratio: Any, s: Any) -> Any:
    """Logarithm of E[exp(−sν)], atom included; for λ ≤ 1 finite far below the smallest float."""
    rule = _rule(ratio, s)
    bulk = jnp.sum(rule.weight / rule.nu, axis=-1)
    signed_atom = (ratio - 1) / ratio  # not 1 − 1/λ, which cancels near λ = 1
    log_share = _log_share(ratio, rule)
    scaled = bulk + signed_atom * jnp.exp(jnp.where(ratio > 1, 0, rule.decay) + log_share)
    plain = jnp.exp(-rule.decay) * bulk + signed_atom * jnp.exp(log_share)
    over = ratio > 1
    return jnp.where(over, jnp.log(jnp.where(over, plain, 1)),
                     jnp.log(jnp.where(over, 1, scaled)) - rule.decay)  # fmt: skip


class _Rule(NamedTuple):
    """A trapezoidal rule for (2/π)∫ sin²(2φ) exp(−s(ν − λ₋)) f(ν) dφ."""

    nu: Any
    weight: Any
    step: Any
    width: Any
    decay: Any


def _rule(ratio: Any, s: Any) -> _Rule:
    """The nodes φ_k = (k + ½)h, both signs folded together.

    Where A = 4√λ·s is large the integrand is a Gaussian of width A^(−½), so a step in units of it keeps
    the number of nodes fixed for every s; the error is then exp(−π²/STEP²), far below rounding.
    """
    ratio, s = jnp.broadcast_arrays(ratio, s)
    root = jnp.sqrt(ratio)
    lower, _ = _edges(ratio)
    A = 4 * root * s
    whole_period = jnp.pi / 2 / NUM_NODES
    h = jnp.where((STEP / whole_period) ** 2 < A, STEP / jnp.sqrt(jnp.maximum(A, 1)), whole_period)
    h = jax.lax.stop_gradient(h)  # the integral does not depend on the step
    phi = (jnp.arange(NUM_NODES, dtype=h.dtype) + 0.5) * h[..., None]
    sin_squared = jnp.sin(phi) ** 2
    nu = lower[..., None] + 4 * root[..., None] * sin_squared
    weight = (
        h[..., None] * (4 / jnp.pi) * jnp.sin(2 * phi) ** 2 * jnp.exp(-A[..., None] * sin_squared)
    )
    return _Rule(nu, weight, h, A, s * lower)


def _log_share(ratio: Any, rule: _Rule) -> Any:
    """Logarithm of the share w of 1 − 1/λ that the rule for f = 1/ν lacks: the atom and the pole.

    1/ν has poles at φ = ±ip, p = |log λ|/4. If they lie in the strip |Im φ| < c that the rule resolves,
    sinh 2c = 2π/(hA), its error is |1 − 1/λ|/(1 + exp(2πp/h)). Together with the atom (1 − 1/λ)⁺ this is
    (1 − 1/λ)·w with w = 1/(1 + exp(−π log λ/2h)): one formula, smooth through λ = 1. Farther poles leave
    the atom alone.
    """
    log_ratio = jnp.log(ratio)
    resolved = rule.width * rule.step * jnp.sinh(jnp.abs(log_ratio) / 2) < 2 * jnp.pi
    near = jax.nn.log_sigmoid(jnp.pi / 2 * log_ratio / rule.step)
    return jnp.where(resolved, near, jnp.where(ratio > 1, 0, -jnp.inf))
