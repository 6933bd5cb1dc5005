"""The learning curve of a linear network, plateau by plateau, before it is trained."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import digamma, expit, polygamma

from lazyrich.core import (
    ArgumentError,
    AssumptionError,
    argument_error,
    count,
    number,
    untraced,
)
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._linear_fixed_points import LinearFixedPoints
from lazyrich.theory._linear_task import layers_of
from lazyrich.theory._saddles import Saddles
from lazyrich.theory._solution import times
from lazyrich.theory._staircase_curve import fall, halfway_times, visible_plateaus
from lazyrich.theory._staircase_walk import Drop, walk

UNDECIDED = 0.7
"""Escapes with less than this share in one mode are marked in the text."""
SMALL = 0.1
"""A start is small if it has less than this share of the first mode; above, times are off by a fifth."""
NEGLIGIBLE = 0.01
"""Modes with less than this share of what can be learned do not count as the first."""


class Staircase(Frozen):
    r"""When a two-layer network that is linear in its first layer learns which mode, from a small start.

    $$ \mathcal{L}(t) = \tfrac12\Bigl(\operatorname{Tr}\Sigma_{yy} - \sum_r \mu_{k_r}
         \bigl[1 - (1 - x_r(t))^2\bigr]\Bigr), \qquad x_r(t) = \frac{1}{1 + e^{-2 s_r (t - t_r)}}, \qquad
       t_r = t_{r-1} + \frac{1}{2 s_r} \ln\frac{2\lVert e_{k_r}^\top\Sigma_{yz}\Sigma_{zz}^+\rVert}
         {\lVert\Theta_r p_r\rVert^2} $$

    where $t_0 = 0$ and $\Theta_1$ holds the units at the start, one $(v_i, u_i)$ in each row. Near the fixed
    point of the modes learned so far all units obey $\dot\theta_i = M_r\theta_i$, with the residual
    correlation of Eq. 42 in the blocks of $M_r$. The eigenvector $p_r$ of $M_r$ that arrives first wins, at
    the rate $s_r$, its eigenvalue. The mode learned is the $e_k$ closest to the outputs' part of $p_r$. Where
    several $\mu$ differ by less than 20 %, any mixture of their $e_k$ is (nearly) at rest: $e_k$ is then the
    outputs' part of $p_r$ within their span, $\mu_k$ the mean of theirs with its squared entries as weights.
    What the units have in common with the winner's profile is used up, the rest grows on:

    $$ \Theta_{r+1} = \Bigl(1 - \frac{\Theta_r p_r p_r^\top\Theta_r^\top}{\lVert\Theta_r p_r\rVert^2}\Bigr)
         \Theta_r e^{M_r (t_r - t_{r-1})} $$

    From a random start $\lVert\Theta_r p_r\rVert^2$ is its value for $\Theta_1 = \epsilon 1$ times a
    chi-square variable with H − r + 1 degrees of freedom, independent for each r. `drop_times` are then
    means, `spread` are standard deviations.

    Symbols:
        $\Sigma_{yz}$ → `correlation`, $\Sigma_{zz}$ → `covariance`, $\operatorname{Tr}\Sigma_{yy}$ →
        `output_power`, ε → `initial_std`, H → `width`, $u_i$ → column i of `first`, $v_i$ → row i of
        `second`, $k_r$ → `order`, $\mathcal{A}_r = \{k_1, \ldots, k_r\}$ → `modes`, $\eta s_r$ → `rates`;
        $\mu_k$ and $e_k$ as in `LinearFixedPoints`.

    Source:
        saddles, Sec. 5.1, G.2, G.3, whose linear systems (Eq. 10, 41) it strings together. The times are not
        in the paper, which leaves open what fixed point comes next (Remark 2).

    Holds when:
        the start is small, its product below a tenth of the first mode: errors of the times stay of the
        order of a drop's width while the times themselves grow like ln(1/ε). Loss = ½ mean squared norm of
        the error, gradient flow; for a loss without the ½ double `learning_rate` and the losses. The choice
        of the mode is a rule that simulations bear out, not a theorem; `alignment` says how clear it is.
        Drops that are not separated are summed; `is_visible` says which plateaus remain. With fewer units
        than modes the last plateau is left in the end if it does not hold the best modes; this is not
        predicted.

    Computed as:
        it is written, in the eigenvectors of $M_r$, with lengths as logarithms; eigenvectors of equal rates
        are the principal axes of the units. The spread is propagated to first order. $\Sigma_{zz}^+$ as in
        `LinearFixedPoints`; `rank` says how many directions have variance.

    Checked by:
        `tests/theory/test_staircase.py`; measured errors by `benchmarks/staircase.py`.

    Args:
        correlation: $\Sigma_{yz}$, shape (outputs, inputs).
        covariance: $\Sigma_{zz}$, shape (inputs, inputs), symmetric, positive semi-definite.
        output_power: mean squared norm of the outputs; without it the least that fits.
        initial_std: standard deviation ε > 0 of all weights at the start, for a prediction over random
            starts.
        width: number of units H, with `initial_std`.
        first: first layer at the start, shape (inputs, units), for a prediction of this one run.
        second: second layer at the start, shape (units, outputs), with `first`.
        learning_rate: η > 0; time is then counted in steps. With 1, the default, time is
            learning rate × step.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import Staircase
        >>> print(Staircase(np.diag([2.0, 1.0]), np.eye(2), initial_std=1e-6, width=50))
        plateau  modes   loss  from   until  ±
        0        {}      2.5   0      6.061  0.051
        1        {0}     0.5   6.061  11.79  0.1
        2        {0, 1}  0     11.79
    """

    @untraced
    def __init__(
        self,
        correlation: Any,
        covariance: Any,
        output_power: Any = None,
        *,
        initial_std: Any = None,
        width: Any = None,
        first: Any = None,
        second: Any = None,
        learning_rate: Any = 1.0,
    ):
        points = LinearFixedPoints(correlation, covariance, output_power)
        _check_correlation(points)
        eta = number("learning_rate", learning_rate, above=0, advice="Use 1 as usual.")
        start, log_gains, variances = _start(points, initial_std, width, first, second)
        saddles = Saddles(points)
        drops = walk(saddles, start, log_gains)
        if not drops:
            raise AssumptionError(
                "The start has no part in what is to be learned. Draw it at random."
            )
        _check_small(drops)
        self._points, self._eta, self._drops = points, eta, tuple(drops)
        self._drop_times = halfway_times(drops) / eta
        self._spread = np.zeros(len(drops))
        if np.any(variances):
            slopes = _slopes(lambda gains: halfway_times(walk(saddles, start, gains)), log_gains)
            self._spread = np.sqrt(slopes**2 @ variances) / eta

    @property
    def rank(self) -> int:
        """The number of directions in which the inputs vary."""
        return self._points.rank

    @property
    def order(self) -> tuple[int, ...]:
        """The modes in the order in which they are learned; 0 is the one that lowers the loss most.

        A mixture of modes has the number of the one with the nearest μ; equal ones are numbered as they come.
        """
        return tuple(drop.mode for drop in self._drops)

    @property
    def modes(self) -> tuple[tuple[int, ...], ...]:
        """The fixed points visited, from the empty one on; each as the set of its modes, sorted."""
        return tuple(tuple(sorted(self.order[:r])) for r in range(len(self.order) + 1))

    @property
    def levels(self) -> np.ndarray:
        """The loss on each plateau, what `measures.plateaus` finds as `levels`."""
        mu = self._points.eigenvalues
        losses = np.array([self._points.loss(modes) for modes in self.modes])
        # mixtures of nearly equal modes; where whole groups are learned only rounding is left of this
        more = np.cumsum([0.0, *(mu[drop.mode] - drop.gain for drop in self._drops)]) / 2
        return losses + np.where(np.abs(more) > 1e-12 * mu[0], more, 0)

    @property
    def rates(self) -> np.ndarray:
        r"""How fast weights grow before each drop, $\eta s_r$; products of weights grow twice as fast."""
        return self._eta * np.array([drop.rate for drop in self._drops])

    @property
    def drop_times(self) -> np.ndarray:
        """When the loss is half-way between neighbouring plateaus."""
        return self._drop_times.copy()

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of each drop's time over random starts; 0 for a start that is known."""
        return self._spread.copy()

    @property
    def drop_widths(self) -> np.ndarray:
        """How long each drop takes alone, from 10 % to 90 % of its height."""
        begin, end = 1 - np.sqrt([0.9, 0.1])
        return np.log(end * (1 - begin) / (begin * (1 - end))) / (2 * self.rates)

    @property
    def durations(self) -> np.ndarray:
        """How long each plateau lasts, from half-way down to half-way down; the last one for ever."""
        return np.diff(self.drop_times, prepend=0.0, append=np.inf)

    @property
    def alignment(self) -> np.ndarray:
        """The share of each escape direction in the mode, or mixture, that it is to learn, in (0, 1]."""
        return np.array([drop.share for drop in self._drops])

    @property
    def is_visible(self) -> np.ndarray:
        """Which plateaus are seen: the loss falls there less than half as fast as before and after."""
        return visible_plateaus(self._drops)

    @untraced
    def loss(self, time: Any) -> np.ndarray:
        """The predicted loss, a sum of one logistic drop for each mode."""
        t = self._eta * np.asarray(times(time))
        return np.asarray(self._points.output_power / 2 - fall(self._drops, t))

    def __str__(self) -> str:
        ends = [f"{time:.4g}" for time in self.drop_times]
        rows = [
            [
                str(r),
                "{" + ", ".join(map(str, modes)) + "}",
                f"{loss:.4g}",
                begin,
                end,
                spread,
                note,
            ]
            for r, (modes, loss, begin, end, spread, note) in enumerate(
                zip(
                    self.modes,
                    self.levels,
                    ["0", *ends],
                    [*ends, ""],
                    [*(f"{spread:.2g}" for spread in self.spread), ""],
                    self._notes(),
                    strict=True,
                )
            )
        ]
        rows.insert(0, ["plateau", "modes", "loss", "from", "until", "±", ""])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def _notes(self) -> list[str]:
        """What a reader of each row must know."""
        merged = ["" if seen else "merged into one drop" for seen in self.is_visible]
        unclear = [
            "" if share >= UNDECIDED else f"next mode undecided ({share:.0%})"
            for share in self.alignment
        ]
        pairs = zip(merged, [*unclear, ""], strict=True)
        return [", ".join(filter(None, pair)) for pair in pairs]

    def __repr__(self) -> str:
        return f"<Staircase of {len(self._drops)} drops, modes {self.order}>"


