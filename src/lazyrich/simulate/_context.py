"""The context of a run, checked before anything is computed."""

from typing import Any

from lazyrich.core import Context, argument_error


def checked_context(context: Any) -> Context:
    """The context that is given, or one that does nothing."""
    if context is None:
        return Context()
    if not isinstance(context, Context):
        raise argument_error("context", "be a Context or None", context, "See `core.Context`.")
    return context
