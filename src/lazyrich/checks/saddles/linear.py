"""Theorem 4, Lemma 6 and Eq. 9, 34–42: networks that are linear in their first layer."""

import itertools
import math
from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.core import CheckResult, check


def _data(seed: int, inputs: int, outputs: int, num_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated inputs, and outputs that are no linear function of them."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((num_samples, inputs)) @ rng.standard_normal((inputs, inputs))
    Y = Z @ rng.standard_normal((inputs, outputs)) + rng.standard_normal((num_samples, outputs))
    return Z, Y


def _loss_and_gradient(Z: np.ndarray, Y: np.ndarray) -> tuple[Any, Any, Any]:
    """Loss ½⟨‖y − Wz‖²⟩ of flat weights (U, V), gradient and Hessian, by automatic differentiation."""
    import jax
    import jax.numpy as jnp

    def loss(flat: Any, width: int) -> Any:
        split = Z.shape[1] * width
        first, second = flat[:split].reshape(-1, width), flat[split:].reshape(width, -1)
        return jnp.mean(jnp.sum((Z @ first @ second - Y) ** 2, axis=1)) / 2

    def at(function: Any) -> Any:
        compiled = jax.jit(function, static_argnums=1)

        def evaluate(flat: np.ndarray, width: int) -> np.ndarray:
            with jax.enable_x64(True):
                return np.asarray(compiled(jnp.asarray(flat), width))

        return evaluate

    return at(loss), at(jax.grad(loss)), at(jax.hessian(loss))


SHAPES = ((3, 2, 4), (2, 3, 3), (4, 4, 5), (5, 1, 2))
"""Inputs, outputs and units."""


@check(
    "saddles/eq9",
    "Gradient flow of a network that is linear in its first layer",
    against="automatic differentiation of the loss over samples",
)
def eq9() -> CheckResult:
    """Eq. 9, for the loss with ½."""
    errors = []
    for seed, (inputs, outputs, width) in enumerate(SHAPES):
        Z, Y = _data(seed, inputs, outputs, 20)
        rng = np.random.default_rng(seed)
        U, V = rng.standard_normal((inputs, width)), rng.standard_normal((width, outputs))
        gradient = _loss_and_gradient(Z, Y)[1](np.concatenate([U.ravel(), V.ravel()]), width)
        rest = Y.T @ Z / 20 - (U @ V).T @ Z.T @ Z / 20
        printed = -np.concatenate([(rest.T @ V.T).ravel(), (rest @ U).T.ravel()])
        errors.append(relative_gap(printed, gradient))
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "saddles/eq34",
    "Exact growth of small weights",
    against="Runge–Kutta integration of Eq. 10",
)
def eq34() -> CheckResult:
    """Eq. 34 and 35, more inputs than outputs and the other way round."""
    errors = []
    for seed, (inputs, outputs, width) in enumerate(SHAPES):
        rng = np.random.default_rng(seed)
        S = rng.standard_normal((outputs, inputs))
        U, V = rng.standard_normal((inputs, width)), rng.standard_normal((width, outputs))

        def velocity(t: float, flat: np.ndarray, S=S, split=V.size, inputs=inputs) -> np.ndarray:
            v, u = flat[:split].reshape(-1, S.shape[0]), flat[split:].reshape(-1, inputs)
            return np.concatenate([(u @ S.T).ravel(), (v @ S).ravel()])

        times = np.linspace(0, 2, 5)
        start = np.concatenate([V.ravel(), U.T.ravel()])
        flow = integrate(velocity, start, times, atol=1e-12)
        v = flow[:, : V.size].reshape(5, width, outputs)
        u = flow[:, V.size :].reshape(5, width, inputs)
        exact = np.concatenate([v, u], axis=-1)
        found = theory.LinearEscape(S, U, V).units(times)
        errors.append(relative_gap(found, exact))
        errors.append(_printed_solution(S, U, V, times, found))
    return CheckResult(max(errors), 1e-9, len(errors))


