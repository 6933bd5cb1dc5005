"""Eq. 25–31: what the energy is when only some products are known."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks.li2._energy_instances import all_groups, class_sums, decomposed, large_groups
from lazyrich.core import CheckResult, check

FAILURE = 0.1
"""δ of the bounds that hold with probability 1 − δ."""
CONSTANT = 1.0
"""Of the bounds "up to a constant"; no larger one is needed. Nor may one be needed that grows with M."""


class Draw(NamedTuple):
    """One subset of the products, with the paper's quantities: w_h, z_h, ε_h and the estimate ẑ_h."""

    weights: np.ndarray
    sums: np.ndarray
    noise: np.ndarray
    estimate: np.ndarray


def _draw(group: Any, S: np.ndarray, p: float, rng: Any) -> Draw:
    """Rows (h, j) kept with probability p, and Eq. 25 from its definitions."""
    M, j = group.order, np.arange(group.order)
    s = S[group.table[:, j], j]  # [h, j]: entry (hj, j) of S
    kept = (rng.random((M, M)) < p) / p
    w = kept.mean(1)
    noise = np.sum((kept - w[:, None]) * s, axis=1)
    return Draw(w, class_sums(group, S), noise, np.sum(kept * s, axis=1))


class Instance(NamedTuple):
    """A group, the halves u and v of a node of norm 1, with w = [u; Pv], and a keeping probability."""

    group: Any
    u: np.ndarray
    v: np.ndarray
    p: float
    rng: Any

    @property
    def square(self) -> np.ndarray:
        """S."""
        return (self.u[:, None] + self.v[None, :]) ** 2


def _instances(every: Any = None) -> Iterator[Instance]:
    """Maxima in the last irrep, random nodes, and nodes on one pair, which have the largest noise."""
    for seed, group in enumerate(all_groups()[1:] if every is None else every):
        rng, M = np.random.default_rng(seed), group.order
        features = theory.GroupFeatures(group)
        random, pair = rng.standard_normal(2 * M), np.zeros(2 * M)
        pair[[1, M + 2]] = np.sqrt(0.5)
        best = features.sample(len(features.families) - 1)[0]
        for node in (best, random / np.linalg.norm(random), pair):
            for p in (0.3, 0.7):
                yield Instance(group, node[:M], node[M:][group.inverses], p, rng)


@check(
    "li2/eq25",
    "The estimate splits into weight times sum, and noise",
    against="sums over kept products; moments of the binomial distribution",
)
def eq25() -> CheckResult:
    """Eq. 25, with E w = 1 and Var w = (1 − p)/(pM)."""
    from scipy.stats import binom

    errors = []
    for i in _instances():
        draw = _draw(i.group, i.square, i.p, i.rng)
        off = draw.estimate - draw.weights * draw.sums - draw.noise
        errors.append(np.max(np.abs(off)) / np.max(np.abs(draw.estimate)))
        M = i.group.order
        m = np.arange(M + 1)
        chance, w = binom.pmf(m, M, i.p), m / (i.p * M)
        variance = chance @ (w - 1) ** 2
        errors += [abs(chance @ w - 1), abs(variance / ((1 - i.p) / (i.p * M)) - 1)]
    return CheckResult(max(errors), 5e-14, len(errors))


@check("li2/eq26", "Signal, mixed term and noise", against="a sum over all pairs of kept samples")
def eq26() -> CheckResult:
    """Eq. 26, its terms by matrices R_h and Δ_h; Σẑ² sums over pairs of samples that share their target."""
    errors = []
    for i in _instances():
        M, table = i.group.order, i.group.table
        kept = i.rng.random((M, M)) < i.p  # of the pairs (a, b)
        a, b = np.nonzero(kept)
        f, labels = (i.u[a] + i.v[i.group.inverses[b]]) ** 2 / i.p, table[a, b]
        direct = f @ (labels[:, None] == labels[None, :]) @ f
        parts = 0.0
        for h in range(M):
            R = np.zeros((M, M))
            R[table[h], np.arange(M)] = 1  # entry (hj, j), which is the pair (hj, j⁻¹)
            xi = kept[table[h], i.group.inverses] / i.p
            w = xi.mean()
            z = np.trace(R.T @ i.square)
            noise = np.sum((R * (xi - w)) * i.square)
            parts += (w * z) ** 2 + 2 * w * z * noise + noise**2
        errors.append(abs(parts / direct - 1))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("li2/eq27", "The signal as a quadratic form over irreps", against="sums over classes")
