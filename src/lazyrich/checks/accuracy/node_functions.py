"""Functions about single nodes: ascent, repulsion, Muon's discount, samples that suffice."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy._matrix import entries, exact, length
from lazyrich.checks.accuracy._symmetric import Symmetric, centred
from lazyrich.core import Comparison, accuracy


@accuracy(
    "theory.sample_threshold", "How many samples keep maxima of the energy",
    against="C d² M log(M/δ)", grid="M: 12 from 2 to 1e9; d: 1, 2, 5; δ: 1e-300, 1e-6, 0.5, 1; C: 1e-3, 2.7",
)  # fmt: skip
def sample_threshold() -> Comparison:
    """A logarithm of a number above 1."""
    M, d, delta, C = mesh(
        np.unique(np.round(decades(2, 1e9, 12))), [1, 2, 5], [1e-300, 1e-6, 0.5, 1.0], [1e-3, 2.7]
    )
    where = {"order": M, "dimension": d, "failure": delta, "constant": C}
    values = theory.sample_threshold(M, d, delta, C)
    return Comparison(values, lambda M, d, delta, C: C * d**2 * M * mp.log(M / delta), where)


@accuracy(
    "theory.ascent_matrix",
    "The matrix along which a node grows",
    against="the products at 50 digits",
    grid="12 random nodes, 3 to 6 inputs, 5 to 20 samples, ReLU and x²; entries relative to the largest",
    seconds=1,
)
def ascent_matrix() -> Iterator[Comparison]:
    """Also its factor, one over the degree."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d, activation = (
            int(rng.integers(5, 21)),
            int(rng.integers(3, 7)),
            ("relu", "quadratic")[seed % 2],
        )
        w, X, Y = rng.standard_normal(d), rng.standard_normal((n, d)), rng.standard_normal((n, 2))
        found, z = theory.ascent_matrix(X, Y, w, activation), exact(X) * exact(w)
        slope = [(1 if v > 0 else 0) if activation == "relu" else 2 * v for v in z]
        half = (mp.diag(slope) * exact(X)).T * centred(exact(Y))
        true = half * half.T
        where = {"seed": seed, "activation": activation}
        yield Comparison(found.matrix, entries(true), where, scale=max(abs(v) for v in true))
        degree = 1 if activation == "relu" else 2
        yield Comparison(found.factor, mp.mpf(1) / degree, where | {"part": "factor"})


@accuracy(
    "theory.muon_projection",
    "What Muon makes of one gradient beside orthonormal ones",
    against="the last column of X(XᵀX)^(−1/2) at 50 digits",
    grid="m = 1 to 4 axes as basis in d = m + 3 dimensions, vectors along and across them with sizes from "
    "1e-8 to 1e3; entries relative to 1",
    seconds=2,
)
def muon_projection() -> Iterator[Comparison]:
    """Axes: a basis that is orthonormal in double precision as well."""
    for m in (1, 2, 3, 4):
        rng, d = np.random.default_rng(m), m + 3
        order = rng.permutation(d)
        Q = np.eye(d)[:, order[:m]]
        for along in (0.0, 1e-8, 0.3, 1e3):
            for across in (1e-8, 1e-3, 1.0, 1e3):
                v = rng.standard_normal(d) * across
                v[order[:m]] = rng.standard_normal(m) * along
                X = exact(np.column_stack([Q, v]))
                root = Symmetric(X.T * X).apply(lambda value: 1 / mp.sqrt(value))
                true = (X * root)[:, m]
                where = {"axes": m, "along": along, "across": across}
                found = theory.muon_projection(Q, v)
                yield Comparison(found, entries(true).ravel(), where, scale=1)


def _fitted(F: Any, others: list[int], ridge: Any) -> Any:
    """What ridge regression on other columns leaves: the matrix P."""
    if not others:
        return mp.eye(F.rows)
    G = mp.matrix([[F[i, j] for j in others] for i in range(F.rows)])
    return mp.eye(F.rows) - G * mp.inverse(G.T * G + ridge * mp.eye(len(others))) * G.T


