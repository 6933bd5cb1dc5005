"""Grokking in a linear student: losses, accuracies and the delay between them."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammainc

from lazyrich.core import (
    AssumptionError,
    compute,
    compute_elementwise,
    is_traced,
    moderate,
    real,
    shortened,
    whole,
)
from lazyrich.quantities._threshold_accuracy import loss_from_accuracy, several
from lazyrich.theory._first_crossing import Falling
from lazyrich.theory._grokking_solution import ERF_SQRT_2, GrokkingSolution
from lazyrich.theory._marchenko_pastur import MarchenkoPastur
from lazyrich.theory._solution import (
    accuracy_level,
    check_broadcast,
    fitting,
    learning_rate_of,
    times,
)
from lazyrich.theory._student_losses import (
    Student,
    initial_losses,
    limits,
    log_plain_losses,
    losses,
    spreads,
)


class LinearGrokking(GrokkingSolution):
    r"""A linear student learns a linear teacher from Gaussian inputs by gradient flow.

    $$ \dot D = -\tfrac{2\eta}{d_\mathrm{out}}\left[(\Sigma + \tfrac\gamma2) D + \tfrac\gamma2 T
       - \tfrac1N X^\top\delta\right], \qquad
       \mathcal{L}_\mathrm{tr}(t) = \mathbb{E}_{\nu\sim\mathrm{MP}(\lambda)}[\nu e^{-4\eta\nu t}],
       \quad \mathcal{L}_\mathrm{gen}(t) = \mathbb{E}_{\nu\sim\mathrm{MP}(\lambda)}[e^{-4\eta\nu t}] $$

    The losses as written are for one output, no decay and no noise; in general, with
    $e = e^{-2\eta(\nu+\gamma/2)t/d_\mathrm{out}}$ and $r = (\nu e + \gamma/2)/(\nu + \gamma/2)$,

    $$ \mathcal{L}_\mathrm{tr} = \tfrac{1}{2d_\mathrm{out}} \mathbb{E}[(\alpha^2 e^2 + r^2)\nu]
       + \sigma_\delta^2 (1 - \lambda \mathbb{E}[1 - r^2]), \qquad
       \mathcal{L}_\mathrm{gen} = \tfrac{1}{2d_\mathrm{out}} \mathbb{E}[\alpha^2 e^2 + r^2]
       + \lambda\sigma_\delta^2\, \mathbb{E}\left[\frac{\nu (1 - e)^2}{(\nu + \gamma/2)^2}\right] $$

    The training loss is that on the noisy labels, the test loss that on clean ones. What becomes of them at
    late times and for small thresholds is `LateGrokking`.

    Symbols:
        $\lambda = d_\mathrm{in}/N$ → `aspect_ratio`, $\eta$ → `learning_rate`, $\epsilon$ → `threshold`,
        $d_\mathrm{out}$ → `output_dimension`, $\gamma$ → `weight_decay`, $\alpha$ → `student_scale`,
        $\sigma_\delta$ → `label_noise`, $t$ → `time`. "gen" in the paper is "test" here.

    Source:
        linear-grokking, Eq. 8, 9, 12–15, 37–38. The terms in σ_δ are not in the paper, whose Eq. 26–28 leave
        the noise out of the dynamics (see the errata).

    Holds when:
        $d_\mathrm{in}, N \to \infty$ at fixed λ; loss = mean over samples and outputs of the squared
        error, without ½; entries of the teacher have variance $1/2d_\mathrm{in}d_\mathrm{out}$, those of
        the student α² times that; decay is the gradient of $\gamma\|S\|^2/2d_\mathrm{out}$;
        $2\eta(1+\sqrt\lambda)^2/d_\mathrm{out} \ll 1$, so that descent follows the flow.

    Computed as:
        without decay and noise, a trapezoidal rule of 24 nodes that is exact to rounding for every time
        and λ, through λ = 1 and far into the tail; otherwise one of 481 nodes that resolves every scale
        of ν, decay and time. All terms are positive.

    Checked by:
        checks `linear-grokking/eq8`, `linear-grokking/eq9`, `linear-grokking/eq12` to `linear-grokking/eq15`,
        `linear-grokking/eq26`, `linear-grokking/eq27`, `linear-grokking/eq37`;
        `tests/theory/test_linear_grokking.py`, `tests/theory/test_linear_grokking_variants.py`.

    Args:
        aspect_ratio: λ, > 0, any shape.
        learning_rate: η > 0, any shape; time is then counted in steps. With 1, the default, time is
            learning rate × step.
        threshold: ε, > 0, any shape: a squared error, mean over outputs, up to this counts as correct.
        output_dimension: number of outputs, whole, any shape.
        weight_decay: γ ≥ 0, any shape.
        student_scale: α ≥ 0, any shape.
        label_noise: standard deviation σ_δ ≥ 0 of the training labels' noise, any shape.

    Example:
        >>> from lazyrich.theory import LinearGrokking
        >>> model = LinearGrokking(aspect_ratio=0.9, learning_rate=0.01, threshold=1e-3)
        >>> model.train_loss(0.0).round(12), model.test_loss(0.0).round(12)
        (np.float64(1.0), np.float64(1.0))
        >>> delay = model.grokking_delay()
        >>> round(float(delay.time)), delay.status.item()
        (20481, 0)
    """

    aspect_ratio: Any
    learning_rate: Any
    threshold: Any
    output_dimension: Any
    weight_decay: Any
    student_scale: Any
    label_noise: Any

    def __init__(
        self,
        aspect_ratio: Any,
        learning_rate: Any = 1.0,
        threshold: Any = 1e-3,
        *,
        output_dimension: Any = 1,
        weight_decay: Any = 0.0,
        student_scale: Any = 1.0,
        label_noise: Any = 0.0,
    ):
        self.aspect_ratio = MarchenkoPastur(aspect_ratio).aspect_ratio
        self.learning_rate = learning_rate_of(learning_rate)
        self.threshold = real("threshold", threshold, above=0, advice="Use e.g. 1e-3.")
        self.output_dimension = whole(
            "output_dimension", output_dimension, at_most=1_000_000, advice="Use e.g. 1."
        )
        self.weight_decay = moderate(
            "weight_decay", weight_decay, at_least=0, advice="Use 0 for none."
        )
        self.student_scale = moderate(
            "student_scale", student_scale, at_least=0, advice="Use 1 as usual."
        )
        self.label_noise = moderate(
            "label_noise", label_noise, at_least=0, advice="Use 0 for none."
        )
        check_broadcast(self)

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""
        return compute_elementwise(_train_loss, self._resolved(), times(time, self))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh inputs."""
        return compute_elementwise(_test_loss, self._resolved(), times(time, self))

    def finite_accuracies(self, time: Any, input_dimension: Any) -> tuple[Any, Any]:
        r"""Training and test accuracy for a finite number of inputs, without label noise.

        $$ \mathcal{A} = 1 - \frac{\Gamma(k/2,\, k\epsilon/2\mathcal{L})}{\Gamma(k/2)}, \qquad
           \frac1k = \frac{1}{d_\mathrm{out}} + \frac{1}{d_\mathrm{in}}
           \frac{\mathbb{E}[f^2]}{\mathbb{E}[f]^2} \;\left(- \frac1N \text{ in training}\right) $$

        where f is what a mode still contributes to the loss. Eq. 12 takes the errors of a sample for
        independent; but they share its input, and their mean square varies from sample to sample also by
        what that input meets. It has d_out degrees of freedom only while d_out is much smaller than the
        number of modes left. k matches its mean and variance.
        """
        if not is_traced(self.label_noise) and np.any(self.label_noise > 0):
            raise AssumptionError(
                f"Accuracies at a finite number of inputs assume `label_noise` = 0, got "
                f"{shortened(self.label_noise.tolist())}. `train_accuracy` and `test_accuracy` take any "
                "noise."
            )
        inputs = whole(
            "input_dimension", input_dimension, advice="Pass the number of inputs, e.g. 1000."
        )
        inputs = fitting("input_dimension", inputs, self)
        return compute_elementwise(_finite_accuracies, self._resolved(), times(time, self), inputs)

    def limits(self) -> tuple[Any, Any]:
        """Training and test loss for t → ∞, in closed form for any decay, noise and λ."""
        return compute(_limits, self._resolved())

    def smallest_threshold(self, accuracy: Any = ERF_SQRT_2) -> Any:
        """The threshold above which the test accuracy ends above a level: below, it never generalises.

        With label noise the test loss may dip below its limit; the dip is not counted.
        """
        outputs, level = several(self.output_dimension), accuracy_level(accuracy, self)
        return compute(_smallest_threshold, self._resolved(), level, outputs)

    def decay_time(self) -> Any:
        r"""$d_\mathrm{out}/\eta\gamma$: when decay has shrunk a weight that no sample touches by 1/e.

        Above λ = 1 this is the time scale of the test loss; inf without decay.
        """
        return compute(_decay_time, self._resolved())

    def _resolved(self) -> "_Resolved":
        is_noisy = _may_be_positive(self.label_noise)
        is_plain = not (is_noisy or _may_be_positive(self.weight_decay))
        return _Resolved(**vars(self), is_plain=is_plain, is_noisy=is_noisy)


