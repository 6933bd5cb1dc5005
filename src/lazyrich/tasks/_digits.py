"""Pictures of handwritten digits: MNIST from a folder, or a small set that comes with the install."""

import dataclasses
import functools
import hashlib
import importlib.resources
import os
from pathlib import Path

import numpy as np

from lazyrich.core import DataError, argument_error, choice
from lazyrich.tasks._idx import load_idx

PACKAGED = "packaged"
_MNIST = {
    "train": "af50df5aa2090045628514ae408bead0bf266b2229064a1e92c4b6eec1480e63",
    "test": "04812d6e5ccc2c2631fd104e2e982d6f814fd29cbf68b3a5527114138d069747",
}
"""Fingerprints of the original files: other sets, such as Fashion-MNIST, come under the same names."""
_PREFIX = {"train": "train", "test": "t10k"}
_TRAIN_SAMPLES = 1500
"""The packaged set is not divided by its authors; these come first, 297 are left for the test."""


@dataclasses.dataclass(frozen=True, eq=False)
class Digits:
    """Pictures and what they show. Arrays are read-only.

    Attributes:
        images: grey values, unsigned bytes, shape (samples, rows, columns).
        labels: digits 0 to 9, unsigned bytes, shape (samples,).
        white: the largest grey value, 255 or 16; pixels divided by it are between 0 and 1.
        name: `mnist`, `uci-digits` (the packaged set), or `idx` for other files in MNIST's form.
        fingerprint: digest of images and labels, the same for gzipped and plain files.
    """

    images: np.ndarray
    labels: np.ndarray
    white: int
    name: str
    fingerprint: str


def digit_images(source: str | os.PathLike[str] | None = None, part: str = "train") -> Digits:
    """Pictures of handwritten digits.

    With a folder, the four files of MNIST, gzipped or not, there or in its subfolder `mnist`. Without one,
    the folder that the environment variable `LAZYRICH_DATA` names. Without that, the 1797 pictures of 8 × 8
    pixels that come with the install: the test part of *Optical Recognition of Handwritten Digits* (Alpaydin
    and Kaynak 1998, UCI Machine Learning Repository, CC BY 4.0).

    Pictures are read once and kept as long as their files do not change.

    Args:
        source: a folder; `"packaged"` for the small set; None to look as told above.
        part: `train` or `test`; of the packaged set the first 1500 pictures and the other 297.

    Returns:
        Pictures, labels, and which data they are.

    Raises:
        DataError: a folder is given, here or by `LAZYRICH_DATA`, and the files are missing or damaged.

    Example:
        >>> from lazyrich.tasks import digit_images
        >>> digits = digit_images("packaged")
        >>> digits.images.shape, digits.name, digits.labels[:5]
        ((1500, 8, 8), 'uci-digits', array([0, 1, 2, 3, 4], dtype=uint8))
    """
    part = choice("part", part, _PREFIX)
    place = resolved(source)
    if place == PACKAGED:
        return _packaged(part)
    images, labels = (_find(Path(place), part, kind) for kind in ("images-idx3", "labels-idx1"))
    return _from_files(*_state(images), *_state(labels), part)


def resolved(source: str | os.PathLike[str] | None) -> str:
    """Where pictures come from: an absolute path, or `packaged`."""
    place = os.environ.get("LAZYRICH_DATA") or PACKAGED if source is None else source
    if place == PACKAGED:
        return PACKAGED
    try:
        return os.path.abspath(os.fsdecode(place))
    except TypeError as error:
        raise argument_error(
            "source", "be a folder, 'packaged' or None", source, "Pass a path."
        ) from error


def _find(folder: Path, part: str, kind: str) -> Path:
    """The file, under one of the names it is distributed with."""
    stem = f"{_PREFIX[part]}-{kind}"
    names = [f"{stem}-ubyte", f"{stem}-ubyte.gz", f"{stem}.ubyte", f"{stem}.ubyte.gz"]
    for home in (folder, folder / "mnist"):
        for name in names:
            if os.path.isfile(home / name):  # unlike Path's, false where permission is lacking
                return home / name
    raise DataError(
        f"`{folder}` must hold {names[1]} (or {names[0]}), there or in its subfolder mnist, got no such "
        "file. Put the four files of MNIST there, or use 'packaged' (unset LAZYRICH_DATA) for the small "
        "digits set."
    )


def _state(path: Path) -> tuple[str, int, int]:
    """What changes when a file does."""
    state = path.stat()
    return str(path), state.st_size, state.st_mtime_ns


@functools.lru_cache(maxsize=4)
def _from_files(
    images_path: str, _size: int, _time: int, labels_path: str, _size2: int, _time2: int, part: str
) -> Digits:
    images, labels = load_idx(images_path), load_idx(labels_path)
    for path, array, dimensions, kind in (
        (images_path, images, 3, "images"),
        (labels_path, labels, 1, "labels"),
    ):
        if array.ndim != dimensions:
            other = "labels" if kind == "images" else "images"
            raise DataError(
                f"`{path}` must hold {kind}, got {other}. Check the names of the files."
            )
    if len(images) != len(labels):
        raise DataError(
            f"`{labels_path}` must hold a label for each of {len(images)} images, got {len(labels)}. "
            "Take both files from the same data set."
        )
    if labels.max() > 9:
        raise DataError(
            f"`{labels_path}` must hold digits 0 to 9, got {labels.max()}. Use a set of ten classes."
        )
    fingerprint = _digest(images, labels)
    name = "mnist" if fingerprint == _MNIST[part] else "idx"
    return Digits(images, labels, 255, name, fingerprint)


@functools.lru_cache(maxsize=2)
def _packaged(part: str) -> Digits:
    file = importlib.resources.files("lazyrich.tasks").joinpath("digits.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    rows = slice(_TRAIN_SAMPLES) if part == "train" else slice(_TRAIN_SAMPLES, None)
    images, labels = images[rows], labels[rows]
    images.flags.writeable = labels.flags.writeable = False
    return Digits(images, labels, 16, "uci-digits", _digest(images, labels))


def _digest(images: np.ndarray, labels: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in (images, labels):
        digest.update(str(array.shape).encode() + b"\0")
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