def eq27() -> CheckResult:
    """Eq. 27, for sums without their mean: those are what irreps but the trivial one add up to."""
    errors = []
    for i in _instances():
        d = _draw(i.group, i.square, i.p, i.rng)
        every = groups.irreps(i.group)[1:]
        blocks = [sum(b) for *_, b in decomposed(i.group, i.square)]
        # sum over copies r first: all copies have the same C
        parts = np.array(
            [
                np.einsum("hij,ij->h", r.matrices.conj(), B)
                for r, B in zip(every, blocks, strict=True)
            ]
        )
        form = np.einsum("kh,h,lh->", parts, d.weights**2, parts.conj()).real
        z = d.sums - d.sums.mean()
        # relative to the sums with their mean: those of a node on one pair have little else
        errors.append(abs(form - np.sum(d.weights**2 * z**2)) / np.sum(d.weights**2 * d.sums**2))
    return CheckResult(max(errors), 1e-12, len(errors))


def _sizes() -> "tuple[tuple[groups.Group, groups.Group], ...]":
    """A small group of each family and a large one."""
    Z, product = groups.cyclic, groups.product
    return (
        (Z(7), Z(113)), (Z(8), Z(96)), (product(Z(2), Z(4)), product(Z(8), Z(12))),
        (product(Z(3), Z(3)), product(Z(9), Z(9))), (groups.dihedral(4), groups.dihedral(48)),
        (groups.dicyclic(3), groups.dicyclic(24)),
        (groups.alternating(4), product(groups.alternating(4), Z(8))),
    )  # fmt: skip


def _bounded(measure: Callable[[Any], Any]) -> CheckResult:
    """Whether quantities, in units of their bounds, need no constant above `CONSTANT` nor one that grows.

    The error is the largest of them over `CONSTANT`, or the largest growth from a small group of a family to
    a large one, if that is larger; both must stay below 1.
    """
    found = []
    for small, large in _sizes():
        low, high = (np.asarray(measure(group)) for group in (small, large))
        found += [*(low / CONSTANT), *(high / CONSTANT), *(high / low)]
    return CheckResult(float(max(found)), 1.0, len(found))


