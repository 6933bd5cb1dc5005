"""Tangent kernels against dense ones from one gradient per output, whole, in blocks, sketched, by layers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.adapters import tangents
from lazyrich.core import ArgumentError
from lazyrich.measures import (
    JacobianProducts,
    centred_alignment,
    layered_tangent_kernel,
    sketched_kernel_distance,
    tangent_kernel,
    target_kernel,
)
from lazyrich.quantities import kernel_distance

N, D, H, C = 7, 3, 5, 2
RNG = np.random.default_rng(0)
WEIGHTS = {
    "u": RNG.standard_normal((D, H)),
    "b": RNG.standard_normal(H),
    "v": RNG.standard_normal((H, H)),
    "w": RNG.standard_normal((H, C)),
}
X = RNG.standard_normal((N, D))


def network(w, x):
    return jnp.tanh(jnp.tanh(x @ w["u"] + w["b"]) @ w["v"]) @ w["w"]


@pytest.fixture(scope="module")
def net():
    return tangents(network, WEIGHTS, X)


@pytest.fixture(scope="module")
def jacobian():
    """One gradient for each point and output, of trees, flattened leaf by leaf."""
    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(lambda w, x, hot: jnp.sum(network(w, x[None])[0] * hot)))
        rows = [
            [np.concatenate([np.ravel(g) for g in jax.tree.leaves(gradient(WEIGHTS, x, hot))])
             for hot in np.eye(C)]
            for x in X
        ]  # fmt: skip
    return np.array(rows)  # (N, C, P)


def dense(J, full):
    n, c, _ = J.shape
    K = np.zeros((n, c, n, c))
    for i, o, j, q in np.ndindex(n, c, n, c):
        K[i, o, j, q] = np.sum(J[i, o] * J[j, q])
    return K.reshape(n * c, n * c) if full else np.einsum("iojo->ij", K)


@pytest.mark.parametrize("full", [False, True])
def test_against_one_gradient_per_output(net, jacobian, full):
    exact = dense(jacobian, full)
    found = tangent_kernel(jacobian, full=full)
    np.testing.assert_allclose(found.kernel, exact, rtol=1e-12, atol=1e-12)
    assert (found.method, found.uncertainty) == ("jacobian", 0.0)
    at = net.at(WEIGHTS)
    for max_bytes in (2**20, 1):  # all rows at once, and one at a time
        blocks = tangent_kernel(at, full=full, max_bytes=max_bytes)
        np.testing.assert_allclose(blocks.kernel, exact, rtol=1e-12, atol=1e-12)
        assert blocks.method == "exact"
    alone = JacobianProducts(N, C, at.num_weights, transposed=at.transposed)
    np.testing.assert_allclose(
        tangent_kernel(alone, full=full).kernel, exact, rtol=1e-12, atol=1e-12
    )


def test_products_are_those_of_the_jacobian(net, jacobian):
    flat = jacobian.reshape(N * C, -1)
    direction, cotangent = RNG.standard_normal(flat.shape[1]), RNG.standard_normal((N, C))
    product, transposed = (
        net.product(net.weights, direction),
        net.transposed(net.weights, cotangent),
    )
    np.testing.assert_allclose(product.ravel(), flat @ direction, rtol=1e-11)
    np.testing.assert_allclose(transposed, cotangent.ravel() @ flat, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(net.rows(net.weights, [3, 0]), flat[[3, 0]], rtol=1e-11, atol=1e-12)
    with jax.enable_x64(True):
        np.testing.assert_allclose(net.outputs(net.weights), network(WEIGHTS, X), rtol=1e-12)


def test_by_layers_it_is_the_same(jacobian):
    """Inputs and slopes of each dense layer, the slopes by hand."""
    h1 = np.tanh(X @ WEIGHTS["u"] + WEIGHTS["b"])
    h2 = np.tanh(h1 @ WEIGHTS["v"])
    last = np.broadcast_to(np.eye(C), (N, C, C))
    second = np.einsum("ho,nh->noh", WEIGHTS["w"], 1 - h2**2)
    first = np.einsum("noh,gh,ng->nog", second, WEIGHTS["v"], 1 - h1**2)
    ones = np.column_stack([X, np.ones(N)])  # with a bias
    found = layered_tangent_kernel([(ones, first), (h1, second), (h2, last)])
    assert (found.method, found.uncertainty) == ("layers", 0.0)
    np.testing.assert_allclose(found.kernel, dense(jacobian, False), rtol=1e-11)


@pytest.mark.parametrize("full", [False, True])
def test_sketches_are_right_on_average_and_know_their_error(jacobian, full):
    exact = dense(jacobian, full)
    rows = jacobian.reshape(N * C, -1)
    products = JacobianProducts(N, C, rows.shape[1], product=rows.__matmul__)
    found = [tangent_kernel(products, full=full, num_directions=300, seed=s) for s in range(60)]
    norm = np.linalg.norm(exact)
    off = np.array([np.linalg.norm(one.kernel - exact) / norm for one in found])
    said = np.mean([one.uncertainty for one in found])
    assert said == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.15)
    mean = np.mean([one.kernel for one in found], axis=0)
    assert np.linalg.norm(mean - exact) / norm < 3 * said / np.sqrt(60)
    if full:  # Isserlis' formula, as in the docstring for one output
        formula = np.sqrt((norm**2 + np.trace(exact) ** 2) / 300) / norm
        assert said == pytest.approx(formula, rel=0.1)
    assert tangent_kernel(products).method == "sketch"  # there are no rows to be had


@pytest.mark.parametrize("outputs", [1, 2])
def test_distances_between_sketches_have_no_bias(outputs):
    """Far more rows than directions count: kernels are noise, their distance is not."""
    rng = np.random.default_rng(5)
    J = rng.standard_normal((2, 40 * outputs, 300))
    J[1] = J[0] + 0.4 * J[1]

    def sketched(k, seed):
        products = JacobianProducts(40, outputs, 300, product=J[k].__matmul__)
        return tangent_kernel(products, num_directions=60, seed=seed)

    pairs = [(sketched(0, seed), sketched(1, seed)) for seed in range(30)]
    exact = kernel_distance(*(tangent_kernel(j.reshape(40, outputs, 300)).kernel for j in J))
    found = [sketched_kernel_distance(*pair) for pair in pairs]
    values = np.array([one.distance for one in found])
    error = np.std(values, ddof=1)
    assert np.mean(values) == pytest.approx(exact, abs=4 * error / np.sqrt(30) + 0.002)
    assert np.mean([one.uncertainty for one in found]) == pytest.approx(error, rel=0.6)
    plain = np.mean([kernel_distance(a.kernel, b.kernel) for a, b in pairs])
    assert abs(plain - exact) > 3 * abs(np.mean(values) - exact)


def test_large_kernels_are_sketched_unless_told_otherwise(monkeypatch, jacobian):
    rows = jacobian.reshape(N * C, -1)
    products = JacobianProducts(N, C, rows.shape[1], rows=rows.__getitem__, product=rows.__matmul__)
    assert tangent_kernel(products).method == "exact"
    monkeypatch.setattr("lazyrich.measures._tangent_kernel.EXACT_LIMIT", 10)
    assert tangent_kernel(products, num_directions=5).method == "sketch"
    assert tangent_kernel(products, method="exact").method == "exact"


def test_memory_stays_within_its_bound(jacobian):
    """Row requests show what is held: all that came between two restarts, and the piece passing by."""
    rows, asked = jacobian.reshape(N * C, -1), []

    def some(numbers):
        asked.append(list(numbers))
        return rows[numbers]

    P = rows.shape[1]
    products = JacobianProducts(N, C, P, rows=some)
    for fitting in (2, 3, 9, 100):
        asked.clear()
        found = tangent_kernel(products, full=True, max_bytes=8 * P * fitting).kernel
        np.testing.assert_allclose(found, dense(jacobian, True), rtol=1e-12, atol=1e-12)
        again = [k for k, numbers in enumerate(asked) if k and numbers[0] <= asked[k - 1][0]]
        held = asked[again[0]][0] if again else N * C
        assert min(held, N * C) + bool(again) * max(map(len, asked)) <= fitting
        assert sum(map(len, asked)) == sum(N * C - start for start in range(0, N * C, held))
        assert bool(again) == (fitting < N * C)


@st.composite
def kernels(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(3, 8))
    A, B = (rng.standard_normal((n, draw(st.integers(2, 9)))) for _ in range(2))
    return A @ A.T, B @ B.T


@given(kernels(), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=40, deadline=None)
def test_centred_alignment(pair, scale, shift):
    K, L = pair
    n = len(K)
    centring = np.eye(n) - 1 / n
    A, B = centring @ K @ centring, centring @ L @ centring
    exact = np.sum(A * B) / np.sqrt(np.sum(A**2) * np.sum(B**2))
    assert centred_alignment(K, L) == pytest.approx(exact, abs=1e-10)
    assert centred_alignment(L, K) == pytest.approx(exact, abs=1e-10)
    assert centred_alignment(scale * K + shift, L) == pytest.approx(exact, abs=1e-8)
    assert centred_alignment(K, scale * K) == pytest.approx(1, abs=1e-12)
    assert -1e-12 <= exact <= 1 + 1e-12
    assert centred_alignment([K, L], L).shape == (2,)


def test_a_kernel_made_of_the_target_is_aligned_with_it():
    y = np.random.default_rng(3).standard_normal((6, 2))
    assert centred_alignment(y @ y.T, target_kernel(y)) == pytest.approx(1)
    assert target_kernel([1, -1]).tolist() == [[1, -1], [-1, 1]]


def test_random_features_have_a_constant_kernel():
    """Only the last layer is trained: the Jacobian does not depend on it."""
    features = np.tanh(X @ WEIGHTS["u"])
    net = tangents(lambda w, x: jnp.tanh(x @ WEIGHTS["u"]) @ w, WEIGHTS["w"], X)
    other = tangent_kernel(net.at(net.weights + 5.0)).kernel
    np.testing.assert_allclose(other, C * features @ features.T, rtol=1e-12)
    assert kernel_distance(tangent_kernel(net.at(net.weights)).kernel, other) < 1e-30  # rounding


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tangent_kernel(np.full((2, 3), np.nan)), r"`jacobian\[0, 0\]` must be a finite"),
        (lambda: tangent_kernel(np.ones(3)), r"`jacobian` must have the shape \(n, c, P\)"),
        (lambda: tangent_kernel(np.eye(2), method="fast"), '`method` must be "auto", "exact" or "sketch"'),
        (lambda: JacobianProducts(2, 1, 3), "`rows` must be given, or `product`"),
        (lambda: JacobianProducts(0, 1, 3, rows=len), "`num_points` must be .* ≥ 1"),
        (lambda: JacobianProducts(2, 1, 3, rows=[1]), "`rows` must be a function"),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, rows=lambda k: np.ones((9, 9)))),
         r"`rows` must return an array of shape \(1, 3\), got \(9, 9\)"),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, rows=lambda k: np.full((len(k), 3), np.nan))),
         "`rows` must return finite numbers, got NaN or inf"),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, product=lambda v: np.ones(5))),
         r"`product` must return an array of shape \(2, 1\)"),
        (lambda: tangent_kernel(JacobianProducts(2, 3, 4, product=lambda v: np.ones((3, 2)))),
         r"`product` must return an array of shape \(2, 3\), got \(3, 2\)"),
        (lambda: tangent_kernel(np.ones((2, 3)), method="sketch"),
         '`method` must be "auto" or "exact" for a Jacobian that is there'),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, product=np.cumsum), method="exact"),
         "`rows` must be given for an exact kernel"),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, rows=len), method="sketch"),
         "`product` must be given for a sketch"),
        (lambda: tangent_kernel(JacobianProducts(2, 1, 3, product=len), num_directions=1),
         "`num_directions` must be .* ≥ 2"),
        (lambda: sketched_kernel_distance(np.eye(2), np.eye(2)), "`start` must be a sketch, got 'ndarray'"),
        (lambda: layered_tangent_kernel([]), "`layers` must hold at least one layer"),
        (lambda: layered_tangent_kernel([(np.ones((2, 3)), np.ones((3, 1, 1)))]),
         r"`layers\[0\]` must be inputs"),
        (lambda: centred_alignment(np.ones((3, 3)), np.eye(3)), "`kernel` must not vanish when centred"),
        (lambda: centred_alignment(np.eye(3), np.eye(2)),
         r"`other` must have the shape \(..., 3, 3\) of `kernel`"),
        (lambda: target_kernel([[np.inf]]), r"`targets\[0, 0\]` must be a finite"),
        (lambda: tangents(3, WEIGHTS, X), "`function` must be a function of weights and inputs"),
        (lambda: tangents(lambda w, x: jnp.sum(x @ w["u"]), WEIGHTS, X) , "`function` must return"),
        (lambda: tangents(lambda w, x: (x @ w["u"]).astype("float32"), WEIGHTS, X),
         "`function` must return float64"),
        (lambda: tangents(network, WEIGHTS, X).at({"u": np.ones(2)}), "`weights` must hold 55 numbers"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
