"""Solvable models: frozen objects whose methods are functions of time, and the laws behind them."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
