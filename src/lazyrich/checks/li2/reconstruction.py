"""Theorem 3 and Sec. 4.4: which features write the targets exactly."""

import numpy as np

from lazyrich import groups, theory
from lazyrich.checks.li2._energy_instances import all_groups, dense, plain_energy
from lazyrich.core import CheckResult, check


def _small() -> "tuple[groups.Group, ...]":
    return (*(group for group in all_groups() if group.order <= 10), groups.cyclic(9))


@check(
    "li2/thm3",
    "Features of single irreps reconstruct the targets",
    against="least squares on all products with as many nodes as stated; sums over products",
)
def thm3() -> CheckResult:
    """Theorem 3, corrected: for complex nodes w = [u; ±Pū], whose features are diagonals of R_hᵀuu*.

    The printed [u; ±Pu] has uuᵀ in place of uu*, since σ(x) = x² is no modulus; the targets are then out of
    reach. The nodes are maxima of the energy. Gram matrices of pairs are block diagonal, with 4 tr(UV*) as
    entries. The number of nodes stays below the stated bound.
    """
    errors, printed = [], []
    for group in _small():
        target = theory.TargetReconstruction(group)
        nodes = target.nodes("conjugate", seed=3)
        errors.append(np.sqrt(target.error(nodes)))
        errors.append(
            abs(nodes.shape[1] - target.num_nodes) + max(0, target.num_nodes - target.bound)
        )
        features = theory.GroupFeatures(group, complex_weights=True)
        energy = plain_energy(*dense(group), nodes.T, np.square)
        family = features.classify(nodes.T).family
        errors.append(np.max(np.abs(energy / [features.families[k].energy for k in family] - 1)))
        errors.append(_gram_error(target, nodes, family))
        printed.append(target.error(target.nodes("printed", seed=3)))
    correction = (
        "the second half must be the conjugate, [u; ±Pū]; with [u; ±Pu] the best top layer misses up to all "
        "of the targets, since the complex square gives uuᵀ and not uu*"
    )
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(printed), correction=correction
    )


def _gram_error(
    target: "theory.TargetReconstruction", nodes: np.ndarray, family: np.ndarray
) -> float:
    """Entries of the Gram matrix of differences of pairs: 4|u_j*u_l|², hence 0 between irreps."""
    M, half = target.group.order, nodes.shape[1] // 2
    F = target.node_features(nodes)
    cross = (F[:, :half] - F[:, half:]) / 2  # c_U with U = uu*
    gram = cross.conj().T @ cross
    overlap = nodes[:M, :half].conj().T @ nodes[:M, :half]
    stated = 4 * np.abs(overlap) ** 2
    same = family[:half, None] == family[None, :half]
    between = np.max(np.abs(gram[~same]), initial=0.0)
    return float(max(np.max(np.abs(gram - stated)), between))


@check(
    "li2/sec4-4",
    "Real nodes: failure with equal halves, repair with different ones",
    against="least squares on all products",
)
def sec4_4() -> CheckResult:
    """Sec. 4.4: real [u; ±Pu] miss a part of the targets, small changes of the second half repair it.

    So the remark in App. F.2 that the proof also works for real w is wrong; its printed error is the share
    of the targets that is missed. The flat directions of the energy already contain different halves, with
    no change of it.
    """
    errors, printed = [], []
    for group in _small():
        target = theory.TargetReconstruction(group, complex_weights=False)
        economical = target.nodes("economical")
        errors.append(np.sqrt(target.error(economical)))
        errors.append(abs(economical.shape[1] - target.num_economical))
        equal = target.nodes("printed", seed=4)
        M, other = group.order, target.nodes("printed", seed=5)
        half = equal.shape[1] // 2
        second = equal[M:, :half] + 0.1 * other[M:, :half]  # other nodes of the same irreps
        changed = equal.copy()
        changed[M:] = np.concatenate([second, -second], axis=1)
        errors.append(np.sqrt(target.error(changed)))
        if (
            group.element_orders.max() > 2
        ):  # else every matrix of the regular representation is symmetric
            printed.append(target.error(equal))
            errors.append(max(0.0, 0.1 - target.error(equal)))
    reason = "real symmetric matrices do not span the regular representation; up to half is missed"
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=min(printed), correction=reason
    )
