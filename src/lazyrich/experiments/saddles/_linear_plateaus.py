"""Descent of a two-layer linear network: how fast it leaves its first two plateaus."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lazyrich import measures

if TYPE_CHECKING:
    from lazyrich.theory import LinearFixedPoints


class Moments(NamedTuple):
    """Second moments in the eigenbasis of the inputs: then a step costs no matrix of all inputs."""

    eigenvalues: np.ndarray  # (inputs,) of Σ_xx
    correlation: np.ndarray  # (inputs, outputs)
    basis: np.ndarray  # columns are eigenvectors
    output_power: float  # Tr Σ_yy

    @staticmethod
    def of(points: "LinearFixedPoints") -> "Moments":
        """The moments behind fixed points."""
        nu, Q = np.linalg.eigh(points.covariance)
        return Moments(np.maximum(nu, 0), (points.correlation @ Q).T, Q, float(points.output_power))


class Descent(NamedTuple):
    """A record of every step, over runs and steps; the maps' two singular values."""

    loss: np.ndarray
    largest: np.ndarray
    second: np.ndarray


def descend(
    moments: Moments, first: np.ndarray, second: np.ndarray, rate: float, num_steps: int
) -> Descent:
    """Full-batch descent on ½⟨‖y − f‖²⟩ from weights of shape (runs, inputs, units), (runs, units, 2)."""
    nu, B = moments.eigenvalues[:, None], moments.correlation
    U, V = first, second
    records = []
    for _ in range(num_steps):
        W = U @ V
        R = B - nu * W
        loss = (moments.output_power - np.sum((B + R) * W, axis=(1, 2))) / 2
        records.append((loss, *_singular_values(W)))
        U, V = U + rate * R @ V.mT, V + rate * U.mT @ R
    return Descent(*(np.stack(values, axis=1) for values in zip(*records, strict=True)))


def _singular_values(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of matrices with two columns; the smaller as area over the larger, which loses no digits."""
    a, b = W[..., 0], W[..., 1]
    aa, ab, bb = (np.sum(x * y, axis=-1) for x, y in ((a, a), (a, b), (b, b)))
    largest = np.sqrt((aa + bb) / 2 + np.hypot((aa - bb) / 2, ab))
    rest = b - a * (ab / aa)[..., None]
    return largest, np.sqrt(aa) * np.linalg.norm(rest, axis=-1) / largest


def growth_rate(descent: Descent, rate: float, window: tuple[float, float]) -> np.ndarray:
    """How fast a small unit grows on the second plateau, for each run; NaN where it is not seen.

    Args:
        descent: the record.
        rate: its learning rate η. A step multiplies a unit by 1 + ηs, hence the map's second singular
            value by the square of that; what is returned is s.
        window: second over largest singular value from where to where the growth is measured.
    """
    ratio, found = descent.second / descent.largest, []
    for values, grown in zip(ratio, descent.second, strict=True):
        below, above = np.flatnonzero(values < window[0]), np.flatnonzero(values > window[1])
        begin = below[-1] if below.size else values.size
        later = above[above > begin]
        if not later.size:
            found.append(np.nan)
            continue
        factor = (grown[later[0]] / grown[begin]) ** (0.5 / (later[0] - begin))
        found.append((factor - 1) / rate)
    return np.array(found)


def drops(descent: Descent, points: "LinearFixedPoints", rate: float) -> np.ndarray:
    """Times at which the loss is halfway between fixed points of 0 and 1, 1 and 2 modes, (runs, 2)."""
    heights = [float(points.loss(range(modes))) for modes in range(3)]
    time = rate * np.arange(descent.loss.shape[1])
    levels = [(heights[0] + heights[1]) / 2, (heights[1] + heights[2]) / 2]
    return np.stack([
        measures.crossing_time(time, descent.loss, level, falling=True).time for level in levels
    ], axis=-1)  # fmt: skip


def small_start(
    moments: Moments, width: int, std: float, seeds: range
) -> tuple[np.ndarray, np.ndarray]:
    """Weights drawn from N(0, std²), a run for each seed; a rotation of the inputs changes no law."""
    inputs, outputs = moments.correlation.shape
    draws = [np.random.default_rng(seed) for seed in seeds]
    first = np.stack([std * draw.standard_normal((inputs, width)) for draw in draws])
    return first, np.stack([std * draw.standard_normal((width, outputs)) for draw in draws])


def saddle_start(
    moments: Moments, points: "LinearFixedPoints", std: float
) -> tuple[np.ndarray, np.ndarray]:
    """One run of two units: one at the fixed point of the first mode, one small."""
    first, second = small_start(moments, 2, std, range(1))
    fixed = points.weights([0], width=1)
    first[0, :, :1], second[0, :1] = moments.basis.T @ fixed.first, fixed.second
    return first, second
