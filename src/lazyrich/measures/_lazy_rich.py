"""Lazy or rich: did training change what the network's gradients say?"""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, moderate, real, untraced
from lazyrich.measures._kernel_alignment import alignment_of, centred_alignment, target_kernel
from lazyrich.measures._rounded import rounded
from lazyrich.measures._sketched_distance import (
    sketched_alignment,
    sketched_kernel_distance,
    sketched_target_alignment,
)
from lazyrich.measures._tangent_kernel import TangentKernel, kernel_matrix
from lazyrich.quantities import kernel_distance

LAZY, RICH = 0.1, 0.5
"""Up to the first value training counts as lazy, from the second on as rich: a tenth and a half is new."""

FEWEST_POINTS = 8
"""Below this many probe points halves of them say nothing about the uncertainty."""

MOST_HALVES = 10**5
"""More would need gigabytes, and an uncertainty needs no third digit."""

ROUNDING = 1e-5
"""Asymmetry and negative eigenvalues that kernels may have, in shares of their size: single precision."""

CHUNK = 2**22
"""Numbers in memory at a time for resampled kernels: 32 MB."""


@dataclasses.dataclass(frozen=True)
class LazyOrRich:
    """Where training stands between lazy, 0, and rich, 1, and what this rests on.

    Attributes:
        value: the larger of `kernel_change` and `function_change`.
        uncertainty: standard error from halves of the probe points and, where kernels are sketched, from
            sketching. NaN for fewer than 8 points.
        kernel_change: share of the kernel at the end that is not along that at the start, the sine of
            their angle.
        function_change: share of the outputs' change that the network linearised at the start does not
            make. None if the outputs were not given.
        kernel_distance: one minus the cosine between both kernels, S(t).
        linearisation_gap: `linearisation_gap`; None without outputs.
        alignment: centred alignment of the kernel at the end with that at the start. NaN where a kernel is
            constant.
        target_alignment: centred alignment of the kernels at the start and at the end with the targets;
            None without targets.
        target_uncertainty: its standard errors from sketching, 0 where kernels are exact; None without
            targets.
        weight_movement: `weight_movement`; None without weights.
        num_points: probe points, also of kernels that have a row for each output of a point.
    """

    value: float
    uncertainty: float
    kernel_change: float
    function_change: float | None
    kernel_distance: float
    linearisation_gap: float | None
    alignment: float
    target_alignment: tuple[float, float] | None
    target_uncertainty: tuple[float, float] | None
    weight_movement: float | None
    num_points: int

    @property
    def regime(self) -> str:
        """`"lazy"` up to 0.1, `"rich"` from 0.5 on, `"between"` otherwise."""
        return "lazy" if self.value <= LAZY else "rich" if self.value >= RICH else "between"

    @property
    def rests_on(self) -> str:
        """The component that decides."""
        decides = (self.function_change or 0.0) > self.kernel_change
        return "function_change" if decides else "kernel_change"

    def __str__(self) -> str:
        lines = [
            f"{self.regime}: {rounded(self.value, self.uncertainty)} between lazy, 0, and rich, 1",
            f"  rests on {self.rests_on}: {self._parts()}, on {self.num_points} probe points",
            f"  alignment of the kernel with its start {self.alignment:.3g}",
        ]
        if self.target_alignment is not None:
            start, end = self.target_alignment
            lines.append(f"  alignment with the targets from {start:.3g} to {end:.3g}")
        if self.weight_movement is not None:
            lines.append(f"  weights moved by {self.weight_movement:.3g} of their size")
        if np.isnan(self.uncertainty):
            lines.append(f"  no uncertainty: that takes {FEWEST_POINTS} probe points")
        return "\n".join(lines)

    def _parts(self) -> str:
        parts = [f"the kernel changes by {self.kernel_change:.3g}"]
        if self.function_change is not None:
            parts.append(f"the function by {self.function_change:.3g}")
        return ", ".join(parts)


