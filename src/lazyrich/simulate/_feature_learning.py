"""Networks on pairs of group elements, and when they come to generalise."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import CENTRINGS, argument_error, choice, count, items, number
from lazyrich.models import PairNetwork, PairWeights
from lazyrich.simulate._fit import ADVICE
from lazyrich.simulate._objectives import (
    OBJECTIVES,
    centred,
    centred_features,
    ridge_top,
    squared_norm,
)
from lazyrich.simulate._seed import keys_of
from lazyrich.simulate._training import Training

RECORDS = ("weights", "change")


class PairData(NamedTuple):
    """What one run learns from: N rows of pairs, of which those with a share count."""

    pairs: Any  # (N, 2)
    labels: Any  # (N,)
    share: Any  # (N,), 1/n for the n training pairs, 0 for rows that only fill up
    all_pairs: Any  # (M², 2)
    all_labels: Any  # (M²,)
    is_train: Any  # (M²,), 1 for training pairs, 0 for test pairs
    scale: Any  # of the outputs, β
    ridge: Any  # η of the top layer's ridge regression, or None


SMALL = 2**15
"""Products of pairs and units up to which runs are worked on in batches."""

MOST_ROWS = 10**7
"""Samples that a training set may be filled up to."""


@dataclasses.dataclass(frozen=True)
class FeatureLearning(Training):
    r"""A network that learns the products of a group from some of them.

    $$ \mathcal{L} = \frac1n \sum_{i=1}^n \|P(y_i - \hat y_i)\|^2 $$

    over the n training pairs, with one-hot vectors y and P the chosen centring. There is no ½. Decay is the
    optimizer's. Complex outputs count by their squared modulus, and classify by their real part. With
    `top_decay` the top layer is not learned by descent but is at every step the minimiser of

    $$ \|P(Y - F V)\|^2 + \frac{n\,\mathrm{wd}}{2} \|V\|^2 $$

    for the present features F; the first layer follows the gradient at that V, held fixed.

    Records `train_loss`, `test_loss`, `train_accuracy`, `test_accuracy` (share of pairs whose largest output
    is the label); with `weights` also `first` and `second`, with middle layers `middle`; with `change` also
    `first_change` and `second_change`, the cosine distance of a layer's weights from those one step later,
    NaN where one of them is zero, as `second` is before the first step of zero-init; and what `probe` gives.
    Test numbers are over all pairs that are not trained on. Where outputs are no numbers any more, neither
    are accuracies.

    Runs of small networks, up to $M^2 K = 2^{15}$, advance 64 at a time: calls cost more than steps there
    (with 20 records 64 runs of M = 7, K = 32 are 2 to 3 times as fast, 32 runs of M = 13, K = 128 1 to 1.7
    times). Larger ones go one after another. That is as fast or faster
    (`benchmarks/feature_learning.py --company`), needs the memory of one run, and makes a run's bits
    independent of its company.

    Source:
        li2, Eq. 1, Fig. 3, 11–18.

    Attributes:
        network: what learns.
        task: what gives `pairs`, `labels` and `train_mask(key)`, such as `tasks.GroupArithmetic`.
        objective: `squared`, `cross-entropy`, or `stable-softmax`, cross-entropy with
            s(x) = x + 1 for x ≥ 0 and 1/(1 − x) below instead of the exponential.
        centring: what is subtracted from the residual of `squared`: its mean over `classes` (as in the
            public code), over `samples` (as in the paper), or nothing (`none`). With `samples` the outputs
            are free up to a constant for each class; losses and accuracies then use the outputs moved so
            that their mean over the training pairs is that of the labels.
        top_decay: the weight decay wd of a top layer from ridge regression, ≥ 0; its `ridge` is η = n·wd/2.
            Without it the top layer descends. The regression is LAPACK's: on a crowded machine set
            OPENBLAS_NUM_THREADS=1, as the command line does.
        initial_scale: α, a factor of all weights at the start.
        top_scale: a further factor of the top layer at the start; 0 is zero-init.
        initial_weights: instead of random weights, a function of the seed that gives those at the start, to
            go on from recorded ones on other pairs, for example; scales do not act on them.
        padded_samples: number of rows that training pairs are filled up to with rows that do not count.
            Runs with other numbers of pairs but the same of rows share what is compiled. It costs time in
            proportion to rows. Without it: as many rows as pairs.
        records: what to record besides losses and accuracies, of `weights` and `change`.
        probe: a function of this training, weights and data that gives arrays by name, in JAX; for the
            features of the training pairs it calls `features`. Define it once: a new one is compiled anew.

    Example:
        >>> from lazyrich import groups, models, simulate, tasks
        >>> task = tasks.GroupArithmetic(groups.cyclic(7), train_fraction=0.8)
        >>> training = simulate.FeatureLearning(models.PairNetwork(7, width=64), task)
        >>> run = simulate.gradient_descent(training, [0, 300], optimizer="adam", learning_rate=5e-3,
        ...                                 weight_decay=1e-3, seeds=[0, 1])
        >>> run.train_accuracy.values[:, 1].tolist()
        [1.0, 1.0]
    """

    network: PairNetwork = dataclasses.field(compare=False)
    task: Any = dataclasses.field(compare=False)
    objective: str = "squared"
    centring: str = "classes"
    top_decay: float | None = dataclasses.field(default=None, compare=False)
    initial_scale: float = dataclasses.field(default=1.0, compare=False)
    top_scale: float = dataclasses.field(default=1.0, compare=False)
    initial_weights: "Callable[[int], PairWeights] | None" = dataclasses.field(
        default=None, compare=False
    )
    padded_samples: int | None = dataclasses.field(default=None, compare=False)
    records: tuple[str, ...] = ()
    probe: "Callable[[Any, Any, Any], dict[str, Any]] | None" = None
    unscaled: Any = dataclasses.field(init=False, repr=False)
    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "first": ("input", "unit"), "second": ("unit", "output"),
        "middle": ("layer", "unit", "to_unit"),
    }  # fmt: skip
    may_be_undefined: ClassVar[tuple[str, ...]] = ("first_change", "second_change")
    dtype: ClassVar[str] = "float32"

    def __post_init__(self) -> None:
        if not isinstance(self.network, PairNetwork):
            raise argument_error(
                "network", "be a PairNetwork", self.network, "Use `models.PairNetwork`."
            )
        self._check_words()
        self._check_task()
        for name in ("initial_scale", "top_scale"):
            value = number(name, getattr(self, name), at_least=0, advice="Use 1 as usual.")
            object.__setattr__(self, name, value)
        if self.top_decay is not None:
            value = number(
                "top_decay", self.top_decay, at_least=0, advice="Use the decay, e.g. 5e-5."
            )
            object.__setattr__(self, "top_decay", value)
        rows = self.padded_samples
        if (
            rows is not None
            and count("padded_samples", rows, at_most=MOST_ROWS) < self.task.num_samples
        ):
            raise argument_error(
                "padded_samples",
                f"be at least {self.task.num_samples}, the number of samples",
                rows,
            )
        object.__setattr__(self, "unscaled", dataclasses.replace(self.network, output_scale=1.0))

    def start(self, seed: int) -> tuple[PairWeights, PairData]:
        """Weights and split of a seed."""
        mask = self._train_mask(seed)
        weights = self.network.init(_keys(seed)[1], self.initial_scale, self.top_scale)
        if self.initial_weights is not None:
            weights = self._given(self.initial_weights(seed))
        n = int(mask.sum())
        missing = (self.padded_samples or n) - n
        pairs, labels = (np.asarray(x, np.int32) for x in (self.task.pairs, self.task.labels))
        ridge = None if self.top_decay is None else n * self.top_decay / 2
        data = PairData(
            np.pad(pairs[mask], ((0, missing), (0, 0))), np.pad(labels[mask], (0, missing)),
            np.pad(np.full(n, 1 / n), (0, missing)), pairs, labels, mask.astype(float),
            self.network.output_scale, ridge,
        )  # fmt: skip
        if ridge == 0:
            self._check_gram(weights, data)
        return weights, data

    def train_pairs(self, seed: int) -> np.ndarray:
        """The pairs that a seed trains on, shape (n, 2)."""
        return np.asarray(self.task.pairs)[self._train_mask(seed)]

    def features(self, weights: PairWeights, data: PairData) -> Any:
        """F of the training pairs, shape (N, K); rows that only fill up are zero."""
        F = self.unscaled.features(weights, data.pairs)
        return jnp.where(data.share[:, None] > 0, F, 0)

    def outputs(self, weights: PairWeights, pairs: Any, data: PairData) -> Any:
        """The outputs for pairs, with the ridge top layer if there is one."""
        return data.scale * self.unscaled.apply(self.with_top(weights, data), pairs)

    def with_top(self, weights: PairWeights, data: PairData) -> PairWeights:
        """The weights, their top layer from ridge regression if that is asked for."""
        if data.ridge is None:
            return weights
        F = jax.lax.stop_gradient(data.scale * self.features(weights, data))
        V = ridge_top(F, self._targets(data), data.share, data.ridge, self.centring)
        parts = jnp.stack([jnp.real(V), jnp.imag(V)]) if self.unscaled.complex_weights else V
        return weights._replace(second=parts)

    def loss(self, weights: PairWeights, data: PairData) -> Any:
        """The training loss."""
        outputs = self.outputs(weights, data.pairs, data)
        if self.objective != "squared":
            terms = OBJECTIVES[self.objective].terms(jnp.real(outputs), self._targets(data))
            return data.share @ terms
        residual = centred(self._targets(data) - outputs, data.share, self.centring)
        return data.share @ squared_norm(residual)

    def record(self, weights: PairWeights, data: PairData) -> dict[str, Any]:
        """Losses and accuracies, and what is asked for besides."""
        weights = self.with_top(weights, data)
        outputs = data.scale * self.unscaled.apply(weights, data.all_pairs)
        share = data.is_train / jnp.sum(data.is_train)
        if self.centring == "samples" and self.objective == "squared":
            target = jax.nn.one_hot(data.all_labels, outputs.shape[1], dtype=share.dtype)
            outputs = outputs + share @ (target - outputs)
        right = jnp.argmax(jnp.real(outputs), axis=1) == data.all_labels
        right = jnp.where(jnp.all(jnp.isfinite(outputs), axis=1), right, jnp.nan)
        losses, found = self._losses(outputs, data.all_labels), {}
        for name, part in (("train", data.is_train), ("test", 1 - data.is_train)):
            # whole numbers, then one division: a share of all is 1 to the last bit
            found[f"{name}_loss"] = part @ losses / jnp.sum(part)
            found[f"{name}_accuracy"] = part @ right.astype(part.dtype) / jnp.sum(part)
        if "weights" in self.records:
            found |= self._recorded(weights)
        return found | (self.probe(self, weights, data) if self.probe else {})

    @property
    def runs_together(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many runs advance in a batch: it depends on what is compared, as what is compiled does."""
        return 64 if self.unscaled.num_symbols**2 * self.unscaled.width <= SMALL else 1

    @property
    def compares(self) -> bool:
        """Whether the change of a step is recorded."""
        return "change" in self.records

    def compare(self, weights: PairWeights, later: PairWeights, data: PairData) -> dict[str, Any]:
        """How far each layer turns in one step."""
        weights, later = self.with_top(weights, data), self.with_top(later, data)
        layers = (("first", weights.first, later.first), ("second", weights.second, later.second))
        return {f"{name}_change": _cosine_distance(a, b) for name, a, b in layers}

    @property
    def loss_convention(self) -> str:
        """The loss in words."""
        if self.objective != "squared":
            return OBJECTIVES[self.objective].words
        centring = {"none": "no centring"}.get(self.centring, f"centred over {self.centring}")
        return f"mean over samples of the squared norm of the residual, {centring}, no ½"

    def attributes(self) -> dict[str, Any]:
        """The network, and how many pairs it learns from."""
        return {"network": repr(self.network), "num_samples": self.task.num_samples}

    def _train_mask(self, seed: int) -> np.ndarray:
        return self.task.train_mask(_keys(seed)[0])

    def _targets(self, data: PairData) -> Any:
        kind = data.share.dtype
        return jax.nn.one_hot(data.labels, self.unscaled.output_dimension, dtype=kind)

    def _losses(self, outputs: Any, labels: Any) -> Any:
        """The loss of every pair; the mean over samples is already taken out of the outputs."""
        targets = jax.nn.one_hot(labels, outputs.shape[1])
        if self.objective != "squared":
            return OBJECTIVES[self.objective].terms(jnp.real(outputs), targets)
        residual = targets - outputs
        if self.centring == "classes":
            residual = residual - jnp.mean(residual, axis=1, keepdims=True)
        return squared_norm(residual)

    def _recorded(self, weights: PairWeights) -> dict[str, Any]:
        first, middle, second = self.network.values(weights)
        found = {"first": first, "second": second}
        return found | ({"middle": jnp.stack(middle)} if middle else {})

    def _given(self, weights: Any) -> PairWeights:
        wanted, found = self.network.shapes(), jax.tree.map(np.shape, weights)
        if found != wanted or not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(weights)):
            raise argument_error(
                "initial_weights", f"give finite weights of the shapes {wanted}", found,
                "Pass e.g. lambda seed: PairWeights(first, (), second).",
            )  # fmt: skip
        return weights

    def _check_words(self) -> None:
        allowed = {
            "objective": OBJECTIVES,
            "centring": [word for word in CENTRINGS if word != "both"],
        }
        for name, words in allowed.items():
            choice(name, getattr(self, name), words)
        if not isinstance(self.records, str):
            object.__setattr__(self, "records", items("records", self.records))
        if not set(map(str, self.records)) <= set(RECORDS) or isinstance(self.records, str):
            raise argument_error(
                "records", f"hold only names of {', '.join(RECORDS)}", self.records,
                "Pass e.g. ('weights',).",
            )  # fmt: skip
        if self.top_decay is not None and self.objective != "squared":
            raise argument_error(
                "top_decay",
                "be None unless the objective is squared",
                self.top_decay,
                "Leave it out.",
            )
        for name in ("probe", "initial_weights"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise argument_error(name, "be a function or None", getattr(self, name))

    def _check_task(self) -> None:
        if not all(hasattr(self.task, name) for name in ("pairs", "labels", "train_mask")):
            raise argument_error(
                "task", "give pairs, labels and a training mask", self.task,
                "Use `tasks.GroupArithmetic`.",
            )  # fmt: skip
        M, C = self.task.num_symbols, int(self.task.labels.max()) + 1
        if self.network.num_symbols != M or self.network.output_dimension < C:
            raise argument_error(
                "network", f"have {M} symbols and at least {C} outputs, as the task has",
                f"{self.network.num_symbols} symbols and {self.network.output_dimension} outputs", ADVICE,
            )  # fmt: skip

    def _check_gram(self, weights: PairWeights, data: PairData) -> None:
        with jax.enable_x64(True):
            F = self.features(weights, data)
            F = np.asarray(centred_features(F, data.share, self.centring))
        rank = int(np.linalg.matrix_rank(F))
        if rank < F.shape[1]:
            raise argument_error(
                "top_decay",
                f"be > 0 as the features' Gram matrix is singular, of rank {rank} of {F.shape[1]}",
                self.top_decay, "Use e.g. 5e-5, fewer units or more samples.",
            )  # fmt: skip


def _keys(seed: int) -> Any:
    """What a seed draws its pairs and its weights from."""
    return keys_of(seed)


def _cosine_distance(a: Any, b: Any) -> Any:
    """1 − cos of the angle, from the difference of directions: 1 − cos itself would lose small angles."""
    directions = [x / jnp.sqrt(jnp.sum(x**2)) for x in (a, b)]  # NaN for zero, which has none
    return jnp.sum((directions[0] - directions[1]) ** 2) / 2
