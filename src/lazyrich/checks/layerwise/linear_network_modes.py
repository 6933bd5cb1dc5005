"""Eq. 12 and 49–59: modes of the linear network on whitened inputs."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import relative_gap, two_layer_flow
from lazyrich.checks.layerwise._instances import TIMES, half_loss, slope
from lazyrich.checks.layerwise._linear_instances import Aligned, aligned_cases, networks
from lazyrich.core import CheckResult, check


@check(
    "layerwise/eq49",
    "Singular value decomposition of the correlation",
    against="the correlation over samples",
)
def eq49() -> CheckResult:
    """UᵀPV with orthonormal rows; Sec. 5 writes UPV for the same, with orthonormal columns of U."""
    errors = []
    for a in aligned_cases():
        errors += [
            relative_gap(a.U.T @ a.P @ a.V, a.X.T @ a.Y / len(a.X)),
            relative_gap(a.U @ a.U.T, np.eye(len(a.P))),
        ]
        columns = a.U.T
        errors.append(relative_gap(columns @ a.P @ a.V, a.C))
        # u_i and v_i of Eq. 12 are then columns of U and rows of V
        each = [columns[:, i] @ a.C @ a.V[i] for i in range(len(a.P))]
        errors.append(relative_gap(np.array(each), np.diag(a.P)))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq50",
    "The aligned start is balanced",
    against="the weights' products; Runge–Kutta integration",
)
def eq50() -> CheckResult:
    """At the start and later. R is printed as c × c, for a width p = c; c × p is right for any width."""
    errors = []
    for a in aligned_cases():
        errors.append(np.max(np.abs(a.W1.T @ a.W1 - a.W2 @ a.W2.T)))
        one, two = two_layer_flow(a.C, a.W1, a.W2, TIMES)
        errors.append(np.max(np.abs(np.swapaxes(one, 1, 2) @ one - two @ np.swapaxes(two, 1, 2))))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq51",
    "Layers in the basis of the modes",
    against="the start, which is diagonal there",
)
def eq51() -> CheckResult:
    """At the start both are A."""
    errors = []
    for a in aligned_cases():
        errors += [relative_gap(a.U @ a.W1 @ a.R.T, a.A), relative_gap(a.R @ a.W2 @ a.V.T, a.A)]
    return CheckResult(max(errors), 1e-12, len(errors))


def _velocities(a: Aligned) -> tuple[np.ndarray, np.ndarray]:
    """dW₁/dt and dW₂/dt, by differences of the loss over samples."""
    one = -slope(lambda W: half_loss(a.X @ W @ a.W2, a.Y), a.W1)
    two = -slope(lambda W: half_loss(a.X @ a.W1 @ W, a.Y), a.W2)
    return one, two


@check(
    "layerwise/eq52",
    "Velocity of the first layer on whitened inputs",
    against="differences of the loss",
)
def eq52() -> CheckResult:
    """Both right-hand sides, the first also without whitening."""
    errors = []
    for net in networks():
        moment, correlation = net.X.T @ net.X / 20, net.X.T @ net.Y / 20
        velocity = -moment @ net.W1 @ net.W2 @ net.W2.T + correlation @ net.W2.T
        errors.append(relative_gap(velocity, -net.of_W1))
    for a in aligned_cases():
        second = -a.W1 @ a.W2 @ a.W2.T + a.U.T @ a.P @ a.V @ a.W2.T
        errors.append(relative_gap(second, _velocities(a)[0]))
    return CheckResult(max(errors), 1e-12, len(errors))


@check("layerwise/eq53", "The same in the basis of the modes", against="differences of the loss")
def eq53() -> CheckResult:
    """With all factors written out; on the aligned weights RᵀR acts as 1 for a width beyond the modes."""
    errors = []
    for a in aligned_cases():
        exact = a.U @ _velocities(a)[0] @ a.R.T
        one, two = a.U @ a.W1 @ a.R.T, a.R @ a.W2 @ a.V.T
        written = -one @ two @ (a.V @ a.W2.T @ a.R.T) + (a.U @ a.U.T) @ a.P @ (a.V @ a.W2.T @ a.R.T)
        errors.append(relative_gap(written, exact))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq54", "Velocity of the first layer in that basis", against="differences of the loss"
)
def eq54() -> CheckResult:
    """The short form of Eq. 53."""
    errors = []
    for a in aligned_cases():
        one, two = a.U @ a.W1 @ a.R.T, a.R @ a.W2 @ a.V.T
        errors.append(
            relative_gap(-one @ two @ two.T + a.P @ two.T, a.U @ _velocities(a)[0] @ a.R.T)
        )
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq55",
    "Velocity of the second layer in that basis",
    against="differences of the loss",
)
def eq55() -> CheckResult:
    """As for the first."""
    errors = []
    for a in aligned_cases():
        one, two = a.U @ a.W1 @ a.R.T, a.R @ a.W2 @ a.V.T
        errors.append(
            relative_gap(-one.T @ one @ two + one.T @ a.P, a.R @ _velocities(a)[1] @ a.V.T)
        )
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq56",
    "Both layers are equal and diagonal in that basis at all times",
    against="Runge–Kutta integration",
)
def eq56() -> CheckResult:
    """The conserved matrix in that basis, the difference of the two, and what lies off the diagonal."""
    errors = []
    for a in aligned_cases():
        W1, W2 = two_layer_flow(a.C, a.W1, a.W2, TIMES)
        one, two = a.U @ W1 @ a.R.T, a.R @ W2 @ a.V.T
        kept = np.swapaxes(one, 1, 2) @ one - two @ np.swapaxes(two, 1, 2)
        rotated = a.R @ (np.swapaxes(W1, 1, 2) @ W1 - W2 @ np.swapaxes(W2, 1, 2)) @ a.R.T
        off = one * (1 - np.eye(len(a.P)))
        errors += [np.max(np.abs(x)) for x in (kept, kept - rotated, one - two, off)]
    return CheckResult(max(errors), 1e-9, len(errors))


def _strengths(a: Aligned) -> np.ndarray:
    """The diagonal of the first layer in the basis of the modes over time, by integration."""
    W1, _ = two_layer_flow(a.C, a.W1, a.W2, TIMES)
    return np.einsum("mi,tij,mj->tm", a.U, W1, a.R)


@check("layerwise/eq57", "Flow of a layer's singular value", against="differences of the loss")
def eq57() -> CheckResult:
    """On the aligned start, of any size, not only a small one."""
    errors = []
    for a in aligned_cases():
        alpha, rho = np.diag(a.A), np.diag(a.P)
        exact = np.diag(a.U @ _velocities(a)[0] @ a.R.T)
        errors.append(relative_gap(-(alpha**3) + rho * alpha, exact))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "layerwise/eq58",
    "Sigmoidal saturation of modes",
    against="Runge–Kutta integration of both layers",
)
def eq58() -> CheckResult:
    """α is the singular value of one layer here; starts below and above ρ."""
    errors, cases = [], 0
    for a in aligned_cases():
        exact, rho, start = _strengths(a) ** 2, np.diag(a.P), np.diag(a.A) ** 2
        printed = rho / (1 + (rho / start - 1) * np.exp(-2 * rho * TIMES[:, None]))
        library = theory.LinearNetworkModes.from_weights(a.C.T, [a.W1, a.W2]).modes(TIMES)
        errors += [np.max(np.abs(form / exact - 1)) for form in (printed, library)]
        cases += 2 * exact.size
    return CheckResult(max(errors), 1e-9, cases)


@check(
    "layerwise/eq59", "The product of the layers", against="Runge–Kutta integration of both layers"
)
def eq59() -> CheckResult:
    """As a matrix; and the loss that follows."""
    errors = []
    for a in aligned_cases():
        W1, W2 = two_layer_flow(a.C, a.W1, a.W2, TIMES)
        power = np.mean(np.sum(a.Y**2, axis=1))
        network = theory.LinearNetworkModes.from_weights(
            a.C.T, [a.W1, a.W2], covariance=a.X.T @ a.X / len(a.X), output_power=power
        )
        losses = [half_loss(a.X @ one @ two, a.Y) for one, two in zip(W1, W2, strict=True)]
        errors += [
            relative_gap(network.product(TIMES), W1 @ W2),
            relative_gap(network.loss(TIMES), losses),
        ]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq12",
    "Modes of the linear network",
    against="Runge–Kutta integration of both layers",
)
def eq12() -> CheckResult:
    """The formula is for α² = uᵀW₁W₂v, as App. C.4 has it; Sec. 5.1 defines α as that product itself."""
    errors, printed = [], []
    for a in aligned_cases():
        W1, W2 = two_layer_flow(a.C, a.W1, a.W2, TIMES)
        product = np.einsum("mi,tij,mj->tm", a.U, W1 @ W2, a.V)  # u_iᵀ W₁W₂ v_i
        rho = np.diag(a.P)
        for form, found in ((product, errors), (product**2, printed)):
            sigmoid = 1 / (1 + (rho / form[0] - 1) * np.exp(-2 * rho * TIMES[:, None]))
            found.append(relative_gap(sigmoid, form / rho))
        modes = theory.LinearNetworkModes(a.C.T, product[0]).modes(TIMES)
        errors.append(np.max(np.abs(modes / product - 1)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="u_iᵀW₁W₂v_i is α_i², not α_i: α_i is the singular value of a single layer",
    )  # fmt: skip
