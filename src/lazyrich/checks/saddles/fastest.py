"""App. C: the direction in which small ReLU units grow fastest."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.core import CheckResult, check


@check(
    "saddles/app-c",
    "The direction in which small ReLU units grow fastest",
    against="search on a circle, random search in five dimensions, growth of integrated units",
    seconds=4,
)
def app_c() -> CheckResult:
    """App. C: in the direction of the maximum a small unit grows at the rate found, and none grows faster."""
    errors = [error for seed in range(10) for error in _on_a_circle(seed)]
    for seed in range(3):
        x, y = _data(seed, samples=15, inputs=5)
        found = theory.fastest_direction(x, y, num_starts=40)
        height, turn, off = _along(found, x, y)
        # the ascent ends when the rate no longer rises, and being δ off costs δ²
        errors += [height, turn**2, off]
        errors.append(max(_random_search(x, y) / found.rate - 1, 0))
        errors.append(max(np.max(_growth(x, y)) / found.rate - 1, 0))
    return CheckResult(max(errors), 1e-8, len(errors))


def _data(seed: int, samples: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((samples, inputs)), rng.standard_normal((samples, 1 + seed % 2))


def _height(u: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    return np.linalg.norm(np.maximum(u @ x.T, 0) @ y, axis=-1) / len(x)


def _on_a_circle(seed: int) -> list[float]:
    """Difference to the maximum by a grid and golden sections, and of the growth along it."""
    from scipy.optimize import minimize_scalar

    x, y = _data(seed, samples=7, inputs=2)
    found = theory.fastest_direction(x, y)
    angles = np.linspace(0, 2 * np.pi, 3001)
    circle = lambda a: np.stack([np.cos(a), np.sin(a)], axis=-1)  # noqa: E731
    best = 0.0
    for a in angles[np.argsort(_height(circle(angles), x, y))[-4:]]:
        end: Any = minimize_scalar(
            lambda d, a=a: -_height(circle(a + d), x, y), bounds=(-angles[1], angles[1]),
            method="bounded", options={"xatol": 1e-13},
        )  # fmt: skip
        best = max(best, -end.fun)
    return [abs(found.rate / best - 1), *_along(found, x, y)]


def _along(found: theory.FastestDirection, x: np.ndarray, y: np.ndarray) -> list[float]:
    """How far a unit along u, v is from growing as it is: height over ρ from 1, u̇/ρ from u, v̇/ρ from v.

    A sample on the kink, uᵀx = 0, counts as active for whatever share of the time keeps u on it: u̇ is the
    velocity with shares from 0 to 1 that comes closest.
    """
    from scipy.optimize import lsq_linear

    u, v, rate = found.incoming, found.outgoing, found.rate
    z, pull = x @ u, (y @ v)[:, None] * x / len(x)
    at_kink = np.abs(z) < 1e-9
    lacking = rate * u - pull[(z > 0) & ~at_kink].sum(axis=0)
    if at_kink.any():
        kinks = pull[at_kink].T
        lacking = kinks @ lsq_linear(kinks, lacking, (0, 1), method="bvls").x - lacking
    off = np.maximum(z, 0) @ y / len(x) / rate - v
    height = abs(_height(u, x, y) / rate - 1)
    return [float(height), float(np.linalg.norm(lacking) / rate), float(np.linalg.norm(off))]


def _random_search(x: np.ndarray, y: np.ndarray) -> float:
    """The best of many random directions, improved by smaller and smaller random steps."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((20000, x.shape[1]))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    u = u[np.argsort(_height(u, x, y))[-20:]]
    for size in np.geomspace(0.3, 1e-6, 60):
        steps = u[:, None] + size * rng.standard_normal((20, 60, x.shape[1]))
        steps[:, 0] = u
        steps /= np.linalg.norm(steps, axis=-1, keepdims=True)
        heights = _height(steps, x, y)
        u = steps[np.arange(20), np.argmax(heights, axis=1)]
    return float(_height(u, x, y).max())


def _growth(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rates at which random small units grow after a while, by Runge–Kutta steps of Eq. 21 and 22."""
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal((50, x.shape[1])), rng.standard_normal((50, y.shape[1]))

    def velocity(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = u @ x.T
        return ((z > 0) * (v @ y.T)) @ x / len(x), np.maximum(z, 0) @ y / len(x)

    h, logs = 0.05, []
    for _ in range(400):
        a, b = velocity(u, v)
        a, b = velocity(u + h / 2 * a, v + h / 2 * b)
        u, v = u + h * a, v + h * b
        size = np.sqrt(np.sum(u**2, axis=1) + np.sum(v**2, axis=1))
        u, v = u / size[:, None], v / size[:, None]
        logs.append(np.log(size) / h)
    return np.mean(logs[200:], axis=0)
