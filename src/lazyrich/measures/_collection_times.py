"""How many nodes it takes until all maxima are found."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, untraced, whole


@untraced
def collection_times(found: Any, num_maxima: int) -> np.ndarray:
    """How many nodes of each trial it takes until every maximum is found; infinity if some are not.

    Nodes count in the order in which they are trained, or in any order if they are independent. What theory
    expects is `theory.NodesToCollect`.

    Args:
        found: number of the maximum that each node found, from 0 on, shape (trials, nodes).
        num_maxima: how many there are.

    Returns:
        Numbers of nodes, shape (trials,).

    Example:
        >>> from lazyrich.measures import collection_times
        >>> collection_times([[0, 0, 1, 1], [0, 0, 0, 0]], num_maxima=2)
        array([ 3., inf])
    """
    L = count("num_maxima", num_maxima, at_most=10**6, advice="Pass the number of maxima.")
    numbers = whole("found", found, at_least=0, at_most=L - 1, advice="Count maxima from 0.")
    if numbers.ndim != 2 or 0 in numbers.shape:
        raise argument_error("found", "have the shape (trials, nodes), not empty", numbers.shape)
    trials, nodes = numbers.shape
    first = np.full((trials, L), np.inf)
    for node in reversed(range(nodes)):  # earlier nodes overwrite later ones
        first[np.arange(trials), numbers[:, node].astype(int)] = node + 1
    return first.max(axis=1)
