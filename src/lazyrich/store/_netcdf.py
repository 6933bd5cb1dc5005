"""Results for other programs, as netCDF."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from lazyrich.core import StoreError, argument_error
from lazyrich.store._atomic import write_parts
from lazyrich.store._json import dump, parse, plain
from lazyrich.store._path import StrPath, as_path
from lazyrich.store._variables import PlainVariable, plain_variables

_SPLIT = "Split it into two variables, `.real` and `.imag`."
_WIDEN = 'Convert it with `.astype("float32")`, which is exact.'


def export_netcdf(dataset: xarray.Dataset, path: StrPath) -> None:
    """Write a dataset as netCDF 4, whole or not at all.

    Needs the extra `netcdf`. Booleans are written as bytes, marked so that xarray reads booleans
    again. netCDF has no complex numbers and no half precision: such variables are refused.
    Attributes that netCDF cannot hold (booleans, None, dictionaries, nested or mixed lists) are
    written as JSON text. The file is put together in memory, because HDF5 locks files in its own
    way.

    Args:
        dataset: anything that `write_result` accepts, but for complex numbers and half precision.
        path: the file, by custom with the extension `.nc`; it is replaced if it exists.

    Raises:
        ArgumentError: netCDF cannot hold a variable; the message names it.
        StoreError: the extra is missing or the file could not be written.

    Example:
        >>> import xarray
        >>> from lazyrich.store import export_netcdf
        >>> run = xarray.Dataset({"loss": ("time", [1.0, 0.5])})
        >>> export_netcdf(run, "run.nc")  # doctest: +SKIP
    """
    path = as_path("path", path)
    variables = plain_variables(dataset)
    for variable in variables:
        _refuse_foreign(variable)
    contents = {v.name: (v.dims, v.array, _attributes(v.name, v.attrs)) for v in variables}
    coords = [variable.name for variable in variables if variable.role == "coords"]
    copy = xarray.Dataset(contents, attrs=_attributes("dataset", plain("", dataset.attrs)))
    write_parts(path, [_netcdf_bytes(copy.set_coords(coords), path)])


def _refuse_foreign(variable: PlainVariable) -> None:
    kind, dtype = variable.array.dtype.kind, variable.array.dtype
    if kind == "c" or dtype == np.float16:
        raise argument_error(
            f"dataset[{variable.name!r}]",
            "be neither complex nor half precision in a netCDF file",
            str(dtype),
            _SPLIT if kind == "c" else _WIDEN,
        )


def _attributes(name: str, attrs: dict[str, Any]) -> dict[str, Any]:
    return {key: _attribute(value) for key, value in parse(dump(name, attrs)).items()}


def _attribute(value: Any) -> Any:
    """`value` if netCDF can hold it, otherwise its JSON text."""
    items = value if isinstance(value, list) and value else [value]
    if all(map(_is_number, items)) or all(map(_is_text, items)):
        return value
    return dump("attrs", plain("attrs", value)).decode()


def _is_number(value: Any) -> bool:
    is_whole = type(value) is int and -(2**63) <= value < 2**63
    return is_whole or isinstance(value, float)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _netcdf_bytes(dataset: xarray.Dataset, path: Path) -> memoryview:
    try:
        import h5netcdf
        import h5py  # noqa: F401  (h5netcdf does not bring it)
        from xarray.backends import H5NetCDFStore
    except ImportError as error:
        raise StoreError(
            f"{path} cannot be written: netCDF needs h5netcdf and h5py, which are not installed. "
            "Run `pip install 'lazyrich[netcdf]'`."
        ) from error
    buffer = io.BytesIO()
    try:
        with h5netcdf.File(buffer, "w") as file:
            dataset.dump_to_store(H5NetCDFStore(file))
    except Exception as error:  # three libraries, each with errors of its own
        raise StoreError(
            f"{path} cannot be written as netCDF: {error}. Rename or convert what the reason names."
        ) from error
    return buffer.getbuffer()
