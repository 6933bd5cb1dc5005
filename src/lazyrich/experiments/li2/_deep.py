"""Networks with more layers: what their layers have learned, recorded on the way."""

from typing import Any

SHOWN = 8
"""Nodes of the lowest layer that are recorded, the strongest ones."""


def layer_probe(training: Any, weights: Any, data: Any) -> dict[str, Any]:
    """Purity of the lowest layer's nodes in one frequency, and what labels explain of the last hidden one.

    Both are about what generalises: neither rises when a layer learns training pairs by heart.
    """
    import jax
    import jax.numpy as jnp

    shares = frequency_shares(weights.first)
    size = jnp.sum(weights.first**2, axis=0)
    weight = size / jnp.sum(size)  # a node without weights says nothing
    strongest = jax.lax.top_k(size, min(SHOWN, size.shape[0]))[1]
    return {
        "label_share": _label_share(training, weights, data),
        "nodes": weights.first[: weights.first.shape[0] // 2, strongest],
        "purity": weight @ shares.max(axis=0),
        "inverse_participation": weight @ jnp.sum(shares**2, axis=0),
    }


def frequency_shares(first: Any) -> Any:
    """Shares of a cyclic group's frequencies but 0 in the power of each node, shape (frequencies, nodes)."""
    import jax.numpy as jnp

    M = first.shape[0] // 2
    waves = jnp.fft.rfft(first.reshape(2, M, -1), axis=1)
    power = jnp.sum(jnp.abs(waves) ** 2, axis=0)
    power = (
        power[1:].at[-1].multiply(0.5 if M % 2 == 0 else 1.0)
    )  # others stand for two frequencies
    return power / jnp.maximum(power.sum(axis=0), jnp.finfo(first.dtype).tiny)


def _label_share(training: Any, weights: Any, data: Any) -> Any:
    """Variance of the last hidden layer over test pairs that the label explains, in all variance.

    Adjusted for the number of classes, so that it is zero on average where labels explain nothing.
    """
    import jax
    import jax.numpy as jnp

    F, test = training.unscaled.features(weights, data.all_pairs), 1 - data.is_train
    classes = (
        jax.nn.one_hot(data.all_labels, training.unscaled.output_dimension, dtype=F.dtype)
        * test[:, None]
    )
    counts, n = classes.sum(axis=0), test.sum()
    F = (F - test @ F / n) * test[:, None]
    means = classes.T @ F / jnp.maximum(counts, 1)[:, None]
    total = jnp.sum(F**2)
    within = total - jnp.sum(counts[:, None] * means**2)
    freedom = jnp.maximum(n - jnp.sum(counts > 0), 1)
    return 1 - within / jnp.maximum(total, 1e-30) * (n - 1) / freedom
