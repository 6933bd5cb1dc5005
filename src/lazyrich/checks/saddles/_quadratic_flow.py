"""Eq. 14 by Runge–Kutta, unit by unit, and the paper's integral for its time by adaptive quadrature."""

import functools
from typing import Any, NamedTuple

import numpy as np


class Layer(NamedTuple):
    """A quadratic layer: Σ_yZ (D, D), first layer (D, units), second layer (units,)."""

    correlation: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @property
    def num_units(self) -> int:
        """How many units it has."""
        return self.second.size


def layer(seed: int, dimension: int = 3, num_units: int = 6, scale: float = 1.0) -> Layer:
    """Gaussian weights and a rotated correlation with eigenvalues of both signs, not close to 0."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    s = rng.uniform(0.3, 1.5, dimension) * np.where(np.arange(dimension) % 2, -1, 1)
    first, second = rng.standard_normal((dimension, num_units)), rng.standard_normal(num_units)
    return Layer((R * s) @ R.T, scale * first, scale * second)


def velocity(S: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Eq. 14 for one unit, (v, u)."""
    v, u = state[0], state[1:]
    return np.concatenate([[u @ S @ u], 2 * v * S @ u])


class Record(NamedTuple):
    """One unit along Eq. 14: times (points,), states (points, 1 + D), when it blows up and has a size."""

    time: np.ndarray
    states: np.ndarray
    blow_up: float
    at_size: float


@functools.lru_cache(maxsize=512)
def _record(values: bytes, dimension: int, growth: float, size: float) -> Record:
    """Runge–Kutta in a time that runs faster the larger the unit is, so that a blow-up is no obstacle."""
    from scipy.integrate import solve_ivp

    numbers = np.frombuffer(values)
    S, start = numbers[: dimension**2].reshape(dimension, dimension), numbers[dimension**2 :]

    def rescaled(tau: float, x: np.ndarray) -> np.ndarray:
        length = np.linalg.norm(x[1:])
        return np.concatenate([[1.0], velocity(S, x[1:])]) / length

    def reaches(level: float, ends: bool) -> Any:
        def excess(tau: float, x: np.ndarray) -> float:
            return np.log(np.linalg.norm(x[1:]) / level)

        excess.terminal, excess.direction = ends, 1  # pyright: ignore[reportFunctionMemberAccess]
        return excess

    length = float(np.linalg.norm(start))
    end = reaches(max(1e14 * length, 1e4 * size), True)
    flow = solve_ivp(
        rescaled, (0, 1e4), np.concatenate([[0.0], start]), method="DOP853", rtol=1e-12, atol=1e-15 * length,
        events=[reaches(growth * length, False), reaches(size, False), end], dense_output=True,
    )  # fmt: skip
    points = flow.sol(np.linspace(0, flow.t_events[0][-1], 12)[1:]).T
    at_size = flow.y_events[1][0][0] if len(flow.y_events[1]) else np.nan
    return Record(points[:, 0], points[:, 1:], float(flow.y[0, -1]), float(at_size))


def record(one: Layer, unit: int, growth: float = 5.0, size: float = 20.0) -> Record:
    """A unit until it has grown by a factor, and to its blow-up."""
    start = np.concatenate([[one.second[unit]], one.first[:, unit]])
    values = np.concatenate([one.correlation.ravel(), start]).tobytes()
    return _record(values, len(one.correlation), growth, size)


class Particle(NamedTuple):
    """One unit in the paper's coordinates: eigenvalues, a_k(0), v(0)."""

    s: np.ndarray
    a: np.ndarray
    v: float

    def winner(self, sign: float) -> int:
        """m, which maximises sign·s."""
        return int(np.argmax(sign * self.s))

    def squared_speed(self, log_growth: Any, m: int) -> Any:
        """v² of Eq. 54 for π_m = exp(log_growth)."""
        exponents = 2 * self.s / self.s[m] * np.asarray(log_growth)[..., None]
        return self.v**2 + np.sum(self.a**2 * np.expm1(exponents), axis=-1)

    def integral(self, m: int, low: float, high: float) -> float:
        """∫ dπ/(π v)/|s_m| of Eq. 56 and 58 over ln π; NaN where the root is imaginary."""
        from scipy.integrate import quad

        high = min(high, 45 - np.log(abs(self.a[m])))  # beyond it nothing is left
        grid = np.linspace(low, high, 4001)
        values = self.squared_speed(grid, m)
        if np.any(values[1:-1] <= 0):
            return np.nan
        middle = grid[np.argmin(values)]
        return sum(
            quad(lambda x: 1 / np.sqrt(self.squared_speed(x, m)), *ends, epsabs=0, epsrel=1e-11, limit=500)[0]
            for ends in ((low, middle), (middle, high)) if ends[1] > ends[0]
        ) / abs(self.s[m])  # fmt: skip


def particle(one: Layer, unit: int) -> tuple[Particle, np.ndarray]:
    """A unit in the coordinates of Eq. 46 and 47, and the eigenvectors."""
    s, R = np.linalg.eigh(one.correlation)
    return Particle(s, R.T @ one.first[:, unit] / np.sqrt(2), float(one.second[unit])), R


@functools.cache
def layers() -> tuple[Layer, ...]:
    """Layers for the checks; in some of their units v changes its sign."""
    return tuple(layer(seed, dimension, 5) for seed, dimension in ((0, 2), (2, 3), (3, 4)))
