"""What everything else stands on: verdicts, contexts, precision, validity, errors, conventions."""

from lazyrich.core._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
