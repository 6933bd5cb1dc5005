"""What is known of a fixed point: where it is, of what kind, how it is left."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import AssumptionError, Crossing, Status, number


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SaddleCertificate:
    """The fixed point at or near some weights: where, of what kind, how it is left.

    The eigenvalues are those of the Hessian at `fixed_point`; if there is none, at the weights. Time is
    that of gradient flow, learning rate × step.

    Attributes:
        gradient_norm: norm of the gradient at the weights.
        gradient_noise: what rounding alone makes of it.
        fixed_point: the fixed point's weights, flat; None where none was found within the radius.
        distance: from the weights to it; inf where there is none.
        lowest: lowest eigenvalue.
        lowest_error: bound of its error, ‖Hq − λq‖, plus what rounding and the search leave open.
        highest: highest eigenvalue.
        highest_error: its error.
        tolerance: eigenvalues up to this size count as zero.
        index: number of negative eigenvalues, the directions in which the loss falls.
        index_is_exact: False where there are more than were looked for: then `index` is a lower bound.
        num_flat: number of eigenvalues that count as zero; None where not all eigenvalues are known.
        dimension: number of weights.
        escape_direction: unit vector of the lowest eigenvalue, on the side where the weights are.
        rates: growth rates, minus the negative eigenvalues found, largest first.
        displacements: from the fixed point to the weights, along the eigenvectors of these rates; 0 where
            rounding hides it.
        hessian_change: norm of the difference of the Hessians at the weights and at the fixed point. Where
            it is not small beside the rates, the weights do not move as these say.
    """

    gradient_norm: float
    gradient_noise: float
    fixed_point: np.ndarray | None
    distance: float
    lowest: float
    lowest_error: float
    highest: float
    highest_error: float
    tolerance: float
    index: int
    index_is_exact: bool
    num_flat: int | None
    dimension: int
    escape_direction: np.ndarray
    rates: np.ndarray
    displacements: np.ndarray
    hessian_change: float

    @property
    def verdict(self) -> str:
        """In a word: minimum, saddle, maximum, degenerate or neither.

        "saddle": the loss falls along a direction, though not along all. "degenerate": along none to
        second order, and along some neither does it rise, so that higher orders decide; minima of
        networks with more weights than needed are of this kind. "neither": no fixed point is near.
        """
        if self.fixed_point is None:
            return "neither"
        if self.highest < -self.tolerance:
            return "maximum"
        if self.index > 0:
            return "saddle"
        return "minimum" if self.lowest > self.tolerance else "degenerate"

    @property
    def e_folding_time(self) -> float:
        """The time in which the fastest displacement grows by e; inf where none grows."""
        return float(1 / self.rates[0]) if self.rates.size else np.inf

    def escape_time(self, size: float = 1.0) -> Crossing:
        r"""When the displacement along the growing directions reaches a size, if the rates stay.

        $$ \sum_k a_k^2 e^{2 r_k t} = \text{size}^2 $$

        with $a_k$ the `displacements` and $r_k$ the `rates`. Status `NEVER`, and inf, where no
        displacement shows.
        """
        size = number("size", size, above=0, advice="Use 1, the size that counts as large.")
        if self.fixed_point is None:
            raise AssumptionError(
                "`escape_time` needs a fixed point, and none was found. Pass weights from a plateau."
            )
        return _escape_time(np.abs(self.displacements), self.rates, size)

    def __repr__(self) -> str:
        return "\n".join([_kind(self), _place(self), _eigenvalues(self), *_escape(self)])


def _escape_time(sizes: np.ndarray, rates: np.ndarray, size: float) -> Crossing:
    from scipy.optimize import brentq

    shown = sizes > 0
    a, r = np.log(sizes[shown]) - np.log(size), rates[shown]

    def excess(time: Any) -> Any:
        """Logarithm of (displacement / size)²."""
        return np.logaddexp.reduce(2 * (a + r * time))

    if a.size == 0:
        return Crossing(np.float64(np.inf), Status.NEVER)
    if excess(0.0) >= 0:
        return Crossing(np.float64(0), Status.AT_START)
    time: Any = np.min(-a / r)  # when the first of them gets there by itself
    if excess(time) > 0:  # the others make it earlier
        time = brentq(excess, 0, time, xtol=1e-14 * time)
    return Crossing(np.float64(time), Status.REACHED)


def _kind(c: SaddleCertificate) -> str:
    number = str(c.index) if c.index_is_exact else f"at least {c.index}"
    flat = "" if c.num_flat is None else f", {c.num_flat} are flat"
    return f"{c.verdict}: the loss falls in {number} of {c.dimension} directions{flat}"


def _place(c: SaddleCertificate) -> str:
    where = "no fixed point is near"
    if c.fixed_point is not None:
        where = f"fixed point {c.distance:.3g} away" if c.distance > 0 else "at a fixed point"
    return f"gradient {c.gradient_norm:.3g}, {where}"


def _eigenvalues(c: SaddleCertificate) -> str:
    return (
        f"eigenvalues from {c.lowest:.6g} ± {c.lowest_error:.2g} to {c.highest:.6g} ± "
        f"{c.highest_error:.2g}; up to {c.tolerance:.2g} counts as zero"
    )


def _escape(c: SaddleCertificate) -> list[str]:
    if c.fixed_point is None or not c.rates.size:
        return []
    time = c.escape_time().time
    then = f"they reach size 1 at {time:.3g}" if np.isfinite(time) else "none shows"
    lines = [
        f"displacements grow by e in {c.e_folding_time:.3g}; {then} (times: learning rate × step)"
    ]
    if c.hessian_change > 0.1 * c.rates[0]:
        lines.append(
            f"the Hessian changes by {c.hessian_change:.3g} from there to here: the times are guesses"
        )
    return lines
