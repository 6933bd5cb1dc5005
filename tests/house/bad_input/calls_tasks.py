"""Valid calls of `lazyrich.tasks`, and what odd values mean there."""

import tempfile
from pathlib import Path

import jax
import numpy as np

from lazyrich import groups, models
from lazyrich.tasks import load_idx

from .engine import Call
from .values import Also

KEY = jax.random.key(0)
COVARIANCE = Also(
    np.array([[1.0, 0.2], [0.2, 0.5]]), {"asymmetric": np.array([[1.0, 0.5], [0.0, 1.0]])}
)
PARITY_INPUTS = np.array([[1.0, 0.0, 1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]])


def _target(inputs):
    return inputs[:, :1]


def _load(path):
    if path != "labels":
        return load_idx(path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path)
        file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
        return load_idx(file)


RECORDS = {"Digits": "digit_images"}

CALLS = {
    "DigitClassification": {
        "num_samples": 3, "num_test": 2, "target_scale": 1.0, "pool": 2, "source": "packaged",
    },
    "DigitClassification.split": {"key": KEY},
    "DigitClassification.dataset": {"key": KEY},
    "DigitPair": {"first": 3, "second": 5, "source": "packaged", "part": "test"},
    "DigitPair.dataset": {"key": None},
    "GaussianRegression": {"covariance": COVARIANCE, "target": _target, "num_samples": 3},
    "GaussianRegression.dataset": {"key": KEY},
    "GaussianRegression.population": {"nodes": 3, "degree": 1},
    "GaussianRegression.scaled": {"output_power": 1.0, "nodes": 3},
    "GivenData": {"inputs": np.array([[1.0, 0.5], [-1.0, 2.0]]), "targets": np.array([1.0, -1.0])},
    "GivenData.dataset": {"key": None},
    "GroupArithmetic": {"group": groups.cyclic(3), "train_fraction": 0.6},
    "GroupArithmetic.train_mask": {"key": KEY},
    "GroupArithmetic.split": {"key": KEY},
    "InContextRegression": {"covariance": COVARIANCE, "context": 2, "num_samples": 3},
    "InContextRegression.dataset": {"key": KEY},
    "RandomRegression": {
        "num_samples": 3, "input_dimension": 2, "output_dimension": 1, "whitened": True,
        "target_scale": 1.0,
    },
    "RandomRegression.dataset": {"key": KEY},
    "RandomRegression.moments": {"key": KEY},
    "SparseParity": {
        "num_skills": 2, "num_bits": 4, "skill_bits": 2, "exponent": 1.6, "target_scale": 5.0,
    },
    "SparseParity.dataset": {"key": KEY, "num_samples": 2},
    "SparseParity.skill_dataset": {"key": KEY, "skill": 1, "num_samples": 2},
    "SparseParity.skills": {"inputs": PARITY_INPUTS},
    "SparseParity.target": {"inputs": PARITY_INPUTS},
    "TeacherStudent": {
        "input_dimension": 2, "num_samples": 3, "output_dimension": 1, "label_noise": 0.1,
    },
    "TeacherStudent.inputs": {"key": KEY, "num_samples": 2},
    "TeacherStudent.noise": {"key": KEY},
    "TeacherStudent.weights": {"key": KEY},
    "digit_images": {"source": "packaged", "part": "test"},
    "power_law_contexts": {"num_modes": 2, "exponent": 1.0, "context": 2, "num_samples": 3},
    "power_law_regression": {"num_modes": 2, "exponent": 1.0, "num_samples": 3},
    "power_law_strengths": {"num_modes": 2, "exponent": 1.0},
    "teacher_regression": {
        "covariance": COVARIANCE, "teacher": models.TwoLayer(2, 2),
        "weights": models.TwoLayerWeights(np.eye(2), np.ones((2, 1))), "num_samples": 3,
    },
    "load_idx": Call(_load, {"path": "labels"}),
}  # fmt: skip

MEANING = {
    ("DigitClassification", "num_test", "huge enormous"): "all there are",
    ("DigitPair", "first second", "zero"): "the digit 0",
    ("DigitPair.dataset GivenData.dataset", "key", "text object number empty"): "not used",
    ("GaussianRegression InContextRegression", "covariance", "number"): "so many inputs, white",
    ("GaussianRegression InContextRegression", "covariance", "zero"): "inputs that are always 0",
    ("GaussianRegression", "covariance", "huge"): "inputs are as large as its root",
    ("*Regression", "num_samples context", "huge enormous"): "held; `dataset` refuses it",
    ("power_law* *_regression", "num_samples", "huge enormous"): "held; `dataset` refuses it",
    ("power_law_contexts", "context", "huge"): "held; `dataset` refuses it",
    ("GaussianRegression.scaled", "output_power", "huge"): "targets as large as its root",
    ("power_law*", "exponent", "zero huge"): "all modes alike, or the first alone",
    ("teacher_regression", "covariance", "zero"): "inputs that are always 0",
    ("teacher_regression", "covariance", "huge"): "inputs are as large as its root",
    ("teacher_regression", "covariance", "number"): "refused as `inputs`: the teacher takes two",
    ("teacher_regression", "weights", "first_zero first_negative first_huge"): "any real numbers",
    (
        "RandomRegression TeacherStudent",
        "output_dimension",
        "huge enormous",
    ): "held; `dataset` refuses it",
    ("TeacherStudent", "input_dimension num_samples", "huge enormous"): "held; methods refuse it",
    (
        "RandomRegression",
        "input_dimension",
        "huge enormous",
    ): "refused as `num_samples`: whitening needs it",
    ("GivenData", "inputs targets", "zero negative huge"): "any real numbers",
    ("GivenData", "inputs", "wider"): "one more input",
    ("RandomRegression", "target_scale", "zero"): "no labels to learn",
    (
        "SparseParity",
        "num_skills skill_bits",
        "huge enormous",
    ): "refused as `num_bits`: too few for them",
    ("SparseParity", "exponent", "zero huge"): "all skills as frequent, or the first alone",
    ("SparseParity", "target_scale", "huge"): "labels as large",
    ("SparseParity.skill_dataset", "skill", "zero"): "the first",
    ("SparseParity.skills SparseParity.target", "inputs", "zero"): "no skill",
    (
        "SparseParity.skills SparseParity.target",
        "inputs",
        "empty extra_axis fewer_axes longer",
    ): "any samples",
    ("TeacherStudent", "label_noise", "zero"): "no noise",
    ("TeacherStudent", "label_noise", "huge"): "noise as large",
}
