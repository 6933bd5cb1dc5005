"""Eq. 13–15 and 32–38: weight decay."""

import itertools
import math
from typing import Any

import numpy as np

from lazyrich import simulate, tasks, theory
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check

RATE, DECAY = 0.05, 0.3


@check(
    "linear-grokking/eq13",
    "A step of descent with weight decay",
    against="400 steps by automatic differentiation, compared with powers of the printed update",
)
def eq13() -> CheckResult:
    """Eq. 13 for one output; the library's descent is its t-th power."""
    import jax
    import jax.numpy as jnp

    from lazyrich.simulate._linear_descent import draw

    task = tasks.TeacherStudent(8, 12)
    X, _, _, T, S = draw(task, 1, 0)
    steps = np.array([0, 1, 10, 400])
    run = simulate.linear_descent(
        task, steps, learning_rate=RATE, seeds=[0], num_test=1, weight_decay=DECAY
    )
    losses = []
    with jax.enable_x64(True):
        slope = jax.jit(
            jax.grad(lambda S: jnp.mean((X @ (S - T)) ** 2) + DECAY / 2 * jnp.sum(S**2))
        )
        for step in range(401):
            if step in steps:
                losses.append(float(np.sum((S - T) ** 2)))
            S = S - RATE * np.asarray(slope(S))
    errors = np.abs(run.test_loss.values[0] / losses - 1)
    return CheckResult(max(errors), 1e-11, len(errors))


@check(
    "linear-grokking/eq14",
    "Losses with weight decay",
    against="Runge–Kutta integration of each mode, averaged over the density of Eq. 6",
    seconds=3,
)
def eq14() -> CheckResult:
    """Eq. 14 with equal scales of teacher and student."""
    return _compare_with_modes(scale=1.0)


@check(
    "linear-grokking/eq38",
    "Losses with weight decay, as integrals",
    against="Runge–Kutta integration of each mode, averaged over the density of Eq. 6",
    seconds=3,
)
def eq38() -> CheckResult:
    """Eq. 38 is Eq. 14 with the mean written out: that integral, and the point at 0 above λ = 1."""
    result, errors = _compare_with_modes(scale=1.0), []
    times = np.array([0.0, 20.0])
    for ratio in (0.3, 2.0):
        train, test = _mode_losses(ratio, 0.5, 1.0, times)
        for weighted, exact in ((True, train), (False, test)):
            found = [_printed_integral(ratio, t, weighted=weighted) for t in times]
            errors += list(found / exact - 1)
    error = max(result.error, float(np.max(np.abs(errors))))
    return CheckResult(error, result.tolerance, result.num_cases + len(errors))


def _printed_integral(ratio: float, t: float, *, weighted: bool, decay: float = 0.5) -> float:
    """The right side of Eq. 38 by adaptive quadrature; `weighted` for the training loss."""
    from scipy.integrate import quad

    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    g = decay / 2

    def integrand(u: float) -> float:
        kept = (math.exp(-2 * RATE * (u + g) * t) * u + g) / (u + g)
        return (math.exp(-4 * RATE * (u + g) * t) + kept**2) * (u if weighted else 1)

    def bulk(
        u: float,
    ) -> float:  # the density without its square roots, which `quad` takes as weights
        return integrand(u) / (2 * math.pi * ratio * u)

    mean = quad(bulk, low, high, weight="alg", wvar=(0.5, 0.5), epsabs=0, epsrel=1e-12)[0]
    return (mean + max(1 - 1 / ratio, 0.0) * integrand(0.0)) / 2


@check(
    "linear-grokking/eq37",
    "Losses with weight decay for any length of teacher and student",
    against="Runge–Kutta integration of each mode, averaged over the density of Eq. 6",
    seconds=3,
)
def eq37() -> CheckResult:
    """Eq. 37 carries a factor d_in before the integral: right only if |S|², |T|² are per component."""
    d_in, ratio, times = 1000, 0.9, np.array([0.0, 20.0])
    result = _compare_with_modes(scale=2.0)
    m = theory.LinearGrokking(ratio, RATE, weight_decay=0.5, student_scale=2.0)
    _, test = _mode_losses(ratio, 0.5, 2.0, times)
    printed = d_in * m.test_loss(times)  # E|S₀|² = 2 and E|T|² = ½ are lengths of whole vectors
    return CheckResult(
        result.error, result.tolerance, result.num_cases,
        printed_error=float(np.min(np.abs(printed / test - 1))),
        correction="with |S(0)|² and |T|² the squared lengths, as Eq. 36 has them, the factor d_in is too "
        "much; it belongs to squares per component, as the lengths 1/√(2 d_in) below it are",
    )  # fmt: skip


