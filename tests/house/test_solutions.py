"""The contract of solutions: traces, shapes, precision, validity."""

import functools
import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input.shapes import only_shapes

from lazyrich import theory
from lazyrich.core import ArgumentError
from lazyrich.theory._mode_solution import ModeSolution
from lazyrich.theory._solution import Solution

COLLAPSE = theory.UnconstrainedFeatures.small([0, 0, 1, 1, 2, 2, 2], width=4, initial_std=0.3)
SOLUTIONS = {
    "LinearGrokking": (
        theory.LinearGrokking,
        {"aspect_ratio": 0.9, "learning_rate": 0.01, "threshold": 1e-3, "output_dimension": 2,
         "weight_decay": 1e-3, "student_scale": 1.5, "label_noise": 0.1},
        ["train_loss", "test_loss", "train_accuracy", "test_accuracy"],
    ),
    "LateGrokking": (
        theory.LateGrokking,
        {"aspect_ratio": 0.7, "learning_rate": 0.1, "threshold": 1e-3},
        ["train_loss", "test_loss", "intermediate_test_loss"],
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
         "start": np.array([[0.1, 0.2], [0.3, 0.1], [0.4, 0.2]]), "ridge": 0.2, "output_scale": 1.3,
         "learning_rate": 0.8},
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
        {"target": 1.2, "start": -0.3, "imbalance": 0.7, "learning_rate": 0.8},
        ["remainder", "modes"],  # the others are made of the same parts
    ),
    "BalancedNetwork": (
        theory.BalancedNetwork,
        {"correlation": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]),
         "first": np.array([[0.6, 0.0], [0.0, 0.6], [0.0, 0.0]]),
         "second": np.array([[0.8, 0.6], [-0.6, 0.8]]), "learning_rate": 0.8},
        ["product", "loss"],
    ),
    "PowerEscape": (
        theory.PowerEscape,
        {"start": 0.3, "degree": 2.5, "learning_rate": 0.2},
        ["units"],
    ),
    "ScalarNetwork": (
        theory.ScalarNetwork,
        {"target": 1.2, "first": np.array([0.3, -0.2, 0.1]), "second": np.array([0.5, 0.4, -0.3]),
         "normalisation": 1.5, "learning_rate": 0.8},
        ["movement", "output", "aligned"],  # the others are made of the same parts
    ),
    "DiagonalNetwork": (
        theory.DiagonalNetwork,
        {"target": 1.2, "first": 0.3, "second": -0.2, "variance": 0.7, "learning_rate": 0.8},
        ["modes", "residual", "loss"],
    ),
    "LinearModes": (
        theory.LinearModes,
        {"target": 1.2, "variance": 0.7, "start": 0.3, "learning_rate": 0.8},
        ["modes", "residual", "loss"],
    ),
    "LinearNetworkModes": (
        theory.LinearNetworkModes,
        {"correlation": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]), "start": 0.1, "learning_rate": 0.8},
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
        ["modes", "residual", "modes_from_units"],
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
        {"rates": np.array([1.0, 0.6, 0.8]), "start": np.array([0.5, 0.7, -0.2]), "degree": 2,
         "learning_rate": 0.8},
        ["amplitudes"],  # `shares` is made of it
    ),
}  # fmt: skip
"""Every solution: its class, valid parameters, its functions of one array."""
CASES = [(name, method) for name, (_, _, methods) in SOLUTIONS.items() for method in methods]
HEAVY = ("TwoLayerGrokking", "kernel")
"""Whose derivatives take half a minute to compile."""
METHODS = [
    (name, tuple(m for m in methods if (name, m) != HEAVY))
    for name, (_, _, methods) in SOLUTIONS.items()
]
COMPILED = [
    *(pytest.param(*case, id=case[0]) for case in METHODS),
    pytest.param(HEAVY[0], HEAVY[1:], id="-".join(HEAVY), marks=pytest.mark.slow),
]
"""Every solution with its methods, for tests that compile all of them at once."""


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
    advice = "SOLUTIONS of this file has the class, valid parameters and functions of time of each"
    assert exported == set(SOLUTIONS), advice


