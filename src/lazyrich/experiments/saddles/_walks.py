"""What runs did on their way from saddle to saddle, and the claims about it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lazyrich import measures, models
from lazyrich.core import Claim, Departure

if TYPE_CHECKING:
    import xarray

ORDINALS = ("first", "second")


@dataclasses.dataclass(frozen=True)
class Walk:
    """What a run did: its plateaus, and its layer at the middle of the intermediate one and at the end."""

    plateaus: "measures.Plateaus"
    middle: int
    at_plateau: "measures.EffectiveWidth"
    at_end: "measures.EffectiveWidth"

    @property
    def has_intermediate(self) -> bool:
        """Whether the loss rested once between its start and its end."""
        return self.plateaus.num_drops == 2


def walks(
    result: "xarray.Dataset", kind: "models.UnitKind | None", *, early: bool = False
) -> list[Walk]:
    """What each seed's run did; with `early` the moment to look at is right after the first drop."""
    return [_walk(result.isel(seed=i), kind, early) for i in range(result.sizes["seed"])]


def _walk(one: "xarray.Dataset", kind: "models.UnitKind | None", early: bool) -> Walk:
    found = measures.plateaus(one.time.values, one.loss.values)
    level = min(1, found.num_drops)
    moment = found.starts[level] if early else (found.starts[level] + found.ends[level]) / 2
    middle = int(np.argmin(np.abs(one.time.values - moment)))
    widths = [
        measures.effective_width(one.incoming.values[i], one.outgoing.values[i], kind=kind)
        for i in (middle, -1)
    ]
    return Walk(found, middle, *widths)


