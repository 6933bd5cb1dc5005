"""Lemmas 2 and 9, Eq. 35–38, 42 and 43: the polar factor of gradients."""

from typing import Any

import numpy as np

from lazyrich import groups, quantities, theory
from lazyrich.checks._oracles import relative_gap
from lazyrich.core import CheckResult, check


def _matrices() -> list[np.ndarray]:
    """Gradients of all shapes; the last two lack rank, one has a column of zeros."""
    rng = np.random.default_rng(0)
    found = [rng.standard_normal(shape) for shape in ((5, 3), (4, 4), (3, 6))]
    found.append(rng.standard_normal((6, 2)) @ rng.standard_normal((2, 4)))
    found.append(np.column_stack([rng.standard_normal((5, 2)), np.zeros(5)]))
    return found


@check(
    "li2/eq35",
    "The polar factor points along the gradient",
    against="the sum of singular values, as roots of the eigenvalues of the Gram matrix",
)
def eq35() -> CheckResult:
    """⟨Ĝ, G⟩ = tr D, also where G lacks rank and the rest of Ĝ is zero."""
    errors = []
    for G in _matrices():
        values = np.linalg.eigvalsh(G.T @ G if len(G) >= G.shape[1] else G @ G.T)
        total = np.sum(np.sqrt(np.maximum(values, 0)))
        errors.append(abs(np.sum(quantities.polar_factor(G) * G) / total - 1))
    return CheckResult(max(errors), 1e-6, len(errors))  # roots of rounded zeros are 1e-8


@check(
    "li2/lemma2",
    "Muon climbs the joint energy and rests where its gradient vanishes",
    against="finite differences of the energy, free and on the unit sphere",
)
def lemma2() -> CheckResult:
    """On the sphere: the polar factor of the tangential gradient, which the printed one is not."""
    errors, printed, rng = [], [], np.random.default_rng(2)
    for group in (groups.cyclic(7), groups.symmetric(3), groups.quaternion(), groups.dihedral(4)):
        energy = theory.ModulatedEnergy(group)
        W = rng.standard_normal((6, 2 * group.order))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        errors.append(_slope_error(energy, W, energy.gradient(W), on_sphere=False))
        errors.append(_slope_error(energy, W, _tangential(W, energy.gradient(W)), on_sphere=True))
        maxima = _maxima(energy, W)
        gradient = energy.gradient(maxima)
        errors.append(np.max(np.abs(_tangential(maxima, gradient))) / np.max(np.abs(gradient)))
        printed.append(np.max(np.abs(_tangential(maxima, quantities.polar_factor(gradient)))))
    return CheckResult(
        max(errors), 1e-5, len(errors), printed_error=max(printed),
        correction="true for free weights, where 𝓔, of degree 4, has no maxima; on the unit sphere Muon "
        "moves nodes that rest at maxima which are not orthogonal. The polar factor of the tangential "
        "gradient does not",
    )  # fmt: skip


def _tangential(W: np.ndarray, G: np.ndarray) -> np.ndarray:
    return G - W * np.sum(W * G, axis=1, keepdims=True)


def _slope_error(energy: Any, W: np.ndarray, G: np.ndarray, on_sphere: bool) -> float:
    """Slope of the joint energy along the polar factor against the sum of singular values."""
    direction, h = quantities.polar_factor(G), 1e-5

    def joint(step: float) -> float:
        moved = W + step * direction
        if on_sphere:
            moved = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return float(np.sum(energy.value(moved)))

    slope = (joint(h) - joint(-h)) / (2 * h)
    return abs(slope / np.sum(np.linalg.svd(G, compute_uv=False)) - 1)


def _maxima(energy: Any, W: np.ndarray) -> np.ndarray:
    for _ in range(600):
        G = energy.gradient(W)
        W = W + G / np.linalg.norm(G, axis=1, keepdims=True)
        W = W / np.linalg.norm(W, axis=1, keepdims=True)
    return W


