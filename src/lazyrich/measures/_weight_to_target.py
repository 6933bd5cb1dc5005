"""How large weights are beside what they have to learn."""

from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, moderate, real, untraced
from lazyrich.measures._tangent_kernel import kernel_matrix


@untraced
def weight_to_target_ratio(weights: Any, kernel: Any, targets: Any, *, degree: int = 2) -> Any:
    r"""The weight-to-target ratio of any network on a data set: large is lazy, small is rich.

    $$ \rho = \frac{\lVert\theta\rVert \sqrt{y^\top\Theta y}}{L\,\lVert y\rVert^2} $$

    with the weights θ at the start, their tangent kernel $\Theta = JJ^\top$ on the probe batch and the
    targets y. To first order, a step s along the first gradient moves the weights by $sJ^\top y$ and the
    outputs by $s\Theta y$. Its part along y is as large as the target when the weights have moved by
    $\lVert y\rVert^2/\sqrt{y^\top\Theta y}$. So $1/L\rho$ is the share of their length that weights must
    move to express the target. This is small where training is lazy, and with it the change of the
    kernel.

    For the network $f(x) = \frac{x}{Z}\sum_i a_i b_i$ on targets $xS$ this is $\Sigma_0/\lvert S\rvert$,
    exactly and on any inputs: $\lVert\theta\rVert^2 = 2Z\Sigma_0$, and Θ has the one eigenvalue
    $2\Sigma_0\lVert x\rVert^2/Z$. L weighs all depths alike: for networks that are homogeneous of degree
    L in their weights, $\theta\cdot\nabla f = Lf$, so that
    $\lvert f\rvert \le \lVert\theta\rVert\lVert\nabla f\rVert/L$, which is Eq. 91. The four rescalings of
    App. G.3 act as there: weights by c change the ratio by $c^L$, targets by $1/c$, outputs by c, inputs
    by c where f is homogeneous in them.

    It says nothing about the first output. Where that is not small, pass what is left to learn, targets −
    outputs, for `targets`. It is not a verdict either: imbalance between layers makes networks lazy at
    any ratio.

    Args:
        weights: all weights at the start, an array of any shape; several arrays raveled and concatenated.
        kernel: Θ at the start, shape (n c, n c), the row of point i and output o having the number
            i·c + o, as `tangent_kernel(…, full=True)` gives it. Or its trace over outputs, shape (n, n), of
            which each output is then taken to have an equal share.
        targets: y, shape (n,) or (n, c).
        degree: L, the number of layers that are multiplied.

    Returns:
        The ratio, a number ≥ 0; 0 where the first gradient vanishes.

    Source:
        layerwise, Eq. 20, Sec. 7.2; the extension to any network is this library's.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import weight_to_target_ratio
        >>> a, b, x = np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([0.3, -1.2, 2.0])
        >>> jacobian = np.outer(x, np.concatenate([b, a]))  # f = x·(a @ b)
        >>> weight_to_target_ratio([a, b], jacobian @ jacobian.T, 0.5 * x).round(12)
        np.float64(6.25)
        >>> (a @ a + b @ b) / 2 / 0.5
        np.float64(6.25)
    """
    theta = moderate("weights", weights, advice="Flatten them into one array without NaN.")
    K = real("kernel", kernel_matrix(kernel), advice="Pass a kernel matrix without NaN.")
    y = moderate("targets", targets, advice="Pass the targets of the probe batch.")
    L = count("degree", degree, advice="Pass the number of layers.")
    if theta.size == 0:
        raise argument_error("weights", "not be empty", theta.shape)
    if y.ndim not in (1, 2) or y.size == 0:
        raise argument_error("targets", "have the shape (n,) or (n, c)", y.shape)
    length = np.linalg.norm(y)
    if length == 0:
        raise argument_error(
            "targets", "not vanish", "zeros", "The ratio is infinite: there is nothing to learn."
        )
    return np.float64(np.linalg.norm(theta) * np.sqrt(_along(K, y / length)) / (L * length))


def _along(K: np.ndarray, unit: np.ndarray) -> float:
    """The kernel along a direction of length 1 in the space of outputs."""
    columns = unit.reshape(len(unit), -1)
    n, c = columns.shape
    if K.shape == (n * c, n * c):
        value = columns.ravel() @ K @ columns.ravel()
    elif K.shape == (n, n):
        value = np.sum(columns * (K @ columns)) / c
    else:
        raise argument_error(
            "kernel", f"have the shape {(n * c, n * c)} or {(n, n)} to fit `targets`", K.shape,
            "Take it on the points of the targets.",
        )  # fmt: skip
    scale = float(np.abs(K).max())
    if value < -1e-10 * n * c * scale:
        raise argument_error(
            "kernel", "have no negative eigenvalues", f"{value:.3g} along the targets",
            "Pass J @ J.T, without centring.",
        )  # fmt: skip
    return max(float(value), 0.0)
