"""What experiments on digits have in common."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from lazyrich import tasks
from lazyrich.core import Claim, DataError

if TYPE_CHECKING:
    import xarray


def data_fingerprint(folder: Path | None) -> str:
    """Digest of the digits to train on, for the result's key."""
    try:
        return tasks.digit_images(folder).fingerprint
    except DataError as error:  # raised again by the run, where it stops only this experiment
        return f"unreadable: {error}"


def attributes(digits: "tasks.Digits") -> dict[str, str]:
    """Which digits a result comes from."""
    return {"digits": digits.name, "digits_fingerprint": digits.fingerprint}


def require_mnist(claims: list[Claim], result: "xarray.Dataset") -> list[Claim]:
    """The claims, marked not applicable where the result comes from other digits (its attribute `digits`)."""
    if result.attrs["digits"] == "mnist":
        return claims
    needs = "MNIST; point LAZYRICH_DATA to a folder with its files"
    return [dataclasses.replace(claim, needs=needs) for claim in claims]
