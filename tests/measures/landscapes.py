"""Losses with known Hessians, as a gradient and products."""

import numpy as np

from lazyrich.theory import LinearFixedPoints


def quadratic_form(eigenvalues, seed=0):
    """½ wᵀHw with H = P diag P, P a reflection, as functions that never build H; and P."""
    D = np.asarray(eigenvalues, float)
    u = np.random.default_rng(seed).standard_normal(D.size)
    u /= np.linalg.norm(u)

    def reflect(x):
        return x - 2 * u * (u @ x)

    def apply(x):
        return reflect(D * reflect(x))

    return apply, lambda w, v: apply(v), reflect


def linear_network(Z, Y, width):
    """Gradient and Hessian products of ½⟨‖y − Vᵀ Uᵀ z‖²⟩ in flat weights (U, V), by hand."""
    inputs, outputs, N = Z.shape[1], Y.shape[1], len(Z)

    def split(w):
        return w[: inputs * width].reshape(inputs, width), w[inputs * width :].reshape(
            width, outputs
        )

    def gradient(w):
        U, V = split(w)
        E = (Z @ U @ V - Y) / N
        return np.concatenate([(Z.T @ E @ V.T).ravel(), (U.T @ Z.T @ E).ravel()])

    def product(w, direction):
        (U, V), (dU, dV) = split(w), split(direction)
        E, dE = (Z @ U @ V - Y) / N, Z @ (dU @ V + U @ dV) / N
        first = Z.T @ dE @ V.T + Z.T @ E @ dV.T
        second = U.T @ Z.T @ dE + dU.T @ Z.T @ E
        return np.concatenate([first.ravel(), second.ravel()])

    return gradient, product


def linear_case(seed, inputs, outputs, width, modes, mixing=None, num_samples=20):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((num_samples, inputs)) @ rng.standard_normal((inputs, inputs))
    Y = Z @ rng.standard_normal((inputs, outputs)) + rng.standard_normal((num_samples, outputs))
    points = LinearFixedPoints(Y.T @ Z / num_samples, Z.T @ Z / num_samples)
    weights = points.weights(modes, width, mixing)
    flat = np.concatenate([weights.first.ravel(), weights.second.ravel()])
    return points, (*linear_network(Z, Y, width), flat)


def regression(seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    best = np.linalg.lstsq(X, y)[0]
    return (lambda w: X.T @ (X @ w - y) / 30), (lambda w, v: X.T @ (X @ v) / 30), best
