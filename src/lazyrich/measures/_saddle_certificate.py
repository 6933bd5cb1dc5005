"""What kind of fixed point the weights are at, or near, and when they leave it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, moderate, number, untraced
from lazyrich.measures._certificate import SaddleCertificate
from lazyrich.measures._extreme_eigenvalues import (
    Spectrum,
    dense_spectrum,
    lanczos_spectrum,
    spectral_norm,
)
from lazyrich.measures._fixed_point_search import FixedPoint, find_fixed_point
from lazyrich.measures._landscape import Landscape

ALWAYS_DENSE = 50
"""Lanczos needs room; matrices up to this size are always diagonalised whole."""
NOISE_FACTOR = 4.0
"""Gradients up to this many times the noise count as zero: three samples may underrate it."""


@untraced
def saddle_certificate(
    gradient: Callable[[Any], Any],
    hessian_product: Callable[[Any, Any], Any],
    weights: Any,
    *,
    radius: float | None = None,
    tolerance: float | None = None,
    max_dense: int = 2000,
    max_index: int = 20,
    accuracy: float = 1e-6,
) -> SaddleCertificate:
    r"""Whether weights are at, or near, a saddle, a minimum or a maximum, and when they leave it.

    On a plateau the gradient is small and not zero. How small is small enough depends on the curvature,
    so no bound on the gradient is used. Newton's method is started at the weights. They are near a fixed
    point if it ends within the radius, where the gradient is $10^{-10}$ of the first or rounding noise:
    what it changes by when the weights change in their last digit; and if its steps shrink, as they do not on
    the way to a gradient that vanishes only at infinity, that of cross-entropy on separable classes. The
    Hessian is taken there.

    An eigenvalue counts as zero if it is within the rounding error of the dtype that the functions
    return, the asymmetry found in the products, or what the Hessian still changed in Newton's last step.
    The last is large where the Hessian vanishes with the gradient, as at the zero of a quadratic network.

    Where functions have kinks, as those of rectified units do, Newton's method may fail; then only the
    point zero is tried. The Hessian at a kink is whatever `hessian_product` makes of it.

    Args:
        gradient: function of flat weights that returns the loss's gradient, of the same shape; always the
            same for the same weights. It gets float64 arrays; float32 results are taken as such.
        hessian_product: function of weights and a direction that returns the Hessian times the direction.
        weights: flat, shape (weights,).
        radius: how far a fixed point may be to count as near. Without it 0.1 times the weights' norm, or
            0.1 where that is below 1: at small weights the norm is no scale, as zero is just that far.
        tolerance: eigenvalues up to this size count as zero; without it as above.
        max_dense: up to so many weights the Hessian is built, column by column, and all eigenvalues are
            found. Above, Lanczos finds the lowest and the highest, and nothing of the Hessian's size is kept.
        max_index: at most so many negative eigenvalues are looked for by Lanczos.
        accuracy: error of Lanczos' eigenvalues, as a share of the largest.

    Returns:
        A `SaddleCertificate`. A negative eigenvalue beyond its error proves a saddle, also where Lanczos
        finds one that its `accuracy` would count as zero; then the index is a lower bound. That Lanczos found
        none is strong evidence, no proof: it starts from a random vector.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import saddle_certificate
        >>> H = np.diag([-2.0, 1.0, 3.0])
        >>> saddle_certificate(lambda w: H @ w, lambda w, v: H @ v, [1e-3, 0.02, 0.0], tolerance=1e-9)
        saddle: the loss falls in 1 of 3 directions, 0 are flat
        gradient 0.0201, fixed point 0.02 away
        eigenvalues from -2 ± 1.2e-14 to 3 ± 1.2e-14; up to 1e-09 counts as zero
        displacements grow by e in 0.5; they reach size 1 at 3.45 (times: learning rate × step)
    """
    w, landscape = _arguments(gradient, hessian_product, weights)
    options = _options(w, radius, tolerance, max_dense, max_index, accuracy)
    g = landscape.gradient(w)
    at_weights = landscape.product(w)
    asymmetry = landscape.require_symmetric(at_weights)
    landscape.require_repeatable(w, g, spectral_norm(at_weights, w.size))
    noise = landscape.gradient_noise(w, g)
    found = find_fixed_point(landscape, w, NOISE_FACTOR * noise, options.radius)
    product = landscape.product(w if found is None else found.weights)
    scale = spectral_norm(product, w.size)
    rounding = 10 * np.sqrt(w.size) * landscape.epsilon * scale
    uncertainty = max(asymmetry, rounding) + _drift(landscape, found)
    spectrum, zero = _spectrum(product, w.size, scale, uncertainty, options)
    change = 0.0 if found is None else _change(landscape, found.weights, w)
    return _certificate(w, g, noise, found, spectrum, uncertainty, zero, change)


@dataclasses.dataclass(frozen=True)
class _Options:
    radius: float
    tolerance: float | None
    max_dense: int
    max_index: int
    accuracy: float


def _arguments(gradient: Any, product: Any, weights: Any) -> tuple[np.ndarray, Landscape]:
    w = moderate("weights", weights, advice="Pass finite weights as one flat array.")
    if w.ndim != 1 or w.size == 0:
        raise argument_error(
            "weights",
            "have the shape (weights,) with at least one",
            w.shape,
            "`adapters.derivatives` flattens those of a JAX loss, `parameters_to_vector` torch's.",
        )
    return w, Landscape(gradient, product, w.size)


def _options(
    w: np.ndarray, radius: Any, tolerance: Any, max_dense: Any, max_index: Any, accuracy: Any
) -> _Options:
    if radius is None:
        radius = 0.1 * max(1.0, float(np.linalg.norm(w)))
    if tolerance is not None:
        tolerance = number("tolerance", tolerance, at_least=0, advice="Leave it out as a rule.")
    return _Options(
        radius=number("radius", radius, at_least=0, advice="Use e.g. 0.1."),
        tolerance=tolerance,
        max_dense=count("max_dense", max_dense, at_least=0, advice="Use e.g. 2000."),
        max_index=count("max_index", max_index, advice="Use e.g. 20."),
        accuracy=number("accuracy", accuracy, above=0, below=1, advice="Use e.g. 1e-6."),
    )


def _change(landscape: Landscape, here: np.ndarray, there: np.ndarray) -> float:
    """The norm of the difference of two Hessians."""
    if np.array_equal(here, there):
        return 0.0
    first, second = landscape.product(here), landscape.product(there)
    return spectral_norm(lambda x: first(x) - second(x), here.size, steps=10)


def _drift(landscape: Landscape, found: FixedPoint | None) -> float:
    """How far the Hessian may still be from that of the fixed point.

    Newton's last step left the share ρ of the gradient. Near a cubic saddle it then left √ρ of the
    distance, and the rest of the way, as a geometric series, is √ρ/(1 − √ρ) of the step. Factor 2: the
    power iteration gives the change of the Hessian from below.
    """
    if found is None or found.share == 0:
        return 0.0
    rest = np.sqrt(found.share)
    return float(2 * rest / (1 - rest) * _change(landscape, found.weights, found.previous))


def _spectrum(
    product: Any, dimension: int, scale: float, uncertainty: float, options: _Options
) -> tuple[Spectrum, float]:
    """The eigenvalues, and up to which size they count as zero."""
    given = options.tolerance
    if dimension <= max(options.max_dense, ALWAYS_DENSE):
        return dense_spectrum(product, dimension), uncertainty if given is None else given
    # no residual gets below the rounding of the products
    accuracy = max(options.accuracy, uncertainty / scale if scale else 0.0)
    zero = accuracy * scale if given is None else given
    found = lanczos_spectrum(product, dimension, scale, zero, min(accuracy, 0.1), options.max_index)
    error = float(found.errors[0] + uncertainty)
    if (
        given is None and -zero <= found.values[0] < -error
    ):  # others of this size were not looked for
        return found._replace(holds_all_negative=False), error
    return found, zero


def _certificate(
    w: np.ndarray,
    g: np.ndarray,
    noise: float,
    found: FixedPoint | None,
    spectrum: Spectrum,
    uncertainty: float,
    zero: float,
    change: float,
) -> SaddleCertificate:
    values, vectors = spectrum.values, spectrum.vectors
    is_maximum, falling = bool(values[-1] < -zero), values < -zero
    displacement = np.zeros(w.size) if found is None else w - found.weights
    along = vectors[:, falling].T @ displacement
    along = np.where(np.abs(along * values[falling]) > noise, along, 0.0)
    flat = int(np.sum(np.abs(values) <= zero)) if values.size == w.size else None
    return SaddleCertificate(
        gradient_norm=float(np.linalg.norm(g)),
        gradient_noise=noise,
        fixed_point=None if found is None else found.weights,
        distance=np.inf if found is None else float(np.linalg.norm(displacement)),
        lowest=float(values[0]),
        lowest_error=float(spectrum.errors[0] + uncertainty),
        highest=float(values[-1]),
        highest_error=float(spectrum.errors[1] + uncertainty),
        tolerance=float(zero),
        index=w.size if is_maximum else int(falling.sum()),
        index_is_exact=is_maximum or spectrum.holds_all_negative,
        num_flat=flat,
        dimension=w.size,
        escape_direction=_towards(vectors[:, 0], along[:1]),
        rates=-values[falling],
        displacements=along,
        hessian_change=change,
    )


def _towards(direction: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """The direction's sign: that of the displacement, else its largest entry positive."""
    side = displacement[0] if np.any(displacement) else direction[np.argmax(np.abs(direction))]
    return direction if side >= 0 else -direction
