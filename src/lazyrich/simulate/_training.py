"""What is trained, as the simulators see it."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, is_traced, whole

if TYPE_CHECKING:
    import xarray


class Training(abc.ABC):
    """A model on a task: how a run starts, which loss it follows, and what is recorded.

    Make it a frozen dataclass whose fields are plain values: two that are equal share what JAX compiles.
    `loss` and `record` are pure functions of arrays.

    Attributes:
        record_dims: the names of a recorded array's own dimensions, for those that have any.
    """

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @abc.abstractmethod
    def start(self, seed: int) -> tuple[Any, Any]:
        """Weights at the start and data, as two trees of NumPy arrays."""

    @abc.abstractmethod
    def loss(self, weights: Any, data: Any) -> Any:
        """The loss whose gradient is followed."""

    @abc.abstractmethod
    def record(self, weights: Any, data: Any) -> dict[str, Any]:
        """What to keep of a moment, by name."""

    def reduce(self, weights: Any) -> tuple[Any, Any]:
        """Fewer weights whose descent is the same, and the frame from which `expand` makes all of them again.

        Every array has a leading axis for the seed. Without fewer weights: the same, and None.
        """
        return weights, None

    def expand(self, weights: Any, frame: Any) -> Any:
        """All weights of one seed."""
        return weights

    def count_samples(self, data: Any) -> int:
        """Number of samples in the data, for minibatches."""
        raise argument_error(
            "batch_size", "be None for this training", "a size", "It has no minibatches."
        )

    def minibatch(self, data: Any, indices: Any) -> Any:
        """The data of some samples, by their numbers."""
        raise NotImplementedError

    def coordinates(self) -> dict[str, Any]:
        """Coordinates of the record's own dimensions."""
        return {}

    def attributes(self) -> dict[str, Any]:
        """How the run came about, and how it counts loss and time."""
        return {}


def starts(training: Training, seeds: Sequence[int]) -> tuple[list[int], Any]:
    """The seeds, checked, and all their starts with a leading axis for the seed."""
    if not isinstance(training, Training):
        raise argument_error(
            "training", "be a Training", training, "Use e.g. `simulate.TwoLayerStudent`."
        )
    checked = whole("seeds", list(seeds), at_least=0, advice="Pass e.g. range(8).")
    if checked.ndim != 1 or checked.size == 0:
        raise argument_error("seeds", "be a list of numbers, not empty", seeds, "Pass range(8).")
    numbers = [int(seed) for seed in checked]
    each = [training.start(seed) for seed in numbers]
    return numbers, jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *each)


def increasing(name: str, values: Any) -> Any:
    """The argument, if it is a list of numbers in increasing order, known now."""
    fits = not is_traced(values) and np.ndim(values) == 1 and np.size(values) > 0
    if not fits or np.any(np.diff(values) <= 0):
        shown = values if is_traced(values) else np.asarray(values).tolist()
        raise argument_error(
            name, "be a list of numbers in increasing order, not empty", shown, "Pass e.g. [0, 10]."
        )
    return values


def trajectory(
    training: Training, records: dict[str, Any], seeds: list[int], times: Any, **attributes: Any
) -> "xarray.Dataset":
    """The records, shape (seed, time, …) each, as a dataset that says how it came about."""
    import xarray

    variables: dict[str, tuple[Any, Any]] = {
        name: (("seed", "time", *training.record_dims.get(name, ())), np.asarray(values))
        for name, values in records.items()
    }
    finite = [
        np.isfinite(values).reshape(len(seeds), -1).all(axis=1) for _, values in variables.values()
    ]
    variables["diverged"] = (("seed",), ~np.all(finite, axis=0))
    fields = dataclasses.asdict(training) if dataclasses.is_dataclass(training) else {}
    plain = {
        name: value for name, value in fields.items() if isinstance(value, bool | int | float | str)
    }
    coordinates = {"seed": seeds, "time": times} | training.coordinates()
    return xarray.Dataset(variables, coordinates, plain | training.attributes() | attributes)
