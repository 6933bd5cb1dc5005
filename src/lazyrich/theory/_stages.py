"""Whether modes are learned one after the other."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import Crossing, argument_error, known, number


class ModeStages(NamedTuple):
    r"""When modes are learned, in order, and whether the intervals overlap.

    $$ \text{separation}_k = \frac{t^{\mathrm{begin}}_{k+1}}{\max_{j \le k} t^{\mathrm{end}}_j} $$

    A mode is learned while it goes from a tenth to nine tenths of its target. The paper calls training
    stage-like when modes are learned "in sequences without overlap in their saturation", the first one
    fully "while the next mode remains negligible": when every separation is above 1. As a ratio of times it
    does not depend on the unit of time.

    For modes that start equally small at $\epsilon S_i$ and grow as in Eq. 9 with the rates
    $r_k = S_k E[x_k^2]$ it is $(r_k/r_{k+1})(\ell - \ln 9)/(\ell + \ln 9)$ with
    $\ell = \ln(1/\epsilon - 1)$: any two rates separate if the start is small enough. For the linear model
    from zero it is $0.046\, r_k/r_{k+1}$ at any scale, with $r_k = E[x_k^2]$.

    Symbols:
        begin → `begin`, end → `end`; k counts modes in the order in which they begin.

    Source:
        layerwise, Sec. 4.1 and App. A (stage-like training).

    Holds when:
        each mode approaches its target without turning back.

    Computed as:
        ratios of the closed-form times.

    Checked by:
        `tests/theory/test_layerwise_modes.py`.

    Attributes:
        order: numbers of the modes that are learned, in the order in which they begin; modes that are not
            learned in any time are left out.
        begin: when each of them reaches the lower share; 0 if it is there at the start.
        end: when each of them reaches the upper share.
        separation: for each but the last.
        is_stage_like: whether at least two modes are learned and every separation is above 1.

    Example:
        >>> from lazyrich.theory import DiagonalNetwork
        >>> network = DiagonalNetwork(1.0, first=0.01, second=0.01, variance=[0.5, 0.2, 0.1])
        >>> found = network.stages()
        >>> found.end.round(1), found.separation.round(2), found.is_stage_like
        (array([11.4, 28.5, 57. ]), array([1.54, 1.23]), True)
    """

    order: Any
    begin: Any
    end: Any
    separation: Any
    is_stage_like: bool


def stages_of(time_of: Callable[[float], Crossing], lower: Any, upper: Any) -> ModeStages:
    """The stages of modes whose crossing times are known."""
    lower = number("lower", lower, above=0, below=1, advice="Use 0.1.")
    upper = number("upper", upper, above=0, below=1, advice="Use 0.9.")
    if not lower < upper:
        raise argument_error("upper", f"be above `lower`, {lower:g}", upper, "Use 0.9.")
    begin, end = (time_of(share).time for share in (lower, upper))
    known("time", (begin, end), "Ask for stages outside `jit`.")
    begin, end = np.ravel(begin), np.ravel(end)
    order = np.lexsort((end, begin))
    order = order[np.isfinite(end[order])]
    begin, end = begin[order], end[order]
    done = np.maximum.accumulate(end)[:-1]
    # a mode that is learned already at the start, end 0, overlaps with nothing that begins later
    separation = np.divide(
        begin[1:], done, out=np.where(begin[1:] > 0, np.inf, 0.0), where=done > 0
    )
    return ModeStages(
        order, begin, end, separation, bool(order.size > 1 and np.all(separation > 1))
    )
