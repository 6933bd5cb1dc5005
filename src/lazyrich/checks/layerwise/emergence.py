"""Eq. 11 and 60, App. D: skills that emerge, and the scaling laws that follow."""

import itertools
import math
from typing import Any

import numpy as np

from lazyrich import measures, tasks, theory
from lazyrich.checks._oracles import integrate
from lazyrich.core import CheckResult, check

ALPHAS = (0.3, 0.6, 0.9)


def _population(task: "tasks.SparseParity") -> tuple[np.ndarray, np.ndarray]:
    """Skill functions at all inputs, and the inputs' probabilities."""
    K, n = task.num_skills, task.num_bits
    bits = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    inputs = np.concatenate(
        [np.repeat(np.eye(K), len(bits), axis=0), np.tile(bits, (K, 1))], axis=1
    )
    return task.skills(inputs), np.repeat(task.frequencies, len(bits)) / len(bits)


def _flow(
    g: np.ndarray, weights: np.ndarray, target: np.ndarray, start: float, times: Any
) -> np.ndarray:
    """Products a_k b_k of gradient flow on ½ mean squared error over samples, by Runge–Kutta."""
    K = g.shape[1]

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        a, b = flat[:K], flat[K:]
        slope = g.T @ (weights * (g @ (a * b) - target))
        return -np.concatenate([b * slope, a * slope])

    flow = integrate(velocity, np.full(2 * K, math.sqrt(start)), times, atol=1e-14)
    return flow[:, :K] * flow[:, K:]


@check(
    "layerwise/eq11",
    "Strengths of skills over time in the model with the skills as features",
    against="Runge–Kutta integration of the gradient over all inputs of a sparse parity task",
)
def eq11() -> CheckResult:
    """Eq. 11 with Eq. 9 for each skill: frequencies, products and strengths, from the inputs themselves."""
    errors = []
    for K, bits, S, start in ((2, 2, 5.0, 1e-2), (3, 2, 1.0, 1e-3), (2, 3, 2.0, 0.5)):
        task = tasks.SparseParity(K, K * bits, bits, 1.3, S)
        g, weights = _population(task)
        power = weights @ g**2
        model = theory.Emergence(task.frequencies, S, start)
        times = np.linspace(0, 2 * float(model.saturation_time(0.5).time[-1]), 9)
        f = _flow(g, weights, S * g.sum(axis=1), start, times) @ g.T
        strengths = (f * weights) @ g / power
        losses = ((f - S * g.sum(axis=1)) ** 2 / 2) @ weights
        errors.append(np.max(np.abs(power / task.frequencies - 1)))
        errors.append(np.max(np.abs(strengths - model.modes(times))) / S)
        errors.append(np.max(np.abs(losses - model.loss(times))) / losses[0])
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq60",
    "A skill is learned if and only if it has a sample and a feature",
    against="gradient flow on every possible training set of six samples, weighted by its probability",
)
def eq60() -> CheckResult:
    """Eq. 60: skills exclude each other; expected strengths and losses with D samples, and N features."""
    K, D, S, start = 3, 6, 2.0, 1e-2
    task = tasks.SparseParity(K, 2 * K, 2, 1.0, S)
    g, _ = _population(task)
    p, times = task.frequencies, np.array([0.0, 80.0])
    errors = [float(np.max(np.abs(g[:, :, None] * g[:, None] * (1 - np.eye(K)))))]
    mean, loss = np.zeros(K), 0.0
    for counts in itertools.product(range(D + 1), repeat=K):
        if sum(counts) == D:
            end = _flow(np.eye(K), np.array(counts) / D, np.full(K, S), start, times)[-1]
            ways = math.factorial(D) / math.prod(math.factorial(c) for c in counts)
            chance = ways * np.prod(p ** np.array(counts))
            mean, loss = mean + chance * end, loss + chance * p @ (S - end) ** 2 / 2
    model = theory.Emergence(p, S, start)
    errors += [
        np.max(np.abs(mean - model.modes_from_data(D))),
        abs(loss - model.loss_from_data(D)),
    ]
    for N in range(K + 1):
        present = np.arange(K) < N
        end = _flow(np.eye(K)[:, :N], p, np.full(K, S), start, times)[-1] if N else np.zeros(0)
        exact = np.zeros(K)
        exact[present] = end
        errors.append(np.max(np.abs(exact - model.modes_from_units(N))))
        errors.append(abs(p @ (S - exact) ** 2 / 2 - model.loss_from_units(N)))
    return CheckResult(max(errors), 1e-9, len(errors))


