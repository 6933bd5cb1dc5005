"""Which stage of feature learning a network is in, and what this rests on."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, number, untraced
from lazyrich.groups import Group
from lazyrich.measures._backpropagated_gradient import backpropagated_gradient, second_layer
from lazyrich.measures._class_share import label_directions, share_of
from lazyrich.measures._gram_diagonality import gram_diagonality
from lazyrich.measures._hidden_arrays import (
    class_numbers,
    each,
    gathered,
    hidden_features,
    matrices,
)
from lazyrich.measures._node_features import NodeFeatures, node_features
from lazyrich.measures._node_kinds import LEARNED
from lazyrich.measures._ridge_distance import ridge_distance
from lazyrich.measures._weight_change import weight_change

BEGUN, BEGUN_LABELS = 0.25, 0.06
"""Part of the median node that is new from which on features are being learned; and the labels' share that
goes with it, for runs whose start is not known."""

ALIGNED = 0.5
"""Cosine from which on the backpropagated gradient counts as that of independent nodes."""

FEW, MANY = 0.1, 0.25
"""Share of nodes with a feature up to which there are none to speak of, and from which on features
interact. Networks that are stuck at random features have up to 0.2, as nodes turn a little before the
gradient vanishes."""

LIVE = 0.1
"""Length, as a share of the longest node's, below which a node does not count."""


class StageEvidence(NamedTuple):
    r"""What a stage is read off. Numbers, or arrays over runs and times; NaN for what was not asked for
    or is not defined: angles with what vanishes, shares of complex activations.

    Attributes:
        turned: $1 - \cos^2$ between a node's weights and those at the start, the part of its squared length
            that is new; median over live nodes.
        label_share: `class_share` on the training samples, median over live nodes.
        purity: in one irrep, median over live nodes.
        learned: share of live nodes that have learned something: labels explain at least ¼ of their
            activation on the training samples, or they are pure in one irrep as in `node_features`.
        generalising: share of those that are pure.
        alignment: cosine between $G_F$ and $\tilde Y\tilde Y^\top\tilde F$.
        gradient_norm: $\lVert G_F\rVert$.
        gram_nodes: typical entry of $\tilde F^\top\tilde F$ off the diagonal, over the diagonal's.
        gram_samples: the same of $\tilde F\tilde F^\top$.
        ridge_distance: relative distance of the outputs from those of ridge regression.
        first_change: cosine distance of the first layer from that one epoch later.
        second_change: the same of the second layer.
    """

    turned: Any
    label_share: Any
    purity: Any
    learned: Any
    generalising: Any
    alignment: Any
    gradient_norm: Any
    gram_nodes: Any
    gram_samples: Any
    ridge_distance: Any
    first_change: Any
    second_change: Any


@dataclasses.dataclass(frozen=True)
class TrainingStage:
    """The stage of training, a word or an array of words over runs and times, and its evidence.

    Attributes:
        stage: `lazy`, `independent`, `interactive` or `undecided`.
        evidence: what this rests on.
    """

    stage: Any
    evidence: StageEvidence

    def reason(self, index: Any = ()) -> str:
        """Why, in one sentence, for the run and time at an index."""
        index = _index(index, np.shape(self.stage))
        word = str(np.asarray(self.stage)[index])
        found = {
            name: float(np.asarray(value)[index]) for name, value in self.evidence._asdict().items()
        }
        parts = {
            "learned": "{:.0%} of the nodes have a feature",
            "turned": "the median node is {:.0%} new",
            "alignment": "the backpropagated gradient has a cosine of {:.2f} with that of independent nodes",
        }
        said = [
            text.format(found[name]) for name, text in parts.items() if np.isfinite(found[name])
        ]
        return f"{word}: {', '.join(said)}"


