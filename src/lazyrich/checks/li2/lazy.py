"""Propositions 1–4, Lemma 11 and Eq. 3, 4, 55–60: a readout on fixed features."""

import numpy as np

from lazyrich import theory
from lazyrich.checks._oracles import integrate
from lazyrich.checks.li2._lazy_instances import (
    Instance,
    distance,
    flow,
    instances,
    random_instance,
    realisable_instance,
)
from lazyrich.core import CheckResult, check


def _readout(i: Instance, ridge: float = 0.0, scale: float = 1.0) -> "theory.LazyReadout":
    return theory.LazyReadout(*i, ridge=ridge, output_scale=scale, centring="none")


def _small(i: Instance, alpha: float) -> Instance:
    return i._replace(initial=alpha * i.initial)


def _signal(i: Instance) -> np.ndarray:
    return i.targets @ (i.targets.T @ i.features)


def _unit_rate(i: Instance) -> Instance:
    """With the largest singular value 1, so that times are comparable."""
    return i._replace(features=i.features / np.linalg.norm(i.features, 2))


@check(
    "li2/eq56",
    "The readout at any time",
    against="Runge–Kutta integration of the gradient",
)
def eq56() -> CheckResult:
    """Eq. 50–52 and 56; also with fewer samples than nodes, where the Gram matrix is singular."""
    errors, times = [], np.linspace(0, 3, 4)
    for number, raw in enumerate(instances()):
        i, decay, scale = _unit_rate(raw), (0.0, 0.2, 1.0)[number % 3], (1.0, 2.0)[number % 2]
        F, Y, V = i

        def velocity(t: float, v: np.ndarray, F=F, Y=Y, V=V, d=decay, b=scale) -> np.ndarray:
            v = v.reshape(V.shape)
            return (b * F.T @ (Y - b * F @ v) - d * v).ravel()

        exact = integrate(velocity, V, times, atol=1e-13).reshape(-1, *V.shape)
        errors.append(distance(_readout(i, decay, scale).weights(times), exact))
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "li2/prop1",
    "Size of the backpropagated gradient at the start",
    against="mean over 4000 random readouts",
)
def prop1() -> CheckResult:
    """It is as large as the targets, √n for one-hot labels; `printed` is the scaling with n, K and M."""
    shipped, printed, alpha = [], [], 0.05
    for number, (n, K, M) in enumerate(
        ((10, 4, 3), (40, 4, 3), (160, 4, 3), (40, 16, 3), (40, 4, 12))
    ):
        i = random_instance(n, K, M, number)
        labels = np.eye(M)[np.arange(n) % M]
        Y, rng = labels - labels.mean(axis=0), np.random.default_rng(number)
        V = alpha * rng.standard_normal((4000, K, M))
        G = np.einsum("snm,skm->snk", Y - np.einsum("nk,skm->snm", i.features, V), V)
        measured = np.sqrt(np.mean(np.sum(G**2, axis=(1, 2))))
        expected = theory.initial_gradient_norm(i.features, Y, alpha, centring="none")
        shipped.append(abs(expected / measured - 1))
        printed.append(measured / (alpha * np.sqrt(K * M)))
    return CheckResult(
        max(shipped), 0.03, len(shipped), printed_error=max(printed) / min(printed) - 1,
        correction="ε is α, and the norm is α√K‖Ỹ‖, which grows as √(Kn) and not as √(KM).",
    )  # fmt: skip


@check(
    "li2/eq3",
    "The signal at small times",
    against="orders of the rest in α and t, by the exponential of the system's matrix",
)
def eq3() -> CheckResult:
    """The rest is of order α at t = 0, of order αt in the slope, of order t² at α = 0."""
    errors = []
    for raw in instances():
        i = _unit_rate(raw)
        S = _signal(i)

        def rest(alpha: float, t: float, i: Instance = i, S: np.ndarray = S) -> float:
            return float(np.linalg.norm(flow(_small(i, alpha), t, 0.1)[2] - t * S))

        def slope(alpha: float, i: Instance = i, S: np.ndarray = S) -> float:
            up, down = (flow(_small(i, alpha), t, 0.1)[2] for t in (1e-4, -1e-4))
            return float(np.linalg.norm((up - down) / 2e-4 - S))

        errors += [
            abs(np.log10(rest(1e-3, 0) / rest(1e-4, 0)) - 1),
            abs(np.log10(slope(1e-3) / slope(1e-4)) - 1),
            abs(np.log10(rest(0, 1e-3) / rest(0, 1e-4)) - 2),
        ]
    return CheckResult(max(errors), 0.02, len(errors))


@check(
    "li2/eq55",
    "The gradient to first order in time, term by term",
    against="the gradient at t = 0 and its central difference",
)
def eq55() -> CheckResult:
    """Eq. 53–55. The part of second order in the readout is missing at t = 0, though Eq. 66 has it."""
    errors, printed, h = [], [], 1e-4
    for raw in instances():
        i = _unit_rate(raw)
        terms = _readout(i, 0.3).expansion()
        start = flow(i, 0.0, 0.3)[2]
        slope = (flow(i, h, 0.3)[2] - flow(i, -h, 0.3)[2]) / (2 * h)
        errors += [distance(terms.at(0.0), start), distance(terms.at(1.0) - terms.at(0.0), slope)]
        printed.append(distance(i.targets @ i.initial.T, start))
    return CheckResult(
        max(errors), 1e-6, len(errors), printed_error=max(printed),
        correction="G(0) = ỸV₀ᵀ − F̃V₀V₀ᵀ; the second term, of order α², is left out.",
    )  # fmt: skip


