"""The tangent kernel of any network on a probe batch."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import (
    ArgumentError,
    argument_error,
    as_array,
    count,
    flag,
    items,
    moderate,
    number,
    real,
    untraced,
    whole,
)

EXACT_LIMIT = 4e12
"""Multiplications up to which the kernel is exact by default, about a minute on two cores."""

MAX_BYTES = 2**29
"""Memory for rows of the Jacobian by default: 512 MB."""

MAX_NUMBERS = 2**29
"""Numbers that a sketch may keep: 4 GiB."""

LARGEST = 1e70
"""Entries up to which fourth powers are no infinities."""


class TangentKernel(NamedTuple):
    """A kernel, how it was found, its relative standard error in Frobenius' norm (0 where exact), its sketch.

    The sketch has the outputs' changes along all directions, shape (directions, n, c). Of a full kernel each
    point has as many rows as there are outputs.
    """

    kernel: np.ndarray
    method: str
    uncertainty: float
    sketch: np.ndarray | None = None
    rows_per_point: int = 1


def kernel_matrix(kernel: Any) -> Any:
    """The matrix of what `tangent_kernel` returns; anything else as it is."""
    return kernel.kernel if isinstance(kernel, TangentKernel) else kernel


@dataclasses.dataclass(frozen=True)
class JacobianProducts:
    """A Jacobian that is never built: what it does to vectors, at fixed weights.

    The row of point i and output o has the number `i * num_outputs + o`.

    Attributes:
        num_points: points of the probe batch, n.
        num_outputs: c.
        num_weights: P.
        rows: function from row numbers, shape (b,), to these rows of the Jacobian, shape (b, P). For exact
            kernels.
        product: function from a direction, shape (P,), to the outputs' change along it, shape (n, c) or
            (n c,). For sketches.
        transposed: function from a cotangent, shape (n, c), to weights, shape (P,). It gives rows one by
            one where there is no `rows`; each costs a pass over the whole batch.
    """

    num_points: int
    num_outputs: int
    num_weights: int
    rows: Callable[[np.ndarray], Any] | None = None
    product: Callable[[np.ndarray], Any] | None = None
    transposed: Callable[[np.ndarray], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("num_points", "num_outputs", "num_weights"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        functions = {name: getattr(self, name) for name in ("rows", "product", "transposed")}
        for name, function in functions.items():
            if function is not None and not callable(function):
                raise argument_error(name, "be a function", function)
        if not any(functions.values()):
            raise argument_error("rows", "be given, or `product`, or `transposed`", None)

    @property
    def has_rows(self) -> bool:
        """Whether rows of the Jacobian can be had."""
        return self.rows is not None or self.transposed is not None

    def some_rows(self, numbers: np.ndarray) -> np.ndarray:
        """These rows, shape (b, P), checked."""
        last = self.num_points * self.num_outputs - 1
        numbers = whole("numbers", numbers, at_least=0, at_most=last).astype(int)
        if numbers.ndim != 1:
            raise argument_error("numbers", "have the shape (rows,)", numbers.shape)
        if self.rows is not None:
            found = as_array(self.rows(numbers))
        elif self.transposed is not None:
            hot = np.zeros(self.num_points * self.num_outputs)
            found = np.empty((len(numbers), self.num_weights))
            for row, number in zip(found, numbers, strict=True):
                hot[number] = 1
                cotangent = hot.reshape(self.num_points, self.num_outputs)
                row[:] = as_array(self.transposed(cotangent)).ravel()
                hot[number] = 0
        else:
            raise argument_error("rows", "be given for an exact kernel", None, "Or use a sketch.")
        return _finite("rows", found, (len(numbers), self.num_weights))

    @untraced
    def change(self, direction: np.ndarray) -> np.ndarray:
        """The outputs' change along a direction, shape (n, c), checked."""
        if self.product is None:
            raise argument_error("product", "be given for a sketch", None, "Pass J times a vector.")
        direction = real("direction", direction)
        if direction.shape != (self.num_weights,):
            raise argument_error(
                "direction", f"have the shape ({self.num_weights},)", direction.shape
            )
        found = as_array(self.product(direction.copy()))  # PyTorch warns of read-only arrays
        shape = (self.num_points, self.num_outputs)
        if found.ndim == 1 and found.size == np.prod(shape):  # (c, n) would be read the wrong way
            found = found.reshape(shape)
        return _finite("product", found, shape)


