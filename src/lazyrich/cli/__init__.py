"""The command line."""

from lazyrich.cli._app import main

__all__ = ["main"]
