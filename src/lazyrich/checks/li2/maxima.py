"""Theorem 2, Corollaries 1 and 2, Sec. 4.3: the local maxima of the energy for a group."""

from typing import Any

import numpy as np

from lazyrich import groups, quantities, theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.checks.li2._energy_instances import (
    all_groups,
    dense,
    plain_ascent,
    plain_energy,
    plain_gradient,
)
from lazyrich.core import CheckResult, check

FACTOR = "the cross term of (u + v)² is 2uv, so that all energies are four times as large"


def _at_maxima(group: Any) -> tuple[list[float], list[float]]:
    """Errors of the families: energy, slope, curvature; and of the printed energies."""
    X, Y = dense(group)
    features, errors, printed = theory.GroupFeatures(group), [], []
    for family in features.families:
        w = features.sample(family.index, 2, seed=family.index)
        energy, gradient = plain_energy(X, Y, w, np.square), plain_gradient(X, Y, w)
        along = np.sum(gradient * w, -1, keepdims=True) * w
        curvature = features.curvature(w)
        errors += [
            np.max(np.abs(energy / family.energy - 1)),
            relative_gap(along, gradient),
            np.max(curvature.num_positive)
            + np.max(np.abs(curvature.num_flat - family.flat_directions)),
        ]
        pair = 2 if family.kind == "complex" else 1
        printed.append(np.max(np.abs(energy / (group.order / (8 * pair * family.dimension)) - 1)))
    return errors, printed


@check(
    "li2/thm2",
    "All local maxima for a group: each in one irrep",
    against="the plain energy, its gradient and Hessian, and ascents from random starts",
    seconds=2,
)
def thm2() -> CheckResult:
    """Theorem 2, corrected: maxima are [w₁; w₂] with ŵ₁ = xy*, ŵ₂ = yz* in one irrep, energies fourfold.

    Every ascent ends in one of them, also in irreps of larger dimension and lower energy. The printed [u;
    ±Pu] is the part with z = ±x, and u must have rank one. Maxima of one family are connected where they
    are flat.
    """
    errors, printed = [], []
    for group in all_groups():
        found = _at_maxima(group)
        errors += found[0]
        printed += found[1]
        features = theory.GroupFeatures(group)
        ends = features.classify(plain_ascent(group, 40))
        errors += [float(np.sum(~ends.is_maximum)), 1 - ends.share.min()]
    errors.append(_connection())
    correction = (
        FACTOR
        + "; u and v need not be equal, but must have rank one in the irrep; families are connected"
    )
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed), correction=correction
    )


def _connection() -> float:
    """Largest change of the energy on a path of maxima from [u; Pu] to [u; −Pu], for Z₇ and A₄."""
    changes = []
    for group, index in ((groups.cyclic(7), 0), (groups.alternating(4), 1)):
        features = theory.GroupFeatures(group)
        d, X, Y = features.families[index].dimension, *dense(group)
        t = np.linspace(0, np.pi, 21)[:, None]
        e = np.eye(d)[0]
        if d == 1:
            z = np.exp(1j * t) * e
        else:
            z = np.cos(t) * e + np.sin(t) * np.eye(d)[1]
        path = features.maximum(index, np.broadcast_to(e, z.shape), np.broadcast_to(e, z.shape), z)
        energy = plain_energy(X, Y, path, np.square)
        M = group.order
        signs = np.abs(path[0, M:] + path[-1, M:]).max() + np.abs(path[0, :M] - path[-1, :M]).max()
        changes += [float(np.ptp(energy) / energy[0]), float(signs)]
    return max(changes)


