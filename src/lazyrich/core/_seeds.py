"""Seeds in chunks: the unit of work and of storage."""


def seed_chunks(num_seeds: int, chunk: int) -> list[range]:
    """Consecutive seeds 0 … num_seeds − 1 in chunks of a fixed size, the last one perhaps shorter.

    Example:
        >>> from lazyrich.core import seed_chunks
        >>> [list(seeds) for seeds in seed_chunks(5, 2)]
        [[0, 1], [2, 3], [4]]
    """
    return [range(start, min(start + chunk, num_seeds)) for start in range(0, num_seeds, chunk)]