def _columns() -> list[tuple[np.ndarray, np.ndarray]]:
    """Orthonormal columns and a vector: small and large, mostly inside or mostly outside of their span."""
    found, rng = [], np.random.default_rng(3)
    for d, m in ((4, 1), (6, 3), (9, 8)):
        Q = np.linalg.qr(rng.standard_normal((d, m)))[0]
        for inside, outside in ((1e-3, 1e-3), (0.5, 1e-4), (0.7, 0.3), (1e-4, 0.8), (2.0, 3.0)):
            c, e = rng.standard_normal(m), rng.standard_normal(d)
            e -= Q @ (Q.T @ e)
            found.append((Q, inside * Q @ c / np.linalg.norm(c) + outside * e / np.linalg.norm(e)))
    return found


def _printed_column(Q: np.ndarray, v: np.ndarray) -> np.ndarray:
    inside = Q @ (Q.T @ v)
    size = np.linalg.norm(v - inside)
    return (v - inside) / size + inside / (1 + size)


def _last_column_result(correction: str) -> CheckResult:
    errors, printed = [], []
    for Q, v in _columns():
        exact = quantities.polar_factor(np.column_stack([Q, v]))[:, -1]
        errors.append(np.max(np.abs(theory.muon_projection(Q, v) - exact)))
        outside = np.linalg.norm(v - Q @ (Q.T @ v))
        if outside < 0.01:  # where O(‖v_⊥‖²) promises four digits
            printed.append(np.max(np.abs(_printed_column(Q, v) - exact)))
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed), correction=correction
    )


@check(
    "li2/eq36",
    "What Muon makes of one vector beside orthonormal ones",
    against="singular value decomposition of the whole matrix",
)
def eq36() -> CheckResult:
    """Vectors with a small part outside the span, where the printed order of the error says it is exact."""
    return _last_column_result(
        "the error is O(‖v_∥‖²), not O(‖v_⊥‖²); divided by √(1 + ‖v_∥‖²/(1 + ‖v_⊥‖)²) the form is exact"
    )


@check(
    "li2/lemma9",
    "Muon's projection keeps the direction that Lemma 9 gives",
    against="singular value decomposition of the whole matrix",
)
def lemma9() -> CheckResult:
    """The direction of the printed form is exact for vectors of any size; its length is not that of v̂."""
    errors, printed = [], []
    for Q, v in _columns():
        exact = quantities.polar_factor(np.column_stack([Q, v]))[:, -1]
        form = _printed_column(Q, v)
        length = np.linalg.norm(form)
        errors.append(np.max(np.abs(form / length - exact / np.linalg.norm(exact))))
        errors.append(np.max(np.abs(theory.muon_projection(Q, v) - exact)))
        printed.append(abs(length - np.linalg.norm(exact)))
    return CheckResult(
        max(errors), 1e-10, len(errors), printed_error=max(printed),
        correction="the direction is exact, for v of any size; the length is 1 for any v outside the span",
    )  # fmt: skip


@check(
    "li2/eq42",
    "How Muon discounts what earlier nodes have found",
    against="singular value decomposition of the gradients of earlier nodes and the new one",
)
def eq42() -> CheckResult:
    """Gradients $μ_lα_l^2ζ_l$ of the model; the ratio of both parts is exact: the conclusion stands."""
    errors, printed, rng = [], [], np.random.default_rng(4)
    for L, known in ((4, 1), (5, 3), (8, 4)):
        for small in (1.0, 1e-2):
            zeta = np.linalg.qr(rng.standard_normal((L, L)))[0]
            alpha = rng.uniform(0.1, 1, L) * np.where(np.arange(L) < known, 1, small)
            g = zeta @ (rng.uniform(0.3, 1, L) * alpha**2 / np.sum(alpha**2))
            Q = zeta[:, :known]
            exact = quantities.polar_factor(np.column_stack([Q, g]))[:, -1]
            inside = Q @ (Q.T @ g)
            beta = np.linalg.norm(g - inside)
            ratio = np.linalg.norm(Q.T @ exact) / np.linalg.norm(exact - Q @ (Q.T @ exact))
            errors.append(abs(ratio * beta / np.linalg.norm(inside) / (beta / (1 + beta)) - 1))
            errors.append(np.max(np.abs(theory.muon_projection(Q, g) - exact)))
            form = (g - inside + beta / (1 + beta) * inside) / beta
            if beta < 0.01:
                printed.append(np.max(np.abs(form - exact)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="the discount ‖g_⊥‖/(1 + ‖g_⊥‖) is exact; the error of the length is "
        "O(‖g_∥‖²), not O(‖g_⊥‖²)",
    )  # fmt: skip


@check(
    "li2/eq43",
    "The gradient of the model is at most of length 1",
    against="the length of the vector itself",
)
def eq43() -> CheckResult:
    """The root of the sum of squares is missing in print. The bound is right."""
    errors, printed, rng = [], [], np.random.default_rng(5)
    for _ in range(100):
        L = int(rng.integers(1, 8))
        zeta = np.linalg.qr(rng.standard_normal((L, L)))[0]
        alpha = rng.standard_normal(L)
        alpha *= rng.uniform(0, 1) / np.linalg.norm(alpha)
        mu = rng.uniform(0, 1, L)
        length = np.linalg.norm(zeta @ (mu * alpha * alpha))
        squares = np.sum((mu * alpha * alpha) ** 2)
        errors += [abs(np.sqrt(squares) - length), max(0.0, length - np.sum(alpha**2))]
        printed.append(abs(squares - length))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(printed),
        correction="‖g‖ is the root of the printed sum; ‖g‖ ≤ Σα² ≤ 1 stands",
    )  # fmt: skip


