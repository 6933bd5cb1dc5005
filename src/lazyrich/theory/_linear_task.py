"""What linear networks assume of their task and their layers: given once, checked once."""

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazyrich.core import AssumptionError, argument_error, known, moderate, real
from lazyrich.quantities import imbalance
from lazyrich.theory._solution import single


def layers_of(correlation: Any, first: Any, second: Any) -> tuple[Any, Any, Any]:
    """E[yxᵀ], shape (outputs, inputs), and two layers that fit it."""
    C = moderate("correlation", correlation, advice="Pass Y.T @ X / N.")
    W1 = moderate("first", first, advice="Pass the first layer, shape (inputs, units).")
    W2 = moderate("second", second, advice="Pass the second layer, shape (units, outputs).")
    if len(C.shape) != 2 or 0 in C.shape:
        raise argument_error("correlation", "have the shape (outputs, inputs)", C.shape)
    outputs, inputs = C.shape
    if len(W1.shape) != 2 or W1.shape[0] != inputs or W1.shape[1] < 1:
        raise argument_error(
            "first", f"have the shape ({inputs}, units) to fit `correlation`", W1.shape
        )
    if W2.shape != (W1.shape[1], outputs):
        raise argument_error(
            "second", f"have the shape {(W1.shape[1], outputs)} to fit the others", W2.shape
        )
    return C, W1, W2


def output_power_of(value: Any, least: Any, *, is_single: bool = False) -> Any:
    """E‖y‖²: at least what a linear map explains, which is taken where none is given."""
    power = least if value is None else value
    return (single if is_single else real)(
        "output_power", power, at_least=float(least) * (1 - 1e-9),
        advice="Pass the mean of ‖y‖² over the samples that `correlation` was computed from.",
    )  # fmt: skip


def unexplained_power(power: Any, explained: Any) -> Any:
    """What no linear map explains of E‖y‖²; 0, not rounding, where all is explained."""
    rest = power - explained
    return jnp.where(rest > 32 * jnp.finfo(jnp.result_type(rest)).eps * explained, rest, 0)


def require_whitened(covariance: Any, num_inputs: int, tolerance: float) -> None:
    """E[xxᵀ] = 1, if it is given."""
    if covariance is None:
        return
    C = real(
        "covariance", known("covariance", covariance), advice="Pass X.T @ X / N, or leave it out."
    )
    if C.shape != (num_inputs, num_inputs):
        raise argument_error("covariance", f"have the shape {(num_inputs, num_inputs)}", C.shape)
    off = float(np.abs(C - np.eye(num_inputs)).max())
    if off > tolerance:
        raise AssumptionError(
            f"Inputs must be whitened, E[xxᵀ] = 1, but an entry of `covariance` differs by {off:.3g} "
            f"(tolerance {tolerance:g}). Multiply them by the inverse root of their covariance, or simulate."
        )


def require_balanced(
    layers: Sequence[np.ndarray], tolerance: float, *, is_zero: bool = True
) -> np.float64:
    """The λ of consecutive layers W with W₂W₂ᵀ − W₁ᵀW₁ = λI; it must be 0 if `is_zero`."""
    coefficient = np.float64(0.0)
    for number, (first, second) in enumerate(itertools.pairwise(layers), start=1):
        delta, best, residual = imbalance(first, second)
        coefficient = np.float64(0.0) if is_zero else best
        share = _violation(delta, coefficient, first, second)
        if share > tolerance and _violation(delta, 0.0, first, second) <= tolerance:
            # the best λ is rounding of heavy units, which light ones do not bear
            coefficient, share = np.float64(0.0), 0.0
        if share > tolerance:
            one, two = (f"W{n}" for n in (number, number + 1))
            kind, right = ("balanced", "0") if is_zero else ("λ-balanced", "λI")
            at = "" if is_zero else f"at the best λ = {best:.6g} "
            gap = np.linalg.norm(delta) if is_zero else residual
            raise AssumptionError(
                f"Layers must be {kind}, {two}{two}ᵀ − {one}ᵀ{one} = {right}, but {at}a residual of "
                f"{gap:.3g} is left, up to {share:.2g} of the squared length of the units concerned "
                f"(tolerance {tolerance:g}). Use `models.balanced_weights`, or simulate."
            )
    return coefficient


def _violation(delta: np.ndarray, lam: Any, first: np.ndarray, second: np.ndarray) -> float:
    """The largest entry of Δ − λI, as a share of the squared lengths of the two units it belongs to.

    In the units' own basis, and in the one in which W₁ᵀW₁ + W₂W₂ᵀ is diagonal: heavy units hide light ones
    neither side by side nor mixed with them. There, what rounding leaves of the heaviest counts as none.
    """
    rest, gram = delta - lam * np.eye(len(delta)), first.T @ first + second @ second.T
    values, R = np.linalg.eigh(gram)
    rounding = 8 * len(gram) * np.finfo(float).eps * values[-1]
    turned = np.abs(R.T @ rest @ R)
    shares = (
        _share(np.abs(rest), np.diag(gram)),
        _share(np.where(turned > rounding, turned, 0.0), np.maximum(values, 0.0)),
    )
    return max(shares)


def _share(entries: np.ndarray, sizes: np.ndarray) -> float:
    roots = np.sqrt(sizes)
    scale = np.outer(roots, roots)
    none = np.where(entries > 0, np.inf, 0.0)
    return float(np.divide(entries, scale, out=none, where=scale > 0).max())