@check(
    "li2/prop2",
    "What is left beside the signal at small times",
    against="order of the rest along t = α², by the exponential of the system's matrix",
)
def prop2() -> CheckResult:
    """O(tα + t²) is α³ there; the part −F̃V₀V₀ᵀ, which is left out, is α²."""
    errors, printed = [], []
    for raw in instances():
        i = _unit_rate(raw)
        full, short = [], []
        for alpha in (1e-2, 1e-3):
            j, t = _small(i, alpha), alpha**2
            rest = flow(j, t, 0.1)[2] - j.targets @ j.initial.T - t * _signal(j)
            short.append(np.linalg.norm(rest))
            full.append(np.linalg.norm(rest - _readout(j, 0.1).expansion().initial_quadratic))
        errors.append(abs(np.log10(full[0] / full[1]) - 3))
        printed.append(abs(np.log10(short[0] / short[1]) - 3))
    return CheckResult(
        max(errors), 0.1, len(errors), printed_error=max(printed),
        correction="The rest is O(α² + tα + t²): at t < α² it exceeds the signal, whatever α.",
    )  # fmt: skip


@check(
    "li2/lemma11",
    "How small the signal can be",
    against="random features with fewer nodes than samples",
)
def lemma11() -> CheckResult:
    """Needs (A2), or the projection on the span of the features and the smallest singular value above 0."""
    errors, printed = [], []
    for seed, (n, K, rank) in enumerate(((30, 3, None), (20, 6, None), (12, 15, None), (15, 8, 4))):
        i = random_instance(n, K, 2, seed, rank)
        P, s, _ = np.linalg.svd(i.features, full_matrices=False)
        kept = s > 1e-9 * s[0]
        A, size = i.targets @ i.targets.T, np.linalg.norm(_signal(i))
        errors.append(max(s[kept].min() * np.linalg.norm(A @ P[:, kept]) / size - 1, 0))
        if rank is None and n > K:
            printed.append(s.min() * np.linalg.norm(A) / size - 1)
        within = realisable_instance(n, min(K, n - 1), 2, seed)
        s, A = np.linalg.svd(within.features)[1], within.targets @ within.targets.T
        s = s[s > 1e-9 * s[0]]
        errors.append(max(s.min() * np.linalg.norm(A) / np.linalg.norm(_signal(within)) - 1, 0))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="F̃F̃ᵀ is singular for n > K. ‖ỸỸᵀF̃‖ ≥ σ_min‖ỸỸᵀΠ‖, Π on the span of F̃; as "
        "printed under (A2) only.",
    )  # fmt: skip


@check(
    "li2/eq57",
    "The readout approaches its limit at the rate of the smallest eigenvalue",
    against="the exponential of the system's matrix",
)
def eq57() -> CheckResult:
    """Eq. 57, and its first step that the limit solves AV = B."""
    errors = []
    for number, i in enumerate(_full_rank()):
        decay = (0.0, 0.4)[number % 2]
        A = i.features.T @ i.features + decay * np.eye(i.features.shape[1])
        end, least = np.linalg.solve(A, i.features.T @ i.targets), np.linalg.eigvalsh(A)[0]
        errors.append(distance(_readout(i, decay).limit().weights, end))
        for t in (0.1, 1.0, 3.0):
            bound = np.exp(-least * t) * np.linalg.norm(i.initial - end)
            errors.append(max(np.linalg.norm(flow(i, t, decay)[0] - end) / bound - 1, 0))
    return CheckResult(max(errors), 1e-8, len(errors))


def _full_rank() -> list[Instance]:
    return [_unit_rate(random_instance(12, K, 3, K)) for K in (2, 4, 5, 6)]


@check(
    "li2/eq58",
    "The error approaches its limit at the same rate",
    against="the exponential of the system's matrix",
)
def eq58() -> CheckResult:
    """Eq. 58."""
    errors = []
    for number, i in enumerate(_full_rank()):
        decay = (0.0, 0.4)[number % 2]
        least = np.linalg.eigvalsh(i.features.T @ i.features)[0] + decay
        end = _readout(i, decay).limit()
        for t in (0.0, 0.1, 1.0, 3.0):
            start = np.linalg.norm(i.initial - end.weights)
            bound = np.linalg.norm(i.features, 2) * np.exp(-least * t) * start
            errors.append(max(np.linalg.norm(flow(i, t, decay)[1] - end.error) / bound - 1, 0))
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "li2/eq59",
    "Bound of the gradient by error and readout",
    against="the exponential of the system's matrix",
)
def eq59() -> CheckResult:
    """Eq. 59, both steps."""
    errors = []
    for i in _full_rank():
        end = np.linalg.lstsq(i.features, i.targets, rcond=None)[0]
        for t in (0.0, 0.3, 2.0):
            V, E, G = flow(i, t, 0.0)
            size, e = np.linalg.norm(G), np.linalg.norm(E)
            first = e * np.linalg.norm(V, 2)
            second = e * (np.linalg.norm(end, 2) + np.linalg.norm(V - end, 2))
            errors += [max(size / first - 1, 0), max(first / second - 1, 0)]
    return CheckResult(max(errors), 1e-12, len(errors))