def _compare_with_modes(scale: float) -> CheckResult:
    times = np.array([0.0, 1.0, 20.0, 400.0])
    errors = []
    for ratio in (0.3, 0.9, 2.0):
        for decay in (1e-3, 0.5):
            m = theory.LinearGrokking(ratio, RATE, weight_decay=decay, student_scale=scale)
            train, test = _mode_losses(ratio, decay, scale, times)
            errors.append(np.max(np.abs(m.train_loss(times) / train - 1)))
            errors.append(np.max(np.abs(m.test_loss(times) / test - 1)))
    return CheckResult(max(errors), 1e-8, len(errors) * len(times))


def _mode_losses(ratio: float, decay: float, scale: float, times: np.ndarray):
    """Second moments of Ḋ = −2η(ν + γ/2)D − ηγT for unit S₀ and T, integrated over ν."""
    angle = (np.arange(400) + 0.5) * np.pi / 800
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    nu = low + (high - low) * np.sin(angle) ** 2
    density = np.sqrt((high - nu) * (nu - low)) / (2 * np.pi * ratio * nu)
    weight = density * (high - low) * np.sin(2 * angle) * np.pi / 800
    atom = max(1 - 1 / ratio, 0.0)
    nu, weight = np.append(nu, 0.0), np.append(weight, atom)
    weight[:-1] *= (1 - atom) / weight[:-1].sum()
    from_student = _oracles.integrated_modes(nu, decay, RATE, times, student=1.0, teacher=0.0)
    from_teacher = _oracles.integrated_modes(nu, decay, RATE, times, student=0.0, teacher=1.0)
    square = (scale**2 * from_student**2 + from_teacher**2) / 2
    return square @ (weight * nu), square @ weight


@check(
    "linear-grokking/eq15",
    "Losses in the end for small weight decay",
    against="ridge regression's limit by direct solution, averaged over sampled training sets",
    seconds=4,
)
def eq15() -> CheckResult:
    """Eq. 15 prints the limits without the ½ of Eq. 14. The error is in standard errors.

    The time beside them is a delay between losses, each relative to its own limit; its relative error, after
    extrapolation in 1/log(1/γ), counts in units of 0.1 %.
    """
    rng = np.random.default_rng(15)
    decay, d, runs = 1e-3, 120, 60
    scores, printed = [], []
    for ratio in (0.2, 0.5):
        num_samples = round(d / ratio)
        lam = d / num_samples
        train, test = np.zeros(runs), np.zeros(runs)
        for run in range(runs):
            X = rng.standard_normal((num_samples, d))
            T = rng.standard_normal(d) / np.sqrt(2 * d)
            S = np.linalg.solve(
                X.T @ X / num_samples + decay / 2 * np.eye(d), X.T @ (X @ T) / num_samples
            )
            train[run], test[run] = np.mean((X @ (S - T)) ** 2), np.sum((S - T) ** 2)
        exact = theory.LinearGrokking(lam, weight_decay=decay).limits()
        forms = decay**2 / 4 / (1 - lam), decay**2 / 4 / (1 - lam) ** 3
        for found, right, form in zip((train, test), exact, forms, strict=True):
            error = found.std(ddof=1) / np.sqrt(runs)
            scores.append(abs(found.mean() - right) / error)
            printed.append(abs(found.mean() - form) / error)
    scores += [abs(_decay_limit_delay(ratio) - 1) / 1e-3 for ratio in (0.2, 0.5)]
    return CheckResult(
        max(scores), 4.5, len(scores), printed_error=min(printed),
        correction="the limits are γ²/8(1 − λ) and γ²/8(1 − λ)³ for small γ: printed twice as large. The "
        "time beside them is the delay between the losses reaching the same large multiple of their "
        "limits, not the grokking time between accuracies: see linear-grokking/fig3",
    )  # fmt: skip


