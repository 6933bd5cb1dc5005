"""Valid calls of the solutions of `lazyrich.theory`: what holds parameters and is a function of time."""

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich import theory

from .engine import Call

CORRELATION = np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]])
FIRST = np.array([[0.6, 0.0], [0.0, 0.6], [0.0, 0.0]])
SECOND = np.array([[0.8, 0.6], [-0.6, 0.8]])
COLLAPSE = theory.UnconstrainedFeatures.small([0, 0, 1, 1], width=2, initial_std=0.3)
PLAIN = theory.LinearGrokking(0.9, learning_rate=0.01)
"""Without noise, as `finite_accuracies` assumes."""
TIME = {"time": 0.9}


def _of_time(solution, *methods):
    return {f"{solution}.{method}": TIME for method in methods}


CALLS = {
    "BalancedModes": {"target": 1.2, "start": -0.3, "imbalance": 0.7, "learning_rate": 0.8},
    **_of_time("BalancedModes", "transition", "remainder", "modes", "residual", "sigmoidal_transition",
               "exponential_transition"),
    "BalancedNetwork": {
        "correlation": CORRELATION, "first": FIRST, "second": SECOND, "covariance": np.eye(3),
        "output_power": 2.0, "learning_rate": 0.8, "tolerance": 1e-8,
    },
    **_of_time("BalancedNetwork", "product", "gram", "representations", "weights", "loss", "kernel_distance"),
    "BalancedModes.saturation_time": {"share": 0.9},
    "BalancedModes.stages": {"lower": 0.1, "upper": 0.9},
    "DiagonalNetwork": {
        "target": 1.2, "first": 0.3, "second": -0.2, "variance": 0.7, "learning_rate": 0.8,
    },
    **_of_time("DiagonalNetwork", "modes", "residual", "layers", "loss"),
    "DiagonalNetwork.saturation_time": {"share": 0.9},
    "DiagonalNetwork.stages": {"lower": 0.1, "upper": 0.9},
    "Emergence": {
        "frequencies": np.array([0.6, 0.3]), "target_scale": 2.0, "start": 0.1, "learning_rate": 0.8,
        "samples_needed": 2, "units_needed": 2.5,
    },
    **_of_time("Emergence", "modes", "residual", "loss"),
    "Emergence.stages": {"lower": 0.1, "upper": 0.9},
    "Emergence.modes_from_data": {"num_samples": 5},
    "Emergence.loss_from_data": {"num_samples": 5},
    "Emergence.modes_from_units": {"num_units": 4.0},
    "Emergence.loss_from_units": {"num_units": 4.0},
    "Emergence.saturation_time": {"share": 0.5},
    "LateGrokking": {"aspect_ratio": 0.5, "learning_rate": 0.01, "threshold": 1e-6},
    **_of_time("LateGrokking", "train_loss", "test_loss", "intermediate_test_loss"),
    "LazyReadout": {
        "features": np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]]),
        "targets": np.array([[1.0, -0.5], [0.3, 0.8]]),
        "start": np.array([[0.1, 0.2], [0.3, 0.1], [0.4, 0.2]]), "ridge": 0.2, "output_scale": 1.3,
        "learning_rate": 0.8, "centring": "samples",
    },
    **_of_time("LazyReadout", "weights", "error", "gradient", "gradient_norm", "loss"),
    "LinearEscape": {
        "correlation": CORRELATION, "first": np.array([[0.1, 0.2], [0.3, 0.1], [0.4, 0.2]]),
        "second": np.array([[0.2, 0.1], [0.3, 0.4]]), "learning_rate": 0.1, "degeneracy": 1e-9,
    },
    **_of_time("LinearEscape", "units", "aligned", "misaligned"),
    "LinearEscape.escape_time": {"size": 1.0},
    "LinearFlow": {
        "covariance": np.array([[1.0, 0.3], [0.3, 0.5]]), "difference": np.array([1.0, -2.0]),
        "learning_rate": 0.1,
    },
    **_of_time("LinearFlow", "train_loss", "test_loss", "difference"),
    "LinearGrokking": {
        "aspect_ratio": 0.9, "learning_rate": 0.01, "threshold": 1e-3, "output_dimension": 2,
        "weight_decay": 1e-3, "student_scale": 1.5, "label_noise": 0.1,
    },
    **_of_time("LinearGrokking", "train_loss", "test_loss", "train_accuracy", "test_accuracy"),
    "LinearGrokking.finite_accuracies": Call(
        PLAIN.finite_accuracies, {"time": 0.9, "input_dimension": 50}
    ),
    "LinearGrokking.train_time": {"accuracy": 0.9},
    "LinearGrokking.test_time": {"accuracy": 0.9},
    "LinearGrokking.grokking_delay": {"accuracy": 0.9},
    "LinearGrokking.smallest_threshold": {"accuracy": 0.9},
    "LinearModes": {"target": 1.2, "variance": 0.7, "start": 0.3, "learning_rate": 0.8},
    **_of_time("LinearModes", "modes", "residual", "loss"),
    "LinearModes.saturation_time": {"share": 0.9},
    "LinearModes.stages": {"lower": 0.1, "upper": 0.9},
    "LinearNetworkModes": {
        "correlation": CORRELATION, "start": 0.1, "depth": 2, "learning_rate": 0.8, "output_power": 2.0,
        "basis": None,
    },
    "LinearNetworkModes.from_weights": {
        "correlation": np.diag([2.0, 1.0]), "weights": [np.diag([0.1, 0.2]), np.diag([0.1, 0.2])],
        "learning_rate": 0.8, "covariance": np.eye(2), "output_power": 6.0, "tolerance": 1e-6,
    },
    **_of_time("LinearNetworkModes", "modes", "residual", "layer_strengths", "product", "loss"),
    "LinearNetworkModes.rank": {"time": 0.9, "tolerance": 0.01},
    "LinearNetworkModes.saturation_time": {"share": 0.9},
    "LinearNetworkModes.stages": {"lower": 0.1, "upper": 0.9},
    "MarchenkoPastur": {"aspect_ratio": 0.7},
    "MarchenkoPastur.density": {"eigenvalue": 0.9},
    "MarchenkoPastur.cdf": {"eigenvalue": 0.9},
    "MarchenkoPastur.moment": {"order": 3},
    "MarchenkoPastur.resolvent": {"shift": 0.9},
    "MarchenkoPastur.sample": {"key": jax.random.key(0), "shape": (2, 3)},
    "MarchenkoPastur.expectation": {"function": jnp.square},
    "MarchenkoPastur.laplace": {"s": 0.9},
    "MarchenkoPastur.weighted_laplace": {"s": 0.9},
    "ModeRace": {
        "rates": np.array([1.0, 0.6]), "start": np.array([0.5, 0.7]), "degree": 2, "learning_rate": 0.8,
    },
    **_of_time("ModeRace", "amplitudes", "shares"),
    "ModeRace.winning_time": {"share": 0.99},
    "PowerEscape": {"start": 0.3, "degree": 2.0, "learning_rate": 0.2},
    "PowerEscape.units": TIME,
    "PowerEscape.relative": {"leader": 0.4, "value": 1.0},
    "Quanta": {
        "exponent": 1.6, "unlearned_loss": 2.0, "learned_loss": 0.1, "units_needed": 2.0,
        "samples_needed": 0.1, "time_needed": 0.5,
    },
    "Quanta.loss_from_learned": {"num_learned": 3},
    "Quanta.learned_from_units": {"num_units": 4.0},
    "Quanta.learned_from_data": {"num_samples": 5.0},
    "Quanta.learned_from_time": TIME,
    "Quanta.loss_from_units": {"num_units": 4.0},
    "Quanta.loss_from_data": {"num_samples": 5.0},
    "Quanta.loss": TIME,
    "ScalarNetwork": {
        "target": 1.2, "first": np.array([0.3, -0.2]), "second": np.array([0.5, 0.4]), "normalisation": 1.5,
        "learning_rate": 0.8,
    },
    **_of_time("ScalarNetwork", "growth", "layers", "residual", "features", "movement", "output",
               "spread", "aligned", "anti_aligned", "loss", "lazy_output"),
    "ScalarNetwork.saturation_time": {"share": 0.9},
    "SkillScaling": {"exponent": 1.6, "target_scale": 2.0, "start": 0.1, "learning_rate": 0.8},
    "SkillScaling.frequencies": {"num_skills": 3},
    "SkillScaling.loss": TIME,
    "SkillScaling.loss_from_data": {"num_samples": 5.0},
    "SkillScaling.loss_from_units": {"num_units": 4.0},
    "TwoLayerGrokking": {
        "aspect_ratio": 0.9, "width": 20, "learning_rate": 0.01, "threshold": 1e-3, "output_dimension": 2,
        "activation": "linear",
    },
    **_of_time("TwoLayerGrokking", "train_loss", "test_loss", "train_accuracy", "test_accuracy", "kernel",
               "coupled_losses"),
    "TwoLayerGrokking.train_time": {"accuracy": 0.9},
    "TwoLayerGrokking.test_time": {"accuracy": 0.9},
    "TwoLayerGrokking.grokking_delay": {"accuracy": 0.9},
    "UnconstrainedFeatures": {
        "labels": np.array([0, 0, 1, 1]), "first": np.asarray(COLLAPSE.first),
        "second": np.asarray(COLLAPSE.second), "learning_rate": 4.0, "centring": "none",
    },
    "UnconstrainedFeatures.small": {
        "labels": np.array([0, 0, 1, 1]), "width": 2, "initial_std": 0.3, "seed": 0, "learning_rate": 4.0,
        "centring": "none",
    },
    **_of_time("UnconstrainedFeatures", "features", "last_layer", "outputs", "loss", "within_class",
               "simplex", "duality", "duality_centred", "disagreement"),
}  # fmt: skip
"""The methods' objects are made by the constructors' valid arguments."""