def _power(G: np.ndarray, c: float) -> np.ndarray:
    values, basis = np.linalg.eigh(G)
    return (basis * values ** (-1 / c)) @ basis.T


def _expansions(correct: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Derivatives along C at 0 of $G^{-1/c}$, off-diagonal block, and what is said of it."""
    found, rng = [], np.random.default_rng(6)
    for c in (1.5, 2.0, 3.0, 5.0):
        for k, m in ((1, 1), (3, 2), (2, 4)):
            C, lam = rng.standard_normal((k, m)), rng.uniform(0.05, 3, m)

            def block(h: float, C=C, lam=lam, c=c, k=k) -> np.ndarray:
                G = np.block([[np.eye(k), h * C], [h * C.T, h * h * C.T @ C + np.diag(lam)]])
                return _power(G, c)[:k, k:]

            exact = (8 * (block(1e-3) - block(-1e-3)) - (block(2e-3) - block(-2e-3))) / 12e-3
            divided = (1 - lam ** (-1 / c)) / (1 - lam)
            found.append((exact, C * divided if correct else -C / lam / c))
    return found


def _largest(pairs: Any) -> float:
    return max(relative_gap(formula, exact) for exact, formula in pairs)


@check(
    "li2/eq37",
    "First-order expansion of a power of the Gram matrix",
    against="differences of matrix powers by eigenvalues",
)
def eq37() -> CheckResult:
    """The off-diagonal block is C times divided differences, after Daletskii and Krein."""
    return CheckResult(
        _largest(_expansions(True)), 1e-7, 12, printed_error=_largest(_expansions(False)),
        correction="the factor is (1 − λ^(−1/c))/(1 − λ), not −1/(cλ): G₀ and E do not commute, and the "
        "scalar identity further down is false",
    )  # fmt: skip


@check(
    "li2/eq38",
    "First-order form of the last block of Muon's matrix",
    against="differences of the matrix itself",
)
def eq38() -> CheckResult:
    """For several powers c. It follows from the corrected Eq. 37, although not from the printed one."""
    pairs, rng = [], np.random.default_rng(7)
    for c in (1.5, 2.0, 3.0, 5.0):
        for d, k, m in ((4, 1, 1), (7, 3, 2), (9, 2, 4)):
            Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
            T = rng.uniform(0.05, 3, m)
            outside = Q[:, k : k + m] * np.sqrt(T)
            inside = Q[:, :k] @ rng.standard_normal((k, m))

            def last(h: float, Q=Q, inside=inside, outside=outside, c=c, k=k) -> np.ndarray:
                A = np.column_stack([Q[:, :k], h * inside + outside])
                return (A @ _power(A.T @ A, c))[:, k:]

            slope = (8 * (last(1e-3) - last(-1e-3)) - (last(2e-3) - last(-2e-3))) / 12e-3
            pairs.append((slope, inside * (1 - T ** (1 - 1 / c)) / (1 - T)))
            pairs.append((last(0.0), outside * T ** (-1 / c)))
    return CheckResult(_largest(pairs), 1e-7, len(pairs))
