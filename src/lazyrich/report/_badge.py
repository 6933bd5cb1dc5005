"""Verdicts in HTML: badges, and the style classes that filters look at."""

from collections import Counter

from lazyrich.report._mark import Mark, in_words
from lazyrich.report._text import escape


def badge(mark: Mark) -> str:
    """Symbol and word on a tinted ground."""
    symbol = f'<span aria-hidden="true">{escape(mark.symbol)}</span>'
    return f'<span class="badge {mark.name}">{symbol} {escape(mark.one)}</span>'


def dots(counts: Counter[Mark]) -> str:
    """One small symbol for each verdict that occurs, with how often."""
    symbols = "".join(
        f'<span class="dot {mark.name}">{escape(mark.symbol)}{count if count > 1 else ""}</span>'
        for mark, count in counts.items()
    )
    words = escape(in_words(counts))
    return f'<span class="dots" role="img" aria-label="{words}" title="{words}">{symbols}</span>'


def classes(counts: Counter[Mark]) -> str:
    """Style classes for the filter, which hides what lacks the chosen verdict."""
    return " ".join(["filtered", *(f"has-{mark.name}" for mark in counts)])