class _Resolved(eqx.Module):
    """The parameters, with what is known of them before tracing: it decides which formula is needed."""

    aspect_ratio: Any
    learning_rate: Any
    threshold: Any
    output_dimension: Any
    weight_decay: Any
    student_scale: Any
    label_noise: Any
    is_plain: bool = eqx.field(static=True)
    is_noisy: bool = eqx.field(static=True)

    def _falling(self, which: int) -> Falling:
        """The training (0) or test (1) loss as a function of s."""
        return Falling(
            log_loss=lambda s: _log_losses(self, s)[which],
            start=initial_losses(_student(self))[which],
            limit=_limits(self)[which],
            rate=_s(self, 1),
            may_rise=self.is_noisy and which == 1,  # the only loss that may rise again
        )


def _may_be_positive(value: Any) -> bool:
    return is_traced(value) or bool(np.any(value > 0))


def _student(m: _Resolved) -> Student:
    return Student(
        m.aspect_ratio, m.weight_decay / 2, m.student_scale, m.label_noise, m.output_dimension
    )


def _s(m: _Resolved, t: Any) -> Any:
    return 4 * m.learning_rate / m.output_dimension * t


def _log_losses(m: _Resolved, s: Any) -> tuple[Any, Any]:
    if m.is_plain:
        return log_plain_losses(_student(m), s)
    train, test = losses(_student(m), s)
    return jnp.log(train), jnp.log(test)


