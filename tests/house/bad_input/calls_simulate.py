"""Valid calls of `lazyrich.simulate`, and what odd values mean there."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich import groups, models, quantities, simulate, tasks

NETWORK = models.TwoLayer(2, 2)
DATA = tasks.GivenData([[1.0, 0.5], [-1.0, 2.0]], [1.0, -1.0])
PAIRS = tasks.GroupArithmetic(groups.cyclic(3), 0.6)
STUDENT = simulate.TwoLayerStudent(2, 3, 2, num_test=2)

# what compiles is as small as can be and shared: `connect` with `gradient_flow`, whose start at zero stays
# there for any time, and both ascents; runs one by one compile once for any number of seeds
FLOW = simulate.Supervised(NETWORK, DATA, 0.0)
WEIGHTS = models.TwoLayerWeights(np.full((2, 2), 0.1), np.full((2, 1), 0.1))
NODE = np.array([[1.0, 0.5, 0.2, 0.1]])
ENERGY = quantities.FeatureEnergy(
    [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], "quadratic", num_weights=4
)


@dataclasses.dataclass(frozen=True)
class Mean(simulate.Training):
    """One weight that learns the mean of two numbers."""

    runs_together = 1

    def start(self, seed):
        return np.array(1.0), np.array([0.5, 1.5])

    def loss(self, weights, data):
        return jnp.mean((weights - data) ** 2)

    def record(self, weights, data):
        return {"loss": self.loss(weights, data)}

    def count_samples(self, data):
        return data.shape[-1]

    def minibatch(self, data, indices):
        return data[indices]


INSTANCES = {"Training": lambda: STUDENT}
RECORDS = {"Optimizer": "`muon`, or optax"}
EXEMPT = {
    ("*.*", "weights data later frame indices pairs"): (
        "inside of traces, what `start` gave and descent made of it; `Training` says: NaN in, NaN out"
    ),
}

CALLS = {
    "Classification": {
        "network": models.MLP((64, 2, 10)), "task": tasks.DigitClassification(3, 2, source="packaged"),
        "initial_std": 0.1, "objective": "squared", "kernel_samples": 0, "frozen": (0,),
    },
    "Classification.start": {"seed": 0},
    "FeatureLearning": {
        "network": models.PairNetwork(3, 2), "task": PAIRS, "objective": "squared",
        "centring": "classes", "top_decay": None, "initial_scale": 1.0, "top_scale": 1.0,
        "initial_weights": None, "padded_samples": 6, "records": ("change",), "probe": None,
    },
    "FeatureLearning.start": {"seed": 0},
    "FeatureLearning.train_pairs": {"seed": 0},
    "LinearClassifier": {
        "input_dimension": 6, "num_classes": 2, "samples_per_class": 2, "width": 2, "num_test": 2,
        "initial_std": 1e-3, "separation": 0.5, "random_labels": False, "bias": False,
        "unconstrained": False, "whitened": False, "balanced": False,
    },
    "LinearClassifier.start": {"seed": 0},
    "LinearClassifier.labels": {"seed": 0},
    "Supervised": {
        "network": NETWORK, "task": DATA, "initial_std": 0.1, "population": False,
        "mean_outputs": False, "records": ("units",), "initial_weights": None,
    },
    "Supervised.data": {"key": jax.random.key(0)},
    "Supervised.start": {"seed": 0},
    "Training.start": {"seed": 0},
    "TwoLayerStudent": {
        "input_dimension": 2, "num_samples": 3, "width": 2, "output_dimension": 1,
        "activation": "linear", "thresholds": (1e-3,), "num_test": 2,
    },
    "TwoLayerStudent.start": {"seed": 0},
    "connect": {
        "training": FLOW, "weights": WEIGHTS, "unit": 0, "displacement": 1e-4, "seed": 0,
        "tolerance": 1e-5,
    },
    "energy_ascent": {
        "energy": ENERGY, "starts": NODE, "tolerance": 1e-2, "max_steps": 50, "context": None,
    },
    "even_steps": {"last": 10, "num": 4},
    "feature_survival": {
        "group": groups.cyclic(2), "num_samples": 3, "starts": NODE, "activation": "quadratic",
        "seeds": [0], "tolerance": 1e-2, "max_steps": 50, "context": None,
    },
    "gradient_descent": {
        "training": Mean(), "steps": [0, 1], "seeds": [0], "learning_rate": 0.1, "optimizer": "sgd",
        "weight_decay": 0.1, "batch_size": 2, "dtype": "float64", "context": None,
        "checkpoint": "name",
    },
    "gradient_flow": {
        "training": FLOW, "times": np.linspace(0.1, 1, 10).tolist(), "seeds": [0],
        "learning_rate": 1.0, "tolerance": 1e-6, "implicit": False, "context": None,
    },
    "linear_descent": {
        "task": tasks.TeacherStudent(2, 3), "steps": [1], "learning_rate": 0.1, "seeds": [0],
        "weight_decay": 0.1, "student_scale": 1.0, "thresholds": [1e-3], "num_test": 3,
        "context": None,
    },
    "linear_network_descent": {
        "correlation": np.array([[0.5]]), "covariance": np.array([[1.0]]),
        "first": np.array([[0.1]]), "second": np.array([[0.2]]), "steps": [0, 1], "learning_rate": 0.1,
        "output_power": 1.0, "context": None,
    },
    "log_steps": {"last": 10, "num": 4, "first": 1, "start": True, "exact": False},
    "adam": {"decoupled": False, "momentum": 0.9, "memory": 0.999},
    "muon": {"exact": False, "top_factor": 1.0, "momentum": 0.95},
    "parity_descent": {
        "task": tasks.SparseParity(1, 1, 1), "steps": [0, 1], "widths": [2], "num_samples": [3],
        "initial_std": 0.1, "learning_rate": 0.1, "decay_from": 1.0, "optimizer": "sgd", "batch_size": 2,
        "seeds": [0], "dtype": "float32", "context": None,
    },
    "sequential_muon": {
        "gradient": jnp.sin, "starts": np.array([[[0.1, 0.2]]]), "memory": "none", "num_steps": 2,
        "step_size": 0.05,
    },
    "weights_key": {"seed": 0},
}  # fmt: skip

MEANING = {
    ("*.start *.labels *.train_pairs weights_key connect", "seed", "zero huge"): "any seed",
    (
        "feature_survival gradient_descent gradient_flow linear_descent parity_descent",
        "seeds",
        "first_zero first_huge longer",
    ): "any seeds, each as often as it is there",
    ("Supervised.data", "key", "*"): "`GivenData` draws nothing, as it says",
    ("Classification Supervised", "initial_std", "zero huge"): "weights that are zero, or as large",
    (
        "Classification Supervised",
        "initial_std",
        "empty extra_axis",
    ): "`start` says how many there must be",
    ("Classification", "kernel_samples", "zero"): "no kernels",
    ("Classification", "kernel_samples", "huge enormous"): "all samples",
    (
        "Classification",
        "frozen",
        "empty first_zero longer",
    ): "none, the first; a number twice is one",
    (
        "Classification",
        "frozen",
        "first_huge first_enormous",
    ): "`start` refuses numbers of no array",
    ("FeatureLearning", "top_decay", "number"): "any decay",
    ("FeatureLearning", "*_scale", "zero huge"): "weights that are zero, or as large",
    ("FeatureLearning Supervised", "records", "empty longer"): "none; a name twice is one",
    ("LinearClassifier", "num_classes", "huge enormous"): (
        "refused as `input_dimension`: it must be as large"
    ),
    ("LinearClassifier", "initial_std", "huge"): "weights as large",
    ("LinearClassifier", "separation", "zero"): "classes that cannot be told apart",
    ("TwoLayerStudent", "*_dimension num_* width", "huge enormous"): "held; `start` refuses it",
    ("TwoLayerStudent", "thresholds", "first_huge longer"): "any number of any levels",
    ("connect", "weights", "first_zero first_negative"): "any point",
    ("connect", "unit", "zero"): "the first",
    ("connect energy_ascent feature_survival", "tolerance", "huge"): "at rest wherever it is",
    (
        "energy_ascent feature_survival",
        "starts",
        "negative huge complex longer",
    ): "any nodes, any number of them; their norms do not matter",
    ("energy_ascent feature_survival", "max_steps", "huge enormous"): "never given up",
    ("gradient_descent linear_network_descent parity_descent", "steps", "first_zero"): "the start",
    ("parity_descent", "initial_std", "zero"): "networks of zeros, which stay so",
    ("parity_descent", "decay_from", "zero"): "from the start",
    ("gradient_flow", "times", "first_zero"): "the start",
    ("gradient_flow linear_descent", "learning_rate", "huge"): "late, or diverged",
    ("linear_network_descent", "learning_rate", "huge"): "NaN where `diverged` says so",
    (
        "gradient_descent",
        "learning_rate weight_decay",
        "huge",
    ): "as large a step; `diverged` says it",
    (
        "gradient_descent",
        "learning_rate weight_decay",
        "extra_axis",
    ): "runs for each, over a dimension",
    ("gradient_descent linear_descent", "weight_decay", "zero"): "no decay",
    ("gradient_descent", "checkpoint", "text"): "any name",
    ("linear_descent", "steps", "first_zero first_huge first_enormous longer"): "any steps",
    ("linear_descent", "weight_decay", "huge"): "diverged",
    ("linear_descent", "student_scale", "zero"): "a student of zeros",
    ("linear_descent", "thresholds", "first_huge longer"): "any number of any levels",
    ("linear_network_descent", "first second correlation", "zero negative"): "any real numbers",
    (
        "linear_network_descent",
        "first second covariance correlation",
        "extra_axis",
    ): "any leading axes",
    ("linear_network_descent", "covariance", "zero"): (
        "refused as `correlation`: it must vanish where inputs do"
    ),
    ("linear_network_descent", "output_power", "huge"): "a best loss as large",
    ("sequential_muon", "starts", "zero negative longer wider"): "any nodes, any number of them",
    ("even_steps log_steps", "last", "huge fraction"): "any last step",
    ("log_steps", "first", "fraction"): "rounded",
    ("muon", "top_factor", "huge"): "any factor",
    ("adam muon", "momentum memory", "zero"): "no momentum, no memory",
}
