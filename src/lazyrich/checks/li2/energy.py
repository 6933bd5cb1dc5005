"""Theorem 1 and Eq. 6, 7, 13–15, 19–21, 24: the energy of a node, and its form for a group."""

from typing import Any

import numpy as np

from lazyrich import quantities, theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.li2._energy_instances import (
    ACTIVATIONS,
    all_groups,
    class_sums,
    decomposed,
    dense,
    plain_energy,
    plain_gradient,
)
from lazyrich.core import CheckResult, check


def _random_data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dense inputs, labels with a class that is rare, nodes."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.integers(0, 4, 15), 3)
    labels[:4] = np.arange(4)
    return rng.standard_normal((15, 5)), labels, rng.standard_normal((3, 5)) / 2


@check("li2/eq7", "The energy of a node", against="the norm as it is written, with dense matrices")
def eq7() -> CheckResult:
    """Eq. 7, for dense inputs and for pairs, several activations, real and complex nodes."""
    errors = []
    for seed, (name, (sigma, _)) in enumerate(ACTIVATIONS.items()):
        X, labels, w = _random_data(seed)
        Y = np.eye(4)[labels] - np.eye(4)[labels].mean(0)
        found = quantities.feature_energy(w, X, labels, name)
        errors.append(np.max(np.abs(found / plain_energy(X, Y, w, sigma) - 1)))
    rng = np.random.default_rng(7)
    for group in all_groups()[1:]:
        X, Y = dense(group)
        w = rng.standard_normal((2, 4 * group.order)).view(complex)
        found = quantities.GroupEnergy(group).value(w)
        errors.append(np.max(np.abs(found / plain_energy(X, Y, w, np.square) - 1)))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("li2/eq6", "What drives a node", against="central differences of the energy")
def eq6() -> CheckResult:
    """Eq. 6 with factor 1 is the gradient that the library computes, and that differences give."""
    errors = []
    for seed, (name, (sigma, slope)) in enumerate(ACTIVATIONS.items()):
        X, labels, w = _random_data(seed)
        Y = np.eye(4)[labels] - np.eye(4)[labels].mean(0)
        printed = plain_gradient(X, Y, w, (sigma, slope))
        found = quantities.FeatureEnergy(X, labels, name).gradient(w)
        h = 1e-6 * np.eye(5)
        differences = np.stack(
            [
                (plain_energy(X, Y, w + e, sigma) - plain_energy(X, Y, w - e, sigma)) / 2e-6
                for e in h
            ],
            -1,
        )
        scale = np.max(np.abs(printed))
        errors += [np.max(np.abs(found - printed)) / scale * 1e3]  # agrees to rounding
        errors += [np.max(np.abs(found - differences)) / scale]
    return CheckResult(max(errors), 1e-8, len(errors))


@check(
    "li2/thm1",
    "Independent nodes ascend the energy",
    against="Runge–Kutta integration of Eq. 6: the energy gained is the integral of the squared speed",
)
def thm1() -> CheckResult:
    """Theorem 1. The flow is that of Eq. 6; the energy is Eq. 7."""
    errors = []
    for seed, (name, activation) in enumerate(ACTIVATIONS.items()):
        X, labels, w = _random_data(seed)
        Y = np.eye(4)[labels] - np.eye(4)[labels].mean(0)

        def velocity(_: float, state: np.ndarray, X=X, Y=Y, activation=activation) -> np.ndarray:
            speed = plain_gradient(X, Y, state[:-1], activation)
            return np.append(speed, speed @ speed)

        # with powers as activations nodes become infinite in finite time, some 1/speed
        speed = plain_gradient(X, Y, w[0], activation)
        last = 0.1 * float(np.linalg.norm(w[0]) / np.linalg.norm(speed))
        *end, gained = integrate(velocity, np.append(w[0], 0), last, atol=1e-14)
        energy = quantities.feature_energy([w[0], end], X, labels, name)
        errors.append(abs((energy[1] - energy[0]) / gained - 1))
    return CheckResult(max(errors), 1e-9, len(errors))


def _instances() -> Any:
    """Groups with random halves u, v and the matrix S of the square."""
    for seed, group in enumerate(all_groups()):
        u, v = np.random.default_rng(seed).standard_normal((2, group.order))
        yield group, u, v, (u[:, None] + v[None, :]) ** 2


