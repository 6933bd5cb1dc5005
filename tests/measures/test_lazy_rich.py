"""The meter between lazy and rich, on models whose regime is known."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.adapters import tangents
from lazyrich.core import ArgumentError
from lazyrich.measures import (
    JacobianProducts,
    TangentKernel,
    lazy_or_rich,
    linearisation_gap,
    tangent_kernel,
    weight_movement,
)
from lazyrich.quantities import kernel_distance

D, N = 2, 20
RNG = np.random.default_rng(0)
X = np.linalg.qr(RNG.standard_normal((N, D)))[0] * np.sqrt(N)  # white inputs
TARGET = np.array([[2.0, 0.3], [-0.4, 0.5]])


@pytest.fixture(scope="module")
def net():
    return tangents(lambda w, x: x @ w[0] @ w[1], (np.eye(D), np.eye(D)), X)


def balanced(imbalance, scale, seed):
    """W₂W₂ᵀ − W₁ᵀW₁ = λ, the product's singular values all equal to the scale."""
    U, R, V = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, D, D)))[0]
    root = np.sqrt(imbalance**2 + 4 * scale**2)
    return U * np.sqrt((root - imbalance) / 2) @ R.T, R * np.sqrt((root + imbalance) / 2) @ V.T


def trained(first, second, target=TARGET, time=100.0):
    def velocity(t, flat):
        A, B = flat.reshape(2, D, D)
        E = target - A @ B
        return np.concatenate([(E @ B.T).ravel(), (A.T @ E).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    return (
        solve_ivp(velocity, (0, time), start, method="LSODA", rtol=1e-8, atol=1e-10)
        .y[:, -1]
        .reshape(2, D, D)
    )


def meter(net, imbalance, scale, seed=0, target=TARGET):
    start = balanced(imbalance, scale, seed)
    end = tuple(trained(*start, target))
    return lazy_or_rich(**net.evidence(start, end), targets=X @ target, num_resamples=20)


def test_small_balanced_linear_networks_are_rich(net):
    found = [meter(net, 0, scale) for scale in (1e-2, 1e-4)]
    assert found[0].regime == found[1].regime == "rich"
    assert 0.9 < found[0].value < found[1].value <= 1
    assert found[0].rests_on == "function_change"
    assert found[1].target_alignment[1] > found[1].target_alignment[0]


@pytest.mark.parametrize("sign", [-1, 1])
def test_imbalanced_linear_networks_are_lazy(net, sign):
    values = [meter(net, sign * size, 1e-2) for size in (30, 100, 300)]
    assert all(found.regime == "lazy" for found in values)
    slope = np.polyfit(np.log([30, 100, 300]), np.log([found.value for found in values]), 1)[0]
    # the light layer moves by 1/√λ, the heavy one by λ^(−3/2): their product, which the linear part lacks
    assert slope == pytest.approx(-2, abs=0.1)


def test_richness_falls_with_imbalance_and_with_the_weights_over_the_target(net):
    by_imbalance = [meter(net, size, 0.1).value for size in (0, 1, 3, 9)]
    assert np.all(np.diff(by_imbalance) < 0)
    # the target moves away from what the network says at the start
    first = np.matmul(*balanced(0, 1.0, 0))
    away = [meter(net, 0, 1.0, target=first + size * TARGET).value for size in (0.01, 0.1, 1, 10)]
    assert np.all(np.diff(away) > 0)
    assert away[0] < 0.02


def test_a_linear_chain_is_seen_through_its_outputs_only():
    """One input, one unit: the kernel only grows, so that its angle stays 0 while training is rich."""
    x = np.linspace(-1, 1, 12)[:, None]
    net = tangents(lambda w, x: x * w[0] * w[1], (1.0, 1.0), x)
    found = lazy_or_rich(**net.evidence((1e-3, 1e-3), (1.0, 1.0)))
    assert found.kernel_change < 1e-7
    a, gap = 1e-3, 1 - 1e-3
    linear, rest = 2 * a * gap, gap**2  # of ab − a₀b₀
    assert found.value == pytest.approx(rest / np.hypot(rest, linear), rel=1e-12)
    assert found.linearisation_gap == pytest.approx(rest / (rest + linear), rel=1e-9)
    assert found.regime == "rich"


def test_random_features_are_lazy_however_far_the_weights_move():
    frozen = RNG.standard_normal((D, 30))
    net = tangents(lambda w, x: jnp.tanh(x @ frozen) @ w, RNG.standard_normal((30, 2)), X)
    found = lazy_or_rich(**net.evidence(net.weights, 100 + net.weights))
    assert found.value < 1e-7
    assert found.kernel_distance < 1e-15
    assert found.weight_movement > 50
    assert found.alignment == pytest.approx(1)


def test_wider_networks_in_the_tangent_limit_are_lazier():
    """f = w₂·tanh(w₁x)/√p fits the same target from weights of order 1."""
    y = np.sin(2 * X[:, :1])
    values = []
    for width in (16, 256):
        rng = np.random.default_rng(1)
        start = [rng.standard_normal((D, width)), rng.standard_normal((width, 1))]
        u, v = start
        for _ in range(300):
            h = np.tanh(X @ u)
            e = (h @ v / np.sqrt(width) - y) / N
            slope = (X.T @ (e @ v.T * (1 - h**2)), h.T @ e)
            u, v = u - slope[0] / np.sqrt(width), v - slope[1] / np.sqrt(width)
        net = tangents(lambda w, x, p=width: jnp.tanh(x @ w[0]) @ w[1] / np.sqrt(p), start, X)
        values.append(lazy_or_rich(**net.evidence(start, [u, v])).value)
    assert values[1] < values[0] / 2


def test_the_uncertainty_is_the_spread_over_probe_batches():
    """Kernels XMXᵀ of fresh points: the halves of one batch must know how much batches differ."""
    rng = np.random.default_rng(5)
    M, steep = np.eye(4), np.diag([6.0, 2.0, 1.0, 0.5])
    values, said = [], []
    for _ in range(60):
        x = rng.standard_normal((48, 4))
        found = lazy_or_rich(x @ M @ x.T, x @ steep @ x.T, num_resamples=40)
        values.append(found.value)
        said.append(found.uncertainty)
    assert np.mean(said) == pytest.approx(np.std(values, ddof=1), rel=0.35)


def test_sketched_kernels_add_their_error(net):
    start, end = balanced(30, 1e-2, 0), trained(*balanced(30, 1e-2, 0))
    exact = lazy_or_rich(**net.evidence(start, tuple(end)))
    sketched = net.evidence(start, tuple(end), method="sketch", num_directions=200)
    assert isinstance(sketched["start_kernel"], TangentKernel)
    found = lazy_or_rich(**sketched)
    assert found.uncertainty > exact.uncertainty
    assert abs(found.kernel_change - exact.kernel_change) < 4 * found.uncertainty
    assert found.function_change == exact.function_change
    with pytest.raises(ArgumentError, match="`end_kernel` must be a sketch as the other is"):
        lazy_or_rich(sketched["start_kernel"], np.eye(N))


@given(st.integers(0, 10**6), st.integers(2, 12), st.floats(0.01, 100))
@settings(max_examples=25, deadline=None)
def test_scales_do_not_matter_and_values_stay_between_0_and_1(seed, n, scale):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, n, 5))
    f0, f, linear = rng.standard_normal((3, n, 2))
    K0, K = A @ A.T, B @ B.T
    given_outputs = {"start_outputs": f0, "end_outputs": f, "linear_change": linear}
    found = lazy_or_rich(K0, K, **given_outputs, num_resamples=2)
    scaled = {name: scale * value for name, value in given_outputs.items()}
    other = lazy_or_rich(scale * K0, K / scale, **scaled, num_resamples=2)
    assert 0 <= found.value <= 1
    assert other.value == pytest.approx(found.value, rel=1e-9)
    cosine = np.sum(K0 * K) / np.linalg.norm(K0) / np.linalg.norm(K)
    assert found.kernel_change == pytest.approx(np.sqrt(1 - min(cosine, 1) ** 2), abs=1e-7)
    assert found.kernel_distance == kernel_distance(K0, K)
    rest = f - f0 - linear
    assert found.linearisation_gap == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(f - f0))
    assert found.linearisation_gap == linearisation_gap(f0, f, linear)
    assert np.isnan(found.uncertainty) == (n < 8)


