"""Eq. 17, 18 and 40–42: a hidden layer."""

import math
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import relative_gap, two_layer_flow
from lazyrich.checks.linear_grokking import _oracles
from lazyrich.core import CheckResult, check

SHAPES = ((6, 9, 4, 2), (8, 8, 12, 3), (9, 5, 20, 1))
"""Inputs, samples, width and outputs."""


def _instance(seed: int, d_in: int, num_samples: int, width: int, d_out: int) -> dict[str, Any]:
    """Covariance Σ, student layers S0, S1 and the product T of the teacher's, drawn as in Sec. 4.1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((num_samples, d_in))
    first, second = (2 * d_in * width) ** -0.5, (2 * d_out * width) ** -0.5
    layers = [
        scale * rng.standard_normal(shape)
        for scale, shape in ((first, (d_in, width)), (second, (width, d_out))) * 2
    ]
    return {"X": X, "Sigma": X.T @ X / num_samples, "S0": layers[0], "S1": layers[1],
            "T": layers[2] @ layers[3]}  # fmt: skip


def _gradients(X: np.ndarray, S0: np.ndarray, S1: np.ndarray, T: np.ndarray) -> Any:
    """Gradient of the loss of Eq. 39, summed over samples, by automatic differentiation."""
    import jax
    import jax.numpy as jnp

    def loss(layers: Any) -> Any:
        errors = X @ layers[0] @ layers[1] - X @ T
        return jnp.sum(errors**2) / (len(X) * T.shape[1])

    with jax.enable_x64(True):
        return [np.asarray(g) for g in jax.grad(loss)((jnp.asarray(S0), jnp.asarray(S1)))]


@check(
    "linear-grokking/eq40",
    "Gradient flow of two linear layers",
    against="automatic differentiation of the loss summed over samples and outputs",
)
def eq40() -> CheckResult:
    """Eq. 40."""
    errors = []
    for seed, shape in enumerate(SHAPES):
        X, Sigma, S0, S1, T = _instance(seed, *shape).values()
        D = S0 @ S1 - T
        printed = 2 / T.shape[1] * Sigma @ D @ S1.T, 2 / T.shape[1] * S0.T @ Sigma @ D
        for found, form in zip(_gradients(X, S0, S1, T), printed, strict=True):
            errors.append(relative_gap(form, found))
    return CheckResult(max(errors), 1e-12, len(errors))


def _kernel_rates(seed: int, shape: Any) -> tuple[float, float, float]:
    """dh/dt along the flow at η = 1, the corrected form, and the printed one (with a trace, as it must)."""
    X, Sigma, S0, S1, T = _instance(seed, *shape).values()
    G0, G1 = _gradients(X, S0, S1, T)
    trace = np.trace((S0 @ S1).T @ Sigma @ (S0 @ S1 - T))
    return -np.sum(S0 * G0) - np.sum(S1 * G1), -4 / T.shape[1] * trace, -8 * trace


def _size(d_in: int, width: int, d_out: int) -> float:
    """What wide networks lack: fluctuations of S1ᵀS1, and S0S0ᵀ beside it."""
    return math.sqrt(d_out / width) + d_out / d_in


def _velocity_error(seed: int, d_in: int, width: int, d_out: int) -> float:
    """‖Ḋ + 2ηhΣD/d_out²‖/‖Ḋ‖ at the start, in units of what a network of this size may lack."""
    X, Sigma, S0, S1, T = _instance(seed, d_in, 2 * d_in, width, d_out).values()
    G0, G1 = _gradients(X, S0, S1, T)
    h = (np.sum(S0**2) + np.sum(S1**2)) / 2
    velocity, printed = -(S0 @ G1 + G0 @ S1), -2 * h / d_out**2 * Sigma @ (S0 @ S1 - T)
    error = np.linalg.norm(velocity - printed) / np.linalg.norm(velocity)
    return float(error) / _size(d_in, width, d_out)


@check(
    "linear-grokking/eq17",
    "Coupled equations for the difference and the kernel of two linear layers",
    against="automatic differentiation of the loss along its own gradient flow, up to width 10⁵",
)
def eq17() -> CheckResult:
    """Eq. 17: the equation for D is the limit of wide networks; that for h has a wrong factor.

    ḣ = −(4η/d_out) Tr[(T + D)ᵀΣD] holds at any width; its error counts in units of 10⁻¹². Ḋ's counts in
    units of √(d_out/d_h) + d_out/d_in: bounded in these units, it vanishes for wide networks with many
    inputs.
    """
    errors, printed = [], []
    for seed, shape in enumerate(SHAPES):
        rate, corrected, form = _kernel_rates(seed, shape)
        errors.append(abs(corrected / rate - 1) / 1e-12)
        printed.append(abs(form / rate - 1) / 1e-12)
    sizes = ((50, 500, 3), (200, 5000, 3), (800, 20_000, 3))
    errors += [_velocity_error(seed, *size) for seed, size in enumerate(sizes)]
    return CheckResult(
        max(errors), 2.0, len(errors), printed_error=min(printed),
        correction="ḣ = −(4η/d_out) Tr[(T + D)ᵀΣD]: the printed −8η(T + D)ᵀΣD lacks the trace and is too "
        "large by 2 d_out",
    )  # fmt: skip


@check(
    "linear-grokking/eq41",
    "The same equations in the appendix, with the kernel as half the trace of the Hessian",
    against="automatic differentiation: dh/dt along the flow, and the trace of the whole Hessian",
)
def eq41() -> CheckResult:
    """Eq. 41 repeats Eq. 17; besides, h is not half the trace of the Hessian.

    That trace is 2[Tr Σ·‖S1‖² + d_out Tr(S0ᵀΣS0)]/d_out: the loss is quadratic in either layer.
    """
    errors, printed = [], []
    for seed, shape in enumerate(SHAPES):
        rate, corrected, _ = _kernel_rates(seed, shape)
        errors.append(abs(corrected / rate - 1))
        X, Sigma, S0, S1, T = _instance(seed, *shape).values()
        d_out, trace = T.shape[1], _hessian_trace(X, S0, S1, T)
        right = 2 * (np.trace(Sigma) * np.sum(S1**2) / d_out + np.trace(S0.T @ Sigma @ S0))
        errors.append(abs(right / trace - 1))
        printed.append(abs((np.sum(S0**2) + np.sum(S1**2)) / trace - 1))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=min(printed),
        correction="ḣ as for Eq. 17; h = (‖S0‖² + ‖S1‖²)/2 is not Tr[H]/2, which is "
        "Tr Σ·‖S1‖²/d_out + Tr(S0ᵀΣS0), about d_in/d_out times larger",
    )  # fmt: skip


def _hessian_trace(X: np.ndarray, S0: np.ndarray, S1: np.ndarray, T: np.ndarray) -> float:
    import jax
    import jax.numpy as jnp

    def loss(flat: Any) -> Any:
        first, second = flat[: S0.size].reshape(S0.shape), flat[S0.size :].reshape(S1.shape)
        return jnp.sum((X @ first @ second - X @ T) ** 2) / (len(X) * T.shape[1])

    with jax.enable_x64(True):
        flat = jnp.concatenate([jnp.ravel(S0), jnp.ravel(S1)])
        return float(jnp.trace(jax.hessian(loss)(flat)))


def _integrated_losses(d_in: int, width: int, d_out: int, times: np.ndarray) -> Any:
    """Losses of a network by Runge–Kutta on Eq. 40 with η = 1, and the Σ and D₀ it began with."""
    _, Sigma, S0, S1, T = _instance(18, d_in, 2 * d_in, width, d_out).values()
    slopes = 2 / d_out * Sigma  # of a loss without ½ that is averaged over outputs
    A, B = two_layer_flow(slopes @ T, S0, S1, times, covariance=slopes, rtol=1e-7, atol=1e-10)
    D = A @ B - T
    losses = [(np.trace(d.T @ Sigma @ d) / d_out, np.sum(d**2) / d_out) for d in D]
    return np.array(losses), Sigma, S0 @ S1 - T


def _fixed_kernel(d_in: int, width: int, d_out: int) -> tuple[list[float], list[float]]:
    """Relative errors of the corrected Eq. 18 in units of `_size`, and those of the printed form."""
    times = np.array([0.0, 2.0, 8.0]) * d_out**2 / 2
    losses, Sigma, D0 = _integrated_losses(d_in, width, d_out, times)
    flows = [theory.LinearFlow(Sigma, column, 1 / (2 * d_out**2)) for column in D0.T]
    one_layer = [
        sum(getattr(flow, f"{kind}_loss")(times) for flow in flows) for kind in ("train", "test")
    ]
    printed = np.stack(one_layer, axis=1)  # ‖D₀‖² times the loss of one layer and one output
    units = [
        np.abs(form / losses - 1) / _size(d_in, width, d_out) for form in (printed / d_out, printed)
    ]
    return units[0].ravel().tolist(), units[1].ravel().tolist()


@check(
    "linear-grokking/eq18",
    "Losses of two linear layers at a fixed kernel",
    against="Runge–Kutta integration of Eq. 40 (error in units of √(d_out/d_h) + d_out/d_in)",
    seconds=6,
)
def eq18() -> CheckResult:
    """Eq. 18 lacks the 1/d_out of Eq. 39; its rate η/2d_out² is the limit of wide networks.

    The error is bounded in units of what such networks may lack, at two sizes.
    """
    errors, printed = [], []
    for size in ((60, 600, 2), (240, 4800, 2)):
        found, form = _fixed_kernel(*size)
        errors += found
        printed += form
    return CheckResult(
        max(errors), 2.0, len(errors), printed_error=min(printed),
        correction="the loss is ‖D₀‖²/d_out times that of one layer and one output: printed d_out times too "
        "large",
    )  # fmt: skip


@check(
    "linear-grokking/eq42",
    "Losses and accuracies of two linear layers at a fixed kernel",
    against="quadrature of the density at 30 digits, rate and size from Eq. 39 and 40; "
    "SciPy's χ² distribution",
    seconds=2,
)
def eq42() -> CheckResult:
    """Eq. 42 repeats Eq. 18 and, for the accuracy, Eq. 12. E‖D₀‖² = 1/2d_h, and 1/d_out is lacking."""
    from scipy import stats

    errors, printed = [], []
    for ratio, width, d_out in ((0.3, 100, 2), (0.9, 400, 5)):
        m = theory.TwoLayerGrokking(ratio, width, 1.0, 1e-3, output_dimension=d_out)
        for t in np.array([0.0, 1.0, 30.0]) * d_out**2:
            s = 2 * t / d_out**2  # D decays at 2η·S1ᵀS1·ν/d_out = ην/d_out², the loss twice as fast
            for weighted, kind in ((True, "train"), (False, "test")):
                one_layer = math.exp(float(_oracles.log_loss(ratio, s, weighted=weighted)))
                loss = one_layer / (2 * width * d_out)
                errors.append(abs(getattr(m, f"{kind}_loss")(t) / loss - 1))
                share = stats.chi2.cdf(d_out * 1e-3 / loss, d_out)
                errors.append(abs(getattr(m, f"{kind}_accuracy")(t) - share))
                printed.append(abs(one_layer / (2 * width) / loss - 1))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=min(printed),
        correction="as Eq. 18: the losses lack a factor 1/d_out; the accuracy is right with the losses "
        "mended",
    )  # fmt: skip
