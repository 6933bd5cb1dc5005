"""How far weights are from the manifolds that gradient flow does not leave."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, count, flag, untraced, whole
from lazyrich.measures._ray_search import best_line, best_ray, near_ray, nearest_pair, search
from lazyrich.measures._units import lengths, unit_arrays

MANIFOLDS = ("zero", "equal", "proportional", "dependent")


class ManifoldDistance(NamedTuple):
    """Distance of weights to a manifold, and the same divided by the weights' norm. Numbers."""

    distance: Any
    relative: Any


@untraced
def manifold_distance(
    incoming: Any,
    outgoing: Any,
    manifold: str,
    *,
    width: Any = None,
    units: Any = None,
    either_sign: bool = False,
) -> ManifoldDistance:
    r"""Distance of weights to the nearest weights of a given effective width.

    $$ \min_{\theta' \in \mathcal{M}_r} \Bigl(\sum_i \lVert\theta_i - \theta'_i\rVert^2\Bigr)^{1/2}, \qquad
       \theta_i = \begin{bmatrix} v_i \\ u_i \end{bmatrix} $$

    where in $\mathcal{M}_r$ the units amount to r: at most r are not zero (`"zero"`), take at most r values
    (`"equal"`), lie on at most r rays from the origin (`"proportional"`), or span at most r dimensions
    (`"dependent"`). Gradient flow does not leave these sets where Theorem 3 applies: `"equal"` for all
    units, `"zero"` if φ(z; 0) = 0, `"proportional"` if φ is homogeneous of degree 1, `"dependent"` if it is
    linear in u.

    Args:
        incoming: the $u_i$, shape (units, N_u).
        outgoing: the $v_i$, shape (units, N_v), or (units,) for N_v = 1.
        manifold: `"zero"`, `"equal"`, `"proportional"` or `"dependent"`.
        width: r. Without it one less than there are units, the single relation of Theorem 3.
        units: indices of the units that the relation is about, each once; without it all. With (i, j) and
            no width it is $\theta_i = \theta_j$ or $\theta_i = \gamma\theta_j$, with i and `"zero"` it is
            $\theta_i = 0$.
        either_sign: for `"proportional"`: lines instead of rays, for units that are homogeneous for negative
            factors too.

    Returns:
        The distance, and the distance divided by the norm of the weights of these units (0 if all are
        zero). Exact for `"zero"` and `"dependent"` (Eckart–Young), for r one less than the units, and with
        r = 1 for `"equal"` and for lines. Otherwise the best of a search: an upper bound, which does not
        increase with r. With r = 1 it has found the best ray in every case tried against all subsets.

    Source:
        saddles, Theorem 3, F.3.

    Example:
        >>> from lazyrich.measures import manifold_distance
        >>> incoming, outgoing = [[3.0, 0.0], [0.0, 0.5], [0.0, 0.0]], [4.0, 0.0, 0.0]
        >>> found = manifold_distance(incoming, outgoing, "zero", width=1)
        >>> float(found.distance), round(float(found.relative), 4)
        (0.5, 0.0995)
    """
    u, v = unit_arrays(incoming, outgoing)
    if manifold not in MANIFOLDS:
        raise argument_error("manifold", f"be one of {', '.join(MANIFOLDS)}", manifold)
    if flag("either_sign", either_sign) and manifold != "proportional":
        raise argument_error("either_sign", "be False but for proportional units", either_sign)
    theta = np.concatenate([v, u], axis=1)[_chosen(units, len(u))]
    r = _width(width, manifold, len(theta))
    scale = np.max(np.abs(theta))  # squares of very large or small weights stay finite
    if scale == 0 or r >= len(theta):
        return ManifoldDistance(np.float64(0), np.float64(0))
    theta = theta / scale
    shape = ("lines" if either_sign else "rays") if manifold == "proportional" else manifold
    squared = _SQUARED[shape](theta, r)
    distance = np.sqrt(max(squared, 0.0))
    return ManifoldDistance(
        np.float64(scale * distance), np.float64(distance / np.linalg.norm(theta))
    )


def _chosen(units: Any, num_units: int) -> Any:
    if units is None:
        return slice(None)
    which = np.atleast_1d(
        whole("units", units, at_least=0, at_most=num_units - 1, advice="Pass indices.")
    )
    if which.ndim != 1 or which.size == 0 or np.unique(which).size < which.size:
        raise argument_error("units", "be one or several different indices", units)
    return which.astype(int)


def _width(width: Any, manifold: str, num_units: int) -> int:
    least = 1 if manifold == "equal" else 0  # units that are equal take one value at least
    if width is not None:
        return count("width", width, at_least=least, advice="Pass a number of units.")
    if num_units - 1 < least:
        raise argument_error("units", "be two or more to be equal", num_units)
    return num_units - 1


def _zero(theta: np.ndarray, r: int) -> float:
    squares = np.sort(np.sum(theta**2, axis=1))
    return float(np.sum(squares[: len(theta) - r]))


def _dependent(theta: np.ndarray, r: int) -> float:
    return float(np.sum(np.linalg.svd(theta, compute_uv=False)[r:] ** 2))


def _equal(theta: np.ndarray, r: int) -> float:
    if r == len(theta) - 1:  # the two that are nearest meet in their middle
        nearest = [np.min(lengths(theta[:i] - theta[i])) for i in range(1, len(theta))]
        return float(min(nearest) ** 2 / 2)
    return search(theta, np.mean(theta, axis=0), r, _to_points, lambda x, _: np.mean(x, axis=0))


def _on_rays(theta: np.ndarray, r: int) -> float:
    """Zero and equal units are on rays too, so that these distances are bounds."""
    if r in (0, len(theta) - 1):
        return _zero(theta, 0) if r == 0 else nearest_pair(theta, signed=False)
    found = search(theta, best_ray(theta), r, _to_rays, near_ray)
    return min(found, _zero(theta, r), _equal(theta, r))


def _on_lines(theta: np.ndarray, r: int) -> float:
    if r in (0, len(theta) - 1):
        return _zero(theta, 0) if r == 0 else nearest_pair(theta, signed=True)
    found = search(theta, best_line(theta), r, _to_lines, lambda x, _: best_line(x))
    return min(found, _on_rays(theta, r))


def _to_points(theta: np.ndarray, points: np.ndarray) -> np.ndarray:
    return lengths(theta[:, None] - points) ** 2


def _to_lines(theta: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Squared distances, shape (units, lines); subtracted as vectors, so that small ones keep digits."""
    along = theta @ directions.T
    return lengths(theta[:, None] - along[..., None] * directions) ** 2


def _to_rays(theta: np.ndarray, directions: np.ndarray) -> np.ndarray:
    along = np.maximum(theta @ directions.T, 0)
    return lengths(theta[:, None] - along[..., None] * directions) ** 2


_SQUARED = {
    "zero": _zero,
    "equal": _equal,
    "rays": _on_rays,
    "lines": _on_lines,
    "dependent": _dependent,
}
