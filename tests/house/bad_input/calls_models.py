"""Valid calls of `lazyrich.models`, and what odd values mean there."""

import jax
import numpy as np

from lazyrich import models

from .engine import Call

KEY = jax.random.key(0)
WEIGHTS = models.TwoLayerWeights(np.array([[1.0, 0.5]]), np.array([[0.3], [-0.7]]))

CONSTRUCTORS = {
    "Attention": {
        "token_dimension": 2, "heads": 1, "rank": 1, "output_dimension": 1, "merged": False,
        "softmax": False,
    },
    "Convolution": {
        "input_length": 3, "width": 2, "kernel": 2, "stride": 1, "output_dimension": 1,
        "activation": "linear", "bias": True,
    },
    "Deep": {
        "first": models.TwoLayer(2, 2, 2), "activations": ("linear", "linear"), "widths": (2,),
        "output_dimension": 1,
    },
    "Layerwise": {"connections": np.eye(2, dtype=bool), "feature_map": None, "output_dimension": 1},
    "LinearModel": {"num_features": 2, "feature_map": None, "output_dimension": 1},
    "MLP": {
        "widths": (2, 2, 1), "activation": "linear", "bias": True, "input_scale": 1.0,
        "output_scale": 1.0,
    },
    "SkipNetwork": {
        "input_dimension": 2, "width": 2, "output_dimension": 1, "skip": 0, "activation": "linear",
    },
    "TwoLayer": {
        "input_dimension": 2, "width": 2, "output_dimension": 1, "activation": "linear",
        "bias": True,
    },
}  # fmt: skip


INPUTS = {"Attention": np.ones((1, 3, 2)), "Convolution": np.ones((1, 3))}


def _in_trace(function):
    """The function inside of a trace, where training calls it: shapes are known there, numbers are not."""

    def called(**given):
        arrays = {name: value for name, value in given.items() if _holds_numbers(value)}
        rest = {name: value for name, value in given.items() if name not in arrays}
        shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), arrays)
        return jax.eval_shape(lambda arrays: function(**arrays, **rest), shapes)

    return called


def _holds_numbers(value):
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc" for leaf in leaves
    )


def _forward(network, **names):
    return {
        f"{type(network).__name__}.{name}": Call(_in_trace(getattr(network, name)), arguments)
        for name, arguments in names.items()
    }


def _methods(name):
    network = getattr(models, name)(**CONSTRUCTORS[name])
    weights = network.init(KEY, 0.5)
    units = jax.tree.map(lambda part: np.array(part, float), network.units(weights))
    w, x = {"weights": weights}, {"inputs": INPUTS.get(name, np.ones((1, 2)))}
    return {
        f"{name}.init": {"key": KEY, "std": 0.5},
        f"{name}.check_layer": {"layer": 0},
        **_forward(network, apply=w | x, features=x, coefficients=w, check_weights=w),
        **_forward(network, units=w | {"layer": 0}, with_units=w | {"units": units, "layer": 0}),
    }


INSTANCES = {"Network": lambda: models.TwoLayer(2, 2)}
PAIR = np.array([[0, 1]])


def _others():
    """What only one network has, and networks that read pairs."""
    attention, theta = models.Attention(2, 1), np.ones((2, 1))
    layers, x = models.TwoLayerWeights(np.eye(2), theta), {"inputs": np.ones((1, 2))}
    pairs, transformer = models.PairNetwork(3, 2), models.ModularTransformer(3, 2, 1, 2)
    drawn = {"weights": pairs.init(KEY)}
    w, both = {"weights": layers}, drawn | {"pairs": PAIR}
    return {
        **_forward(attention, key_query={"weights": attention.init(KEY, 0.5)}),
        **_forward(models.Layerwise.diagonal(2), neuron_features=w, neuron_feature_values=w | x),
        **_forward(models.LinearModel(2), neuron_features={"weights": theta}),
        **_forward(pairs, values=drawn, features=both, apply=both),
        **_forward(transformer, apply={"weights": transformer.init(KEY, 0.5), "inputs": PAIR}),
    }


