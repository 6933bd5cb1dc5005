"""What certificates refuse, and what they say."""

import numpy as np
import pytest
from landscapes import quadratic_form, regression

from lazyrich.core import ArgumentError
from lazyrich.measures import saddle_certificate

GOOD = dict(zip(("gradient", "hessian_product", "weights"), regression(), strict=True))


RNG = np.random.default_rng(0)


def stochastic(w):
    return GOOD["gradient"](w) + 0.1 * RNG.standard_normal(4)


BAD_ARGUMENTS = [
    ({"gradient": 3}, "`gradient` must be a function of the weights, got 3. Pass a callable"),
    ({"hessian_product": None}, "`hessian_product` must be a function of weights and a direction, got"),
    ({"weights": [1.0, np.nan, 1.0, 1.0]}, r"`weights\[1\]` must be a finite real number, got nan"),
    ({"weights": np.ones((2, 2))}, r"`weights` must have the shape \(weights,\) .* got \(2, 2\)\. `adapters"),
    ({"weights": []}, r"`weights` must have the shape .* with at least one, got \(0,\)"),
    ({"weights": {"a": 1}}, "`weights` must be a finite real number"),
    ({"radius": -1}, "`radius` must be a finite real number ≥ 0, got -1"),
    ({"tolerance": np.nan}, "`tolerance` must be a finite real number ≥ 0, got nan"),
    ({"max_dense": 1.5}, "`max_dense` must be a whole number"),
    ({"max_index": 0}, "`max_index` must be a whole number ≥ 1, got 0"),
    ({"accuracy": 0}, "`accuracy` must be a finite real number > 0 and < 1, got 0"),
]  # fmt: skip
BAD_GRADIENTS = [
    (lambda w: w[:3], r"` must have the shape \(4,\) of `weights`, got \(3,\)"),
    (lambda w: w[:, None], r"` must have the shape \(4,\) of `weights`, got \(4, 1\)"),
    (lambda w: w * np.nan, r"\[0\]` must be a finite real number, got nan"),
    (lambda w: None, "` must be a finite real number, got None. Return finite numbers"),
]
BAD_PRODUCTS = [
    (lambda w, v: v[:3], r"\(weights, direction\)` must have the shape \(4,\) of `weights`"),
    (lambda w, v: v * np.inf, r"\(weights, direction\)\[0\]` must be a finite real number, got .?inf"),
    (lambda w, v: np.triu(np.ones((4, 4))) @ v, "` must be symmetric: p·Hq = q·Hp, got .* Return the second"),
    (lambda w, v: w, "` must be symmetric"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), BAD_ARGUMENTS)
def test_bad_input(changes, message):
    arguments = GOOD | changes
    functions = [arguments.pop(name) for name in ("gradient", "hessian_product", "weights")]
    with pytest.raises(ArgumentError, match=message):
        saddle_certificate(*functions, **arguments)


@pytest.mark.parametrize(("gradient", "message"), BAD_GRADIENTS)
def test_bad_gradients(gradient, message):
    with pytest.raises(ArgumentError, match=r"`gradient\(weights\)" + message):
        saddle_certificate(gradient, GOOD["hessian_product"], GOOD["weights"])


@pytest.mark.parametrize(("product", "message"), BAD_PRODUCTS)
def test_bad_products(product, message):
    with pytest.raises(ArgumentError, match="`hessian_product" + message):
        saddle_certificate(GOOD["gradient"], product, GOOD["weights"])


def test_random_batches():
    message = r"`gradient` must return the same for the same weights, got 'a difference of .* Use the whole"
    with pytest.raises(ArgumentError, match=message):
        saddle_certificate(stochastic, GOOD["hessian_product"], GOOD["weights"])


def test_traced_weights():
    import jax

    def inside(w):
        return saddle_certificate(GOOD["gradient"], GOOD["hessian_product"], w).lowest

    with pytest.raises(ArgumentError, match=r"`weights` must be known now, got .* outside `jit`"):
        jax.jit(inside)(np.ones(4))


def test_lanczos_that_does_not_converge(monkeypatch):
    monkeypatch.setattr("lazyrich.measures._extreme_eigenvalues.RESTARTS", 1)
    gradient, product, _ = quadratic_form(np.linspace(0, 1, 2001))
    with pytest.raises(
        ArgumentError, match="`accuracy` must be within reach of Lanczos, got 1e-08 after 1"
    ):
        saddle_certificate(gradient, product, np.zeros(2001), accuracy=1e-8)


def test_errors_of_the_functions_pass_through():
    def fails(w):
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        saddle_certificate(fails, GOOD["hessian_product"], GOOD["weights"])
