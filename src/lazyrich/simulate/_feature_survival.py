"""Whether features that are maxima for all products remain when only some products are known."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import Context, argument_error, count, untraced
from lazyrich.groups import Group, power
from lazyrich.quantities import FeatureEnergy
from lazyrich.simulate._context import checked_context
from lazyrich.simulate._energy_ascent import checked_starts, energy_ascent
from lazyrich.simulate._seed import checked_seeds


class Survival(NamedTuple):
    """Shares of the squared norm that lie in the irreps of the start, for every subset and start.

    `share` and `energy` have the shape (seeds, starts); `survived` says where the share is at least ½.
    """

    share: np.ndarray
    energy: np.ndarray
    survived: np.ndarray


@untraced
def feature_survival(
    group: Group, num_samples: int, starts: Any, *, activation: Any = "quadratic", seeds: Any = range(8),
    tolerance: float = 1e-4, max_steps: int = 2000, context: Context | None = None,
) -> Survival:  # fmt: skip
    """Ascends from given features on the energy of random subsets of a group's products.

    A feature survives if the maximum that is reached from it still lies mostly in its irreps. Give it
    maxima of the energy for all products, such as those of `theory.GroupFeatures`.

    Args:
        group: the group.
        num_samples: how many of the M² products are kept, drawn without replacement.
        starts: nodes, shape (starts, 2M), real or complex.
        activation: a name of `models.activation`, or a function.
        seeds: one subset for each.
        tolerance: as for `energy_ascent`.
        max_steps: as for `energy_ascent`.
        context: for progress and cancellation.

    Returns:
        A `Survival`.

    Example:
        >>> import numpy as np
        >>> from lazyrich.groups import cyclic
        >>> from lazyrich.simulate import feature_survival
        >>> u = np.cos(2 * np.pi * np.arange(11) / 11)
        >>> node = np.concatenate([u, u])[None]
        >>> [feature_survival(cyclic(11), n, node).survived.mean().item() for n in (30, 110)]
        [0.0, 1.0]
    """
    if not isinstance(group, Group):
        raise argument_error("group", "be a group", group, "Use e.g. `groups.cyclic(7)`.")
    M = group.order
    starts, context = checked_starts(starts, 2 * M), checked_context(context)
    n = count("num_samples", num_samples, at_least=1, advice="Keep at least one product.")
    if n > M * M:
        raise argument_error("num_samples", f"be at most {M * M}, the number of products", n)
    pairs = np.stack(np.divmod(np.arange(M * M), M), 1)
    labels = group.table[pairs[:, 0], pairs[:, 1]]
    in_start = _powers(group, starts) > 1e-3
    shares, energies = [], []
    for seed in context.track(checked_seeds(seeds), "subsets"):
        kept = np.zeros(M * M)
        kept[np.random.default_rng(seed).permutation(M * M)[:n]] = 1
        # samples are masked, not left out: then one compilation serves all sizes
        energy = FeatureEnergy(pairs, labels, activation, num_weights=2 * M, sample_weights=kept)
        end = energy_ascent(energy, starts, tolerance=tolerance, max_steps=max_steps)
        shares.append(np.sum(_powers(group, end.weights) * in_start, axis=-1))
        energies.append(end.energy)
    share = np.array(shares)
    return Survival(share, np.array(energies), share >= 0.5)


def _powers(group: Group, weights: Any) -> np.ndarray:
    """Share of the squared norm in every irrep, shape (nodes, irreps)."""
    w = np.asarray(weights)
    sums = power(group, w.reshape(*w.shape[:-1], 2, group.order)).sum(axis=-2)
    return sums / np.maximum(sums.sum(-1, keepdims=True), np.finfo(float).tiny)
