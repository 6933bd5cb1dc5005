"""Skills that emerge one after the other: finitely many, infinitely many, and quanta."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.core import Comparison, accuracy

FREQUENCIES = np.array([0.6, 0.25, 0.1, 1e-3, 1e-7])
TIMES = decades(1e-6, 1e6, 37, zero=True)
SAMPLES = np.array([0, 1, 2, 5, 20, 100, 1000, 20000, 10**6, 10**9, 10**12])
FINITE = "p: 0.6, 0.25, 0.1, 1e-3, 1e-7; (S, r) = (1, 1e-3), (5, 1e-12), (0.3, 0.2)"
SCALES = ((1.0, 1e-3), (5.0, 1e-12), (0.3, 0.2))
EXPONENTS, MANY_TIMES = (1.05, 1.2, 1.6, 3.0, 8.0), (0.0, 1e-3, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)


@accuracy(
    "theory.Emergence.modes", "Strengths of skills after a time, what they lack, and the loss",
    against="logistic functions", grid=f"{FINITE}; t: 0 and 37 from 1e-6 to 1e6",
    also=("theory.Emergence.residual", "theory.Emergence.loss"), seconds=2,
)  # fmt: skip
def modes() -> Iterator[Comparison]:
    """What is lacking and the loss to the smallest double."""

    def left(S: Any, r: Any, p: Any, t: Any) -> Any:
        """S − R without the difference: S/(1 + e^{2Spt}/(S/r − 1))."""
        return S / (1 + mp.exp(2 * S * p * t) / (S / r - 1))

    for S, r in SCALES:
        found, where = theory.Emergence(FREQUENCIES, S, r), {"target_scale": S, "start": r}
        where |= {"frequency": FREQUENCIES, "time": TIMES[:, None]}

        def reference(S: Any, r: Any, p: Any, t: Any) -> Any:
            return S / (1 + (S / r - 1) * mp.exp(-2 * S * p * t))

        def loss(S: Any, r: Any, t: Any) -> Any:
            return (
                mp.fsum(mp.mpf(p) * left(S, r, mp.mpf(p), t) ** 2 for p in FREQUENCIES.tolist()) / 2
            )

        yield Comparison(found.modes(TIMES), reference, where)
        yield Comparison(found.residual(TIMES), left, where)
        yield Comparison(found.loss(TIMES), loss, {"target_scale": S, "start": r, "time": TIMES})


@accuracy(
    "theory.Emergence.saturation_time", "When skills reach a share of their strength",
    against="logarithms", grid=f"{FINITE}; shares 1e-3, 0.5, 0.9, 1 − 1e-9",
)  # fmt: skip
def saturation_time() -> Iterator[Comparison]:
    """0 where a skill is there at the start."""

    def reference(S: Any, r: Any, p: Any, share: Any) -> Any:
        return max(mp.log((S / r - 1) * share / (1 - share)) / (2 * S * p), mp.mpf(0))

    for S, r in SCALES:
        for share in (1e-3, 0.5, 0.9, 1 - 1e-9):
            times = theory.Emergence(FREQUENCIES, S, r).saturation_time(share).time
            where = {"target_scale": S, "start": r, "frequency": FREQUENCIES, "share": share}
            yield Comparison(times, reference, where)


@functools.cache
def _missing(p: float, many: int, needed: int) -> Any:
    """E[max(0, 1 − d/D_c)] for d of a binomial distribution: a finite sum."""
    q, total = mp.mpf(p), mp.mpf(0)
    for d in range(min(needed, many + 1)):
        chance = mp.binomial(many, d) * q**d * (1 - q) ** (many - d)
        total += (1 - mp.mpf(d) / needed) * chance
    return total


@accuracy(
    "theory.Emergence.modes_from_data",
    "Strengths of skills after so many samples, and the loss",
    against="finite binomial sums at 50 digits",
    grid=f"{FINITE}; D: 11 from 0 to 1e12; D_c = 1, 3, 20",
    also=("theory.Emergence.loss_from_data",),
    seconds=2,
)
def from_data() -> Iterator[Comparison]:
    """What is missing in the end is a rare skill."""
    for S, r in SCALES:
        for needed in (1, 3, 20):
            found = theory.Emergence(FREQUENCIES, S, r, samples_needed=needed)
            gap = mp.mpf(S) - mp.mpf(r)
            missing = np.array(
                [[_missing(p, int(D), needed) for p in FREQUENCIES.tolist()] for D in SAMPLES]
            )
            where = {"target_scale": S, "start": r, "samples_needed": needed}
            each = where | {"num_samples": SAMPLES[:, None], "frequency": FREQUENCIES}
            yield Comparison(found.modes_from_data(SAMPLES), mp.mpf(S) - gap * missing, each)
            weights = np.array([mp.mpf(p) for p in FREQUENCIES.tolist()])
            where |= {"num_samples": SAMPLES}
            loss = gap**2 / 2 * (missing @ weights)
            yield Comparison(found.loss_from_data(SAMPLES), loss, where)


@accuracy(
    "theory.Emergence.modes_from_units", "Strengths of skills with so many units, and the loss",
    against="the definition",
    grid=f"{FINITE}; n_c = 1, 2.5; N: 60 from 0 to 15; losses relative to the first",
    also=("theory.Emergence.loss_from_units",),
)  # fmt: skip
def from_units() -> Iterator[Comparison]:
    """One skill after the other."""
    units = np.linspace(0, 15, 60)
    for S, r in SCALES:
        for needed in (1.0, 2.5):
            found = theory.Emergence(FREQUENCIES, S, r, units_needed=needed)

            def strength(N: Any, k: int, S: Any = S, needed: float = needed) -> Any:
                return mp.mpf(S) * min(max(N / mp.mpf(needed) - k, 0), 1)

            where = {"num_units": units[:, None], "skill": np.arange(5)}
            yield Comparison(found.modes_from_units(units), strength, where, scale=mp.mpf(S))

            def loss(N: Any, S: Any = S, strength: Any = strength) -> Any:
                rests = [
                    mp.mpf(p) * (S - strength(N, k)) for k, p in enumerate(FREQUENCIES.tolist())
                ]
                return mp.mpf(S) / 2 * mp.fsum(rests)

            first = loss(mp.mpf(0))
            yield Comparison(found.loss_from_units(units), loss, {"num_units": units}, scale=first)


def _skill_sum(beta: Any, share: Callable[[Any], Any], series: list[Any], radius: Any) -> Any:
    """Σ p_k h(p_k): p above the radius one by one, the rest by the Taylor series of h and Hurwitz's ζ."""
    zeta = mp.zeta(beta)
    first = max(int(mp.ceil((1 / (zeta * radius)) ** (1 / beta))), 1)
    direct = [k**-beta / zeta for k in map(mp.mpf, range(1, first))]
    rest = [c * mp.zeta(beta * (n + 1), first) / zeta ** (n + 1) for n, c in enumerate(series)]
    return mp.fsum(p * share(p) for p in direct) + mp.fsum(rest)


