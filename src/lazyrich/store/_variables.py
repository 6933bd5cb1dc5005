"""Variables of a dataset as arrays whose bytes mean the same everywhere."""

import dataclasses
import re
from typing import Any

import numpy as np
import xarray

from lazyrich.core import argument_error
from lazyrich.store._json import plain

_NUMBERS = ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"]
_DTYPE = re.compile("|".join(map(re.escape, [*_NUMBERS, "<c8", "<c16"])) + "|<U[1-9][0-9]{0,5}")
_KINDS = "have a dtype of booleans, integers, floats, complex numbers or fixed-width text"
_CONVERT = 'Convert it, for example with `.astype("float64")` or `.astype("U")`.'


def is_dtype(text: Any) -> bool:
    """Whether `text` names a dtype that may lie in a file: plain and little-endian."""
    return isinstance(text, str) and _DTYPE.fullmatch(text) is not None


@dataclasses.dataclass(frozen=True)
class PlainVariable:
    """A variable whose array is contiguous and little-endian and whose attributes are JSON."""

    name: str
    role: str  # "coords" or "data_vars"
    dims: tuple[str, ...]
    array: np.ndarray
    attrs: dict[str, Any]

    def describe(self) -> dict[str, Any]:
        """Everything but the bytes, as JSON."""
        return {
            "dims": list(self.dims),
            "dtype": self.array.dtype.str,
            "shape": list(self.array.shape),
            "attrs": self.attrs,
        }


def plain_variables(dataset: xarray.Dataset) -> list[PlainVariable]:
    """Coordinates, then data variables, or an error naming the one that cannot be stored."""
    if not isinstance(dataset, xarray.Dataset):
        raise argument_error("dataset", "be an xarray.Dataset", dataset)
    coords = [_plain_variable("coords", name, dataset) for name in dataset.coords]
    return coords + [_plain_variable("data_vars", name, dataset) for name in dataset.data_vars]


def raw(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8).data


def _plain_variable(role: str, name: Any, dataset: xarray.Dataset) -> PlainVariable:
    label = f"dataset[{name!r}]"
    variable = dataset.variables[name]
    _check_names(label, name, variable.dims)
    if not is_dtype(_little_endian(variable.dtype).str):
        raise argument_error(label, _KINDS, str(variable.dtype), _CONVERT)
    array = np.asarray(variable.values, _little_endian(variable.dtype), order="C")
    if array.dtype == bool:
        array = np.asarray(array.view(np.uint8) != 0)  # views of other bytes become 0 and 1
    dims, attrs = tuple(map(str, variable.dims)), plain(f"{label}.attrs", variable.attrs)
    return PlainVariable(name, role, dims, array, attrs)


def _little_endian(dtype: Any) -> np.dtype:
    return dtype.newbyteorder("<") if isinstance(dtype, np.dtype) else np.dtype(object)


def _check_names(label: str, name: Any, dims: tuple[Any, ...]) -> None:
    if not all(isinstance(word, str) for word in (name, *dims)):
        raise argument_error(label, "have text as its name and dimensions", (name, *dims))
    if len(set(dims)) < len(dims):
        raise argument_error(label, "have each dimension once", dims, "Rename one of them.")
