"""The Marchenko–Pastur law and its transforms."""

from typing import Any

import numpy as np

from lazyrich import theory
from lazyrich.checks.accuracy._grid import decades, mesh, mp
from lazyrich.checks.accuracy._spectrum import atom, bulk_mean, edges
from lazyrich.core import Comparison, accuracy

RATIOS = np.concatenate(
    [decades(1e-6, 1e6, 25), 1 + np.array([-0.5, -0.1, -1e-2, -1e-6, 1e-6, 0.1, 1])]
)
EVERYWHERE = "λ: 25 from 1e-6 to 1e6, and 7 around 1"


@accuracy(
    "theory.MarchenkoPastur.weighted_laplace",
    "E[ν exp(−sν)]",
    against="Bessel's I₁: exp(−(1+λ)s) I₁(2√λ s)/(√λ s)",
    grid=f"{EVERYWHERE}; s: 0 and 150 from 1e-12 to 1e12",
    seconds=2,
)
def weighted_laplace() -> Comparison:
    """To the point where the transform is too small for double precision."""
    ratio, s = mesh(RATIOS, decades(1e-12, 1e12, 150, zero=True))
    values = theory.MarchenkoPastur(ratio).weighted_laplace(s)
    return Comparison(values, log_or_value(log_weighted), {"aspect_ratio": ratio, "s": s})


@accuracy(
    "theory.MarchenkoPastur.laplace",
    "E[exp(−sν)], atom included",
    against="quadrature of the density in Eq. 6 of linear-grokking",
    grid=f"{EVERYWHERE}; s: 0 and 25 from 1e-9 to 1e9",
    seconds=6,
)
def laplace() -> Comparison:
    """Through λ = 1, where the atom appears, and far into the tail."""
    ratio, s = mesh(RATIOS, decades(1e-9, 1e9, 25, zero=True))
    values = theory.MarchenkoPastur(ratio).laplace(s)
    return Comparison(values, plain_laplace, {"aspect_ratio": ratio, "s": s})


@accuracy(
    "theory.MarchenkoPastur.density",
    "Density of the bulk",
    against="Eq. 6 of linear-grokking at 50 digits",
    grid=f"{EVERYWHERE}; 101 eigenvalues on both sides of each edge and between, down to 1e-9 of the bulk's "
    "width from an edge",
    explanation="The density vanishes as a square root at the edges, and diverges where the lower edge is 0. "
    "The relative distance to the edge, which double precision holds with few digits, is the "
    "condition number.",
)
def density() -> Comparison:
    """Inside and outside of the bulk."""
    ratio, nu = _around_edges()
    values = theory.MarchenkoPastur(ratio).density(nu)
    where = {"aspect_ratio": ratio, "eigenvalue": nu}
    return Comparison(values, _density, where, condition=_distance_to_edges)


@accuracy(
    "theory.MarchenkoPastur.cdf",
    "Share of eigenvalues up to a value",
    against="quadrature of the density in Eq. 6 of linear-grokking",
    grid="λ: 9 from 1e-6 to 1e6; 33 eigenvalues around and between the edges; errors relative to 1",
    seconds=2,
)
def cdf() -> Comparison:
    """A share: errors are relative to the whole."""
    ratio, nu = _around_edges(decades(1e-6, 1e6, 9), 16)
    values = theory.MarchenkoPastur(ratio).cdf(nu)
    return Comparison(values, _cdf, {"aspect_ratio": ratio, "eigenvalue": nu}, scale=1)


@accuracy(
    "theory.MarchenkoPastur.resolvent",
    "E[1/(ν + g)], atom included",
    against="the root of λg m² + (1 − λ + g) m = 1 at 50 digits",
    grid=f"{EVERYWHERE}; g: 120 from 1e-15 to 1e15",
)
def resolvent() -> Comparison:
    """On both sides of λ = 1."""
    ratio, g = mesh(RATIOS, decades(1e-15, 1e15, 120))
    values = theory.MarchenkoPastur(ratio).resolvent(g)
    return Comparison(values, _resolvent, {"aspect_ratio": ratio, "shift": g})


@accuracy(
    "theory.MarchenkoPastur.moment",
    "E[ν^k]",
    against="E[(1 + λ + 2√λ cos θ)^(k−1)] over the semicircle, expanded",
    grid="λ: 121 from 1e-6 to 1e6; k: 0 to 12",
)
def moment() -> list[Comparison]:
    """All terms are positive."""
    ratio = decades(1e-6, 1e6, 121)
    law = theory.MarchenkoPastur(ratio)
    return [
        Comparison(law.moment(k), _moment, {"aspect_ratio": ratio, "order": k}) for k in range(13)
    ]


@accuracy(
    "theory.MarchenkoPastur.edges",
    "Smallest and largest eigenvalue of the bulk, and the weight of 0",
    against="(1 ∓ √λ)² and (1 − 1/λ)⁺ at 50 digits",
    grid="λ: 601 from 1e-12 to 1e12, and 120 within 1e-2 to 1e-14 of 1",
    also=("theory.MarchenkoPastur.atom",),
)
def edges_and_atom() -> list[Comparison]:
    """Where λ is close to 1 the lower edge and the atom are small, and keep their digits."""
    near = decades(1e-14, 1e-2, 60)
    ratio = np.concatenate([decades(1e-12, 1e12, 601), 1 + near, 1 - near])
    law = theory.MarchenkoPastur(ratio)
    low, high = law.edges
    return [
        Comparison(low, lambda lam, _: edges(lam)[0], {"aspect_ratio": ratio, "edge": "lower"}),
        Comparison(high, lambda lam, _: edges(lam)[1], {"aspect_ratio": ratio, "edge": "upper"}),
        Comparison(law.atom, atom, {"aspect_ratio": ratio}),
    ]


