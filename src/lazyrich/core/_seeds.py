"""Seeds in chunks: the unit of work and of storage."""

from lazyrich.core._arguments import count

MAX_SEEDS = 10**6


def seed_chunks(num_seeds: int, chunk: int) -> list[range]:
    """Consecutive seeds 0 … num_seeds − 1 in chunks of a fixed size, the last one perhaps shorter.

    Example:
        >>> from lazyrich.core import seed_chunks
        >>> [list(seeds) for seeds in seed_chunks(5, 2)]
        [[0, 1], [2, 3], [4]]
    """
    num_seeds = count("num_seeds", num_seeds, at_least=0, at_most=MAX_SEEDS)
    chunk = count("chunk", chunk, at_most=MAX_SEEDS)
    return [range(start, min(start + chunk, num_seeds)) for start in range(0, num_seeds, chunk)]
