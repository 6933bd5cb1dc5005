"""Eq. 13–16 and 43–54: networks that are quadratic in their first layer, and the simplest race."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate, relative_gap
from lazyrich.checks.saddles._quadratic_flow import Layer, layers, particle, record
from lazyrich.core import CheckResult, check


def _features(seed: int, kind: str, dimension: int = 3, num_samples: int = 12) -> tuple[Any, Any]:
    """Z(x) for each sample: xxᵀ, any symmetric function, or any function at all; and outputs."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((num_samples, dimension))
    Z = x[:, :, None] * x[:, None, :]
    if kind != "quadratic":
        Z = np.tanh(Z) * x[:, :1, None] + rng.standard_normal(Z.shape)
    if kind == "symmetric":
        Z = Z + np.swapaxes(Z, 1, 2)
    return Z, rng.standard_normal(num_samples)


def _weights(seed: int, scale: float = 1.0, num_units: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """First layer with rows u_i, and second layer."""
    rng = np.random.default_rng(100 + seed)
    return scale * rng.standard_normal((num_units, 3)), scale * rng.standard_normal(num_units)


def _descent(
    Z: np.ndarray, y: np.ndarray, U: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minus the gradient of ½⟨(y − Σ v uᵀZu)²⟩ by automatic differentiation: for v, and for rows u."""
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):

        def loss(U: Any, v: Any) -> Any:
            return jnp.mean((y - jnp.einsum("i,ia,nab,ib->n", v, U, Z, U)) ** 2) / 2

        for_u, for_v = jax.grad(loss, argnums=(0, 1))(jnp.asarray(U), jnp.asarray(v))
        return -np.asarray(for_v), -np.asarray(for_u)


def _largest_gap(found: Any, exact: Any) -> float:
    return max(relative_gap(a, b) for a, b in zip(found, exact, strict=True))


@check(
    "saddles/eq14",
    "Small weights of a quadratic layer, and their exact solution",
    against="automatic differentiation of the loss at small weights, and Runge–Kutta integration of Eq. 14",
    seconds=3,
)
def eq14() -> CheckResult:
    """Eq. 14 is the gradient of weights of order ε up to a share of ε³; its solution is exact."""
    errors = []
    for kind in ("quadratic", "symmetric"):
        Z, y = _features(14, kind)
        U, v = _weights(14, scale=1e-5)
        S = np.mean(y[:, None, None] * Z, axis=0)
        printed = np.einsum("ia,ab,ib->i", U, S, U), 2 * v[:, None] * U @ S
        errors.append(_largest_gap(printed, _descent(Z, y, U, v)))
    for one in layers():
        escape = theory.QuadraticEscape(*one)
        for unit in range(one.num_units):
            flow = record(one, unit)
            found = escape.units(flow.time)[:, unit]
            errors.append(relative_gap(found, flow.states))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "saddles/eq15",
    "Growth like the square of a weight",
    against="Runge–Kutta integration of v̇ = vᵖ, p = 1 to 4, positive and negative starts",
)
def eq15() -> CheckResult:
    """Eq. 15, and its like for the other degrees of Sec. 5.2."""
    errors = []
    for degree in (1, 2, 3, 4):
        start = np.array([0.3, 0.5, -0.4, -0.2])
        escape = theory.PowerEscape(start, degree)
        end = 0.9 * min(float(escape.blow_up_time().time.min()), 3.0)
        times = np.linspace(0, end, 6)
        flow = integrate(lambda t, v, p=degree: v**p, start, times, atol=1e-14)
        errors.append(np.max(np.abs(escape.units(times) / flow - 1)))
        if degree == 2:
            errors.append(np.max(np.abs(1 / (1 / start - times[:, None]) / flow - 1)))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "saddles/eq16",
    "The other weights when the largest has a given value",
    against="Runge–Kutta integration of all of them together",
)
def eq16() -> CheckResult:
    """Eq. 16, and its like for p = 3 and 4. The larger p, the less the others have grown by then."""
    errors, growth = [], []
    start = np.array([1.0, 0.9, 0.5, -0.7]) * 1e-2
    for degree in (2, 3, 4):
        escape = theory.PowerEscape(start, degree)
        end = float(escape.blow_up_time().time.min()) * (1 - 1e-3)
        others = integrate(lambda t, v, p=degree: v**p, start, end, atol=1e-17)
        leader = others[0]
        errors.append(np.max(np.abs(escape.relative(start[0], leader) / others - 1)))
        growth.append(others[1] / start[1])
        if degree == 2:
            printed = 1 / ((start[0] / start - 1) / start[0] + 1 / leader)
            errors.append(np.max(np.abs(printed / others - 1)))
    errors.append(0.0 if growth == sorted(growth, reverse=True) else 1.0)
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "saddles/eq43",
    "The gradient of a quadratic layer, sample by sample, above Eq. 43",
    against="automatic differentiation of the loss over samples",
)
def eq43() -> CheckResult:
    """The lines for u̇_i above Eq. 43 have lost the factor v_i; the lines for v̇_i are right."""
    errors, printed_errors = [], []
    for kind in ("quadratic", "symmetric"):
        Z, y = _features(43, kind)
        U, v = _weights(43)
        rest = y - np.einsum("i,ia,nab,ib->n", v, U, Z, U)
        for_v = np.einsum("n,ia,nab,ib->i", rest, U, Z, U) / len(y)
        for_u = np.einsum("n,nab,ib->ia", rest, 2 * Z, U) / len(y)
        exact = _descent(Z, y, U, v)
        errors.append(_largest_gap((for_v, v[:, None] * for_u), exact))
        printed_errors.append(_largest_gap((for_v, for_u), exact))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(printed_errors),
        correction="u̇_i is v_i times the printed second line; in the third 2u_iᵀΣu_i should be 2v_iΣu_i",
    )  # fmt: skip


def _eq44(
    Z: np.ndarray, y: np.ndarray, U: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Eq. 43 and 44 as printed, with the row of Eq. 44b read as a column."""
    D = U.shape[1]
    flat = np.swapaxes(Z, 1, 2).reshape(len(y), -1)  # vec stacks columns
    S, ZZ = np.mean(y[:, None, None] * Z, axis=0), flat.T @ flat / len(y)
    drive = sum(v_j * np.kron(u_j, u_j) for v_j, u_j in zip(v, U, strict=True)) @ ZZ
    for_v = np.array([u @ S @ u - drive @ np.kron(u, u) for u in U])
    pairs = zip(v, U, strict=True)
    for_u = np.array([2 * a * (S @ u - drive @ np.kron(u[:, None], np.eye(D))) for a, u in pairs])
    return for_v, for_u


@check(
    "saddles/eq44",
    "Gradient flow of a network that is quadratic in its first layer",
    against="automatic differentiation of the loss over samples, for Z = xxᵀ and for any Z(x)",
)
def eq44() -> CheckResult:
    """Eq. 44 holds for symmetric Z(x), and for others with the symmetric part of Z in its place."""
    errors, printed_errors = [], []
    for kind in ("quadratic", "symmetric", "any"):
        Z, y = _features(44, kind)
        U, v = _weights(44)
        exact = _descent(Z, y, U, v)
        errors.append(_largest_gap(_eq44((Z + np.swapaxes(Z, 1, 2)) / 2, y, U, v), exact))
        printed_errors.append(_largest_gap(_eq44(Z, y, U, v), exact))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(printed_errors),
        correction="Eq. 44b holds for symmetric Z(x) only: take the symmetric part; its last term is a row",
    )  # fmt: skip


def _along(compare: Any) -> CheckResult:
    """The largest value of a comparison of the paper's coordinates along Runge–Kutta paths of Eq. 14."""
    errors = []
    for one in layers():
        for unit in range(one.num_units):
            start, R = particle(one, unit)
            flow = record(one, unit)
            v, a = flow.states[:, 0], flow.states[:, 1:] @ R / np.sqrt(2)
            errors.append(float(np.max(np.abs(compare(start, v, a)))))
    return CheckResult(max(errors), 1e-8, len(errors))


@check(
    "saddles/eq48",
    "A quadratic unit in the eigenvectors of the correlation",
    against="Runge–Kutta integration of Eq. 14, at half the time",
    seconds=2,
)
def eq48() -> CheckResult:
    """Eq. 46–48, by Runge–Kutta in both coordinates: time runs twice as fast as in Eq. 14."""
    errors = []
    for one in layers():
        for unit in range(one.num_units):
            start, R = particle(one, unit)
            flow = record(one, unit)

            def velocity(t: float, x: np.ndarray, s: np.ndarray = start.s) -> np.ndarray:
                return np.concatenate([[s @ x[1:] ** 2], x[0] * s * x[1:]])

            times = 2 * flow.time
            begin = np.concatenate([[start.v], start.a])
            found = integrate(velocity, begin, times, atol=1e-14)
            exact = np.concatenate(
                [flow.states[:, :1], flow.states[:, 1:] @ R / np.sqrt(2)], axis=1
            )
            errors.append(relative_gap(found, exact))
    return CheckResult(max(errors), 1e-8, len(errors))


@check(
    "saddles/eq49",
    "The rate of change of the conserved quantity",
    against="automatic differentiation of it along Eq. 14, at random weights",
)
def eq49() -> CheckResult:
    """Eq. 49: it vanishes; the error is relative to its two parts."""
    import jax

    errors = []
    for one in layers():
        for unit in range(one.num_units):
            S, u, v = one.correlation, one.first[:, unit], one.second[unit]
            with jax.enable_x64(True):
                for_v, for_u = jax.grad(lambda v, u: v**2 - u @ u / 2, argnums=(0, 1))(v, u)
            parts = float(for_v) * (u @ S @ u), np.asarray(for_u) @ (2 * v * S @ u)
            errors.append(abs(sum(parts)) / np.max(np.abs(parts)))
    return CheckResult(max(errors), 1e-13, len(errors))


@check(
    "saddles/eq50",
    "What a quadratic unit conserves",
    against="Runge–Kutta integration of Eq. 14",
    seconds=2,
)
def eq50() -> CheckResult:
    """Eq. 50, and `QuadraticEscape.conserved`."""
    along = _along(
        lambda start, v, a: (
            (v**2 - np.sum(a**2, 1) - start.v**2 + start.a @ start.a) / (v**2 + np.sum(a**2, 1))
        )
    )
    shipped = [theory.QuadraticEscape(*one).conserved - _conserved(one) for one in layers()]
    return CheckResult(max(along.error, float(np.max(np.abs(shipped)))), 1e-8, along.num_cases)


def _conserved(one: Layer) -> np.ndarray:
    starts = (particle(one, unit)[0] for unit in range(one.num_units))
    return np.array([start.v**2 - start.a @ start.a for start in starts])


@check(
    "saddles/eq51",
    "Logarithms of the parts of a unit grow in proportion to their eigenvalues",
    against="Runge–Kutta integration of Eq. 14",
    seconds=2,
)
def eq51() -> CheckResult:
    """Eq. 51 for all pairs; it needs eigenvalues other than 0."""

    def spread(start: Any, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return np.ptp(np.log(a / start.a) / start.s, axis=1)

    return _along(spread)


@check(
    "saddles/eq52",
    "Each part of a unit in terms of another",
    against="Runge–Kutta integration of Eq. 14",
    seconds=2,
)
def eq52() -> CheckResult:
    """Eq. 52 for all pairs; the error is relative to the unit's size."""

    def gap(start: Any, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        powers = start.s[:, None] / start.s  # (k, m)
        found = start.a[:, None] * (a / start.a)[:, None, :] ** powers
        return (found - a[:, :, None]) / np.linalg.norm(a, axis=1)[:, None, None]

    return _along(gap)


@check(
    "saddles/eq53",
    "By what factor each part of a unit has grown",
    against="Runge–Kutta integration of Eq. 14",
    seconds=2,
)
def eq53() -> CheckResult:
    """Eq. 53 defines π_k; `QuadraticEscape.growth` is it, without the parts, which may be 0."""
    errors = []
    for one in layers():
        shipped = theory.QuadraticEscape(*one)
        for unit in range(one.num_units):
            (start, R), flow = particle(one, unit), record(one, unit)
            grown = flow.states[:, 1:] @ R / np.sqrt(2) / start.a
            found = shipped.growth(flow.time)[:, unit]
            errors.append(float(np.max(np.abs(found - grown)) / np.max(np.abs(grown))))
    return CheckResult(max(errors), 1e-8, len(errors))


@check(
    "saddles/eq54",
    "The second layer's weight in terms of the growth of the first",
    against="Runge–Kutta integration of Eq. 14",
    seconds=2,
)
def eq54() -> CheckResult:
    """Eq. 54 for every m, also where v changes its sign."""

    def gap(start: Any, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        logs = np.log(a / start.a)
        found = [start.squared_speed(logs[:, m], m) for m in range(len(start.s))]
        return (np.array(found) - v**2) / (v**2 + np.sum(a**2, axis=1))

    return _along(gap)
