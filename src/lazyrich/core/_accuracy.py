"""Accuracy: a closed form against the same quantity at many digits, point by point."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

AIM = 1e-12
"""The relative error that a closed form should stay below."""
DIGITS = 50
"""Decimal digits at which references are evaluated, unless they ask for more."""
ULPS = 32
"""How many roundings, each amplified by the condition number, an ill-conditioned value may show."""

_EPS, _TINY, _HUGE = 2.0**-52, float(np.finfo(float).tiny), float(np.finfo(float).max)
_REPORT_EVERY = 200  # points; a reference may take milliseconds

Report = Callable[[str, int, int], None]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What the library computes on a grid, and how to compute it at many digits.

    `reference`, `scale` and `condition` are functions of the arguments at one point, in their order; numbers
    arrive as `mpmath` numbers with exactly the value the library was given. They may also be arrays that
    broadcast against `values`.

    Attributes:
        values: what the library gives, real or complex, any shape.
        reference: the same quantity at many digits, from its definition.
        arguments: name → values on the grid; they broadcast against `values`.
        scale: the natural size of a value that may pass through zero; errors are relative to the larger of it
            and the reference. None: relative to the reference.
        condition: condition number: by what relative errors of the arguments are amplified. None: about 1.
    """

    values: Any
    reference: Any
    arguments: Mapping[str, Any]
    scale: Any = None
    condition: Any = None


@dataclasses.dataclass(frozen=True)
class AccuracyResult:
    """The largest relative error found, and where.

    Attributes:
        error: largest relative error.
        num_points: how many values were compared.
        where: the arguments at which it occurs; where an error is too large, the arguments of that one.
        value: the library's value there.
        reference: the value at many digits, rounded.
        condition: condition number there, where the entry knows it.
        allowed: error up to which the value there counts as explained; at least `aim`.
        excess: the largest ratio of an error to what is allowed at its point.
        aim: the error to stay below.
        explanation: why some errors are larger than the aim.
    """

    error: float
    num_points: int
    where: dict[str, Any]
    value: Any
    reference: str
    condition: float | None
    allowed: float
    excess: float
    aim: float = AIM
    explanation: str = ""

    @property
    def verdict(self) -> str:
        """`holds` within the aim, `explained` above it for a stated reason, otherwise `fails`."""
        return self._judge()[0]

    @property
    def reason(self) -> str:
        """Why the verdict is not `holds`, in words."""
        return self._judge()[1]

    def _judge(self) -> tuple[str, str]:
        if self.num_points < 1:
            return "fails", "nothing was compared"
        if self.error <= self.aim:
            return "holds", ""
        if not self.explanation:
            return "fails", f"error {self.error:.2g} exceeds {self.aim:.2g}, and nothing says why"
        if not self.excess <= 1:  # catches NaN too
            return "fails", f"error {self.error:.2g} exceeds {self.allowed:.2g}, which is explained"
        return "explained", self.explanation


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """One closed form of this library, compared with `mpmath` on a fixed grid.

    Attributes:
        id: its public name, such as `theory.LinearGrokking.train_loss`.
        title: what it is.
        against: what the reference evaluates.
        grid: the points, in words.
        compare: computes the values; takes nothing, chooses nothing.
        also: public names that the same comparison covers.
        aim: the relative error to stay below.
        explanation: why some errors are larger. They must then stay below `bound`, or below 32 roundings
            times the condition number of the point.
        bound: see `explanation`.
        seconds: expected duration.
    """

    id: str
    title: str
    against: str
    grid: str
    compare: Callable[[], Comparison | Iterable[Comparison]]
    also: tuple[str, ...] = ()
    aim: float = AIM
    explanation: str = ""
    bound: float = 0.0
    seconds: float = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """All public names that this entry covers."""
        return (self.id, *self.also)

    def run(self, report: Report | None = None) -> AccuracyResult:
        """Compare at every point of the grid."""
        import mpmath

        with mpmath.workdps(DIGITS):
            found = self.compare()
            comparisons = [found] if isinstance(found, Comparison) else list(found)
            total = sum(np.size(comparison.values) for comparison in comparisons)
            points = (point for comparison in comparisons for point in _points(comparison))
            return self._worst(self._watched(points, total, report))

    def _watched(self, points: Iterator[Any], total: int, report: Report | None) -> Iterator[Any]:
        for done, point in enumerate(points):
            if report and done % _REPORT_EVERY == 0:
                report("points", done, total)
            yield point

    def _worst(self, points: Iterator["_Point"]) -> AccuracyResult:
        number, worst, beyond, excess, allowed_there = 0, None, None, 0.0, self.aim
        for point in points:
            number += 1
            allowed = max(self.aim, self.bound, ULPS * _EPS * (point.condition or 0.0))
            if worst is None or point.error > worst.error:
                worst, allowed_there = point, allowed
            if point.error / allowed > max(excess, 1.0):
                beyond = point, allowed
            excess = max(excess, point.error / allowed)
        if worst is None:
            return AccuracyResult(0.0, 0, {}, None, "", None, self.aim, 0.0, self.aim)
        if beyond:
            worst, allowed_there = beyond
        return AccuracyResult(
            worst.error, number, worst.where, worst.value, worst.shown(), worst.condition,
            allowed_there, excess, self.aim, self.explanation,
        )  # fmt: skip

    def record(self, result: AccuracyResult) -> dict[str, Any]:
        """A plain record of this entry and its result."""
        return {
            "id": self.id, "title": self.title, "against": self.against, "grid": self.grid,
            "covers": list(self.names), **dataclasses.asdict(result), "verdict": result.verdict,
            "reason": result.reason,
        }  # fmt: skip