@check(
    "li2/cor1",
    "How flat the maxima are",
    against="eigenvalues of the Hessian on the sphere, of a full set of families",
)
def cor1() -> CheckResult:
    """Corollary 1, corrected: maxima in real irreps of dimension one are isolated, all others are flat.

    In Z₂ × Z₂ no maximum is flat. The Hessian's eigenvalues are 0, −4𝓔 and −8𝓔. The printed error is the
    share of families, of groups with M > 2, that have no flat direction although the corollary says so.
    """
    errors, rigid = [], []
    for group in all_groups():
        features = theory.GroupFeatures(group)
        for family in features.families:
            curvature = features.curvature(features.sample(family.index, 2, seed=1))
            errors.append(np.max(np.abs(curvature.num_flat - family.flat_directions)))
            levels = curvature.eigenvalues / (4 * family.energy)
            errors.append(np.max(np.abs(levels - np.round(levels))))
            errors.append(max(0.0, -2 - np.min(levels) - 1e-9))
            if group.order > 2:
                rigid.append(np.max(curvature.num_flat) == 0)
    correction = (
        "maxima in real irreps of dimension one are isolated points; all of them in Z₂ × Z₂"
    )
    return CheckResult(
        max(errors), 1e-8, len(errors), printed_error=float(np.mean(rigid)), correction=correction
    )


@check(
    "li2/cor2",
    "Modular addition: single frequencies",
    against="ascents of the plain energy from random starts, and their discrete Fourier transforms",
)
def cor2() -> CheckResult:
    """Corollary 2, corrected: energies are M/4, and M/2 at frequency M/2. Every frequency is found."""
    errors, printed = [], []
    for M in (5, 9, 6, 8):
        ends = plain_ascent(groups.cyclic(M), 60, seed=M)
        energy = plain_energy(*dense(groups.cyclic(M)), ends, np.square)
        power = np.abs(np.fft.rfft(ends.reshape(-1, 2, M))) ** 2
        power[..., 1 : (M + 1) // 2] *= 2
        power = power.sum(1) / power.sum((1, 2))[:, None]
        k = power.argmax(1)
        predicted = np.where(2 * k == M, M / 2, M / 4)
        errors += [np.max(1 - power.max(1)), np.max(np.abs(energy / predicted - 1))]
        errors.append(len(set(range(1, M // 2 + 1)) ^ set(k.tolist())))
        printed.append(np.max(np.abs(energy / (predicted / 4) - 1)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed), correction=FACTOR
    )


@check(
    "li2/sec4-3",
    "What a linear activation finds, and features of quotients",
    against="eigenvectors of XᵀỸỸᵀX; cosets of kernels",
)
def sec4_3() -> CheckResult:
    """Sec. 4.3: on all products a linear node has no energy; on fewer its best node is the top eigenvector.

    Features of Z₁₅ at multiples of 5 and 3 are constant on the cosets of a subgroup of order 5 and 3, so
    that they are features of Z₃ and Z₅ (of the remainder; the paper writes div). A linear part changes no
    energy.
    """
    errors = []
    rng = np.random.default_rng(43)
    for group in all_groups():
        X, Y = dense(group)
        w = rng.standard_normal((3, 2 * group.order))
        errors.append(np.max(plain_energy(X, Y, w, lambda x: x)))
        both = plain_energy(X, Y, w, lambda x: 0.7 * x - 1.3 * x**2)
        errors.append(np.max(np.abs(quantities.GroupEnergy(group, -1.3).value(w) / both - 1)))
    kept = rng.permutation(49)[:25]
    X, Y = (part[kept] for part in dense(groups.cyclic(7)))
    Y = Y - Y.mean(0)
    values, vectors = np.linalg.eigh(X.T @ Y @ Y.T @ X)
    errors.append(abs(plain_energy(X, Y, vectors[:, -1], lambda x: x) / (values[-1] / 2) - 1))
    for family in theory.GroupFeatures(groups.cyclic(15)).families:
        u = theory.GroupFeatures(groups.cyclic(15)).sample(family.index)[0, :15]
        shifted = np.array([u[(np.arange(15) + g) % 15] for g in family.kernel])
        errors.append(np.max(np.abs(shifted - u)))
        errors.append(abs(15 // np.gcd(15, family.members[0]) - family.quotient_order))
    return CheckResult(max(errors), 1e-11, len(errors))
