"""A network that learns to classify, and what it makes of samples it has not seen."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, choice, count, items, real
from lazyrich.quantities._kernel_distance import distance
from lazyrich.simulate._fit import check_fit, check_shapes
from lazyrich.simulate._objectives import OBJECTIVES
from lazyrich.simulate._seed import keys_of
from lazyrich.simulate._training import Training

SCALES = ("input_scale", "output_scale")


class _Data(NamedTuple):
    inputs: Any  # (samples, …)
    targets: Any  # (samples, classes)
    test_inputs: Any
    test_targets: Any
    scale: Any  # of the outputs
    kernel: Any  # at the start, or None


@dataclasses.dataclass(frozen=True)
class Classification(Training):
    r"""A network that learns to tell classes apart, and its accuracy on a test set.

    $$ \mathcal{L} = \frac{1}{NC} \sum_\mu \|f(x_\mu) - y_\mu\|^2, \qquad \text{or} \qquad
       \mathcal{L} = -\frac1N \sum_\mu y_\mu \cdot \ln \operatorname{softmax} f(x_\mu) $$

    over N samples and C classes, with one-hot vectors y, scaled or not. The class of a sample is that of the
    largest output. The scales of a network's inputs and outputs enter as numbers: networks that differ only
    in them, or in their start, or in their task's scale, share what is compiled.

    Records `train_loss`, `test_loss`, `train_accuracy`, `test_accuracy`; with `kernel_samples` also
    `kernel_distance`, that of the network's kernel $K = J J^\top$ from the kernel at the start, with J the
    Jacobian of the outputs for that many training samples.

    Source:
        layerwise, App. G.3, F.2.

    Attributes:
        network: what learns: `init(key, std)` and `apply(weights, inputs)`.
        task: what gives `split(key)`, a training and a test set.
        initial_std: standard deviation of all weights at the start, or one for each array of weights.
        objective: `squared`, `cross-entropy`, or `stable-softmax`, as in `FeatureLearning`.
        kernel_samples: number of training samples for the kernel; 0 records none.
        frozen: the numbers of the arrays of weights, in the order of the tree's leaves, that do not learn:
            they have no gradient and no part in the kernel. An optimizer with decay moves them all the same.

    Example:
        >>> import optax
        >>> from lazyrich import models, simulate, tasks
        >>> task = tasks.DigitClassification(100, source="packaged")
        >>> network = models.MLP((64, 30, 10), activation="tanh")
        >>> training = simulate.Classification(network, task, initial_std=network.lecun())
        >>> run = simulate.gradient_descent(training, [0, 300], optimizer=optax.adam(1e-3), seeds=[0])
        >>> (run.train_accuracy.values > 0.9).tolist(), (run.test_accuracy.values > 0.7).tolist()
        ([[False, True]], [[False, True]])
    """

    network: Any = dataclasses.field(compare=False)
    task: Any = dataclasses.field(compare=False)
    initial_std: Any = dataclasses.field(compare=False)
    objective: str = "squared"
    kernel_samples: int = 0
    frozen: tuple[int, ...] = ()
    unscaled: Any = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (hasattr(self.network, "apply") and hasattr(self.network, "init")):
            raise argument_error(
                "network", "be a network", self.network, "Use one of `lazyrich.models`."
            )
        if isinstance(self.task, str) or not callable(getattr(self.task, "split", None)):
            raise argument_error(
                "task", "give a training and a test set", self.task,
                "Use e.g. `tasks.DigitClassification`.",
            )  # fmt: skip
        choice("objective", self.objective, OBJECTIVES)
        real("initial_std", self.initial_std, at_least=0, advice="Use e.g. 0.1.")
        count("kernel_samples", self.kernel_samples, at_least=0, advice="Use 0, or e.g. 20.")
        frozen = items("frozen", self.frozen, advice="Pass e.g. (0, 2).")
        numbers = tuple(count(f"frozen[{i}]", n, at_least=0) for i, n in enumerate(frozen))
        object.__setattr__(self, "frozen", numbers)
        ones = {name: 1.0 for name in SCALES if hasattr(self.network, name)}
        object.__setattr__(self, "unscaled", dataclasses.replace(self.network, **ones))
        check_fit(self.unscaled, self.task)

    def start(self, seed: int) -> tuple[Any, _Data]:
        """Weights, training and test set of a seed."""
        data_key, weights_key = keys_of(seed)
        train, test = self.task.split(data_key)
        weights = self.network.init(weights_key, self.initial_std)
        factor = getattr(self.network, "input_scale", 1)
        scale = float(getattr(self.network, "output_scale", 1))
        data = _Data(
            train.inputs * factor, train.targets, test.inputs * factor, test.targets, scale, None
        )
        self._check(weights, data)
        kernel = _kernel(self, weights, data) if self.kernel_samples else None
        return weights, data._replace(kernel=kernel)

    def loss(self, weights: Any, data: _Data) -> Any:
        """The training loss."""
        return self._mean_loss(self._outputs(weights, data.inputs, data), data.targets)

    def record(self, weights: Any, data: _Data) -> dict[str, Any]:
        """Losses and accuracies, and the kernel's way."""
        found = {}
        for name, inputs, targets in (
            ("train", data.inputs, data.targets), ("test", data.test_inputs, data.test_targets),
        ):  # fmt: skip
            outputs = self._outputs(weights, inputs, data)
            found[f"{name}_loss"] = self._mean_loss(outputs, targets)
            right = jnp.argmax(outputs, axis=-1) == jnp.argmax(targets, axis=-1)
            found[f"{name}_accuracy"] = jnp.mean(right, dtype=outputs.dtype)
        if self.kernel_samples:
            found["kernel_distance"] = distance(data.kernel, self.kernel(weights, data))
        return found

    def kernel(self, weights: Any, data: _Data) -> Any:
        """The empirical tangent kernel on those samples, both axes samples × classes long."""
        inputs = data.inputs[: self.kernel_samples]
        slopes = jax.jacrev(lambda w: self._outputs(w, inputs, data).ravel())(weights)
        flat = jnp.concatenate([s.reshape(s.shape[0], -1) for s in jax.tree.leaves(slopes)], axis=1)
        return flat @ flat.T

    def count_samples(self, data: _Data) -> int:
        """Number of training samples."""
        return data.targets.shape[-2]

    def minibatch(self, data: _Data, indices: Any) -> _Data:
        """Some of the training samples."""
        return data._replace(inputs=data.inputs[indices], targets=data.targets[indices])

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        return OBJECTIVES[self.objective].words

    def attributes(self) -> dict[str, Any]:
        """The network."""
        return {"network": repr(self.network)}

    def _mean_loss(self, outputs: Any, targets: Any) -> Any:
        return jnp.mean(OBJECTIVES[self.objective].terms(outputs, targets))

    def _outputs(self, weights: Any, inputs: Any, data: _Data) -> Any:
        if self.frozen:
            leaves, tree = jax.tree.flatten(weights)
            learning = [
                jax.lax.stop_gradient(leaf) if number in self.frozen else leaf
                for number, leaf in enumerate(leaves)
            ]
            weights = jax.tree.unflatten(tree, learning)
        return data.scale * self.unscaled.apply(weights, inputs)

    def _check(self, weights: Any, data: _Data) -> None:
        arrays = len(jax.tree.leaves(weights))
        if any(number >= arrays for number in self.frozen) or len(set(self.frozen)) == arrays:
            raise argument_error(
                "frozen", f"hold some of the numbers 0 to {arrays - 1}, not all", self.frozen,
                "An array must be left to learn.",
            )  # fmt: skip
        are_numbers = np.issubdtype(data.inputs.dtype, np.integer)
        check_shapes(self.unscaled, data.inputs.shape[1:], data.targets.shape[-1], are_numbers)


@functools.partial(jax.jit, static_argnums=0)
def _kernel(training: Classification, weights: Any, data: _Data) -> Any:
    return training.kernel(weights, data)
