"""Lazy or rich: did training change what the network's gradients say?"""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, real
from lazyrich.measures._kernel_alignment import centred_alignment, target_kernel
from lazyrich.measures._sketched_distance import sketched_kernel_distance
from lazyrich.measures._tangent_kernel import TangentKernel
from lazyrich.quantities import kernel_distance

LAZY, RICH = 0.1, 0.5
"""Up to the first value training counts as lazy, from the second on as rich: a tenth and a half is new."""

FEWEST_POINTS = 8
"""Below this many probe points halves of them say nothing about the uncertainty."""

CHUNK = 2**22
"""Numbers in memory at a time for resampled kernels: 32 MB."""


@dataclasses.dataclass(frozen=True)
class LazyOrRich:
    """Where training stands between lazy, 0, and rich, 1, and what this rests on.

    Attributes:
        value: the larger of `kernel_change` and `function_change`.
        uncertainty: standard error from halves of the probe points and, where kernels are sketched, from
            sketching. NaN for fewer than 8 points.
        kernel_change: share of the last tangent kernel that is not along the first, the sine of their angle.
        function_change: share of the outputs' change that the network linearised at the start does not
            make. None if the outputs were not given.
        kernel_distance: one minus the cosine between both kernels, S(t).
        linearisation_gap: `linearisation_gap`; None without outputs.
        alignment: centred alignment of the last kernel with the first. NaN where a kernel is constant.
        target_alignment: centred alignment of the first and of the last kernel with the targets; None
            without targets.
        weight_movement: `weight_movement`; None without weights.
        num_points: probe points.
    """

    value: float
    uncertainty: float
    kernel_change: float
    function_change: float | None
    kernel_distance: float
    linearisation_gap: float | None
    alignment: float
    target_alignment: tuple[float, float] | None
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