@untraced
def training_stage(
    first: Any,
    second: Any,
    features: Any,
    labels: Any,
    *,
    inputs: Any,
    start: Any = None,
    later: Any = None,
    group: Group | None = None,
    ridge: Any = None,
    centring: str = "samples",
) -> TrainingStage:
    r"""Is training lazy, are nodes learning features independently, or do they interact?

    - `independent`: $G_F$ is along $\tilde Y\tilde Y^\top\tilde F$, with a cosine of at least ½, so that
      each node climbs its own energy; and the median node is at least ¼ new.
    - `interactive`: $G_F$ is not along it, what a node gets depends on the others; and at least ¼ of the
      nodes have a feature.
    - `lazy`: otherwise. Nodes are random, though they may have turned a little.
    - `undecided`: as `lazy`, but the features of nodes cannot be told from those of an interactive network.

    New is the part of a node's squared length that is not along its start. Without `start` labels must
    explain 6 % of the median node's activation instead. What counts as a feature is in
    `StageEvidence.learned`; without a group only labels tell, and a share of nodes between 0.1 and ¼ is
    then `undecided`.

    A cosine of ½ says that a quarter of the squared gradient is the key term, which is much for directions
    among thousands. It passes ½ at least twice in a run: noise, then the key term while the top layer
    learns, then noise or interaction, and with decay the key term again (Eq. 3 and Eq. 5). When training
    ends with strong decay, $G_F$ only balances it, and may look independent for good: over a run see
    `grokking_case`.

    Args:
        first: W, shape (..., inputs, nodes), real or complex; leading axes are runs and times.
        second: V, shape (..., nodes, classes).
        features: activations of the training samples, shape (..., samples, nodes); or a function that gives
            them for one W, so that a record of many times needs the memory of one.
        labels: classes of the training samples, of an integer type, shape (samples,).
        inputs: of the training samples, as in `class_share`.
        start: W at the start of training, shape (..., inputs, nodes).
        later: W and V one epoch later, for the cosine changes.
        group: for the purity of nodes; W then has the rows of both factors' elements.
        ridge: η for the distance from ridge regression, n·wd/2; expensive.
        centring: as in `backpropagated_gradient`.

    Returns:
        Stages with their evidence. `ridge_distance` and others that were not asked for are NaN there.

    Cost:
        at n samples, K nodes, M classes about $8nKM + nK\min(n, K)$ multiplications, of which the second
        term is for the Gram matrices: at M = 71, K = 2048, n = 2016 the processor time of 7 training steps,
        and of 6 more with `ridge`.

    Source:
        li2, Sec. 3–5, Fig. 1, 3. The levels are this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import training_stage
        >>> rng = np.random.default_rng(0)
        >>> pairs = np.argwhere(rng.random((11, 11)) < 0.8)
        >>> features = lambda W: (W[pairs[:, 0]] + W[11 + pairs[:, 1]]) ** 2
        >>> W, V = rng.standard_normal((22, 64)), rng.standard_normal((64, 11)) / 8
        >>> found = training_stage(W, V, features, pairs.sum(axis=1) % 11, inputs=pairs, start=W)
        >>> str(found.stage), float(found.evidence.learned)
        ('lazy', 0.0)
    """
    W = matrices("first", first, "(..., inputs, nodes)", advice="Pass recorded weights.")
    V = second_layer(second, W.shape[-1])
    W0 = W[..., :0] if start is None else _start(start, W)
    call = _feature_function(features, W)
    k = class_numbers("labels", labels, None, V.shape[-1], one_run=True)
    data = _Data(
        k, label_directions(k, inputs, k.size), group,
        None if ridge is None else number("ridge", ridge, at_least=0, advice="Use n·wd/2."), centring,
    )  # fmt: skip
    later_W, later_V = (W[..., :0], V[..., :0]) if later is None else _later(later, W, V)
    lead, each_time = each(W, V, W0, later_W, later_V)
    rows = [
        _evidence(data, call(arrays[0], index), *arrays)
        for index, arrays in zip(np.ndindex(*lead), each_time, strict=True)
    ]
    evidence = StageEvidence(*gathered(rows, lead))
    return TrainingStage(_stages(evidence, group is not None), evidence)