def _slope(resource: np.ndarray, loss: np.ndarray) -> float:
    return float(measures.power_law(resource, loss).exponent)


@check(
    "layerwise/app-d1",
    "Power laws of the loss in time, data and parameters",
    against="sums over skills, one by one and then in cells, and straight lines through three decades",
)
def app_d1() -> CheckResult:
    """Sec. 4.4, App. D.1: −α/(α+1) for time and data, −α for parameters. Errors of exponents and of sums.

    Errors of sums count ten thousandfold.
    """
    from scipy.special import expit, zeta

    start, errors = 1e-2, []
    odds, resource, units = (
        math.log(1 / start - 1),
        np.geomspace(1e3, 1e6, 4),
        10.0 ** np.arange(1, 5),
    )
    for alpha in ALPHAS:
        k, cells = _cells(3e4, 1e13)
        p = k ** -(alpha + 1) / zeta(alpha + 1)
        weight, rest = p * cells, zeta(alpha + 1, 1e13) / zeta(alpha + 1)
        model = theory.SkillScaling(alpha + 1, 1.0, start)
        in_time = [
            weight @ expit(odds - 2 * t * p) ** 2 + (1 - start) ** 2 * rest for t in resource
        ]
        in_data = [(1 - start) ** 2 * (weight @ np.exp(D * np.log1p(-p)) + rest) for D in resource]
        in_units = [weight[k > N].sum() + rest for N in units]
        for xs, sums, shipped, law, power in (
            (resource, in_time, model.loss(resource), model.law_of_time(), -alpha / (alpha + 1)),
            (
                resource,
                in_data,
                model.loss_from_data(resource),
                model.law_of_data(),
                -alpha / (alpha + 1),
            ),
            (units, in_units, model.loss_from_units(units), model.law_of_units(), -alpha),
        ):
            direct = np.array(sums) / 2
            errors.append(1e4 * np.max(np.abs(shipped / direct - 1)))
            errors += [abs(_slope(xs, direct) - power), abs(float(law.exponent) - power)]
            errors.append(abs(float(law.constant) * xs[-1] ** power / direct[-1] - 1))
    return CheckResult(max(errors), 0.01, len(errors))


def _cells(single: float, last: float) -> tuple[np.ndarray, np.ndarray]:
    """Skills one by one up to a number, then cells of them: their middles and widths."""
    first = np.arange(1.0, single + 1)
    edges = np.geomspace(single + 0.5, last - 0.5, 100_001)
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    return np.concatenate([first, middles]), np.concatenate([np.ones_like(first), widths])