@pytest.mark.parametrize(("name", "method"), CASES)
def test_scalars_give_float64(name, method):
    value = getattr(build(name), method)(0.9)
    assert value.dtype == np.float64
    assert isinstance(value, np.ndarray | np.generic)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_arrays_of_any_shape(name, method):
    points, function = np.linspace(0.5, 1.5, 6).reshape(2, 1, 3), getattr(build(name), method)
    value = function(points)
    assert value.shape[:3] == points.shape
    for index in np.ndindex(points.shape):
        single = function(points[index])
        assert single.shape == value.shape[3:]
        np.testing.assert_allclose(value[index], single, rtol=1e-13, atol=1e-300)
    for shape in [(1,), (0,)]:
        with only_shapes(True):  # nothing is compiled: numbers are compared above
            assert function(np.ones(shape)).shape == (*shape, *value.shape[3:])


@pytest.mark.parametrize(("name", "method"), CASES)
def test_lists_integers_and_jax_arrays_are_numbers_too(name, method):
    function = getattr(build(name), method)
    expected = function(np.array([1.0, 2.0]))
    for same in ([1, 2], (1.0, 2.0), np.array([1, 2], np.int32), jnp.array([1.0, 2.0])):
        np.testing.assert_array_equal(function(same), expected)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_parameters_broadcast_against_points(name, method):
    if "aspect_ratio" not in SOLUTIONS[name][1]:
        pytest.skip("takes one matrix")
    ratios = np.array([0.2, 0.9, 0.95])
    table = getattr(build(name, aspect_ratio=ratios[:, None]), method)(np.array([0.8, 1.1]))
    assert table.shape == (3, 2)
    np.testing.assert_allclose(
        table[1], getattr(build(name, aspect_ratio=0.9), method)(np.array([0.8, 1.1])), rtol=1e-13
    )


RATED = [
    case for case in CASES if "learning_rate" in inspect.signature(SOLUTIONS[case[0]][0]).parameters
]


@pytest.mark.parametrize(("name", "method"), RATED)
def test_rates_are_combined_with_times_or_refused(name, method):
    """Several rates are one more axis, or an error that says which argument has the wrong shape."""
    rates, times = np.array([0.2, 0.3, 0.4]), np.array([0.8, 1.1])
    one = getattr(build(name, learning_rate=0.3), method)(1.1)
    for several in (rates, rates[:, None]):
        said = found = None
        try:
            found = getattr(build(name, learning_rate=several), method)(times)
        except ArgumentError as error:
            said = str(error)
        if found is None:
            assert re.match("`(learning_rate|time|num_samples|num_units)` must ", said), said
        elif one.ndim == 0 and found.ndim > 1:  # else modes, each with its rate, are summed
            assert np.isclose(found, one, rtol=1e-12).any()


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize(("name", "methods"), COMPILED)
def test_inside_traces_the_callers_dtype(name, methods, x64):
    solution = build(name)
    exact = {method: getattr(solution, method)(np.array([0.7, 1.3])) for method in methods}
    tolerance = 1e-12 if x64 else 3e-5

    def values(points):
        return {method: getattr(solution, method)(points) for method in methods}

    with jax.enable_x64(x64), jax.numpy_dtype_promotion("strict"):
        points = jnp.array([0.7, 1.3])
        traced = jax.jit(lambda points: (values(points), jax.vmap(values)(points)))
        for found, invalid in zip(traced(points), traced(-points), strict=True):
            for method, value in found.items():
                assert value.dtype == (jnp.float64 if x64 else jnp.float32)
                np.testing.assert_allclose(value, exact[method], rtol=tolerance, atol=1e-12)
                if method not in ANYWHERE:
                    assert np.all(np.isnan(invalid[method]))


@functools.cache
def derivatives(name, methods):
    """Slopes in time by the forward mode, and of sums in time and parameters by the reverse mode."""
    known = build(name)

    def sums(solution, time):
        return {method: getattr(solution, method)(time).sum() for method in methods}

    def both(solution, time):
        forward = jax.jacfwd(lambda time: values(known, methods, time))(time)
        return forward, jax.jacrev(sums, (0, 1))(solution, time)

    return jax.jit(both)


def values(solution, methods, time):
    return {method: getattr(solution, method)(time) for method in methods}


@pytest.mark.parametrize(("name", "methods"), COMPILED)
def test_slopes_agree_with_differences(name, methods):
    solution, h = build(name), 1e-5
    with jax.enable_x64(True):
        forward, backward = derivatives(name, methods)(solution, 0.9)
    above, below = (values(solution, methods, 0.9 + step) for step in (h, -h))
    for method, slope in forward.items():
        difference = (above[method] - below[method]) / (2 * h)
        np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(
            np.asarray(slope).sum(), backward[method][1], rtol=1e-12, atol=1e-14
        )


