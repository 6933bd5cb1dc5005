"""What Fig. 3 and Table 1 share: pairs of digits, and what is printed about them."""

import itertools

import numpy as np

PAIRS = ((0, 1), (0, 8), (5, 7), (3, 5))
LABELS = tuple(f"{first}, {second}" for first, second in PAIRS)
PRINTED = {"first": (4.20, 5.21, 4.13, 4.62), "second": (3.90, 5.21, 3.26, 1.38)}
"""Table 1."""


def out_of_order(falls: np.ndarray, rises: np.ndarray) -> float:
    """In how many pairs of columns the two do not go opposite ways; NaN goes no way."""
    both = itertools.combinations(range(falls.size), 2)
    return float(sum(not (falls[i] - falls[j]) * (rises[i] - rises[j]) < 0 for i, j in both))
