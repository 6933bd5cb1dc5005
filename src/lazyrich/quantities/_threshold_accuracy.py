"""Accuracy of a regression: the share of errors below a threshold."""

from typing import Any

import jax.numpy as jnp
from jax.scipy.special import erf, erfinv

from lazyrich.core import compute, real


def threshold_accuracy(loss: Any, threshold: Any) -> Any:
    r"""Share of Gaussian errors whose square lies below a threshold, from their mean square.

    $$ \mathcal{A} = \Pr(z^2 \le \epsilon) = \operatorname{erf}\sqrt{\epsilon / 2\mathcal{L}},
       \qquad z \sim \mathcal{N}(0, \mathcal{L}) $$

    Symbols:
        $\mathcal{L}$ → `loss`, $\epsilon$ → `threshold`.

    Source:
        linear-grokking, Eq. 9; the construction is omnigrok's.

    Holds when:
        the errors are Gaussian with mean zero, as for a linear student on Gaussian inputs, and the
        sample is large.

    Checked by:
        check `linear-grokking/eq9`; `tests/quantities/test_threshold_accuracy.py`.

    Args:
        loss: mean squared error, ≥ 0, any shape.
        threshold: a squared error up to this counts as correct, > 0, any shape that broadcasts.

    Returns:
        The accuracy, between 0 and 1; 1 where the loss is 0.

    Example:
        >>> from lazyrich.quantities import threshold_accuracy
        >>> round(threshold_accuracy(loss=2.5e-4, threshold=1e-3), 4)
        0.9545
    """
    loss = real("loss", loss, at_least=0, advice="Pass a mean squared error.")
    threshold = real("threshold", threshold, above=0, advice="Pass a squared error such as 1e-3.")
    return compute(accuracy_from_loss, loss, threshold)


def threshold_loss(accuracy: Any, threshold: Any) -> Any:
    r"""Mean squared error at which a Gaussian regression reaches an accuracy; inverts the above.

    $$ \mathcal{L} = \frac{\epsilon}{2 \operatorname{erfinv}(\mathcal{A})^2} $$

    Symbols:
        $\mathcal{A}$ → `accuracy`, $\epsilon$ → `threshold`.

    Source:
        linear-grokking, Sec. 3.1.3: accuracy erf(√2) ≈ 0.954 is reached at loss ε/4.

    Holds when:
        as for `threshold_accuracy`.

    Checked by:
        check `linear-grokking/eq9`; `tests/quantities/test_threshold_accuracy.py`.

    Args:
        accuracy: between 0 and 1, both excluded, any shape.
        threshold: as above.

    Returns:
        The loss.

    Example:
        >>> from lazyrich.quantities import threshold_loss
        >>> round(threshold_loss(accuracy=0.9544997361036416, threshold=4.0), 12)
        1.0
    """
    accuracy = real("accuracy", accuracy, above=0, below=1, advice="Pass a share such as 0.95.")
    threshold = real("threshold", threshold, above=0, advice="Pass a squared error such as 1e-3.")
    return compute(loss_from_accuracy, accuracy, threshold)


def accuracy_from_loss(loss: Any, threshold: Any) -> Any:
    """`threshold_accuracy` for use inside other formulas: no checks, any dtype."""
    safe = jnp.where(loss > 0, loss, 1)  # keeps the gradient finite where the loss vanishes
    return jnp.where(loss == 0, 1.0, erf(jnp.sqrt(threshold / (2 * safe)) + 0 * loss))


def loss_from_accuracy(accuracy: Any, threshold: Any) -> Any:
    """`threshold_loss` for use inside other formulas: no checks, any dtype."""
    return threshold / (2 * _polished_erfinv(accuracy) ** 2)


def _polished_erfinv(accuracy: Any) -> Any:
    # one Newton step brings JAX's 19 ulp down to rounding
    x = erfinv(accuracy)
    slope = 2 / jnp.sqrt(jnp.pi) * jnp.exp(-(x**2))
    return x - (erf(x) - accuracy) / jnp.where(slope > 0, slope, jnp.inf)
