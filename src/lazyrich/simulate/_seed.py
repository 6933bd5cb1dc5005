"""Seeds, checked before random generators see them."""

from typing import Any

import jax

from lazyrich.core import argument_error, count, items, whole

MOST = 2**32 - 1
"""What 32 bits hold."""


def checked_seed(seed: Any) -> int:
    """The seed of one run."""
    return count("seed", seed, at_least=0, at_most=MOST, advice="Pass e.g. 0.")


def checked_seeds(seeds: Any) -> list[int]:
    """The seeds of several runs."""
    advice = "Pass e.g. range(8)."
    checked = whole(
        "seeds", items("seeds", seeds, advice=advice), at_least=0, at_most=MOST, advice=advice
    )
    if checked.ndim != 1 or checked.size == 0:
        raise argument_error("seeds", "be a list of numbers, not empty", seeds, advice)
    return [int(seed) for seed in checked]


def keys_of(seed: Any, number: int = 2) -> Any:
    """Independent random keys of a seed."""
    return jax.random.split(jax.random.key(checked_seed(seed)), number)


def weights_key(seed: int) -> Any:
    """The random key from which trainings that take `initial_weights` draw the weights of a seed otherwise.

    A function that is passed as `initial_weights` draws from it the same numbers as the training would.

    Args:
        seed: of the run.

    Returns:
        A key of `jax.random`.

    Example:
        >>> from lazyrich import models, simulate, tasks
        >>> network, task = models.TwoLayer(2, 3), tasks.orthogonal_pair()
        >>> training = simulate.Supervised(network, task, initial_std=0.1)
        >>> drawn, _ = training.start(seed=5)
        >>> same = network.init(simulate.weights_key(5), 0.1)
        >>> bool((drawn.first == same.first).all())
        True
    """
    return keys_of(seed)[1]
