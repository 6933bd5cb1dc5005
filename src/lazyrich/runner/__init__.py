"""Running an experiment: its key, its stored result, its pieces, what is written about it."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
