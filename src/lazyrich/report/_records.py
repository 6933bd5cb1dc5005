"""Records, as experiments and checks leave them."""

from collections.abc import Mapping
from typing import Any

from lazyrich.core import argument_error, items


def checked_records(records: Any) -> list[dict[str, Any]]:
    """The records as a list. What they lack is shown as missing, so that only their type is checked."""
    found = list(items("records", records, advice="Pass a list of records."))
    for index, record in enumerate(found):
        if not isinstance(record, Mapping):
            raise argument_error(f"records[{index}]", "be a dictionary", record)
    return found