NOT_ONE_NUMBER = {
    "labels", "features", "targets", "frequencies", "output_dimension",
    "width", "difference", "covariance", "correlation",
    "first", "second", "rates", "degree",
}  # fmt: skip
"""Parameters that are whole numbers or arrays."""
PLAIN = {"LinearGrokking": {"output_dimension": 1, "weight_decay": 0.0, "label_noise": 0.0}}
"""Values at which a solution may take a shortcut; its gradient must not."""


@pytest.mark.parametrize(("name", "methods"), COMPILED)
def test_gradient_with_respect_to_the_solution(name, methods):
    _gradient_agrees(name, methods, {})


@pytest.mark.parametrize("name", PLAIN)
def test_gradient_at_plain_values(name):
    _gradient_agrees(name, dict(METHODS)[name], PLAIN[name])


def _gradient_agrees(name, methods, changes):
    solution, h = build(name, **changes), 1e-6
    with jax.enable_x64(True):
        _, gradients = derivatives(name, methods)(solution, 0.9)
    for parameter in set(SOLUTIONS[name][1]) - NOT_ONE_NUMBER:
        value = getattr(solution, parameter)
        if np.ndim(value):
            continue
        # one-sided: 0 may be the smallest value
        changed = [build(name, **changes | {parameter: value + k * h}) for k in (0, 1, 2)]
        for method, (gradient, _) in gradients.items():
            f = [getattr(one, method)(0.9).sum() for one in changed]
            difference = (-3 * f[0] + 4 * f[1] - f[2]) / (2 * h)
            found = getattr(gradient, parameter)
            assert found == pytest.approx(difference, rel=1e-4, abs=1e-7), (method, parameter)


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
    assert repr(solution).startswith(f"{name}(")
    assert "0x" not in repr(solution)


@pytest.mark.parametrize("name", sorted(set(SOLUTIONS) - {"MarchenkoPastur", "Quanta"}))
def test_time_counts_steps_of_a_learning_rate(name):
    """Those two have no dynamics: a spectrum, and a rule that says what is learned by when."""
    kind, parameters, methods = SOLUTIONS[name]
    default = inspect.signature(kind.__init__).parameters["learning_rate"].default
    assert default in (1.0, inspect.Parameter.empty)
    rate = parameters["learning_rate"]
    double, value = build(name, learning_rate=2 * rate), build(name)
    for method in methods:
        if "time" in inspect.signature(getattr(kind, method)).parameters:
            np.testing.assert_allclose(
                getattr(double, method)(0.5), getattr(value, method)(1.0), rtol=1e-12
            )


@pytest.mark.parametrize("name", ["DiagonalNetwork", "LinearModes", "BalancedModes", "PowerEscape"])
def test_sets_of_modes_have_the_axes_of_time_and_then_of_modes(name):
    modes = build(name, learning_rate=np.array([0.1, 0.2, 0.3]))
    function = modes.units if name == "PowerEscape" else modes.modes
    table = function([0.5, 1.0])
    assert table.shape == (2, 3)
    np.testing.assert_array_equal(table[1], function(1.0))


@pytest.mark.parametrize("name", SOLUTIONS)
def test_sets_of_modes_have_the_same_methods(name):
    kind = SOLUTIONS[name][0]
    if issubclass(kind, ModeSolution) or hasattr(kind, "modes"):
        for method, argument in [
            ("modes", "time"),
            ("residual", "time"),
            ("saturation_time", "share"),
        ]:
            assert list(inspect.signature(getattr(kind, method)).parameters)[1] == argument
        parameters = inspect.signature(kind).parameters.values()
        plain = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert plain[-1] == "learning_rate"


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


delays = jax.jit(lambda values: theory.LinearGrokking(**values).grokking_delay())


@pytest.mark.parametrize("parameter", ["aspect_ratio", "learning_rate", "threshold"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_invalid_parameters_raise_outside_and_are_nan_inside_traces(parameter, value):
    with pytest.raises(ArgumentError, match=rf"`{parameter}` must be .* > 0, got {value}"):
        build("LinearGrokking", **{parameter: value})
    valid = {"aspect_ratio": 0.9, "learning_rate": 0.01, "threshold": 1e-3}
    assert np.isfinite(delays(valid).time)
    time = delays(valid | {parameter: value})
    assert np.isnan(time.time)
    assert time.status == 4
