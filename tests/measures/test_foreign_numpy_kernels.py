"""Measures of derivatives on a run by hand in NumPy, beside finite differences and dense matrices."""

import numpy as np
import pytest
from foreign_runs import classifier, missing

from lazyrich import measures


def difference_quotients(run, u, v):
    """The Jacobian by central differences, shape (n, c, weights)."""
    w = np.concatenate([u.ravel(), v.ravel()])

    def outputs(w):
        return run.outputs(w[: u.size].reshape(u.shape), w[u.size :].reshape(v.shape))

    steps = 1e-5 * np.eye(w.size)
    return np.stack([(outputs(w + e) - outputs(w - e)) / 2e-5 for e in steps], axis=2)


def distance(K, L):
    return 1 - np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)


def test_kernels():
    run = classifier()
    u, v = run.u[-1], run.v[-1]
    J = run.slopes(u, v)
    n, c, P = J.shape
    quotients = difference_quotients(run, u, v)
    expected = np.einsum("iop,jop->ij", quotients, quotients)
    np.testing.assert_allclose(measures.tangent_kernel(J).kernel, expected, rtol=1e-7, atol=1e-7)
    rows = J.reshape(n * c, P)
    products = measures.JacobianProducts(n, c, P, rows=lambda numbers: rows[numbers].tolist())
    blocks = measures.tangent_kernel(products, max_bytes=10 * 8 * P).kernel
    np.testing.assert_allclose(blocks, expected, rtol=1e-7, atol=1e-7)
    h = run.hidden(u)
    slopes = np.einsum("nh,hc->nch", 1 - h**2, v)
    layers = [(run.x, slopes), (h, np.broadcast_to(np.eye(c), (n, c, c)))]
    by_layers = measures.layered_tangent_kernel(layers).kernel
    np.testing.assert_allclose(by_layers, expected, rtol=1e-7, atol=1e-7)
    assert measures.tangent_kernel(J, full=True).kernel[4, 7] == pytest.approx(rows[4] @ rows[7])
    centring = np.eye(n) - 1 / n
    Y = np.eye(3)[run.labels]
    L = measures.target_kernel(Y)
    np.testing.assert_array_equal(L, run.labels[:, None] == run.labels)
    alignment = measures.centred_alignment(measures.tangent_kernel(J), L)
    K, L = (centring @ one @ centring for one in (np.einsum("iop,jop->ij", J, J), L))
    assert alignment == pytest.approx(1 - distance(K, L), rel=1e-9)


def test_lazy_or_rich():
    run = classifier()
    (u0, v0), (u, v) = (run.u[0], run.v[0]), (run.u[-1], run.v[-1])
    J0, J = run.slopes(u0, v0), run.slopes(u, v)
    K0, K = (np.einsum("iop,jop->ij", one, one) for one in (J0, J))
    w0, w = (np.concatenate([a.ravel(), b.ravel()]) for a, b in ((u0, v0), (u, v)))
    f0, f, linear = run.outputs(u0, v0), run.outputs(u, v), J0 @ (w - w0)
    found = measures.lazy_or_rich(
        K0, K, start_outputs=f0, end_outputs=f, linear_change=linear, start_weights=w0, end_weights=w,
        targets=np.eye(3)[run.labels],
    )  # fmt: skip
    sine = np.sqrt(1 - (1 - distance(K0, K)) ** 2)
    rest, along = (np.linalg.norm(a) for a in (f - f0 - linear, linear))
    assert found.kernel_change == pytest.approx(sine, rel=1e-9)
    assert found.function_change == pytest.approx(rest / np.hypot(rest, along), rel=1e-9)
    assert found.value == max(found.kernel_change, found.function_change)
    gap = measures.linearisation_gap(f0, f, linear)
    assert gap == pytest.approx(rest / np.linalg.norm(f - f0), rel=1e-12)
    sketches = [
        measures.tangent_kernel(
            measures.JacobianProducts(*one.shape, product=one.__matmul__), num_directions=400
        )
        for one in (J0, J)
    ]
    near, error = measures.sketched_kernel_distance(*sketches)
    assert abs(near - distance(K0, K)) < 4 * error < 0.2
    y = np.eye(3)[run.labels].ravel()
    theta = measures.tangent_kernel(J0, full=True)
    ratio = measures.weight_to_target_ratio(w0, theta, np.eye(3)[run.labels])
    expected = np.linalg.norm(w0) * np.linalg.norm(y @ J0.reshape(y.size, -1)) / (2 * y @ y)
    assert ratio == pytest.approx(expected, rel=1e-12)


def test_saddles():
    """½‖S − VU‖² near zero: the Hessian has ± the singular values of S, each as often as there are units."""
    S = np.diag([2.0, 1.0])

    def gradient(w):
        U, V = w.reshape(2, 2, 2)
        E = V @ U - S
        return [*(V.T @ E).ravel().tolist(), *(E @ U.T).ravel().tolist()]

    def product(w, direction):
        step = 1e-6 * direction
        both = (np.array(gradient(w + sign * step)) for sign in (1, -1))
        return (next(both) - next(both)) / 2e-6

    start = 1e-3 * np.random.default_rng(0).standard_normal(8)
    found = measures.saddle_certificate(gradient, product, start, tolerance=1e-6)
    assert (found.verdict, found.index, found.dimension) == ("saddle", 4, 8)
    np.testing.assert_allclose(found.rates, [2, 2, 1, 1], rtol=1e-6)
    assert found.distance == pytest.approx(np.linalg.norm(start), rel=1e-4)
    dense = np.array([product(start, e) for e in np.eye(8)])
    assert found.lowest == pytest.approx(np.linalg.eigvalsh(dense)[0], abs=1e-2)
    sharp = measures.sharpness(product, start)
    assert sharp.largest == pytest.approx(np.linalg.eigvalsh(dense)[-1], abs=1e-6)
    assert sharp.trace == pytest.approx(np.trace(dense), abs=1e-6)


def test_no_measure_is_missing():
    """Every measure is called on a run from NumPy: put a new one into one of these files."""
    assert missing("test_foreign_numpy_*.py") == set(), "call each in one of these files"
