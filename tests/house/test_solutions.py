"""The contract of solutions: traces, shapes, precision, validity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich import theory
from lazyrich.core import ArgumentError
from lazyrich.theory._solution import Solution

COLLAPSE = theory.UnconstrainedFeatures.small([0, 0, 1, 1, 2, 2, 2], width=4, scale=0.3)
SOLUTIONS = {
    "LinearGrokking": (
        theory.LinearGrokking,
        {"aspect_ratio": 0.9, "learning_rate": 0.01, "threshold": 1e-3, "output_dimension": 2,
         "weight_decay": 1e-3, "student_scale": 1.5, "label_noise": 0.1},
        ["train_loss", "test_loss", "train_accuracy", "test_accuracy"],
    ),
    "TwoLayerGrokking": (
        theory.TwoLayerGrokking,
        {"aspect_ratio": 0.9, "width": 20, "learning_rate": 0.01, "threshold": 1e-3, "output_dimension": 2},
        ["train_loss", "test_loss", "train_accuracy", "test_accuracy", "kernel"],
    ),
    "LazyReadout": (
        theory.LazyReadout,
        {"features": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]),
         "targets": np.array([[1.0, -0.5], [0.3, 0.8]]),
         "initial": np.array([[0.1, 0.2], [0.3, 0.1], [0.4, 0.2]]), "decay": 0.2, "output_scale": 1.3},
        ["gradient", "gradient_norm", "loss"],  # the others are made of the same parts
    ),
    "LinearEscape": (
        theory.LinearEscape,
        {"correlation": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]),
         "first": np.array([[0.1, 0.2], [0.3, 0.1], [0.4, 0.2]]),
         "second": np.array([[0.2, 0.1], [0.3, 0.4]]), "learning_rate": 0.1},
        ["units", "aligned", "misaligned"],
    ),
    "BalancedModes": (
        theory.BalancedModes,
        {"imbalance": 0.7, "target": 1.2, "start": -0.3, "learning_rate": 0.8},
        ["remainder", "singular_values"],  # the others are made of the same parts
    ),
    "BalancedNetwork": (
        theory.BalancedNetwork,
        {"first": np.array([[0.6, 0.0], [0.0, 0.6], [0.0, 0.0]]),
         "second": np.array([[0.8, 0.6], [-0.6, 0.8]]),
         "correlation": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]), "learning_rate": 0.8},
        ["product", "loss"],
    ),
    "PowerEscape": (
        theory.PowerEscape,
        {"start": 0.3, "degree": 2.5, "learning_rate": 0.2},
        ["units"],
    ),
    "ScalarNetwork": (
        theory.ScalarNetwork,
        {"first": np.array([0.3, -0.2, 0.1]), "second": np.array([0.5, 0.4, -0.3]), "target": 1.2,
         "normalisation": 1.5},
        ["first_layer", "movement", "output", "aligned"],  # the others are made of the same parts
    ),
    "DiagonalNetwork": (
        theory.DiagonalNetwork,
        {"first": 0.3, "second": -0.2, "target": 1.2, "variance": 0.7},
        ["product", "residual", "loss"],
    ),
    "LinearModes": (
        theory.LinearModes,
        {"target": 1.2, "variance": 0.7, "start": 0.3},
        ["coefficients", "residual", "loss"],
    ),
    "LinearNetworkModes": (
        theory.LinearNetworkModes,
        {"correlation": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]), "start": 0.1},
        ["modes", "product", "loss"],
    ),
    "MarchenkoPastur": (
        theory.MarchenkoPastur,
        {"aspect_ratio": 0.7},
        ["density", "cdf", "laplace", "weighted_laplace", "resolvent"],
    ),
    "LinearFlow": (
        theory.LinearFlow,
        {"covariance": np.array([[1.0, 0.3], [0.3, 0.5]]), "difference": np.array([1.0, -2.0]),
         "learning_rate": 0.1},
        ["train_loss", "test_loss", "difference"],
    ),
    "UnconstrainedFeatures": (
        theory.UnconstrainedFeatures,
        {"labels": COLLAPSE.labels, "first": COLLAPSE.first, "second": COLLAPSE.second, "learning_rate": 4.0},
        ["features", "within_class", "duality", "disagreement"],
    ),
    "Emergence": (
        theory.Emergence,
        {"frequencies": np.array([0.6, 0.3]), "target_scale": 2.0, "start": 0.1, "learning_rate": 0.8,
         "units_needed": 2.5},
        ["strengths", "strengths_from_units"],
    ),
    "SkillScaling": (
        theory.SkillScaling,
        {"exponent": 1.6, "target_scale": 2.0, "start": 0.1, "learning_rate": 0.8},
        ["loss", "loss_from_units"],
    ),
    "Quanta": (
        theory.Quanta,
        {"exponent": 1.6, "unlearned_loss": 2.0, "learned_loss": 0.1, "samples_needed": 0.1},
        ["loss_from_data"],
    ),
    "ModeRace": (
        theory.ModeRace,
        {"rates": np.array([1.0, 0.6, 0.8]), "initial": np.array([0.5, 0.7, -0.2]), "degree": 2},
        ["amplitudes"],  # `shares` is made of it
    ),
}  # fmt: skip
"""Every solution: its class, valid parameters, its functions of one array."""
CASES = [(name, method) for name, (_, _, methods) in SOLUTIONS.items() for method in methods]
COMPILED = [
    pytest.param(*case, marks=[pytest.mark.slow] * (case == ("TwoLayerGrokking", "kernel")))
    for case in CASES
]
"""For tests that compile a method several times; that one takes half a minute."""


ANYWHERE = ("density", "cdf")
"""Functions of any number; the others take numbers ≥ 0."""


def build(name, **changes):
    kind, parameters, _ = SOLUTIONS[name]
    return kind(**parameters | changes)


def test_every_solution_is_here():
    exported = {
        name for name in theory.__all__
        if isinstance(getattr(theory, name), type) and issubclass(getattr(theory, name), Solution)
    }  # fmt: skip
    assert exported == set(SOLUTIONS)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_scalars_give_float64(name, method):
    value = getattr(build(name), method)(0.9)
    assert value.dtype == np.float64
    assert isinstance(value, np.ndarray | np.generic)


@pytest.mark.parametrize(("name", "method"), COMPILED)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 1, 3)])
def test_arrays_of_any_shape(name, method, shape):
    points = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)
    value = getattr(build(name), method)(points)
    assert value.shape[: len(shape)] == shape
    for index in np.ndindex(shape):
        single = getattr(build(name), method)(points[index])
        np.testing.assert_allclose(value[index], single, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_lists_integers_and_jax_arrays_are_numbers_too(name, method):
    function = getattr(build(name), method)
    expected = function(np.array([1.0, 2.0]))
    for same in ([1, 2], (1.0, 2.0), np.array([1, 2], np.int32), jnp.array([1.0, 2.0])):
        np.testing.assert_array_equal(function(same), expected)


@pytest.mark.parametrize(("name", "method"), COMPILED)
def test_parameters_broadcast_against_points(name, method):
    if "aspect_ratio" not in SOLUTIONS[name][1]:
        pytest.skip("takes one matrix")
    ratios = np.array([0.2, 0.9, 0.95])
    table = getattr(build(name, aspect_ratio=ratios[:, None]), method)(np.array([0.8, 1.1]))
    assert table.shape == (3, 2)
    np.testing.assert_allclose(
        table[1], getattr(build(name, aspect_ratio=0.9), method)(np.array([0.8, 1.1])), rtol=1e-13
    )


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize(("name", "method"), COMPILED)
def test_inside_traces_the_callers_dtype(name, method, x64):
    function = getattr(build(name), method)
    exact = function(np.array([0.7, 1.3]))
    tolerance = 1e-12 if x64 else 3e-5
    with jax.enable_x64(x64), jax.numpy_dtype_promotion("strict"):
        points = jnp.array([0.7, 1.3])
        for traced in (jax.jit(function), jax.vmap(function)):
            value = traced(points)
            assert value.dtype == (jnp.float64 if x64 else jnp.float32)
            np.testing.assert_allclose(value, exact, rtol=tolerance, atol=1e-12)
            if method not in ANYWHERE:
                assert np.all(np.isnan(traced(-points)))


@pytest.mark.parametrize(("name", "method"), COMPILED)
def test_gradient_agrees_with_differences(name, method):
    function = getattr(build(name), method)
    with jax.enable_x64(True):
        slope = jax.jacfwd(function)(0.9)
        backward = jax.jacrev(function)(0.9)
    h = 1e-5
    difference = (function(0.9 + h) - function(0.9 - h)) / (2 * h)
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(slope, backward, rtol=1e-12, atol=1e-14)


NOT_CONTINUOUS = ("output_dimension", "width")
PLAIN = {"LinearGrokking": {"output_dimension": 1, "weight_decay": 0.0, "label_noise": 0.0}}
"""Values at which a solution may take a shortcut; its gradient must not."""


@pytest.mark.parametrize(
    ("name", "method", "plain"),
    [
        pytest.param(*case.values, plain, marks=case.marks)
        for case in COMPILED
        for plain in (False, True)
        if not plain or case.values[0] in PLAIN
    ],
)
def test_gradient_with_respect_to_the_solution(name, method, plain):
    solution = build(name, **(PLAIN.get(name, {}) if plain else {}))
    with jax.enable_x64(True):
        gradient = jax.grad(lambda solution: jnp.sum(getattr(solution, method)(0.9)))(solution)
    for parameter, value in SOLUTIONS[name][1].items():
        if parameter in (
            "labels",
            "features",
            "targets",
            "initial",
            "frequencies",
            "output_dimension",
            "width",
            "difference",
            "covariance",
            "correlation",
            "first",
            "second",
            "rates",
            "degree",
        ):
            continue
        value, h = getattr(solution, parameter), 1e-6
        changed = [build(name, **(PLAIN.get(name, {}) if plain else {}) | {parameter: value + k * h})
                   for k in (0, 1, 2)]  # one-sided: 0 may be the smallest value  # fmt: skip
        f = [np.sum(getattr(m, method)(0.9)) for m in changed]
        difference = (-3 * f[0] + 4 * f[1] - f[2]) / (2 * h)
        assert getattr(gradient, parameter) == pytest.approx(difference, rel=1e-4, abs=1e-7), (
            parameter
        )


@pytest.mark.parametrize("num_samples", [2, 6])
def test_gradient_with_respect_to_a_covariance_of_any_rank(num_samples):
    X = np.random.default_rng(0).standard_normal((num_samples, 4))
    sigma, start = X.T @ X / num_samples, np.array([1.0, -2.0, 0.5, 1.0])
    direction = np.eye(4) + np.ones((4, 4))

    def loss(step):
        return theory.LinearFlow(sigma + step * direction, start, 0.3).test_loss(1.7)

    with jax.enable_x64(True):
        slope = jax.grad(loss)(0.0)
        at_identity = jax.grad(lambda s: theory.LinearFlow(s * np.eye(4), start).train_loss(0.4))(
            1.0
        )
    assert slope == pytest.approx((-3 * loss(0.0) + 4 * loss(1e-5) - loss(2e-5)) / 2e-5, rel=1e-6)
    exact = np.sum(start**2) * np.exp(-1.6) * (1 - 1.6)  # d/ds of s·exp(−1.6s)
    assert at_identity == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_is_a_frozen_pytree(name):
    solution = build(name)
    leaves, structure = jax.tree.flatten(solution)
    assert leaves
    assert isinstance(jax.tree.unflatten(structure, leaves), SOLUTIONS[name][0])
    with pytest.raises(AttributeError):
        solution.anything = 1


BAD = [np.nan, np.inf, -np.inf, "0.5", None, True, 1j, [1.0, np.nan], object, {}]


@pytest.mark.parametrize(("name", "method"), CASES)
@pytest.mark.parametrize("value", BAD, ids=repr)
def test_bad_points_raise_one_clear_sentence(name, method, value):
    with pytest.raises(ArgumentError, match=r"must be a finite real number.*, got .*\. \w+"):
        getattr(build(name), method)(value)


@pytest.mark.parametrize(
    ("name", "parameter"), [(n, p) for n, s in SOLUTIONS.items() for p in s[1]]
)
@pytest.mark.parametrize("value", BAD, ids=repr)
def test_bad_parameters_raise_and_name_the_parameter(name, parameter, value):
    with pytest.raises(ArgumentError, match=parameter):
        build(name, **{parameter: value})


@pytest.mark.parametrize(("name", "method"), [c for c in CASES if c[1] not in ANYWHERE])
def test_negative_points(name, method):
    with pytest.raises(ArgumentError, match=r"(≥|>) 0, got -1\.0"):
        getattr(build(name), method)(-1.0)


@pytest.mark.parametrize("parameter", ["aspect_ratio", "learning_rate", "threshold"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_invalid_parameters_raise_outside_and_are_nan_inside_traces(parameter, value):
    with pytest.raises(ArgumentError, match=rf"`{parameter}` must be .* > 0, got {value}"):
        build("LinearGrokking", **{parameter: value})
    time = jax.jit(lambda v: build("LinearGrokking", **{parameter: v}).grokking_time())(value)
    assert np.isnan(time.time)
    assert time.status == 4