@check(
    "layerwise/app-d3",
    "The quanta model: skills that are learned or not add up to power laws",
    against="skills counted one by one, and straight lines through three decades",
)
def app_d3() -> CheckResult:
    """App. D.3: the number of skills learned from N, D or t, the loss, and its exponents."""
    from scipy.special import zeta

    k, errors = np.arange(1.0, 1e6 + 1), []
    for alpha in ALPHAS:
        p = k ** -(alpha + 1) / zeta(alpha + 1)
        left = zeta(alpha + 1, k[-1] + 1) / zeta(alpha + 1)
        missing = np.concatenate(
            [(np.cumsum(p[::-1]) + left)[::-1], [left]]
        )  # Σ of the skills after n
        model = theory.Quanta(alpha + 1, 1.0, 0.2, units_needed=4, samples_needed=30, time_needed=7)
        units, data = np.geomspace(1e3, 1e6, 7).round(), np.geomspace(1e5, 1e8, 7).round()
        for xs, learned, loss, power in (
            (units, np.floor(units / 4), model.loss_from_units(units), -alpha),
            (
                data,
                [np.sum(D * p >= 30) for D in data],
                model.loss_from_data(data),
                -alpha / (alpha + 1),
            ),
            (
                data,
                [np.sum(t * p >= 7) for t in data],
                model.loss(data),
                -alpha / (alpha + 1),
            ),
        ):
            exact = 0.2 + 0.8 * missing[np.asarray(learned, int)]
            errors += [1e4 * np.max(np.abs(loss / exact - 1)), abs(_slope(xs, exact - 0.2) - power)]
    return CheckResult(max(errors), 0.02, len(errors))


@check(
    "layerwise/app-d4",
    "Strength of a skill that must be built from features, with few samples",
    against="interpolation of least norm, and gradient flow to its end, averaged over all directions",
)
def app_d4() -> CheckResult:
    r"""App. D.4 and the solid lines of Fig. 4b, for $g = \sum_l e_l/\sqrt{D_c}$ learned from d samples.

    Least norm finds the projection P g on what the samples span, of the strength E[f g]/E[g²] = S‖P g‖²,
    which is S d/D_c in the mean, and of the loss S²(1 − d/D_c)/2. The printed law solves (S − R)²/2 = loss
    for R, as if f were a multiple of g.
    """
    errors, printed, S = [], [], 3.0
    for seed, (needed, samples) in enumerate(((8, 2), (8, 5), (6, 1), (6, 6))):
        rng = np.random.default_rng(seed)
        sizes = np.linspace(0.7, 1.3, samples)[:, None]  # not so small that the flow takes for ever
        features = sizes * np.linalg.qr(rng.standard_normal((needed, needed)))[0][:samples]
        directions = np.linalg.qr(rng.standard_normal((needed, needed)))[0]
        ends = np.array([np.linalg.lstsq(features, S * features @ u)[0] for u in directions])
        strength = np.mean(np.sum(ends * directions, axis=1)) / S
        loss = np.mean(np.sum((ends - S * directions) ** 2, axis=1)) / 2
        errors += [abs(strength - samples / needed), abs(loss - S**2 / 2 * (1 - samples / needed))]
        errors.append(np.max(np.abs(_built_flow(features, S * directions[0]) - ends[0])) / S)
        printed.append(abs(1 - math.sqrt(1 - samples / needed) - strength))
        # the library's mean over binomial numbers of samples, term by term
        p, D = 0.3, 20
        chances = [math.comb(D, d) * p**d * (1 - p) ** (D - d) for d in range(D + 1)]
        exact = sum(c * min(1, d / needed) for d, c in enumerate(chances))
        found = theory.Emergence([p], S, 1e-12, samples_needed=needed).modes_from_data(D)[0] / S
        errors.append(abs(found - exact))
    return CheckResult(
        max(errors), 1e-6, len(errors), printed_error=max(printed),
        correction="strength S d/D_c; S(1 − √(1 − d/D_c)) is that of a multiple of g with the same loss",
    )  # fmt: skip


def _built_flow(features: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The weights a B of gradient flow on a model a B·e from a start of 1e-4, by Runge–Kutta to its end."""
    covariance = features.T @ features

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        a, B = flat[0], flat[1:]
        slope = covariance @ (a * B - target)
        return -np.concatenate([[B @ slope], a * slope])

    begin = np.concatenate([[1e-4], np.zeros(target.size)])
    end = integrate(velocity, begin, 400, rtol=1e-10, atol=1e-12)
    return end[0] * end[1:]
