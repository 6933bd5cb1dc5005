"""What drops that are too small to count leave in a curve: strays from levels, and pauses in drops."""

import numpy as np

SIGNIFICANCE = 4.0
"""Motion counts if it exceeds the noise by so many standard errors."""
SHORTEST_REST = 3
"""Records for which the curve must be away from a level."""
GOOD_PART = 0.25
"""Share of a departure that is no tail, from which on none of it is."""
SHARES = np.arange(1, 10) / 10
"""A drop is looked at in tenths of its size."""


def stray(
    time: np.ndarray,
    departure: np.ndarray,
    error: np.ndarray,
    middle: int,
    slope: float,
    tails: tuple[float, float],
) -> tuple[float, float]:
    """How far a curve moves away from its level for good, and its spread about it; tails of drops left out.

    The tail of a drop leaves the level faster and faster: it is convex. So what lies above the largest convex
    curve that fits below is no tail, and nor is what goes on as steadily as in the middle of the plateau.
    Bursts that return are not for good; the spread, a root mean square over records, has them.

    Args:
        time: of the records of the plateau.
        departure: of the curve from the level, with its sign.
        error: standard errors of that.
        middle: record in the middle of the part that moves least.
        slope: at which the curve moves in that part, ≥ 0.
        tails: signs of the departures by which drops begin to the left and right; 0 where the record ends.
    """
    beyond = np.maximum(np.abs(departure) - SIGNIFICANCE * error, 0.0)
    final, squares = 0.0, 0.0
    for side, sign in zip((slice(middle, None, -1), slice(middle, None)), tails, strict=True):
        distance, away = np.abs(time[side] - time[middle]), beyond[side]
        direction = sign or np.sign(departure[side][-1])
        along = np.where(direction * departure[side] > 0, away, 0.0)
        convex = abs(sign) * _convex_below(distance, along)
        tail = convex - np.minimum(convex, slope * distance)
        final = max(final, _lasting(_least_from_here(along), tail))
        squares += float(np.sum((away - tail)[1:] ** 2))
    return final, float(np.sqrt(squares / time.size))


def _lasting(away: np.ndarray, tail: np.ndarray) -> float:
    """How far the curve is away where it rests above the tail.

    Neighbours must share it: a tail with noise, or on an uneven grid, has kinks. Several small drops, each
    smaller than the one before, are nearly convex together; so all counts where a good part is no tail.
    """
    window = min(SHORTEST_REST, away.size)
    excess, whole = (
        np.min(np.lib.stride_tricks.sliding_window_view(values, window), axis=-1)
        for values in (away - tail, away)
    )
    return float(np.max(np.where(excess >= GOOD_PART * whole, whole, excess)))


def _least_from_here(values: np.ndarray) -> np.ndarray:
    return np.minimum.accumulate(values[::-1])[::-1]


def _convex_below(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The largest convex function of x ≥ 0, increasing, that nowhere exceeds y."""
    corners: list[int] = []
    for i in range(x.size):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.interp(x, x[corners], y[corners])


def pause(crossings: np.ndarray, wander: float, contrast: float) -> float:
    """For how long a drop pauses: excess durations of tenths that are slow beside faster ones on both sides.

    A single drop is fastest somewhere and slower before and after, so it has none.

    Args:
        crossings: when each of `SHARES` of the drop is done.
        wander: by how much noise displaces a crossing.
        contrast: how many times slower a tenth must be.
    """
    duration = np.diff(crossings)
    total = 0.0
    for i in range(1, duration.size - 1):
        beside = max(np.min(duration[:i]), np.min(duration[i + 1 :]), 0.0)
        if duration[i] > contrast * beside + SIGNIFICANCE * wander:
            total += float(duration[i] - beside)
    return total
