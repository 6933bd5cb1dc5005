"""Tasks: data distributions and data sets."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