@untraced
def lazy_or_rich(
    start_kernel: Any,
    end_kernel: Any,
    *,
    start_outputs: Any = None,
    end_outputs: Any = None,
    linear_change: Any = None,
    start_weights: Any = None,
    end_weights: Any = None,
    targets: Any = None,
    num_resamples: int = 100,
    seed: int = 0,
) -> LazyOrRich:
    r"""One meter between lazy and rich training.

    $$ r = \max\left(\sqrt{1 - \cos^2(K_0, K_t)},\;
       \frac{\lVert\Delta f - J_0\Delta\theta\rVert}
            {\sqrt{\lVert\Delta f - J_0\Delta\theta\rVert^2 + \lVert J_0\Delta\theta\rVert^2}}\right) $$

    Training is lazy if the network stays its own linearisation, so that its tangent kernel stays the same.
    Both parts are shares of something new, between 0 and 1, and neither depends on scales. The larger counts,
    as each is blind where the other sees: the kernel's angle does not notice a kernel that only grows, as
    that of a single chain of linear units; the outputs on a probe batch do not notice features that change
    without effect on them. Both are 0 for a model that is linear in its weights. A sum would count twice what
    both see.

    The relative movement of the weights is reported but does not count: it is large in random-feature models,
    which are lazy, and small in wide networks that are rich. Nor does the alignment with the target: it says
    where features went, not whether they moved.

    Args:
        start_kernel: tangent kernel at the start, symmetric and without negative eigenvalues, shape (n, n),
            or what `tangent_kernel` returns.
        end_kernel: the same at the time in question.
        start_outputs: outputs at the start on the probe batch, shape (n,) or (n, c).
        end_outputs: the same at the time in question.
        linear_change: $J_0 \Delta\theta$, the Jacobian at the start times the change of the weights.
        start_weights: flat weights at the start.
        end_weights: the same at the time in question.
        targets: of the probe batch, shape (n,) or (n, c).
        num_resamples: random halves of the points for the uncertainty.
        seed: of the halves.

    Returns:
        The meter. `adapters.tangents(...).evidence(start, end)` makes all arguments but `targets` from a JAX
        function.

    Source:
        layerwise, Sec. 6.2, App. F.2. The combination is this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import lazy_or_rich
        >>> x = np.random.default_rng(0).standard_normal((50, 3))
        >>> start, end = np.eye(3), np.diag([9.0, 1.0, 0.0])
        >>> found = lazy_or_rich(x @ start @ x.T, x @ end @ x.T)
        >>> found.regime, round(found.value, 2), found.uncertainty < 0.1
        ('rich', 0.61, True)
    """
    K0, Kt = _kernel("start_kernel", start_kernel), _kernel("end_kernel", end_kernel)
    if K0.shape != Kt.shape:
        raise argument_error("end_kernel", f"have the shape {K0.shape} of `start_kernel`", Kt.shape)
    distance, sketching = _distance(start_kernel, end_kernel, K0, Kt)
    points = _num_points(start_kernel, end_kernel, len(K0))
    changes = _changes(start_outputs, end_outputs, linear_change, points)
    parts = [float(_sine(distance)), None if changes is None else float(_share(*changes))]
    halves = _halves(
        points, count("num_resamples", num_resamples, at_least=2, at_most=MOST_HALVES), seed
    )
    aligned, uncertain = _target_alignment((start_kernel, end_kernel), (K0, Kt), targets)
    return LazyOrRich(
        value=max(part for part in parts if part is not None),
        uncertainty=float(np.hypot(_spread(K0, Kt, changes, halves, len(K0) // points), sketching)),
        kernel_change=parts[0],  # pyright: ignore[reportArgumentType]
        function_change=parts[1],
        kernel_distance=distance,
        linearisation_gap=None if changes is None else float(_gap(*changes)),
        alignment=_alignment((start_kernel, end_kernel), (K0, Kt)),
        target_alignment=aligned,
        target_uncertainty=uncertain,
        weight_movement=_movement(start_weights, end_weights),
        num_points=points,
    )


@untraced
def weight_movement(start: Any, end: Any) -> Any:
    r"""How far the weights have moved, relative to their size at the start.

    $$ \frac{\lVert\theta_t - \theta_0\rVert}{\lVert\theta_0\rVert} $$

    Args:
        start: flat weights at the start, shape (P,).
        end: flat weights later, shape (..., P): a record has leading axes.

    Returns:
        The movement, of the leading shape of `end`.

    Example:
        >>> from lazyrich.measures import weight_movement
        >>> weight_movement([3.0, 4.0], [[3.0, 4.0], [3.0, 5.0]])
        array([0. , 0.2])
    """
    return _moved(start, end, ("start", "end"))


def _moved(start: Any, end: Any, names: tuple[str, str]) -> Any:
    advice = "Flatten them: `np.concatenate([np.ravel(w) for w in weights])`."
    w0, w = (
        moderate(n, value, advice=advice) for n, value in zip(names, (start, end), strict=True)
    )
    if w0.ndim != 1 or w0.size == 0:
        raise argument_error(names[0], "have the shape (weights,), not empty", w0.shape, advice)
    if w.shape[-1:] != w0.shape:
        raise argument_error(names[1], f"have the shape (..., {w0.size}) of `{names[0]}`", w.shape)
    size = np.linalg.norm(w0)
    if size == 0:
        raise argument_error(
            names[0], "not vanish", 0.0, "Movement is relative to the start's size."
        )
    return np.linalg.norm(w - w0, axis=-1) / size


@untraced
def linearisation_gap(start_outputs: Any, end_outputs: Any, linear_change: Any) -> Any:
    r"""The part of the outputs' change that the network linearised at the start does not make.

    $$ \frac{\lVert f_t - f_0 - J_0(\theta_t - \theta_0)\rVert}{\lVert f_t - f_0\rVert} $$

    Args:
        start_outputs: $f_0$ on the probe batch, shape (n,) or (n, c).
        end_outputs: $f_t$, the same.
        linear_change: $J_0(\theta_t - \theta_0)$, one product of the Jacobian at the start with a direction,
            as `adapters.tangents(...).product` gives it.

    Returns:
        The gap: 0 if the network is its linearisation, 1 if that does not move; it can be larger.

    Example:
        >>> from lazyrich.measures import linearisation_gap
        >>> a, b = 0.1, 2.0  # f = w² from w = 0.1 to 2
        >>> round(float(linearisation_gap([a * a], [b * b], [2 * a * (b - a)])), 3)
        0.905
    """
    changes = _changes(start_outputs, end_outputs, linear_change, None)
    return _gap(*changes)  # pyright: ignore[reportOptionalIterable]


def _distance(start: Any, end: Any, K0: np.ndarray, Kt: np.ndarray) -> tuple[float, float]:
    """Kernel distance, and what sketching adds to the uncertainty of its sine."""
    sketched = [_is_sketch(k) for k in (start, end)]
    if not any(sketched):
        return float(kernel_distance(K0, Kt)), 0.0
    if not all(sketched):
        name = "end_kernel" if sketched[0] else "start_kernel"
        raise argument_error(
            name, "be a sketch as the other is", "an exact kernel", "Use one method."
        )
    distance, error = sketched_kernel_distance(start, end)
    return distance, float(abs(_sine(distance + error) - _sine(distance)))


def _kernel(name: str, kernel: Any) -> np.ndarray:
    K = real(name, kernel_matrix(kernel), advice="Pass a kernel matrix without NaN.")
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(K) == 0:
        advice = "Over time, call it for each; with several outputs, pass the trace over them."
        raise argument_error(name, "have the shape (n, n)", K.shape, advice)
    if not K.any():
        raise argument_error(
            name, "have a norm above 0", 0.0, "A network of zero weights has no kernel."
        )
    _check_kernel(name, K / np.abs(K).max())
    return K


def _check_kernel(name: str, K: np.ndarray) -> None:
    """Products of rows of a Jacobian are symmetric, and no eigenvalue is negative."""
    off = float(np.abs(K - K.T).max())
    if off > ROUNDING:
        raise argument_error(
            name, "be symmetric", f"entries that differ by {off:.2g} of the largest",
            "Pass the products of all pairs of rows of the Jacobian, J @ J.T.",
        )  # fmt: skip
    values = np.linalg.eigvalsh(K)
    if values[0] < -ROUNDING * np.abs(values).max():
        raise argument_error(
            name, "have no negative eigenvalue", f"{values[0]:.2g} times its largest entry",
            "Pass J @ J.T, not centred and without corrections that can overshoot.",
        )  # fmt: skip


def _is_sketch(kernel: Any) -> bool:
    return isinstance(kernel, TangentKernel) and kernel.sketch is not None


def _num_points(start: Any, end: Any, rows: int) -> int:
    """Probe points: a full kernel has a row for each output of each."""
    per_point = [k.rows_per_point if isinstance(k, TangentKernel) else 1 for k in (start, end)]
    if per_point[0] != per_point[1]:
        raise argument_error(
            "end_kernel", f"have {per_point[0]} rows for each point as `start_kernel` has", per_point[1],
            "Use the same `full` for both.",
        )  # fmt: skip
    return rows // per_point[0]


def _changes(start: Any, end: Any, linear: Any, points: int | None) -> Any:
    """Change of the outputs and its linear part, shape (n, c) both; None if not given."""
    given = {"start_outputs": start, "end_outputs": end, "linear_change": linear}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == 3 and points is not None:
        return None
    if missing:
        raise argument_error(
            missing[0], "be given with the other two", None, "Pass all three, or none."
        )
    arrays = [
        moderate(name, value, advice="Pass outputs on the probe batch.")
        for name, value in given.items()
    ]
    for name, array in zip(given, arrays, strict=True):
        fits = array.shape == arrays[0].shape and array.ndim in (1, 2) and array.size > 0
        if not fits or (points is not None and len(array) != points):
            wanted = "(n,) or (n, c)" if points is None else f"({points},) or ({points}, c)"
            others = [
                f"`{n}` has {a.shape}" for n, a in zip(given, arrays, strict=True) if n != name
            ]
            requirement = f"have the shape {wanted}, all three alike"
            raise argument_error(name, requirement, array.shape, f"{', '.join(others)}.")
    f0, f, lin = (array.reshape(len(array), -1) for array in arrays)
    if not np.any(f != f0) and not np.any(lin):
        raise argument_error(
            "end_outputs", "differ from `start_outputs`", "the same", "Train first."
        )
    return f - f0, lin


def _gap(change: np.ndarray, linear: np.ndarray) -> Any:
    size = np.linalg.norm(change)
    return np.linalg.norm(change - linear) / size if size > 0 else np.float64(np.inf)


def _share(change: np.ndarray, linear: np.ndarray) -> Any:
    """Over the last two axes; 0 where nothing changes, as on some of the points it may."""
    rest = np.sum((change - linear) ** 2, axis=(-2, -1))
    whole = rest + np.sum(linear**2, axis=(-2, -1))
    return np.sqrt(rest / np.where(whole > 0, whole, 1.0))


def _sine(distance: Any) -> Any:
    return np.sqrt(np.clip(distance * (2 - distance), 0, 1))


def _halves(points: int, number: int, seed: int) -> np.ndarray:
    """Random halves, shape (number, n // 2); none for too few points."""
    if points < FEWEST_POINTS:
        return np.zeros((0, 0), dtype=int)
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    return np.stack([rng.permutation(points)[: points // 2] for _ in range(number)])


def _spread(
    K0: np.ndarray, Kt: np.ndarray, changes: Any, halves: np.ndarray, per_point: int
) -> float:
    """Standard deviation over halves, which is the delete-half jackknife's standard error of the whole.

    Drawing with replacement would put copies of a point side by side, which kernels take for similarity.
    """
    if len(halves) == 0:
        return float("nan")
    size = max(1, CHUNK // (per_point * halves.shape[1]) ** 2)
    values = []
    for start in range(0, len(halves), size):
        part = halves[start : start + size]
        chosen = (part[:, :, None] * per_point + np.arange(per_point)).reshape(len(part), -1)
        one, two = (K[chosen[:, :, None], chosen[:, None, :]] for K in (K0, Kt))
        some = one.any(axis=(1, 2)) & two.any(axis=(1, 2))  # sparse kernels may vanish on a half
        if not some.any():
            continue
        part, value = part[some], _sine(kernel_distance(one[some], two[some]))
        if changes is not None:
            value = np.maximum(value, _share(changes[0][part], changes[1][part]))
        values.append(value)
    found = np.concatenate(values) if values else np.zeros(0)
    return float(np.std(found, ddof=1)) if len(found) > 1 else float("nan")


def _alignment(given: tuple[Any, Any], kernels: tuple[np.ndarray, np.ndarray]) -> float:
    if any(np.ptp(K) <= 1e-13 * np.abs(K).max() for K in kernels):  # constant
        return float("nan")
    return float(
        sketched_alignment(*given) if _is_sketch(given[0]) else centred_alignment(*kernels)
    )


def _target_alignment(
    given: tuple[Any, Any], kernels: tuple[np.ndarray, np.ndarray], targets: Any
) -> tuple[Any, Any]:
    """Alignments at the start and at the end, and their standard errors."""
    if targets is None:
        return None, None
    y, rows = (
        moderate("targets", targets, advice="Pass the targets of the probe batch."),
        len(kernels[0]),
    )
    if y.ndim == 2 and len(y) != rows == y.size:
        y = y.reshape(-1)  # of a full kernel
    L, names = target_kernel(y), ("start_kernel", "end_kernel")
    if len(L) != rows:
        raise argument_error("targets", f"have {rows} rows, one for each point", len(L))
    exact = tuple(
        float(alignment_of(K, L, (n, "targets"))) for n, K in zip(names, kernels, strict=True)
    )
    if not _is_sketch(given[0]):
        return exact, (0.0, 0.0)
    found = [sketched_target_alignment(kernel, y.reshape(rows, -1)) for kernel in given]
    return tuple(value for value, _ in found), tuple(error for _, error in found)


def _movement(start: Any, end: Any) -> float | None:
    if start is None and end is None:
        return None
    if start is None or end is None:
        name = "start_weights" if start is None else "end_weights"
        raise argument_error(name, "be given with the other", None, "Pass both, or none.")
    moved = _moved(start, end, ("start_weights", "end_weights"))
    if np.ndim(moved):
        shape = np.shape(end)
        raise argument_error("end_weights", "have the shape of `start_weights`", shape)
    return float(moved)
