"""A layer given as its units: what each reads by and what it writes by."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, as_array, moderate, real


def unit_arrays(
    incoming: Any,
    outgoing: Any,
    *,
    over_time: bool = False,
    names: tuple[str, str] = ("incoming", "outgoing"),
) -> tuple[np.ndarray, np.ndarray]:
    """The u_i and the v_i as float64 arrays of shape (units, N_u) and (units, N_v), checked.

    With `over_time` a leading time axis is allowed. Outgoing weights may lack their last axis; then N_v is 1.
    """
    first, second = names
    check = moderate if over_time else real  # what is conserved are squares
    u = check(first, incoming, advice="Pass finite weights, shape (units, N_u).")
    v = check(second, outgoing, advice="Pass finite weights, shape (units, N_v).")
    if u.ndim not in ((2, 3) if over_time else (2,)) or u.size == 0:
        either = " or (time, units, N_u)" if over_time else ""
        raise argument_error(first, f"have the shape (units, N_u){either}", u.shape)
    if v.ndim == u.ndim - 1:
        v = v[..., None]
    if v.ndim != u.ndim or v.shape[:-1] != u.shape[:-1] or v.size == 0:
        units = ", ".join(map(str, u.shape[:-1]))
        raise argument_error(
            second, f"have the shape ({units}, N_v) to fit `{first}`", as_array(outgoing).shape,
            "Both have a row for each unit: transpose the second `Linear.weight` of torch.",
        )  # fmt: skip
    return u, v


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Norms over the last axis."""
    return np.sqrt(np.sum(vectors**2, axis=-1))
