"""How units grow near the fixed points of a linear network, and what each direction would learn."""

from typing import NamedTuple

import numpy as np

from lazyrich.theory._dust import parts_of
from lazyrich.theory._linear_fixed_points import EQUAL, LinearFixedPoints

NEARLY_EQUAL = 0.2
"""Modes whose μ differ by less than this share are learned in any mixture.

Among fixed points of equal μ nothing pulls a run towards one of them. At a relative difference δ it is
pulled at a rate of about δs/2, s being the rate at which it came, and a plateau lasts for ln(1/ε)/s. Measured
on pairs of modes, errors of times are smaller with mixtures than without below δ = 0.5 at ε = 1e-5, 0.3 at
1e-10 and 0.15 at 1e-20.
"""


class Saddle(NamedTuple):
    """How units grow near a fixed point: rates, largest first, and directions as columns (Eq. 32, 42).

    Of each growing direction also what it learns: a direction of the outputs (a column of `outputs`), the
    number of its mode, its μ, the share of the growing direction in it, and the logarithm of the size at
    which it stops. And what is learned already: modes and directions of the outputs.
    """

    rates: np.ndarray
    directions: np.ndarray
    outputs: np.ndarray
    modes: np.ndarray
    gains: np.ndarray
    shares: np.ndarray
    log_sizes: np.ndarray
    learned: tuple[int, ...]
    span: np.ndarray


class Saddles:
    """The saddles of a task, each computed when it is first visited."""

    def __init__(self, points: LinearFixedPoints):
        self._points, self._known = points, {}
        self._regression = points.map(range(points.num_modes))
        self._groups = _groups(points.eigenvalues)

    def first(self, units: np.ndarray) -> tuple[Saddle, np.ndarray]:
        """The saddle at zero, and the parts of units, one in each row, in its directions."""
        nothing = np.zeros((self._points.correlation.shape[0], 0))
        return self._reached((), nothing, units, np.eye(units.shape[1]))

    def after(self, saddle: Saddle, j: int, parts: np.ndarray) -> tuple[Saddle, np.ndarray]:
        """The saddle where a direction leads, and parts that were in the old directions in its own."""
        learned = (*saddle.learned, int(saddle.modes[j]))
        span = np.concatenate([saddle.span, saddle.outputs[:, j : j + 1]], axis=1)
        return self._reached(learned, span, parts, saddle.directions)

    def _reached(
        self, learned: tuple[int, ...], span: np.ndarray, parts: np.ndarray, before: np.ndarray
    ) -> tuple[Saddle, np.ndarray]:
        key = span.tobytes()
        if key not in self._known:
            S = self._points.correlation
            rates, directions = np.linalg.eigh(blocks(S - span @ (span.T @ S)))
            self._known[key] = self._saddle(rates[::-1], directions[:, ::-1], learned, span)
        saddle: Saddle = self._known[key]
        turned = self._turned(saddle, parts, before)
        if turned is not None:
            saddle = self._saddle(saddle.rates, turned, learned, span)
        return saddle, _carried(parts, before, saddle.directions)

    def _saddle(
        self, rates: np.ndarray, directions: np.ndarray, learned: tuple[int, ...], span: np.ndarray
    ) -> Saddle:
        E, mu = self._points.eigenvectors, self._points.eigenvalues
        growing = mu.size - len(learned)
        inside = np.sqrt(2) * E.T @ directions[: E.shape[0], :growing]  # (modes, directions)
        is_free = np.ones(mu.size, bool)
        is_free[list(learned)] = False
        shares = self._groups @ inside**2 * (self._groups @ is_free > 0)[:, None]
        chosen = self._groups[shares.argmax(axis=0)].T  # the modes of each direction's group
        inside = np.where(chosen, inside, 0)
        inside /= np.linalg.norm(inside, axis=0)
        outputs, gains = E @ inside, mu @ inside**2
        # equal modes are numbered as they are learned: which is which is a matter of the basis
        far = np.abs(mu[:, None] - gains) / mu[0]
        modes = np.where(chosen & is_free[:, None], far.round(9), np.inf).argmin(axis=0)
        log_sizes = np.log(np.linalg.norm(self._regression.T @ outputs, axis=0))
        return Saddle(rates, directions, outputs, modes, gains, shares.max(axis=0), log_sizes,
                      learned, span)  # fmt: skip

    def _turned(self, saddle: Saddle, parts: np.ndarray, before: np.ndarray) -> np.ndarray | None:
        """Directions that share a rate, turned to the axes of the units; None if there are none.

        Where the units are alike in all of them, they are turned to what gains most.
        """
        rates = saddle.rates[: saddle.modes.size]
        cuts = np.flatnonzero(-np.diff(rates) > EQUAL * rates[:1]) + 1
        shared = [block for block in np.split(np.arange(rates.size), cuts) if block.size > 1]
        if not shared:
            return None
        E, mu = self._points.eigenvectors, self._points.eigenvalues
        directions = saddle.directions.copy()
        for block in shared:
            V = directions[:, block]
            gain = np.sqrt(mu)[:, None] * (E.T @ V[: E.shape[0]])
            V = V @ np.linalg.svd(gain)[2].T
            _, lengths, axes = np.linalg.svd(_carried(parts, before, V), full_matrices=False)
            is_alike = lengths.size == block.size and np.ptp(lengths) <= EQUAL * lengths[0]
            directions[:, block] = V if is_alike else V @ axes.T
        return directions


def _carried(parts: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Parts in other directions; exact zeros of the overlap keep a small direction free of others."""
    return parts_of(parts, parts_of(before.T, after))


def _groups(mu: np.ndarray) -> np.ndarray:
    """Which modes belong together, shape (groups, modes): those with nearly the μ of the group's first."""
    numbers, first = [0], 0
    for k in range(1, mu.size):
        is_new = mu[k] < (1 - NEARLY_EQUAL) * mu[first]
        first = k if is_new else first
        numbers.append(numbers[-1] + is_new)
    return np.arange(numbers[-1] + 1)[:, None] == np.array(numbers)


def blocks(correlation: np.ndarray) -> np.ndarray:
    """The matrix of Eq. 32."""
    outputs, inputs = correlation.shape
    zeros = np.zeros
    return np.block(
        [[zeros((outputs, outputs)), correlation], [correlation.T, zeros((inputs, inputs))]]
    )
