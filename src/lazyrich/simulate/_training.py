"""What is trained, as the simulators see it."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import LIBRARY_CONVENTION, Convention, argument_error, is_traced, whole
from lazyrich.simulate._seed import checked_seeds

if TYPE_CHECKING:
    import xarray


MOST_STEPS = 2**31 - 1
"""Descent in float32 counts them with 32 bits."""
STEPS = ("number of steps of descent", "steps")
"""What time counts, and its unit: for descent. Loss is what a training says, time what a simulator says."""


class Training(abc.ABC):
    """A model on a task: how a run starts, which loss it follows, and what is recorded.

    Make it a frozen dataclass whose fields are plain values: two that are equal share what JAX compiles.
    `loss` and `record` are pure functions of arrays. Simulators call what takes weights or data with what
    `start` gave and descent made of it, inside of traces, where no number can be looked at: NaN in, NaN out.
    A run that comes to NaN is `diverged`.

    Attributes:
        record_dims: the names of a recorded array's own dimensions, for those that have any.
        may_be_undefined: names of records that may be NaN in a run that has not diverged.
        runs_together: how many runs advance in a batch, None for all: for large networks one after another is
            as fast, takes the memory of one, and makes a run's bits independent of its company.
        dtype: in which gradient descent computes unless told otherwise.
    """

    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    may_be_undefined: ClassVar[tuple[str, ...]] = ()
    runs_together: ClassVar[int | None] = None
    dtype: ClassVar[str] = "float64"

    @abc.abstractmethod
    def start(self, seed: int) -> tuple[Any, Any]:
        """Weights at the start and data, as two trees of NumPy arrays."""

    @abc.abstractmethod
    def loss(self, weights: Any, data: Any) -> Any:
        """The loss whose gradient is followed."""

    @abc.abstractmethod
    def record(self, weights: Any, data: Any) -> dict[str, Any]:
        """What to keep of a moment, by name."""

    @property
    def compares(self) -> bool:
        """Whether `compare` has something to record."""
        return False

    def compare(self, weights: Any, later: Any, data: Any) -> dict[str, Any]:
        """What to keep of a moment's weights beside those one step of descent later, by name."""
        return {}

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

    @property
    def loss_convention(self) -> str:
        """The loss in words, with its factor and what it averages over. Time is the simulator's to say."""
        return LIBRARY_CONVENTION.loss

    def attributes(self) -> dict[str, Any]:
        """How the run came about, besides the fields that are plain values."""
        return {}


def check_seeds(training: Training, seeds: Sequence[int]) -> list[int]:
    """The seeds, if they are seeds and the training is one."""
    if not isinstance(training, Training):
        raise argument_error(
            "training", "be a Training", training, "Use e.g. `simulate.TwoLayerStudent`."
        )
    return checked_seeds(seeds)


def stacked(training: Training, seeds: list[int]) -> Any:
    """The starts of all seeds, which may repeat, with a leading axis for them."""
    each = {seed: training.start(seed) for seed in seeds}
    return jax.tree.map(_stack, *[each[seed] for seed in seeds])


def _stack(*leaves: Any) -> Any:
    if isinstance(leaves[0], jax.Array) and jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jnp.stack(leaves)
    # nothing here is compiled for a new shape; `jnp.asarray` would be
    return jax.device_put(np.stack(leaves))


def recorded_steps(steps: Any) -> Any:
    """The steps at which to record, as whole numbers that increase."""
    advice = "Record at whole steps."
    return increasing("steps", whole("steps", steps, at_least=0, at_most=MOST_STEPS, advice=advice))


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
    training: Training, records: dict[str, Any], seeds: list[int], times: Any,
    grid: Mapping[str, Any] | None = None, *, clock: tuple[str, str], **attributes: Any,
) -> "xarray.Dataset":  # fmt: skip
    """The records, shape (run, time, …) each, as a dataset that says how it came about.

    Runs are seeds, or all combinations of the grid's values and seeds, the last changing fastest. The clock
    is what time counts, and its unit.
    """
    import xarray

    lists = dict(grid or {}) | {"seed": seeds}
    shape = tuple(len(values) for values in lists.values())
    variables: dict[str, tuple[Any, Any]] = {
        name: (
            (*lists, "time", *_own_dims(training, name, np.ndim(values) - 2)),
            np.reshape(values, (*shape, *np.shape(values)[1:])),
        )
        for name, values in records.items()
    }
    finite = [
        np.isfinite(values).reshape(*shape, -1).all(axis=-1)
        for name, (_, values) in variables.items()
        if name not in training.may_be_undefined
    ]
    variables["diverged"] = (tuple(lists), ~np.all(finite, axis=0))
    fields = dataclasses.asdict(training) if dataclasses.is_dataclass(training) else {}
    plain = {
        name: value for name, value in fields.items() if isinstance(value, bool | int | float | str)
    }
    coordinates = lists | {"time": times} | training.coordinates()
    counted = Convention(training.loss_convention, *clock).attributes()
    said = plain | training.attributes() | counted | attributes
    return xarray.Dataset(variables, coordinates, said)


def _own_dims(training: Training, name: str, axes: int) -> tuple[str, ...]:
    """The names of a record's own dimensions; where the training has none, its name and a number."""
    return training.record_dims.get(name, tuple(f"{name}_{axis}" for axis in range(axes)))
