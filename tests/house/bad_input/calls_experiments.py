"""The valid call of `lazyrich.experiments`."""

from .values import Also

CALLS = {
    "get": {"id": Also("linear-grokking/fig1", {"glob": "saddles/*", "all": "all"})},
}

MEANING: dict[tuple[str, str, str], str] = {}
