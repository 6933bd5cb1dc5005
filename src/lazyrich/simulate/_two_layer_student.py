"""A two-layer student learns from a two-layer teacher of the same shape."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, real
from lazyrich.models import TwoLayer, TwoLayerWeights
from lazyrich.simulate._seed import keys_of
from lazyrich.simulate._training import Training
from lazyrich.tasks import TeacherStudent


class _Data(NamedTuple):
    inputs: Any  # (N, d_in)
    targets: Any  # (N, d_out)
    test_inputs: Any  # (num_test, d_in)
    test_targets: Any  # (num_test, d_out)
    eigenvalues: Any  # (d_in,) of the training covariance; only used by linear networks
    teacher: Any  # (d_in, d_out), product of the teacher's layers; likewise


@dataclasses.dataclass(frozen=True)
class TwoLayerStudent(Training):
    r"""Gaussian inputs, a teacher and a student with one hidden layer each.

    $$ \mathcal{L} = \frac{1}{N d_\mathrm{out}} \sum_i
       \|S_1^\top \sigma(S_0^\top x_i) - T_1^\top \sigma(T_0^\top x_i)\|^2 $$

    First layers are drawn from $\mathcal{N}(0, 1/2d_\mathrm{in}d_h)$, second ones from
    $\mathcal{N}(0, 1/2d_\mathrm{out}d_h)$. A linear network sees its data only through their covariance: in
    the eigenbasis of that, a step costs nothing that grows with the number of samples.

    Records `train_loss`, `test_loss` (for linear networks the expectation over fresh inputs, otherwise the
    test set's), `sampled_test_loss`, `train_accuracy`, `test_accuracy` and `kernel`,
    $(\|S_0\|^2 + \|S_1\|^2)/2$.

    Source:
        linear-grokking, Eq. 16, Sec. 4.1, 4.2.

    Attributes:
        input_dimension: $d_\mathrm{in}$.
        num_samples: $N$.
        width: $d_h$.
        output_dimension: $d_\mathrm{out}$.
        activation: σ, as in `models.TwoLayer`.
        thresholds: squared errors, mean over outputs, up to which a sample counts as correct.
        num_test: size of the test set, drawn afresh for each seed.

    Example:
        >>> from lazyrich import simulate
        >>> student = simulate.TwoLayerStudent(20, num_samples=40, width=50, activation="tanh")
        >>> run = simulate.gradient_flow(student, [0, 1, 10], seeds=range(4))
        >>> run.test_accuracy.dims
        ('seed', 'time', 'threshold')
    """

    input_dimension: int
    num_samples: int
    width: int
    output_dimension: int = 1
    activation: "str | Callable[[Any], Any]" = "linear"
    thresholds: tuple[float, ...] = (1e-3,)
    num_test: int = 1000

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "train_accuracy": ("threshold",), "test_accuracy": ("threshold",)
    }  # fmt: skip

    def __post_init__(self) -> None:
        levels = real("thresholds", self.thresholds, above=0, advice="Pass e.g. (1e-3,).")
        if levels.ndim != 1 or levels.size == 0:
            raise argument_error(
                "thresholds", "be a list, not empty", self.thresholds, "Pass (1e-3,)."
            )
        object.__setattr__(self, "thresholds", tuple(levels.tolist()))
        count("num_test", self.num_test)
        self.model()
        self._task()

    def model(self) -> TwoLayer:
        """The network that teacher and student share."""
        return TwoLayer(self.input_dimension, self.width, self.output_dimension, self.activation)

    def start(self, seed: int) -> tuple[TwoLayerWeights, _Data]:
        """Student and data of a seed; for a linear network in the eigenbasis of the covariance."""
        keys = keys_of(seed, 4)
        inputs = self._task().inputs(keys[0])
        test_inputs = self._task().inputs(keys[1], self.num_test)
        teacher, student = (self._draw(key) for key in keys[2:])
        nu, V = np.zeros(0), np.eye(0)
        if self.activation == "linear":
            nu, V = np.linalg.eigh(inputs.T @ inputs / self.num_samples)
            inputs, test_inputs = inputs @ V, test_inputs @ V
            teacher, student = (w._replace(first=V.T @ w.first) for w in (teacher, student))
        targets, test_targets = (
            np.asarray(self.model().apply(teacher, x)) for x in (inputs, test_inputs)
        )
        data = _Data(
            inputs,
            targets,
            test_inputs,
            test_targets,
            np.maximum(nu, 0),
            teacher.first @ teacher.second,
        )
        return student, data

    def loss(self, weights: TwoLayerWeights, data: _Data) -> Any:
        """The training loss, for linear networks from second moments."""
        if self.activation == "linear":
            difference = weights.first @ weights.second - data.teacher
            return jnp.sum(data.eigenvalues[:, None] * difference**2) / self.output_dimension
        return jnp.mean(self._errors(weights, data.inputs, data.targets))

    def record(self, weights: TwoLayerWeights, data: _Data) -> dict[str, Any]:
        """Losses, accuracies and kernel."""
        levels = jnp.asarray(self.thresholds)
        errors = self._errors(weights, data.inputs, data.targets)
        test_errors = self._errors(weights, data.test_inputs, data.test_targets)
        test_loss = jnp.mean(test_errors)
        if self.activation == "linear":
            difference = weights.first @ weights.second - data.teacher
            test_loss = jnp.sum(difference**2) / self.output_dimension
        return {
            "train_loss": self.loss(weights, data),
            "test_loss": test_loss,
            "sampled_test_loss": jnp.mean(test_errors),
            "train_accuracy": jnp.mean(errors[:, None] <= levels, axis=0),
            "test_accuracy": jnp.mean(test_errors[:, None] <= levels, axis=0),
            "kernel": (jnp.sum(weights.first**2) + jnp.sum(weights.second**2)) / 2,
        }

    def coordinates(self) -> dict[str, Any]:
        """The thresholds."""
        return {"threshold": list(self.thresholds)}

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        return "mean over samples and outputs of the squared error, no ½"

    def _task(self) -> TeacherStudent:
        return TeacherStudent(self.input_dimension, self.num_samples, self.output_dimension)

    def _draw(self, key: Any) -> TwoLayerWeights:
        return self.model().init(
            key,
            std=[
                (2 * size * self.width) ** -0.5
                for size in (self.input_dimension, self.output_dimension)
            ],
        )

    def _errors(self, weights: TwoLayerWeights, inputs: Any, targets: Any) -> Any:
        return jnp.mean((self.model().apply(weights, inputs) - targets) ** 2, axis=1)
