"""Names of results."""

import re
from typing import Any

from lazyrich.core import argument_error

# No slash, no leading dot, no capital letters: a key never leaves its folder, is never hidden, and
# two keys never meet in one file where case does not count.
_KEY = re.compile(r"[0-9a-z_-][0-9a-z._-]{0,199}")
_RULE = "have 1 to 200 of the characters 0-9 a-z . _ - and not begin with a dot"


def is_key(text: Any) -> bool:
    """Whether `text` may name a result."""
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def check_key(key: Any) -> str:
    """`key`, or an error that says what a key is."""
    if not is_key(key):
        raise argument_error("key", _RULE, key, "A hexadecimal digest is always a valid key.")
    return key