def _index(index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    place = index if isinstance(index, tuple) else (index,)
    fits = len(place) == len(shape) and all(
        isinstance(i, int | np.integer) and not isinstance(i, bool) and -n <= i < n
        for i, n in zip(place, shape, strict=True)
    )
    if not fits:
        raise argument_error("index", f"be that of one of the stages, shape {shape}", index)
    return place


class _Data(NamedTuple):
    """What is the same at all times."""

    labels: np.ndarray
    directions: tuple[np.ndarray, np.ndarray]
    group: Group | None
    ridge: float | None
    centring: str


def _stages(found: StageEvidence, named: bool) -> Any:
    known = np.isfinite(found.turned)
    begun = np.where(known, found.turned >= BEGUN, found.label_share >= BEGUN_LABELS)
    conditions = [
        begun & (found.alignment >= ALIGNED),
        found.learned >= MANY,
        np.isnan(found.learned) | (begun & (found.learned > FEW) & (not named)),
    ]
    return np.select(conditions, ["independent", "interactive", "undecided"], default="lazy")[()]


def _evidence(
    data: _Data,
    F: np.ndarray,
    W: np.ndarray,
    V: np.ndarray,
    W0: np.ndarray,
    later_W: Any,
    later_V: Any,
) -> tuple[float, ...]:
    if len(F) != data.labels.size:
        raise argument_error(
            "features", f"have {data.labels.size} samples, one for each of `labels`", len(F)
        )
    norm, nan = np.linalg.norm(W, axis=0), float("nan")
    live = norm > LIVE * norm.max()
    known = F, data.labels, V
    pull, gram = backpropagated_gradient(*known, centring=data.centring), gram_diagonality(F)
    shares = np.full(norm.shape, nan) if np.iscomplexobj(F) else share_of(F, *data.directions)[0]
    nodes = None if data.group is None else node_features(W, data.group, smallest=LIVE)
    return (
        nan if W0.size == 0 else _median(1 - _cosines(W0, W) ** 2, live),
        _median(shares, live),
        nan if nodes is None else _median(nodes.purity, live),
        *_learned(shares, nodes, live),
        pull.alignment, pull.norm, gram.nodes.typical, gram.samples.typical,
        nan if data.ridge is None else ridge_distance(*known, data.ridge, centring=data.centring).outputs,
        nan if later_W.size == 0 else weight_change(W, later_W).whole,
        nan if later_V.size == 0 else weight_change(V, later_V, node_axis=-2).whole,
    )  # fmt: skip


def _learned(
    shares: np.ndarray, nodes: NodeFeatures | None, live: np.ndarray
) -> tuple[float, float]:
    """Shares of live nodes: with a feature, and with one that generalises."""
    nan = float("nan")
    if not live.any() or (nodes is None and np.isnan(shares).all()):
        return nan, nan
    follows = np.nan_to_num(shares) >= LEARNED
    pure = np.zeros_like(live) if nodes is None else nodes.kind == "generalising"
    return float(np.mean((follows | pure)[live])), nan if nodes is None else float(
        np.mean(pure[live])
    )


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of the columns' angles; a complex node that only changes its phase has not turned."""
    size = np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
    inner = np.abs(np.sum(a.conj() * b, axis=0))
    return np.where(size > 0, np.minimum(inner / np.where(size > 0, size, 1.0), 1.0), np.nan)


def _median(values: np.ndarray, live: np.ndarray) -> float:
    chosen = values[live & np.isfinite(values)]
    return float(np.median(chosen)) if chosen.size else float("nan")


def _start(start: Any, W: np.ndarray) -> np.ndarray:
    W0 = matrices("start", start, "(..., inputs, nodes)", advice="Pass the first record of W.")
    if W0.shape[-2:] != W.shape[-2:]:
        raise argument_error(
            "start", f"have the shape (..., {W.shape[-2]}, {W.shape[-1]})", W0.shape
        )
    return W0


def _later(later: Any, W: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(later, tuple) or len(later) != 2:
        raise argument_error("later", "be a tuple of W and V one epoch later", later)
    found = [matrices("later", one, "that of the weights", advice="Pass W and V.") for one in later]
    for one, now in zip(found, (W, V), strict=True):
        if one.shape != now.shape:
            raise argument_error("later", f"have the shape {now.shape} of the weights", one.shape)
    return found[0], found[1]


def _feature_function(features: Any, W: np.ndarray) -> Callable[[np.ndarray, Any], np.ndarray]:
    if callable(features):
        # a copy: PyTorch warns of arrays that cannot be written, as views of a record are
        return lambda one, index: hidden_features(features(one.copy()))
    F = hidden_features(features)
    if F.shape[-1] != W.shape[-1] or F.shape[:-2] != W.shape[:-2]:
        raise argument_error(
            "features", f"have the shape {(*W.shape[:-2], 'samples', W.shape[-1])} that fits `first`",
            F.shape, "Or pass a function of the first layer.",
        )  # fmt: skip
    return lambda one, index: F[index]