def _node(group: Any, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([u, v[group.inverses]])


@check(
    "li2/eq13", "Class sums as traces with the regular representation", against="sums over pairs"
)
def eq13() -> CheckResult:
    """Eq. 13–15: with w = [u; Pv], z_h is the trace of R_hᵀS, and the energy is that of centred z."""
    errors = []
    for group, u, v, S in _instances():
        X, Y = dense(group)
        w = _node(group, u, v)
        z = (w @ X.T) ** 2 @ (Y + 1 / group.order)
        traces = class_sums(group, S)
        errors.append(relative_gap(traces, z))
        energy = 0.5 * np.sum((traces - traces.mean()) ** 2)
        errors.append(abs(energy / plain_energy(X, Y, w, np.square) - 1))
    return CheckResult(max(errors), 1e-12, len(errors))


def _by_blocks(group: Any, S: np.ndarray, one_of_pair: bool) -> tuple[float, float]:
    """The energy from blocks of S: with Frobenius norms, and with traces as printed."""
    norms = traces = 0.0
    for step, d, blocks in decomposed(group, S):
        if one_of_pair and step < 0:
            continue
        factor = group.order / d / (1 if one_of_pair and step > 0 else 2)
        total = sum(blocks)
        norms += factor * np.sum(np.abs(total) ** 2)
        traces += factor * np.abs(np.trace(total)) ** 2
    return norms, traces


def _compare_blocks(one_of_pair: bool) -> tuple[float, float, int]:
    errors, printed = [], []
    for group, *_, S in _instances():
        z = class_sums(group, S)
        energy = 0.5 * np.sum((z - z.mean()) ** 2)
        norms, traces = _by_blocks(group, S, one_of_pair)
        errors.append(abs(norms / energy - 1))
        printed.append(abs(traces / energy - 1))
    return max(errors), max(printed), len(errors)


SCHUR = "Σ_h vec C_k(h) vec C_k(h)* is (M/d_k) times the identity: norms take the place of traces"


@check("li2/eq19", "The energy as a sum over irreps", against="class sums")
def eq19() -> CheckResult:
    """Eq. 19 for S of random nodes. For irreps of dimension one trace and norm agree."""
    error, printed, number = _compare_blocks(one_of_pair=False)
    return CheckResult(error, 1e-12, number, printed_error=printed, correction=SCHUR)


@check("li2/eq24", "The energy of real nodes, one of each conjugate pair", against="class sums")
def eq24() -> CheckResult:
    """Eq. 24. "Real" must mean a real character here: irreps of the quaternionic type count once too."""
    error, printed, number = _compare_blocks(one_of_pair=True)
    return CheckResult(error, 1e-12, number, printed_error=printed, correction=SCHUR)


@check("li2/eq20", "The energy for a quadratic activation", against="Eq. 7 as it is written")
def eq20() -> CheckResult:
    """Eq. 20: S has 2uvᵀ, and the inner sum is a matrix."""
    errors, printed = [], []
    for group, u, v, _ in _instances():
        X, Y = dense(group)
        energy = plain_energy(X, Y, _node(group, u, v), np.square)
        cross = [
            (group.order / d, sum(blocks)) for _, d, blocks in decomposed(group, np.outer(u, v))
        ]
        shipped = quantities.GroupEnergy(group).value(_node(group, u, v))
        errors += [
            abs(sum(2 * f * np.sum(np.abs(B) ** 2) for f, B in cross) / energy - 1),
            abs(shipped / energy - 1),
        ]
        printed.append(abs(sum(f / 2 * np.abs(np.trace(B)) ** 2 for f, B in cross) / energy - 1))
    return CheckResult(
        max(errors),
        1e-12,
        len(errors),
        printed_error=max(printed),
        correction="the cross term is 2uvᵀ, a factor 4; " + SCHUR,
    )


@check(
    "li2/eq21", "The bound on the energy by the power in irreps", against="Eq. 7 as it is written"
)
def eq21() -> CheckResult:
    """Eq. 21 for random nodes, and as an equality at complex maxima; the factor is M/2, not M/8."""
    errors, printed = [], []
    rng = np.random.default_rng(21)
    for group in all_groups():
        X, Y = dense(group)
        features = theory.GroupFeatures(group, complex_weights=True)
        dimensions = np.array([f.dimension for f in features.families])
        random = rng.standard_normal((20, 4 * group.order)).view(complex)
        random /= np.linalg.norm(random, axis=-1, keepdims=True)
        best = np.concatenate([features.sample(f.index, 2, 3) for f in features.families])
        for nodes, is_best in ((random, False), (best, True)):
            energy = plain_energy(X, Y, nodes, np.square)
            bound = group.order / 2 * np.sum(features.power(nodes)[:, 1:] ** 2 / dimensions, -1)
            ratio = energy / bound
            errors.append(np.max(np.abs(ratio - 1)) if is_best else max(0.0, np.max(ratio) - 1))
            printed.append(max(0.0, np.max(4 * ratio) - 1))
    return CheckResult(
        max(errors),
        1e-12,
        len(errors),
        printed_error=max(printed),
        correction="the cross term of (u + v)² is 2uv: a factor 4",
    )