def _check_correlation(points: LinearFixedPoints) -> None:
    if points.num_modes == 0:
        raise argument_error(
            "correlation", "not vanish, nor `covariance`", 0.0,
            "There is nothing to learn then: compute both from the same samples.",
        )  # fmt: skip
    reached = points.map(range(points.num_modes)) @ points.covariance
    if np.abs(points.correlation - reached).max() > 1e-6 * np.abs(points.correlation).max():
        raise argument_error(
            "correlation", "vanish in directions without variance, which `covariance` says there are",
            "a part there", "Compute both from the same samples.",
        )  # fmt: skip


def _start(
    points: LinearFixedPoints, initial_std: Any, width: Any, first: Any, second: Any
) -> tuple[Any, ...]:
    """Units, what multiplies their squared length at each drop (logarithms), and its variance."""
    is_random = initial_std is not None or width is not None
    is_known = first is not None or second is not None
    if is_random == is_known:
        raise ArgumentError(
            "Either `initial_std` and `width`, for a random start, or `first` and `second`, for a known one, "
            f"must be given, got {'both' if is_known else 'neither'}. Pass one pair."
        )
    if is_known:
        units = _known_units(points, first, second)
        zeros = np.zeros(min(points.num_modes, _num_profiles(units)))
        return units, zeros, zeros
    epsilon = number(
        "initial_std",
        initial_std,
        above=0,
        advice="Pass the standard deviation of the weights, e.g. 1e-4.",
    )
    H = count("width", width, at_most=10**9, advice="Pass the number of units.")
    freedom = H - np.arange(min(points.num_modes, H))
    # mean and variance of the logarithm of a chi-square variable
    log_gains = np.log(2) + digamma(freedom / 2)
    return epsilon * np.eye(sum(points.correlation.shape)), log_gains, polygamma(1, freedom / 2)


