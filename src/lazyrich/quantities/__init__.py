"""Definitions that theory, simulation, measures and checks share."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
