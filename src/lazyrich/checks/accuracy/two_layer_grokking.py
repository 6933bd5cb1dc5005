"""Losses, accuracies, times and the kernel of a wide two-layer student."""

import functools
from typing import Any, NamedTuple

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import mesh, mp
from lazyrich.checks.accuracy._shares import loss_at, share_below
from lazyrich.checks.accuracy._spectrum import atom, bulk_mean
from lazyrich.checks.accuracy.linear_grokking_times import newton
from lazyrich.core import Comparison, accuracy

RATIOS, WIDTHS = [0.05, 0.5, 0.9, 0.99, 1.5, 10.0], [20, 1000]
ACTIVATIONS = ("linear", "relu", "tanh", "quadratic")
TIMES = [0.0, 1e-2, 1.0, 30.0, 1e3, 3e4]
OUTPUTS, THRESHOLD, SHARE = 3, 1e-4, 0.9
_GRID = (
    "λ: 6 from 0.05 to 10; widths 20 and 1000; 6 times to 3e4; 3 outputs; linear, ReLU, tanh, z²"
)


class _Moments(NamedTuple):
    """E σ, E σ′, Var σ′, q(E σ″)² and Var σ − q(E σ′)² over z ~ N(0, q)."""

    mean: Any
    slope: Any
    slope_variance: Any
    curvature: Any
    rest: Any


@functools.cache
def _moments(name: str, width: int) -> _Moments:
    q = 1 / (2 * mp.mpf(width))
    if name == "linear":
        return _Moments(mp.mpf(0), mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0))
    if name == "quadratic":  # E z² = q, σ′ = 2z, σ″ = 2
        return _Moments(q, mp.mpf(0), 4 * q, 4 * q, 2 * q * q)
    if name == "relu":  # half a normal number
        mean, half = mp.sqrt(q / (2 * mp.pi)), mp.mpf(1) / 2
        return _Moments(mean, half, half / 2, 1 / (2 * mp.pi), q / 4 - q / (2 * mp.pi))

    def average(f: Any) -> Any:
        weighted = lambda x: f(x) * mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
        return mp.quad(lambda x: weighted(x) + weighted(-x), [0, 1, 4, 14])

    root = mp.sqrt(q)
    slope = average(lambda x: mp.sech(root * x) ** 2)
    variance = average(lambda x: (mp.sech(root * x) ** 2 - slope) ** 2)
    rest = average(lambda x: (mp.tanh(root * x) - slope * root * x) ** 2)
    return _Moments(mp.mpf(0), slope, variance, mp.mpf(0), rest)


@functools.cache
def _losses(ratio: Any, width: int, name: str, t: Any) -> tuple[Any, Any]:
    """Both losses at the kernel of the start, as the docstring of `TwoLayerGrokking` defines them."""
    m, a, v, bend, rest = _moments(name, width)
    q, x, d = 1 / (2 * mp.mpf(width)), t / OUTPUTS**2, OUTPUTS
    flat = ratio * v

    def modes(_: Any, nu: Any) -> tuple[Any, ...]:
        rate = a * a * nu + flat
        e = mp.exp(-x * rate)
        r = (a * a * nu * e + flat) / rate if rate else mp.mpf(1)
        learned = a * a * (1 - e) / rate if rate else mp.mpf(0)
        return nu * e**2, e**2, r**2, nu * learned**2

    scales = [s for s in (1 / (2 * x * a * a) if x and a else 0, flat / a**2 if a else 0) if s]
    weighted, plain, kept, carried = bulk_mean(ratio, modes, *scales)
    constant = m**2 * mp.exp(-2 * x * (d * m**2 / q + bend))
    outside = max(1 - ratio, mp.mpf(0)) * mp.exp(-2 * x * flat)
    train = q * a**2 * weighted + constant + rest * (outside + ratio * plain)
    test = q * a**2 * (kept + atom(ratio)) + constant + rest * (1 + ratio * carried)
    return train / d, test / d


def _loss(loss: str, name: str, ratio: Any, width: int, t: Any) -> Any:
    return _losses(ratio, width, name, t)[("train", "test").index(loss)]


def _student(name: str, *grid: np.ndarray) -> Any:
    return theory.TwoLayerGrokking(
        grid[0], width=grid[1], threshold=THRESHOLD, output_dimension=OUTPUTS, activation=name
    )


@accuracy(
    "theory.TwoLayerGrokking.train_loss",
    "Losses of a wide two-layer student",
    against="quadrature over the spectrum and over the activation",
    grid=f"{_GRID}; losses below 1e-20 relative to that",
    also=("theory.TwoLayerGrokking.test_loss",),
    seconds=4,
)
def losses() -> list[Comparison]:
    """At the kernel of the start. Means of odd activations are 0 up to rounding, about 1e-36 of the loss."""
    found = []
    ratio, width, t = mesh(RATIOS, WIDTHS, TIMES)
    width = width.astype(int)
    for name in ACTIVATIONS:
        student = _student(name, ratio, width)
        for loss, values in (("train", student.train_loss(t)), ("test", student.test_loss(t))):
            where = {
                "loss": loss,
                "activation": name,
                "aspect_ratio": ratio,
                "width": width,
                "time": t,
            }
            found.append(Comparison(values, _loss, where, scale=1e-20))
    return found


