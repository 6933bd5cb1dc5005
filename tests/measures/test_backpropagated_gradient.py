"""G_F and ridge regression against matrices formed in full, derivatives, and limits."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich import groups, models, simulate, tasks
from lazyrich.core import ArgumentError
from lazyrich.measures import backpropagated_gradient, ridge_distance
from lazyrich.simulate import _objectives as objectives


@st.composite
def networks(draw, complex_too=True):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, K, M = draw(st.integers(4, 14)), draw(st.integers(1, 9)), draw(st.integers(2, 5))
    F, V = rng.standard_normal((n, K)), rng.standard_normal((K, M))
    if complex_too and draw(st.booleans()):
        F, V = F + 1j * rng.standard_normal((n, K)), V + 1j * rng.standard_normal((K, M))
    labels = np.concatenate([np.arange(M) % n, rng.integers(M, size=n)])[:n]
    return F, labels, V


def cosine(a, b):
    return np.vdot(a, b).real / np.linalg.norm(a) / np.linalg.norm(b)


@given(networks())
def test_formed_in_full(network):
    F, labels, V = network
    n, Y = len(F), np.eye(V.shape[1])[labels]
    P = np.eye(n) - 1 / n
    G = P @ (Y - F @ V) @ V.conj().T
    key = P @ Y @ Y.T @ P @ F
    found = backpropagated_gradient(F, labels, V)
    assert found.norm == pytest.approx(np.linalg.norm(G), rel=1e-9)
    assert found.alignment == pytest.approx(cosine(key, G), abs=1e-9)
    np.testing.assert_allclose(found.node_norms, np.linalg.norm(G, axis=0), rtol=1e-9)
    each = [cosine(*pair) for pair in zip(key.T, G.T, strict=True)]
    np.testing.assert_allclose(found.node_alignments, each, atol=1e-7)
    rows = backpropagated_gradient(F, Y, V)
    assert rows.norm == found.norm


@given(networks(), st.sampled_from(["samples", "classes", "both", "none"]))
def test_it_is_a_gradient(network, centring):
    """Minus the derivative of ½‖P(Y − FV)‖² by F, entry by entry, by real and imaginary part."""
    F, labels, V = network
    Y = np.eye(V.shape[1])[labels]

    def loss(F):
        R = Y - F @ V
        for axis, words in enumerate((("samples", "both"), ("classes", "both"))):
            R = R - R.mean(axis=axis, keepdims=True) * (centring in words)
        return np.sum(np.abs(R) ** 2) / 2

    slopes = np.zeros(F.shape[1])
    for j in range(F.shape[1]):
        for i in range(len(F)):
            for unit in (1.0, 1j) if np.iscomplexobj(F) else (1.0,):
                step = np.zeros_like(F)
                step[i, j] = unit
                slopes[j] += (
                    (loss(F + step) - loss(F - step)) / 2
                ) ** 2  # exact, as the loss is quadratic
    found = backpropagated_gradient(F, labels, V, centring=centring)
    np.testing.assert_allclose(found.node_norms, np.sqrt(slopes), rtol=1e-6, atol=1e-9)


def test_small_times_and_ridge_limit():
    """Eq. 3: t ỸỸᵀF̃ from a top layer of zero. Lemma 1: near it for ridge and nearly orthogonal features."""
    rng = np.random.default_rng(0)
    n, K, M = 120, 4000, 6
    F, labels = rng.standard_normal((n, K)), np.arange(n) % M
    Y, tilde = np.eye(M)[labels], F - F.mean(axis=0)
    step = 1e-9 * tilde.T @ (Y - Y.mean(axis=0))
    assert backpropagated_gradient(F, labels, step).alignment == pytest.approx(1, abs=1e-6)
    noise = backpropagated_gradient(F, labels, rng.standard_normal((K, M)) / 100)
    assert abs(noise.alignment) < 0.1
    V = tilde.T @ np.linalg.solve(tilde @ tilde.T + 5 * np.eye(n), Y - Y.mean(axis=0))
    assert backpropagated_gradient(F, labels, V).alignment > 0.95
    assert ridge_distance(F, labels, V, 5.0).weights < 1e-10


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
@pytest.mark.parametrize("centring", ["samples", "classes", "both", "none"])
def test_ridge_solution_is_a_minimum(shape, centring):
    """The gradient of the ridge loss vanishes at distance zero, from both forms of the solution."""
    rng = np.random.default_rng(1)
    F, labels, eta = rng.standard_normal(shape), np.arange(shape[0]) % 3, 0.7
    Y = np.eye(3)[labels]
    A = F - F.mean(axis=0) if centring in ("samples", "both") else F
    means = {"samples": Y.mean(axis=0), "classes": 1 / 3, "both": Y.mean(axis=0), "none": 0}
    B = Y - means[centring]  # labels have the same mean over classes everywhere
    V = np.linalg.lstsq(
        np.vstack([A, np.sqrt(eta) * np.eye(shape[1])]),
        np.vstack([B, np.zeros((shape[1], 3))]),
        rcond=None,
    )[0]
    found = ridge_distance(F, labels, V, eta, centring=centring)
    assert found.weights < 1e-12
    away = ridge_distance(F, labels, 1.5 * V, eta, centring=centring)
    assert away.weights == pytest.approx(0.5)
    assert away.outputs == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(15, 4), (4, 15)])
def test_ridge_of_complex_weights(shape):
    """Real and imaginary part of the outputs are fitted: twice as many real samples and real nodes."""
    rng, n = np.random.default_rng(2), shape[0]
    F = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    V = rng.standard_normal((shape[1], 3)) + 1j * rng.standard_normal((shape[1], 3))
    Y = np.eye(3)[np.arange(n) % 3]
    A = F - F.mean(axis=0)
    blocks = np.block([[A.real, -A.imag], [A.imag, A.real]])
    targets = np.vstack([Y - Y.mean(axis=0), np.zeros((n, 3))])
    stacked = np.vstack([V.real, V.imag])
    real = ridge_distance(blocks, targets, stacked, 0.3, centring="none")
    np.testing.assert_allclose(ridge_distance(F, Y, V, 0.3), real, rtol=1e-12)


@pytest.mark.parametrize("centring", ["samples", "classes", "none"])
def test_complex_training_has_the_same_loss(centring):
    """The top layer and the gradient of `FeatureLearning`, whose loss takes the modulus of the residual."""
    network = models.PairNetwork(5, 12, complex_weights=True)
    task = tasks.GroupArithmetic(groups.cyclic(5), 0.8)
    training = simulate.FeatureLearning(network, task, centring=centring, top_decay=0.01)
    weights, data = training.start(0)
    with jax.enable_x64(True):
        F = np.asarray(training.features(weights, data))
        second = training.with_top(weights, data).second
        V, n = second[0] + 1j * second[1], len(F)

        def loss(real, imaginary):
            outputs = (real + 1j * imaginary) @ V
            residual = objectives.centred(np.eye(5)[data.labels] - outputs, data.share, centring)
            return n / 2 * data.share @ objectives.squared_norm(residual)

        slopes = jax.grad(loss, (0, 1))(F.real, F.imag)
    found = backpropagated_gradient(F, data.labels, V, centring=centring)
    assert found.norm == pytest.approx(np.linalg.norm(np.stack(slopes)), rel=1e-9)
    assert max(ridge_distance(F, data.labels, V, data.ridge, centring=centring)) < 1e-12


def test_unseen_directions_count_in_weights_only():
    F = np.zeros((6, 3))
    F[:, 0] = [1, -1, 2, -2, 0.5, -0.5]
    labels, V = np.array([0, 1, 0, 1, 0, 1]), np.zeros((3, 2))
    V[1] = 10.0
    found = ridge_distance(F, labels, V, 0.1)
    assert found.outputs == pytest.approx(1)
    assert found.weights > 10


def test_leading_axes():
    rng = np.random.default_rng(3)
    F, V, labels = (
        rng.standard_normal((4, 10, 5)),
        rng.standard_normal((4, 5, 3)),
        rng.integers(3, size=(4, 10)),
    )
    found = backpropagated_gradient(F.astype(np.float32), labels, V)
    assert found.node_norms.shape == (4, 5)
    one = backpropagated_gradient(F[2].astype(np.float32), labels[2], V[2])
    assert found.norm[2] == one.norm
    assert ridge_distance(F, labels[0], V, 1.0).outputs.shape == (4,)


def test_nothing_to_send_back():
    found = backpropagated_gradient(np.ones((4, 2)), [0, 1, 0, 1], np.zeros((2, 2)))
    assert found.norm == 0
    assert np.isnan(found.alignment)


F, Y, V = np.arange(12.0).reshape(4, 3), [0, 1, 0, 1], np.ones((3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: backpropagated_gradient(F, Y, np.ones((2, 2))),
            r"`second` must have the shape \(..., 3, classes\)",
        ),
        (
            lambda: backpropagated_gradient(F, [0, 1, 2, 0], V),
            r"`targets\[2\]` must be a whole number ≥ 0 and ≤ 1",
        ),
        (
            lambda: backpropagated_gradient(F, [0, 1], V),
            r"`targets` must have the shape \(..., 4\)",
        ),
        (
            lambda: backpropagated_gradient(F, [0.0, 1, 0, 1], V),
            "Classes must be of an integer type",
        ),
        (
            lambda: backpropagated_gradient(F, Y, V, centring="rows"),
            "`centring` must be one of samples, classes, both, none",
        ),
        (lambda: backpropagated_gradient(F, Y, V * np.nan), "got nan"),
        (
            lambda: backpropagated_gradient(np.stack([F] * 3), np.zeros((2, 4), int), V),
            "leading axes that fit",
        ),
        (
            lambda: ridge_distance(F, Y, V, -1.0),
            "`ridge` must be a finite real number ≥ 0, got -1.0",
        ),
        (
            lambda: ridge_distance(F, Y, V, 0.0),
            "`ridge` must be > 0 for a Gram matrix of rank 1 < 3 nodes",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
