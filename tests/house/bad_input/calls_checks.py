"""The valid call of `lazyrich.checks`."""

from .values import Also

CALLS = {
    "get": {"id": Also("linear-grokking/eq4", {"glob": "saddles/*", "all": "all"})},
}

MEANING: dict[tuple[str, str, str], str] = {}
