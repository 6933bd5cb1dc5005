"""All fixed points of a linear network, and how each is left."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count, covariance_spectrum, moderate, untraced
from lazyrich.models import TwoLayerWeights
from lazyrich.theory._frozen import Frozen
from lazyrich.theory._linear_task import output_power_of
from lazyrich.theory._modes import chosen_modes

EQUAL = 1e-9
"""Numbers that differ by less than this share of the largest are equal: eigenvalues have rounding errors."""


class LinearFixedPoints(Frozen):
    r"""The fixed points of a two-layer network that is linear in its first layer, one for each set of modes.

    $$ W_\mathcal{A} = \sum_{k\in\mathcal{A}} e_k e_k^\top \Sigma_{yz}\Sigma_{zz}^{+}, \qquad
       \mathcal{L}_\mathcal{A} = \tfrac12\Bigl(\operatorname{Tr}\Sigma_{yy} - \sum_{k\in\mathcal{A}}
       \mu_k\Bigr), \qquad \tilde\Sigma_{yz} = \sum_{k\notin\mathcal{A}} e_k e_k^\top \Sigma_{yz} $$

    where $\mu_k, e_k$ are eigenvalues and eigenvectors of $\Sigma_{yz}\Sigma_{zz}^{+}\Sigma_{yz}^\top$,
    largest first. A network of H units at the fixed point of r modes has Hessian index

    $$ (H - r)(D - r) + \#\{k\in\mathcal{A}, j\notin\mathcal{A}: \mu_j > \mu_k\} $$

    D being the number of nonzero $\mu$: units that are not used yet can learn any mode that is missing, and
    used ones can change to a better mode. It is a saddle unless $\mathcal{A}$ holds the best modes and no
    unit or mode is left.

    Symbols:
        $\Sigma_{yz}$ → `correlation`, $\Sigma_{zz}$ → `covariance`, $\operatorname{Tr}\Sigma_{yy}$ →
        `output_power`, $\mathcal{A}$ → `modes` (numbers from 0), H → `width`.

    Source:
        saddles, Lemma 6, Eq. 40–42. The Hessian index is not in the paper; it follows from the normal form
        of the fixed points.

    Holds when:
        loss = ½ mean squared norm of the error. $\Sigma_{zz}^+$ is the pseudo-inverse: directions without
        variance, below 1e-10 of the largest, count as absent; `rank` says how many are left. $\mu$ that
        differ by less than 1e-9 of the largest count as equal.

    Checked by:
        checks `saddles/lemma6`, `saddles/eq42`; `tests/theory/test_linear_fixed_points.py`.

    Args:
        correlation: $\Sigma_{yz}$, shape (outputs, inputs).
        covariance: $\Sigma_{zz}$, shape (inputs, inputs), symmetric, positive semi-definite.
        output_power: mean squared norm of the outputs; without it the least that fits, $\sum_k\mu_k$,
            so that the best loss is 0.

    Example:
        >>> import numpy as np
        >>> from lazyrich.theory import LinearFixedPoints
        >>> points = LinearFixedPoints(correlation=np.diag([2.0, 1.0]), covariance=np.eye(2))
        >>> [float(points.loss(modes)) for modes in ([], [0], [0, 1])]
        [2.5, 0.5, 0.0]
        >>> points.escape_rate([0]).round(12), points.hessian_index([0], width=3)
        (np.float64(1.0), 2)
    """

    @untraced
    def __init__(self, correlation: Any, covariance: Any, output_power: Any = None):
        self.correlation = moderate("correlation", correlation, advice="Pass Y.T @ Z / N.")
        self.covariance = moderate("covariance", covariance, advice="Pass Z.T @ Z / N.")
        _check_shapes(self.correlation, self.covariance)
        inverse, self.rank = _pseudo_inverse(self.covariance)
        self._regression = self.correlation @ inverse
        gain = self._regression @ self.correlation.T
        eigenvalues, vectors = np.linalg.eigh((gain + gain.T) / 2)
        kept = eigenvalues[::-1] > 1e-12 * max(eigenvalues[-1], 0)
        self.eigenvalues = eigenvalues[::-1][kept]
        self.eigenvectors = vectors[:, ::-1][:, kept]
        least = float(self.eigenvalues.sum())
        self.output_power = output_power_of(output_power, least)

    @property
    def num_modes(self) -> int:
        """D, the number of modes that reduce the loss."""
        return self.eigenvalues.size

    def map(self, modes: Sequence[int]) -> np.ndarray:
        """The linear map of the fixed point, shape (outputs, inputs) (Eq. 40)."""
        E = self.eigenvectors[:, self._modes(modes)]
        return E @ (E.T @ self._regression)

    def loss(self, modes: Sequence[int]) -> Any:
        """The loss there."""
        return (self.output_power - self.eigenvalues[self._modes(modes)].sum()) / 2

    def residual_correlation(self, modes: Sequence[int]) -> np.ndarray:
        """What correlation is left to learn, which drives the escape (Eq. 42)."""
        E = self.eigenvectors[:, self._modes(modes)]
        return self.correlation - E @ (E.T @ self.correlation)

    def escape_rate(self, modes: Sequence[int]) -> Any:
        """The rate at which small unused units grow: the residual correlation's largest singular value."""
        return np.linalg.norm(self.residual_correlation(modes), ord=2)

    def hessian_index(self, modes: Sequence[int], width: int) -> int:
        """The number of directions in weight space in which the loss falls."""
        chosen = self._modes(modes)
        width = count("width", width, at_most=10**6, advice="Pass the number of units.")
        if width < chosen.size:
            raise argument_error("width", f"be at least {chosen.size}, the number of modes", width)
        others = np.setdiff1d(np.arange(self.num_modes), chosen)
        mu = self.eigenvalues
        better = np.sum(mu[others][:, None] - mu[chosen] > EQUAL * mu[:1])
        return int((width - chosen.size) * (self.num_modes - chosen.size) + better)

    @untraced
    def weights(self, modes: Sequence[int], width: int, mixing: Any = None) -> TwoLayerWeights:
        """Weights at the fixed point.

        There are many: `mixing`, invertible and of shape (width, width), turns the units into each other.
        """
        chosen = self._modes(modes)
        width = count("width", width, at_most=10**6, advice="Pass the number of units.")
        if width < chosen.size:
            raise argument_error("width", f"be at least {chosen.size}, the number of modes", width)
        E = self.eigenvectors[:, chosen]
        unused = width - chosen.size
        second = np.concatenate([E.T, np.zeros((unused, E.shape[0]))])  # (units, outputs)
        first = np.concatenate(
            [(E.T @ self._regression).T, np.zeros((self.covariance.shape[0], unused))], axis=1
        )
        G = (
            np.eye(width)
            if mixing is None
            else moderate("mixing", mixing, advice="Leave it out for none.")
        )
        if G.shape != (width, width) or np.linalg.matrix_rank(G) < width:
            raise argument_error("mixing", f"be invertible, of shape {(width, width)}", G.shape)
        return TwoLayerWeights(first @ np.linalg.inv(G), G @ second)

    def _modes(self, modes: Sequence[int]) -> np.ndarray:
        return chosen_modes(modes, self.num_modes)


def _check_shapes(correlation: Any, covariance: Any) -> None:
    if correlation.ndim != 2 or 0 in correlation.shape:
        raise argument_error("correlation", "have the shape (outputs, inputs)", correlation.shape)
    outputs, inputs = correlation.shape
    if covariance.shape == (outputs, outputs) != (inputs, inputs):
        requirement = f"have the shape (outputs, inputs), with {outputs} inputs as `covariance` has"
        raise argument_error("correlation", requirement, correlation.shape, "Transpose it.")
    if covariance.shape != (inputs, inputs):
        requirement = f"have the shape {(inputs, inputs)} to fit `correlation`, (outputs, inputs)"
        raise argument_error("covariance", requirement, covariance.shape)


def _pseudo_inverse(covariance: np.ndarray) -> tuple[np.ndarray, int]:
    nu, V = covariance_spectrum(covariance)
    kept = nu > 1e-10 * nu[-1]
    return (V[:, kept] / nu[kept]) @ V[:, kept].T, int(kept.sum())
