"""Valid calls of `lazyrich.measures`, and what odd values mean there."""

import numpy as np

from lazyrich import groups, measures

from .engine import Call
from .measures_meaning import MEANING as MEANING
from .values import HUGE, Also

RNG = np.random.default_rng(0)
GROUP = groups.cyclic(5)
PAIRS = np.stack(np.divmod(np.arange(23), 5), axis=1)
LABELS = PAIRS.sum(axis=1) % 5
W, V = RNG.standard_normal((10, 6)), RNG.standard_normal((6, 5))
FEATURES = (W[PAIRS[:, 0]] + W[5 + PAIRS[:, 1]]) ** 2
INCOMING, OUTGOING = RNG.standard_normal((3, 2)), RNG.standard_normal((3, 2))
KERNEL, OTHER = (a @ a.T for a in RNG.standard_normal((2, 8, 9)))
BATCH = RNG.standard_normal((8, 1))
TIME = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
RISING = np.array([0.1, 0.2, 0.3, 0.95, 0.97, 1.0])
JACOBIAN = RNG.standard_normal((3, 1, 4))
PRODUCTS = measures.JacobianProducts(3, 1, 4, product=JACOBIAN[:, 0].__matmul__)
SKETCHES = [
    measures.tangent_kernel(
        measures.JacobianProducts(3, 1, 4, product=jacobian.__matmul__), num_directions=8
    )
    for jacobian in (JACOBIAN[:, 0], JACOBIAN[:, 0] + 0.1)
]
STAGES = measures.TrainingStage(
    np.array(["lazy"] * 6), measures.StageEvidence(*np.full((12, 6), 0.1))
)
COLLAPSING = np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.0], [0.2, 1.0]])
SKILLS = RNG.standard_normal((6, 2))
CLASSES = np.array([0, 0, 1, 1])


def _gradient(weights):
    return np.resize([-2.0, 1.0], weights.shape) * weights


def _product(weights, direction):
    return np.resize([-2.0, 1.0], weights.shape) * direction


def _meter():
    return measures.CollapseMeter(np.eye(2), np.zeros(2))


def _add(features, labels):
    _meter().add(features, labels)


def _compare(features):
    meter = _meter()
    meter.add(COLLAPSING, CLASSES)
    meter.compare(features)


RECORDS = {
    "EffectiveWidth": "effective_width",
    "GrokkingCase": "grokking_case",
    "LazyOrRich": "lazy_or_rich",
    "MemorisationKind": "memorisation_kind",
    "NeuralCollapse": "neural_collapse",
    "NodeFeatures": "node_features",
    "Plateaus": "plateaus",
    "SaddleCertificate": "saddle_certificate",
    "TrainingStage": "training_stage",
}
INSTANCES = {
    "NodeFeatures": lambda: measures.node_features(W, GROUP),
    "SaddleCertificate": lambda: measures.saddle_certificate(_gradient, _product, [1e-3, 0.02]),
    "TrainingStage": lambda: STAGES,
}

