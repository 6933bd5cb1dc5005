"""Valid calls of `lazyrich.theory`, and what odd values mean there."""

import numpy as np

from lazyrich import groups, models, theory

from . import theory_meaning, theory_solutions
from .engine import Call

GROUP = groups.cyclic(3)
PAIR_NODE = np.array([0.4, -0.7, 0.2, 0.1, 0.5, -0.3])
COVARIANCE = np.array([[1.0, 0.2, 0.0], [0.2, 0.8, 0.1], [0.0, 0.1, 0.5]])
CORRELATION = np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -0.4]])
DATA = np.array([[0.5, -0.2], [0.3, 0.9], [-0.4, 0.1], [0.2, 0.6]])
TARGETS = np.array([[1.0], [-0.5], [0.3], [0.2]])
NETWORK = models.TwoLayer(2, 3, activation="relu")
KIND = NETWORK.kinds[0]
LINEAR = models.TwoLayer(2, 3, activation="linear").kinds[0]
UNITS = models.Units(
    np.array([[1.0, 0.2], [0.3, 0.4], [0.1, 0.6]]), np.array([[2.0], [3.0], [1.0]])
)
WEIGHTS = models.TwoLayerWeights(np.array([[1.0], [2.0]]), np.array([[4.0]]))
TIMES = np.linspace(0, 30, 9)
SKILLS = theory.Emergence([0.7, 0.3], target_scale=2.0, start=1e-3, learning_rate=0.5)
STRENGTHS = np.asarray(SKILLS.modes(TIMES))[:, 0]
NODES = theory.TargetReconstruction(GROUP).nodes("conjugate")

_MANIFOLD = {
    "residual": {"units": UNITS}, "project": {"units": UNITS}, "is_invariant": {"kind": KIND},
    "factors": {"num_units": 3}, "lacks": {"kind": KIND},
}  # fmt: skip
_CONSTRUCTION = {
    "apply": {"units": UNITS, "kind": LINEAR}, "factors": {"num_units": 3}, "lacks": {"kind": KIND},
}  # fmt: skip


def _embed(network, weights, constructions, layer):
    several = constructions if isinstance(constructions, tuple) else (constructions,)
    return theory.embed(network, weights, *several, layer=layer)


def _reduce(manifold):
    return Call(manifold.reduce, {"units": manifold.project(UNITS), "kind": LINEAR})


def _methods(kinds, table):
    return {f"{kind}.{method}": arguments for kind in kinds for method, arguments in table.items()}