@functools.cache
def _logistic_series(odds: Any) -> list[Any]:
    return mp.taylor(lambda x: 1 / (1 + mp.exp(x - odds)) ** 2, 0, 60)


@accuracy(
    "theory.SkillScaling.loss",
    "Loss of infinitely many skills after a time",
    against="frequent skills one by one, the others by a Taylor series and Hurwitz's zeta function",
    grid="α + 1: 1.05, 1.2, 1.6, 3, 8; (S, r) = (1, 1e-3), (0.3, 0.2); t: 0 and 7 from 1e-3 to 1e4",
    seconds=8,
)
def scaling_loss() -> Iterator[Comparison]:
    """A sum that has no closed form."""

    def reference(beta: Any, S: Any, r: Any, t: Any) -> Any:
        odds, rate = mp.log(S / r - 1), 2 * S * t
        series = [c * rate**n for n, c in enumerate(_logistic_series(odds))]
        share = lambda p: 1 / (1 + mp.exp(rate * p - odds)) ** 2  # noqa: E731
        return S**2 / 2 * _skill_sum(beta, share, series, 1 / (2 * rate) if rate else mp.inf)

    for S, r in (SCALES[0], SCALES[2]):
        beta, t = mesh(EXPONENTS, MANY_TIMES)
        values = theory.SkillScaling(beta, S, r).loss(t)
        where = {"exponent": beta, "target_scale": S, "start": r, "time": t}
        yield Comparison(values, reference, where)


@accuracy(
    "theory.SkillScaling.loss_from_data",
    "Loss of infinitely many skills with so many samples or units; frequencies",
    against="as for time; Hurwitz's zeta function",
    grid="α + 1: 1.05, 1.2, 1.6, 3, 8, 60; D: 0 and 7 up to 1e4; N: 0 and 12 from 1 to 1e9; 50 frequencies",
    also=("theory.SkillScaling.loss_from_units", "theory.SkillScaling.frequencies"),
    seconds=5,
)
def scaling_resources() -> list[Comparison]:
    """D need not be whole."""

    def of_data(beta: Any, D: Any) -> Any:
        series = [mp.binomial(D, n) * (-1) ** n for n in range(60)]
        total = _skill_sum(beta, lambda p: (1 - p) ** D, series, 1 / (4 * D) if D else mp.inf)
        return (1 - mp.mpf(1e-3)) ** 2 / 2 * total

    beta, D = mesh((*EXPONENTS, 60.0), [0.0, 1.0, 2.5, 10.0, 77.7, 300.0, 1e3, 1e4])
    values = theory.SkillScaling(beta).loss_from_data(D)
    found = [Comparison(values, of_data, {"exponent": beta, "num_samples": D})]
    beta, N = mesh(EXPONENTS, decades(1, 1e9, 12, zero=True))
    found.append(
        Comparison(
            theory.SkillScaling(beta).loss_from_units(N),
            lambda beta, N: mp.zeta(beta, N + 1) / mp.zeta(beta) / 2,
            {"exponent": beta, "num_units": N},
        )
    )
    skills = np.arange(1, 51)
    values = theory.SkillScaling(np.array(EXPONENTS)).frequencies(50)
    where = {"exponent": np.array(EXPONENTS)[:, None], "skill": skills}
    return [*found, Comparison(values, lambda beta, k: mp.mpf(k) ** -beta / mp.zeta(beta), where)]