def _operator_errors(group: Any, power: int) -> list[float]:
    """Quantiles of the largest error over pairs of irreps, in units of the printed rates; for several p."""
    every, M, found = groups.irreps(group), group.order, []
    every = every[:: max(len(every) // 8, 1)]
    rng = np.random.default_rng(power)
    for p in (0.2, 0.6):
        rate = np.sqrt(np.log(M / FAILURE) / (M * p)) + (1 / (M * p) if power == 2 else 0)
        w = rng.binomial(M, p, (60, M)) / (p * M)
        weights = (w - 1 if power == 1 else w**2 - w) / M
        largest = np.zeros(60)
        for k in every:
            for k2 in every:
                kron = np.einsum("hij,hab->hiajb", k2.matrices.conj(), k.matrices)
                d = k.dimension * k2.dimension
                sums = (weights @ kron.reshape(M, -1)).reshape(-1, d, d)
                largest = np.maximum(largest, np.linalg.norm(sums, 2, axis=(1, 2)))
        found.append(float(np.quantile(largest, 1 - FAILURE / 3)) / rate)
    return found


@check(
    "li2/eq28",
    "Error of the weighted Gram operators",
    against="singular values over random subsets, for small and large groups",
)
def eq28() -> CheckResult:
    """Eq. 28 holds. It is not tight: the proof's own variance, 1/(pM²), gives a rate smaller by √M.

    The bound ‖X_h‖ ≤ 1/M in the proof is wrong, as |w_h − 1| reaches 1/p − 1; that changes nothing here.
    """
    return _bounded(lambda group: _operator_errors(group, 1))


@check(
    "li2/eq29",
    "Error of the operators weighted twice",
    against="singular values over random subsets, for small and large groups",
)
def eq29() -> CheckResult:
    """Eq. 29."""
    return _bounded(lambda group: _operator_errors(group, 2))


@check(
    "li2/eq30",
    "Bounds of the mixed term and the noise",
    against="random subsets, for small and large groups",
)
def eq30() -> CheckResult:
    """Eq. 30 for nodes of norm 1, the worst of which sits on one pair; quantiles in units of the rates.

    The rates leave out the norm of S, which for norm 1 is at most of order √M; with it they would
    hold for any node: ‖z‖‖S‖(log(M/δ)/p)^½ and ‖S‖² log(M/δ)/p.
    """
    return _bounded(_noises)


def _noises(group: Any) -> list[float]:
    """Largest quantile of the mixed term and of the noise over nodes and keeping probabilities."""
    found, log = [], np.log(group.order / FAILURE)
    for i in _instances([group]):
        M, draws = group.order, [_draw(group, i.square, i.p, i.rng) for _ in range(60)]
        mixed = [abs(np.sum(d.weights * d.sums * d.noise)) / np.linalg.norm(d.sums) for d in draws]
        noise = [np.sum(d.noise**2) for d in draws]
        top = [float(np.quantile(values, 1 - FAILURE / 3)) for values in (mixed, noise)]
        found.append([top[0] / np.sqrt(M * log / i.p), top[1] / (M * log / i.p)])
    return np.max(found, axis=0).tolist()


def _energy_shift(group: Any, p: float, node: np.ndarray, rng: Any) -> float:
    """|𝓔̂ − 𝓔| over M/2 in units of the rate of Eq. 31."""
    M, j = group.order, np.arange(group.order)
    u, v = node[:M], node[M:][group.inverses]
    s = (u[group.table[:, j]] + v[j]) ** 2
    kept = (rng.random((M, M)) < p) / p
    estimate, exact = np.sum(kept * s, 1), s.sum(1)
    energies = [0.5 * np.sum((z - z.mean()) ** 2) for z in (estimate, exact)]
    rate = np.sqrt(np.log(M / FAILURE) / (M * p)) + 1 / (M * p)
    return abs(energies[0] - energies[1]) / (M / 2) / rate


@check("li2/eq31", "How far the energy is from that of all products", against="random subsets")
def eq31() -> CheckResult:
    """Eq. 31 holds at nodes of single irreps, where the noise is small, and not for every node.

    A node on one element has no energy on all products. On a share p of them it has M(1 − p)/(2p), in units
    where single frequencies have M/4: more than these for p < 2/3, at any M. So no bound that falls with M
    holds for all nodes.
    """
    errors, printed = [], []
    rng = np.random.default_rng(31)
    for group in (groups.cyclic(31), groups.cyclic(301), *large_groups()):
        M = group.order
        p = 2 * np.log(M) / M
        features = theory.GroupFeatures(group)
        chosen = np.linspace(0, len(features.families) - 1, 5).round().astype(int)
        errors += [_energy_shift(group, p, features.sample(k)[0], rng) for k in chosen]
        printed.append(_energy_shift(group, p, np.eye(2 * M)[0], rng))
    correction = (
        "holds near single irreps only: a node on one element departs by (1 − p)/p, whatever M"
    )
    return CheckResult(
        max(errors), CONSTANT, len(errors), printed_error=max(printed), correction=correction
    )
