"""Runs that this library had no part in, and which of its measures a test file calls."""

import ast
import functools
import inspect
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lazyrich import measures


def exported():
    """Functions, and classes that are called for their own sake: not those that only hold results."""
    found = set()
    for name in measures.__all__:
        value = getattr(measures, name)
        holds_results = inspect.isclass(value) and (
            issubclass(value, tuple) or hasattr(value, "__dataclass_fields__")
        )
        if not holds_results:
            found.add(name)
    return found | {"JacobianProducts"}  # a dataclass of what a user's functions do


def missing(pattern):
    """Exported measures that no test file of this name calls; a new one needs a call in one of them."""
    return exported() - called(*Path(__file__).parent.glob(pattern))


def called(*files):
    """Names of the measures that these files call as `measures.name(…)`."""
    trees = (ast.parse(Path(file).read_text(encoding="utf-8")) for file in files)
    functions = (n.func for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call))
    return {
        f.attr
        for f in functions
        if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "measures"
    }  # fmt: skip


class Run(NamedTuple):
    """A classifier by hand: tanh, squared error, full batches. Weights are lists over time."""

    x: np.ndarray
    labels: np.ndarray
    rate: float
    u: list
    v: list
    losses: list

    def hidden(self, u):
        return np.tanh(self.x @ u)

    def outputs(self, u, v):
        return self.hidden(u) @ v

    def slopes(self, u, v):
        """The Jacobian by hand, shape (n, c, weights): u first."""
        h = self.hidden(u)
        n, c = len(h), v.shape[1]
        by_u = np.einsum("nd,nh,hc->ncdh", self.x, 1 - h**2, v).reshape(n, c, -1)
        by_v = np.einsum("nh,ck->nchk", h, np.eye(c)).reshape(n, c, -1)
        return np.concatenate([by_u, by_v], axis=2)


@functools.cache
def classifier():
    """Four inputs, six units, three classes; 300 steps, every one recorded."""
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    x = 0.5 * rng.standard_normal((30, 4)) + np.eye(3, 4)[labels]
    u, v = 0.5 * rng.standard_normal((4, 6)), 0.5 * rng.standard_normal((6, 3))
    run = Run(x, labels, 0.3, [u], [v], [])
    for _ in range(300):
        h = run.hidden(u)
        error = (h @ v - np.eye(3)[labels]) / len(x)
        run.losses.append(len(x) * np.sum(error**2) / 2)
        u, v = u - run.rate * x.T @ (error @ v.T * (1 - h**2)), v - run.rate * h.T @ error
        run.u.append(u)
        run.v.append(v)
    return run


class SumRun(NamedTuple):
    """Modular addition by hand: quadratic units, Adam with decay. Weights are lists over time."""

    modulus: int
    pairs: np.ndarray
    labels: np.ndarray
    first: list
    second: list


@functools.cache
def sums(modulus=11, width=24, steps=40):
    """Every step recorded."""
    rng, M = np.random.default_rng(1), modulus
    pairs = np.argwhere(rng.random((M, M)) < 0.8)
    X, Y = np.eye(M)[pairs].reshape(len(pairs), -1), np.eye(M)[pairs.sum(1) % M]
    W = [rng.standard_normal((2 * M, width)) / 4, rng.standard_normal((width, M)) / 5]
    run = SumRun(M, pairs, pairs.sum(1) % M, [W[0].copy()], [W[1].copy()])
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in W]
    for t in range(1, steps + 1):
        Z = X @ W[0]
        R = Z**2 @ W[1] - Y
        R = 2 / len(X) * (R - R.mean(axis=0))
        for w, (m, s), g in zip(
            W, moments, (2 * X.T @ (R @ W[1].T * Z), (Z**2).T @ R), strict=True
        ):
            g = g + 1e-3 * w
            m += 0.1 * (g - m)
            s += 0.001 * (g**2 - s)
            w -= 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
        run.first.append(W[0].copy())
        run.second.append(W[1].copy())
    return run
