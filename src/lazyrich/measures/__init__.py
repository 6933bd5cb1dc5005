"""Instruments for any run, from any framework: functions of arrays."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
