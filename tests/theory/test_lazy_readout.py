"""A readout on fixed features: oracles, properties, limits, bad input."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from lazyrich.core import ArgumentError, AssumptionError
from lazyrich.theory import LazyReadout, ridge_readout

SHAPE = (6, 4, 2)  # one shape for all properties: methods compile once
cases = given(
    seed=st.integers(0, 10**6), ridge=st.sampled_from([0.0, 0.3, 2.0]), time=st.floats(0, 5)
)
few = settings(max_examples=15, deadline=None)


def data(seed, shape=SHAPE):
    (n, K, M), rng = shape, np.random.default_rng(seed)
    return rng.standard_normal((n, K)), rng.standard_normal((n, M)), rng.standard_normal((K, M))


def rotation(size, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]


def close(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [SHAPE, (4, 7, 2)])
@pytest.mark.parametrize(("ridge", "scale"), [(0.0, 1.0), (0.4, 2.5)])
def test_against_the_exponential_of_the_system(shape, ridge, scale):
    F, Y, V = data(1, shape)
    readout = LazyReadout(F, Y, V, ridge, scale)
    F, Y, (K, M) = F - F.mean(0), Y - Y.mean(0), V.shape
    A = scale**2 * F.T @ F + ridge * np.eye(K)
    system = np.block([[-A, scale * F.T @ Y], [np.zeros((M, K + M))]])
    for time in (0.0, 0.2, 1.5):
        exact = (expm(time * system) @ np.concatenate([V, np.eye(M)]))[:K]
        error = Y - scale * F @ exact
        close(readout.weights(time), exact)
        close(readout.error(time), error)
        close(readout.gradient(time), scale * error @ exact.T)
        close(readout.gradient_norm(time), np.linalg.norm(scale * error @ exact.T))
        close(readout.loss(time), (np.sum(error**2) + ridge * np.sum(exact**2)) / 2)


@pytest.mark.parametrize("s", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("ridge", [0.0, 1e-12, 3.0])
@pytest.mark.parametrize("rate_time", [1e-12, 1.0, 30.0])
def test_one_mode_keeps_its_digits(s, ridge, rate_time):
    time = rate_time / (s**2 + ridge)
    readout = LazyReadout([[s]], [[0.7]], [[0.0]], ridge, centring="none")
    mpmath.mp.dps = 60
    S, eta, t = mpmath.mpf(s), mpmath.mpf(ridge), mpmath.mpf(time)
    rate = S**2 + eta
    v = S * mpmath.mpf(0.7) * -mpmath.expm1(-rate * t) / rate
    e = mpmath.mpf(0.7) - S * v
    assert float(readout.weights(time).item() / v) == pytest.approx(1, rel=1e-14)
    assert float(readout.error(time).item() / e) == pytest.approx(1, rel=2e-14 * (1 + rate_time))


@few
@cases
def test_flow_can_be_interrupted(seed, ridge, time):
    F, Y, V = data(seed)
    middle = LazyReadout(F, Y, V, ridge).weights(time)
    close(
        LazyReadout(F, Y, middle, ridge).weights(0.7),
        LazyReadout(F, Y, V, ridge).weights(time + 0.7),
    )


@few
@cases
def test_loss_never_rises(seed, ridge, time):
    loss = LazyReadout(*data(seed), ridge).loss(time + np.array([0.0, 0.01, 0.1, 1.0, 100.0]))
    assert np.all(np.diff(loss) <= 1e-12 * loss[0])


@few
@cases
def test_outputs_and_nodes_may_be_rotated(seed, ridge, time):
    F, Y, V = data(seed)
    Q, R = rotation(4, seed), rotation(2, seed)
    turned = LazyReadout(F @ Q, Y @ R, Q.T @ V @ R, ridge)
    plain = LazyReadout(F, Y, V, ridge)
    close(turned.weights(time), Q.T @ plain.weights(time) @ R)
    close(turned.gradient(time), plain.gradient(time) @ Q)


@few
@cases
def test_linear_in_targets_and_start_together(seed, ridge, time):
    F, Y, V = data(seed)
    _, Z, U = data(seed + 1)
    both = LazyReadout(F, Y + 2 * Z, V + 2 * U, ridge).weights(time)
    parts = [LazyReadout(F, *pair, ridge).weights(time) for pair in ((Y, V), (Z, U))]
    close(both, parts[0] + 2 * parts[1])


@few
@cases
def test_scales_of_output_features_and_time(seed, ridge, time):
    F, Y, V = data(seed)
    scaled, larger = LazyReadout(F, Y, V, ridge, 3.0), LazyReadout(3 * F, Y, V, ridge)
    close(scaled.weights(time), larger.weights(time))
    close(scaled.gradient(time), 3 * larger.gradient(time))
    slower = LazyReadout(F, Y, 3 * V, ridge / 9)
    close(larger.weights(time), slower.weights(9 * time) / 3)


@few
@cases
def test_constants_over_samples_do_not_matter(seed, ridge, time):
    F, Y, V = data(seed)
    shifted = LazyReadout(F + np.arange(4), Y - 5.0, V, ridge)
    close(shifted.gradient(time), LazyReadout(F, Y, V, ridge).gradient(time))
    assert np.abs(shifted.gradient(time).sum(axis=0)).max() < 1e-10


@few
@cases
def test_convergence_bounds_the_way_to_the_limit(seed, ridge, time):
    readout = LazyReadout(*data(seed), ridge)
    rate, constant = readout.convergence()
    gap = np.linalg.norm(readout.gradient(time) - readout.limit().gradient)
    assert gap <= constant * np.exp(-rate * time) * (1 + 1e-9) + 1e-12


def test_expansion_is_of_second_order():
    readout = LazyReadout(*data(3), 0.3, 1.7)
    terms = readout.expansion()
    rests = [np.linalg.norm(readout.gradient(h) - terms.at(h)) for h in (1e-4, 1e-5)]
    assert np.log10(rests[0] / rests[1]) == pytest.approx(2, abs=0.01)
    noise = np.linalg.norm(readout.gradient(0.0))
    assert terms.signal_time == pytest.approx(noise / np.linalg.norm(terms.signal))


def test_limits():
    F, Y, V = data(5)
    late = LazyReadout(F, Y, V, 0.2)
    close(late.weights(1e4), late.limit().weights)
    close(late.limit().weights, ridge_readout(F, Y, 0.2))
    close(late.gradient(0.0), late.error(0.0) @ V.T)
    F, Y, V = data(5, (4, 7, 2))  # more nodes than samples: the nearest of many solutions
    end = LazyReadout(F, Y, V).limit()
    pinv = np.linalg.pinv(F - F.mean(0))
    close(end.weights, V + pinv @ (Y - Y.mean(0) - (F - F.mean(0)) @ V))
    close(end.error, np.zeros((4, 2)))
    assert LazyReadout(F, Y, V).rank == 3


def test_rate_is_the_decay_when_nodes_outnumber_samples():
    F, Y, V = data(6, (4, 7, 2))
    smallest = np.linalg.svd(F - F.mean(0))[1][2] ** 2
    assert LazyReadout(F, Y, V, 0.1).convergence().rate == pytest.approx(0.1)
    assert LazyReadout(F, Y, 0 * V, 0.1).convergence().rate == pytest.approx(smallest + 0.1)
    assert LazyReadout(F, Y, V).convergence().rate == pytest.approx(smallest)
    there = LazyReadout(F, Y, ridge_readout(F, Y, 0.1), 0.1)
    assert there.convergence() == (np.inf, 0.0)


def test_norm_at_many_times_of_a_larger_network():
    rng = np.random.default_rng(0)
    F, Y, V = (
        rng.standard_normal((60, 80)),
        rng.standard_normal((60, 5)),
        rng.standard_normal((80, 5)),
    )
    readout, times = LazyReadout(F, Y, V, 0.1), np.geomspace(1e-4, 10, 12).reshape(3, 4)
    close(readout.gradient_norm(times), np.linalg.norm(readout.gradient(times), axis=(-2, -1)))


def test_gradient_of_the_norm_at_zero_init_is_not_nan():
    import jax

    F, Y, V = data(7)
    with jax.enable_x64(True):
        slope = jax.grad(LazyReadout(F, Y, 0 * V).gradient_norm)(0.0)
    assert np.isfinite(slope)


def test_proposition_3_asks_for_its_assumptions():
    F, Y, V = data(8)
    with pytest.raises(AssumptionError, match=r"\(A2\), got a share of 0\.\d+ outside"):
        LazyReadout(F, Y, V).decay_constant()
    with pytest.raises(AssumptionError, match=r"no weight decay, got ridge = 0\.5"):
        LazyReadout(F, F @ V, V, 0.5).decay_constant()
    assert LazyReadout(F, F @ np.ones((4, 2)), V).decay_constant() > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.ones(3)}, r"`features` must have the shape \(samples, nodes\)"),
        ({"features": np.zeros((0, 4))}, "`features` must have the shape"),
        ({"features": np.ones((6, 4))}, "`features` must not all be constant over samples"),
        ({"targets": np.ones((5, 2))}, r"`targets` must have the shape \(6, outputs\)"),
        ({"start": np.ones((2, 4))}, r"`start` must have the shape \(4, 2\) of the readout"),
        ({"ridge": -1.0}, r"`ridge` must be .* ≥ 0, got -1\.0"),
        ({"ridge": [0.1, 0.2]}, "`ridge` must be a single number"),
        ({"output_scale": 0.0}, r"`output_scale` must be .* > 0"),
        ({"centring": "classes"}, "`centring` must be one of samples, none"),
    ],
)
def test_bad_input(changes, message):
    F, Y, V = data(9)
    with pytest.raises(ArgumentError, match=message):
        LazyReadout(**({"features": F, "targets": Y, "start": V} | changes))


def test_traced_features_are_refused():
    import jax

    F, Y, V = data(9)
    with pytest.raises(ArgumentError, match="`features` must be known now"):
        jax.jit(lambda F: LazyReadout(F, Y, V).loss(1.0))(F)
    with pytest.raises(ArgumentError, match="`self` must be known now"):
        jax.jit(lambda m: m.convergence().rate)(LazyReadout(F, Y, V))
