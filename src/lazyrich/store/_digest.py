"""A fingerprint of what a result says."""

import hashlib

import xarray

from lazyrich.store._json import dump, plain
from lazyrich.store._variables import plain_variables, raw


def content_digest(dataset: xarray.Dataset) -> str:
    """SHA-256 of all variables and attributes, for telling whether two results are the same.

    Two datasets have the same digest if names, dimensions, dtypes, attributes and every bit of
    every array agree. The order of variables and of attributes, byte order in memory, a file's key
    and its metadata do not count.

    Args:
        dataset: anything that `write_result` accepts.

    Returns:
        64 hexadecimal digits.

    Example:
        >>> import xarray
        >>> from lazyrich.store import content_digest
        >>> one = xarray.Dataset({"loss": ("time", [1.0, 0.5])})
        >>> content_digest(one) == content_digest(one.copy(deep=True))
        True
        >>> content_digest(one) == content_digest(one.assign_attrs(rate=0.1))
        False
    """
    variables = sorted(plain_variables(dataset), key=lambda variable: variable.name)
    digest = hashlib.sha256(_line([plain("dataset.attrs", dataset.attrs)]))
    for variable in variables:
        digest.update(_line([variable.name, variable.role, variable.describe()]))
        digest.update(raw(variable.array))
    return digest.hexdigest()


def _line(value: list) -> bytes:
    """A line of JSON; it says how many bytes of array follow, so no two datasets look alike."""
    return dump("dataset", value, sort_keys=True) + b"\n"
