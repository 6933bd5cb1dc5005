"""The spectrum of a sample covariance: the Marchenko–Pastur law."""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, compute, count, moderate, real, standard_uniform
from lazyrich.core import shape as checked_shape
from lazyrich.theory._bisection import bisect
from lazyrich.theory._laplace import atom, edges, laplace, weighted_laplace
from lazyrich.theory._solution import Solution
from lazyrich.theory._spectral_mean import bulk_nodes

NARROW = 1 / 16
"""Below this λ the distribution function is computed by a series."""


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
        checks `linear-grokking/eq6`, `linear-grokking/eq8`, `linear-grokking/eq36`;
        `tests/theory/test_marchenko_pastur.py`.

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
        k = count("order", order, at_least=0, at_most=300, advice="Higher ones are no floats.")
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
        shape = checked_shape("shape", shape)
        return compute(_quantile, self.aspect_ratio, standard_uniform(key, shape))

    def expectation(self, function: Callable[[Any], Any]) -> Any:
        """Mean of a function of the eigenvalue, atom included.

        Args:
            function: JAX-traceable; works on arrays, keeps their shape. Accurate to rounding if it is
                analytic for ν in the right half-plane and no wilder there than a few oscillations, on
                whatever scales it varies: powers, logarithms, exponentials, resolvents. At 0 it counts
                only where there is an atom.

        Returns:
            The mean, with the shape of `aspect_ratio`.
        """
        if not callable(function):
            raise argument_error("function", "be a function", function, "Pass e.g. `jnp.log1p`.")
        return compute(lambda ratio: _expectation(ratio, function), self.aspect_ratio, jit=False)

    def laplace(self, s: Any) -> Any:
        r"""$\mathbb{E}[e^{-s\nu}]$, atom included, to rounding for every $s \ge 0$ and λ."""
        return compute(laplace, self.aspect_ratio, _transform_argument(s))

    def weighted_laplace(self, s: Any) -> Any:
        r"""$\mathbb{E}[\nu e^{-s\nu}]$, to rounding for every $s \ge 0$ and λ."""
        return compute(weighted_laplace, self.aspect_ratio, _transform_argument(s))


def _aspect_ratio(value: Any) -> Any:
    return moderate("aspect_ratio", value, above=0, advice="It is dimension / number of samples.")


def _transform_argument(s: Any) -> Any:
    return real("s", s, at_least=0, advice="The transform is taken at s ≥ 0.")


def _density(ratio: Any, nu: Any) -> Any:
    lower, upper = edges(ratio)
    inside = (nu > lower) & (nu < upper)
    radicand = jnp.where(inside, (upper - nu) * (nu - lower), 1)
    return jnp.where(
        inside, jnp.sqrt(radicand) / (2 * jnp.pi * ratio * jnp.where(inside, nu, 1)), 0
    )


def _expectation(ratio: Any, function: Callable[[Any], Any]) -> Any:
    nu, weight = bulk_nodes(ratio)
    bulk = jnp.sum(weight * function(nu) / nu, axis=-1)
    has_atom = ratio > 1
    at_zero = function(jnp.where(has_atom, 0, 1).astype(ratio.dtype))
    return bulk + jnp.where(has_atom, atom(ratio) * at_zero, 0)


def _cdf(ratio: Any, nu: Any) -> Any:
    """The angle-weighted area under the semicircle-like density, in closed form.

    With ν = λ₋ + 4√λ sin²φ, ∫(4/π) sin²(2φ)/ν dφ splits into elementary angles.
    """
    low, high = edges(ratio)
    root = jnp.sqrt(ratio)
    sin_squared = jnp.clip((nu - low) / (4 * root), 0, 1)
    inside_bulk = (sin_squared > 0) & (sin_squared < 1)
    phi = jnp.arcsin(
        jnp.sqrt(jnp.where(inside_bulk, sin_squared, 0.5))
    )  # finite slopes at the edges
    # sin²(2φ)/ν = [(1+λ) + 2√λ cos 2φ − (1−λ)²/ν]/4λ, and ∫dφ/ν is an arctangent
    gap = jnp.abs(ratio - 1)
    stretched = jnp.arctan2((1 + root) ** 2 * jnp.tan(phi), gap)
    bulk = ((1 + ratio) * phi + root * jnp.sin(2 * phi) - gap * stretched) / (jnp.pi * ratio)
    narrow = ratio < NARROW  # these terms of order 1 leave λ there
    bulk = jnp.where(narrow, _narrow_cdf(jnp.where(narrow, root, 0), phi), bulk)
    inside = jnp.where(nu >= high, jnp.minimum(1, 1 / ratio), jnp.where(nu <= low, 0, bulk))
    return jnp.where(nu < 0, 0, atom(ratio) + inside)


def _narrow_cdf(root: Any, phi: Any) -> Any:
    """The same for small λ: with δ = arg(1 − √λ e^(−2iφ)) = Σ λ^(n/2) sin(2nφ)/n nothing cancels.

    The arctangent is φ + δ, so that the bulk's share is [2φ + δ − Σ_{n≥2} λ^(n/2−1) sin(2nφ)/n]/π.
    """
    delta = jnp.arctan2(root * jnp.sin(2 * phi), 1 - root * jnp.cos(2 * phi))
    total = 2 * phi + delta
    for n in range(2, 30):  # 4^−28 is below rounding
        total = total - root ** (n - 2) * jnp.sin(2 * n * phi) / n
    return total / jnp.pi


def _quantile(ratio: Any, share: Any) -> Any:
    low, high = (jnp.full_like(share, edge) for edge in edges(ratio))
    low, high = bisect(lambda nu: _cdf(ratio, nu) < share, low, high, steps=60, xp=jnp)
    return jnp.where(share < atom(ratio), 0, (low + high) / 2)


def resolvent(ratio: Any, g: Any) -> Any:
    """`MarchenkoPastur.resolvent` for use inside other formulas: no checks, any dtype."""
    low, high = edges(ratio)
    root = jnp.sqrt((low + g) * (high + g))
    b = (1 - ratio) + g
    # (root − b)/2λg, in the form without cancellation on either side of b = 0
    return jnp.where(b > 0, 2 / (root + jnp.abs(b)), (root + jnp.abs(b)) / (2 * ratio * g))