_FUNCTIONS = ("log(1 + ν)", "1/(ν + 0.01)", "√(ν + 0.1)", "exp(−3ν)")


@accuracy(
    "theory.MarchenkoPastur.expectation",
    "E[f(ν)] for a function of one's own",
    against="quadrature of the density in Eq. 6 of linear-grokking",
    grid=f"{EVERYWHERE}; f: {', '.join(_FUNCTIONS)}",
    seconds=2,
)
def expectation() -> list[Comparison]:
    """Functions that are analytic in the right half-plane."""
    import jax.numpy as jnp

    functions = (
        jnp.log1p, lambda v: 1 / (v + 0.01), lambda v: jnp.sqrt(v + 0.1), lambda v: jnp.exp(-3 * v)
    )  # fmt: skip
    law = theory.MarchenkoPastur(RATIOS)
    return [
        Comparison(law.expectation(f), _expectation, {"aspect_ratio": RATIOS, "function": name})
        for name, f in zip(_FUNCTIONS, functions, strict=True)
    ]


def log_weighted(ratio: Any, s: Any) -> Any:
    """Log E[ν exp(−sν)]: the density of the busy period of a queue."""
    if s == 0:
        return mp.mpf(0)
    z = 2 * mp.sqrt(ratio) * s
    return mp.log(mp.besseli(1, z) * 2 / z) - (1 + ratio) * s


def log_or_value(logarithm: Any) -> Any:
    """The exponential of a function that is given by its logarithm."""
    return lambda *arguments: mp.exp(logarithm(*arguments))


def log_laplace(ratio: Any, s: Any) -> Any:
    """Log E[exp(−sν)], by quadrature with the decay of the lower edge taken out."""
    low, _ = edges(ratio)
    (bulk,) = bulk_mean(
        ratio, lambda x, nu: (mp.exp(-s * x),), *([1 / s] if s else []),
        largest=130 / s if s else None,
    )  # fmt: skip
    if atom(ratio):
        return mp.log(atom(ratio) + bulk * mp.exp(-s * low))
    return mp.log(bulk) - s * low


plain_laplace = log_or_value(log_laplace)


def _around_edges(ratios: Any = RATIOS, number: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues near both edges, inside and outside, and in the middle."""
    ratio = np.asarray(ratios)
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    steps = decades(1e-9, 0.5, number // 2)
    inside = np.concatenate([steps, 1 - steps, [0.5]])
    outside = np.concatenate([-steps, 1 + steps])
    places = np.sort(np.concatenate([inside, outside]))
    nu = low[:, None] + (high - low)[:, None] * places
    return np.repeat(ratio, places.size), nu.ravel()


def _density(ratio: Any, nu: Any) -> Any:
    low, high = edges(ratio)
    if not low < nu < high:
        return mp.mpf(0)
    return mp.sqrt((high - nu) * (nu - low)) / (2 * mp.pi * ratio * nu)


def _distance_to_edges(ratio: Any, nu: Any) -> Any:
    low, high = edges(ratio)
    return 1 + nu / abs(nu - low) + nu / abs(high - nu) if nu > 0 else 1


def _cdf(ratio: Any, nu: Any) -> Any:
    low, high = edges(ratio)
    if nu < 0:
        return mp.mpf(0)
    top = min(max(nu, low), high)
    with mp.workdps(25):
        points = [low, *(p for p in (2 * low, 8 * low, (low + high) / 2) if low < p < top), top]
        inside = mp.quad(lambda v: _density(ratio, v), points) if top > low else mp.mpf(0)
    return atom(ratio) + inside


def _resolvent(ratio: Any, g: Any) -> Any:
    """The root that goes to 0 for g → ∞."""
    b = 1 - ratio + g
    return (mp.sqrt(b * b + 4 * ratio * g) - b) / (2 * ratio * g)


def _moment(ratio: Any, order: int) -> Any:
    """E[ν·ν^(k−1)], ν times the density being a semicircle in cos θ, whose moments are Catalan numbers."""
    if order == 0:
        return mp.mpf(1)
    return sum(
        mp.binomial(order - 1, 2 * j) * (1 + ratio) ** (order - 1 - 2 * j) * ratio**j
        * mp.binomial(2 * j, j) / (j + 1)
        for j in range((order - 1) // 2 + 1)
    )  # fmt: skip


def _expectation(ratio: Any, name: str) -> Any:
    functions = {
        "log(1 + ν)": mp.log1p, "1/(ν + 0.01)": lambda v: 1 / (v + mp.mpf(0.01)),
        "√(ν + 0.1)": lambda v: mp.sqrt(v + mp.mpf(0.1)), "exp(−3ν)": lambda v: mp.exp(-3 * v),
    }  # fmt: skip
    f = functions[name]
    (bulk,) = bulk_mean(ratio, lambda x, nu: (f(nu),), mp.mpf(0.01))
    return bulk + (atom(ratio) * f(mp.mpf(0)) if ratio > 1 else 0)
