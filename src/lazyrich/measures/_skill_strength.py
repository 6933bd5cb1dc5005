"""How well a function has learned each of several skills."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, real, untraced

LARGEST = 1e70
"""Numbers up to which fourth powers are no infinities."""


class SkillStrength(NamedTuple):
    """How much of each skill a function contains, and the standard error. Last axis the skills."""

    strength: Any
    uncertainty: Any


@untraced
def skill_strength(outputs: Any, skills: Any) -> SkillStrength:
    r"""The linear correlation of a learned function with each skill.

    $$ R_k = \frac{\mathbb{E}[f(x)\, g_k(x)]}{\mathbb{E}[g_k(x)^2]} $$

    It is the coefficient of $g_k$ in f where skills exclude each other, and S where the skill is learned.
    When it passes a share of S over training, `crossing_time(time, strengths, level)` says, with the resource
    (steps, samples, units) as its `time`: that is the emergence time.

    Args:
        outputs: f at the samples, shape (..., samples); leading axes are for records or runs.
        skills: $g_k$ at the same samples, shape (samples, skills), e.g. `SparseParity.skills(inputs)`.

    Returns:
        The strengths, shape (..., skills), and their standard errors as estimates of the expectation over
        inputs, from the scatter of $g_k (f - R_k g_k)$ over the samples; inf for a skill with one sample.

    Source:
        layerwise, caption of Fig. 4.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import skill_strength
        >>> g = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        >>> skill_strength([3.0, -1.0, 0.5, 0.5], g).strength
        array([2., 0.])
    """
    f = real("outputs", outputs, advice="Pass the network's outputs, without NaN.")
    g = real("skills", skills, advice="Pass the skill functions at the samples.")
    if g.ndim != 2 or 0 in g.shape:
        raise argument_error("skills", "have the shape (samples, skills)", g.shape)
    if f.ndim < 1 or f.shape[-1] != g.shape[0]:
        raise argument_error(
            "outputs", f"have the shape (..., {g.shape[0]}) to fit `skills`", f.shape,
            "Pass one output: `outputs[..., 0]` of a column.",
        )  # fmt: skip
    for name, array in (("outputs", f), ("skills", g)):
        real(name, array, at_least=-LARGEST, at_most=LARGEST, advice="Rescale it.")
    power = np.sum(g**2, axis=0)
    if not np.all(power > 0):
        raise argument_error(
            "skills", "have a sample of every skill", f"none of skill {int(np.argmin(power))}",
            "Draw more samples, or samples of each skill.",
        )  # fmt: skip
    strength = f @ g / power
    # Σ g²(f − Rg)², without an array over samples and skills for every run
    scatter = f**2 @ g**2 - 2 * strength * (f @ g**3) + strength**2 * np.sum(g**4, axis=0)
    few = np.sum(g != 0, axis=0)
    error = np.sqrt(np.maximum(scatter, 0) * few / np.maximum(few - 1, 1)) / power
    return SkillStrength(strength, np.where(few > 1, error, np.inf))
