"""Losses of a linear student with weight decay, label noise and any scale, as functions of time."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from lazyrich.theory._laplace import atom, edges, log_laplace, log_weighted_laplace
from lazyrich.theory._marchenko_pastur import resolvent
from lazyrich.theory._spectral_mean import bulk_sums


class Student(NamedTuple):
    """The letters of the formulas: aspect ratio λ, half the decay g = γ/2, scale α, noise σ, outputs d."""

    ratio: Any
    g: Any
    alpha: Any
    sigma: Any
    d: Any


def log_plain_losses(student: Student, s: Any) -> tuple[Any, Any]:
    """Logarithms of training and test loss without decay and noise, finite far below any float."""
    ratio, _, alpha, _, d = student
    scale = jnp.log((1 + alpha**2) / (2 * d))
    return scale + log_weighted_laplace(ratio, s), scale + log_laplace(ratio, s)


def losses(student: Student, s: Any) -> tuple[Any, Any]:
    r"""Training and test loss at s = 4ηt/d_out.

    Each mode ν of the difference obeys ḋ = −2η[(ν + g)d + gT − √ν ξ], T the teacher, ξ the noise's part:
    d = e·S₀ − r·T + √ν(1 − e)/(ν + g)·ξ with e = exp(−s(ν + g)/2) and r = (νe + g)/(ν + g). Every term
    below is positive, so that nothing cancels. At ν = 0 (the atom): e² = exp(−sg), r = 1, no noise.
    """
    ratio, g, alpha, sigma, d = student

    def modes(nu: Any) -> tuple[Any, Any]:
        exponent = s * (nu + g) / 2
        e, one_minus_e = jnp.exp(-exponent), -jnp.expm1(-exponent)
        r = e + g / (nu + g) * one_minus_e
        signal = (alpha**2 * e**2 + r**2) / (2 * d)
        noise = sigma**2 * ratio
        learned = (one_minus_e / (nu + g)) ** 2
        return signal + noise * r**2 / nu, signal / nu + noise * learned

    train, test = bulk_sums(ratio, modes)  # sums are means of ν·modes(ν)
    at_zero = atom(ratio) * (alpha**2 * jnp.exp(-s * g) + 1) / (2 * d)
    return train + sigma**2 * jnp.maximum(1 - ratio, 0), test + at_zero


def spreads(student: Student, s: Any) -> tuple[Any, Any]:
    """E[f²]/E[f]² for training and test, f = ν(α²e² + r²) and α²e² + r² being a mode's part of a loss.

    How unequally the loss is spread over the modes. Losses underflow before their ratio does, so that f is
    taken relative to the slowest mode: that of the bulk, or the atom if it counts.
    """
    ratio, g, alpha, _, _ = student
    low = edges(ratio)[0]

    def part(nu: Any, slowest: Any) -> Any:
        e = jnp.exp(
            -s * (nu + g - jnp.where(g > 0, 0, slowest)) / 2
        )  # with decay losses have a floor
        r = jnp.where(g > 0, (nu * e + g) / (nu + g), e)
        return alpha**2 * e**2 + r**2

    def modes(nu: Any) -> tuple[Any, ...]:
        train, test = part(nu, low), part(nu, jnp.where(ratio > 1, 0, low))
        return train, nu * train**2, test / nu, test**2 / nu

    mean, square, test_mean, test_square = bulk_sums(ratio, modes)
    at_zero = alpha**2 * jnp.exp(-s * g) + 1
    test_mean, test_square = (
        test_mean + atom(ratio) * at_zero,
        test_square + atom(ratio) * at_zero**2,
    )
    return _over_square(square, mean), _over_square(test_square, test_mean)


def _over_square(square: Any, mean: Any) -> Any:
    known = mean**2 > 0  # else the loss is far below any threshold
    return jnp.where(known, square / jnp.where(known, mean, 1) ** 2, 0)


def initial_losses(student: Student) -> tuple[Any, Any]:
    """Training and test loss at t = 0, where nothing has been learned: E[ν] = 1."""
    ratio, g, alpha, sigma, d = student
    signal = (1 + alpha**2) / (2 * d) + 0 * (ratio + g + sigma)  # an invalid NaN stays one
    return signal + sigma**2, signal


def limits(student: Student) -> tuple[Any, Any]:
    """Training and test loss for t → ∞, in closed form.

    Without decay E_bulk[1/ν] = min(λ, 1)/λ|1 − λ| is what noise costs in the end.
    """
    ratio, g, alpha, sigma, d = jnp.broadcast_arrays(*student)
    weighted, squared = _ridge_means(ratio, jnp.where(g > 0, g, 1))
    kept = jnp.maximum(1 - ratio, 0) + ratio * squared
    with_decay = (
        g**2 * weighted / (2 * d) + sigma**2 * kept,
        (atom(ratio) + squared) / (2 * d) + sigma**2 * ratio * weighted,
    )
    inverse = jnp.where(sigma > 0, jnp.minimum(ratio, 1) / jnp.abs(1 - ratio), 0)
    without = (
        sigma**2 * jnp.maximum(1 - ratio, 0),
        atom(ratio) * (1 + alpha**2) / (2 * d) + sigma**2 * inverse,
    )
    train, test = (jnp.where(g > 0, a, b) for a, b in zip(with_decay, without, strict=True))
    return train, test


def _ridge_means(ratio: Any, g: Any) -> tuple[Any, Any]:
    """E_bulk[ν/(ν + g)²] and E_bulk[g²/(ν + g)²], from the resolvent m, λgm² + (1 − λ + g)m = 1.

    With the root w of its discriminant the slope is m′ = −m(1 + λm)/w. The first mean is m + gm′, which
    cancels for large g; as w = 1 − λ + g + 2λgm, it is m(1 − λ + λgm)/w, where nothing does. Above λ = 1
    through the law of XXᵀ, whose aspect ratio is 1/λ and whose eigenvalues are ν/λ: below 1 there is no atom
    to subtract.
    """
    over = ratio > 1
    ratio_, g_ = jnp.where(over, 1 / ratio, ratio), jnp.where(over, g / ratio, g)
    low, high = edges(ratio_)
    m, root = resolvent(ratio_, g_), jnp.sqrt((low + g_) * (high + g_))
    weighted = m * (1 - ratio_ + ratio_ * g_ * m) / root
    squared = g_**2 * m * (1 + ratio_ * m) / root
    return jnp.where(over, weighted / ratio**2, weighted), jnp.where(over, squared / ratio, squared)
