"""Grokking in a linear student: losses, accuracies and the delay between them."""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from lazyrich.core import (
    ArgumentError,
    AssumptionError,
    Crossing,
    Status,
    compute,
    compute_elementwise,
    falling_time,
    is_traced,
    real,
    shortened,
    whole,
)
from lazyrich.quantities._threshold_accuracy import accuracy_from_loss, loss_from_accuracy, several
from lazyrich.theory._marchenko_pastur import MarchenkoPastur
from lazyrich.theory._solution import Solution, fitting, times
from lazyrich.theory._student_losses import (
    Student,
    initial_losses,
    limits,
    log_plain_losses,
    losses,
)

ERF_SQRT_2 = math.erf(math.sqrt(2))
"""The accuracy by which the paper defines grokking: for one output a loss of a quarter of the threshold."""


class LinearGrokking(Solution):
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

    The training loss is that on the noisy labels, the test loss that on clean ones.

    Symbols:
        $\lambda = d_\mathrm{in}/N$ → `aspect_ratio`, $\eta$ → `learning_rate`, $\epsilon$ → `threshold`,
        $d_\mathrm{out}$ → `output_dimension`, $\gamma$ → `weight_decay`, $\alpha$ → `student_scale`,
        $\sigma_\delta$ → `label_noise`, $t$ → `time`. "gen" in the paper is "test" here.

    Source:
        linear-grokking, Eq. 8–15, 37–38. The terms in σ_δ are not in the paper, whose Eq. 26–28 leave
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
        checks `linear-grokking/eq8` to `linear-grokking/eq15`, `linear-grokking/eq37`,
        `linear-grokking/eq26`, `linear-grokking/eq27`; `tests/theory/test_linear_grokking.py`,
        `tests/theory/test_linear_grokking_variants.py`.

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
        >>> delay = model.grokking_time()
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
        self.learning_rate = real("learning_rate", learning_rate, above=0, advice="Use e.g. 0.01.")
        self.threshold = real("threshold", threshold, above=0, advice="Use e.g. 1e-3.")
        self.output_dimension = whole(
            "output_dimension", output_dimension, at_most=1_000_000, advice="Use e.g. 1."
        )
        self.weight_decay = real("weight_decay", weight_decay, at_least=0, advice="Use 0 for none.")
        self.student_scale = real(
            "student_scale", student_scale, at_least=0, advice="Use 1 as usual."
        )
        self.label_noise = real("label_noise", label_noise, at_least=0, advice="Use 0 for none.")
        _check_broadcast(self)

    def train_loss(self, time: Any) -> Any:
        """Loss on the training set."""
        return compute_elementwise(_train_loss, _resolve(self), times(time, self))

    def test_loss(self, time: Any) -> Any:
        """Expected loss on fresh inputs."""
        return compute_elementwise(_test_loss, _resolve(self), times(time, self))

    def train_accuracy(self, time: Any) -> Any:
        """Share of training samples with squared error below the threshold."""
        return compute_elementwise(_train_accuracy, _resolve(self), times(time, self))

    def test_accuracy(self, time: Any) -> Any:
        """Share of fresh samples with squared error below the threshold."""
        return compute_elementwise(_test_accuracy, _resolve(self), times(time, self))

    def train_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the training accuracy reaches a level."""
        return compute_elementwise(_train_time, _resolve(self), _level(accuracy, self))

    def test_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """When the test accuracy first reaches a level; `inf` where it never does."""
        return compute_elementwise(_test_time, _resolve(self), _level(accuracy, self))

    def grokking_time(self, accuracy: Any = ERF_SQRT_2) -> Crossing:
        """Delay between training and test accuracy reaching a level, on the exact curves."""
        return compute_elementwise(_grokking_time, _resolve(self), _level(accuracy, self))

    def limits(self) -> tuple[Any, Any]:
        """Training and test loss for t → ∞, in closed form for any decay, noise and λ."""
        return compute(_limits, _resolve(self))

    def smallest_threshold(self, accuracy: Any = ERF_SQRT_2) -> Any:
        """The threshold above which the test accuracy ends above a level: below, it never generalises.

        With label noise the test loss may dip below its limit; the dip is not counted.
        """
        return compute(_smallest_threshold, _resolve(self), _level(accuracy, self))

    def decay_time(self) -> Any:
        r"""$d_\mathrm{out}/\eta\gamma$: when decay has shrunk a weight that no sample touches by 1/e.

        Above λ = 1 this is the time scale of the test loss; inf without decay.
        """
        return compute(_decay_time, _resolve(self))

    def late_train_loss(self, time: Any) -> Any:
        r"""Late-time form $e^{-4\eta(1-\sqrt\lambda)^2t}/16\sqrt\pi\lambda^{3/4}(\eta t)^{3/2}$ (Eq. 10).

        For one output without decay and noise. Its relative error falls as
        $3/64\sqrt\lambda\eta t$ (check `linear-grokking/eq10`).
        """
        _assume_simplest(self, below_one=False)
        return compute(_late_train_loss, _resolve(self), times(time, self))

    def intermediate_test_loss(self, time: Any) -> Any:
        r"""The late training loss integrated to infinity (Eq. 22), for one output, λ < 1.

        With $y = 4\eta(1-\sqrt\lambda)^2 t$ it is $(1-\sqrt\lambda)\,[e^{-y}y^{-1/2} - \Gamma(\tfrac12, y)]
        / \sqrt\pi\lambda^{3/4}$. Good from $\eta t \gg 1/\sqrt\lambda$ on, also before $y \gg 1$.
        """
        _assume_simplest(self, below_one=True)
        return compute(_intermediate_test_loss, _resolve(self), times(time, self))

    def late_test_loss(self, time: Any) -> Any:
        r"""Late-time form, the above divided by $(1-\sqrt\lambda)^2$ (Eq. 10); λ < 1.

        Needs $4\eta(1-\sqrt\lambda)^2 t \gg 1$ besides: close to λ = 1 that is much later.
        """
        _assume_simplest(self, below_one=True)
        return compute(_late_test_loss, _resolve(self), times(time, self))

    def small_threshold_grokking_time(self) -> Any:
        r"""Limit ε → 0 of the delay, $-\log(1-\sqrt\lambda)/2\eta(1-\sqrt\lambda)^2$ (Eq. 11); λ < 1.

        Convergence is logarithmic in ε; near λ = 1 it takes $\epsilon \ll 1-\sqrt\lambda$. `AssumptionError`
        (in a trace NaN) for λ ≥ 1, where the limit does not exist. `grokking_time` is exact at any ε.
        """
        _assume_simplest(self, below_one=True)
        return compute(_small_threshold_grokking_time, _resolve(self))


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
    is_single: bool = eqx.field(static=True)


def _resolve(m: LinearGrokking) -> _Resolved:
    is_noisy = _may_be_positive(m.label_noise)
    return _Resolved(
        **vars(m),
        is_plain=not (is_noisy or _may_be_positive(m.weight_decay)),
        is_noisy=is_noisy,
        is_single=several(m.output_dimension) is None,
    )


def _may_be_positive(value: Any) -> bool:
    return is_traced(value) or bool(np.any(value > 0))


def _assume_simplest(m: LinearGrokking, *, below_one: bool) -> None:
    """The late forms are for one output, no decay, no noise and scale 1; those of the test loss for λ < 1."""
    assumed = {"output_dimension": 1, "weight_decay": 0, "student_scale": 1, "label_noise": 0}
    for name, value in assumed.items():
        found = getattr(m, name)
        if not is_traced(found) and np.any(found != value):
            raise AssumptionError(
                f"This late-time form assumes `{name}` = {value}, got {shortened(found.tolist())}. The exact "
                "methods, such as `test_loss` and `grokking_time`, take any value."
            )
    if below_one and not is_traced(m.aspect_ratio) and np.any(m.aspect_ratio >= 1):
        raise AssumptionError(
            f"This late-time form assumes `aspect_ratio` < 1, got {shortened(m.aspect_ratio.tolist())}. "
            "From 1 on it does not exist; `test_loss` and `grokking_time` are exact for every λ."
        )


def _level(accuracy: Any, m: LinearGrokking) -> Any:
    level = real("accuracy", accuracy, at_least=1e-12, below=1, advice="Pass a share such as 0.95.")
    return fitting("accuracy", level, m)


def _check_broadcast(m: LinearGrokking) -> None:
    try:
        np.broadcast_shapes(*(value.shape for value in vars(m).values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in vars(m).items())
        raise ArgumentError(
            f"The parameters must have shapes that broadcast, got {shapes}. Add axes of length 1, as in "
            "`aspect_ratio[:, None]`, to combine all values of one with all of another."
        ) from None


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


def _outputs(m: _Resolved) -> Any:
    return None if m.is_single else m.output_dimension


def _train_accuracy(m: _Resolved, t: Any) -> Any:
    return accuracy_from_loss(_train_loss(m, t), m.threshold, _outputs(m))


def _test_accuracy(m: _Resolved, t: Any) -> Any:
    return accuracy_from_loss(_test_loss(m, t), m.threshold, _outputs(m))


def _limits(m: _Resolved) -> tuple[Any, Any]:
    return limits(_student(m))


def _smallest_threshold(m: _Resolved, accuracy: Any) -> Any:
    per_threshold = loss_from_accuracy(accuracy, jnp.ones_like(m.threshold), _outputs(m))
    return _limits(m)[1] / per_threshold


def _decay_time(m: _Resolved) -> Any:
    rate = m.learning_rate * m.weight_decay / m.output_dimension
    return jnp.where(rate > 0, 1 / jnp.where(rate > 0, rate, 1), jnp.inf)


def _train_time(m: _Resolved, accuracy: Any) -> Crossing:
    return _crossing(m, _needed_loss(m, accuracy), 0)


def _test_time(m: _Resolved, accuracy: Any) -> Crossing:
    return _crossing(m, _needed_loss(m, accuracy), 1)


def _needed_loss(m: _Resolved, accuracy: Any) -> Any:
    return loss_from_accuracy(accuracy, m.threshold, _outputs(m))


def _crossing(m: _Resolved, level: Any, which: int) -> Crossing:
    """When the training (0) or test (1) loss first falls to a level."""
    start, floor = initial_losses(_student(m))[which], _limits(m)[which]
    rate = 4 * m.learning_rate / m.output_dimension
    level, start, floor, rate = jnp.broadcast_arrays(level, start, floor, rate)
    low, high = jnp.zeros_like(level), jnp.full_like(level, jnp.inf)
    if m.is_noisy and which == 1:  # the only loss that may rise again
        low, high = _first_dip(m, level)
    falls = (level > floor) | jnp.isfinite(high)
    at_start, solvable, never = level >= start, (level < start) & falls, (level < start) & ~falls
    safe = jnp.where(solvable, level, (start + jnp.minimum(floor, start)) / 2)
    s = falling_time(lambda s: _log_losses(m, s)[which], jnp.log(safe), low, high)
    time = jnp.where(solvable, s / rate, jnp.where(at_start, 0, jnp.inf))
    status = jnp.where(at_start, Status.AT_START, jnp.where(never, Status.NEVER, Status.REACHED))
    invalid = ~(solvable | at_start | never) | jnp.isnan(rate)
    return Crossing(jnp.where(invalid, jnp.nan, time), jnp.where(invalid, Status.INVALID, status))


def _first_dip(m: _Resolved, level: Any) -> tuple[Any, Any]:
    """Neighbouring times s between which the test loss first falls to a level; (0, inf) if it does not."""
    grid = jnp.asarray(np.concatenate([[0.0], np.geomspace(1e-6, 1e12, 181)]), level.dtype)
    columns = grid.reshape(-1, *(1,) * level.ndim)
    below = losses(_student(m), columns)[1] <= level
    first = jnp.argmax(below, axis=0)
    is_found = jnp.any(below, axis=0) & (first > 0)
    low = jnp.where(is_found, grid[jnp.maximum(first - 1, 0)], 0)
    return low, jnp.where(is_found, grid[first], jnp.inf)


def _grokking_time(m: _Resolved, accuracy: Any) -> Crossing:
    level = _needed_loss(m, accuracy)  # once: with several outputs it is the longest formula here
    train, test = _crossing(m, level, 0), _crossing(m, level, 1)
    never = (test.status == Status.NEVER) | (train.status == Status.NEVER)
    gap = jnp.where(never, 0, test.time) - jnp.where(never, 0, train.time)  # no inf in the gradient
    status = jnp.where(never, Status.NEVER, jnp.maximum(train.status, test.status))
    at_start = (train.status == Status.AT_START) & (test.status == Status.REACHED)
    status = jnp.where(at_start, Status.REACHED, status)
    return Crossing(jnp.where(never, jnp.inf, gap), status)


def _gap(m: _Resolved) -> Any:
    lam = m.aspect_ratio
    return (1 - lam) / (1 + jnp.sqrt(lam))  # 1 − √λ without cancellation near λ = 1


def _late_train_loss(m: _Resolved, t: Any) -> Any:
    lam, tau = m.aspect_ratio, m.learning_rate * t
    return jnp.exp(-4 * _gap(m) ** 2 * tau) / (16 * jnp.sqrt(jnp.pi) * lam**0.75 * tau**1.5)


def _intermediate_test_loss(m: _Resolved, t: Any) -> Any:
    lam, gap = m.aspect_ratio, jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    y = 4 * m.learning_rate * gap**2 * t
    x = jnp.sqrt(y)  # e^{−y}/x − √π erfc(x) is the bracket
    return gap * jnp.exp(-y) * _erfc_defect(x) / (x * jnp.sqrt(jnp.pi) * lam**0.75)


def _erfc_defect(x: Any) -> Any:
    """1 − √π x exp(x²) erfc(x) without cancellation, as π^(−½) ∫ exp(−u²) u²/(x² + u²) du.

    The trapezoidal rule at half-shifted nodes, with the residue of its pole at u = ix where that matters.
    """
    h = 0.4
    u = (jnp.arange(16, dtype=x.dtype) + 0.5) * h
    terms = jnp.exp(-(u**2)) * u**2 / (x[..., None] ** 2 + u**2)
    near = jnp.minimum(x, jnp.pi / h)
    pole = jnp.where(
        x < jnp.pi / h,
        2 * jnp.pi * near * jnp.exp(near**2 - jnp.logaddexp(0, 2 * jnp.pi * near / h)),
        0,
    )
    return (2 * h * jnp.sum(terms, axis=-1) / jnp.sqrt(jnp.pi)) - pole / jnp.sqrt(jnp.pi)


def _late_test_loss(m: _Resolved, t: Any) -> Any:
    late = _late_train_loss(m, t) / _gap(m) ** 2
    return jnp.where(m.aspect_ratio < 1, late, jnp.nan)


def _small_threshold_grokking_time(m: _Resolved) -> Any:
    gap = jnp.where(m.aspect_ratio < 1, _gap(m), jnp.nan)
    return -jnp.log(gap) / (2 * m.learning_rate * gap**2)
