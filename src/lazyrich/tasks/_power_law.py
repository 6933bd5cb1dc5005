"""Tasks whose modes have strengths that follow a power law."""

import numpy as np

from lazyrich.core import count, number
from lazyrich.tasks._gaussian import MOST_INPUTS
from lazyrich.tasks._gaussian_regression import GaussianRegression
from lazyrich.tasks._in_context_regression import InContextRegression

MOST_MODES = 10**6


def power_law_strengths(num_modes: int, exponent: float) -> np.ndarray:
    r"""$s_n = n^{-\kappa} / \sum_m m^{-\kappa}$, shape (modes,).

    Singular values of a task, or frequencies of skills.

    Source:
        saddles, Sec. 6 (Fig. 2B); layerwise, App. D.

    Args:
        num_modes: how many there are.
        exponent: κ ≥ 0; 0 makes all alike.

    Example:
        >>> from lazyrich.tasks import power_law_strengths
        >>> power_law_strengths(3, exponent=1.0).round(3)
        array([0.545, 0.273, 0.182])
    """
    num = count("num_modes", num_modes, at_most=MOST_MODES)
    s = np.arange(1.0, num + 1) ** -number("exponent", exponent, at_least=0, advice="Use e.g. 1.")
    return s / s.sum()


def power_law_regression(
    num_modes: int, exponent: float = 1.0, num_samples: int = 8192
) -> GaussianRegression:
    r"""White inputs and a linear target, $\Sigma_{xx} = 1$, $\Sigma_{yx} = \operatorname{diag}(s)$.

    Source:
        saddles, Fig. 2.

    Args:
        num_modes: numbers of inputs and of outputs.
        exponent: κ of `power_law_strengths`, whose s these are.
        num_samples: size of a training set.

    Example:
        >>> from lazyrich.tasks import power_law_regression
        >>> power_law_regression(3).moments().correlation.diagonal().round(3)
        array([0.545, 0.273, 0.182])
    """
    s = power_law_strengths(count("num_modes", num_modes, at_most=MOST_INPUTS), exponent)
    return GaussianRegression(s.size, lambda x: x * s, num_samples)


def power_law_contexts(
    num_modes: int, exponent: float = 1.0, context: int = 32, num_samples: int = 8192
) -> InContextRegression:
    r"""In-context regression that linear attention sees as $N\Lambda^2 = \operatorname{diag}(s)$.

    Source:
        saddles, Fig. 2, for attention; that s are the entries of $N\Lambda^2$ is our choice.

    Args:
        num_modes: number D of entries of an input.
        exponent: κ of `power_law_strengths`, whose s these are.
        context: N.
        num_samples: number of sequences in a training set.

    Example:
        >>> from lazyrich.tasks import power_law_contexts
        >>> (32 * power_law_contexts(3).covariance.diagonal() ** 2).round(3)
        array([0.545, 0.273, 0.182])
    """
    D = count("num_modes", num_modes, at_most=MOST_INPUTS)
    N = count("context", context, advice="Pass e.g. 32.")
    covariance = np.diag(np.sqrt(power_law_strengths(D, exponent) / N))
    return InContextRegression(covariance, N, num_samples)
