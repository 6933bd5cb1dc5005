"""Arrays of a network with one hidden layer, checked: weights, features, targets, with leading axes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich.core import argument_error, real, whole

CENTRINGS = ("samples", "classes", "both", "none")
"""Means that a residual may lose: over samples as in Eq. 1, over classes as in the public code, both,
none."""


def real_or_complex(name: str, value: Any, *, advice: str) -> np.ndarray:
    """float64 or complex128, finite."""
    try:
        array = np.asarray(value)
    except Exception as error:
        raise argument_error(name, "be an array of finite numbers", value, advice) from error
    if array.dtype.kind != "c":
        return real(name, array, advice=advice)
    if not np.all(np.isfinite(array)):
        raise argument_error(name, "be an array of finite numbers", "NaN or inf", advice)
    return array.astype(np.complex128)


def matrices(name: str, value: Any, shape: str, *, advice: str) -> np.ndarray:
    """An array of matrices, shape (..., rows, columns), neither empty."""
    array = real_or_complex(name, value, advice=advice)
    if array.ndim < 2 or 0 in array.shape:
        raise argument_error(name, f"have the shape {shape}, not empty", array.shape, advice)
    return array


def hidden_features(value: Any) -> np.ndarray:
    """Features F, shape (..., n, K), of at least two samples."""
    F = matrices("features", value, "(..., samples, nodes)", advice="Pass the hidden activations.")
    if F.shape[-2] < 2:
        raise argument_error("features", "have at least two samples", F.shape[-2])
    return F


def target_rows(targets: Any, num_samples: int, num_classes: int | None = None) -> np.ndarray:
    """Targets Y, shape (..., n, classes): whole numbers are classes, others are the rows themselves."""
    array = np.asarray(targets)
    if array.dtype.kind not in "iu":
        Y = real("targets", targets, advice="Pass classes as whole numbers, or rows of targets.")
        wanted = "M" if num_classes is None else num_classes
        if Y.ndim < 2 or Y.shape[-2] != num_samples or Y.shape[-1] != (num_classes or Y.shape[-1]):
            raise argument_error(
                "targets", f"have the shape (..., {num_samples}, {wanted})", Y.shape,
                "Classes must be of an integer type.",
            )  # fmt: skip
        return Y
    k = class_numbers("targets", array, num_samples, num_classes)
    return np.eye(num_classes or int(k.max()) + 1)[k]


def class_numbers(
    name: str, labels: Any, num_samples: int, num_classes: int | None = None
) -> np.ndarray:
    """Classes as whole numbers, shape (..., n)."""
    advice = "Count classes from 0."
    most = None if num_classes is None else num_classes - 1
    k = whole(name, labels, at_least=0, at_most=most, advice=advice)
    if k.ndim < 1 or k.shape[-1] != num_samples:
        raise argument_error(name, f"have the shape (..., {num_samples}) of the samples", k.shape)
    return k.astype(int)


def centred(rows: np.ndarray, centring: str = "samples") -> np.ndarray:
    """Rows (..., n, m) without their mean over samples, or over classes, or both, or as they are."""
    if centring not in CENTRINGS:
        raise argument_error(
            "centring", f"be one of {', '.join(CENTRINGS)}", centring, "Eq. 1 has 'samples'."
        )
    for axis, words in ((-2, ("samples", "both")), (-1, ("classes", "both"))):
        if centring in words:
            rows = rows - rows.mean(axis=axis, keepdims=True)
    return rows


def each(*arrays: np.ndarray) -> tuple[tuple[int, ...], Iterator[tuple[np.ndarray, ...]]]:
    """The common leading shape of arrays of matrices, and the matrices one after the other.

    One at a time, so that a record of many epochs needs the memory of one.
    """
    try:
        lead = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise argument_error(
            "features", "have leading axes that fit the other arrays", shapes,
            "Use the same seeds and times in all.",
        ) from error  # fmt: skip
    spread = [np.broadcast_to(array, lead + array.shape[-2:]) for array in arrays]
    return lead, (tuple(array[index] for array in spread) for index in np.ndindex(*lead))


def gathered(rows: list[Any], lead: tuple[int, ...]) -> tuple[Any, ...]:
    """Tuples of numbers or arrays, one for each matrix, as arrays with the leading shape."""
    columns = (np.array(column) for column in zip(*rows, strict=True))
    return tuple(column.reshape(lead + column.shape[1:])[()] for column in columns)