def _printed_solution(
    S: np.ndarray, U: np.ndarray, V: np.ndarray, times: Any, found: np.ndarray
) -> float:
    """Largest difference between Eq. 34 with Eq. 35 as they are printed and the library's solution."""
    Q, s, Rt = np.linalg.svd(S, full_matrices=False)
    theta = np.concatenate([V, U.T], axis=1)  # (units, outputs + inputs)
    c, b = (V @ Q + U.T @ Rt.T) / 2, (V @ Q - U.T @ Rt.T) / 2
    up, down = np.concatenate([Q, Rt.T]).T, np.concatenate([Q, -Rt.T]).T
    rest = theta - c @ up - b @ down
    printed = np.stack(
        [(c * np.exp(s * t)) @ up + (b * np.exp(-s * t)) @ down + rest for t in times]
    )
    return relative_gap(printed, found)


@check(
    "saddles/eq37",
    "Time to escape from the saddle at zero",
    against="Runge–Kutta integration of Eq. 10 until the projection of Eq. 11 has the size",
    seconds=2,
)
def eq37() -> CheckResult:
    """Eq. 37, with a largest singular value of multiplicity 1 and 2, until units are of size 0.1 and 1."""
    errors = []
    for values, size in (((3.0, 1.0, 0.5), 0.1), ((2.0, 2.0, 0.3), 0.1), ((1.0, 0.9, 0.1), 1.0)):
        escape = _escape(37, values, 1e-5)
        for unit, time in enumerate(escape.escape_time(size).time):
            errors.append(abs(float(time) / _integrated_escape(escape, unit, size) - 1))
    return CheckResult(max(errors), 1e-10, len(errors))


def _integrated_escape(escape: "theory.LinearEscape", unit: int, size: float) -> float:
    """When a unit's projection by the P of Eq. 11 has a size, under Eq. 10 by Runge–Kutta."""
    from scipy.integrate import solve_ivp

    S, outputs = np.asarray(escape.correlation), escape.correlation.shape[0]
    start = np.asarray(escape.start)[:, unit]
    Q, s, Rt = np.linalg.svd(S, full_matrices=False)
    winners = np.concatenate([Q, Rt.T])[:, s > s[0] * (1 - 1e-9)]
    P = winners @ winners.T / 2

    def velocity(t: float, theta: np.ndarray) -> np.ndarray:
        return np.concatenate([S @ theta[outputs:], S.T @ theta[:outputs]])

    def is_large(t: float, theta: np.ndarray) -> float:
        return np.log(np.linalg.norm(P @ theta) / size)

    is_large.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    flow = solve_ivp(
        velocity, (0, 100), start, method="DOP853", events=is_large, rtol=1e-13, atol=1e-20
    )
    return float(flow.t_events[0][0])


def _escape(seed: int, values: Any, scale: float, width: int = 4) -> "theory.LinearEscape":
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((4, 3)))[0]
    R = np.linalg.qr(rng.standard_normal((5, 3)))[0]
    first, second = (scale * rng.standard_normal(shape) for shape in ((5, width), (width, 4)))
    return theory.LinearEscape((Q * values) @ R.T, first, second)


@check(
    "saddles/eq39",
    "How small the rest is when the winning directions are large",
    against="Taylor series of the flow of Eq. 10 at 300 digits: slope between ε = 1e-60 and 1e-120",
    seconds=2,
)
def eq39() -> CheckResult:
    """Eq. 39: the rest is of order ε to the power 1 − s_{r+1}/s₁; and what `misaligned` says it is."""
    errors = []
    for values in ((3.0, 1.0, 0.5), (2.0, 2.0, 0.3), (1.0, 0.9, 0.1), (1.0, 0.0, 0.0)):
        power = 1 - next((s for s in values if s < values[0]), 0.0) / values[0]
        logs = []
        for scale in (1e-60, 1e-120):
            escape = _escape(39, values, scale)
            time, log_rest = _rest_at_escape(escape, values[0])
            logs.append(log_rest)
            errors.append(abs(math.log(float(escape.misaligned(time)[0])) - log_rest))
        errors.append(abs((logs[0] - logs[1]) / (60 * math.log(10)) - power))
        errors.append(abs(float(escape.misalignment_exponent) - power))
    return CheckResult(max(errors), 1e-9, len(errors))