@untraced
def tangent_kernel(
    jacobian: Any,
    *,
    full: bool = False,
    method: str = "auto",
    max_bytes: float = MAX_BYTES,
    num_directions: int = 1000,
    seed: int = 0,
) -> TangentKernel:
    r"""The empirical tangent kernel on a probe batch, in bounded memory.

    $$ \Theta_{io,jo'} = \nabla_\theta f_o(x_i) \cdot \nabla_\theta f_{o'}(x_j), \qquad
       K_{ij} = \sum_o \Theta_{io,jo} $$

    Exact kernels take the Jacobian block by block: a block of rows stays in memory while the others pass by
    and are made again for each block. Sketches take the outputs' change $z_r$ along m random directions
    of independent standard normal entries, $\hat K = \frac1m\sum_r z_r z_r^\top$, which is K on average. The
    squared error $\lVert\hat K - K\rVert_F^2$ is $(\lVert K\rVert_F^2 + (\operatorname{tr} K)^2)/m$, on
    average, for one output; the scatter over directions gives the one that is returned. Compare
    sketches by `sketched_kernel_distance`, which is right also where the kernels are noisy. A direction costs
    about as much as a row: a sketch pays off where there are more rows than directions.

    Args:
        jacobian: an array, shape (n, c, P) or (n, P) for one output; or `JacobianProducts`.
        full: Θ, shape (n c, n c), instead of its trace over outputs K, shape (n, n).
        method: `"exact"`, `"sketch"`, or `"auto"`: exact up to 4e12 multiplications, $n^2 c P$ for K and
            $n^2c^2P$ for Θ, and where rows can be had. An array is never sketched.
        max_bytes: memory for rows of the Jacobian. Two rows are the least.
        num_directions: m of a sketch.
        seed: of the directions.

    Returns:
        The kernel, the method and the relative error.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import JacobianProducts, tangent_kernel
        >>> J = np.random.default_rng(0).standard_normal((5, 2, 30))
        >>> K = tangent_kernel(J).kernel
        >>> rows = J.reshape(10, 30)
        >>> products = JacobianProducts(5, 2, 30, rows=rows.__getitem__, product=rows.__matmul__)
        >>> bool(np.allclose(tangent_kernel(products, max_bytes=2000).kernel, K))
        True
        >>> round(tangent_kernel(products, method="sketch").uncertainty, 2)
        0.06
    """
    if method not in ("auto", "exact", "sketch"):
        raise argument_error("method", 'be "auto", "exact" or "sketch"', method)
    full = flag("full", full)
    if not isinstance(jacobian, JacobianProducts):
        dense = _dense(jacobian, full)
        if method == "sketch":
            raise argument_error(
                "method", 'be "auto" or "exact" for a Jacobian that is there', method,
                "Pass `JacobianProducts` for a sketch.",
            )  # fmt: skip
        return TangentKernel(dense, "jacobian", 0.0, None, len(dense) // len(as_array(jacobian)))
    per_point = jacobian.num_outputs if full else 1
    if method == "auto":
        n, c, P = jacobian.num_points, jacobian.num_outputs, jacobian.num_weights
        cheap = float(n) ** 2 * c * (c if full else 1) * P <= EXACT_LIMIT
        exact = jacobian.has_rows and (cheap or jacobian.product is None)
        method = "exact" if exact else "sketch"
    if method == "exact":
        limit = number("max_bytes", max_bytes, above=0, advice="Use e.g. 2**29.")
        return TangentKernel(_blocks(jacobian, full, limit), "exact", 0.0, None, per_point)
    m = _num_directions(num_directions, jacobian)
    found = _sketch(jacobian, full, m, count("seed", seed, at_least=0))
    return found._replace(rows_per_point=per_point)


@untraced
def layered_tangent_kernel(layers: Sequence[tuple[Any, Any]]) -> TangentKernel:
    r"""The exact tangent kernel of a network of dense layers, without its Jacobian.

    $$ K_{ij} = \sum_l (h^l_i \cdot h^l_j) \sum_o \delta^l_{io} \cdot \delta^l_{jo}, \qquad
       \delta^l_{io} = \frac{\partial f_o(x_i)}{\partial (h^l_i W_l)} $$

    The gradient of a layer's weights is the outer product of what enters it and the slope of the output with
    respect to what leaves it. So nothing as large as the weights is needed, and 512 points of a million
    weights take a fraction of a second.

    Args:
        layers: for each layer its inputs $h^l$, shape (n, width in), and the slopes $\delta^l$, shape
            (n, c, width out), or (n, width out) for one output. A layer with bias has a last input of 1.

    Returns:
        The kernel K, shape (n, n), the method `"layers"` and the error 0.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import layered_tangent_kernel
        >>> x, w, v = np.eye(2), np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0], [3.0]])
        >>> slopes = np.broadcast_to(v.T, (2, 1, 2))  # f = x w v
        >>> layered_tangent_kernel([(x, slopes), (x @ w, np.ones((2, 1, 1)))]).kernel
        array([[15.,  2.],
               [ 2., 11.]])
    """
    layers = items("layers", layers, advice="Pass [(inputs, slopes), …].")
    if len(layers) == 0:
        raise argument_error("layers", "hold at least one layer", layers)
    total = None
    bounds: dict[str, Any] = {"at_least": -LARGEST, "at_most": LARGEST}
    for index, layer in enumerate(layers):
        name = f"layers[{index}]"
        if not isinstance(layer, tuple | list) or len(layer) != 2:
            raise argument_error(name, "be a pair of inputs and slopes", layer)
        h = real(f"{name}[0]", layer[0], advice="Pass inputs, shape (n, width).", **bounds)
        delta = real(f"{name}[1]", layer[1], advice="Pass slopes, shape (n, c, width).", **bounds)
        delta = delta[:, None] if delta.ndim == 2 else delta
        if h.ndim != 2 or delta.ndim != 3 or len(h) != len(delta):
            raise argument_error(
                f"layers[{index}]", "be inputs (n, width in) and slopes (n, c, width out)",
                (h.shape, as_array(layer[1]).shape),
            )  # fmt: skip
        if total is not None and len(total) != len(h):
            raise argument_error(f"layers[{index}]", f"have {len(total)} points as others", len(h))
        flat = delta.reshape(len(h), -1)
        part = (h @ h.T) * (flat @ flat.T)
        total = part if total is None else total + part
    return TangentKernel(total, "layers", 0.0)  # pyright: ignore[reportArgumentType]


def _dense(jacobian: Any, full: bool) -> np.ndarray:
    J = moderate("jacobian", jacobian, advice="Pass an array without NaN, or `JacobianProducts`.")
    if J.ndim not in (2, 3) or 0 in J.shape:
        raise argument_error("jacobian", "have the shape (n, c, P), or (n, P)", J.shape)
    rows = J.reshape(-1, J.shape[-1]) if full else J.reshape(len(J), -1)
    return rows @ rows.T


def _blocks(products: JacobianProducts, full: bool, max_bytes: float) -> np.ndarray:
    n, c = products.num_points, products.num_outputs
    fitting = max(2, int(max_bytes / (8 * products.num_weights)))
    if full:
        return _gram(products, np.arange(n * c), fitting)
    # one output after the other: rows of different outputs do not meet in the trace
    return sum((_gram(products, np.arange(n) * c + o, fitting) for o in range(c)), np.zeros((n, n)))


def _gram(products: JacobianProducts, numbers: np.ndarray, fitting: int) -> np.ndarray:
    """Products of all rows, `fitting` of them in memory at a time.

    Most of the memory holds rows that stay while the rest passes by in pieces: each row is made once for
    every held block, so large blocks save work, and too small pieces make slow products.
    """
    size = max(1, min(fitting, len(numbers)) // 4)
    held = max(1, fitting - size) // size * size  # whole pieces: few different sizes to compile
    gram = np.empty((len(numbers), len(numbers)))
    for start in range(0, len(numbers), held):
        one = slice(start, start + held)
        rows = np.empty((len(numbers[one]), products.num_weights))
        for place, part in _pieces(products, numbers[one], size):
            rows[place] = part
        gram[one, one] = rows @ rows.T
        for place, part in _pieces(products, numbers[one.stop :], size):
            other = slice(one.stop + place.start, one.stop + place.stop)
            gram[one, other] = rows @ part.T
            gram[other, one] = gram[one, other].T
    return gram


def _pieces(
    products: JacobianProducts, numbers: np.ndarray, size: int
) -> Iterator[tuple[slice, np.ndarray]]:
    for start in range(0, len(numbers), size):
        part = slice(start, min(start + size, len(numbers)))
        yield part, products.some_rows(numbers[part])


def _num_directions(given: Any, products: JacobianProducts) -> int:
    """m, unless the changes along so many directions do not fit into memory."""
    most = MAX_NUMBERS // (products.num_points * products.num_outputs)
    return count("num_directions", given, at_least=2, at_most=most, advice="Use e.g. 1000.")


def _sketch(products: JacobianProducts, full: bool, m: int, seed: int) -> TangentKernel:
    n, c = products.num_points, products.num_outputs
    rng = np.random.default_rng(seed)
    total, squares = np.zeros((n * c, n * c) if full else (n, n)), 0.0
    changes = np.empty((m, n * c, 1) if full else (m, n, c))
    for z in changes:
        z[:] = products.change(rng.standard_normal(products.num_weights)).reshape(z.shape)
        total += z @ z.T
        squares += float(np.sum((z.T @ z) ** 2))  # ‖z zᵀ‖²
    kernel = total / m
    norm = float(np.sum(kernel**2))
    if norm == 0:
        return TangentKernel(kernel, "sketch", 0.0, changes)
    error = float(np.sqrt(max(squares / m - norm, 0.0) / (m - 1) / norm))
    return TangentKernel(kernel, "sketch", error, changes)


def _finite(name: str, found: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if found.shape != shape:
        raise argument_error(name, f"return an array of shape {shape}", found.shape)
    found = found.astype(np.float64, copy=False)
    if not np.isfinite(found).all():
        raise ArgumentError(
            f"`{name}` must return finite numbers, got NaN or inf. Has training diverged?"
        )
    return found