CALLS = {
    **theory_solutions.CALLS,
    **_methods(["DependentManifold", "EqualManifold", "ProportionalManifold", "ZeroManifold"], _MANIFOLD),
    **_methods(["DependentUnit", "ProportionalUnit", "SplitUnit", "ZeroUnit"], _CONSTRUCTION),
    "DependentManifold.reduce": _reduce(theory.DependentManifold([1.0, 2.0])),
    "EqualManifold.reduce": _reduce(theory.EqualManifold(0)),
    "ProportionalManifold.reduce": _reduce(theory.ProportionalManifold(2.0, 0)),
    "ZeroManifold.reduce": _reduce(theory.ZeroManifold()),
    "AttentionSaddles": {"covariance": COVARIANCE, "context": 8},
    "AttentionSaddles.loss": {"modes": (0, 1)},
    "AttentionSaddles.map": {"modes": (0, 1)},
    "AttentionSaddles.correlations": {"modes": (0, 1)},
    "DependentManifold": {"others": np.array([1.0, 2.0]), "unit": -1},
    "DependentUnit": {"incoming": np.array([1.0, 2.0, 0.5]), "outgoing": np.array([0.5, 1.0, 0.2])},
    "EqualManifold": {"of": 0, "unit": -1},
    "GradientExpansion.at": {"time": 0.9},
    "GroupFeatures": {"group": GROUP, "linear": 0.5, "quadratic": 1.0, "complex_weights": False},
    "GroupFeatures.sample": {"family": 0, "num": 2, "seed": 0},
    "GroupFeatures.maximum": {
        "family": 0, "x": np.array([1.0]), "y": np.array([2.0]), "z": np.array([1.0]),
    },
    "GroupFeatures.power": {"weights": PAIR_NODE},
    "GroupFeatures.classify": {"weights": PAIR_NODE},
    "GroupFeatures.curvature": {"weights": PAIR_NODE, "tolerance": 1e-8},
    "LinearFixedPoints": {"correlation": CORRELATION, "covariance": COVARIANCE, "output_power": 3.0},
    "LinearFixedPoints.map": {"modes": (0, 1)},
    "LinearFixedPoints.loss": {"modes": (0, 1)},
    "LinearFixedPoints.residual_correlation": {"modes": (0,)},
    "LinearFixedPoints.escape_rate": {"modes": (0,)},
    "LinearFixedPoints.hessian_index": {"modes": (0,), "width": 3},
    "LinearFixedPoints.weights": {"modes": (0,), "width": 2, "mixing": np.array([[0.6, 0.8], [0.8, -0.6]])},
    "Memorisation": {"probabilities": np.array([0.5, 0.3, 0.2]), "activation": "quadratic"},
    "Memorisation.slope_ratio": {"x": 0.5},
    "Memorisation.weights": {"group": GROUP, "target": 1},
    "ModulatedEnergy": {"group": GROUP, "learned": (1, 2), "remaining": 0.5},
    "ModulatedEnergy.value": {"weights": PAIR_NODE},
    "ModulatedEnergy.gradient": {"weights": PAIR_NODE},
    "NodesToCollect": {"rates": np.array([1.0, 1.0, 0.5]), "exponent": 2.0},
    "NodesToCollect.chance_of_new": {"found": np.array([0]), "factor": 2.0},
    "NodesToCollect.expected_with_suppression": {"factor": 2.0},
    "NodesToCollect.chance": {"num_nodes": 5},
    "PairFeatureGram": {"activation": "quadratic", "num_symbols": 3, "initial_std": 1.0},
    "PairFeatureGram.gradient_factor": {"width": 50, "ridge": 0.1},
    "ProportionalManifold": {"factor": 2.0, "of": 0, "unit": -1},
    "ProportionalUnit": {"unit": 0, "incoming": 2.0, "outgoing": 0.5},
    "QuadraticEscape": {
        "correlation": np.diag([1.0, -1.0]), "first": np.array([[0.1, 0.1], [0.2, 0.1]]),
        "second": np.array([0.1, -0.1]), "learning_rate": 0.5,
    },
    "QuadraticEscape.units": {"time": 0.9},
    "QuadraticEscape.growth": {"time": 0.9},
    "QuadraticEscape.escape_time": {"size": 1.0},
    "RandomFeatureGram": {"activation": "quadratic", "norm": 1.0, "correlation": 0.2},
    "RandomFeatureGram.coefficients": {"num_terms": 3},
    "RandomFeatureGram.gradient_factor": {"width": 50, "num_samples": 4, "ridge": 0.1},
    "SplitUnit": {"unit": 0, "share": 0.3},
    "Staircase": {
        "correlation": np.diag([2.0, 1.0]), "covariance": np.eye(2), "output_power": 6.0, "initial_std": 1e-3,
        "width": 3, "first": None, "second": None, "learning_rate": 0.5,
    },
    "Staircase.loss": {"time": 0.9},
    "TargetReconstruction": {"group": GROUP, "complex_weights": True},
    "TargetReconstruction.nodes": {"form": "conjugate", "seed": 0},
    "TargetReconstruction.node_features": {"first": NODES},
    "TargetReconstruction.gram": {"first": NODES},
    "TargetReconstruction.outputs": {"first": NODES},
    "TargetReconstruction.error": {"first": NODES},
    "ZeroManifold": {"unit": -1},
    "ascent_matrix": {
        "inputs": DATA, "targets": TARGETS, "weights": np.array([1.0, 0.5]), "activation": "quadratic",
    },
    "calibrate_emergence": {
        "frequencies": np.array([0.7, 0.3]), "target_scale": 2.0, "time": (TIMES, STRENGTHS),
        "data": None, "units": None,
    },
    "embed": Call(
        _embed, {"network": NETWORK, "weights": WEIGHTS, "constructions": (theory.SplitUnit(0),), "layer": 0},
    ),
    "fastest_direction": {
        "inputs": DATA, "targets": np.array([1.0, -1.0, 0.5, 0.2]), "sample_weights": np.full(4, 0.25),
        "sign": 1,
        "num_starts": 4, "seed": 0,
    },
    "feature_repulsion": {"features": DATA, "ridge": 0.1},
    "initial_gradient_norm": {
        "features": DATA, "targets": TARGETS, "initial_std": 0.1, "output_scale": 1.3, "centring": "samples",
    },
    "muon_projection": {"basis": np.array([[1.0], [0.0]]), "vector": np.array([0.2, 0.1])},
    "random_layer_gradient": {"features": DATA, "targets": TARGETS, "activation": "relu", "initial_std": 1.0},
    "ridge_readout": {
        "features": DATA, "targets": TARGETS, "ridge": 0.1, "output_scale": 1.3, "centring": "samples",
    },
    "sample_threshold": {"order": 7, "dimension": 1, "failure": 0.5, "constant": 1.0},
}  # fmt: skip

SLOW = (
    "LinearGrokking.*_time",
    "LinearGrokking.finite*",
    "LinearGrokking.smallest*",
    "TwoLayerGrokking.*",
)
"""What takes seconds to compile."""
INSTANCES = {
    "GradientExpansion": lambda: theory.LazyReadout(DATA, TARGETS, np.ones((2, 1))).expansion(),
    "ZeroUnit": theory.ZeroUnit,
}
RECORDS = {"FeatureFamily": "made by `GroupFeatures.families`"}

MEANING = theory_meaning.MEANING
