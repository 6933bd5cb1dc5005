"""The page that `lazyrich reproduce` leaves behind."""

from pathlib import Path

from lazyrich import experiments, report, runner, store


def write_gallery(folder: runner.Folder) -> Path:
    """Write the gallery of everything in the folder, and return its file."""
    order = {id: index for index, id in enumerate(experiments.ids())}
    records = {path: r for path, r in folder.records().items() if _can_be_shown(path, r, folder)}
    in_order = sorted(
        records.values(), key=lambda r: (order.get(r["id"], len(order)), r["id"], r["preset"])
    )
    page = folder.path / "index.html"
    store.write_atomically(page, report.gallery(in_order, folder.path).encode())
    return page


def _can_be_shown(path: Path, record: dict, folder: runner.Folder) -> bool:
    """Whether a page of this record alone can be made; what cannot be shown must not hide the rest."""
    try:
        report.gallery([record], folder.path).encode()
    except Exception as error:
        folder.leave_out(path, f"it cannot be shown ({type(error).__name__}: {error})")
        return False
    return True
