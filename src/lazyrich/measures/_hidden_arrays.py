"""Arrays of a network with one hidden layer, checked: weights, features, targets, with leading axes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyrich.core import argument_error, as_array, real, whole

LARGEST = 1e40
"""Entries up to which sixth powers, as in the squared length of FVVᵀ, are no infinities."""


def real_or_complex(name: str, value: Any, *, advice: str, largest: float = LARGEST) -> np.ndarray:
    """float64 or complex128, finite, up to a size."""
    array = _finite(name, value, advice)
    size = np.abs(array).max(initial=0.0)
    if size > largest:
        got = f"one of size {size:.3g}"
        raise argument_error(name, f"have entries of a size up to {largest:g}", got, "Rescale it.")
    return array


def _finite(name: str, value: Any, advice: str) -> np.ndarray:
    try:
        array = as_array(value)
    except Exception:
        return real(name, value, advice=advice)  # which says why it cannot be read
    if array.dtype.kind != "c":
        return real(name, array, advice=advice)
    if not np.all(np.isfinite(array)):
        raise argument_error(name, "be an array of finite numbers", "NaN or inf", advice)
    return array.astype(np.complex128)


def matrices(
    name: str, value: Any, shape: str, *, advice: str, largest: float = LARGEST
) -> np.ndarray:
    """An array of matrices, shape (..., rows, columns), neither empty."""
    array = real_or_complex(name, value, advice=advice, largest=largest)
    if array.ndim < 2 or 0 in array.shape:
        raise argument_error(name, f"have the shape {shape}, not empty", array.shape, advice)
    return array


def hidden_features(value: Any, largest: float = LARGEST) -> np.ndarray:
    """Features F, shape (..., n, K), of at least two samples."""
    advice = "Pass the hidden activations."
    F = matrices("features", value, "(..., samples, nodes)", advice=advice, largest=largest)
    if F.shape[-2] < 2:
        raise argument_error("features", "have at least two samples", F.shape[-2])
    return F


def target_rows(targets: Any, num_samples: int, num_classes: int | None = None) -> np.ndarray:
    """Targets Y, shape (..., n, classes): whole numbers are classes, others are the rows themselves."""
    if not has_integer_type(targets):
        advice = "Pass classes as whole numbers, or rows of targets."
        Y = real("targets", targets, advice=advice, at_least=-LARGEST, at_most=LARGEST)
        wanted = "M" if num_classes is None else num_classes
        if Y.ndim < 2 or Y.shape[-2] != num_samples or Y.shape[-1] != (num_classes or Y.shape[-1]):
            raise argument_error(
                "targets", f"have the shape (..., {num_samples}, {wanted})", Y.shape,
                "Classes must be of an integer type.",
            )  # fmt: skip
        return Y
    k = class_numbers("targets", targets, num_samples, num_classes)
    return np.eye(num_classes or int(k.max()) + 1)[k]


def has_integer_type(value: Any) -> bool:
    """Whether NumPy takes a value for whole numbers; what it cannot read is for `real` to refuse."""
    try:
        return as_array(value).dtype.kind in "iu"
    except Exception:
        return False


def class_numbers(
    name: str,
    labels: Any,
    num_samples: int | None,
    num_classes: int | None = None,
    *,
    one_run: bool = False,
) -> np.ndarray:
    """Classes as whole numbers, shape (..., n), or (n,) for one run; any n where it is None."""
    most = None if num_classes is None else num_classes - 1
    k = whole(name, labels, at_least=0, at_most=most, advice="Number the classes from 0.")
    fits = k.ndim >= 1 and num_samples in (None, k.shape[-1]) and k.size > 0
    if not fits or (one_run and k.ndim != 1):
        n = "samples" if num_samples is None else num_samples
        shape = f"({n},)" if one_run else f"(..., {n})"
        raise argument_error(
            name, f"have the shape {shape}, a class for each sample", k.shape,
            _label_advice(name, k.shape),
        )  # fmt: skip
    return k.astype(int)


def _label_advice(name: str, shape: tuple[int, ...]) -> str:
    if len(shape) < 2:
        return "Pass labels and features of the same samples."
    if shape[-1] == 1:
        return f"Pass the column as `{name}[..., 0]`."
    return "Turn one-hot rows into classes with `.argmax(axis=-1)`."


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
