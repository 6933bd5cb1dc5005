"""Whether a node generalises, memorises, or is still random."""

import functools
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import ArgumentError
from lazyrich.groups import Group
from lazyrich.measures._class_share import label_directions, share_of
from lazyrich.measures._hidden_arrays import each, gathered
from lazyrich.measures._pair_features import numpy_activation, pair_features, pair_numbers

FALSE_POSITIVES = 0.01
"""Probability that a layer of random weights has a node that is taken for a learned one."""

LEARNED = 0.25
"""Labels' share from which on a node has learned: half of what a node of a single irrep has."""

ENERGETIC = 0.25
"""Energy ratio from which on a node can generalise: a quarter of what random halves in its irreps have."""

DEAD = "dead"


class LabelEvidence(NamedTuple):
    """What the labels explain of each node's activation, shape (..., nodes).

    Attributes:
        energy: of the node scaled to length 1, on the pairs.
        trained: `class_share` on the pairs; NaN where there are too few.
        held_out: the same on all other pairs.
        held_out_chance: probability that a random node has at least this share there.
    """

    energy: np.ndarray
    trained: np.ndarray
    held_out: np.ndarray
    held_out_chance: np.ndarray


def label_evidence(first: np.ndarray, group: Group, pairs: Any, activation: Any) -> LabelEvidence:
    """Energies, and what labels explain on the pairs and on those left out."""
    given = pair_numbers(pairs, group.order)
    function = numpy_activation(activation)
    both = [(part, _directions(group, part)) for part in (given, _others(given, group.order))]
    lead, each_first = each(first)
    return LabelEvidence(
        *gathered([_one(one, group, both, function) for (one,) in each_first], lead)
    )


def kinds(
    nodes: np.ndarray,
    live: np.ndarray,
    in_one_irrep: np.ndarray,
    chance: np.ndarray,
    ratio: np.ndarray,
    evidence: LabelEvidence | None,
) -> np.ndarray:
    """Words for nodes of shape (..., K, 2M); where the first that holds counts."""
    rate = FALSE_POSITIVES / nodes.shape[-2]
    generalises = in_one_irrep & (chance <= rate)
    memorises = _peaked(nodes, rate)
    unknown: Any = np.ones_like(live)
    if evidence is not None:
        lasting = (evidence.held_out >= LEARNED) & (evidence.held_out_chance <= rate)
        generalises = generalises | lasting
        memorises = memorises | (evidence.trained >= LEARNED)
        unknown = np.isnan(evidence.trained)
    words = [DEAD, "generalising", "memorising", "undecided"]
    generalises = generalises & (ratio >= ENERGETIC)
    return np.select([~live, generalises, memorises, unknown], words, default="random")


def _peaked(nodes: np.ndarray, rate: float) -> np.ndarray:
    """Whether the fourth powers of the weights sum to more than random weights' do."""
    squares = np.abs(nodes) ** 2
    whole = squares.sum(axis=-1)
    peak = np.sum(squares**2, axis=-1) / np.where(whole > 0, whole, 1.0) ** 2
    return peak > _peak_level(nodes.shape[-1], rate)


@functools.lru_cache(maxsize=64)
def _peak_level(length: int, rate: float) -> float:
    r"""Level of $\sum w^4/(\sum w^2)^2$ that Gaussian weights pass with a probability of at most `rate`.

    Its logarithm is nearly normal but for a longer upper tail. That of 20000 draws beyond their 99 %
    quantile is extended by an exponential, on the safe side as their tail falls off faster.
    """
    draws = np.random.default_rng(0).standard_normal((20000, length)) ** 2
    logs = np.sort(np.log(np.sum(draws**2, axis=1) / np.sum(draws, axis=1) ** 2))
    start = 19800
    slope = np.mean(logs[start:] - logs[start])
    beyond = np.log(max(0.01 / rate, 1.0)) * slope
    return float(np.exp(logs[start] + beyond))


def _others(pairs: np.ndarray, M: int) -> np.ndarray:
    left = np.ones((M, M), bool)
    left[pairs[:, 0], pairs[:, 1]] = False
    return np.argwhere(left)


def _directions(group: Group, pairs: np.ndarray) -> Any:
    """What the labels of pairs may explain; None for too few pairs."""
    if len(pairs) < 2:
        return None
    try:
        return label_directions(_products(group, pairs), pairs, len(pairs))
    except ArgumentError:
        return None


def _one(first: np.ndarray, group: Group, both: Any, function: Any) -> tuple[np.ndarray, ...]:
    norm = np.linalg.norm(first, axis=0)
    unit, pairs = first / np.where(norm > 0, norm, 1.0), both[0][0]
    energy = _energy(pair_features(unit, pairs, function), _products(group, pairs))
    (trained, _), (held_out, chance) = (_shares(function, first, *part) for part in both)
    return energy, trained, held_out, chance


def _products(group: Group, pairs: np.ndarray) -> np.ndarray:
    return group.table[pairs[:, 0], pairs[:, 1]]


def _energy(F: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """½‖Ỹᵀf‖² of every column."""
    Y = np.eye(int(labels.max()) + 1)[labels]
    sums = (Y - Y.mean(axis=0)).T @ F
    return 0.5 * np.sum(np.abs(sums) ** 2, axis=0)


def _shares(
    function: Any, first: np.ndarray, pairs: np.ndarray, directions: Any
) -> tuple[Any, Any]:
    if directions is None or np.iscomplexobj(first):
        nothing = np.full(first.shape[1], np.nan)
        return nothing, nothing
    return share_of(pair_features(first, pairs, function), *directions)
