"""Configurations survive JSON."""

import dataclasses
from typing import Any

from lazyrich.core._errors import ArgumentError, argument_error


def config_to_json(config: Any) -> dict[str, Any]:
    """The fields of a frozen dataclass of numbers, words, booleans and tuples of them."""
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise argument_error("config", "be a dataclass of numbers and words", config)
    return {
        field.name: _to_list(getattr(config, field.name)) for field in dataclasses.fields(config)
    }


def config_from_json(kind: type, record: dict[str, Any]) -> Any:
    """The configuration that `config_to_json` wrote; unknown or missing fields raise."""
    if not dataclasses.is_dataclass(kind) or not isinstance(kind, type):
        raise argument_error("kind", "be a dataclass", kind)
    if not isinstance(record, dict):
        raise argument_error("record", "be a mapping of fields", record)
    known = {field.name for field in dataclasses.fields(kind)}
    if set(record) != known:
        unknown, missing = sorted(set(record) - known), sorted(known - set(record))
        raise ArgumentError(
            f"`record` must have exactly the fields of {kind.__name__}, got unknown {unknown} and "
            f"missing {missing}. It was written by another version; run the experiment again."
        )
    return kind(**{name: _to_tuple(value) for name, value in record.items()})


def _to_list(value: Any) -> Any:
    return [_to_list(item) for item in value] if isinstance(value, tuple) else value


def _to_tuple(value: Any) -> Any:
    return tuple(_to_tuple(item) for item in value) if isinstance(value, list) else value
