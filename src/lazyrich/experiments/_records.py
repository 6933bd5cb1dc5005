"""Runs that are recorded at different times, side by side."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray


def by_record(run: "xarray.Dataset") -> "xarray.Dataset":
    """A run over the numbers of its records, their times in `recorded_time`.

    Runs with as many records can then be joined, whatever their times.
    """
    times = run.time.values
    numbered = run.drop_vars("time").rename(time="record")
    return numbered.assign(recorded_time=("record", times))


def by_time(result: "xarray.Dataset", **place: Any) -> "xarray.Dataset":
    """What was joined by record, over `time` again; the place is where records have the same times."""
    found = result.sel(place)
    times = found.recorded_time.values
    return found.drop_vars("recorded_time").rename(record="time").assign_coords(time=times)
