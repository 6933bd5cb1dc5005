"""Networks on pairs of group elements, and when they come to generalise."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Convention, argument_error, count, number
from lazyrich.models import PairNetwork, PairWeights
from lazyrich.simulate._objectives import (
    OBJECTIVES,
    centred,
    centred_features,
    ridge_top,
    squared_norm,
)
from lazyrich.simulate._training import Training

CENTRINGS = ("classes", "samples", "none")
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


@dataclasses.dataclass(frozen=True)
class FeatureLearning(Training):
    r"""A network that learns the products of a group from some of them.

    $$ \mathcal{L} = \frac1n \sum_{i=1}^n \|P(y_i - \hat y_i)\|^2 $$

    over the n training pairs, with one-hot vectors y and P the chosen centring. There is no ½. Decay is the
    optimizer's. Complex outputs count by their squared modulus, and classify by their real part. With `ridge`
    the top layer is not learned by descent but is at every step the minimiser of

    $$ \|P(Y - F V)\|^2 + \frac{n\,\mathrm{wd}}{2} \|V\|^2 $$

    for the present features F; the first layer follows the gradient at that V, held fixed.

    Records `train_loss`, `test_loss`, `train_accuracy`, `test_accuracy` (share of pairs whose largest output
    is the label); with `weights` also `first` and `second`, with middle layers `middle`; with `change` also
    `first_change` and `second_change`, the cosine distance of a layer's weights from those one step later;
    and what `probe` gives. Test numbers are over all pairs that are not trained on.

    Runs go one after another and not in a batch: from M = 13 and K = 128 on that is at least as fast
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
        ridge: the decay wd of a top layer from ridge regression, ≥ 0; without it the top layer descends. It
            is found by LAPACK: on a crowded machine set OPENBLAS_NUM_THREADS=1, as the command line does.
        initial_scale: α, a factor of all weights at the start.
        top_scale: a further factor of the top layer at the start; 0 is zero-init.
        initial: instead of random weights, a function of the seed that gives those at the start, to go on
            from recorded ones on other pairs, for example; scales do not act on them.
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
    ridge: float | None = dataclasses.field(default=None, compare=False)
    initial_scale: float = dataclasses.field(default=1.0, compare=False)
    top_scale: float = dataclasses.field(default=1.0, compare=False)
    initial: "Callable[[int], PairWeights] | None" = dataclasses.field(default=None, compare=False)
    padded_samples: int | None = dataclasses.field(default=None, compare=False)
    records: tuple[str, ...] = ()
    probe: "Callable[[Any, Any, Any], dict[str, Any]] | None" = None
    unscaled: Any = dataclasses.field(init=False, repr=False)
    record_dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "first": ("input", "unit"), "second": ("unit", "output"),
        "middle": ("layer", "unit", "to_unit"),
    }  # fmt: skip
    one_by_one: ClassVar[bool] = True
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
        if self.ridge is not None:
            value = number("ridge", self.ridge, at_least=0, advice="Use the decay, e.g. 5e-5.")
            object.__setattr__(self, "ridge", value)
        rows = self.padded_samples
        if rows is not None and count("padded_samples", rows) < self.task.num_samples:
            raise argument_error(
                "padded_samples",
                f"be at least {self.task.num_samples}, the number of samples",
                rows,
            )
        object.__setattr__(self, "unscaled", dataclasses.replace(self.network, output_scale=1.0))

    def start(self, seed: int) -> tuple[PairWeights, PairData]:
        """Weights and split of a seed."""
        data_key, weights_key = jax.random.split(jax.random.key(seed))
        mask = self.task.train_mask(data_key)
        weights = self.network.init(weights_key, self.initial_scale, self.top_scale)
        weights = weights if self.initial is None else self._given(self.initial(seed))
        n = int(mask.sum())
        missing = (self.padded_samples or n) - n
        pairs, labels = (np.asarray(x, np.int32) for x in (self.task.pairs, self.task.labels))
        ridge = None if self.ridge is None else n * self.ridge / 2
        data = PairData(
            np.pad(pairs[mask], ((0, missing), (0, 0))), np.pad(labels[mask], (0, missing)),
            np.pad(np.full(n, 1 / n), (0, missing)), pairs, labels, mask.astype(float),
            self.network.output_scale, ridge,
        )  # fmt: skip
        if ridge == 0:
            self._check_gram(weights, data)
        return weights, data

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
            return data.share @ OBJECTIVES[self.objective](jnp.real(outputs), data.labels)
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
        losses, found = self._losses(outputs, data.all_labels), {}
        for name, part in (("train", data.is_train), ("test", 1 - data.is_train)):
            # whole numbers, then one division: a share of all is 1 to the last bit
            found[f"{name}_loss"] = part @ losses / jnp.sum(part)
            found[f"{name}_accuracy"] = part @ right.astype(part.dtype) / jnp.sum(part)
        if "weights" in self.records:
            found |= self._recorded(weights)
        return found | (self.probe(self, weights, data) if self.probe else {})

    @property
    def compares(self) -> bool:
        """Whether the change of a step is recorded."""
        return "change" in self.records

    def compare(self, weights: PairWeights, later: PairWeights, data: PairData) -> dict[str, Any]:
        """How far each layer turns in one step."""
        weights, later = self.with_top(weights, data), self.with_top(later, data)
        layers = (("first", weights.first, later.first), ("second", weights.second, later.second))
        return {f"{name}_change": _cosine_distance(a, b) for name, a, b in layers}

    def attributes(self) -> dict[str, Any]:
        """How loss and time are counted."""
        centring = {"none": "no centring"}.get(self.centring, f"centred over {self.centring}")
        squared = f"mean over samples of the squared norm of the residual, {centring}, no ½"
        named = {"squared": squared, "cross-entropy": "mean over samples of the cross-entropy"}
        return Convention(
            loss=named.get(
                self.objective, "mean over samples of the cross-entropy of a stable softmax"
            ),
            time="number of steps of the optimizer, one epoch each",
            time_unit="epochs",
        ).attributes() | {"network": repr(self.network), "num_samples": self.task.num_samples}

    def _targets(self, data: PairData) -> Any:
        kind = data.share.dtype
        return jax.nn.one_hot(data.labels, self.unscaled.num_outputs, dtype=kind)

    def _losses(self, outputs: Any, labels: Any) -> Any:
        """The loss of every pair; the mean over samples is already taken out of the outputs."""
        if self.objective != "squared":
            return OBJECTIVES[self.objective](jnp.real(outputs), labels)
        residual = jax.nn.one_hot(labels, outputs.shape[1]) - outputs
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
                "initial", f"give finite weights of the shapes {wanted}", found,
                "Pass e.g. lambda seed: PairWeights(first, (), second).",
            )  # fmt: skip
        return weights

    def _check_words(self) -> None:
        allowed = {"objective": ("squared", *OBJECTIVES), "centring": CENTRINGS}
        for name, words in allowed.items():
            if getattr(self, name) not in words:
                raise argument_error(name, f"be one of {', '.join(words)}", getattr(self, name))
        if isinstance(self.records, str) or not set(self.records) <= set(RECORDS):
            raise argument_error(
                "records", f"hold only names of {', '.join(RECORDS)}", self.records,
                "Pass e.g. ('weights',).",
            )  # fmt: skip
        object.__setattr__(self, "records", tuple(self.records))
        if self.ridge is not None and self.objective != "squared":
            raise argument_error(
                "ridge", "be None unless the objective is squared", self.ridge, "Leave it out."
            )
        for name in ("probe", "initial"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise argument_error(name, "be a function or None", getattr(self, name))

    def _check_task(self) -> None:
        if not all(hasattr(self.task, name) for name in ("pairs", "labels", "train_mask")):
            raise argument_error(
                "task", "give pairs, labels and a training mask", self.task,
                "Use `tasks.GroupArithmetic`.",
            )  # fmt: skip
        M, C = self.task.num_symbols, int(self.task.labels.max()) + 1
        if self.network.num_symbols != M or self.network.num_outputs < C:
            raise argument_error(
                "task", f"fit the network, which has {self.network.num_symbols} symbols and "
                f"{self.network.num_outputs} outputs", f"{M} symbols and {C} labels",
                "Change one of the two.",
            )  # fmt: skip

    def _check_gram(self, weights: PairWeights, data: PairData) -> None:
        with jax.enable_x64(True):
            F = self.features(weights, data)
            F = np.asarray(centred_features(F, data.share, self.centring))
        rank = int(np.linalg.matrix_rank(F))
        if rank < F.shape[1]:
            raise argument_error(
                "ridge", f"be > 0 as the features' Gram matrix is singular, of rank {rank} of {F.shape[1]}",
                self.ridge, "Use e.g. 5e-5, fewer units or more samples.",
            )  # fmt: skip


def _cosine_distance(a: Any, b: Any) -> Any:
    """1 − cos of the angle, from the difference of directions: 1 − cos itself would lose small angles."""
    norms = [jnp.sqrt(jnp.sum(x**2)) for x in (a, b)]
    tiny = jnp.finfo(a.dtype).tiny
    directions = [x / jnp.maximum(norm, tiny) for x, norm in zip((a, b), norms, strict=True)]
    return jnp.sum((directions[0] - directions[1]) ** 2) / 2
