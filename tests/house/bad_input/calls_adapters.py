"""Valid calls of `lazyrich.adapters`, and what odd values mean there."""

import numpy as np

from lazyrich import adapters

WEIGHTS = np.array([1.0, 0.5])
INPUTS = np.array([[1.0, -0.3], [0.2, 0.8]])


def _loss(weights):
    return (weights**2).sum()


def _network(weights, inputs):
    return inputs.reshape(len(inputs), -1).sum(1) * weights.sum()


RECORDS = {"Derivatives": "derivatives", "Tangents": "tangents"}
INSTANCES = {"Tangents": lambda: adapters.tangents(_network, WEIGHTS, INPUTS)}

CALLS = {
    "Tangents.at": {"weights": WEIGHTS},
    "Tangents.evidence": {"start": WEIGHTS, "end": WEIGHTS + 0.1},
    "Tangents.flat": {"weights": WEIGHTS},
    "derivatives": {"loss": _loss, "weights": WEIGHTS},
    "tangents": {"function": _network, "weights": WEIGHTS, "inputs": INPUTS},
}

EXEMPT = {("Tangents.evidence", "kernel_options"): "those of `measures.tangent_kernel`"}

MEANING = {
    ("*", "weights start end", "zero negative huge"): "any real numbers",
    ("Tangents.*", "weights start end", "extra_axis"): "any tree of as many numbers",
    ("derivatives tangents", "weights", "number extra_axis longer"): "any tree",
    ("tangents", "inputs", "zero negative huge"): "any numbers",
    (
        "tangents",
        "inputs",
        "extra_axis fewer_axes longer wider",
    ): "any shape that the function takes",
    ("tangents", "inputs", "complex"): "refused as `function`: its outputs must be real",
}