def _known_units(points: LinearFixedPoints, first: Any, second: Any) -> np.ndarray:
    _, W1, W2 = layers_of(points.correlation, first, second)
    return np.concatenate([W2, W1.T], axis=1)


def _num_profiles(units: np.ndarray) -> int:
    """How many units are independent, however small some are beside others."""
    lengths = np.linalg.norm(units, axis=1)
    return int(np.linalg.matrix_rank(units[lengths > 0] / lengths[lengths > 0, None]))


def _check_small(drops: Sequence[Drop]) -> None:
    """The first drop that matters has not begun; small modes may lie below the start."""
    least = NEGLIGIBLE * sum(drop.gain for drop in drops)
    drop = next(drop for drop in drops if drop.gain > least)
    done = float(expit(-2 * drop.rate * drop.centre))
    if done > SMALL:
        raise AssumptionError(
            f"The start must be small: at most {SMALL:g} of the first mode, but its product already has "
            f"{done:.2g}. Use smaller weights."
        )


def _slopes(function: Callable[[np.ndarray], np.ndarray], point: np.ndarray) -> np.ndarray:
    """Derivatives by central differences, last axis the arguments."""
    steps = 1e-4 * np.eye(point.size)
    columns = [(function(point + step) - function(point - step)) / 2e-4 for step in steps]
    return np.stack(columns, axis=-1)
