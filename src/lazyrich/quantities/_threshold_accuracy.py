"""Accuracy of a regression: the share of errors below a threshold."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf, erfinv, gammainc, gammaincc

from lazyrich.core import argument_error, compute, falling_time, is_traced, real, whole


def threshold_accuracy(loss: Any, threshold: Any, output_dimension: Any = 1) -> Any:
    r"""Share of Gaussian errors whose mean square over outputs lies below a threshold.

    $$ \mathcal{A} = \Pr\Bigl(\tfrac1d \|z\|^2 \le \epsilon\Bigr)
       = 1 - \frac{\Gamma(d/2,\, d\epsilon/2\mathcal{L})}{\Gamma(d/2)}, \qquad
       z \sim \mathcal{N}(0, \mathcal{L} I_d) $$

    For one output this is $\operatorname{erf}\sqrt{\epsilon/2\mathcal{L}}$.

    Symbols:
        $\mathcal{L}$ → `loss`, $\epsilon$ → `threshold`, $d = d_\mathrm{out}$ → `output_dimension`.

    Source:
        linear-grokking, Eq. 9, 12; the construction is omnigrok's.

    Holds when:
        the errors are Gaussian with mean zero and the same variance for each output, as for a linear
        student on Gaussian inputs, and the sample is large.

    Checked by:
        checks `linear-grokking/eq9`, `linear-grokking/eq12`;
        `tests/quantities/test_threshold_accuracy.py`.

    Args:
        loss: mean squared error over samples and outputs, ≥ 0, any shape.
        threshold: a squared error up to this counts as correct, > 0, any shape that broadcasts.
        output_dimension: number of outputs, whole, any shape that broadcasts.

    Returns:
        The accuracy, between 0 and 1; 1 where the loss is 0.

    Example:
        >>> from lazyrich.quantities import threshold_accuracy
        >>> threshold_accuracy(loss=2.5e-4, threshold=1e-3).round(4)
        np.float64(0.9545)
    """
    loss = real("loss", loss, at_least=0, advice="Pass a mean squared error.")
    return _compute(accuracy_from_loss, "loss", loss, threshold, output_dimension)


def threshold_loss(accuracy: Any, threshold: Any, output_dimension: Any = 1) -> Any:
    r"""Mean squared error at which a Gaussian regression reaches an accuracy; inverts the above.

    $$ \mathcal{L} = \frac{d\,\epsilon}{2 x}, \qquad 1 - \frac{\Gamma(d/2, x)}{\Gamma(d/2)} = \mathcal{A} $$

    Symbols:
        $\mathcal{A}$ → `accuracy`, $\epsilon$ → `threshold`, $d = d_\mathrm{out}$ → `output_dimension`.

    Source:
        linear-grokking, Sec. 3.1.3 (one output: accuracy erf(√2) ≈ 0.954 is reached at loss ε/4), Eq. 12.

    Holds when:
        as for `threshold_accuracy`.

    Checked by:
        checks `linear-grokking/eq9`, `linear-grokking/eq12`;
        `tests/quantities/test_threshold_accuracy.py`.

    Args:
        accuracy: between 0 and 1, both excluded, any shape.
        threshold: as above.
        output_dimension: as above.

    Returns:
        The loss.

    Example:
        >>> from lazyrich.quantities import threshold_loss
        >>> threshold_loss(accuracy=0.9544997361036416, threshold=4.0).round(12)
        np.float64(1.0)
    """
    accuracy = real(
        "accuracy", accuracy, at_least=1e-12, below=1, advice="Pass a share such as 0.95."
    )
    return _compute(loss_from_accuracy, "accuracy", accuracy, threshold, output_dimension)


def _compute(function: Any, name: str, value: Any, threshold: Any, output_dimension: Any) -> Any:
    threshold, outputs = _threshold(threshold), _outputs(output_dimension)
    shapes = {name: np.shape(value), "threshold": np.shape(threshold)}
    shapes["output_dimension"] = () if outputs is None else np.shape(outputs)
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise argument_error(
            name, "have a shape that broadcasts with the others", shapes, "Add axes of length 1."
        ) from None
    return compute(function, value, threshold, outputs)


def _threshold(value: Any) -> Any:
    return real("threshold", value, above=0, advice="Pass a squared error such as 1e-3.")


def _outputs(value: Any) -> Any:
    return several(
        whole("output_dimension", value, at_most=1_000_000, advice="Pass the number of outputs.")
    )


def several(output_dimension: Any) -> Any:
    """The number of outputs, or None if it is known to be 1: then an error function does."""
    is_one = not is_traced(output_dimension) and np.all(output_dimension == 1)
    return None if is_one and np.ndim(output_dimension) == 0 else output_dimension


def accuracy_from_loss(loss: Any, threshold: Any, d: Any) -> Any:
    """`threshold_accuracy` for use inside other formulas: no checks, any dtype, `d` from `several`."""
    safe = jnp.where(loss > 0, loss, 1)  # keeps the gradient finite where the loss vanishes
    ratio = threshold / safe
    accuracy = erf(jnp.sqrt(ratio / 2))
    if d is not None:
        ratio, d = jnp.broadcast_arrays(ratio, d)
        accuracy = jnp.where(d > 1, gammainc(jnp.where(d > 1, d, 2) / 2, d * ratio / 2), accuracy)
    return jnp.where(loss == 0, 1.0, accuracy + 0 * loss)


def loss_from_accuracy(accuracy: Any, threshold: Any, d: Any) -> Any:
    """`threshold_loss` for use inside other formulas: no checks, any dtype, `d` from `several`."""
    single = threshold / (2 * _polished_erfinv(accuracy) ** 2)
    if d is None:
        return single
    accuracy, threshold, d, single = jnp.broadcast_arrays(accuracy, threshold, d, single)
    a = jnp.where(d > 1, d, 2) / 2
    log_odds = jnp.log1p(-accuracy) - jnp.log(accuracy)  # keeps its digits towards 0 and towards 1
    x = falling_time(
        lambda x: jnp.log(gammaincc(a, x)) - jnp.log(gammainc(a, x)), log_odds, start=a
    )
    return jnp.where(d > 1, d * threshold / (2 * x), single)


def _polished_erfinv(accuracy: Any) -> Any:
    # one Newton step brings JAX's 19 ulp down to rounding
    x = erfinv(accuracy)
    slope = 2 / jnp.sqrt(jnp.pi) * jnp.exp(-(x**2))
    return x - (erf(x) - accuracy) / jnp.where(slope > 0, slope, jnp.inf)
