"""Drawing: a house style and a few pictures that recur. Never computes."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
