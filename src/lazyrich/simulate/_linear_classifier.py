"""A two-layer linear network that learns classes, its features recorded."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, flag, number
from lazyrich.simulate._seed import checked_seed
from lazyrich.simulate._training import Training


class ClassifierWeights(NamedTuple):
    """Weights of a `LinearClassifier`: first layer (d, p), second layer (p, c), bias (c,)."""

    first: Any
    second: Any
    bias: Any


class _Data(NamedTuple):
    inputs: Any  # (n, d)
    targets: Any  # (n, c), one-hot
    test_inputs: Any  # (num_test, d)
    test_labels: Any  # (num_test,)
    has_bias: Any  # 1 or 0


MOST = 10**6
"""Of anything that is counted."""


@dataclasses.dataclass(frozen=True)
class LinearClassifier(Training):
    r"""A two-layer linear network on one-hot labels of clustered inputs, or of features that move freely.

    $$ \mathcal{L} = \frac{1}{2n} \lVert XW_1W_2 + \mathbf 1 b^\top - Y\rVert_F^2 $$

    Inputs of class k are $\sigma m_k + \sqrt{1-\sigma^2}\, g$ with a random direction $m_k$ of length 1 and
    Gaussian g of mean squared length 1. Unconstrained features have the identity as inputs, so that $XW_1$
    moves freely. Weights are $\mathcal{N}(0, \text{initial\_std}^2)$, the bias 0.

    Records `loss`, `features` $XW_1$, `last_layer` $W_2$, `bias` and `test_accuracy` on fresh inputs of the
    same clusters (chance for unconstrained features, which have no test inputs).

    Source:
        layerwise, Sec. 5.2, Eq. 13, Eq. 61, App. I.1.

    Attributes:
        input_dimension: d. At least the number of samples: fewer inputs cannot fit labels at random.
        num_classes: c.
        samples_per_class: n/c.
        width: p.
        num_test: size of the test set.
        initial_std: standard deviation of the weights at the start.
        separation: σ, between 0 (no clusters) and 1.
        random_labels: shuffle the training labels.
        bias: learn a bias.
        unconstrained: the identity for inputs.
        whitened: make the training inputs orthonormal, $XX^\top = 1$.
        balanced: start with $W_1^\top W_1 = W_2W_2^\top$, the second layer as drawn.

    Example:
        >>> from lazyrich import simulate
        >>> training = simulate.LinearClassifier(input_dimension=20, samples_per_class=4, width=5)
        >>> run = simulate.gradient_flow(training, [0, 500.0], seeds=[0])
        >>> run.features.shape, bool(run.loss[0, 1] < run.loss[0, 0])
        ((1, 2, 12, 5), True)
    """

    input_dimension: int
    num_classes: int = 3
    samples_per_class: int = 10
    width: int = 12
    num_test: int = 300
    # what only `start` sees does not take part in comparisons, so that all cases share one compiled flow
    initial_std: float = dataclasses.field(default=1e-3, compare=False)
    separation: float = dataclasses.field(default=0.5, compare=False)
    random_labels: bool = dataclasses.field(default=False, compare=False)
    bias: bool = dataclasses.field(default=False, compare=False)
    unconstrained: bool = dataclasses.field(default=False, compare=False)
    whitened: bool = dataclasses.field(default=False, compare=False)
    balanced: bool = dataclasses.field(default=False, compare=False)

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "features": ("sample", "unit"), "last_layer": ("unit", "class"), "bias": ("class",)
    }  # fmt: skip

    def __post_init__(self) -> None:
        for name in ("input_dimension", "samples_per_class", "width", "num_test"):
            count(name, getattr(self, name), at_most=MOST)
        for name in ("random_labels", "bias", "unconstrained", "whitened", "balanced"):
            flag(name, getattr(self, name))
        count("num_classes", self.num_classes, at_least=2, advice="One class has nothing to learn.")
        number("initial_std", self.initial_std, above=0, advice="Use e.g. 1e-3.")
        number("separation", self.separation, at_least=0, at_most=1, advice="Use e.g. 0.5.")
        if self.input_dimension < self.num_samples:
            advice = "Random labels cannot be fitted then."
            raise argument_error(
                "input_dimension", f"be at least {self.num_samples}, the number of samples",
                self.input_dimension, advice,
            )  # fmt: skip
        if self.balanced and self.width < self.num_classes:
            raise argument_error("width", f"be at least {self.num_classes} to balance", self.width)

    @property
    def num_samples(self) -> int:
        """Samples of all classes, n."""
        return self.num_classes * self.samples_per_class

    def labels(self, seed: int) -> np.ndarray:
        """Class of each training sample, as trained on."""
        seed = checked_seed(seed)
        labels = np.repeat(np.arange(self.num_classes), self.samples_per_class)
        return (
            np.random.default_rng([seed, 1]).permutation(labels) if self.random_labels else labels
        )

    def start(self, seed: int) -> tuple[ClassifierWeights, _Data]:
        """Weights and data of a seed; the same inputs and the same weights up to scale in all cases."""
        seed = checked_seed(seed)
        rng, c, d = np.random.default_rng([seed, 0]), self.num_classes, self.input_dimension
        centres = rng.standard_normal((c, d))
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        classes = np.repeat(np.arange(c), self.samples_per_class)
        test = rng.integers(c, size=self.num_test)
        noise = rng.standard_normal((self.num_samples + self.num_test, d)) / np.sqrt(d)
        X = self.separation * centres[np.concatenate([classes, test])]
        X = X + np.sqrt(1 - self.separation**2) * noise
        inputs = self._training_inputs(X[: self.num_samples])
        data = _Data(
            inputs,
            np.eye(c)[self.labels(seed)],
            X[self.num_samples :] * (not self.unconstrained),
            test,
            np.float64(self.bias),
        )
        return ClassifierWeights(*self._layers(rng), np.zeros(c)), data

    def _training_inputs(self, X: np.ndarray) -> np.ndarray:
        if self.unconstrained:
            return np.eye(*X.shape)
        if self.whitened:  # the nearest matrix with orthonormal rows
            left, _, right = np.linalg.svd(X, full_matrices=False)
            return left @ right
        return X

    def _layers(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        first = rng.standard_normal((self.input_dimension, self.width))
        second = self.initial_std * rng.standard_normal((self.width, self.num_classes))
        if not self.balanced:
            return self.initial_std * first, second
        rows = self.num_samples if self.unconstrained else self.input_dimension
        R, s, _ = np.linalg.svd(second, full_matrices=False)
        frame = np.linalg.qr(first[:rows, : self.num_classes])[0]
        return np.pad((frame * s) @ R.T, ((0, self.input_dimension - rows), (0, 0))), second

    def loss(self, weights: ClassifierWeights, data: _Data) -> Any:
        """Half the squared error, mean over samples."""
        error = _outputs(weights, data.inputs, data.has_bias) - data.targets
        return jnp.sum(error**2) / (2 * error.shape[0])

    def record(self, weights: ClassifierWeights, data: _Data) -> dict[str, Any]:
        """Loss, features, last layer and test accuracy."""
        decided = jnp.argmax(_outputs(weights, data.test_inputs, data.has_bias), axis=1)
        return {
            "loss": self.loss(weights, data),
            "features": data.inputs @ weights.first,
            "last_layer": weights.second,
            "bias": weights.bias * data.has_bias,
            "test_accuracy": jnp.mean(decided == data.test_labels),
        }

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        return "½ mean over samples of the squared norm of the error"


def _outputs(weights: ClassifierWeights, inputs: Any, has_bias: Any) -> Any:
    return inputs @ weights.first @ weights.second + has_bias * weights.bias