CALLS = {
    "CollapseMeter": {"second": np.array([[1.0, 0.0], [0.1, 1.0]]), "bias": np.array([0.0, 0.1])},
    "CollapseMeter.add": Call(_add, {"features": COLLAPSING, "labels": CLASSES}),
    "CollapseMeter.compare": Call(_compare, {"features": COLLAPSING}),
    "JacobianProducts": {
        "num_points": 3, "num_outputs": 1, "num_weights": 4, "rows": lambda k: JACOBIAN[k, 0],
        "product": lambda d: JACOBIAN[:, 0] @ d, "transposed": lambda y: JACOBIAN[:, 0].T @ y,
    },
    "JacobianProducts.some_rows": {"numbers": np.array([0, 2])},
    "JacobianProducts.change": {"direction": np.array([1.0, 0.5, -0.2, 0.3])},
    "NodeFeatures.share": {"kind": "random"},
    "SaddleCertificate.escape_time": {"size": 1.0},
    "TrainingStage.reason": {"index": 1},
    "backpropagated_gradient": {
        "features": FEATURES, "targets": LABELS, "second": V, "centring": "samples",
    },
    "balance": {"incoming": INCOMING, "outgoing": OUTGOING, "degree": 1, "matrix": False},
    "centred_alignment": {"kernel": KERNEL, "other": OTHER},
    "class_share": {"features": FEATURES, "labels": LABELS, "inputs": PAIRS},
    "collection_times": {"found": np.array([[0, 1], [1, 0]]), "num_maxima": 2},
    "crossing_time": {"time": TIME, "curve": RISING, "level": 0.5, "falling": False},
    "effective_width": {
        "incoming": INCOMING, "outgoing": OUTGOING, "kind": None, "tolerance": 0.1,
    },
    "feature_rank": {"features": COLLAPSING, "centring": "none", "tolerance": 0.01},
    "gram_diagonality": {"features": COLLAPSING, "entries": True},
    "grokking_case": {
        "time": TIME, "train_accuracy": RISING, "test_accuracy": 0.5 * RISING, "stages": STAGES,
        "level": 0.9,
    },
    "grokking_delay": {
        "time": TIME, "train_accuracy": RISING, "test_accuracy": RISING**2, "level": 0.5,
    },
    "layer_imbalance": {"layers": [INCOMING, OUTGOING[:2], OUTGOING[1:]]},
    "layered_tangent_kernel": {"layers": [(INCOMING, OUTGOING), (INCOMING, INCOMING)]},
    "lazy_or_rich": {
        "start_kernel": KERNEL, "end_kernel": OTHER, "start_outputs": BATCH,
        "end_outputs": 2 * BATCH + 1, "linear_change": BATCH, "start_weights": RISING,
        "end_weights": TIME, "targets": BATCH, "num_resamples": 3, "seed": 0,
    },
    "linearisation_gap": {
        "start_outputs": BATCH, "end_outputs": 2 * BATCH + 1, "linear_change": BATCH,
    },
    "manifold_distance": {
        "incoming": INCOMING, "outgoing": OUTGOING, "manifold": "proportional", "width": 1,
        "units": np.array([0, 2]), "either_sign": False,
    },
    "memorisation_kind": {
        "first": W, "group": GROUP, "pairs": PAIRS, "activation": "quadratic",
    },
    "neural_collapse": {
        "features": COLLAPSING, "labels": CLASSES, "second": np.array([[1.0, 0.0], [0.1, 1.0]]),
        "bias": np.array([0.0, 0.1]),
    },
    "node_features": {
        "first": W, "group": GROUP, "pairs": None, "activation": "quadratic", "smallest": 0.1,
    },
    "plateaus": {
        "time": np.arange(9.0), "loss": np.array([1, 1, 1, 1, 0.5, 0, 0, 0, 0]),
        "smallest_drop": 0.02, "shortest": 2.0,
    },
    "power_law": {"x": TIME + 1, "y": RISING + 1},
    "predicted_drift": {
        "incoming_steps": INCOMING[None], "outgoing_steps": OUTGOING[None], "degree": 1,
        "matrix": False,
    },
    "ridge_distance": {
        "features": FEATURES, "targets": LABELS, "second": V, "ridge": 1.0, "centring": "samples",
    },
    "saddle_certificate": {
        "gradient": _gradient, "hessian_product": _product, "weights": np.array([1e-3, 0.02]),
        "radius": 0.1, "tolerance": 1e-9, "max_dense": 2000, "max_index": 20, "accuracy": 1e-6,
    },
    "seed_geometric_mean": {"values": INCOMING**2, "dimension": 0},
    "seed_mean": {"values": INCOMING, "dimension": 0},
    "seed_median": {"values": np.outer([1.0, 2.0, 4.0], [1.0, 2.0, 3.0]), "dimension": 0},
    "seed_ratio": {"values": INCOMING, "other": INCOMING**2 + 1, "dimension": 0},
    "sharpness": {
        "hessian_product": _product, "weights": np.array([1e-3, 0.02]), "num_directions": 3,
        "accuracy": 1e-4, "seed": 0,
    },
    "sketched_kernel_distance": {"start": SKETCHES[0], "end": SKETCHES[1]},
    "skill_strength": {"outputs": RISING, "skills": SKILLS},
    "tangent_kernel": {
        "jacobian": Also(PRODUCTS, {
            "nan": np.full((3, 4), np.nan), "huge": np.full((3, 4), HUGE), "fewer_axes": np.ones(4),
        }), "full": False, "method": "sketch",
        "max_bytes": 1e6, "num_directions": 3, "seed": 0,
    },
    "target_kernel": {"targets": BATCH},
    "training_stage": {
        "first": W, "second": V, "features": FEATURES, "labels": LABELS, "inputs": PAIRS,
        "start": W + 0.1, "later": (W + 0.1, V + 0.1), "group": GROUP, "ridge": 1.0,
        "centring": "samples",
    },
    "weight_change": {"before": INCOMING, "after": OUTGOING, "node_axis": -1},
    "weight_movement": {"start": RISING, "end": TIME},
    "weight_to_target_ratio": {"weights": TIME, "kernel": KERNEL, "targets": BATCH, "degree": 2},
}  # fmt: skip
