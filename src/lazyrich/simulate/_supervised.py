"""Any network on any task, by the cheapest exact way to its loss."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, flag, items, real
from lazyrich.core._polynomial import polynomial_degree
from lazyrich.models import Attention, Deep, Network, Units
from lazyrich.simulate._fit import check_fit, check_shapes, shape_of
from lazyrich.simulate._seed import keys_of, weights_key
from lazyrich.simulate._training import Training
from lazyrich.tasks import DataSet

RECORDS = ("units", "weights", "singular_values", "norms")


class Moments(NamedTuple):
    """All that the squared loss of a network with features depends on."""

    covariance: Any  # (features, features), second moments of the features
    best: Any  # (features, outputs), the best coefficients
    least: Any  # the loss there


@dataclasses.dataclass(frozen=True)
class Supervised(Training):
    r"""A network that learns a task from small weights by squared loss.

    $$ \mathcal{L} = \sum_\mu p_\mu \|y_\mu - f(x_\mu)\|^2 $$

    over the samples μ of a training set (then $p_\mu = 1/P$), or over the whole distribution. A network that
    is linear in fixed features z of its inputs sees the data only through their second moments,

    $$ \mathcal{L} = \mathcal{L}_{\min} + \operatorname{Tr}[(C - C^*)^\top \Sigma_{zz} (C - C^*)], \qquad
       C^* = \Sigma_{zz}^{+} \Sigma_{zy} $$

    so that a step costs nothing that grows with the number of samples. Others sum over samples, or over
    nodes of a quadrature where the task gives them.

    Records `loss`; with `units` also `incoming` and `outgoing`, the weights $u_i$ and $v_i$ of the first
    hidden layer; with `weights` all weights, flat, in the order of `adapters.derivatives`, for
    `measures.saddle_certificate`; with `singular_values` those of the first layer's incoming weights; with
    `norms` the Euclidean norm of each array of weights.

    Source:
        saddles, Eq. 64.

    Attributes:
        network: what learns.
        task: what gives `dataset(key)`, and `population(nodes, degree)` or `moments()`
            where asked for.
        initial_std: standard deviation of all weights at the start, or one for each array of weights.
        initial_weights: instead of random weights, a function of the seed that gives those at the start. It
            draws what is random from `weights_key(seed)`.
        population: learn the whole distribution instead of a sample: by exact moments or by quadrature, with
            this many nodes for each input where a number is given. What quadrature cannot average, as too
            many inputs are, is refused.
        mean_outputs: divide the loss by the number of outputs.
        records: what to record besides the loss, of `units`, `weights`, `singular_values` and `norms`.

    Example:
        >>> from lazyrich import models, simulate, tasks
        >>> network = models.TwoLayer(2, 50, activation="relu")
        >>> training = simulate.Supervised(network, tasks.orthogonal_pair(), initial_std=1e-6)
        >>> run = simulate.gradient_descent(training, [0, 800, 2000], learning_rate=0.01, seeds=[0])
        >>> run.loss.values.round(2), run.incoming.shape
        (array([[1. , 0.5, 0. ]]), (1, 3, 50, 2))
    """

    network: Network
    # equal trainings share what JAX compiles: these fields only shape the start and the data
    task: Any = dataclasses.field(compare=False)
    initial_std: Any = dataclasses.field(default=None, compare=False)
    population: bool | int = dataclasses.field(default=False, compare=False)
    mean_outputs: bool = False
    records: tuple[str, ...] = ("units",)
    initial_weights: "Callable[[int], Any] | None" = dataclasses.field(default=None, compare=False)

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "incoming": ("unit", "incoming_weight"),
        "outgoing": ("unit", "outgoing_weight"),
        "weights": ("weight",),
        "singular_values": ("direction",),
        "norms": ("array",),
    }

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network):
            raise argument_error(
                "network", "be a network", self.network, "Use one of `lazyrich.models`."
            )
        if not _gives_data(self.task):
            raise argument_error(
                "task", "give a data set by `dataset(key)`", self.task,
                "Use e.g. `tasks.GaussianRegression`.",
            )  # fmt: skip
        if not isinstance(self.population, bool | int):
            raise argument_error("population", "be True, False or a number", self.population)
        object.__setattr__(self, "mean_outputs", flag("mean_outputs", self.mean_outputs))
        if not isinstance(self.records, str):
            object.__setattr__(self, "records", items("records", self.records))
        if self.population and not self.can_learn_population:
            raise argument_error(
                "population",
                "be False for this task, which is no distribution",
                True,
                "Leave it out.",
            )
        if not set(map(str, self.records)) <= set(RECORDS) or isinstance(self.records, str):
            raise argument_error("records", f"be among {', '.join(RECORDS)}", self.records)
        if self.initial_weights is None:
            real("initial_std", self.initial_std, at_least=0, advice="Use e.g. 1e-3.")
        elif not callable(self.initial_weights):
            raise argument_error("initial_weights", "be a function or None", self.initial_weights)
        check_fit(self.network, self.task)

    @property
    def can_learn_population(self) -> bool:
        """Whether the task gives the whole distribution to this network."""
        return self._attention is not None or hasattr(self.task, "population")

    def start(self, seed: int) -> tuple[Any, Any]:
        """Weights and data of a seed; for a network with features, their moments."""
        data = self.data(keys_of(seed)[0])
        if self.initial_weights is None:
            return self.network.init(weights_key(seed), self.initial_std), data
        weights = self.initial_weights(seed)
        self._check_weights(weights, data)
        return weights, data

    def data(self, key: Any) -> "DataSet | Moments":
        """What the loss is computed from."""
        if self.population and self._attention is not None:
            return self._token_moments(self._attention)
        if self.population:
            data = self._population()
        else:
            data = self.task.dataset(key)
        self._check(data)
        return moments(self.network, data) if self.network.has_features else data

    def _population(self) -> DataSet:
        nodes = None if self.population is True else self.population
        if not self.network.has_features:
            return self.task.population(nodes)
        with jax.enable_x64(True):
            degree = polynomial_degree(self.network.features, self.task.input_dimension)
        return self.task.population(nodes, degree=degree)

    def loss(self, weights: Any, data: Any) -> Any:
        """The training loss."""
        share = 1 / data.targets.shape[-1] if isinstance(data, DataSet) else 1 / data.best.shape[-1]
        return loss_of(self.network, weights, data) * (share if self.mean_outputs else 1)

    def record(self, weights: Any, data: Any) -> dict[str, Any]:
        """The loss and what is asked for besides."""
        found: dict[str, Any] = {"loss": self.loss(weights, data)}
        units = self.network.units(weights)
        if "units" in self.records:
            found |= units._asdict()
        if "weights" in self.records:
            found["weights"] = jnp.concatenate([jnp.ravel(w) for w in jax.tree.leaves(weights)])
        if "singular_values" in self.records:
            found["singular_values"] = jnp.linalg.svd(units.incoming, compute_uv=False)
        if "norms" in self.records:
            squares = [jnp.sum(array**2) for array in jax.tree.leaves(weights)]
            found["norms"] = jnp.sqrt(jnp.stack(squares))
        return found

    def reduce(self, weights: Any) -> tuple[Any, Any]:
        r"""As many units as one has weights, $N_u + N_v$, where units are linear and there are more.

        Such units enter only by $\sum_i u_i v_i^\top$. An orthogonal matrix that mixes them changes neither
        this sum nor descent, and QR finds one that leaves no more than $N_u + N_v$ of them.
        """
        # a given start may hold units of very different size: mixing would round the small ones away
        if self.initial_weights is not None or not self.network.kinds[0].linear:
            return weights, None
        units = jax.vmap(self.network.units)(weights)
        both = jnp.concatenate(units, axis=-1)  # (seeds, units, N_u + N_v)
        if both.shape[-2] <= both.shape[-1]:
            return weights, None
        frame, fewer = jnp.linalg.qr(both)
        fewer = Units(*jnp.split(fewer, [units.incoming.shape[-1]], axis=-1))
        return jax.vmap(self.network.with_units)(weights, fewer), frame

    def expand(self, weights: Any, frame: Any) -> Any:
        """All weights of one seed."""
        if frame is None:
            return weights
        units = jax.tree.map(lambda few: frame @ few, self.network.units(weights))
        return self.network.with_units(weights, units)

    def minibatch(self, data: Any, indices: Any) -> Any:
        """Some samples of the data, each counting alike."""
        share = jnp.full(indices.shape[0], 1 / indices.shape[0])
        return DataSet(data.inputs[indices], data.targets[indices], share)

    def count_samples(self, data: Any) -> int:
        """Number of samples in the data."""
        if not isinstance(data, DataSet):
            raise argument_error(
                "batch_size",
                "be None for a network that learns from moments",
                "a size",
                "Leave it out.",
            )
        return data.weights.shape[-1]

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        if self.mean_outputs:
            return "mean over samples and outputs of the squared error, no ½"
        return "mean over samples of the squared norm of the error, no ½"

    def attributes(self) -> dict[str, Any]:
        """The network."""
        return {"network": repr(self.network)}

    @property
    def _attention(self) -> "Attention | None":
        """The first layer, if it is attention with features whose moments the task gives."""
        first = self.network.first if isinstance(self.network, Deep) else self.network
        fits = self.network.has_features and hasattr(self.task, "moments")
        return first if fits and isinstance(first, Attention) else None

    def _token_moments(self, attention: Attention) -> Moments:
        correlation, covariance, power = self.task.moments()
        a, b, c = attention.products
        check_shapes(self.network, (2, covariance.shape[0]), 1)
        chosen = covariance[a, b, c][:, a, b, c]
        return _moments(chosen, correlation[a, b, c][:, None], power)

    def _check(self, data: DataSet) -> None:
        for name, values in data._asdict().items():
            if not np.all(np.isfinite(values)):
                raise argument_error(
                    "task", f"give finite {name}", "NaN or infinity", "Repair the data."
                )
        check_shapes(self.network, data.inputs.shape[1:], data.targets.shape[1])

    def _check_weights(self, weights: Any, data: "DataSet | Moments") -> None:
        arrays = jax.tree.leaves(weights)
        if not all(np.all(np.isfinite(array)) for array in arrays):
            raise argument_error(
                "initial_weights", "give finite weights", "NaN or infinity", "Repair the start."
            )
        if isinstance(data, Moments):
            wanted, found = data.best.shape, shape_of(self.network.coefficients, weights)
        else:
            wanted, found = data.targets.shape, shape_of(self.network.apply, weights, data.inputs)
        if found != wanted or 0 in map(np.size, arrays):
            raise argument_error(
                "initial_weights", f"give weights of the shapes {self.network.shapes()}",
                jax.tree.map(np.shape, weights), "Only the number of units, ≥ 1, may differ.",
            )  # fmt: skip


def _gives_data(task: Any) -> bool:
    """Whether there is a data set for a key alone; some tasks must be told how many samples to draw."""
    try:
        inspect.signature(task.dataset).bind(None)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def loss_of(network: Network, weights: Any, data: "DataSet | Moments") -> Any:
    """Mean squared norm of the error over samples, or from moments."""
    if isinstance(data, Moments):
        difference = network.coefficients(weights) - data.best
        return data.least + jnp.sum(difference * (data.covariance @ difference))
    errors = network.apply(weights, data.inputs) - data.targets
    return data.weights @ jnp.sum(errors**2, axis=-1)


def moments(network: Network, data: DataSet) -> Moments:
    """The moments of the features over a data set."""
    with jax.enable_x64(True):
        z = np.asarray(network.features(data.inputs))
    weighted = data.weights[:, None] * z
    power = data.weights @ np.sum(data.targets**2, axis=1)
    return _moments(weighted.T @ z, weighted.T @ data.targets, power)


def _moments(covariance: np.ndarray, correlation: np.ndarray, power: Any) -> Moments:
    # directions without variance do not change the loss: the pseudo-inverse leaves them at zero
    best = np.linalg.pinv(covariance, rcond=1e-12, hermitian=True) @ correlation
    return Moments(covariance, best, np.maximum(power - np.sum(correlation * best), 0.0))