def _losses(m: _Resolved, t: Any) -> tuple[Any, Any]:
    if m.is_plain:
        train, test = log_plain_losses(_student(m), _s(m, t))
        return jnp.exp(train), jnp.exp(test)
    return losses(_student(m), _s(m, t))


def _train_loss(m: _Resolved, t: Any) -> Any:
    return _losses(m, t)[0]


def _test_loss(m: _Resolved, t: Any) -> Any:
    return _losses(m, t)[1]


def _finite_accuracies(m: _Resolved, t: Any, inputs: Any) -> tuple[Any, Any]:
    train_spread, test_spread = spreads(_student(m), _s(m, t))
    train, test = _losses(m, t)

    def accuracy(loss: Any, spread: Any) -> Any:
        k = 1 / (1 / m.output_dimension + spread)
        safe = jnp.where(loss > 0, loss, 1)
        return jnp.where(loss > 0, gammainc(k / 2, k * m.threshold / (2 * safe)), 1.0)

    return accuracy(train, (train_spread - m.aspect_ratio) / inputs), accuracy(
        test, test_spread / inputs
    )


def _limits(m: _Resolved) -> tuple[Any, Any]:
    return limits(_student(m))


def _smallest_threshold(m: _Resolved, accuracy: Any, outputs: Any) -> Any:
    per_threshold = loss_from_accuracy(accuracy, jnp.ones_like(m.threshold), outputs)
    return _limits(m)[1] / per_threshold


def _decay_time(m: _Resolved) -> Any:
    rate = m.learning_rate * m.weight_decay / m.output_dimension
    return jnp.where(rate > 0, 1 / jnp.where(rate > 0, rate, 1), jnp.inf)