CALLS = {
    **CONSTRUCTORS,
    **{key: call for name in CONSTRUCTORS for key, call in _methods(name).items()},
    **{key.replace("TwoLayer", "Network"): call for key, call in _methods("TwoLayer").items()},
    **_others(),
    "Layerwise.diagonal": {"num_features": 2, "feature_map": None},
    "Layerwise.full": {"num_features": 2, "width": 2, "output_dimension": 1, "feature_map": None},
    "MLP.lecun": {"scale": 1.0, "layers": np.array([1.0, 2.0])},
    "ModularTransformer": {
        "num_symbols": 3, "dimension": 2, "heads": 1, "width": 2, "output_scale": 1.0,
    },
    "ModularTransformer.lecun": {"scale": 1.0, "embedding_scale": 1.0},
    "ModularTransformer.init": {"key": KEY, "std": 0.5},
    "PairNetwork": {
        "num_symbols": 3, "width": 2, "output_dimension": 2, "activation": "quadratic",
        "middle_layers": 1, "residual": True, "complex_weights": False, "output_scale": 1.0,
    },
    "PairNetwork.init": {"key": KEY, "scale": 1.0, "top_scale": 1.0},
    "UnitKind": {"order": 1, "degree": 1, "signed": True, "linear": True},
    "activation": {"name": "tanh"},
    "activation_kind": {"name": "tanh"},
    "balanced_weights": {
        "key": KEY, "input_dimension": 2, "width": 2, "output_dimension": 2, "imbalance": 0.3,
        "scale": 1.0,
    },
    "symmetrised": {"weights": WEIGHTS},
}  # fmt: skip

SIZES = "*_dimension input_length stride width num_* dimension"
MEANING = {
    ("balanced_weights", "imbalance", "zero negative huge"): "any real number",
    ("balanced_weights", "scale", "zero huge"): "weights that are zero, or as large",
    ("balanced_weights", "imbalance scale", "empty extra_axis"): "any shape",
    ("Layerwise.full", "output_dimension", "huge enormous"): "held; `init` refuses it",
    ("* !*.* !balanced_weights", SIZES, "huge enormous"): "held; `init` refuses it",
    ("Attention", "heads", "huge enormous"): "held; `init` refuses it",
    ("Deep MLP", "widths", "first_huge first_enormous"): "held; `init` refuses it",
    ("MLP", "widths", "longer"): "one more layer",
    ("Layerwise", "connections", "longer wider"): "one more feature or neuron",
    ("*", "*_scale scale", "huge"): "outputs or weights as large",
    ("*.lecun PairNetwork.init", "*scale", "zero"): "weights that are zero",
    ("*.init", "std", "zero huge"): "weights that are zero, or as large",
    ("LinearModel.init", "std", "extra_axis"): "one for each array of weights",
    ("*.*", "layer", "zero"): "the first hidden layer",
    (
        "*.* !ModularTransformer.apply",
        "inputs",
        "nan infinite zero negative huge complex",
    ): "any numbers, which are not looked at; `Network` says: NaN in, NaN out",
    (
        "*.*",
        "weights units",
        "*nan *infinite *zero *negative *huge",
    ): "any numbers, which are not looked at; `Network` says: NaN in, NaN out",
    (
        "*.* !PairNetwork.*",
        "weights units",
        "*complex",
    ): "complex outputs or units",
    ("*.*", "inputs pairs", "empty longer"): "any number of samples",
    ("PairNetwork.* ModularTransformer.apply", "pairs inputs", "zero"): "the first symbols",
    ("LinearModel.*", "weights", "wider"): "any number of outputs",
    ("SkipNetwork", "skip", "zero"): "no connection skips a layer",
    ("PairNetwork", "middle_layers", "zero"): "none",
    ("MLP.lecun", "layers", "number zero huge"): "any scale, one for all or one for each",
    ("UnitKind", "order degree", "zero huge enormous"): "any whole number",
    ("activation activation_kind", "name", "*"): "refused as `activation`: what it is a name of",
    ("symmetrised", "weights", "first_zero first_negative first_huge"): "any real numbers",
    ("symmetrised", "weights", "first_empty first_longer"): "any number of inputs",
}