@check(
    "li2/prop3",
    "Without decay the gradient vanishes at the rate of the smallest singular value",
    against="the exponential of the system's matrix",
)
def prop3() -> CheckResult:
    """The bound with the shipped constant, and the rate from two late times."""
    errors = []
    for seed, (n, K, M) in enumerate(((12, 4, 3), (9, 5, 2), (20, 3, 1))):
        i = _unit_rate(realisable_instance(n, K, M, seed))
        readout = _readout(i)
        rate, constant = readout.convergence().rate, readout.decay_constant()
        sizes = [np.linalg.norm(flow(i, t, 0.0)[2]) for t in (0.0, 1.0, 5.0)]
        errors += [
            max(g / (constant * np.exp(-rate * t)) - 1, 0)
            for g, t in zip(sizes, (0.0, 1.0, 5.0), strict=True)
        ]
        least = np.linalg.svd(i.features)[1].min() ** 2
        late = [np.linalg.norm(flow(i, t / least, 0.0)[2]) for t in (18, 20)]
        errors += [abs(rate / least - 1), abs(np.log(late[0] / late[1]) / 2 - 1)]
    # a slope from late times, of matrices that are tiny beside those they are made of
    return CheckResult(max(errors), 1e-4, len(errors))


@check(
    "li2/prop4",
    "With decay the gradient reaches a limit that is not zero",
    against="the exponential of the system's matrix",
)
def prop4() -> CheckResult:
    """As printed for features of full column rank; with more nodes than samples at the rate η."""
    errors, decay = [], 0.2
    cases = [*_full_rank(), *(_unit_rate(i) for i in instances())]
    for i in cases:
        readout = _readout(i, decay)
        rate, constant = readout.convergence()
        end = readout.limit().gradient
        gaps = [np.linalg.norm(flow(i, t, decay)[2] - end) for t in (0.0, 1.0, 10.0)]
        errors += [
            max(g / (constant * np.exp(-rate * t)) - 1, 0)
            for g, t in zip(gaps, (0.0, 1.0, 10.0), strict=True)
        ]
        least = np.linalg.eigvalsh(i.features.T @ i.features)[0] + decay
        errors.append(abs(rate / least - 1))
    return CheckResult(max(errors), 1e-8, len(errors))


def _ridge(i: Instance, decay: float, scale: float = 1.0) -> np.ndarray:
    """−∂J/∂F̃ at the minimum, by solving the normal equations."""
    A = scale**2 * i.features.T @ i.features + decay * np.eye(i.features.shape[1])
    V = np.linalg.solve(A, scale * i.features.T @ i.targets)
    return scale * (i.targets - scale * i.features @ V) @ V.T


def _resolvents(i: Instance, decay: float) -> tuple[np.ndarray, np.ndarray]:
    n, K = i.features.shape
    F = i.features
    return np.linalg.inv(F @ F.T + decay * np.eye(n)), np.linalg.inv(F.T @ F + decay * np.eye(K))


@check(
    "li2/eq4",
    "The gradient that remains with decay",
    against="the normal equations, and the flow at a late time",
)
def eq4() -> CheckResult:
    """Eq. 4 as printed, the shipped limit, and the ridge solution."""
    errors = []
    for raw in instances():
        i, decay = _unit_rate(raw), 0.3
        exact, readout = _ridge(i, decay), _readout(i, decay)
        left, right = _resolvents(i, decay)
        V = theory.ridge_readout(i.features, i.targets, decay, centring="none")
        errors += [
            distance(readout.limit().gradient, exact),
            distance(decay * left @ _signal(i) @ right, exact),
            distance((i.targets - i.features @ V) @ V.T, exact),
            distance(flow(i, 100.0, decay)[2], exact),
        ]
    return CheckResult(max(errors), 1e-10, len(errors))


@check(
    "li2/eq60",
    "Forms of the gradient that remains",
    against="the normal equations",
)
def eq60() -> CheckResult:
    """The outer forms agree; the one in the middle lacks the inverse on its right."""
    errors, printed = [], []
    for raw in instances():
        i, decay = _unit_rate(raw), 0.3
        exact, (left, right) = _ridge(i, decay), _resolvents(i, decay)
        project = np.eye(len(left)) - i.features @ right @ i.features.T
        errors += [distance(project, decay * left), distance(project @ _signal(i) @ right, exact)]
        printed.append(distance(project @ _signal(i), exact))
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed),
        correction="E*V*ᵀ = P_η ỸỸᵀF̃ (F̃ᵀF̃ + ηI)⁻¹; the middle form lacks the inverse.",
    )  # fmt: skip