@accuracy(
    "theory.TwoLayerGrokking.train_accuracy",
    "Accuracies of a wide two-layer student",
    against="the incomplete Γ function of the losses above",
    grid="λ: 6 from 0.05 to 10; widths 20 and 1000; 6 times to 3e4; 3 outputs; linear, tanh; threshold 1e-4",
    also=("theory.TwoLayerGrokking.test_accuracy",),
    seconds=5,
)
def accuracies() -> list[Comparison]:
    """Several outputs."""
    found = []
    ratio, width, t = mesh(RATIOS, WIDTHS, TIMES)
    width = width.astype(int)
    for name in ("linear", "tanh"):
        student = _student(name, ratio, width)
        both = student.train_accuracy(t), student.test_accuracy(t)
        for loss, values in zip(("train", "test"), both, strict=True):
            where = {
                "loss": loss,
                "activation": name,
                "aspect_ratio": ratio,
                "width": width,
                "time": t,
            }
            found.append(Comparison(values, _accuracy, where))
    return found


def _accuracy(*arguments: Any) -> Any:
    return share_below(_loss(*arguments), mp.mpf(THRESHOLD), mp.mpf(OUTPUTS))


@accuracy(
    "theory.TwoLayerGrokking.train_time",
    "When accuracies reach a level, and the delay",
    against="Newton's iteration on the losses above",
    grid="λ 0.05, 0.9 and 0.99; width 20; tanh; threshold 1e-4, accuracy 0.9",
    also=("theory.TwoLayerGrokking.test_time", "theory.TwoLayerGrokking.grokking_delay"),
    explanation="A delay is the difference of two times, and a late time on a flat curve is ill-conditioned.",
    seconds=10,
)
def times() -> list[Comparison]:
    """A time is a root; its reference is one Newton step from it."""
    found = []
    ratio, width = np.array([0.05, 0.9, 0.99]), np.full(3, 20)
    for name in ("tanh",):
        student = _student(name, ratio, width)
        train, test = student.train_time(SHARE).time, student.test_time(SHARE).time
        delay = student.grokking_delay(SHARE).time
        for k in np.flatnonzero(np.isfinite(test) & (train > 0)):
            point = (name, mp.mpf(ratio[k]), int(width[k]))
            (t1, c1), (t2, c2) = _time("train", *point, train[k]), _time("test", *point, test[k])
            where = {"activation": name, "aspect_ratio": ratio[k], "width": int(width[k])}
            found += [
                Comparison(train[k], t1, where | {"loss": "train"}, condition=c1),
                Comparison(test[k], t2, where | {"loss": "test"}, condition=c2),
                Comparison(delay[k], t2 - t1, where, condition=(c1 * t1 + c2 * t2) / abs(t2 - t1)),
            ]
    return found


def _time(loss: str, name: str, ratio: Any, width: int, time: float) -> tuple[Any, Any]:
    level = mp.mpf(THRESHOLD) * loss_at(mp.mpf(SHARE), OUTPUTS)
    return newton(lambda t: mp.log(_loss(loss, name, ratio, width, t)), mp.log(level), mp.mpf(time))


@accuracy(
    "theory.TwoLayerGrokking.kernel",
    "The kernel and the losses of the coupled equations",
    against="the differential equation for the distance travelled, by quadrature and Newton's "
    "iteration at 25 digits",
    grid="λ 0.5 and 1.5; width 20; times 3 and 100; 3 outputs",
    also=("theory.TwoLayerGrokking.coupled_losses",),
    seconds=12,
)
def kernel() -> list[Comparison]:
    """Linear units."""
    found = []
    for ratio in (0.5, 1.5):
        student = theory.TwoLayerGrokking(ratio, width=20, output_dimension=OUTPUTS)
        times = np.array([3.0, 100.0])
        travelled = [_travelled(mp.mpf(ratio), mp.mpf(t)) for t in times.tolist()]
        where = {"aspect_ratio": ratio, "time": times}
        kernels = np.array([_kernel(mp.mpf(ratio), x) for x in travelled], dtype=object)
        found.append(Comparison(student.kernel(times), kernels, where))
        for which, values in enumerate(student.coupled_losses(times)):
            true = [_losses(mp.mpf(ratio), 20, "linear", x * OUTPUTS**2)[which] for x in travelled]
            loss = {"loss": ("train", "test")[which]}
            found.append(Comparison(values, np.array(true, dtype=object), where | loss))
    return found


def _kernel(ratio: Any, x: Any) -> Any:
    """The kernel where e = exp(−νx)."""
    if x == 0:
        return mp.mpf(1) / 2

    def modes(_: Any, nu: Any) -> tuple[Any, ...]:
        e = mp.exp(-nu * x)
        return (e - e * e,)

    (mean,) = bulk_mean(ratio, modes, min(1 / x, mp.mpf(1)))
    return mp.sqrt(mp.mpf(1) / 4 - mp.mpf(OUTPUTS) / 20 * mean)


def _travelled(ratio: Any, t: Any) -> Any:
    """The x with dx/dt = 2h(x)/d² after time t: 2h is about 1, so Newton's iteration starts close."""
    with mp.workdps(25):
        goal = x = t / OUTPUTS**2
        for _ in range(4):
            cuts = [0, *(x / 4**k for k in range(5, 0, -1)), x]
            elapsed = mp.quad(
                lambda u: 1 / (2 * _kernel(ratio, u)), cuts, method="gauss-legendre", maxdegree=4
            )
            step = (goal - elapsed) * 2 * _kernel(ratio, x)
            x += step
            if abs(step) < mp.mpf(10) ** -17 * x:
                break
        return x