@accuracy(
    "theory.SkillScaling.law_of_time",
    "Prefactors and exponents of the power laws in time, data and units",
    against="quadrature over frequencies; Γ and ζ",
    grid="α + 1: 1.05, 1.2, 1.6, 3, 8; (S, r) = (1, 1e-3), (5, 1e-12), (0.3, 0.2)",
    also=("theory.SkillScaling.law_of_data", "theory.SkillScaling.law_of_units"),
    seconds=4,
)
def laws() -> Iterator[Comparison]:
    """What the sums become when the first skill no longer matters."""

    def of_time(beta: Any, S: Any, r: Any) -> Any:
        odds = mp.log(S / r - 1)
        edges = [0, 1, *(max(odds, 1) + k for k in (1, 5, 10, 20, 40, 80, 150))]
        power = beta / (beta - 1)  # with z = w^power the root at 0 is gone
        integral = mp.quad(
            lambda w: power / (1 + mp.exp(w**power - odds)) ** 2,
            [mp.mpf(z) ** (1 / power) for z in edges],
        )
        return S**2 / 2 * mp.zeta(beta) ** (-1 / beta) / beta * (2 * S) ** (1 / beta - 1) * integral

    def of_data(beta: Any, S: Any, r: Any) -> Any:
        return (S - r) ** 2 * mp.gamma(1 - 1 / beta) / (2 * beta * mp.zeta(beta) ** (1 / beta))

    def of_units(beta: Any, S: Any, r: Any) -> Any:
        return S**2 / (2 * (beta - 1) * mp.zeta(beta))

    for S, r in SCALES:
        beta = np.array(EXPONENTS)
        found, where = (
            theory.SkillScaling(beta, S, r),
            {"exponent": beta, "target_scale": S, "start": r},
        )
        power = lambda beta, S, r: 1 / beta - 1  # noqa: E731
        for law, constant, exponent in (
            (found.law_of_time(), of_time, power), (found.law_of_data(), of_data, power),
            (found.law_of_units(), of_units, lambda beta, S, r: 1 - beta),
        ):  # fmt: skip
            yield Comparison(law.constant, constant, where)
            yield Comparison(law.exponent, exponent, where)


@accuracy(
    "theory.Quanta.loss",
    "Quanta: how many skills are learned, and the loss",
    against="Hurwitz's zeta function, roots rounded down",
    grid="α + 1: 1.05, 1.2, 1.6, 3, 8; 40 resources from 0.1 to 1e12; L₀, L_∞ = 2, 0.3",
    also=(
        "theory.Quanta.loss_from_learned", "theory.Quanta.loss_from_units",
        "theory.Quanta.loss_from_data", "theory.Quanta.learned_from_units",
        "theory.Quanta.learned_from_data", "theory.Quanta.learned_from_time",
    ),
    seconds=3,
)  # fmt: skip
def quanta() -> Iterator[Comparison]:
    """Numbers of skills are whole, so a rounding error would show as a whole skill."""
    beta, x = mesh(EXPONENTS, decades(0.1, 1e12, 40))
    found = theory.Quanta(beta, 2.0, 0.3, units_needed=3.0, samples_needed=7.0, time_needed=0.7)
    where = {"exponent": beta, "resource": x}

    def frequent(beta: Any, inverse: Any) -> Any:
        return mp.floor((inverse / mp.zeta(beta)) ** (1 / beta))

    learned = {
        "units": lambda beta, N: mp.floor(N / 3), "data": lambda beta, D: frequent(beta, D / 7),
        "time": lambda beta, t: frequent(beta, t / mp.mpf(0.7)),
    }  # fmt: skip

    def loss(beta: Any, n: Any) -> Any:
        return mp.mpf(0.3) + (2 - mp.mpf(0.3)) * mp.zeta(beta, n + 1) / mp.zeta(beta)

    for name, count in learned.items():
        of_resource = functools.partial(_composed, loss, count)
        yield Comparison(getattr(found, f"learned_from_{name}")(x), count, where)
        method = found.loss if name == "time" else getattr(found, f"loss_from_{name}")
        yield Comparison(method(x), of_resource, where)
    yield Comparison(
        found.loss_from_learned(np.floor(x)), lambda beta, n: loss(beta, mp.floor(n)), where
    )


def _composed(loss: Any, count: Any, beta: Any, resource: Any) -> Any:
    return loss(beta, count(beta, resource))