def shown(found: Sequence[Walk]) -> int:
    """The run to draw: of those with an intermediate plateau, the one that rests for the median time."""
    rests = np.array(
        [
            w.plateaus.drop_times[1] - w.plateaus.drop_times[0] if w.has_intermediate else -1
            for w in found
        ]
    )
    good = np.flatnonzero(rests >= 0) if np.any(rests >= 0) else np.arange(len(found))
    return int(good[np.argsort(rests[good], kind="stable")[len(good) // 2]])


def share(statement: str, source: str, hits: Sequence[bool], expected: float = 1.0) -> Claim:
    """A claim on the share of runs of which something is true."""
    measured = float(np.mean(hits)) if len(hits) else np.nan
    num, error = len(hits), float(np.sqrt(measured * (1 - measured) / max(len(hits), 1)))
    return Claim(
        f"{statement} (share of runs)", source, expected, measured, "at-least",
        uncertainty=error, num_seeds=num,
    )  # fmt: skip


def mean(
    statement: str, source: str, expected: float, values: Sequence[float], tolerance: float
) -> Claim:
    """A claim on a mean over runs, relative."""
    each = np.asarray(values, dtype=float)
    error = each.std(ddof=1) / np.sqrt(each.size) if each.size > 1 else np.nan
    measured = each.mean() if each.size else np.nan
    return Claim(
        statement, source, expected, float(measured), "relative", tolerance,
        uncertainty=float(error), num_seeds=int(each.size),
    )  # fmt: skip


def saddle_ratios(result: "xarray.Dataset", found: Sequence[Walk]) -> list[float]:
    """Loss on the intermediate plateau over the nearest loss at which one unit comes to rest, by run."""
    ratios: list[float] = []
    rests = result.one_unit_loss.values
    for level in (walk.plateaus.levels[1] for walk in found if walk.has_intermediate):
        ratios.append(float(level / rests[np.argmin(np.abs(rests - level))]))
    return ratios


def walk_claims(
    result: "xarray.Dataset", found: Sequence[Walk], construction: str, source: str,
    *, every: bool = True, departures: Mapping[str, Departure] | None = None, when: str = "",
) -> list[Claim]:  # fmt: skip
    """What the paper says of every panel: a plateau, there one effective unit, two in the end.

    Args:
        result: the panel's result, for the losses at which one unit rests.
        found: what the runs did.
        construction: which of Eq. 5 to 7.
        source: the panel.
        every: whether widths are claimed of every run, or of the median one.
        departures: of `rests`, `level`, `plateau`, `end`, `construction`, as far as there are any.
        when: words added to each statement.
    """
    rested = [walk for walk in found if walk.has_intermediate]
    departures = departures or {}
    claims = {
        "rests": share(f"The loss rests once on its way{when}", source, [w.has_intermediate for w in found],
                       1.0 if "rests" in departures else 0.9),
        "level": mean("On the intermediate plateau the map is one that a single unit can express (loss over "
                      f"that of the trained network with one unit){when}", f"{source}, Theorem 1", 1.0,
                      saddle_ratios(result, found), 0.05),
        "plateau": _width(f"On the plateau the effective width is one{when}", source, 1,
                          [w.at_plateau.width for w in rested], every),
        "end": _width(f"In the end it is two{when}", source, 2, [w.at_end.width for w in rested], every),
        "construction": share(f"By {_WORDS[construction]}{when}", f"{source}, Sec. 3",
                              [w.at_end.construction == construction for w in rested], 1.0 if every else 0.5),
    }  # fmt: skip
    return [
        dataclasses.replace(claim, departure=departures.get(name)) for name, claim in claims.items()
    ]


def _width(text: str, source: str, width: int, found: Sequence[int], every: bool) -> Claim:
    if every:
        return share(text, source, [one == width for one in found])
    median = float(np.median(found)) if len(found) else np.nan
    return Claim(
        f"{text} (median over runs)", source, width, median, "absolute", num_seeds=len(found)
    )


_WORDS = {
    "dependent": "rank: the two are directions that all units share (Eq. 7)",
    "proportional": "rays: the two are rays of proportional weights (Eq. 6)",
    "zero": "units: the two are units with large weights, all others near zero (Eq. 5)",
}


def rank_one_claims(found: Sequence[Walk], source: str) -> list[Claim]:
    """Where units are linear at first but not homogeneous: one direction, which is not one unit."""
    return [
        share("After the first drop the weights of all units lie in one direction", source,
              [w.at_plateau.by_rank == 1 for w in found]),
        Claim("This is no manifold of one effective unit: more are needed (median over runs)",
              f"{source}, Sec. 7", 2, float(np.median([w.at_plateau.width for w in found])), "at-least",
              num_seeds=len(found)),
    ]  # fmt: skip


def time_claims(
    found: Sequence[Walk], source: str, expected: Sequence[float],
    departures: Sequence[Departure | None] = (None, None), when: str = "",
) -> list[Claim]:  # fmt: skip
    """When the loss drops, against the times read off the authors' animations, to within 10 %."""
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return [
        dataclasses.replace(
            mean(f"The {word} drop comes at step {step:g}{when}", source, step,
                 [p.drop_times[i] for p in rested], 0.1),
            departure=departures[i],
        )
        for i, (word, step) in enumerate(zip(ORDINALS, expected, strict=True))
    ]  # fmt: skip


def early_claims(
    found: Sequence[Walk], less: Sequence[Walk], source: str, expected: Sequence[float],
    pinned: Sequence[float],
) -> list[Claim]:  # fmt: skip
    """Where drops come early: the times found are pinned, and smaller initial weights explain them."""
    reason = (
        "with the settings as printed both drops come 14 to 18 % early; initial weights eight times smaller "
        "would explain both, see the claims that follow"
    )
    departures = [Departure(reason, step, 0.035 * step) for step in pinned]
    return [
        *time_claims(found, source, expected, departures),
        *time_claims(less, source, expected, when=" from weights eight times smaller"),
    ]


def spread_claims(
    found: Sequence[Walk],
    source: str,
    expected: Sequence[float],
    departure: Departure | None = None,
) -> list[Claim]:
    """Where times depend on the start: the animation's lie within two standard deviations of the runs'."""
    rested = np.array(
        [walk.plateaus.drop_times for walk in found if walk.has_intermediate]
    ).reshape(-1, 2)
    spread = rested.std(axis=0, ddof=1) if len(rested) > 1 else np.full(2, np.nan)
    places = (np.array(expected) - rested.mean(axis=0)) / spread if len(rested) else spread
    return [
        Claim(
            f"The {word} drop comes at step {step:g}, within the spread over starts (in standard deviations "
            "from the mean of all runs)", source, 0.0, float(place), "absolute", 2.0, num_seeds=len(rested),
            departure=departure,
        )
        for word, step, place in zip(ORDINALS, expected, places, strict=True)
    ]  # fmt: skip
