"""Grokking in a linear student: losses, accuracies and the delay between them."""

import math
from typing import Any

import jax.numpy as jnp

from lazyrich.core import Crossing, Status, compute, real
from lazyrich.quantities._threshold_accuracy import accuracy_from_loss, loss_from_accuracy
from lazyrich.theory._crossing import falling_time
from lazyrich.theory._marchenko_pastur import (
    MarchenkoPastur,
    laplace,
    log_laplace,
    log_weighted_laplace,
    weighted_laplace,
)
from lazyrich.theory._solution import Solution, times

ERF_SQRT_2 = math.erf(math.sqrt(2))
"""The accuracy by which the paper defines grokking: a loss of exactly a quarter of the threshold."""


class LinearGrokking(Solution):
    r"""A linear student learns a linear teacher from Gaussian inputs by gradient flow.

    $$ \mathcal{L}_\mathrm{tr}(t) = \mathbb{E}_{\nu\sim\mathrm{MP}(\lambda)}[\nu e^{-4\eta\nu t}],
       \qquad \mathcal{L}_\mathrm{gen}(t) = \mathbb{E}_{\nu\sim\mathrm{MP}(\lambda)}[e^{-4\eta\nu t}],
       \qquad \mathcal{A} = \operatorname{erf}\sqrt{\epsilon/2\mathcal{L}} $$

    Averages of $D(t) = e^{-2\eta\Sigma t} D_0$ over the spectrum of the training covariance Σ, whose
    eigenvalues ν follow the Marchenko–Pastur law.

    Symbols:
        $\lambda = d_\mathrm{in}/N$ → `aspect_ratio`, $\eta$ → `learning_rate`, $\epsilon$ → `threshold`,
        $t$ → `time`. "gen" in the paper is "test" here.

    Source:
        linear-grokking, Eq. 8–11.

    Holds when:
        $d_\mathrm{in}, N \to \infty$ at fixed λ; one output; loss = mean squared error without ½;
        teacher and student drawn so that $\mathbb{E}\|D_0\|^2 = 1$; no weight decay, no label noise;
        $2\eta(1+\sqrt\lambda)^2 \ll 1$, so that descent follows the flow.

    Computed as:
        a trapezoidal rule of fixed size that is exact to rounding for every time and λ, through λ = 1
        and far into the tail; see `MarchenkoPastur`.

    Checked by:
        checks `linear-grokking/eq8` to `linear-grokking/eq11`; `tests/theory/test_linear_grokking.py`.

    Args:
        aspect_ratio: λ, > 0, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        threshold: ε, > 0, any shape: a squared error up to this counts as correct.

    Example:
        >>> from lazyrich.theory import LinearGrokking
        >>> model = LinearGrokking(aspect_ratio=0.9, learning_rate=0.01, threshold=1e-3)
        >>> model.train_loss(0.0), model.test_loss(0.0)
        (np.float64(1.0), np.float64(1.0))
        >>> delay = model.grokking_time()
        >>> round(float(delay.time)), delay.status.item()
        (35402, 0)
    """

    aspect_ratio: Any
    learning_rate: Any
    threshold: Any

    def __init__(self, aspect_ratio: Any, learning_rate: Any = 1.0, threshold: Any = 1e-3):
        self.aspect_ratio = MarchenkoPastur(aspect_ratio).aspect_ratio
        self.learning_rate = real("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
        self.threshold = real("threshold", threshold, above=0, advice="Use e.g. 1e-3.")

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""
        return compute(_train_loss, self, times(time))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh inputs."""
        return compute(_test_loss, self, times(time))

    def train_accuracy(self, time: Any) -> Any:
        """Share of training samples with squared error below the threshold."""
        return compute(_train_accuracy, self, times(time))

    def test_accuracy(self, time: Any) -> Any:
        """Share of fresh samples with squared error below the threshold."""
        return compute(_test_accuracy, self, times(time))

    def train_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the training accuracy reaches a level."""
        return compute(_train_time, self, _level(accuracy))

    def test_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the test accuracy reaches a level; `inf` where λ > 1 keeps it from ever doing so."""
        return compute(_test_time, self, _level(accuracy))

    def grokking_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """Delay between training and test accuracy reaching a level, on the exact curves."""
        return compute(_grokking_time, self, _level(accuracy))

    def late_train_loss(self, time: Any) -> Any:
        r"""Late-time form $e^{-4\eta(1-\sqrt\lambda)^2t}/16\sqrt\pi\lambda^{3/4}(\eta t)^{3/2}$ (Eq. 10).

        Its relative error falls as $3/64\sqrt\lambda\eta t$ (check `linear-grokking/eq10`).
        """
        return compute(_late_train_loss, self, times(time))

    def late_test_loss(self, time: Any) -> Any:
        r"""Late-time form, the above divided by $(1-\sqrt\lambda)^2$ (Eq. 10); λ < 1.

        Needs $4\eta(1-\sqrt\lambda)^2 t \gg 1$ besides: close to λ = 1 that is much later.
        """
        return compute(_late_test_loss, self, times(time))

    def small_threshold_grokking_time(self) -> Any:
        r"""Limit ε → 0 of the delay, $-\log(1-\sqrt\lambda)/2\eta(1-\sqrt\lambda)^2$ (Eq. 11); λ < 1.

        Convergence is logarithmic in ε; near λ = 1 it takes $\epsilon \ll 1-\sqrt\lambda$. NaN for λ ≥ 1,
        where the limit does not exist. `grokking_time` is exact at any ε.
        """
        return compute(_small_threshold_grokking_time, self)


def _level(accuracy: Any) -> Any:
    return real("accuracy", accuracy, above=0, below=1, advice="Pass a share such as 0.95.")


def _s(m: LinearGrokking, t: Any) -> Any:
    return 4 * m.learning_rate * t


def _train_loss(m: LinearGrokking, t: Any) -> Any:
    return weighted_laplace(m.aspect_ratio, _s(m, t))


def _test_loss(m: LinearGrokking, t: Any) -> Any:
    return laplace(m.aspect_ratio, _s(m, t))


def _train_accuracy(m: LinearGrokking, t: Any) -> Any:
    return accuracy_from_loss(_train_loss(m, t), m.threshold)


def _test_accuracy(m: LinearGrokking, t: Any) -> Any:
    return accuracy_from_loss(_test_loss(m, t), m.threshold)


def _train_time(m: LinearGrokking, accuracy: Any) -> Crossing:
    level, ratio, rate = _broadcast(m, accuracy)
    return _crossing(log_weighted_laplace, ratio, level, 0, rate)


def _test_time(m: LinearGrokking, accuracy: Any) -> Crossing:
    level, ratio, rate = _broadcast(m, accuracy)
    floor = jnp.maximum((ratio - 1) / ratio, 0)
    return _crossing(log_laplace, ratio, level, floor, rate)


def _broadcast(m: LinearGrokking, accuracy: Any) -> Any:
    level = loss_from_accuracy(accuracy, m.threshold)
    return jnp.broadcast_arrays(level, m.aspect_ratio, m.learning_rate)


def _crossing(log_loss: Any, ratio: Any, level: Any, floor: Any, rate: Any) -> Crossing:
    """When exp(log_loss(ratio, 4·rate·t)), which falls from 1 to `floor`, reaches a level."""
    at_start, never = level >= 1, level <= floor
    solvable = (level < 1) & (level > floor)
    safe = jnp.where(solvable, level, (1 + floor) / 2)
    s = falling_time(lambda s: log_loss(ratio, s), jnp.log(safe))
    time = jnp.where(solvable, s / (4 * rate), jnp.where(at_start, 0, jnp.inf))
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    invalid = ~(solvable | at_start | never) | jnp.isnan(rate)
    return Crossing(jnp.where(invalid, jnp.nan, time), jnp.where(invalid, Status.INVALID, status))


def _grokking_time(m: LinearGrokking, accuracy: Any) -> Crossing:
    train, test = _train_time(m, accuracy), _test_time(m, accuracy)
    never = test.status == Status.NEVER
    gap = jnp.where(never, 0, test.time) - jnp.where(never, 0, train.time)  # no inf in the gradient
    return Crossing(jnp.where(never, jnp.inf, gap), test.status)


def _gap(m: LinearGrokking) -> Any:
    lam = m.aspect_ratio
    return (1 - lam) / (1 + jnp.sqrt(lam))  # 1 − √λ without cancellation near λ = 1


def _late_train_loss(m: LinearGrokking, t: Any) -> Any:
    lam, tau = m.aspect_ratio, m.learning_rate * t
    return jnp.exp(-4 * _gap(m) ** 2 * tau) / (16 * jnp.sqrt(jnp.pi) * lam**0.75 * tau**1.5)


def _late_test_loss(m: LinearGrokking, t: Any) -> Any:
    late = _late_train_loss(m, t) / _gap(m) ** 2
    return jnp.where(m.aspect_ratio < 1, late, jnp.nan)


def _small_threshold_grokking_time(m: LinearGrokking) -> Any:
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return -jnp.log(gap) / (2 * m.learning_rate * gap**2)
