"""Many parities at once, some far more frequent than others."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import argument_error, count, is_traced, number, real
from lazyrich.core._random import checked_key
from lazyrich.tasks._dataset import DataSet
from lazyrich.tasks._power_law import power_law_strengths

WORD = 32
"""Bits that one random number gives."""
MOST_BITS, MOST_NUMBERS = 10**6, 2**29
"""What an input may have, and a data set: JAX ends the process where memory runs out."""


@dataclasses.dataclass(frozen=True)
class SparseParity:
    r"""Multitask sparse parity: control bits name a skill, the parity of a few of the other bits.

    $$ g_k(x) = \mathbb{1}[\text{skill is } k] \prod_{i \in M_k} (1 - 2 x_i), \qquad
       f^*(x) = S \sum_k g_k(x), \qquad \mathbb{E}[g_k^2] = p_k \propto k^{-\text{exponent}} $$

    An input has one control bit for each skill, of which one is 1, and then fair bits 0 or 1. The sets $M_k$
    are disjoint: skill k reads `skill_bits` bits that no other skill reads. Bits that nobody reads are noise.

    Source:
        layerwise, Sec. 4.3, Eq. 11 and Fig. 4, after Michaud et al. (2023) and Nam et al. (2024).

    Attributes:
        num_skills: number of skills.
        num_bits: number of fair bits, at least `num_skills` × `skill_bits`.
        skill_bits: bits in a parity.
        exponent: power law of the frequencies, α + 1 in the literature; 0 makes all skills as frequent.
        target_scale: S.

    Example:
        >>> import jax
        >>> from lazyrich.tasks import SparseParity
        >>> task = SparseParity(num_skills=3, num_bits=12, exponent=1.0)
        >>> task.frequencies.round(3)
        array([0.545, 0.273, 0.182])
        >>> data = task.dataset(jax.random.key(0), 4)
        >>> data.inputs.shape, sorted(set(abs(data.targets.ravel())))
        ((4, 15), [np.float64(5.0)])
    """

    num_skills: int = 5
    num_bits: int = 32
    skill_bits: int = 3
    exponent: float = 1.6
    target_scale: float = 5.0

    def __post_init__(self) -> None:
        for name in ("num_skills", "num_bits", "skill_bits"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        if self.num_bits > MOST_BITS:
            raise argument_error("num_bits", f"be at most {MOST_BITS}", self.num_bits)
        power = number("exponent", self.exponent, at_least=0, advice="Use e.g. 1.6.")
        scale = number("target_scale", self.target_scale, above=0, advice="Use e.g. 5.")
        object.__setattr__(self, "exponent", power)
        object.__setattr__(self, "target_scale", scale)
        if self.num_bits < self.num_skills * self.skill_bits:
            raise argument_error(
                "num_bits", f"be at least {self.num_skills * self.skill_bits}, as skills share no bits",
                self.num_bits, "Use more bits, or fewer or smaller skills.",
            )  # fmt: skip

    @property
    def input_dimension(self) -> int:
        """Control bits and other bits."""
        return self.num_skills + self.num_bits

    @property
    def frequencies(self) -> np.ndarray:
        r"""$p_k$, which is also $\mathbb{E}[g_k^2]$ exactly, shape (skills,)."""
        return power_law_strengths(self.num_skills, self.exponent)

    @property
    def masks(self) -> np.ndarray:
        """$M_k$: the places of each skill's bits in an input, shape (skills, skill_bits)."""
        first = np.arange(self.num_skills * self.skill_bits)
        return self.num_skills + first.reshape(self.num_skills, self.skill_bits)

    def dataset(self, key: Any, num_samples: int) -> DataSet:
        """Independent samples. Inside a trace too, so that every step of a training may draw its own.

        Float64 NumPy, or in a trace arrays of the user's default dtype.
        """
        return self._drawn(key, num_samples, None)

    def skill_dataset(self, key: Any, skill: int, num_samples: int) -> DataSet:
        """Samples of one skill, counted from 0, as `dataset` gives them."""
        index = count("skill", skill, at_least=0, advice="Skills are counted from 0.")
        if index >= self.num_skills:
            raise argument_error("skill", f"be below {self.num_skills}", skill, "Counted from 0.")
        return self._drawn(key, num_samples, index)

    def skills(self, inputs: Any) -> Any:
        """The skill functions $g_k$, 1, −1 or 0, shape (..., skills)."""
        if np.ndim(inputs) < 1 or np.shape(inputs)[-1] != self.input_dimension:
            raise argument_error(
                "inputs", f"have the shape (..., {self.input_dimension})", np.shape(inputs)
            )
        if not isinstance(inputs, jax.Array):
            inputs = real("inputs", inputs, at_least=0, at_most=1, advice="Pass bits.")
        K, xp = self.num_skills, jnp if isinstance(inputs, jax.Array) else np
        parity = xp.prod(1 - 2 * inputs[..., K : K + self.masks.size].reshape(
            *np.shape(inputs)[:-1], K, self.skill_bits), axis=-1)  # fmt: skip
        return inputs[..., :K] * parity

    def target(self, inputs: Any) -> Any:
        r"""The targets, $S \sum_k g_k$, shape (..., 1)."""
        return self.target_scale * self.skills(inputs).sum(axis=-1, keepdims=True)

    def _drawn(self, key: Any, num_samples: int, skill: int | None) -> DataSet:
        key, most = checked_key(key), MOST_NUMBERS // self.input_dimension
        size = count("num_samples", num_samples, at_most=most, advice="Pass e.g. 4000.")
        if is_traced(key):
            inputs = self._inputs(key, size, skill).astype(float)
            return DataSet(inputs, self.target(inputs), jnp.full(size, 1 / size))
        with jax.ensure_compile_time_eval():
            inputs = np.asarray(self._inputs(key, size, skill), float)
        return DataSet(inputs, self.target(inputs), np.full(size, 1 / size))

    def _inputs(self, key: Any, size: int, skill: int | None) -> Any:
        """Control bits and fair bits, as bytes; many bits from each random word, as words are what costs."""
        which, words = jax.random.split(key)
        if skill is None:
            edges = jnp.asarray(np.cumsum(self.frequencies)[:-1], jnp.float32)
            drawn = jax.random.uniform(which, (size, 1), jnp.float32)
            chosen = jnp.sum(drawn >= edges, axis=1, keepdims=True)
        else:
            chosen = jnp.full((size, 1), skill)
        control = chosen == jnp.arange(self.num_skills)
        random = jax.random.bits(words, (size, -(-self.num_bits // WORD), 1), jnp.uint32)
        bits = (random >> jnp.arange(WORD, dtype=jnp.uint32)) & jnp.uint32(1)
        bits = bits.reshape(size, -1)[:, : self.num_bits]
        return jnp.concatenate([control.astype(jnp.uint8), bits.astype(jnp.uint8)], axis=1)
