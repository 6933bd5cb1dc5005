"""Largest errors of the theory against mpmath, over a grid of parameters, as a table for the docs.

    python benchmarks/accuracy.py

The oracle is Gauss–Legendre quadrature of the Marchenko–Pastur density at 40 digits on panels that halve
down to every scale of ν, Bessel functions for the training loss, and mpmath's gamma functions. A crossing
time is judged by the step that Newton's method with exact loss and slope would still take from it.

The condition number of f(x, y, …) is 1 + |x ∂f/∂x / f| + |y ∂f/∂y / f| + …: what relative errors of size ε
in the arguments, which no formula can avoid, make of the result, in units of ε.
"""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from lazyrich.core import compute
from lazyrich.quantities import threshold_accuracy, threshold_loss
from lazyrich.theory import LinearGrokking, MarchenkoPastur
from lazyrich.theory._laplace import edges, log_laplace, log_weighted_laplace

mp.mp.dps = 40
RATIOS = (1e-4, 1e-2, 0.1, 0.5, 0.9, 0.99, 1 - 1e-9, 1.0, 1 + 1e-6, 1.01, 1.5, 10.0, 100.0)
TIMES = (0.0, 1e-3, 0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6)
VARIANTS = (  # weight decay, scale of the student, label noise, outputs
    (1e-3, 1.0, 0.0, 1), (0.3, 0.0, 0.1, 7), (0.0, 2.0, 0.3, 1), (1e-6, 1.0, 1e-2, 3),
)  # fmt: skip
NUM_GAUSS, NUM_PANELS = 40, 44
SHARES = (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-6, 1 - 1e-9)
EPSILON = 1e-3
SMALLEST = 1e-300


@functools.cache
def angles() -> list[tuple[Any, Any]]:
    """sin²φ and weights with E_bulk[f] = Σ w f(ν)/ν, on panels of φ that halve from π/2 to 1e-13."""
    ends = [mp.pi / 2**k for k in range(1, NUM_PANELS + 1)] + [mp.mpf(0)]
    nodes = []
    for high, low in itertools.pairwise(ends):
        for x, weight in gauss_legendre():
            phi = low + (high - low) * (1 + x) / 2
            nodes.append(
                (mp.sin(phi) ** 2, 2 / mp.pi * (high - low) * weight * mp.sin(2 * phi) ** 2)
            )
    return nodes


@functools.cache
def gauss_legendre() -> list[tuple[Any, Any]]:
    """NumPy's nodes, polished by Newton's method."""
    nodes = []
    for start in np.polynomial.legendre.leggauss(NUM_GAUSS)[0]:
        x = mp.mpf(float(start))
        for _ in range(3):
            slope = NUM_GAUSS * (mp.legendre(NUM_GAUSS - 1, x) - x * mp.legendre(NUM_GAUSS, x))
            slope /= 1 - x**2
            x -= mp.legendre(NUM_GAUSS, x) / slope
        nodes.append((x, 2 / ((1 - x**2) * slope**2)))
    return nodes


class Law:
    """Means over the Marchenko–Pastur law at 40 digits."""

    def __init__(self, ratio: float):
        self.ratio = mp.mpf(ratio)
        self.low = (1 - mp.sqrt(self.ratio)) ** 2
        self.atom = max(1 - 1 / self.ratio, mp.mpf(0))
        self.nodes = [(self.low + 4 * mp.sqrt(self.ratio) * x, w) for x, w in angles()]

    def bulk(self, function: Callable[[Any], Any]) -> Any:
        """The mean over the bulk, without the atom."""
        return mp.fsum(w * function(nu) / nu for nu, w in self.nodes)

    def log_laplace(self, s: float, power: int = 0) -> Any:
        """Logarithm of E[ν^power exp(−sν)], exp(−s·low) apart: the tail has digits."""
        s = mp.mpf(s)
        value = self.bulk(lambda nu: nu**power * mp.exp(-s * (nu - self.low)))
        if power == 0 and self.atom > 0:
            return mp.log(value * mp.exp(-s * self.low) + self.atom)
        return mp.log(value) - s * self.low