def lazy_or_rich(
    first_kernel: Any,
    last_kernel: Any,
    *,
    first_outputs: Any = None,
    last_outputs: Any = None,
    linear_change: Any = None,
    first_weights: Any = None,
    last_weights: Any = None,
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
        first_kernel: tangent kernel at the start, shape (n, n), or what `tangent_kernel` returns.
        last_kernel: the same at the time in question.
        first_outputs: outputs at the start on the probe batch, shape (n,) or (n, c).
        last_outputs: the same at the time in question.
        linear_change: $J_0 \Delta\theta$, the Jacobian at the start times the change of the weights.
        first_weights: flat weights at the start.
        last_weights: the same at the time in question.
        targets: of the probe batch, shape (n,) or (n, c).
        num_resamples: random halves of the points for the uncertainty.
        seed: of the halves.

    Returns:
        The meter. `adapters.tangents(...).evidence(first, last)` makes all arguments but `targets` from a JAX
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
    K0, Kt = _kernel("first_kernel", first_kernel), _kernel("last_kernel", last_kernel)
    if K0.shape != Kt.shape:
        raise argument_error(
            "last_kernel", f"have the shape {K0.shape} of `first_kernel`", Kt.shape
        )
    distance, sketching = _distance(first_kernel, last_kernel, K0, Kt)
    changes = _changes(first_outputs, last_outputs, linear_change, len(K0))
    parts = [float(_sine(distance)), None if changes is None else float(_share(*changes))]
    halves = _halves(len(K0), count("num_resamples", num_resamples, at_least=2), seed)
    return LazyOrRich(
        value=max(part for part in parts if part is not None),
        uncertainty=float(np.hypot(_spread(K0, Kt, changes, halves), sketching)),
        kernel_change=parts[0],  # pyright: ignore[reportArgumentType]
        function_change=parts[1],
        kernel_distance=distance,
        linearisation_gap=None if changes is None else float(_gap(*changes)),
        alignment=_alignment(K0, Kt),
        target_alignment=_target_alignment(K0, Kt, targets),
        weight_movement=_movement(first_weights, last_weights),
        num_points=len(K0),
    )


def weight_movement(first: Any, last: Any) -> Any:
    r"""How far the weights have moved, relative to their size at the start.

    $$ \frac{\lVert\theta_t - \theta_0\rVert}{\lVert\theta_0\rVert} $$

    Args:
        first: flat weights at the start, shape (P,).
        last: flat weights later, shape (..., P): a record has leading axes.

    Returns:
        The movement, of the leading shape of `last`.

    Example:
        >>> from lazyrich.measures import weight_movement
        >>> weight_movement([3.0, 4.0], [[3.0, 4.0], [3.0, 5.0]])
        array([0. , 0.2])
    """
    w0 = real("first", first, advice="Pass the weights at the start as one flat array.")
    w = real("last", last, advice="Pass the weights as one flat array.")
    if w0.ndim != 1 or w0.size == 0:
        raise argument_error("first", "have the shape (weights,), not empty", w0.shape)
    if w.shape[-1:] != w0.shape:
        raise argument_error("last", f"have the shape (..., {w0.size}) of `first`", w.shape)
    size = np.linalg.norm(w0)
    if size == 0:
        raise argument_error(
            "first", "not vanish", 0.0, "Movement is relative to the start's size."
        )
    return np.linalg.norm(w - w0, axis=-1) / size


def linearisation_gap(first_outputs: Any, last_outputs: Any, linear_change: Any) -> Any:
    r"""The part of the outputs' change that the network linearised at the start does not make.

    $$ \frac{\lVert f_t - f_0 - J_0(\theta_t - \theta_0)\rVert}{\lVert f_t - f_0\rVert} $$

    Args:
        first_outputs: $f_0$ on the probe batch, shape (n,) or (n, c).
        last_outputs: $f_t$, the same.
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
    changes = _changes(first_outputs, last_outputs, linear_change, None)
    return _gap(*changes)  # pyright: ignore[reportOptionalIterable]


def _distance(first: Any, last: Any, K0: np.ndarray, Kt: np.ndarray) -> tuple[float, float]:
    """Kernel distance, and what sketching adds to the uncertainty of its sine."""
    sketched = [isinstance(k, TangentKernel) and k.sketch is not None for k in (first, last)]
    if not any(sketched):
        return float(kernel_distance(K0, Kt)), 0.0
    if not all(sketched):
        name = "last_kernel" if sketched[0] else "first_kernel"
        raise argument_error(
            name, "be a sketch as the other is", "an exact kernel", "Use one method."
        )
    distance, error = sketched_kernel_distance(first, last)
    return distance, float(abs(_sine(distance + error) - _sine(distance)))


def _kernel(name: str, kernel: Any) -> np.ndarray:
    if isinstance(kernel, TangentKernel):
        kernel = kernel.kernel
    K = real(name, kernel, advice="Pass a kernel matrix without NaN.")
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(K) == 0:
        advice = "Over time, call it for each; with several outputs, pass the trace over them."
        raise argument_error(name, "have the shape (n, n)", K.shape, advice)
    if not K.any():
        raise argument_error(
            name, "have a norm above 0", 0.0, "A network of zero weights has no kernel."
        )
    return K


def _changes(first: Any, last: Any, linear: Any, points: int | None) -> Any:
    """Change of the outputs and its linear part, shape (n, c) both; None if not given."""
    given = {"first_outputs": first, "last_outputs": last, "linear_change": linear}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == 3 and points is not None:
        return None
    if missing:
        raise argument_error(
            missing[0], "be given with the other two", None, "Pass all three, or none."
        )
    arrays = [
        real(name, value, advice="Pass outputs on the probe batch.")
        for name, value in given.items()
    ]
    for name, array in zip(given, arrays, strict=True):
        fits = array.shape == arrays[0].shape and array.ndim in (1, 2) and array.size > 0
        if not fits or (points is not None and len(array) != points):
            wanted = "(n,) or (n, c)" if points is None else f"({points},) or ({points}, c)"
            raise argument_error(name, f"have the shape {wanted}, all three alike", array.shape)
    f0, f, lin = (array.reshape(len(array), -1) for array in arrays)
    if not np.any(f != f0) and not np.any(lin):
        raise argument_error(
            "last_outputs", "differ from `first_outputs`", "the same", "Train first."
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


def _spread(K0: np.ndarray, Kt: np.ndarray, changes: Any, halves: np.ndarray) -> float:
    """Standard deviation over halves, which is the delete-half jackknife's standard error of the whole.

    Drawing with replacement would put copies of a point side by side, which kernels take for similarity.
    """
    if len(halves) == 0:
        return float("nan")
    size = max(1, CHUNK // halves.shape[1] ** 2)
    values = []
    for start in range(0, len(halves), size):
        part = halves[start : start + size]
        rows, columns = part[:, :, None], part[:, None, :]
        value = _sine(kernel_distance(K0[rows, columns], Kt[rows, columns]))
        if changes is not None:
            value = np.maximum(value, _share(changes[0][part], changes[1][part]))
        values.append(value)
    return float(np.std(np.concatenate(values), ddof=1))


def _alignment(K0: np.ndarray, Kt: np.ndarray) -> float:
    constant = any(np.ptp(K) <= 1e-13 * np.abs(K).max() for K in (K0, Kt))
    return float("nan") if constant else float(centred_alignment(K0, Kt))


def _target_alignment(K0: np.ndarray, Kt: np.ndarray, targets: Any) -> tuple[float, float] | None:
    if targets is None:
        return None
    L = target_kernel(targets)
    if len(L) != len(K0):
        raise argument_error("targets", f"have {len(K0)} rows, one for each point", len(L))
    return float(centred_alignment(K0, L)), float(centred_alignment(Kt, L))


def _movement(first: Any, last: Any) -> float | None:
    if first is None and last is None:
        return None
    if first is None or last is None:
        name = "first_weights" if first is None else "last_weights"
        raise argument_error(name, "be given with the other", None, "Pass both, or none.")
    return float(weight_movement(first, last))
