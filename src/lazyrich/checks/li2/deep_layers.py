"""Sec. 6 and Eq. 11: gradients that pass random layers."""

import numpy as np

from lazyrich import quantities, theory
from lazyrich.checks.li2._lazy_instances import centre, cosine, distance, group_data, some_groups
from lazyrich.core import CheckResult, check

LAYERS = {
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
    "quadratic": (np.square, lambda z: 2 * z),
}


def _below(F: np.ndarray, Y: np.ndarray, name: str, scale: float, num_nodes: int) -> tuple:
    """Mean gradient below so many random nodes that receive ỸỸᵀF_L, and the mean gates of the samples."""
    sigma, slope = LAYERS[name]
    rng, total, gate = np.random.default_rng(0), 0.0, 0.0
    for _ in range(num_nodes // 20_000):
        W = scale * rng.standard_normal((F.shape[1], 20_000))
        Z = F @ W
        D = slope(Z)
        total = total + (D * (Y @ (Y.T @ sigma(Z)))) @ W.T
        gate = gate + D.sum(axis=1)
    return total / num_nodes, gate / num_nodes


@check(
    "li2/eq11",
    "The gradient below a random layer",
    against="mean over 60 000 random nodes",
    seconds=6,
)
def eq11() -> CheckResult:
    """`printed` is the angle between the mean and D_LỸỸᵀD_LF with the mean gates; its sine."""
    errors, printed = [], []
    for number, group in enumerate(some_groups()):
        X, Y = group_data(group)
        rng = np.random.default_rng(number)
        F, Y = np.maximum(X @ rng.standard_normal((X.shape[1], 8)), 0) + 0.1, centre(Y)
        for name in LAYERS:
            exact, gate = _below(F, Y, name, 0.3, 60_000)
            found = theory.random_layer_gradient(F, Y, name, 0.3).gradient
            errors.append(distance(found, exact))
            D = gate[:, None]
            angle = cosine(D * (Y @ (Y.T @ (D * F))), exact)
            printed.append(np.sqrt(1 - angle**2))
    return CheckResult(
        max(errors), 0.05, len(errors), printed_error=max(printed),
        correction="Gates belong to nodes: the mean is (ỸỸᵀ∘Κ′)F plus a term of σ″, not D_LỸỸᵀD_LF "
        "with one D_L.",
    )  # fmt: skip


@check(
    "li2/sec6",
    "The gradient of the first layer with residual connections",
    against="automatic differentiation of the loss by the activations",
)
def sec6() -> CheckResult:
    """All of G_L arrives, plus what each layer adds, gated; that is not the sum of all G_l."""
    errors, printed = [], []
    for seed, (group, depth) in enumerate(zip(some_groups(), (2, 3, 4, 2, 3, 4), strict=True)):
        (X, Y), M = group_data(group), group.order
        rng = np.random.default_rng(seed)
        K = 12
        W = [rng.standard_normal((2 * M, K)), *(rng.standard_normal((depth - 1, K, K)) / K**0.5)]
        V = rng.standard_normal((K, M))
        found = quantities.layer_gradients(X, W, V, Y, "tanh", "outside")
        F, G = found.features, found.gradients
        added = [((1 - np.tanh(F[k - 1] @ W[k]) ** 2) * G[k]) @ W[k].T for k in range(1, depth)]
        exact = _differentiated(F[0], W[1:], V, Y)
        errors += [distance(G[0], exact), distance(G[-1] + sum(added), exact)]
        printed.append(distance(sum(G), exact))
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed),
        correction="G_1 = G_L + Σ_{l≥2} (σ′∘G_l)W_lᵀ for F_l = F_{l−1} + σ(F_{l−1}W_l), not Σ G_l.",
    )  # fmt: skip


def _differentiated(F: np.ndarray, W: list[np.ndarray], V: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Minus the derivative of the loss by the first layer's activations."""
    import jax
    import jax.numpy as jnp

    def loss(F: jax.Array) -> jax.Array:
        for w in W:
            F = F + jnp.tanh(F @ w)
        E = Y - F @ V
        return jnp.sum((E - jnp.mean(E, axis=0)) ** 2) / 2

    with jax.enable_x64(True):
        return -np.asarray(jax.grad(loss)(jnp.asarray(F)))
