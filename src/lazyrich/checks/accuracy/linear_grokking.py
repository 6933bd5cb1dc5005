"""Losses and accuracies of a linear student."""

import functools
from typing import Any

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy._shares import share_below
from lazyrich.checks.accuracy._spectrum import atom, bulk_mean
from lazyrich.checks.accuracy.marchenko_pastur import RATIOS, log_laplace, log_weighted
from lazyrich.core import Comparison, accuracy

GENERAL = [0.01, 0.5, 0.9, 1 - 1e-4, 1.0, 1.1, 4.0, 100.0]


@accuracy(
    "theory.LinearGrokking.train_loss",
    "Losses of a linear student",
    against="Bessel's I₁ (training) and quadrature over the spectrum (test; with decay and noise both)",
    grid="plain: λ: 32 from 1e-6 to 1e6, 61 times from 0 to 1e9 in training, 13 in test, 1 and 7 "
    "outputs; with decay "
    "0 to 1 and noise 0 to 1: 8 λ from 0.01 to 100, 5 times to 1e4, student's scale 0.5",
    also=("theory.LinearGrokking.test_loss",),
    seconds=8,
)
def losses() -> list[Comparison]:
    """Both losses; the plain ones are tails down to the smallest double."""
    ratio, t, outputs = mesh(RATIOS, decades(1e-6, 1e9, 60, zero=True), [1, 7])
    model = theory.LinearGrokking(ratio, learning_rate=0.25, output_dimension=outputs)
    where = {"aspect_ratio": ratio, "time": t, "outputs": outputs}
    found = [Comparison(model.train_loss(t), _plain_train, where)]
    ratio, t = mesh(RATIOS, decades(1e-6, 1e6, 12, zero=True))
    model = theory.LinearGrokking(ratio, learning_rate=0.25)
    where = {"aspect_ratio": ratio, "time": t, "outputs": 1}
    found.append(Comparison(model.test_loss(t), _plain_test, where))
    ratio, decay, noise, t = mesh(GENERAL, [0, 1e-6, 1e-2, 1], [0, 0.3], [0, 1e-2, 1, 1e2, 1e4])
    general = theory.LinearGrokking(
        ratio, 0.25, weight_decay=decay, label_noise=noise, student_scale=0.5
    )
    where = {"aspect_ratio": ratio, "decay": decay, "noise": noise, "time": t}
    for which, value in enumerate((general.train_loss(t), general.test_loss(t))):
        loss = ("train", "test")[which]
        found.append(Comparison(value, _general, where | {"loss": loss}))
    return found


def _plain_train(ratio: Any, t: Any, outputs: int) -> Any:
    return mp.exp(log_weighted(ratio, t / outputs)) / outputs


def _plain_test(ratio: Any, t: Any, outputs: int) -> Any:
    return mp.exp(log_laplace(ratio, t / outputs)) / outputs


def _general(ratio: Any, decay: Any, noise: Any, t: Any, loss: str) -> Any:
    return general_losses(ratio, decay, noise, t)[("train", "test").index(loss)]


@functools.cache
def general_losses(
    ratio: Any, decay: Any, noise: Any, t: Any, alpha: Any = 0.5, eta: Any = 0.25
) -> tuple[Any, Any]:
    """Both losses for one output, as the docstring of `LinearGrokking` defines them.

    The noise's part of the training loss, 1 − λE[1 − r²], is (1 − λ)⁺ + λE_bulk[r²], as the bulk weighs
    min(1, 1/λ).
    """

    def modes(_: Any, nu: Any) -> tuple[Any, ...]:
        e, r, learned = _mode(nu, decay, eta * t)
        return nu * (alpha**2 * e**2 + r**2), alpha**2 * e**2 + r**2, r**2, nu * learned**2

    scales = [scale for scale in (decay / 2, 1 / (4 * eta * t) if t else 0) if scale]
    train, test, kept, carried = bulk_mean(ratio, modes, *scales)
    e, r, _ = _mode(mp.mpf(0), decay, eta * t)
    test += atom(ratio) * (alpha**2 * e**2 + r**2)
    outside = max(1 - ratio, mp.mpf(0))
    return (
        train / 2 + noise**2 * (outside + ratio * kept), test / 2 + ratio * noise**2 * carried,
    )  # fmt: skip


def _mode(nu: Any, decay: Any, eta_t: Any) -> tuple[Any, Any, Any]:
    """What is left of student and teacher in a mode, and what noise has put there."""
    rate = nu + decay / 2
    e = mp.exp(-2 * eta_t * rate)
    if rate == 0:
        return e, mp.mpf(1), mp.mpf(0)
    return e, (nu * e + decay / 2) / rate, (1 - e) / rate


@accuracy(
    "theory.LinearGrokking.limits",
    "Losses for t → ∞",
    against="quadrature over the spectrum; without decay E[1/ν] of the bulk",
    grid="8 λ from 0.01 to 100 (not 1 where noise is never forgotten); decay: 0 and 9 from 1e-8 to "
    "1e8; noise 0 and 0.3",
    seconds=3,
)
def limits() -> list[Comparison]:
    """With and without decay."""
    ratio, decay, noise = mesh(GENERAL, decades(1e-8, 1e8, 9, zero=True), [0, 0.3])
    keep = (ratio != 1) | (decay > 0) | (noise == 0)
    ratio, decay, noise = ratio[keep], decay[keep], noise[keep]
    model = theory.LinearGrokking(ratio, weight_decay=decay, label_noise=noise, student_scale=0.5)
    where = {"aspect_ratio": ratio, "decay": decay, "noise": noise}
    return [
        Comparison(value, _limit, where | {"loss": loss})
        for loss, value in zip(("train", "test"), model.limits(), strict=True)
    ]


