"""Where a loss curve rests and where it drops."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, moderate, number, real, untraced
from lazyrich.measures._denoised import Denoised, denoised
from lazyrich.measures._dwell import resting_stretches
from lazyrich.measures._plateau_record import Plateaus
from lazyrich.measures._strays import SHARES, pause, stray

FEWEST_RECORDS = 8
"""Below, a plateau, a drop and a plateau cannot be told from a smooth fall."""
CONTRAST = 4.0
"""On a plateau the loss is at least this many times slower than in the drops on either side."""
REST = 0.5
"""Height of the band within which the loss rests, in units of the smallest drop.

Bands as high as a drop would reach from its middle far into the plateaus, and hide that it is fast.
"""
SIGNIFICANCE = 4.0
"""Drops, and rests between them, count if they exceed what the noise may fake by so many standard errors."""


@untraced
def plateaus(
    time: Any, loss: Any, *, smallest_drop: float = 0.02, shortest: float = 2.0
) -> Plateaus:
    """The plateaus of one loss curve and the drops between them.

    On a plateau the loss is at least four times slower than in the drops on either side, and it lasts at
    least as long as these. Both is judged in time and, between drops, also in log time; the clock that
    speaks for the plateau decides. The start is judged in time alone, as in log time every curve starts
    flat. The end counts as a plateau, one, if the loss moved by less than `smallest_drop` in the second half
    of the time since the last drop: an exponential decay ends on a plateau at 0, a power law does once little
    is left. Steps and logarithmic grids both do; time may start at 0; rises count as drops of negative size.
    Where the loss turns without a rest, by more than a drop, the turn is a level that is no plateau.

    A plateau needs three records; a stair with fewer may be taken for a part of the fall.

    Drops that are too small to count are joined. They make the uncertainties of levels and drop times as
    large as they are high or far apart, and are printed: the plateau `moves`, the drop `pauses`. To see them
    one by one, lower `smallest_drop`.

    Noise is estimated from the record, also where it depends on the level, and drops that it may fake do not
    count. It must be independent from record to record: thin a running average by its window before.
    Single spikes are ignored.

    Args:
        time: recorded times ≥ 0, increasing, shape (time,), at least 8.
        loss: recorded losses, shape (time,). For many runs, call once for each.
        smallest_drop: the smallest drop that counts, as a share of the largest loss, which is the initial
            one of a falling curve. If it starts far above what can be learned in steps, lower this.
        shortest: the least duration of a plateau, from 75 % of the drop before to 25 % of the drop after,
            in units of the middle half of the longer of these drops. A steady fall has 1; 2 separates two
            logistic drops by about half their total width.

    Returns:
        Levels, drops, and their uncertainties.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import plateaus
        >>> time = np.arange(0, 2001, 10)
        >>> loss = 0.5 / (1 + np.exp((time - 500) / 20)) + 0.5 / (1 + np.exp((time - 1400) / 20))
        >>> print(plateaus(time, loss))
        3 plateaus, 2 drops of at least 0.02
          plateau  from 0 to 455.5, loss 1 ± 7e-08
          drop     at 500 ± 3, by 0.5
          plateau  from 544.4 to 1356, loss 0.5 ± 1e-07
          drop     at 1400 ± 3, by 0.5
          plateau  from 1444 to 2000, loss 1.9e-09 ± 4e-09
    """
    t, y = _record(time, loss)
    share = number("smallest_drop", smallest_drop, at_least=1e-4, below=1, advice="Use 0.02.")
    least = number("shortest", shortest, above=0, advice="Use 2, the default.")
    unit = float(np.max(np.abs(y))) or 1.0  # neither 1e-300 nor 1e300 shall be squared
    curve = denoised(y / unit)
    band = share * (float(np.max(np.abs(curve.mean))) or 1.0)
    levels = _levels(_Record(t, curve, band), least)
    return _result(_Record(t, curve, band), levels, unit)


class _Record(NamedTuple):
    time: np.ndarray
    curve: Denoised
    band: float
    """The smallest drop that counts."""


class _Level(NamedTuple):
    """A stretch of records, or a single one at an end where the curve moves."""

    first: int
    last: int
    middle: int
    loss: float
    uncertainty: float
    error: float
    """Standard error of the mean over all its records."""
    rests: bool
    slope: float = 0.0
    """Size of the rate at which it moves, noise left out, where it moves least."""
    stray: float = 0.0


class _Drop(NamedTuple):
    time: float
    uncertainty: float
    size: float
    speed: float
    """Of its middle half."""
    quarters: tuple[float, float]
    """When 25 % and 75 % are done."""
    half: tuple[float, float]
    """Shortest durations of half the drop, in time and in log time: also of a drop that pauses on its way."""
    tenths: tuple[float, float]
    """When 10 % and 90 % are done."""
    pause: float


def _record(time: Any, loss: Any) -> tuple[np.ndarray, np.ndarray]:
    t = moderate("time", time, at_least=0, advice="Pass the recorded times.")
    y = real("loss", loss, advice="Remove or repair non-finite records first.")
    if t.ndim != 1 or t.size < FEWEST_RECORDS:
        requirement = f"have the shape (time,) with at least {FEWEST_RECORDS} entries"
        raise argument_error("time", requirement, t.shape, "Record more often.")
    if y.shape != t.shape:
        advice = "For many runs, call once for each." if y.ndim > 1 else ""
        raise argument_error("loss", f"have the shape {t.shape} of `time`", y.shape, advice)
    if np.any(np.diff(t) <= 0):
        i = int(np.argmax(np.diff(t) <= 0)) + 1
        got = f"{t[i]:g} at index {i} after {t[i - 1]:g}"
        raise argument_error("time", "increase strictly", got, "Sort the records.")
    return t, y


def _levels(record: _Record, shortest: float) -> list[_Level]:
    """Candidates, of which alike neighbours are joined and short ones dropped until all are sound."""
    found = _candidates(record)
    while True:
        levels = _with_ends(record, found)
        pair = _most_alike(record, levels)
        if pair is not None:
            joined = _rest(record, pair[0].first, pair[1].last)
            found = sorted([level for level in found if level not in pair] + [joined])
            continue
        levels = _with_turns(record, levels)
        short = _shortest_unsound(record, levels, shortest)
        if short is None:
            return levels
        found.remove(short)


def _with_turns(record: _Record, levels: list[_Level]) -> list[_Level]:
    """Levels, and between two of them where the curve lies beyond both, by more than a drop or noise."""
    whole = levels[:1]
    for before, after in itertools.pairwise(levels):
        turn = _turn(record, before, after)
        between = [] if turn is None else _with_turns(record, [before, turn, after])[1:-1]
        whole += [*between, after]
    return whole


def _turn(record: _Record, before: _Level, after: _Level) -> _Level | None:
    curve = record.curve
    inside = np.arange(before.last + 1, after.first)
    if not inside.size:
        return None
    mean, low, high = curve.mean[inside], *sorted((before.loss, after.loss))
    beyond = np.maximum(low - mean, mean - high)
    noise = np.sqrt(curve.error[inside] ** 2 + before.error**2 + after.error**2)
    excess = beyond / np.maximum(record.band, SIGNIFICANCE * noise)
    i = int(inside[np.argmax(excess)])
    return _at(curve, i) if np.max(excess) > 1 else None


def _at(curve: Denoised, i: int) -> _Level:
    """A level at one record, where the curve does not rest."""
    # local means lag behind where the curve moves on one side only, by up to the noise of a record
    uncertainty = max(float(curve.noise[i]), float(curve.error[i]))
    return _Level(i, i, i, float(curve.mean[i]), uncertainty, float(curve.error[i]), False)


def _candidates(record: _Record) -> list[_Level]:
    t, curve, band = record
    logarithmic = np.log(np.where(t > 0, t, 1.0))
    if t[0] == 0:
        logarithmic[0] = 2 * logarithmic[1] - logarithmic[2]
    stretches = resting_stretches(t, curve.mean, curve.error, REST * band, CONTRAST)
    in_log = resting_stretches(logarithmic, curve.mean, curve.error, REST * band, CONTRAST)
    stretches += [stretch for stretch in in_log if stretch[0] > 0]
    chosen: list[tuple[int, int]] = []
    for a, b in sorted(stretches, key=lambda stretch: stretch[0] - stretch[1]):  # longest first
        if all(b < first or a > last for first, last in chosen):
            chosen.append((a, b))
    return [_rest(record, a, b) for a, b in sorted(chosen)]


def _rest(record: _Record, first: int, last: int) -> _Level:
    """A plateau; its level is the mean over the half of its records in which the curve moves least."""
    t, curve, _ = record
    half = (last - first + 2) // 2
    windows = np.lib.stride_tricks.sliding_window_view(curve.mean[first : last + 1], half)
    motion = np.ptp(windows, axis=-1)
    flattest = np.flatnonzero(motion <= np.min(motion) * (1 + 1e-9))
    a = first + int(flattest[flattest.size // 2])
    core, noise = curve.records[a : a + half], curve.noise[a : a + half]
    drift = np.mean(core[: (half + 1) // 2]) - np.mean(core[half // 2 :])
    # a steady drift over the core is twice that between its halves; its spread, that over √12
    uncertainty = np.hypot(_mean_error(noise), drift / np.sqrt(3))
    error = _mean_error(curve.noise[first : last + 1])
    middle = a + (half - 1) // 2
    between = (t[a + half - 1] - t[a]) / 2 or np.inf
    slope = max(abs(drift) - 2 * SIGNIFICANCE * _mean_error(noise), 0.0) / between
    level = float(np.mean(core))
    return _Level(first, last, middle, level, float(uncertainty), error, True, float(slope))


def _mean_error(noise: np.ndarray) -> float:
    return float(np.sqrt(np.sum(noise**2)) / noise.size)


def _with_ends(record: _Record, found: list[_Level]) -> list[_Level]:
    """Levels at the first and last record, too, where no plateau reaches them."""
    curve, last = record.curve, record.time.size - 1
    before = [] if found and found[0].first == 0 else [_at(curve, 0)]
    after = [] if found and found[-1].last == last else [_at(curve, last)]
    return before + found + after


def _most_alike(record: _Record, levels: list[_Level]) -> tuple[_Level, _Level] | None:
    """Neighbours whose difference is too small to count as a drop, or may be noise.

    Two plateaus are one if only a burst parts them; an end that does not rest is not where the loss turns.
    """

    def size(pair: tuple[_Level, _Level]) -> float:
        noise = SIGNIFICANCE * np.hypot(pair[0].error, pair[1].error)
        return float(abs(pair[0].loss - pair[1].loss) / max(record.band, noise))

    pairs = [
        (a, b)
        for a, b in itertools.pairwise(levels)
        if (a.rests and b.rests) or _turn(record, a, b) is None
    ]
    pair = min(pairs, key=size, default=None)
    return pair if pair is not None and size(pair) < 1 else None


def _shortest_unsound(record: _Record, levels: list[_Level], shortest: float) -> _Level | None:
    """The shortest first: what is left of its drop may make its neighbours sound."""
    drops = [_drop(record, *pair) for pair in itertools.pairwise(levels)]
    unsound = []
    for i, level in enumerate(levels):
        around = drops[max(i - 1, 0) : i + 1]
        if not level.rests or not around:
            continue
        if i == len(drops):
            sound = _has_ended(record, around[-1])
        else:
            sound = _lasts(record, around, i == 0, shortest) and _is_flat(record, level, around)
        if not sound:
            unsound.append(level)
    return min(unsound, key=lambda level: level.last - level.first, default=None)


def _has_ended(record: _Record, drop: _Drop) -> bool:
    """Nothing worth counting happened in the second half of the time since the last drop."""
    t, curve, band = record
    half = min(int(np.searchsorted(t, (drop.time + t[-1]) / 2)), t.size - 1)
    noise = 2 * np.hypot(curve.error[half], curve.error[-1])
    return bool(abs(curve.mean[half] - curve.mean[-1]) <= band + noise)


def _lasts(record: _Record, around: list[_Drop], at_start: bool, shortest: float) -> bool:
    """Long enough beside the drops around it, in time or in log time."""
    start = record.time[0] if at_start else around[0].quarters[1]
    end = around[-1].quarters[0]
    if end - start >= shortest * max(drop.half[0] for drop in around):
        return True
    if at_start or start <= 0:
        return False
    return bool(np.log(end / start) >= shortest * max(drop.half[1] for drop in around))


def _is_flat(record: _Record, level: _Level, around: list[_Drop]) -> bool:
    """Whether the loss, had it gone on falling as around, would have fallen by more than noise hides."""
    duration = record.time[level.last] - record.time[level.first]
    missed = min(drop.speed for drop in around) * duration
    n = level.last - level.first + 1
    noise = level.error * np.sqrt(12 * (n - 1) / (n + 1))  # of a fitted line's fall over n records
    return bool((1 - 1 / CONTRAST) * missed >= SIGNIFICANCE * noise)


def _drop(record: _Record, before: _Level, after: _Level) -> _Drop:
    t, curve, _ = record
    fall = before.loss - after.loss

    def crossing(values: np.ndarray, share: float) -> tuple[float, int]:
        return _crossing(t, values, before.middle, after.middle, before.loss - share * fall, fall)

    middle, i = crossing(curve.records, 0.5)
    quarters = (crossing(curve.records, 0.25)[0], crossing(curve.records, 0.75)[0])
    tenths = (crossing(curve.mean, 0.1)[0], crossing(curve.mean, 0.9)[0])
    cell = t[i + 1] - t[i]
    speed = abs(fall) / 2 / max(quarters[1] - quarters[0], cell / 2)  # the grid resolves no more
    noise = float(np.max(curve.noise[max(i - 1, 0) : i + 3]))
    # where an increasing regression passes a level: Chernoff's distribution, standard deviation 0.52
    wander = 0.52 * (4 * (noise / speed) ** 2 * cell) ** (1 / 3)
    misplaced = np.hypot(before.uncertainty, after.uncertainty) / 2 / speed
    shares = np.array([crossing(curve.mean, share)[0] for share in SHARES])
    pauses = pause(shares, wander, CONTRAST)
    uncertainty = np.sqrt(cell**2 / 12 + wander**2 + misplaced**2 + pauses**2 / 4)
    half = _shortest_half(t, curve.mean, before.middle, after.middle, fall, quarters)
    return _Drop(middle, float(uncertainty), fall, speed, quarters, half, tenths, pauses)


def _shortest_half(
    t: np.ndarray,
    mean: np.ndarray,
    first: int,
    last: int,
    fall: float,
    quarters: tuple[float, float],
) -> tuple[float, float]:
    """The shortest durations in which the curve falls by half of a drop, in time and in log time."""
    least = quarters[1] - quarters[0]
    least_log = np.log(quarters[1] / quarters[0]) if quarters[0] > 0 else np.inf
    depth = np.maximum.accumulate(np.sign(fall) * (mean[first] - mean[first : last + 1]))
    times = t[first : last + 1]
    begins = np.flatnonzero(depth <= depth[-1] - abs(fall) / 2)
    ends = np.interp(depth[begins] + abs(fall) / 2, depth, times)
    if begins.size:
        least = min(least, float(np.min(ends - times[begins])))
        late = times[begins] > 0
        if np.any(late):
            least_log = min(least_log, float(np.min(np.log(ends[late] / times[begins][late]))))
    return least, float(least_log)


def _crossing(
    t: np.ndarray, values: np.ndarray, first: int, last: int, level: float, fall: float
) -> tuple[float, int]:
    """When the decreasing curve that fits best passes a level, and the record before; jitter does not matter.

    That curve passes where the sum of the excess over the level is largest, and without noise where the
    curve itself does.
    """
    excess = np.sign(fall) * (values[first : last + 1] - level)
    k = int(np.argmax(np.cumsum(excess)[:-1]))
    above, below, i = excess[k], excess[k + 1], first + k
    share = above / (above - below) if above >= 0 >= below and above > below else 0.5
    if t[i] > 0:
        return float(t[i] * (t[i + 1] / t[i]) ** share), i
    return float(t[i] + share * (t[i + 1] - t[i])), i


def _result(record: _Record, levels: list[_Level], unit: float) -> Plateaus:
    t = record.time
    drops = [_drop(record, *pair) for pair in itertools.pairwise(levels)]
    starts = np.array([t[0], *(drop.tenths[1] for drop in drops)])
    ends = np.array([*(drop.tenths[0] for drop in drops), t[-1]])
    for i, level in enumerate(levels):
        if not level.rests:
            starts[i] = ends[i] = t[level.middle]
    tails = np.array([0.0, *(np.sign(drop.size) for drop in drops), 0.0])
    levels = [
        _with_stray(record, level, (starts[i], ends[i]), (tails[i], -tails[i + 1]))
        for i, level in enumerate(levels)
    ]
    drops = [_drop(record, *pair) for pair in itertools.pairwise(levels)]
    return Plateaus(
        levels=unit * np.array([level.loss for level in levels]),
        level_uncertainties=unit * np.array([level.uncertainty for level in levels]),
        starts=starts,
        ends=ends,
        drop_times=np.array([drop.time for drop in drops]),
        drop_time_uncertainties=np.array([drop.uncertainty for drop in drops]),
        drop_sizes=unit * np.array([drop.size for drop in drops]),
        rests=np.array([level.rests for level in levels]),
        strays=unit * np.array([level.stray for level in levels]),
        pauses=np.array([drop.pause for drop in drops]),
        smallest_drop=unit * record.band,
    )


def _with_stray(
    record: _Record, level: _Level, span: tuple[float, float], tails: tuple[float, float]
) -> _Level:
    """The level, uncertain by how the curve moves between its start and its end."""
    t, curve, _ = record
    if not level.rests:
        return level
    a = min(int(np.searchsorted(t, span[0])), level.middle)
    b = max(int(np.searchsorted(t, span[1], side="right")), level.middle + 1)
    departure, error = curve.mean[a:b] - level.loss, np.hypot(curve.error[a:b], level.error)
    final, spread = stray(t[a:b], departure, error, level.middle - a, level.slope, tails)
    # with a drop that does not count within, the loss is within two uncertainties on either side of it
    uncertainty = max(level.uncertainty, final / 2, spread)
    return level._replace(uncertainty=uncertainty, stray=final)
