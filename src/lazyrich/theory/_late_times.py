"""Late-time forms for one output, no decay, no noise and scale 1, of a model `m` with its parameters."""

from typing import Any

import jax.numpy as jnp

from lazyrich.theory._lambert import lambert_of_log


def _gap(m: Any) -> Any:
    lam = m.aspect_ratio
    return (1 - lam) / (1 + jnp.sqrt(lam))  # 1 − √λ without cancellation near λ = 1


def late_train_loss(m: Any, t: Any) -> Any:
    """Eq. 10 and 21."""
    lam, tau = m.aspect_ratio, m.learning_rate * t
    return jnp.exp(-4 * _gap(m) ** 2 * tau) / (16 * jnp.sqrt(jnp.pi) * lam**0.75 * tau**1.5)


def intermediate_test_loss(m: Any, t: Any) -> Any:
    """Eq. 22."""
    lam, gap = m.aspect_ratio, jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    y = 4 * m.learning_rate * gap**2 * t
    x = jnp.sqrt(y)  # e^{−y}/x − √π erfc(x) is the bracket
    return gap * jnp.exp(-y) * _erfc_defect(x) / (x * jnp.sqrt(jnp.pi) * lam**0.75)


def _erfc_defect(x: Any) -> Any:
    """1 − √π x exp(x²) erfc(x) without cancellation, as π^(−½) ∫ exp(−u²) u²/(x² + u²) du.

    The trapezoidal rule at half-shifted nodes, with the residue of its pole at u = ix where that matters.
    """
    h = 0.4
    u = (jnp.arange(16, dtype=x.dtype) + 0.5) * h
    terms = jnp.exp(-(u**2)) * u**2 / (x[..., None] ** 2 + u**2)
    near = jnp.minimum(x, jnp.pi / h)
    pole = jnp.where(
        x < jnp.pi / h,
        2 * jnp.pi * near * jnp.exp(near**2 - jnp.logaddexp(0, 2 * jnp.pi * near / h)),
        0,
    )
    return (2 * h * jnp.sum(terms, axis=-1) / jnp.sqrt(jnp.pi)) - pole / jnp.sqrt(jnp.pi)


def late_test_loss(m: Any, t: Any) -> Any:
    """Eq. 10."""
    late = late_train_loss(m, t) / _gap(m) ** 2
    return jnp.where(m.aspect_ratio < 1, late, jnp.nan)


def small_threshold_grokking_time(m: Any) -> Any:
    """Eq. 11."""
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return -jnp.log(gap) / (2 * m.learning_rate * gap**2)


def _log_z(m: Any, power: float) -> Any:
    """Logarithm of the argument of W in Eq. 23 (power 2) and Eq. 24 (power 2/3)."""
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    constant = jnp.log(2 ** (5 / 3) / (3 * jnp.pi ** (1 / 3)))
    return (
        constant + power * jnp.log(gap) - jnp.log(m.aspect_ratio) / 2 - 2 / 3 * jnp.log(m.threshold)
    )


def late_train_time(m: Any) -> Any:
    """Eq. 23."""
    return 3 / (8 * m.learning_rate * _gap(m) ** 2) * lambert_of_log(_log_z(m, 2))


def late_test_time(m: Any) -> Any:
    """Eq. 24."""
    return 3 / (8 * m.learning_rate * _gap(m) ** 2) * lambert_of_log(_log_z(m, 2 / 3))


def two_term_grokking_time(m: Any) -> Any:
    """Eq. 25."""
    inner = 4 / 3 * jnp.log(_gap(m)) / _log_z(m, 2 / 3)
    second = (
        3 / (8 * m.learning_rate * _gap(m) ** 2) * jnp.log1p(jnp.where(inner > -1, inner, jnp.nan))
    )
    return small_threshold_grokking_time(m) + second


def saturation_delay(m: Any) -> Any:
    """Eq. 15."""
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return jnp.log1p(jnp.sqrt(m.aspect_ratio)) / (2 * m.learning_rate * gap**2)
