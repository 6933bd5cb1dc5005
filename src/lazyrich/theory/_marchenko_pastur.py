"""The spectrum of a sample covariance: the Marchenko–Pastur law."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, real, whole
from lazyrich.theory._laplace import atom, edges, laplace, weighted_laplace
from lazyrich.theory._solution import Solution


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
        return compute(atom, self.aspect_ratio)

    @property
    def edges(self) -> tuple[Any, Any]:
        """Smallest and largest eigenvalue of the bulk."""
        return compute(edges, self.aspect_ratio)

    def density(self, eigenvalue: Any) -> Any:
        """Density of the bulk; 0 outside the edges. The atom at 0 is apart, in `atom`."""
        eigenvalue = real("eigenvalue", eigenvalue, advice="Pass real eigenvalues.")
        return compute(_density, self.aspect_ratio, eigenvalue)

    def cdf(self, eigenvalue: Any) -> Any:
        """Share of eigenvalues up to a value, atom included."""
        eigenvalue = real("eigenvalue", eigenvalue, advice="Pass real eigenvalues.")
        return compute(_cdf, self.aspect_ratio, eigenvalue)

    def moment(self, order: int) -> Any:
        r"""$\mathbb{E}[\nu^k] = \sum_{r<k} \frac{\lambda^r}{r+1} \binom{k}{r}\binom{k-1}{r}$."""
        k = int(whole("order", order, at_least=0, advice="Pass a whole number."))
        terms = [math.comb(k, r) * math.comb(k - 1, r) / (r + 1) for r in range(k)] or [1.0]
        return compute(jnp.polyval, np.array(terms[::-1]), self.aspect_ratio)

    def resolvent(self, shift: Any) -> Any:
        r"""$\mathbb{E}[1/(\nu + g)]$ for $g > 0$, atom included; $-g$ is where the resolvent is taken."""
        shift = real("shift", shift, above=0, advice="Pass g > 0; the law lies at ν ≥ 0.")
        return compute(resolvent, self.aspect_ratio, shift)

    def sample(self, key: Any, shape: tuple[int, ...] = ()) -> Any:
        """Independent eigenvalues by inverting the cdf; `aspect_ratio` must be a single number.

        Args:
            key: from `jax.random.key`.
            shape: the shape of the sample.

        Returns:
            Eigenvalues; exactly 0 with the atom's probability.
        """
        if np.ndim(self.aspect_ratio):
            raise argument_error("aspect_ratio", "be a single number to sample", self.aspect_ratio)
        with jax.enable_x64(True):
            share = jax.random.uniform(key, shape, dtype=float)
        return compute(_quantile, self.aspect_ratio, np.asarray(share))

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


def _density(ratio: Any, nu: Any) -> Any:
    lower, upper = edges(ratio)
    inside = (nu > lower) & (nu < upper)
    radicand = jnp.where(inside, (upper - nu) * (nu - lower), 1)
    return jnp.where(
        inside, jnp.sqrt(radicand) / (2 * jnp.pi * ratio * jnp.where(inside, nu, 1)), 0
    )


def _expectation(ratio: Any, function: Callable[[Any], Any], num_nodes: int) -> Any:
    ratio = ratio[..., None]
    phi = (jnp.arange(num_nodes, dtype=ratio.dtype) + 0.5) * (jnp.pi / 2 / num_nodes)
    nu = edges(ratio)[0] + 4 * jnp.sqrt(ratio) * jnp.sin(phi) ** 2
    weight = 2 / num_nodes * jnp.sin(2 * phi) ** 2 / nu
    # f(ν)/ν has a pole at ν = 0, just outside the bulk when λ ≈ 1: its share of the rule's error is
    # known, and together with the atom it is f(0) times what the weights lack of 1
    lacking = 1 - jnp.sum(weight, axis=-1, keepdims=True)
    total = jnp.sum(weight * function(nu), axis=-1, keepdims=True)
    return (total + lacking * function(jnp.zeros_like(ratio)))[..., 0]


def _cdf(ratio: Any, nu: Any) -> Any:
    """The angle-weighted area under the semicircle-like density, in closed form.

    With ν = λ₋ + 4√λ sin²φ, ∫(4/π) sin²(2φ)/ν dφ splits into elementary angles.
    """
    low, high = edges(ratio)
    root = jnp.sqrt(ratio)
    sin_squared = jnp.clip((nu - low) / (4 * root), 0, 1)
    phi = jnp.arcsin(jnp.sqrt(sin_squared))
    # sin²(2φ)/ν = [(1+λ) + 2√λ cos 2φ − (1−λ)²/ν]/4λ, and ∫dφ/ν is an arctangent
    gap = jnp.abs(ratio - 1)
    tangent = jnp.where(sin_squared < 1, jnp.tan(jnp.where(sin_squared < 1, phi, 0)), jnp.inf)
    stretched = jnp.arctan2((1 + root) ** 2 * tangent, gap)
    bulk = ((1 + ratio) * phi + root * jnp.sin(2 * phi) - gap * stretched) / (jnp.pi * ratio)
    inside = jnp.where(nu >= high, jnp.minimum(1, 1 / ratio), jnp.where(nu <= low, 0, bulk))
    return jnp.where(nu < 0, 0, atom(ratio) + inside)


def _quantile(ratio: Any, share: Any) -> Any:
    low, high = (jnp.full_like(share, edge) for edge in edges(ratio))

    def halve(_: int, bracket: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = bracket
        middle = (low + high) / 2
        below = _cdf(ratio, middle) < share
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(0, 60, halve, (low, high))
    return jnp.where(share < atom(ratio), 0, (low + high) / 2)


def resolvent(ratio: Any, g: Any) -> Any:
    """`MarchenkoPastur.resolvent` for use inside other formulas: no checks, any dtype."""
    low, high = edges(ratio)
    root = jnp.sqrt((low + g) * (high + g))
    b = (1 - ratio) + g
    # (root − b)/2λg, in the form without cancellation on either side of b = 0
    return jnp.where(b > 0, 2 / (root + jnp.abs(b)), (root + jnp.abs(b)) / (2 * ratio * g))