def _limit(ratio: Any, decay: Any, noise: Any, loss: str) -> Any:
    g = decay / 2
    if g == 0:
        inverse = (1 / (1 - ratio) if ratio < 1 else 1 / (ratio * (ratio - 1))) if noise else 0
        train = noise**2 * max(1 - ratio, 0)
        test = atom(ratio) * (1 + mp.mpf(0.5) ** 2) / 2 + noise**2 * ratio * inverse
        return train if loss == "train" else test

    def modes(_: Any, nu: Any) -> tuple[Any, ...]:
        return nu * (g / (nu + g)) ** 2, (g / (nu + g)) ** 2, nu / (nu + g) ** 2

    weighted, kept, carried = bulk_mean(ratio, modes, g)
    if loss == "train":
        outside = max(1 - ratio, mp.mpf(0))
        return weighted / 2 + noise**2 * (outside + ratio * kept)
    return (atom(ratio) + kept) / 2 + noise**2 * ratio * carried


@accuracy(
    "theory.LinearGrokking.train_accuracy",
    "Accuracies of a linear student",
    against="the regularised incomplete Γ function of the losses above",
    grid="λ: 32 from 1e-6 to 1e6, 31 times from 0 to 1e6 in training, 7 in test; threshold 1e-3; "
    "1, 2 and 50 outputs",
    also=("theory.LinearGrokking.test_accuracy",),
    seconds=8,
)
def accuracies() -> list[Comparison]:
    """One output, several, and many."""
    found = []
    for loss, number in (("train", 30), ("test", 6)):
        ratio, t, outputs = mesh(RATIOS, decades(1e-3, 1e6, number, zero=True), [1, 2, 50])
        model = theory.LinearGrokking(ratio, 0.25, threshold=1e-3, output_dimension=outputs)
        values = model.train_accuracy(t) if loss == "train" else model.test_accuracy(t)
        where = {"aspect_ratio": ratio, "time": t, "outputs": outputs, "loss": loss}
        found.append(Comparison(values, _accuracy, where))
    return found


def _accuracy(ratio: Any, t: Any, outputs: int, loss: str) -> Any:
    value = (_plain_train if loss == "train" else _test_cached)(ratio, t, outputs)
    return share_below(value, mp.mpf(1e-3), mp.mpf(outputs))


@functools.cache
def _test_cached(ratio: Any, t: Any, outputs: int) -> Any:
    return _plain_test(ratio, t, outputs)


@accuracy(
    "theory.LinearGrokking.finite_accuracies",
    "Accuracies for a finite number of inputs",
    against="quadrature over the spectrum and the incomplete Γ function",
    grid="8 λ from 0.01 to 100; 100 and 10⁴ inputs; 3 and 50 outputs; decay 0 and 0.01; 5 times to 1e3",
    seconds=4,
)
def finite_accuracies() -> list[Comparison]:
    """Degrees of freedom that match the mean and variance of a sample's error."""
    ratio, inputs, outputs, decay, t = mesh(
        GENERAL, [100, 10000], [3, 50], [0, 0.01], [0, 1, 10, 100, 1e3]
    )
    inputs, outputs = inputs.astype(int), outputs.astype(int)
    model = theory.LinearGrokking(
        ratio, 0.25, threshold=1e-3, output_dimension=outputs, weight_decay=decay
    )
    where = {"aspect_ratio": ratio, "inputs": inputs, "outputs": outputs, "decay": decay, "time": t}
    return [
        Comparison(value, _finite_accuracy, where | {"loss": loss})
        for loss, value in zip(("train", "test"), model.finite_accuracies(t, inputs), strict=True)
    ]


def _finite_accuracy(ratio: Any, inputs: int, outputs: int, decay: Any, t: Any, loss: str) -> Any:
    moments = _moments(ratio, decay, t / (4 * outputs))
    mean, square = moments[:2] if loss == "train" else moments[2:]
    spread = square / mean**2 / inputs - (ratio / inputs if loss == "train" else 0)
    k = 1 / (mp.mpf(1) / outputs + spread)
    return share_below(mean / (2 * outputs), mp.mpf(1e-3), k)


@functools.cache
def _moments(ratio: Any, decay: Any, eta_t: Any) -> tuple[Any, ...]:
    def modes(_: Any, nu: Any) -> tuple[Any, ...]:
        e, r, _ = _mode(nu, decay, eta_t)
        f = e**2 + r**2
        return nu * f, (nu * f) ** 2, f, f**2

    scales = [scale for scale in (decay / 2, 1 / (4 * eta_t) if eta_t else 0) if scale]
    train, train_square, test, test_square = bulk_mean(ratio, modes, *scales)
    e, r, _ = _mode(mp.mpf(0), decay, eta_t)
    left = e**2 + r**2
    return (
        train, train_square, test + atom(ratio) * left, test_square + atom(ratio) * left**2,
    )  # fmt: skip


@accuracy(
    "theory.LinearGrokking.decay_time",
    "When decay has shrunk an untouched weight by 1/e",
    against="d/ηγ at 50 digits",
    grid="decay: 0 and 60 from 1e-12 to 1e12; learning rates 1e-9, 0.01, 10; 1 and 7 outputs",
)
def decay_time() -> Comparison:
    """Infinite without decay."""
    decay, rate, outputs = mesh(decades(1e-12, 1e12, 60, zero=True), [1e-9, 0.01, 10], [1, 7])
    model = theory.LinearGrokking(0.5, rate, weight_decay=decay, output_dimension=outputs)
    where = {"decay": decay, "rate": rate, "outputs": outputs}
    return Comparison(
        model.decay_time(), lambda g, eta, d: mp.mpf(d) / (eta * g) if g else mp.inf, where
    )
