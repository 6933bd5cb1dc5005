"""Eq. 21–25: linear and layerwise linear models, and their features."""

import numpy as np

from lazyrich import models, theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.layerwise._instances import TIMES, slope
from lazyrich.core import CheckResult, check


def _hermite(X: np.ndarray) -> np.ndarray:
    """Four features of one Gaussian input that are not correlated: Hermite's polynomials."""
    x = X[:, 0]
    return np.stack([x, x**2 - 1, x**3 - 3 * x, x**4 - 6 * x**2 + 3], axis=1)


def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Inputs and weights by which means of polynomials of degree 15 are exact."""
    from scipy.special import roots_hermitenorm

    x, p = roots_hermitenorm(8)
    return x[:, None], p / p.sum()


@check(
    "layerwise/eq21",
    "A linear model on fixed features",
    against="a sum over features, written out; integration of the loss's gradient by differences",
)
def eq21() -> CheckResult:
    """The output on non-linear features, and that uncorrelated features learn by Eq. 7 as inputs do."""
    rng = np.random.default_rng(21)
    model, theta, S = (
        models.LinearModel(4, _hermite),
        rng.standard_normal(4),
        rng.standard_normal(4),
    )
    X, p = _nodes()
    by_hand = [sum(theta[i] * phi for i, phi in enumerate(row)) for row in _hermite(X)]
    errors = [relative_gap(model.apply(theta[:, None], X)[:, 0], by_hand)]

    def loss(theta: np.ndarray) -> float:
        return float(p @ (_hermite(X) @ (theta - S)) ** 2 / 2)

    variances = p @ _hermite(X) ** 2
    exact = integrate(lambda t, w: -slope(loss, w), theta, TIMES[:4])
    errors.append(relative_gap(theory.LinearModes(S, variances, theta).modes(TIMES[:4]), exact))
    return CheckResult(max(errors), 1e-9, len(by_hand) + exact.size)


@check(
    "layerwise/eq22",
    "The general layerwise linear model",
    against="Eq. 3 and 4, which it must contain; a loop over connections",
)
def eq22() -> CheckResult:
    """As printed, j is summed twice: over the pairs (i, j) of V and from 1 to p."""
    rng = np.random.default_rng(22)
    errors, printed = [], []
    cases = [(np.eye(3, dtype=bool), 3), (np.ones((3, 4), bool), 4), (rng.random((4, 5)) < 0.5, 5)]
    for mask, hidden in cases:
        features = mask.shape[0]
        X, a, b = (
            rng.standard_normal((6, features)),
            rng.standard_normal(mask.shape),
            rng.standard_normal(hidden),
        )
        if mask.all():
            exact = X @ a @ b
        elif hidden == features and np.array_equal(mask, np.eye(hidden)):
            exact = X @ (np.diag(a) * b)
        else:
            exact = sum(X[:, i] * a[i, j] * b[j] for i, j in np.argwhere(mask))
        twice = sum(X[:, i] * (a[i] @ b) for i, _ in np.argwhere(mask))
        weights = models.TwoLayerWeights(a, b[:, None])
        errors.append(relative_gap(models.Layerwise(mask).apply(weights, X)[:, 0], exact))
        printed.append(relative_gap(twice, exact))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=min(printed),
        correction="one sum, over the pairs (i, j) in V; with the second sum over j a linear network is p "
        "times as large, and a diagonal one uses weights that it does not have",
    )  # fmt: skip


@check(
    "layerwise/eq23",
    "Features of a linear model",
    against="the model with all other weights set to zero",
)
def eq23() -> CheckResult:
    """What is left of the output when only θ_k acts is h_k."""
    rng = np.random.default_rng(23)
    X, theta = rng.standard_normal((5, 3)), rng.standard_normal((3, 1))
    model = models.LinearModel(3)
    vectors = model.neuron_features(theta)
    errors = []
    for k in range(3):
        alone = model.apply(theta * (np.arange(3) == k)[:, None], X)[:, 0]
        errors += [
            relative_gap(X[:, k] * theta[k], alone),
            relative_gap(X @ vectors[k, :, 0], alone),
        ]
    return CheckResult(max(errors), 1e-13, len(errors))


@check(
    "layerwise/eq24",
    "Features of a linear network",
    against="the network with all other neurons cut off",
)
def eq24() -> CheckResult:
    """As printed, as vectors in function space and as functions; also with connections missing."""
    rng = np.random.default_rng(24)
    errors = []
    for mask in (np.ones((4, 3), bool), rng.random((4, 3)) < 0.6):
        model, X = models.Layerwise(mask), rng.standard_normal((5, 4))
        W1, b = rng.standard_normal((4, 3)), rng.standard_normal(3)
        weights = models.TwoLayerWeights(W1, b[:, None])
        vectors, values = model.neuron_features(weights), model.neuron_feature_values(weights, X)
        for k in range(3):
            only = models.TwoLayerWeights(W1, (b * (np.arange(3) == k))[:, None])
            alone = model.apply(only, X)[:, 0]
            printed = sum(X[:, i] * W1[i, k] * b[k] * mask[i, k] for i in range(4))
            forms = (printed, X @ vectors[k, :, 0], values[k, :, 0])
            errors += [relative_gap(form, alone) for form in forms]
    return CheckResult(max(errors), 1e-13, len(errors))


@check(
    "layerwise/eq25",
    "The output is the sum of the features",
    against="the model's output",
)
def eq25() -> CheckResult:
    """For the linear model, the diagonal and the linear network, and one with random connections."""
    rng = np.random.default_rng(25)
    X = rng.standard_normal((5, 4))
    theta = rng.standard_normal((4, 2))
    linear = models.LinearModel(4, output_dimension=2)
    errors = [relative_gap(linear.neuron_features(theta).sum(axis=0), linear.coefficients(theta))]
    nets = (
        models.Layerwise.diagonal(4),
        models.Layerwise.full(4, 6, 2),
        models.Layerwise(rng.random((4, 5)) < 0.5),
    )
    for model in nets:
        first, second = (rng.standard_normal(shape) for shape in model.shapes())
        weights = models.TwoLayerWeights(first, second)
        output = model.apply(weights, X)
        errors.append(relative_gap(model.neuron_feature_values(weights, X).sum(axis=0), output))
        errors.append(relative_gap(X @ model.neuron_features(weights).sum(axis=0), output))
        errors.append(relative_gap(X @ model.coefficients(weights), output))
    return CheckResult(max(errors), 1e-12, len(errors))