def _rest_at_escape(escape: "theory.LinearEscape", largest: float) -> tuple[float, float]:
    """When the winning part of the first unit is about 1, and the logarithm of its rest then.

    The rest is many orders smaller than what it stands beside, hence the digits.
    """
    import mpmath

    with mpmath.workdps(300):
        M = mpmath.matrix(_blocks(np.asarray(escape.correlation)).tolist())
        theta = mpmath.matrix(np.asarray(escape.start)[:, 0].tolist())
        growth, V = mpmath.eigsy(M)
        wins = [k for k in range(M.rows) if growth[k] > largest * (1 - 1e-9)]
        winners = V[:, wins[0] : wins[-1] + 1]
        time = float(-mpmath.log(mpmath.norm(winners.T * theta)) / largest)
        later = mpmath.expm(M * mpmath.mpf(time), method="taylor") * theta
        return time, float(mpmath.log(mpmath.norm(later - winners * (winners.T * later))))


@check(
    "saddles/thm4",
    "Small weights align with the directions of the largest singular value",
    against="gradient flow of the whole loss, by Runge–Kutta, until the first unit is of size 1e-3",
    seconds=4,
)
def thm4() -> CheckResult:
    """Theorem 4 for the true dynamics of Eq. 9: the rest is of order ε to the power 1 − s_{r+1}/s₁.

    The error is that of the power, read off the rest at neighbouring scales. The term WΣ_zz that the theorem
    leaves out adds a rest of order size³ at any ε, so that the size at which we look must be small.
    """
    scales = (1e-5, 1e-6, 1e-7, 1e-8)
    logs = [math.log(_rest_of_whole_flow(scale, size=1e-3)) for scale in scales]
    powers = np.diff(logs) / np.diff(np.log(scales))
    return CheckResult(np.max(np.abs(powers - (1 - WHOLE[1] / WHOLE[0]))), 0.02, len(powers))


WHOLE = (2.0, 0.8, 0.4)
"""Singular values for the whole dynamics."""


def _blocks(S: np.ndarray) -> np.ndarray:
    return np.block([[np.zeros((S.shape[0],) * 2), S], [S.T, np.zeros((S.shape[1],) * 2)]])


def _rest_of_whole_flow(scale: float, size: float) -> float:
    """Length of the largest rest under Eq. 9 at the moment when the largest unit has a size."""
    from scipy.integrate import solve_ivp

    escape = _escape(4, WHOLE, scale)
    S, outputs = np.asarray(escape.correlation), 4
    covariance = np.diag([1.0, 2.0, 0.5, 1.5, 1.0])

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        units = flat.reshape(-1, 9)
        v, u = units[:, :outputs], units[:, outputs:]
        rest = S - (v.T @ u) @ covariance
        return np.concatenate([u @ rest.T, v @ rest], axis=1).ravel()

    def is_large(t: float, flat: np.ndarray) -> float:
        return np.linalg.norm(flat.reshape(-1, 9), axis=1).max() - size

    is_large.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    start = escape.units(0.0).ravel()
    flow = solve_ivp(
        velocity, (0, 100), start, method="DOP853", events=is_large, rtol=1e-10, atol=1e-20
    )
    growth, V = np.linalg.eigh(_blocks(S))
    rest = flow.y_events[0][0].reshape(-1, 9) @ V[:, growth < growth[-1] * (1 - 1e-9)]
    return float(np.linalg.norm(rest, axis=1).max())