def test_movement_over_time():
    record = np.array([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])
    assert weight_movement([3.0, 4.0], record).tolist() == [0, 1, 1]


def test_without_outputs_it_rests_on_the_kernel():
    found = lazy_or_rich(np.eye(9), np.diag(np.arange(1.0, 10)))
    assert found.rests_on == "kernel_change"
    assert found.function_change is found.linearisation_gap is found.weight_movement is None
    assert found.target_alignment is None
    assert np.isnan(lazy_or_rich(np.ones((9, 9)), np.eye(9)).alignment)


EYE, F = np.eye(3), np.ones(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lazy_or_rich(np.zeros((3, 3)), EYE), "`start_kernel` must have a norm above 0, got 0.0"),
        (lambda: lazy_or_rich(EYE, -EYE), "`end_kernel` must have no negative eigenvalue, got '-1 times"),
        (lambda: lazy_or_rich(np.triu(np.ones((3, 3))), EYE), "`start_kernel` must be symmetric, got .* 1"),
        (lambda: lazy_or_rich(tangent_kernel(np.ones((2, 3, 4)), full=True), np.eye(6)),
         "`end_kernel` must have 3 rows for each point as `start_kernel` has, got 1"),
        (lambda: lazy_or_rich(EYE, np.eye(2)), r"`end_kernel` must have the shape \(3, 3\)"),
        (lambda: lazy_or_rich(EYE[None], EYE), r"`start_kernel` must have the shape \(n, n\).*each"),
        (lambda: lazy_or_rich(EYE, np.full((3, 3), np.nan)), r"`end_kernel\[0, 0\]` must be a finite"),
        (lambda: lazy_or_rich(EYE, EYE, start_outputs=F), "`end_outputs` must be given with the other two"),
        (lambda: lazy_or_rich(EYE, EYE, start_outputs=F, end_outputs=F[:2], linear_change=F),
         r"`end_outputs` must have the shape \(3,\) or \(3, c\), all three alike, got \(2,\)\. "
         r"`start_outputs` has \(3,\), `linear_change` has \(3,\)\."),
        (lambda: lazy_or_rich(EYE, EYE, start_outputs=F[:, None], end_outputs=F[:, None], linear_change=F),
         r"`linear_change` .*, got \(3,\)\. `start_outputs` has \(3, 1\), `end_outputs` has \(3, 1\)\."),
        (lambda: linearisation_gap(F, F, 0 * F), "`end_outputs` must differ from `start_outputs`"),
        (lambda: linearisation_gap(F, None, F), "`end_outputs` must be given"),
        (lambda: lazy_or_rich(EYE, EYE, start_weights=F), "`end_weights` must be given with the other"),
        (lambda: lazy_or_rich(EYE, EYE, targets=[1.0, 2.0]), "`targets` must have 3 rows"),
        (lambda: weight_movement([0.0], [1.0]), "`start` must not vanish"),
        (lambda: weight_movement([1.0], [1.0, 2.0]), r"`end` must have the shape \(..., 1\)"),
        (lambda: lazy_or_rich(EYE, EYE, num_resamples=1), "`num_resamples` must be .* ≥ 2"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_the_kernel_of_the_outputs_matters_where_the_trace_does_not(net):
    """The meter takes traces; full kernels are compared by `kernel_distance` itself."""
    start, end = balanced(0, 1.0, 0), tuple(trained(*balanced(0, 1.0, 0)))
    full = [tangent_kernel(net.at(w), full=True).kernel for w in (start, end)]
    trace = [tangent_kernel(net.at(w)).kernel for w in (start, end)]
    assert kernel_distance(*full) > kernel_distance(*trace) > 0


def test_full_kernels_know_their_points(net):
    start, end = balanced(0, 1.0, 0), tuple(trained(*balanced(0, 1.0, 0)))
    found = lazy_or_rich(**net.evidence(start, end, full=True), targets=X @ TARGET)
    assert found.num_points == N
    assert 0 < found.uncertainty < 0.5
    Theta = [tangent_kernel(net.at(w), full=True).kernel for w in (start, end)]
    assert found.kernel_distance == pytest.approx(kernel_distance(*Theta), rel=1e-12)
    y = (X @ TARGET).ravel() - (X @ TARGET).mean()
    H = np.eye(2 * N) - 1 / (2 * N)
    aligned = [y @ K @ y / np.linalg.norm(H @ K @ H) / (y @ y) for K in Theta]
    np.testing.assert_allclose(found.target_alignment, aligned, rtol=1e-10)


def test_halves_on_which_a_sparse_kernel_vanishes_are_skipped():
    sparse = np.zeros((10, 10))
    sparse[0, 0] = sparse[1, 1] = 1
    found = lazy_or_rich(sparse, sparse + np.diag(np.arange(10) < 2) * [1.0] * 10)
    assert found.value == pytest.approx(0, abs=1e-7)
    assert np.isfinite(found.uncertainty)
    lonely = np.zeros((40, 40))
    lonely[0, 0] = 1
    assert np.isfinite(lazy_or_rich(lonely, np.eye(40)).uncertainty)


def test_sketches_estimate_the_alignment_with_the_target_without_bias():
    """Kernels of many directions, of which few are known: the plain alignment of sketches is far too low."""
    rng, n, P = np.random.default_rng(1), 64, 400
    y = rng.standard_normal((n, 2))
    Js = (
        rng.standard_normal((n, P)),
        rng.standard_normal((n, P)) + 0.5 * y @ rng.standard_normal((2, P)),
    )
    exact = lazy_or_rich(*(J @ J.T for J in Js), targets=y)
    assert exact.target_uncertainty == (0, 0)
    found, said = [], []
    for seed in range(40):
        kernels = [
            tangent_kernel(
                JacobianProducts(n, 1, P, product=J.__matmul__), num_directions=30, seed=seed
            )
            for J in Js
        ]
        sketched = lazy_or_rich(*kernels, targets=y, num_resamples=2)
        found.append([*sketched.target_alignment, sketched.alignment])
        said.append(sketched.target_uncertainty)
        plain = lazy_or_rich(*(k.kernel for k in kernels), targets=y, num_resamples=2)
        assert plain.target_alignment[0] < 0.8 * exact.target_alignment[0]
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    truth = [*exact.target_alignment, exact.alignment]
    assert np.all(np.abs(mean - truth) < 3 * error / np.sqrt(40) + 0.02 * np.array(truth))
    np.testing.assert_allclose(np.mean(said, axis=0), error[:2], rtol=0.4)


def test_text():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 30, 5))
    y = first[:, 0]
    found = lazy_or_rich(
        first @ first.T, second @ second.T, start_outputs=0 * y, end_outputs=y, linear_change=0.9 * y,
        start_weights=y, end_weights=2 * y, targets=y,
    )  # fmt: skip
    lines = str(found).splitlines()
    assert lines[0].startswith(f"rich: {found.value:.2f}"[:9])
    assert " ± " in lines[0]
    assert lines[1] == (
        f"  rests on kernel_change: the kernel changes by {found.kernel_change:.3g}, "
        f"the function by {found.function_change:.3g}, on 30 probe points"
    )
    assert lines[4] == "  weights moved by 1 of their size"
    few = lazy_or_rich(EYE, EYE)
    assert str(few).splitlines()[0] == "lazy: 0 between lazy, 0, and rich, 1"
    assert str(few).splitlines()[-1] == "  no uncertainty: that takes 8 probe points"
    assert "function" not in str(few)
