"""Two kinds of memorising: on random features, and by features that memorise."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, untraced
from lazyrich.groups import Group
from lazyrich.measures._node_features import node_features

FEW, MOST = 0.25, 0.5
"""Share of live nodes up to which features are random, and from which on they are of one kind."""


@dataclasses.dataclass(frozen=True)
class MemorisationKind:
    """How a network knows what it was trained on. Words and numbers, or arrays of them over runs and times.

    Attributes:
        kind: `random features`, `memorising features`, `generalising features` or `undecided`.
        random: share of live nodes that say little about any labels.
        memorising: share that say much about the labels of the training pairs only.
        generalising: share that say much about all.
    """

    kind: Any
    random: Any
    memorising: Any
    generalising: Any


@untraced
def memorisation_kind(
    first: Any, group: Group, pairs: Any, *, activation: Any = "quadratic"
) -> MemorisationKind:
    """Tells overfitting on random features from features that memorise.

    A network that fits its training pairs and fails on others may do so in two ways: its top layer overfits
    on hidden nodes that are still random, as before grokking; or the nodes themselves have learned what
    holds for the training pairs only, as where data are scarce. The first can still grok, the second sits
    in an optimum.

    - `random features`: at most ¼ of the live nodes memorise or generalise.
    - `memorising features`: at least ½ memorise.
    - `generalising features`: at least ½ generalise.
    - `undecided`: anything else, or too few pairs to tell.

    Args:
        first: W, as in `node_features`.
        group: of order M.
        pairs: that the network was trained on, shape (samples, 2), more than about 3M.
        activation: σ, a name of `models.activation` or a function of arrays.

    Returns:
        The kind, and shares of live nodes; kinds of nodes are those of `node_features`. Undecided nodes
        count in none. Where all nodes are dead the shares are NaN.

    Source:
        li2, App. I ("two different kinds of memorization"), Theorem 5. The levels are this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich import groups
        >>> from lazyrich.measures import memorisation_kind
        >>> rng = np.random.default_rng(0)
        >>> pairs = np.argwhere(rng.random((23, 23)) < 0.4)
        >>> memorisation_kind(rng.standard_normal((46, 64)), groups.cyclic(23), pairs).kind
        'random features'
    """
    if pairs is None:
        raise argument_error("pairs", "be given", None, "Pass those that it was trained on.")
    nodes = node_features(first, group, pairs=pairs, activation=activation)
    random, memorising, generalising = (
        np.asarray(nodes.share(word)) for word in ("random", "memorising", "generalising")
    )
    known = nodes.share("undecided") < MOST
    conditions = [
        known & (generalising >= MOST), known & (memorising >= MOST),
        known & (memorising + generalising <= FEW),
    ]  # fmt: skip
    words = ["generalising features", "memorising features", "random features"]
    kind = np.select(conditions, words, default="undecided")
    shares = (random[()], memorising[()], generalising[()])
    return MemorisationKind(str(kind) if kind.ndim == 0 else kind, *shares)
