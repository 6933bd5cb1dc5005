"""A model of emergence whose constants come from the first skill of a network."""

from typing import Any

import numpy as np

from lazyrich.core import (
    ArgumentError,
    argument_error,
    is_traced,
    moderate,
    number,
    real,
    untraced,
)
from lazyrich.theory._emergence import Emergence


@untraced
def calibrate_emergence(
    frequencies: Any,
    target_scale: Any = 1.0,
    *,
    time: Any = None,
    data: Any = None,
    units: Any = None,
) -> Emergence:
    r"""The model of `Emergence` with constants fitted to the first skill of a trained network.

    $$ \min_{\eta, r} \sum_t (R_1^\text{model}(t) - R_1(t))^2, \qquad
       \min_{D_c} \sum_D (R_1^\text{model}(D) - R_1(D))^2, \qquad
       \min_{n_c} \sum_N (R_1^\text{model}(N) - R_1(N))^2 $$

    What the model then says of the other skills rests on their frequencies alone.

    Symbols:
        $R_1$ → the second array of `time`, `data` or `units`, $p_k$ → `frequencies`, $S$ → `target_scale`;
        $\eta$, $r$, $D_c$, $n_c$ are the result's `learning_rate`, `start`, `samples_needed`, `units_needed`.

    Source:
        layerwise, Fig. 4 ("calibrated on the first skill").

    Holds when:
        the first skill's strength rises from nearly 0 to nearly S over what is given; for the rest see
        `Emergence`.

    Computed as:
        least squares: two constants by Gauss–Newton steps from the straight line through the logits, the
        others by trying all whole $D_c$ on ever finer grids, and by bounded minimisation.

    Checked by:
        `tests/theory/test_emergence.py`.

    Args:
        frequencies: $p_k$, shape (skills,), most frequent first.
        target_scale: S.
        time: times and the first skill's strengths then, two arrays of one shape.
        data: numbers of samples and its strengths after long training on them.
        units: numbers of hidden units and its strengths after long training of them.

    Returns:
        The model; constants for which nothing is given keep their defaults.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import Emergence, calibrate_emergence
        >>> t = np.linspace(0, 100, 50)
        >>> network = Emergence([0.7, 0.3], target_scale=2.0, start=1e-3, learning_rate=0.1)
        >>> found = calibrate_emergence([0.7, 0.3], 2.0, time=(t, network.modes(t)[:, 0]))
        >>> float(found.learning_rate.round(6)), float(found.start.round(6))
        (0.1, 0.001)
    """
    model = Emergence(
        frequencies, target_scale, start=0.5 * number("target_scale", target_scale, above=0)
    )
    p, S = float(model.frequencies[0]), float(model.target_scale)
    constants: dict[str, Any] = {"start": 1e-3 * S}
    if time is not None:
        rate, odds = _sigmoid(*_curve("time", time, S))
        constants |= {"learning_rate": rate / (2 * S * p), "start": S / (1 + np.exp(odds))}
    if data is not None:
        constants["samples_needed"] = _samples_needed(p, *_curve("data", data, S))
    if units is not None:
        constants["units_needed"] = _units_needed(*_curve("units", units, S))
    return Emergence(model.frequencies, S, **constants)


def _curve(name: str, pair: Any, S: float) -> tuple[np.ndarray, np.ndarray]:
    """Resource and R/S, checked."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise argument_error(name, "be a pair (resource, strengths of the first skill)", pair)
    x = moderate(name, pair[0], at_least=0, advice="Pass the resource and the strengths.")
    y = real(name, pair[1], advice="Pass the resource and the strengths.")
    if is_traced(x, y) or x.ndim != 1 or x.shape != y.shape or x.size < 3:
        raise argument_error(
            name, "be two arrays of one shape, of at least three", (x.shape, y.shape)
        )
    if not np.any(x):
        raise argument_error(name, "hold a resource other than 0", x)
    if not (np.min(y) < S / 2 < np.max(y)):
        raise ArgumentError(
            f"`{name}` must contain the emergence of the first skill, got strengths from {np.min(y):g} to "
            f"{np.max(y):g} with `target_scale` = {S:g}. Record earlier or train longer."
        )
    return x, y / S


def _sigmoid(t: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Rate and log odds against, of the logistic curve nearest to this one."""
    from scipy.optimize import least_squares
    from scipy.special import expit, logit

    order = np.argsort(t)
    half = float(np.interp(0.5, np.maximum.accumulate(y[order]), t[order]))
    rising = (y > 0.05) & (y < 0.95)
    slope = 10 / half
    if np.sum(rising) > 1 and np.ptp(t[rising]) > 0:
        slope = max(np.polyfit(t[rising], logit(y[rising]), 1)[0], 1 / half)
    start = np.log([slope, slope * half])
    fit: Any = least_squares(
        lambda x: expit(np.exp(x[0]) * t - np.exp(x[1])) - y,
        start,
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    return float(np.exp(fit.x[0])), float(np.exp(fit.x[1]))


def _samples_needed(p: float, D: np.ndarray, y: np.ndarray) -> int:
    """The whole number of samples whose law is nearest."""

    def misfit(c: int) -> float:
        law = Emergence([p], 1.0, 1e-12, samples_needed=c).modes_from_data(D)[:, 0]
        return float(np.sum((law - y) ** 2))

    low, high = 1, int(2 * np.max(D) * p) + 2
    while high - low > 4:
        tried = np.unique(np.round(np.linspace(low, high, 9)).astype(int))
        best = int(np.argmin([misfit(int(c)) for c in tried]))
        low, high = int(tried[max(best - 1, 0)]), int(tried[min(best + 1, tried.size - 1)])
    return min(range(low, high + 1), key=misfit)


def _units_needed(N: np.ndarray, y: np.ndarray) -> float:
    from scipy.optimize import minimize_scalar

    fit: Any = minimize_scalar(
        lambda n: np.sum((np.clip(N / n, 0, 1) - y) ** 2), bounds=(0.25, 4 * np.max(N)), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    return float(fit.x)