law = functools.cache(Law)


def log_train_by_bessel(ratio: float, s: float) -> Any:
    lam, s = mp.mpf(ratio), mp.mpf(s)
    z = 2 * mp.sqrt(lam) * s
    return mp.log(mp.besseli(1, z) * 2 / z) - (1 + lam) * s if s else mp.mpf(0)


def exact_losses(ratio: float, variant: tuple, s: float) -> tuple[Any, Any]:
    """Both losses as the equations have them; s = inf gives the limits."""
    gamma, alpha, sigma, d = map(mp.mpf, variant)
    g, lam, L = gamma / 2, mp.mpf(ratio), law(ratio)

    def e(nu: Any) -> Any:
        return mp.exp(-s * (nu + g) / 2) if np.isfinite(s) else mp.mpf(0)

    def r(nu: Any) -> Any:
        return (nu * e(nu) + g) / (nu + g)

    def signal(nu: Any) -> Any:
        return (alpha**2 * e(nu) ** 2 + r(nu) ** 2) / (2 * d)

    at_zero = (alpha**2 * (e(mp.mpf(0)) ** 2 if g or np.isfinite(s) else 1) + 1) / (2 * d)
    kept = max(1 - lam, 0) + lam * L.bulk(lambda nu: r(nu) ** 2)  # 1 − λ·E_bulk[1] is the first
    learned = lam * L.bulk(lambda nu: nu * ((1 - e(nu)) / (nu + g)) ** 2)
    train = L.bulk(lambda nu: nu * signal(nu)) + sigma**2 * kept
    return train, L.bulk(signal) + L.atom * at_zero + sigma**2 * learned


