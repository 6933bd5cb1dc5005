"""What is found on a loss curve: levels and drops, and how they print."""

import dataclasses

import numpy as np

from lazyrich.measures._rounded import rounded

WORTH_SAYING = 0.05
"""Motion on a plateau is printed above this share of the smallest drop."""


@dataclasses.dataclass(frozen=True, eq=False)
class Plateaus:
    """The levels between which a loss curve drops. There is one more level than there are drops.

    A curve that falls from the start has no first plateau: its first level is the loss at the first record,
    with that time as start and end. Likewise the last level of a curve that still moves when the record ends,
    and a level at which it turns, as a test loss does that rises again, without a rest. Printing gives a
    table.
    """

    levels: np.ndarray
    """Loss at each level, shape (drops + 1,)."""
    level_uncertainties: np.ndarray
    """Their uncertainties: noise, and how the loss moves on the plateau (`strays`)."""
    starts: np.ndarray
    """When 90 % of the drop before is done; the first record for the first level."""
    ends: np.ndarray
    """When 10 % of the drop after is done; the last record for the last level."""
    drop_times: np.ndarray
    """When the loss is half-way between two levels, shape (drops,)."""
    drop_time_uncertainties: np.ndarray
    """Their uncertainties: the grid, noise divided by slope, and half of the `pauses`."""
    drop_sizes: np.ndarray
    """By how much the loss drops; negative where it rises."""
    rests: np.ndarray
    """Which levels are plateaus, shape (drops + 1,); others are ends at which the loss moves, and turns."""
    strays: np.ndarray
    """How far the loss moves away from each level, noise and the tails of the drops around left out.

    Not zero where it drifts, and where drops that are too small to count are joined to one plateau. The
    level is that of the half that moves least. Bursts after which the loss returns do not count here.
    """
    pauses: np.ndarray
    """For how long each drop pauses as it consists of several that are too small to count; mostly 0."""
    smallest_drop: float
    """The smallest drop that counted, as a loss."""

    @property
    def starts_on_plateau(self) -> bool:
        """Whether the first level is a plateau."""
        return bool(self.rests[0])

    @property
    def ends_on_plateau(self) -> bool:
        """Whether the last level is a plateau: learning has ended."""
        return bool(self.rests[-1])

    @property
    def num_drops(self) -> int:
        """How many drops there are."""
        return self.drop_times.size

    @property
    def num_plateaus(self) -> int:
        """How many levels are plateaus, those at the start and at the end included."""
        return int(np.sum(self.rests))

    def __str__(self) -> str:
        counts = f"{_plural(self.num_plateaus, 'plateau')}, {_plural(self.num_drops, 'drop')}"
        lines = [f"{counts} of at least {self.smallest_drop:.2g}"]
        for i in range(self.levels.size):
            lines.append(self._level_in_words(i))
            if i < self.num_drops:
                lines.append(self._drop_in_words(i))
        return "\n".join(lines)

    def _level_in_words(self, i: int) -> str:
        loss = f"loss {rounded(self.levels[i], self.level_uncertainties[i])}"
        if self.rests[i]:
            moves = f", moves by {self.strays[i]:.2g}" if self._moves(i) else ""
            return f"  plateau  from {self.starts[i]:.4g} to {self.ends[i]:.4g}, {loss}{moves}"
        if i == 0:
            return f"  start    {self._motion(i)} from {self.starts[i]:.4g}, {loss}"
        if i == self.num_drops:
            return f"  end      still {self._motion(i - 1)} at {self.ends[i]:.4g}, {loss}"
        return f"  turn     at {self.starts[i]:.4g}, {loss}"

    def _drop_in_words(self, i: int) -> str:
        when = rounded(self.drop_times[i], self.drop_time_uncertainties[i])
        kind = "drop " if self.drop_sizes[i] > 0 else "rise "
        pauses = f", pauses for {self.pauses[i]:.2g}" if self.pauses[i] else ""
        return f"  {kind}    at {when}, by {abs(self.drop_sizes[i]):.3g}{pauses}"

    def _moves(self, level: int) -> bool:
        """Worth a word: not what is as small as the threshold makes any plateau."""
        return bool(self.strays[level] > WORTH_SAYING * self.smallest_drop)

    def _motion(self, drop: int) -> str:
        return "falling" if self.drop_sizes[drop] > 0 else "rising"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
