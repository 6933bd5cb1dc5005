"""Small networks on modular addition, trained in plain NumPy, whose outcome is known."""

import functools

import numpy as np


def pairs_of(modulus, fraction, seed=0):
    """Training pairs, shape (n, 2), and the others."""
    pairs = np.argwhere(np.ones((modulus, modulus), bool))
    order = np.random.default_rng(seed).permutation(len(pairs))
    n = round(fraction * len(pairs))
    return pairs[order[:n]], pairs[order[n:]]


def waves(modulus, frequencies, phases, others=None):
    """Nodes of single frequencies, shape (2M, nodes)."""
    g, k = np.arange(modulus)[:, None], np.asarray(frequencies)
    second = phases if others is None else others
    return np.concatenate(
        [np.cos(2 * np.pi * k * g / modulus + phase) for phase in (phases, second)]
    )


def hidden(first, pairs):
    """Quadratic units."""
    return (first[pairs[:, 0]] + first[len(first) // 2 + pairs[:, 1]]) ** 2


@functools.cache
def trained(modulus, width, fraction, rate, decay, epochs, seed=0, waves_at_start=False):
    """A run by Adam with coupled decay on the mean squared residual; weights on a logarithmic grid."""
    M, rng = modulus, np.random.default_rng(seed)
    train, test = pairs_of(M, fraction, seed)
    W = rng.uniform(-1, 1, (2 * M, width)) / np.sqrt(2 * M)
    if waves_at_start:
        k, phases = rng.integers(1, (M + 1) // 2, width), rng.uniform(0, 2 * np.pi, (2, width))
        W = waves(M, k, *phases) / np.sqrt(M)
    V = rng.uniform(-1, 1, (width, M)) / np.sqrt(width)
    n, X, Y = len(train), np.eye(M)[train].reshape(len(train), -1), np.eye(M)[train.sum(1) % M]
    grid = {0, *np.round(np.geomspace(1, epochs, 16)).astype(int).tolist()}
    moments, record = [[np.zeros_like(w), np.zeros_like(w)] for w in (W, V)], []
    for t in range(epochs + 1):
        if t in grid:
            record.append(
                (t, W.copy(), V.copy(), *(accuracy(W, V, train, part) for part in (train, test)))
            )
        Z = X @ W
        R = Z**2 @ V - Y
        R = 2 / n * (R - R.mean(axis=0))
        slopes = X.T @ (R @ V.T * 2 * Z) + decay * W, (Z**2).T @ R + decay * V
        for w, (m, v), g in zip((W, V), moments, slopes, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            w -= rate * (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
    times, first, second, *accuracies = (np.array(column) for column in zip(*record, strict=True))
    return train, test, times, first, second, *accuracies


def accuracy(W, V, train, pairs):
    """Share of pairs whose largest output is the sum; outputs are free up to a constant of each class."""
    shift = 1 / len(V[0]) - (hidden(W, train) @ V).mean(axis=0)
    return np.mean((hidden(W, pairs) @ V + shift).argmax(axis=1) == pairs.sum(1) % (len(W) // 2))


def grokked():
    return trained(23, 64, 0.8, 5e-3, 1e-3, 120)


def stuck():
    return trained(23, 192, 0.4, 1e-3, 0.0, 300)


def memorised():
    return trained(23, 96, 0.25, 5e-3, 1e-3, 500)


def early():
    return trained(23, 256, 0.9, 2e-3, 1e-4, 60, waves_at_start=True)