def accuracy(
    id: str,
    title: str,
    *,
    against: str,
    grid: str,
    also: Iterable[str] = (),
    aim: float = AIM,
    explanation: str = "",
    bound: float = 0.0,
    seconds: float = 1.0,
) -> Callable[..., Accuracy]:
    """Turn a function that returns a `Comparison`, or several, into an `Accuracy`."""
    return lambda compare: Accuracy(
        id, title, against, grid, compare, tuple(also), aim, explanation, bound, seconds
    )


@dataclasses.dataclass(frozen=True)
class _Point:
    error: float
    condition: float | None
    arguments: tuple[tuple[str, Any], ...]
    computed: Any
    exact: Any

    @property
    def where(self) -> dict[str, Any]:
        return {name: _plain(value) for name, value in self.arguments}

    @property
    def value(self) -> Any:
        return str(self.computed) if isinstance(self.computed, complex) else float(self.computed)

    def shown(self) -> str:
        import mpmath

        return str(mpmath.nstr(mpmath.mpmathify(self.exact), 17))


def _points(comparison: Comparison) -> Iterator[_Point]:
    """Each point with its error."""
    values = np.asarray(comparison.values)
    names = list(comparison.arguments)
    columns = [_column(comparison.arguments[name], values.shape) for name in names]
    exact = _evaluated(comparison.reference, values.shape, columns)
    scales = _evaluated(comparison.scale, values.shape, columns)
    conditions = _evaluated(comparison.condition, values.shape, columns)
    rows = zip(*columns, strict=True) if columns else ((),) * values.size
    flat = values.ravel().tolist()
    for value, true, scale, condition, row in zip(
        flat, exact, scales, conditions, rows, strict=True
    ):
        yield _Point(
            relative_error(value, true, scale),
            None if condition is None else float(condition),
            tuple(zip(names, row, strict=True)),
            value,
            true,
        )


def relative_error(value: float | complex, exact: Any, scale: Any = None) -> float:
    """|value − exact| relative to the larger of |exact| and the scale.

    What double precision cannot hold counts as right where it became 0, subnormal or infinite as it must.
    """
    import mpmath

    given, true = mpmath.mpmathify(value), mpmath.mpmathify(exact)
    if mpmath.isnan(given) or mpmath.isnan(true):
        return float("inf")
    if given == true or (abs(true) < _TINY and abs(given) <= _TINY):
        return 0.0
    if not mpmath.isfinite(given) or not mpmath.isfinite(true):
        rounds = mpmath.isinf(given) and abs(true) > _HUGE and given.real * true.real > 0
        return 0.0 if rounds else float("inf")
    size = abs(true) if scale is None else max(abs(true), abs(mpmath.mpmathify(scale)))
    return float(abs(given - true) / size) if size else float("inf")


def _column(argument: Any, shape: tuple[int, ...]) -> list[Any]:
    return np.broadcast_to(np.asarray(argument), shape).ravel().tolist()


def _evaluated(source: Any, shape: tuple[int, ...], columns: list[list[Any]]) -> Iterator[Any]:
    """A function at every point, or an array flattened; None everywhere for None."""
    if callable(source):
        rows = zip(*columns, strict=True) if columns else ((),) * int(np.prod(shape))
        return (source(*map(_exactly, row)) for row in rows)
    return iter(np.broadcast_to(np.asarray(source, dtype=object), shape).ravel().tolist())


def _exactly(value: Any) -> Any:
    """The same number in `mpmath`; whole numbers, truth values and words as they are."""
    import mpmath

    return mpmath.mpmathify(value) if isinstance(value, float | complex) else value


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, complex) else value