def condition(function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    with jax.enable_x64(True):
        values = [jnp.asarray(a, dtype=float) for a in np.broadcast_arrays(*arguments)]
        total = np.ones(values[0].shape)
        for i in range(len(values)):
            along = [v if j == i else jnp.zeros_like(v) for j, v in enumerate(values)]
            value, slope = jax.jit(lambda v, a: jax.jvp(function, v, a))(
                tuple(values), tuple(along)
            )
            total += np.abs(np.asarray(slope / value))
    return total


def row(name: str, grid: str, found: Any, exact: Iterable[Any], condition_number: Any) -> None:
    """One line of the table. Values too small for a float are left out; a 0 must be a 0."""
    triples = zip(np.ravel(found), exact, np.ravel(condition_number), strict=True)
    kept = [(f, x, c) for f, x, c in triples if x == 0 or abs(x) > SMALLEST]
    errors = [float(abs(mp.mpf(float(f)) - x) / (abs(x) if x else 1)) for f, x, _ in kept]
    line_of_errors(name, grid, np.array(errors), np.array([c for *_, c in kept]))


def line_of_errors(name: str, grid: str, errors: np.ndarray, condition_number: np.ndarray) -> None:
    share = np.where(errors > 0, errors / condition_number, 0)
    print(
        f"| {name} | {grid} | {errors.size} | {errors.max():.0e} | {share.max():.0e} |", flush=True
    )


def plain_points() -> tuple[np.ndarray, np.ndarray]:
    points = [(ratio, s) for ratio in RATIOS for s in TIMES]
    # where the loss is about 1e-200
    points += [(r, 460 / float(edges(np.float64(r))[0])) for r in RATIOS if r <= 0.99]
    ratio, s = np.array(points).T
    return ratio, s


def plain_rows() -> None:
    ratio, s = plain_points()
    for name, log_function, exact_log in (
        ("train_loss", log_weighted_laplace, log_train_by_bessel),
        ("test_loss", log_laplace, lambda ratio, s: law(ratio).log_laplace(s)),
    ):

        def one(r: Any, s: Any, log_function: Any = log_function) -> Any:
            log_loss = log_function(r, s)  # the loss over itself has its condition number, and is 1
            return jnp.exp(log_loss - jax.lax.stop_gradient(log_loss))

        exact = [exact_log(*point) for point in zip(ratio, s, strict=True)]
        amplified = condition(one, ratio, s)
        found = compute(log_function, ratio, s)
        # an absolute error of the logarithm is a relative one of the loss
        errors = [float(abs(mp.mpf(float(f)) - x)) for f, x in zip(found, exact, strict=True)]
        line_of_errors(f"`{name}` by its logarithm", "λ, $s$", np.array(errors), amplified)
        loss = getattr(LinearGrokking(ratio, 0.25), name)(s)
        row(f"`{name}`", "λ, $s$", loss, map(mp.exp, exact), amplified)


def model(ratio: Any, variant: tuple) -> LinearGrokking:
    gamma, alpha, sigma, d = variant
    return LinearGrokking(
        ratio,
        0.25 * d,
        weight_decay=gamma,
        student_scale=alpha,
        label_noise=sigma,
        output_dimension=d,
    )


def variant_rows(variant: tuple) -> None:
    label = "λ, $s$; γ = {:g}, α = {:g}, σ = {:g}, d = {}".format(*variant)
    ratio, s = np.array([(r, s) for r in RATIOS for s in TIMES[::3]]).T
    ends = [r for r in RATIOS if r != 1 or variant[0] > 0]  # noise without decay diverges at 1
    exact = [exact_losses(r, variant, t) for r, t in zip(ratio, s, strict=True)]
    exact_ends = [exact_losses(r, variant, np.inf) for r in ends]
    for which, name in enumerate(("train_loss", "test_loss")):

        def curve(r: Any, s: Any, name: str = name) -> Any:
            return getattr(model(r, variant), name)(s)

        def limit(r: Any, which: int = which) -> Any:
            return model(r, variant).limits()[which]

        values, amplified = curve(ratio, s), condition(curve, ratio, s)
        row(f"`{name}`", label, values, [pair[which] for pair in exact], amplified)
        values, amplified = limit(np.array(ends)), condition(limit, ends)
        row(
            f"`limits`, {name.split('_')[0]}",
            label.replace("λ, $s$", "λ"),
            values,
            [pair[which] for pair in exact_ends],
            amplified,
        )


def crossing_rows() -> None:
    ratio, threshold = grid([r for r in RATIOS if r <= 1], [1e-1, 1e-3, 1e-6, 1e-12])
    for name, power in (("train_time", 1), ("test_time", 0)):

        def when(r: Any, e: Any, name: str = name) -> Any:
            return getattr(LinearGrokking(r, 0.25, e), name)().time

        points = zip(ratio, threshold, when(ratio, threshold), strict=True)
        errors = [crossing_error(*point, power) for point in points]
        amplified = condition(when, ratio, threshold)
        line_of_errors(f"`{name}`", "λ ≤ 1, ε = 0.1 … 1e-12", np.array(errors), amplified)


def crossing_error(ratio: float, threshold: float, s: float, power: int) -> float:
    """Newton's remaining step, (log L − log level)/(d log L/d log s); at accuracy erf √2 the level is ε/4."""
    log_loss = law(ratio).log_laplace(s, power)
    slope = -mp.mpf(float(s)) * mp.exp(law(ratio).log_laplace(s, power + 1) - log_loss)
    return float(abs((log_loss - mp.log(mp.mpf(float(threshold)) / 4)) / slope))


def threshold_rows() -> None:
    outputs, loss = grid([1, 2, 3, 10, 100, 1000], np.geomspace(1e-6, 1e3, 19))
    exact = [
        mp.gammainc(mp.mpf(d) / 2, 0, d * mp.mpf(EPSILON) / (2 * mp.mpf(x)), regularized=True)
        for d, x in zip(outputs, loss, strict=True)
    ]
    amplified = condition(lambda x: threshold_accuracy(x, EPSILON, outputs), loss)
    found = threshold_accuracy(loss, EPSILON, outputs)
    row("`threshold_accuracy`", "d = 1 … 1000, loss/ε = 1e-3 … 1e6", found, exact, amplified)
    outputs, share = grid([1, 2, 3, 10, 100, 1000], SHARES)
    errors = [
        inverse_error(*point)
        for point in zip(outputs, share, threshold_loss(share, EPSILON, outputs), strict=True)
    ]
    amplified = condition(lambda a: threshold_loss(a, EPSILON, outputs), share)
    label = "d = 1 … 1000, accuracy 1e-12 … 1 − 1e-9"
    line_of_errors("`threshold_loss`", label, np.array(errors), amplified)


def inverse_error(outputs: float, share: float, loss: float) -> float:
    """Newton's remaining step on the regularised gamma function, relative to its argument."""
    a = mp.mpf(outputs) / 2
    x = a * mp.mpf(EPSILON) / mp.mpf(float(loss))
    missing = mp.gammainc(a, 0, x, regularized=True) - mp.mpf(share)
    density = mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
    return float(abs(missing / density / x))


def law_rows() -> None:
    def moment(r: Any, k: Any) -> Any:
        return MarchenkoPastur(r).moment(k)

    for k in (2, 5, 10):
        exact = [law(r).bulk(lambda nu, k=k: nu**k) for r in RATIOS]
        amplified = condition(functools.partial(moment, k=k), RATIOS)
        row("`moment`", f"λ; order {k}", moment(np.array(RATIOS), k), exact, amplified)
    ratio, g = grid(RATIOS, np.geomspace(1e-9, 1e6, 11))
    exact = [exact_resolvent(*point) for point in zip(ratio, g, strict=True)]
    amplified = condition(lambda r, g: MarchenkoPastur(r).resolvent(g), ratio, g)
    row("`resolvent`", "λ; g = 1e-9 … 1e6", MarchenkoPastur(ratio).resolvent(g), exact, amplified)
    ratio, share = grid(RATIOS, [1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999])
    low, high = MarchenkoPastur(ratio).edges
    nu = low + share * (high - low)
    exact = [exact_cdf(*point) for point in zip(ratio, nu, strict=True)]
    amplified = condition(lambda r, x: MarchenkoPastur(r).cdf(x), ratio, nu)
    label = "λ; 1e-6 … 0.999 of the way between the edges"
    row("`cdf`", label, MarchenkoPastur(ratio).cdf(nu), exact, amplified)


def grid(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    one, other = np.meshgrid(first, second, indexing="ij")
    return one.ravel().astype(float), other.ravel()


def exact_resolvent(ratio: float, g: float) -> Any:
    shift = mp.mpf(float(g))
    return law(ratio).bulk(lambda nu: 1 / (nu + shift)) + law(ratio).atom / shift


def exact_cdf(ratio: float, nu: float) -> Any:
    """The quadrature of `angles`, compressed to φ up to that of ν."""
    L, width = law(ratio), 4 * mp.sqrt(mp.mpf(ratio))
    end = mp.asin(mp.sqrt((mp.mpf(float(nu)) - L.low) / width))
    panels = [end / 2**k for k in range(NUM_PANELS)] + [mp.mpf(0)]
    total = mp.mpf(0)
    for high, low in itertools.pairwise(panels):
        for x, weight in gauss_legendre():
            phi = low + (high - low) * (1 + x) / 2
            total += (
                (high - low) * weight * mp.sin(2 * phi) ** 2 / (L.low + width * mp.sin(phi) ** 2)
            )
    return L.atom + 2 / mp.pi * total


def main() -> None:
    print("| quantity | grid | points | largest relative error | divided by the condition number |")
    print("|---|---|---|---|---|")
    plain_rows()
    for variant in VARIANTS:
        variant_rows(variant)
    crossing_rows()
    threshold_rows()
    law_rows()


if __name__ == "__main__":
    main()
