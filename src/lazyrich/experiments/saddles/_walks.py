"""What runs did on their way from saddle to saddle, and the claims about it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyrich import measures, models
from lazyrich.core import Claim, Departure
from lazyrich.experiments._claims import mean_claim, share_claim

if TYPE_CHECKING:
    import xarray

ORDINALS = ("first", "second")
NEAR = 0.02
"""How near to a loss a run is that rests there; linear and ReLU networks come within 1 % of a saddle's."""


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
    """A claim on a share of runs, which the statement then says."""
    return share_claim(f"{statement} (share of runs)", source, hits, expected)


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
        "level": mean_claim("On the intermediate plateau the map is one that a single unit can express (loss "
                            f"over that of the trained network with one unit){when}",
                            f"{source}, Theorem 1", 1.0, saddle_ratios(result, found), tolerance=0.05),
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


def rank_one_claims(result: "xarray.Dataset", found: Sequence[Walk], source: str) -> list[Claim]:
    """Where units are linear at first but not homogeneous: one direction, which is not one unit."""
    one = float(result.one_unit_loss.min())
    levels = [w.plateaus.levels[min(1, w.plateaus.num_drops)] / one for w in found]
    shares = [_time_at(one, result.isel(seed=i), walk) for i, walk in enumerate(found)]
    return [
        share("After the first drop the weights of all units lie in one direction", source,
              [w.at_plateau.by_rank == 1 for w in found]),
        mean_claim("This is no manifold of one effective unit: the loss stops above the one at which a unit "
                   "rests (loss after the first drop over that of the trained network with one unit)",
                   f"{source}, Sec. 7", 1.05, levels, "at-least"),
        mean_claim(f"and does not rest there later (share of the time from the first drop to the last at "
                   f"which the loss is within {NEAR:.0%} of that of one unit)", f"{source}, Sec. 7", 0.25,
                   shares, "at-most"),
    ]  # fmt: skip


def _time_at(level: float, one: "xarray.Dataset", walk: Walk) -> float:
    """The share of the time between the first and the last drop at which a run's loss is near a level."""
    drops = walk.plateaus.drop_times
    if walk.plateaus.num_drops < 2:
        return np.nan
    between = one.loss.sel(time=slice(drops[0], drops[-1])).values
    return float(np.mean(np.abs(between / level - 1) <= NEAR))


def time_claims(
    found: Sequence[Walk], source: str, expected: Sequence[float],
    departures: Sequence[Departure | None] = (None, None), when: str = "",
) -> list[Claim]:  # fmt: skip
    """When the loss drops, against the times read off the authors' animations, to within 10 %.

    See `_animations` for where they come from, and how exact they are.
    """
    rested = [walk.plateaus for walk in found if walk.has_intermediate]
    return [
        mean_claim(f"The {word} drop comes at step {step:g}{when}", source, step,
                   [p.drop_times[i] for p in rested], tolerance=0.1, departure=departures[i])
        for i, (word, step) in enumerate(zip(ORDINALS, expected, strict=True))
    ]  # fmt: skip


def prediction_claims(
    found: Sequence[Walk], source: str, rule: str, predicted: Sequence[Any], tolerance: float
) -> list[Claim]:
    """When the loss drops, against what theory says of each run from its start, without a fit.

    Args:
        found: what the runs did; those that do not rest on their way are left out.
        source: of the prediction.
        rule: when the drop is to come, in words.
        predicted: the times of the first drops of each run, one or more; NaN where theory has none.
        tolerance: of the mean ratio.
    """
    pairs = [
        (w.plateaus.drop_times, p)
        for w, p in zip(found, predicted, strict=True)
        if w.has_intermediate
    ]
    return [
        mean_claim(f"The {word} drop comes {rule} (measured over predicted)", source, 1.0,
                   [times[i] / p[i] for times, p in pairs], tolerance=tolerance,
                   needs=None if np.isfinite(predicted).all() else "small starts")
        for i, word in enumerate(ORDINALS[: len(predicted[0])])
    ]  # fmt: skip


def mode_claim(found: Sequence[Walk], loss: float) -> Claim:
    """The loss on the intermediate plateau of a linear network, against that of the fixed point."""
    text = "The plateau lies at the loss of the fixed point with the first mode"
    levels = [walk.plateaus.levels[1] for walk in found if walk.has_intermediate]
    return mean_claim(text, "Lemma 6", loss, levels, tolerance=0.03)


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
    when: str = "",
) -> list[Claim]:
    """Where times depend on the start: the animation's lie within two standard deviations of the runs'."""
    rested = np.array(
        [walk.plateaus.drop_times for walk in found if walk.has_intermediate]
    ).reshape(-1, 2)
    spread = rested.std(axis=0, ddof=1) if len(rested) > 1 else np.full(2, np.nan)
    places = (np.array(expected) - rested.mean(axis=0)) / spread if len(rested) else spread
    return [
        Claim(
            f"The {word} drop comes at step {step:g}, within the spread over starts{when} (in standard "
            "deviations from the mean of all runs)", source, 0.0, float(place), "absolute", 2.0,
            num_seeds=len(rested), departure=departure,
        )
        for word, step, place in zip(ORDINALS, expected, places, strict=True)
    ]  # fmt: skip
