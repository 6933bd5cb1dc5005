"""How many nodes it takes until every local maximum is found by one of them."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, is_traced, number, real, whole
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._quadrature import panels

NODES = 16
"""Gauss–Legendre nodes on each panel of half a unit of ln t: the integrand is smooth on that scale."""


class CollectionBounds(NamedTuple):
    r"""Bounds of the expected number of nodes, returned by `NodesToCollect.bounds`.

    $$ \max\Bigl(\frac{1}{\min_l p_l}, L\sum_{l=1}^L \frac1l\Bigr) \le T_0
       \le \frac{1}{\min_l p_l}\sum_{l=1}^L \frac1l $$

    Symbols:
        $1/\min_l p_l$ → `rarest`, $L\sum_l 1/l$ → `even`, the right side → `upper`.

    Source:
        li2, Lemma 10, Eq. 39; the bound from above is not in the paper.

    Holds when:
        nodes are independent.

    Checked by:
        checks `li2/eq39`, `li2/lemma10`.

    Attributes:
        rarest: the wait for the rarest maximum alone.
        even: what equal probabilities would take.
        upper: what it would take if all were as rare as the rarest.

    Example:
        >>> from lazyrich.theory import NodesToCollect
        >>> NodesToCollect([1.0, 1.0], exponent=2.0).bounds()
        CollectionBounds(rarest=np.float64(2.0), even=np.float64(3.0), upper=np.float64(3.0))
    """

    rarest: np.float64
    even: np.float64
    upper: np.float64


class NodesToCollect(Frozen):
    r"""The number of hidden nodes until all local maxima are found, if each node finds one at random.

    $$ p_l = \frac{\mu_l^a}{\sum_k\mu_k^a}, \qquad
       T_0 = \int_0^\infty \Bigl(1 - \prod_{l=1}^L (1 - e^{-p_l t})\Bigr) dt, \qquad
       T_a = 2^{-a} T_0 + (1 - 2^{-a}) L $$

    Each node ends in the maximum with the largest $\mu_l\alpha_l(0)$ (Lemma 8), and with amplitudes of the
    distribution $\exp(-x^{-a})$ that is maximum l with probability $p_l$ (Lemma 7). $T_a$ is for
    maxima whose rates are halved once they are found.

    Symbols:
        $\mu_l$ → `rates`, $a$ → `exponent`, $p_l$ → `probabilities`, $T_0$ → `expected`,
        $T_a$ → `expected_with_suppression`, $L$ the number of maxima.

    Source:
        li2, Theorem 8, Lemma 7, 10, Eq. 39, 41, 44–46. Printed without the factor L of Eq. 39 in the
        theorem, with min for max in Lemma 10. $T_a \to L$ for large a holds only where
        $\max\mu < 2\min\mu$; else it grows as $(\max\mu/2\min\mu)^a$.

    Holds when:
        nodes are independent, or are found one after the other with suppression. $T_a$ is exact if rates of
        maxima that are found are divided by exactly 2: the order in which maxima are found has the same law
        with and without suppression, although single waiting times depend on it. It is a bound from
        above if they are suppressed more. The exact polar factor of the gradient beside the orthonormal
        gradients of earlier nodes suppresses so much that no node ends in a maximum that is found: then
        it takes L nodes.

    Computed as:
        logarithms of probabilities, and the integral over ln t. The distribution is a contour integral
        through the saddle point of its generating function.

    Checked by:
        checks `li2/thm8`, `li2/lemma7`, `li2/lemma10`, `li2/eq41`, `li2/eq46`;
        `tests/theory/test_coupons.py`.

    Args:
        rates: $\mu_l > 0$, shape (maxima,); their common factor does not matter.
        exponent: a > 0; the paper takes a > 1.

    Example:
        >>> from lazyrich.theory import NodesToCollect
        >>> nodes = NodesToCollect(rates=[1.0, 1.0, 0.5], exponent=2.0)
        >>> nodes.probabilities.round(4), nodes.expected.round(6)
        (array([0.4444, 0.4444, 0.1111]), np.float64(9.775))
        >>> nodes.expected_with_suppression().round(6)
        np.float64(4.69375)
        >>> nodes.chance([3, 10, 30]).round(4)
        array([0.1317, 0.6871, 0.9708])
    """

    def __init__(self, rates: Any, exponent: float = 2.0):
        mu = real("rates", rates, above=0, advice="Pass one rate for each maximum.")
        if is_traced(mu) or mu.ndim != 1 or mu.size == 0:
            raise argument_error("rates", "have the shape (maxima,), known now", np.shape(mu))
        self.rates = mu
        self.exponent = number("exponent", exponent, above=0, advice="Use e.g. 2.")
        logs = self.exponent * np.log(mu)
        top = logs.max()
        self._logs = logs - (top + np.log(np.sum(np.exp(logs - top))))

    @property
    def probabilities(self) -> np.ndarray:
        """$p_l$, shape (maxima,)."""
        return np.exp(self._logs)

    @property
    def expected(self) -> np.float64:
        """$T_0$, the expected number of independent nodes (Eq. 41)."""
        low, high = np.log(1e-18), -self._logs.min() + np.log(50 + np.log(self._logs.size))
        if high > 700:
            return np.float64(np.inf)  # more than a float can hold
        edges = np.linspace(low, high, max(int(np.ceil(2 * (high - low))), 1) + 1)
        x, weights = panels(edges, NODES)  # ln t
        rest = np.exp(-np.exp(np.add.outer(x, self._logs)))  # chance that l is missing at time t
        with np.errstate(divide="ignore"):
            missing = -np.expm1(np.sum(np.log1p(-rest), axis=1))
        integral = np.sum(weights * missing * np.exp(x))
        return np.float64(integral + 1e-18)  # before that nothing is found

    def bounds(self) -> CollectionBounds:
        """Bounds of $T_0$: Lemma 10's from below, corrected, and one from above."""
        with np.errstate(over="ignore"):
            rarest, L = np.exp(-self._logs.min()), self._logs.size
        harmonic = np.sum(1 / np.arange(1, L + 1))
        return CollectionBounds(np.float64(rarest), np.float64(L * harmonic), harmonic * rarest)

    def chance_of_new(self, found: Any, factor: float = 2.0) -> np.float64:
        """Chance that the next node ends in a new maximum, if rates of those found are divided (Eq. 44)."""
        known = self._known(found)
        shrink = _factor(factor) ** -self.exponent
        p = self.probabilities
        new = np.sum(p[~known])
        return np.float64(new / (shrink * np.sum(p[known]) + new))

    def expected_with_suppression(self, factor: float = 2.0) -> np.float64:
        """$T_a$ (Eq. 46) if rates of maxima already found are divided by `factor` ≥ 1; `inf` gives L.

        Exact for that factor; the paper's bound for Muon is with 2.
        """
        shrink = _factor(factor) ** -self.exponent
        if shrink == 0:
            return np.float64(self._logs.size)
        return np.float64(shrink * self.expected + (1 - shrink) * self._logs.size)

    def chance(self, num_nodes: Any) -> np.ndarray:
        """Probability that this many independent nodes find all maxima; any shape."""
        numbers = whole(
            "num_nodes", num_nodes, at_least=0, at_most=10**9, advice="Pass numbers of nodes."
        )
        return np.vectorize(self._chance, otypes=[float])(numbers)

    def _chance(self, K: float) -> float:
        from scipy.optimize import brentq
        from scipy.special import gammaln

        p, L = self.probabilities, self._logs.size
        if L > K or p.min() * K < 1e-300:  # at most the chance of the rarest
            return 0.0
        if p.min() * K > 40 + np.log(L):  # one is missing with a chance below L·e^(−pK)
            return 1.0
        if L == K:
            return float(np.exp(gammaln(L + 1) + np.sum(self._logs)))

        def saddle(r: float) -> float:
            x = p * r
            known = x > 0  # rare maxima: 1, the limit
            return float(np.sum(np.where(known, x, 1) / np.where(known, -np.expm1(-x), 1)) - K)

        r = float(np.asarray(brentq(saddle, 1e-300, K + 1.0)))
        # values of the generating function K! Π(e^{pz} − 1)/z^K on a circle; far from the saddle they vanish
        points = int(32 + 20 * np.sqrt(K))
        theta = np.pi * (np.arange(points) + 0.5) / points  # the other half is conjugate
        z = np.multiply.outer(r * np.exp(1j * theta), p)
        # log(1 − e^{−z}) without overflow on either side
        left = np.real(z) < 0
        tails = np.log(np.where(left, 1, -1) * np.expm1(np.where(left, z, -z))) - np.where(
            left, z, 0
        )
        # K! e^z/z^K in terms that stay small where K is large: r is near K then, and theta near 0
        logs = (
            (r - K)
            - 2 * r * np.sin(theta / 2) ** 2
            + 1j * ((r - K) * theta + r * (np.sin(theta) - theta))
        )
        logs = logs - K * np.log1p((r - K) / K) + _stirling(K) + np.sum(tails, axis=1)
        return float(np.mean(np.exp(logs).real))

    def _known(self, found: Any) -> np.ndarray:
        known = np.zeros(self._logs.size, bool)
        numbers = whole("found", found, at_least=0, at_most=known.size - 1, advice="Count from 0.")
        known[numbers.astype(int).ravel()] = True
        if known.all():
            raise argument_error("found", "leave a maximum to find", found, "All are found.")
        return known


def _stirling(K: float) -> float:
    """The logarithm of K! less K log K − K."""
    from scipy.special import gammaln

    if K < 50:
        return float(gammaln(K + 1) - K * np.log(K) + K)
    return np.log(2 * np.pi * K) / 2 + 1 / (12 * K) - 1 / (360 * K**3) + 1 / (1260 * K**5)


def _factor(value: Any) -> float:
    return number("factor", value, finite=False, at_least=1, advice="Use 2, the paper's bound.")
