"""How neural networks learn, as functions you can call.

Predict with `lazyrich.theory`, train with `lazyrich.simulate`, look into any run with
`lazyrich.measures`, and reproduce the figures of four papers with `lazyrich.experiments`.

Importing the package changes no global setting and loads nothing heavy: JAX, xarray and
matplotlib are imported when something that needs them is first used.
"""

from lazyrich.core._lazy import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)