@accuracy(
    "theory.feature_repulsion",
    "How nodes with similar features push each other apart",
    against="a ridge regression for each pair at 50 digits",
    grid="9 random sets of 2 to 5 features on 8 samples; η = 1e-6, 0.1, 10; entries relative to the largest",
    explanation="Features that nearly depend on each other make the Gram matrix plus η ill-conditioned; its "
    "condition number enters the similarities that are left.",
    seconds=2,
)
def feature_repulsion() -> Iterator[Comparison]:
    """B itself from the inverse; what is left of two features from a fit to the others."""
    for seed in range(9):
        rng, K, ridge = np.random.default_rng(seed), 2 + seed % 4, (1e-6, 0.1, 10.0)[seed % 3]
        raw = rng.standard_normal((8, K))
        if seed > 5:
            raw[:, 1] = raw[:, 0] + 1e-3 * raw[:, 1]
        F, eta = centred(exact(raw)), mp.mpf(ridge)
        gram = F.T * F
        spectrum = Symmetric(gram + eta * mp.eye(K))
        B = spectrum.apply(lambda value: 1 / value)
        left = mp.matrix(K, K)
        for j in range(K):
            for k in range(K):
                P = _fitted(F, [i for i in range(K) if i not in (j, k)], eta)
                left[j, k] = (F[:, j].T * P * F[:, k])[0, 0]
        condition = max(spectrum.values) / min(spectrum.values)
        found = theory.feature_repulsion(raw, ridge)
        for name, true in {
            "coefficients": B, "residual_similarity": left, "similarity": gram, "mixed": F * B,
        }.items():  # fmt: skip
            where = {"seed": seed, "nodes": K, "ridge": ridge, "part": name}
            yield Comparison(
                getattr(found, name), entries(true), where, scale=max(abs(v) for v in true),
                condition=condition,
            )  # fmt: skip


@accuracy(
    "theory.random_layer_gradient",
    "Mean gradient below a random layer, and its two kernels",
    against="arccosine kernels for ReLU; moments of Gaussians for x² and x³ − x, at 50 digits",
    grid="9 random sets of 5 samples in 3 dimensions, τ = 0.1, 0.5, 1; entries relative to the largest",
    seconds=3,
)
def random_layer_gradient() -> Iterator[Comparison]:
    """Wick's theorem gives the means of polynomials."""
    for seed in range(9):
        rng, tau = np.random.default_rng(seed), (0.1, 0.5, 1.0)[seed // 3]
        activation = ("relu", "quadratic", _cubic)[seed % 3]
        raw, Y = rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
        F, y = exact(raw), centred(exact(Y))
        C, A = mp.mpf(tau) ** 2 * F * F.T, y * y.T
        gate, bend = mp.matrix(5, 5), mp.matrix(5, 5)
        for i in range(5):
            for k in range(5):
                gate[i, k], bend[i, k] = _means(seed % 3, C[i, i], C[i, k], C[k, k])
        gradient = mp.matrix(5, 3)
        for i in range(5):
            own = mp.fsum(A[i, k] * bend[i, k] for k in range(5))
            for j in range(3):
                others = mp.fsum(A[i, k] * gate[i, k] * F[k, j] for k in range(5))
                gradient[i, j] = mp.mpf(tau) ** 2 * (others + own * F[i, j])
        found = theory.random_layer_gradient(raw, Y, activation, tau)
        for name, true in {"gradient": gradient, "gate": gate, "bend": bend}.items():
            where = {"seed": seed, "initial_std": tau, "part": name}
            size = max(length(true[i, :]) for i in range(true.rows))
            yield Comparison(getattr(found, name), entries(true), where, scale=size)


def _cubic(z: Any) -> Any:
    return z**3 - z


def _means(kind: int, p: Any, c: Any, q: Any) -> tuple[Any, Any]:
    """E σ′(z)σ′(w) and E σ″(z)σ(w) for Gaussians of variances p, q and covariance c."""
    if kind == 0:
        cosine = max(min(c / mp.sqrt(p * q), mp.mpf(1)), mp.mpf(-1))
        sine = mp.sqrt(1 - cosine**2)
        return (mp.pi - mp.acos(cosine)) / (2 * mp.pi), sine * mp.sqrt(q / p) / (2 * mp.pi)
    if kind == 1:
        return 4 * c, 2 * q
    squares = p * q + 2 * c * c  # E z²w²
    return 9 * squares - 3 * p - 3 * q + 1, 6 * (3 * c * q - c)
