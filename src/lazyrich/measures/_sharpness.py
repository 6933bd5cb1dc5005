"""How sharp an optimum is: the largest curvature of the loss, and the sum of all."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, count, moderate, number, untraced
from lazyrich.measures._extreme_eigenvalues import dense_spectrum, highest, spectral_norm
from lazyrich.measures._landscape import Landscape

ALWAYS_DENSE = 50
"""Up to so many weights the Hessian is built, and nothing is estimated."""

MOST_DIRECTIONS = 10**5
"""More would take days, and an estimate needs no fourth digit."""


class Sharpness(NamedTuple):
    """The Hessian's largest eigenvalue and trace, with their errors. Numbers.

    `largest_error` is ‖Hq − λq‖ for the unit vector q that was found: there is an eigenvalue within it of
    `largest`.
    `trace_uncertainty` is the standard error of the trace; 0 where it is exact.
    """

    largest: float
    largest_error: float
    trace: float
    trace_uncertainty: float


@untraced
def sharpness(
    hessian_product: Callable[[Any, Any], Any],
    weights: Any,
    *,
    num_directions: int = 16,
    accuracy: float = 1e-4,
    seed: int = 0,
) -> Sharpness:
    r"""How sharp the loss is at given weights, from products with its Hessian H.

    $$ \lambda_1 = \max_{\lVert q\rVert = 1} q \cdot Hq, \qquad
       \operatorname{Tr} H \approx \frac1m\sum_{r=1}^m z_r \cdot H z_r, \qquad z_r \in \{-1, 1\}^P $$

    The eigenvalue is found by Lanczos' method, the trace from random signs, right on average. Neither builds
    H, and a product costs about two gradients. Gradient descent with a rate above $2/\lambda_1$ leaves the
    optimum. Scales matter: where weights can be exchanged between layers without a change of the function,
    compare the trace times the squared length of the weights.

    Args:
        hessian_product: function of weights and a direction that returns the Hessian times the direction;
            always the same for the same arguments. `adapters.derivatives` makes it from a JAX loss. It gets
            float64 arrays and may return shorter numbers.
        weights: flat, shape (P,).
        num_directions: m. The standard error of the trace falls with its square root.
        accuracy: error of the eigenvalue, as a share of the largest size of any.
        seed: of the signs.

    Returns:
        Largest eigenvalue and trace, with errors. Up to 50 weights both are exact.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import sharpness
        >>> curvatures = np.linspace(-1, 2, 200)
        >>> found = sharpness(lambda w, v: curvatures * v, np.ones(200))
        >>> round(found.largest, 3), round(found.trace, 3), round(found.trace_uncertainty, 3)
        (2.0, 100.0, 0.0)
    """
    w = moderate("weights", weights, advice="Pass finite weights as one flat array.")
    if w.ndim != 1 or w.size == 0:
        raise argument_error("weights", "have the shape (weights,) with at least one", w.shape)
    m = count("num_directions", num_directions, at_least=2, at_most=MOST_DIRECTIONS)
    share = number("accuracy", accuracy, above=0, below=1, advice="Use e.g. 1e-4.")
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    landscape = Landscape(np.zeros_like, hessian_product, w.size)  # no gradient is asked for
    product = landscape.product(w)
    landscape.require_symmetric(product)
    if w.size <= ALWAYS_DENSE:
        spectrum = dense_spectrum(product, w.size)
        error, trace = float(spectrum.errors[1]), float(np.sum(spectrum.values))
        return Sharpness(float(spectrum.values[-1]), error, trace, 0.0)
    largest, error = highest(product, w.size, spectral_norm(product, w.size), share)
    signs = (rng.choice([-1.0, 1.0], w.size) for _ in range(m))
    sums = [float(z @ product(z)) for z in signs]
    return Sharpness(largest, error, float(np.mean(sums)), float(np.std(sums, ddof=1) / np.sqrt(m)))
