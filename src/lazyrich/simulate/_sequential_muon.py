"""Nodes that climb one after the other, with the gradients of earlier ones beside their own in Muon."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, number, real, untraced
from lazyrich.quantities._polar import orthogonalised
from lazyrich.simulate._fit import shape_of
from lazyrich.simulate._steps import MOST_STEPS

MEMORIES = ("none", "halved", "unit", "gradient")
SAME = 0.99
"""Earlier gradients with a cosine above this are the same one."""


@untraced
def sequential_muon(
    gradient: Callable[[Any], Any],
    starts: Any,
    *,
    memory: str = "unit",
    num_steps: int = 300,
    step_size: float = 0.05,
) -> np.ndarray:
    r"""Weights at the end of every node's ascent, nodes being trained one after the other.

    $$ w \leftarrow \frac{\tilde w}{\max(1, \lVert\tilde w\rVert)}, \qquad
       \tilde w = w + h \hat g, \qquad
       [\ldots, \hat g] = \operatorname{polar}[q_1, \ldots, q_m, \nabla\mathcal{E}(w)] $$

    with $q_i$ the gradients of the earlier nodes where they ended, each direction once. A start at which the
    gradient vanishes stays.

    Args:
        gradient: gradient of a node's energy, a function of one vector (d,) that JAX can trace.
        starts: first weights of the nodes, shape (trials, nodes, d), each at most of length 1. Trials are
            independent of each other.
        memory: "unit": earlier gradients normalised, as the paper's Eq. 42 has them; "gradient": as they are;
            "halved": instead of the polar factor, half the gradient's part in the span of earlier ones, which
            is the bound the paper goes on with; "none": nodes do not know of each other.
        num_steps: steps of each node.
        step_size: h, for directions: of the gradient too only the direction is used.

    Returns:
        Weights of all nodes at the end, shape (trials, nodes, d).

    Source:
        li2, Theorem 8, App. G.3.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import collection_times
        >>> from lazyrich.simulate import sequential_muon
        >>> rates = np.array([1.0, 0.9, 0.5])
        >>> starts = 0.1 * np.random.default_rng(0).dirichlet([1, 1, 1], size=(4, 6))
        >>> ends = sequential_muon(lambda w: rates.astype(w.dtype) * w**2, starts)
        >>> collection_times(ends.argmax(-1), num_maxima=3)
        array([3., 3., 3., 3.])
    """
    w = real("starts", starts, advice="Pass starts of shape (trials, nodes, d).")
    if w.ndim != 3 or 0 in w.shape:
        raise argument_error("starts", "have the shape (trials, nodes, d), not empty", w.shape)
    largest = float(np.max(np.abs(w)))  # looked at first: squares of huge entries are no numbers
    longest = largest if largest > 2 else float(np.max(np.linalg.norm(w, axis=-1)))
    if not longest <= 1 + 1e-12:
        raise argument_error("starts", "be at most of length 1", longest, "Scale them down.")
    if memory not in MEMORIES:
        raise argument_error("memory", f"be one of {', '.join(MEMORIES)}", memory)
    steps = count("num_steps", num_steps, at_most=MOST_STEPS, advice="Use e.g. 300.")
    h = number("step_size", step_size, above=0, at_most=1, advice="Use e.g. 0.05.")
    with jax.enable_x64(True):
        _check_gradient(gradient, w.shape[-1])
        ends = np.asarray(_compiled(gradient, memory)(w, h, steps))
    if not np.isfinite(ends).all():
        raise argument_error("gradient", "be finite on the unit ball", "NaN or infinite values")
    return ends


def _check_gradient(gradient: Any, size: int) -> None:
    if not callable(gradient):
        raise argument_error("gradient", "be a function of one vector", gradient)
    found = shape_of(gradient, jax.ShapeDtypeStruct((size,), float))
    if found != (size,):
        shown = "something else" if found is None else f"the shape {found}"
        raise argument_error(
            "gradient", f"give the shape ({size},) for a vector of {size} weights", shown,
            "It must be a function that JAX can trace.",
        )  # fmt: skip


@functools.lru_cache(maxsize=16)  # the same function again is not compiled again
def _compiled(gradient: Callable[[Any], Any], memory: str) -> Callable[..., Any]:
    return jax.jit(jax.vmap(functools.partial(_trial, gradient, memory), (0, None, None)))


def _trial(gradient: Any, memory: str, starts: Any, h: Any, steps: Any) -> Any:
    direction = _DIRECTIONS[memory]

    def node(kept: Any, numbered: Any) -> tuple[Any, Any]:
        number, start = numbered
        context = _context(kept, memory)

        def step(_: Any, w: Any) -> Any:
            moved = w + h * direction(gradient(w), context)
            return moved / jnp.maximum(1, jnp.sqrt(jnp.sum(moved**2)))

        w = jax.lax.fori_loop(0, steps, step, start)
        last = _unit(gradient(w)) if memory != "gradient" else gradient(w)
        is_new = jnp.all(jnp.abs(_units(kept) @ _unit(last)) < SAME)
        return kept.at[number].set(jnp.where(is_new, last, 0)), w

    numbers = jnp.arange(len(starts))
    return jax.lax.scan(node, jnp.zeros_like(starts), (numbers, starts))[1]


def _context(kept: Any, memory: str) -> Any:
    """What a direction needs of the earlier gradients: the projector on their span, or themselves."""
    if memory != "halved":
        return kept
    Q = orthogonalised(kept)  # rows; zero where there is none
    return Q.T @ Q


def _unit(vector: Any) -> Any:
    return _units(vector[None])[0]


def _units(rows: Any) -> Any:
    length = jnp.sqrt(jnp.sum(rows**2, axis=1, keepdims=True))
    return jnp.where(length > 0, rows / jnp.where(length > 0, length, 1), 0)


def _by_polar_factor(g: Any, kept: Any) -> Any:
    return orthogonalised(jnp.concatenate([kept, g[None]]).T)[:, -1]


_DIRECTIONS = {
    "none": lambda g, kept: _unit(g),
    "halved": lambda g, projector: _unit(g - 0.5 * projector @ g),
    "unit": _by_polar_factor,
    "gradient": _by_polar_factor,
}