@check(
    "saddles/lemma6",
    "All fixed points of a linear network: map, loss, and Hessian index",
    against="automatic differentiation of the loss over samples, every set of modes, random mixing of units",
    seconds=10,
)
def lemma6() -> CheckResult:
    """Lemma 6: the weights have no gradient, and the map, loss and number of descending directions are as
    stated.

    That there is no other is tried from random starts: where the gradient vanishes, the map is one of these.
    """
    errors = []
    for seed, (inputs, outputs, width) in enumerate(SHAPES):
        Z, Y = _data(seed, inputs, outputs, 30)
        power = np.mean(np.sum(Y**2, axis=1))
        points = theory.LinearFixedPoints(Y.T @ Z / 30, Z.T @ Z / 30, power)
        loss, gradient, hessian = _loss_and_gradient(Z, Y)
        mixing = np.random.default_rng(seed).standard_normal((width, width))
        for modes in _sets(points.num_modes, width):
            weights = points.weights(modes, width, mixing)
            flat = np.concatenate([weights.first.ravel(), weights.second.ravel()])
            scale = np.abs(points.correlation).max() * np.abs(flat).max()
            errors.append(np.abs(gradient(flat, width)).max() / max(scale, 1))
            errors.append(abs(float(loss(flat, width)) / float(points.loss(modes)) - 1))
            eigenvalues = np.linalg.eigvalsh(hessian(flat, width))
            negative = int(np.sum(eigenvalues < -1e-9 * np.abs(eigenvalues).max()))
            errors.append(abs(negative - points.hessian_index(modes, width)))
    errors += _found_maps()
    return CheckResult(max(errors), 1e-9, len(errors))


def _found_maps() -> list[float]:
    """How far the maps of fixed points found by Gauss–Newton on the gradient are from stated ones."""
    from scipy.optimize import least_squares

    Z, Y = _data(6, 3, 2, 30)
    points = theory.LinearFixedPoints(Y.T @ Z / 30, Z.T @ Z / 30)
    stated = [points.map(modes) for modes in ((), (0,), (1,), (0, 1))]
    _, gradient, hessian = _loss_and_gradient(Z, Y)
    distances, reached = [], set()
    for seed in range(12):
        start = np.random.default_rng(seed).standard_normal(10)
        end: Any = least_squares(
            lambda x: gradient(x, 2), start, xtol=1e-15, ftol=1e-15, gtol=1e-15,
            jac=lambda x: hessian(x, 2),  # pyright: ignore[reportArgumentType]
        )  # fmt: skip
        if np.abs(end.fun).max() < 1e-11:
            found = (end.x[:6].reshape(3, 2) @ end.x[6:].reshape(2, 2)).T
            gaps = [np.abs(found - W).max() for W in stated]
            distances.append(
                float(min(gaps)) * 1e-3
            )  # a gradient of 1e-11 leaves the map less exact
            reached.add(int(np.argmin(gaps)))
    return [*distances, 0.0 if len(reached) > 1 else 1.0]


@check(
    "saddles/eq42",
    "What drives the escape from a fixed point",
    against="the gradient's derivative in the direction of unused units, by automatic differentiation",
)
def eq42() -> CheckResult:
    """Eq. 42: near a fixed point, of any set of modes, unused units grow with the projected correlation."""
    errors = []
    for seed, (inputs, outputs, width) in enumerate(SHAPES):
        Z, Y = _data(seed, inputs, outputs, 30)
        S, C = Y.T @ Z / 30, Z.T @ Z / 30
        points, hessian = theory.LinearFixedPoints(S, C), _loss_and_gradient(Z, Y)[2]
        E = np.linalg.eigh(S @ np.linalg.solve(C, S.T))[1][:, ::-1]
        first = np.arange(inputs * width).reshape(inputs, width)[:, -1]
        second = inputs * width + np.arange(width * outputs).reshape(width, outputs)[-1]
        for modes in _sets(points.num_modes, width - 1):
            weights = points.weights(modes, width)
            H = hessian(np.concatenate([weights.first.ravel(), weights.second.ravel()]), width)
            found = -H[np.ix_(second, first)]  # dv̇/du of the last unit, which is not used
            left = np.delete(E, modes, axis=1)
            for value in (points.residual_correlation(modes), left @ left.T @ S):
                errors.append(np.abs(found - value).max() / np.abs(S).max())
            errors.append(np.abs(H[np.ix_(first, first)]).max() / np.abs(S).max())
            errors.append(abs(points.escape_rate(modes) - np.linalg.norm(found, 2)))
    return CheckResult(float(max(errors)), 1e-10, len(errors))


def _sets(num_modes: int, most: int) -> list[tuple[int, ...]]:
    """All sets of at most so many modes."""
    return [
        modes
        for number in range(min(num_modes, most) + 1)
        for modes in itertools.combinations(range(num_modes), number)
    ]
