"""What gradient flow conserves, on networks trained here by flow and by descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from lazyrich.core import ArgumentError
from lazyrich.measures import balance, predicted_drift

ACTIVATIONS = {
    "linear": (lambda a: a, lambda a: np.ones_like(a), 1),
    "relu": (lambda a: np.maximum(a, 0), lambda a: (a > 0).astype(float), 1),
    "quadratic": (lambda a: a**2, lambda a: 2 * a, 2),
    "cubic": (lambda a: a**3, lambda a: 3 * a**2, 3),
}


class Network:
    """A two-layer network, its data, and the gradient of ½ mean squared error, by hand."""

    def __init__(self, activation, units=6, samples=30):
        rng = np.random.default_rng(0)
        self.sigma, self.slope, self.degree = ACTIVATIONS[activation]
        self.x, self.y = rng.standard_normal((samples, 3)), rng.standard_normal((samples, 2))
        self.u, self.v = (0.5 * rng.standard_normal((units, n)) for n in (3, 2))

    def gradient(self, u, v):
        a = self.x @ u.T
        error = (self.sigma(a) @ v - self.y) / len(self.x)
        return ((error @ v.T) * self.slope(a)).T @ self.x, self.sigma(a).T @ error

    def flow(self, times):
        def minus_gradient(_, w):
            g = self.gradient(
                w[: self.u.size].reshape(self.u.shape), w[self.u.size :].reshape(self.v.shape)
            )
            return -np.concatenate([part.ravel() for part in g])

        start = np.concatenate([self.u.ravel(), self.v.ravel()])
        span = (times[0], times[-1])
        w = solve_ivp(minus_gradient, span, start, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
        first, second = w[:, : self.u.size], w[:, self.u.size :]
        return first.reshape(-1, *self.u.shape), second.reshape(-1, *self.v.shape)

    def descent(self, rate, steps):
        us, vs, gradients = [self.u], [self.v], []
        for _ in range(steps):
            gradients.append(self.gradient(us[-1], vs[-1]))
            us.append(us[-1] - rate * gradients[-1][0])
            vs.append(vs[-1] - rate * gradients[-1][1])
        return np.array(us), np.array(vs), *(np.array(g) for g in zip(*gradients, strict=True))


@pytest.mark.parametrize("activation", ["linear", "quadratic", "cubic"])
def test_flow_conserves_it_and_moves_the_weights(activation):
    network = Network(activation)
    u, v = network.flow(np.linspace(0, 3, 7))
    found = balance(u, v, degree=network.degree)
    assert np.max(np.abs(found.drift)) < 1e-10 * found.scale[0]
    assert np.linalg.norm(u[-1] - u[0]) > 0.1  # or nothing would be tested
    wrong = balance(u, v, degree=network.degree + 1)
    assert np.max(np.abs(wrong.drift)) > 1e-3 * wrong.scale[0]


def relu_flow():
    """The flow of ReLU units until one starts or stops to respond to a sample: smooth so far."""
    network = Network("relu", units=4, samples=6)
    gates = network.x @ network.u.T > 0
    network.sigma, network.slope = (lambda a: a * gates), (lambda a: gates.astype(float))
    u, v = network.flow(np.linspace(0, 2, 81))
    same = np.all((np.einsum("nd,thd->tnh", network.x, u) > 0) == gates, axis=(1, 2))
    last = len(same) if same.all() else int(np.argmin(same))
    return u[:last], v[:last]


def test_flow_of_relu():
    u, v = relu_flow()
    found = balance(u, v)
    assert np.max(np.abs(found.drift)) < 1e-10 * found.scale[0]
    assert np.linalg.norm(u[-1] - u[0]) > 0.02


def test_the_whole_matrix_is_kept_by_linear_units_only():
    u, v = Network("linear").flow(np.linspace(0, 3, 3))
    assert np.max(np.abs(balance(u, v, matrix=True).drift)) < 1e-10
    u, v = relu_flow()
    assert np.max(np.abs(balance(u, v, matrix=True).drift)) > 1e-3


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_descent_drifts_as_predicted_to_rounding(activation):
    network = Network(activation)
    u, v, gradients_u, gradients_v = network.descent(0.02, 150)
    found = balance(u, v, degree=network.degree)
    from_gradients = predicted_drift(0.02 * gradients_u, 0.02 * gradients_v, degree=network.degree)
    from_record = predicted_drift(np.diff(u, axis=0), np.diff(v, axis=0), degree=network.degree)
    np.testing.assert_allclose(found.drift, from_gradients, atol=1e-13 * found.scale[0])
    np.testing.assert_allclose(found.drift, from_record, atol=1e-13 * found.scale[0])
    assert np.max(np.abs(found.drift)) > 1e-5 * found.scale[0]


def test_descent_drifts_as_predicted_in_the_matrix():
    u, v, gradients_u, gradients_v = Network("linear").descent(0.05, 100)
    found = balance(u, v, matrix=True).drift
    predicted = predicted_drift(0.05 * gradients_u, 0.05 * gradients_v, matrix=True)
    np.testing.assert_allclose(found, predicted, atol=1e-13)
    np.testing.assert_allclose(
        np.diagonal(found, axis1=1, axis2=2), balance(u, v).drift, atol=1e-13
    )


def test_drift_is_of_first_order_in_the_rate_at_a_given_time():
    drifts = []
    for rate, steps in ((0.02, 100), (0.01, 200), (0.005, 400)):
        u, v, *_ = Network("linear").descent(rate, steps)
        drifts.append(np.linalg.norm(balance(u, v).drift[-1]))
    np.testing.assert_allclose(np.array(drifts[:-1]) / drifts[1:], 2, rtol=0.05)


def test_momentum_shows_as_a_drift_that_is_not_predicted():
    network, speed = Network("linear"), [0.0, 0.0]
    us, vs = [network.u], [network.v]
    for _ in range(50):
        g = network.gradient(us[-1], vs[-1])
        speed = [0.9 * s - 0.02 * part for s, part in zip(speed, g, strict=True)]
        us.append(us[-1] + speed[0])
        vs.append(vs[-1] + speed[1])
    u, v = np.array(us), np.array(vs)
    predicted = predicted_drift(np.diff(u, axis=0), np.diff(v, axis=0))
    assert np.max(np.abs(balance(u, v).drift - predicted)) > 0.01


def test_a_head_of_linear_attention_balances_key_query_and_value():
    """f = Σ v_i (k_iᵀ M q_i): degree 1 in the key, 1 in the query, 2 in both."""
    rng = np.random.default_rng(1)
    M, target = rng.standard_normal((20, 3, 3)), rng.standard_normal(20)
    shape = [(4, 3), (4, 3), (4, 1)]
    start = [0.7 * rng.standard_normal(s) for s in shape]

    def split(w):
        return [p.reshape(s) for p, s in zip(np.split(w, [12, 24]), shape, strict=True)]

    def minus_gradient(_, w):
        k, q, v = split(w)
        scores = np.einsum("ia,nab,ib->ni", k, M, q)
        error = (scores @ v[:, 0] - target) / len(target)
        pushed = np.einsum("n,i,nab->iab", error, v[:, 0], M)
        g = [
            np.einsum("iab,ib->ia", pushed, q),
            np.einsum("iab,ia->ib", pushed, k),
            (error @ scores)[:, None],
        ]
        return -np.concatenate([part.ravel() for part in g])

    w = solve_ivp(
        minus_gradient, (0, 2), np.concatenate([p.ravel() for p in start]), "DOP853",
        [0, 1, 2], rtol=1e-12, atol=1e-13,
    ).y.T  # fmt: skip
    k, q, v = (np.array(part) for part in zip(*map(split, w), strict=True))
    assert np.max(np.abs(balance(k, q).drift)) < 1e-9
    assert np.max(np.abs(balance(k, v).drift)) < 1e-9
    assert np.max(np.abs(balance(np.concatenate([k, q], axis=-1), v, degree=2).drift)) < 1e-9
    assert np.linalg.norm(k[-1] - k[0]) > 0.1


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_shapes_and_written_out(units, inputs, outputs, degree):
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((3, units, inputs)), rng.standard_normal((3, units, outputs))
    found = balance(u, v, degree=degree)
    assert found.values.shape == found.drift.shape == (3, units)
    assert found.scale.shape == (3,)
    i = units - 1
    assert found.values[1, i] == pytest.approx(degree * sum(v[1, i] ** 2) - sum(u[1, i] ** 2))
    np.testing.assert_array_equal(found.drift[0], 0)
    one = balance(u[2], v[2], degree=degree)
    np.testing.assert_allclose(one.values, found.values[2])
    assert not one.drift.any()
    assert one.scale == pytest.approx(np.sum(u[2] ** 2) + degree * np.sum(v[2] ** 2))


def test_one_output_needs_no_axis():
    u, v = np.ones((4, 3, 2)), np.ones((4, 3))
    np.testing.assert_array_equal(balance(u, v).values, balance(u, v[..., None]).values)
    np.testing.assert_array_equal(balance(u[0], v[0]).values, [-1, -1, -1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: balance(np.ones(3), np.ones(3)), r"`incoming` must have the shape \(units, N_u\) or"),
        (lambda: balance(np.ones((3, 2)), np.ones(4)), r"`outgoing` must have the shape \(3, N_v\)"),
        (lambda: balance([[np.nan]], [1.0]), r"`incoming\[0, 0\]` must be a finite real"),
        (lambda: balance([[1.0]], [1.0], degree=0), "`degree` must be a whole number ≥ 1"),
        (lambda: balance([[1.0]], [1.0], degree=2, matrix=True), "`degree` must be 1 for the matrix"),
        (lambda: predicted_drift([[1.0]], [1.0]), r"`incoming_steps` must have the shape \(steps, units"),
        (
            lambda: predicted_drift(np.ones((2, 1, 1)), np.ones((3, 1, 1))),
            r"`outgoing_steps` must have the shape \(2, 1, N_v\) to fit `incoming_steps`",
        ),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