def _decay_limit_delay(ratio: float) -> float:
    """Delay between the losses falling to 10⁶ times their limits, over Eq. 15, extrapolated to γ = 0."""
    from scipy.optimize import brentq

    stated = math.log(1 + math.sqrt(ratio)) / (2 * (1 - math.sqrt(ratio)) ** 2)
    if abs(theory.LateGrokking(ratio).decay_limit_delay() / stated - 1) > 1e-12:
        return math.inf  # the library's form is not the printed one
    shares = []
    for decay in (1e-60, 1e-120):
        m = theory.LinearGrokking(ratio, weight_decay=decay)
        pairs = zip((m.train_loss, m.test_loss), m.limits(), strict=True)
        times: list[Any] = [
            brentq(lambda t, f=f, level=level: math.log(f(t) / level), 1, 1e5)
            for f, level in ((f, 1e6 * limit) for f, limit in pairs)
        ]
        shares.append((times[1] - times[0]) / stated)
    return 2 * shares[1] - shares[0]


@check(
    "linear-grokking/eq32",
    "Gradient flow with weight decay",
    against="the limit of small steps of descent (error of Richardson extrapolation)",
)
def eq32() -> CheckResult:
    """Eq. 32: descent with ever smaller steps tends to the flow that the library integrates exactly."""
    task, time = tasks.TeacherStudent(6, 9), 2.0
    losses = [
        simulate.linear_descent(
            task, [steps], learning_rate=time / steps, seeds=[0], num_test=1, weight_decay=DECAY
        ).test_loss.item()
        for steps in (20_000, 40_000, 80_000)
    ]
    extrapolated = (8 * losses[2] - 6 * losses[1] + losses[0]) / 3
    flow = _flow(task, time)
    return CheckResult(abs(extrapolated / np.sum(flow**2) - 1), 1e-9, 1)


@check(
    "linear-grokking/eq33",
    "Solution of the flow with weight decay",
    against="Runge–Kutta integration of Eq. 32; the limit of small steps of the library's descent",
)
def eq33() -> CheckResult:
    """Eq. 33 with matrices as they stand: exponential by Padé approximation, inverse by elimination."""
    from scipy.linalg import expm

    errors = []
    for sigma, D0, T, task in _students():
        A = sigma + DECAY / 2 * np.eye(len(sigma))
        settled = DECAY / 2 * np.linalg.solve(A, T)
        printed = [expm(-2 * RATE * A * t) @ (D0 + settled) - settled for t in TIMES]
        errors += _off_the_flow(printed, sigma, D0, T)
        errors += _off_descent(printed, sigma, task)
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "linear-grokking/eq35",
    "Solution of the flow with weight decay in the eigenbasis",
    against="Runge–Kutta integration of Eq. 32; ridge regression and the library's descent for the limit",
)
def eq35() -> CheckResult:
    """Eq. 35, and that D tends to −γ/2 (Σ + γ/2)⁻¹ T: the student to least squares with γ/2 as penalty."""
    errors = []
    for sigma, D0, T, task in _students():
        nu, P = np.linalg.eigh(sigma)
        g = DECAY / 2
        settled = g / (nu + g)[:, None] * (P.T @ T)
        powers = [np.exp(-2 * RATE * (nu + g) * t)[:, None] for t in (*TIMES, 1e5)]
        printed = [P @ (power * (P.T @ D0 + settled) - settled) for power in powers]
        errors += _off_the_flow(printed[:-1], sigma, D0, T)
        limit = -g * np.linalg.solve(sigma + g * np.eye(len(sigma)), T)
        errors += [np.max(np.abs(end - _ridge(task))) for end in (printed[-1], limit)]
        last = simulate.linear_descent(
            task, [10**6], learning_rate=RATE, seeds=[0], num_test=1, weight_decay=DECAY
        )
        losses = np.array([last.train_loss.item(), last.test_loss.item()])
        errors.append(np.max(np.abs(losses / _losses(limit, sigma) - 1)))
    return CheckResult(max(errors), 1e-10, len(errors))


