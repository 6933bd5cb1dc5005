"""Sets of modes as arguments."""

from collections.abc import Sequence

import numpy as np

from lazyrich.core import argument_error, items, whole


def chosen_modes(modes: Sequence[int], num_modes: int) -> np.ndarray:
    """The numbers of some modes, sorted and checked."""
    advice = f"There are {num_modes} modes, numbered from 0."
    given = list(items("modes", modes, advice=advice))
    chosen = whole("modes", given, at_least=0, at_most=num_modes - 1, advice=advice)
    if chosen.ndim != 1 or np.unique(chosen).size != chosen.size:
        raise argument_error("modes", "be a list that names each mode once", given, advice)
    return np.sort(chosen.astype(int))
