"""Results on disk: immutable, checksummed, one file each; after a kill, a whole result or none."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
