"""Random networks with one input and one output, and their integrated flows."""

import functools
from typing import Any, NamedTuple

import numpy as np

from lazyrich.checks._oracles import integrate

FEATURES = 4
"""In every network, those without weights included: one shape, compiled once."""


class Instance(NamedTuple):
    """A start, and weights along the flow, row by row; `gamma` is Eq. 80, integrated beside them."""

    first: np.ndarray  # a_i(0)
    second: np.ndarray  # b_i(0)
    target: float
    normalisation: float
    times: np.ndarray
    a: np.ndarray  # (times, features)
    b: np.ndarray
    gamma: np.ndarray  # (times,)

    @property
    def sums(self) -> tuple[float, float]:
        """S₀ and Σ₀ of Eq. 20."""
        a, b, Z = self.first, self.second, self.normalisation
        return float(a @ b / Z), float((a @ a + b @ b) / (2 * Z))

    @property
    def root(self) -> float:
        """√(Σ₀² − S₀² + S²)."""
        S0, Sigma0 = self.sums
        return float(np.sqrt(Sigma0**2 - S0**2 + self.target**2))

    @property
    def force(self) -> np.ndarray:
        """Z⁻² Σ a_j b_j − Z⁻¹ S along the flow."""
        Z = self.normalisation
        return np.sum(self.a * self.b, axis=1) / Z**2 - self.target / Z

    @property
    def solution(self) -> Any:
        """What the library ships."""
        from lazyrich import theory

        return theory.ScalarNetwork(
            self.target, first=self.first, second=self.second, normalisation=self.normalisation
        )


def _integrate(a: np.ndarray, b: np.ndarray, S: float, Z: float) -> Instance:
    def velocity(t: float, state: np.ndarray) -> np.ndarray:
        first, second = state[: a.size], state[a.size : -1]
        force = first @ second / Z**2 - S / Z
        return np.concatenate([-force * second, -force * first, [-2 * force]])

    root = np.sqrt((a + b) @ (a + b) * ((a - b) @ (a - b)) / (4 * Z**2) + S**2)
    times = (
        np.array([0.0, 0.1, 0.4, 1.0, 2.0, 16.0]) * Z / root
    )  # at the last γ has its limit to 1e-13
    start = np.concatenate([a, b, [0.0]])
    flow = integrate(velocity, start, times, atol=1e-14, interpolated=False)
    return Instance(a, b, S, Z, times, flow[:, : a.size], flow[:, a.size : -1], np.exp(flow[:, -1]))


@functools.cache
def instances() -> tuple[Instance, ...]:
    """Gaussian starts of one to four features, small and large; targets > 0, on either side of S₀."""
    rng = np.random.default_rng(71)
    found = []
    for features in (1, 2, 3, 4, 4, 4, 3, 4):
        a, b = rng.choice([0.1, 0.5, 1.0]) * rng.standard_normal((2, FEATURES))
        a[features:] = b[features:] = 0
        found.append(_integrate(a, b, rng.uniform(0.2, 2.5), rng.uniform(0.4, 3.0)))
    return tuple(found)


@functools.cache
def signed_instances() -> tuple[Instance, ...]:
    """The starts of Sec. 7.1, weights ±1; aligned and anti-aligned features in each."""
    rng = np.random.default_rng(16)
    found = []
    for _ in range(5):
        a, b = rng.choice([-1.0, 1.0], (2, FEATURES))
        b[:2] = a[:2] * [1, -1]
        found.append(_integrate(a, b, rng.uniform(0.2, 2.5), rng.uniform(0.4, 3.0)))
    return tuple(found)


@functools.cache
def extreme_instances() -> tuple[Instance, ...]:
    """Starts beside the theorem's: tiny, balanced, all anti-aligned, targets < 0 and 0."""
    a, b = np.array([0.7, -0.4, 0.2, 0.9]), np.array([0.1, 0.5, -0.6, -0.3])
    cases = [
        (1e-6 * a, 1e-6 * b, 1.0),
        (a, a, 1.5),
        (a, -a, 1.5),
        (a, b, -1.5),
        (a, b, 0.0),
        (a, a, -0.8),
    ]
    return tuple(_integrate(first, second, S, 1.3) for first, second, S in cases)


@functools.cache
def _gradient() -> Any:
    import jax
    import jax.numpy as jnp

    def loss(a: Any, b: Any, S: Any, Z: Any) -> Any:
        return (jnp.sum(a * b) / Z - S) ** 2 / 2

    return jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1)), in_axes=(0, 0, None, None)))


def velocities(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """da/dt and db/dt along the flow: minus the gradient of Eq. 72, by automatic differentiation."""
    import jax

    with jax.enable_x64(True):
        slopes = _gradient()(instance.a, instance.b, instance.target, instance.normalisation)
    return -np.asarray(slopes[0]), -np.asarray(slopes[1])
