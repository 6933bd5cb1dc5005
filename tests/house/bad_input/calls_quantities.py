"""Valid calls of `lazyrich.quantities`, and what odd values mean there."""

import numpy as np

from lazyrich import groups

W1 = np.array([[0.6, 0.1], [0.2, 0.5], [0.3, -0.4]])
W2 = np.array([[0.8, 0.6], [-0.6, 0.7]])
KERNEL = np.array([[2.0, 0.3], [0.3, 1.0]])
COVARIANCE = np.array([[1.0, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 0.5]])
DATA = np.array([[0.5, -0.2], [0.3, 0.9], [-0.4, 0.1], [0.2, 0.6]])
LABELS = np.array([0, 1, 0, 1])
NODE = np.array([0.4, -0.7])
GROUP = groups.cyclic(3)
PAIR_NODE = np.array([0.4, -0.7, 0.2, 0.1, 0.5, -0.3])

CALLS = {
    "layer_gradients": {
        "inputs": DATA, "weights": [W2, W2], "readout": W2, "targets": DATA, "activation": "relu",
        "residual": "none", "centring": "samples",
    },
    "feature_energy": {
        "weights": NODE, "data": DATA, "labels": LABELS, "activation": "quadratic", "centring": "samples",
    },
    "imbalance": {"first": W1, "second": W2},
    "kernel_distance": {"kernel": KERNEL, "other": np.eye(2)},
    "linear_kernel_distance": {
        "first": W1, "second": W2, "new_first": 2 * W1, "new_second": W2, "covariance": COVARIANCE,
    },
    "polar_factor": {"matrix": W2},
    "threshold_accuracy": {"loss": 2e-4, "threshold": 1e-3, "output_dimension": 2},
    "threshold_loss": {"accuracy": 0.9, "threshold": 1e-3, "output_dimension": 2},
    "FeatureEnergy": {
        "data": DATA, "labels": LABELS, "activation": "quadratic", "num_weights": 2,
        "sample_weights": np.array([1.0, 2.0, 1.0, 1.0]), "centring": "samples",
    },
    "FeatureEnergy.value": {"weights": NODE},
    "FeatureEnergy.gradient": {"weights": NODE},
    "FeatureEnergy.hessian": {"weights": NODE},
    "FeatureEnergy.hessian_product": {"weights": NODE, "direction": NODE},
    "GroupEnergy": {"group": GROUP, "quadratic": 1.0},
    "GroupEnergy.plan": {"is_complex": False},
    "GroupEnergy.value": {"weights": PAIR_NODE},
    "GroupEnergy.gradient": {"weights": PAIR_NODE},
    "GroupEnergy.hessian": {"weights": PAIR_NODE},
    "GroupEnergy.blocks": {"weights": PAIR_NODE},
    "GroupEnergy.from_blocks": {"blocks": PAIR_NODE.reshape(2, 3)},
    "GroupEnergy.matrices": {"weights": PAIR_NODE},
}  # fmt: skip

MEANING = {
    ("layer_gradients", "inputs readout targets", "zero negative"): "any real numbers",
    ("layer_gradients", "inputs targets", "huge"): "any real numbers; errors are as large",
    (
        "layer_gradients",
        "weights",
        "first_zero first_negative first_huge",
    ): "any real numbers",
    ("layer_gradients", "weights", "longer"): "one more layer",
    ("feature_energy FeatureEnergy*", "weights direction", "zero negative"): "any numbers",
    ("feature_energy FeatureEnergy*", "weights direction", "complex"): "complex nodes",
    ("feature_energy FeatureEnergy.*", "weights", "extra_axis"): "many nodes",
    ("FeatureEnergy.hessian_product", "direction", "huge"): "any numbers; linear in it",
    ("feature_energy FeatureEnergy", "data", "zero negative"): "any real inputs",
    ("FeatureEnergy", "data sample_weights", "huge"): "held; methods refuse what overflows",
    ("feature_energy FeatureEnergy", "labels", "zero"): "one class: the energy is zero",
    ("imbalance", "first second", "zero negative"): "any real numbers",
    ("imbalance", "first", "longer"): "one more input",
    ("imbalance", "second", "wider"): "one more output",
    ("kernel_distance", "kernel other", "negative"): "kernels of estimates need not be positive",
    ("kernel_distance", "kernel other", "huge"): "scales do not matter",
    ("kernel_distance", "kernel other", "extra_axis"): "many kernels",
    ("linear_kernel_distance", "!covariance *", "zero negative"): "any real numbers",
    ("linear_kernel_distance", "*", "huge"): "scales do not matter",
    ("linear_kernel_distance", "*", "extra_axis"): "leading axes",
    ("polar_factor", "matrix", "zero negative"): "any real numbers; zero stays zero",
    ("polar_factor", "matrix", "huge"): "scales do not matter",
    ("polar_factor", "matrix", "extra_axis longer wider"): "matrices of any shape",
    ("threshold_accuracy", "loss", "zero"): "accuracy 1",
    ("threshold_accuracy", "loss threshold", "huge"): "accuracy 0, or 1",
    ("threshold_loss", "threshold", "huge"): "a loss as large",
    ("threshold_*", "*", "empty extra_axis"): "any shape",
    ("GroupEnergy", "quadratic", "negative"): "its square counts",
    ("GroupEnergy.*", "weights blocks", "zero negative"): "any numbers",
    ("GroupEnergy.* !GroupEnergy.hessian", "weights blocks", "complex"): "complex nodes",
    ("GroupEnergy.*", "weights blocks", "extra_axis"): "many nodes",
    ("GroupEnergy.*blocks GroupEnergy.matrices", "weights blocks", "huge"): "linear in it",
}
