"""Features and targets of a readout: checked, centred."""

from typing import Any

from lazyrich.core import argument_error, centred, choice, moderate


def checked_pair(features: Any, targets: Any, centring: str = "samples") -> tuple[Any, Any]:
    """Features (n, K) and targets (n, M), without their means over samples if `centring` says so."""
    F = moderate("features", features, advice="Pass the activations of the hidden layer.")
    Y = moderate("targets", targets, advice="Pass one row of targets for each sample.")
    if F.ndim != 2 or 0 in F.shape:
        raise argument_error("features", "have the shape (samples, nodes), not empty", F.shape)
    if Y.ndim != 2 or Y.shape[0] != F.shape[0] or Y.shape[1] < 1:
        raise argument_error(
            "targets", f"have the shape ({F.shape[0]}, outputs) to fit `features`", Y.shape
        )
    choice("centring", centring, ("samples", "none"))
    return centred(F, centring), centred(Y, centring)
