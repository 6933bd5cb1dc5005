"""Time along paths, by adaptive Gauss–Legendre quadrature, and its inverse."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.theory._quadratic_path import Paths
from lazyrich.theory._quadrature import legendre

NODES, SHARES = (array / 2 for array in legendre(16))
PRECISION = 1e-14
"""A panel's value and that of its halves may differ by this share, else it is halved."""
GRADES = 12
"""How often panels halve towards the ends of a path, before those that the integrand asks for."""
CHUNK = 2**14
"""Points that are treated at a time, to bound memory."""


class PathTimes(NamedTuple):
    """Time at the panels' edges, shape (units, edges). Rows that need fewer panels repeat their end."""

    paths: Paths
    edges: Any
    times: Any

    @property
    def total(self) -> Any:
        """Time at the end of each path."""
        return self.times[:, -1]

    def at(self, units: Any, q: Any) -> Any:
        """The time at which some units (integers) are at q, arrays of one axis."""
        panel = _find(self.edges, units, q)
        left = self.edges[units, panel]
        return self.times[units, panel] + _integrals(self.paths.take(units), left, q)

    def position(self, units: Any, time: Any) -> Any:
        """The q of some units (integers) at times, arrays of one axis; beyond its end a path goes on."""
        pieces = [slice(i, i + CHUNK) for i in range(0, len(units), CHUNK)]
        parts = [self._position(units[piece], time[piece]) for piece in pieces]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _position(self, units: Any, time: Any) -> Any:
        late = time - self.total[units]
        time = np.minimum(time, self.total[units])
        panel = _find(self.times, units, time)
        low, high = self.edges[units, panel], self.edges[units, panel + 1]
        begin, spent = self.times[units, panel], self.times[units, panel + 1]
        paths, left, rest = self.paths.take(units), low, time - begin
        q = low + (high - low) * np.clip(rest / np.maximum(spent - begin, 1e-300), 0, 1)
        for _ in range(100):
            excess, rate = _integrals(paths, left, q) - rest, paths.duration(q)
            low, high = np.where(excess < 0, q, low), np.where(excess < 0, high, q)
            newton = q - excess / rate
            new = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
            settled = (np.abs(new - q) <= 1e-15 * np.abs(new)) | (np.abs(excess) <= 4e-16 * time)
            q = np.where(settled, q, new)
            if np.all(settled):
                break
        return np.where(late > 0, paths.end + late / paths.duration(paths.end), q)


def path_times(paths: Paths) -> PathTimes:
    """Time along paths, from panels that are halved until they are exact to rounding."""
    units, left, right = _first_panels(paths)
    value = _integrals(paths.take(units), left, right)
    total = np.bincount(units, value, len(paths.sign))
    done = []
    for _ in range(100):
        middle = (left + right) / 2
        some = paths.take(units)
        halves = _integrals(some, left, middle), _integrals(some, middle, right)
        both = halves[0] + halves[1]
        exact = np.abs(both - value) <= PRECISION * (np.abs(both) + 1e-3 * total[units])
        done.append((units[exact], left[exact], right[exact], both[exact]))
        if np.all(exact):
            break
        rest = ~exact
        units = np.concatenate([units[rest], units[rest]])
        value = np.concatenate([halves[0][rest], halves[1][rest]])
        left, right = (
            np.concatenate([left[rest], middle[rest]]),
            np.concatenate([middle[rest], right[rest]]),
        )
    return _table(paths, *(np.concatenate(column) for column in zip(*done, strict=True)))


def _first_panels(paths: Paths) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Panels that get finer towards the beginning, and towards q = 0 from either side."""
    share = np.concatenate([[0.0], 0.5 ** np.arange(GRADES, -1, -1)])
    before = np.unique(np.concatenate([share, 1 - share]))
    edges = np.concatenate(
        [paths.begin[:, None] * before[:0:-1], paths.end[:, None] * share], axis=1
    )
    units = np.broadcast_to(np.arange(len(edges))[:, None], edges[:, 1:].shape)
    real = edges[:, 1:] > edges[:, :-1]
    return units[real], edges[:, :-1][real], edges[:, 1:][real]


def _integrals(paths: Paths, left: Any, right: Any) -> Any:
    """The time from left to right, one for each path."""
    width = right - left
    total = np.zeros_like(width)
    for node, share in zip(NODES, SHARES, strict=True):
        total += share * paths.duration(left + width * (0.5 + node))
    return width * total


def _table(paths: Paths, units: Any, left: Any, right: Any, value: Any) -> PathTimes:
    order = np.lexsort((left, units))
    units, right, value = units[order], right[order], value[order]
    first = np.searchsorted(units, np.arange(len(paths.sign)))
    column = np.arange(len(units)) - first[units] + 1
    edges = np.tile(paths.end[:, None], column.max(initial=0) + 1)
    spent = np.zeros_like(edges)
    edges[:, 0], edges[units, column], spent[units, column] = paths.begin, right, value
    return PathTimes(paths, edges, np.cumsum(spent, axis=1))


def _find(rows: Any, units: Any, value: Any) -> Any:
    """The panel of a value in the row of its unit, by bisection; the last real one for values beyond."""
    low, high = np.zeros(len(units), int), np.full(len(units), rows.shape[1] - 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        is_right = rows[units, middle] <= value
        low, high = np.where(is_right, middle, low), np.where(is_right, high, middle)
    return low