TIMES = (0.0, 0.5, 3.0, 40.0)


def _students():
    """Training covariance, D₀, teacher and task of two of the library's students, one with null modes."""
    from lazyrich.simulate._linear_descent import draw

    for num_samples in (9, 3):
        task = tasks.TeacherStudent(5, num_samples)
        X, _, _, T, S = draw(task, 1, 0)
        yield X.T @ X / num_samples, S - T, T, task


def _losses(D: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Training and test loss of a difference."""
    return np.array([np.sum(D * (sigma @ D)), np.sum(D**2)])


def _off_the_flow(
    printed: list[np.ndarray], sigma: np.ndarray, D0: np.ndarray, T: np.ndarray
) -> list[float]:
    exact = _oracles.integrated_decay(sigma, D0, T, DECAY, RATE, TIMES)
    return [float(np.max(np.abs(D - one))) for D, one in zip(printed, exact, strict=True)]


def _off_descent(
    printed: list[np.ndarray], sigma: np.ndarray, task: "tasks.TeacherStudent"
) -> list[float]:
    """Losses beside those of descent in ever smaller steps, extrapolated to none; relative."""
    errors = []
    for D, t in zip(printed, TIMES, strict=True):
        table = []
        for steps in (1000, 2000, 4000, 8000, 16000):
            rate = RATE * t / steps if t else RATE
            run = simulate.linear_descent(
                task, [steps if t else 0], learning_rate=rate, seeds=[0], num_test=1, weight_decay=DECAY
            )  # fmt: skip
            table.append(np.array([run.train_loss.item(), run.test_loss.item()]))
        for order in range(1, len(table)):
            pairs = itertools.pairwise(table)
            table = [finer + (finer - coarser) / (2**order - 1) for coarser, finer in pairs]
        errors.append(float(np.max(np.abs(table[0] / _losses(D, sigma) - 1))))
    return errors


def _ridge(task: "tasks.TeacherStudent") -> np.ndarray:
    """S − T at the least mean squared error + γ|S|²/2, by least squares on rows for data and penalty."""
    from lazyrich.simulate._linear_descent import draw

    X, _, _, T, _ = draw(task, 1, 0)
    rows = [X / np.sqrt(len(X)), np.sqrt(DECAY / 2) * np.eye(X.shape[1])]
    goals = [X @ T / np.sqrt(len(X)), np.zeros_like(T)]
    return np.linalg.lstsq(np.concatenate(rows), np.concatenate(goals), rcond=None)[0] - T


def _flow(task, time: float) -> np.ndarray:
    from lazyrich.simulate._linear_descent import draw

    X, _, _, T, S = draw(task, 1, 0)
    sigma = X.T @ X / task.num_samples
    return _oracles.integrated_decay(sigma, S - T, T, DECAY, 1.0, np.array([time]))[-1]


@check(
    "linear-grokking/eq36",
    "Quadratic forms of random vectors become means over the spectrum",
    against="sampled vectors and training sets (largest deviation in standard errors)",
)
def eq36() -> CheckResult:
    """Eq. 36: VᵀfW vanishes for independent V, W; VᵀfV = |V|²·E[f]."""
    rng = np.random.default_rng(36)
    d, runs = 60, 400
    scores = []
    for ratio in (0.5, 2.0):
        values = np.zeros((runs, 2))
        for run in range(runs):
            X = rng.standard_normal((round(d / ratio), d))
            nu, P = np.linalg.eigh(X.T @ X / len(X))
            V, W = P.T @ rng.standard_normal(d), P.T @ rng.standard_normal(d)
            f = 1 / (1 + nu)
            values[run] = V @ (f * V) / (V @ V), V @ (f * W)
        error = values.std(axis=0, ddof=1) / np.sqrt(runs)
        mean = theory.MarchenkoPastur(ratio).resolvent(1.0)
        finite_size = np.array([1 / d**2, 0])
        scores += list(np.abs(values.mean(axis=0) - [mean, 0]) / (error + finite_size))
    return CheckResult(max(scores), 4.5, len(scores))
