"""How far the last layer's features have collapsed to a simplex."""

import dataclasses
from typing import Any

import numpy as np

from lazyrich.core import ArgumentError, argument_error, moderate, untraced
from lazyrich.measures._class_moments import ClassMoments, feature_rows
from lazyrich.measures._hidden_arrays import class_numbers

SAME = 1e-5
"""Difference of means, as a share of the features' size, up to which samples count as the same: networks in
single precision do not give the same bits twice."""


@dataclasses.dataclass(frozen=True)
class NeuralCollapse:
    r"""The four conditions of neural collapse as numbers that tend to 0; None without the last layer.

    Attributes:
        within_class: NC1, $\operatorname{tr}\Sigma_W / \operatorname{tr}\Sigma_B$ (Eq. 64, 65), which does
            not depend on the features' scale.
        within_class_trace: NC1 as printed, $\operatorname{tr}\Sigma_W$.
        within_class_pinv: NC1 as neural-collapse measures it, $\operatorname{tr}(\Sigma_W\Sigma_B^+)/c$.
        simplex: NC2, the largest difference between a cosine of two centred class means and
            $-1/(c-1)$ (Eq. 66).
        simplex_mean: its mean over pairs of classes.
        length_spread: standard deviation of the centred class means' lengths over their mean. It vanishes
            with `simplex`: the centred means sum to 0, which these angles allow for equal lengths only.
        duality: NC3, the largest length of $w_k/\lVert w_k\rVert - (\mu_k - \mu_g)/\lVert\mu_k - \mu_g\rVert$
            over classes (Eq. 67).
        duality_mean: its mean over classes.
        duality_centred: the largest length with $w_k$ minus the mean over classes, a shift that
            changes no decision. It tends to 0 also without bias, where `duality` does not.
        disagreement: NC4, the share of samples that the network and the nearest class mean put into
            different classes (Eq. 68).
        class_means: $\mu_k$, shape (classes, width) (Eq. 62).
        global_mean: $\mu_g$, shape (width,) (Eq. 63).
        within_covariance: $\Sigma_W$, shape (width, width) (Eq. 64).
        counts: samples of each class.
    """

    within_class: float
    within_class_trace: float
    within_class_pinv: float
    simplex: float
    simplex_mean: float
    length_spread: float
    duality: float | None
    duality_mean: float | None
    duality_centred: float | None
    disagreement: float | None
    class_means: np.ndarray
    global_mean: np.ndarray
    within_covariance: np.ndarray
    counts: np.ndarray


@untraced
def neural_collapse(
    features: Any, labels: Any, second: Any = None, bias: Any = None
) -> NeuralCollapse:
    r"""Neural collapse of any features, NC1 to NC4.

    $$ \Sigma_W = \frac1n \sum_k \sum_{x \in A_k} (\Phi(x) - \mu_k)(\Phi(x) - \mu_k)^\top \to 0, \qquad
       \frac{(\mu_j - \mu_g) \cdot (\mu_k - \mu_g)}{\lVert\mu_j - \mu_g\rVert \lVert\mu_k - \mu_g\rVert} \to
       \frac{c\,\delta_{jk} - 1}{c - 1}, $$

    $$ \frac{w_k}{\lVert w_k\rVert} - \frac{\mu_k - \mu_g}{\lVert\mu_k - \mu_g\rVert} \to 0, \qquad
       \arg\max_k (\Phi(x) \cdot w_k + b_k) \to \arg\min_k \lVert\Phi(x) - \mu_k\rVert $$

    Classes may differ in size: $\mu_k$ is the mean over the samples of class k, $\mu_g$ the mean of the
    $\mu_k$, every sample has the same weight in $\Sigma_W$, and
    $\Sigma_B = \frac1c\sum_k (\mu_k - \mu_g)(\mu_k - \mu_g)^\top$. With equal classes this is App. E.

    Args:
        features: Φ(x), shape (samples, width): what enters the last layer.
        labels: classes, whole numbers from 0, shape (samples,).
        second: W, the last layer, shape (width, classes); torch's `Linear` has it transposed.
        bias: b, shape (classes,). Without it 0.

    Returns:
        The measures. Without `second` those that need it are None. For features that do not fit into
        memory see `CollapseMeter`.

    Source:
        layerwise, App. E, Eq. 61–68, after neural-collapse.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import neural_collapse
        >>> corners = np.eye(3)
        >>> found = neural_collapse(corners[[0, 0, 1, 1, 2]], [0, 0, 1, 1, 2], second=corners)
        >>> found.within_class, round(found.simplex, 12), found.disagreement
        (0.0, 0.0, 0.0)
        >>> round(found.duality, 4), round(found.duality_centred, 12)
        (0.6058, 0.0)
    """
    meter = CollapseMeter(second, bias)
    meter.add(features, labels)
    if second is not None:
        meter.compare(features)
    return meter.result()


class CollapseMeter:
    """Neural collapse batch by batch: features of any number of samples in the memory of one batch.

    Call `add` for every batch. For NC4, which compares each sample with the final class means, go through
    the features a second time with `compare`. Then `result`. The numbers are those of `neural_collapse`, up
    to rounding, in whatever batches they come.

    Args:
        second: as in `neural_collapse`.
        bias: as there.

    Example:
        >>> import numpy as np
        >>> from lazyrich.measures import CollapseMeter
        >>> features, labels = np.eye(3)[[0, 1, 2, 0]], np.array([0, 1, 2, 0])
        >>> meter = CollapseMeter(second=np.eye(3))
        >>> for part in (slice(0, 2), slice(2, 4)):
        ...     meter.add(features[part], labels[part])
        >>> for part in (slice(0, 2), slice(2, 4)):
        ...     meter.compare(features[part])
        >>> round(meter.result().simplex, 12)
        0.0
    """

    def __init__(self, second: Any = None, bias: Any = None):
        self._second, self._bias = _last_layer(second, bias)
        self._moments: ClassMoments | None = None
        self._compared = self._disagree = 0
        self._sum: Any = 0.0  # of the features that were compared

    def add(self, features: Any, labels: Any) -> None:
        """One batch of features, shape (samples, width), and their classes, shape (samples,)."""
        if self._compared:
            raise ArgumentError(
                "`add` must come before `compare`, got a batch after it: class means would change. "
                "Add all batches first."
            )
        x = feature_rows(features)
        classes = None if self._second is None else self._second.shape[1]
        if self._second is not None and len(self._second) != x.shape[1]:
            raise argument_error(
                "second", f"have the shape ({x.shape[1]}, classes) to fit `features`",
                self._second.shape, "Transpose torch's `Linear.weight`.",
            )  # fmt: skip
        k = class_numbers("labels", labels, len(x), classes, one_run=True)
        if self._moments is None:
            self._moments = ClassMoments(x.shape[1])
        self._moments.add(x, k)

    @untraced
    def compare(self, features: Any) -> None:
        """One batch again: do the network and the nearest class mean agree on its samples?"""
        if self._second is None:
            raise argument_error(
                "second", "be given for NC4", None, "Pass the last layer to `CollapseMeter`."
            )
        moments = self._checked_moments()
        x = feature_rows(features, moments.width)
        decided = np.argmax(x @ self._second + self._bias, axis=1)
        # ‖x‖² is the same for all classes; from the global mean, so that a far origin costs no digits
        centre = moments.global_mean
        means = moments.means - centre
        distances = np.sum(means**2, axis=1) - 2 * (x - centre) @ means.T
        self._disagree += int(np.sum(decided != np.argmin(distances, axis=1)))
        self._compared += len(x)
        self._sum = self._sum + x.sum(axis=0)

    def result(self) -> NeuralCollapse:
        """The measures of all batches so far."""
        moments = self._checked_moments()
        centred = moments.means - moments.global_mean  # (classes, width)
        lengths = np.linalg.norm(centred, axis=1)
        _check_lengths(lengths, moments)
        c = len(centred)
        between = np.sum(lengths**2) / c
        within = np.trace(moments.within)
        inverse = np.linalg.pinv(centred, rcond=1e-10)  # Σ_B has rank c − 1
        return NeuralCollapse(
            within_class=float(within / between),
            within_class_trace=float(within),
            within_class_pinv=float(np.sum(inverse * (moments.within @ inverse))),
            **_simplex(centred / lengths[:, None]),
            length_spread=float(np.std(lengths) / np.mean(lengths)),
            **self._duality(centred / lengths[:, None]),
            disagreement=self._share(moments),
            class_means=moments.means,
            global_mean=moments.global_mean,
            within_covariance=moments.within,
            counts=moments.counts,
        )

    def _checked_moments(self) -> ClassMoments:
        if self._moments is None:
            raise ArgumentError(
                "`add` must be called first, got no batch. Add features and labels."
            )
        classes = None if self._second is None else self._second.shape[1]
        self._moments.check(classes)
        return self._moments

    def _duality(self, means: np.ndarray) -> dict[str, Any]:
        if self._second is None:
            return dict.fromkeys(("duality", "duality_mean", "duality_centred"))
        w = self._second.T
        differences = np.linalg.norm(_unit(w, "not vanish") - means, axis=1)
        shifted = _unit(w - w.mean(axis=0), "differ between classes")
        return {
            "duality": float(differences.max()),
            "duality_mean": float(differences.mean()),
            "duality_centred": float(np.linalg.norm(shifted - means, axis=1).max()),
        }

    def _share(self, moments: ClassMoments) -> float | None:
        if self._second is None:
            return None
        if self._compared != moments.counts.sum():
            raise ArgumentError(
                f"`compare` must see all {int(moments.counts.sum())} samples before `result`, got "
                f"{self._compared}. Go through the batches a second time."
            )
        self._check_same(moments)
        return self._disagree / self._compared

    def _check_same(self, moments: ClassMoments) -> None:
        """As many samples may be half of them twice; then their mean is another."""
        mean = moments.counts @ moments.means / moments.counts.sum()
        off = np.abs(self._sum / self._compared - mean).max()
        size = max(np.abs(moments.means).max(), np.sqrt(np.diag(moments.within).max()))
        if off > SAME * size:
            raise ArgumentError(
                f"`compare` must see the samples that `add` saw, each once, got others: their mean differs "
                f"by {off / size:.2g} of the features' size. Go through the same batches, without dropout."
            )


def _simplex(directions: np.ndarray) -> dict[str, Any]:
    """Eq. 66 off the diagonal; on it the cosine of a vector with itself is 1 whatever the features."""
    c = len(directions)
    off = np.abs(directions @ directions.T + 1 / (c - 1))[~np.eye(c, dtype=bool)]
    return {"simplex": float(off.max()), "simplex_mean": float(off.mean())}


def _unit(rows: np.ndarray, requirement: str) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not lengths.all():
        k = int(np.argmin(lengths))
        raise argument_error(
            "second", requirement, f"zero for class {k}", "Measure after the first step."
        )
    return rows / lengths


def _check_lengths(lengths: np.ndarray, moments: ClassMoments) -> None:
    # means that differ by less than rounding have no direction
    scale = np.abs(moments.means).max()
    if not np.all(lengths > 1e-13 * scale):
        k = int(np.argmin(lengths))
        raise argument_error(
            "features", "have class means that differ from the global mean",
            f"a distance of {lengths[k]:.2g} for class {k}",
            "Cosines are not defined there. Measure after the first step.",
        )  # fmt: skip


def _last_layer(second: Any, bias: Any) -> tuple[np.ndarray | None, np.ndarray | float]:
    if second is None:
        if bias is not None:
            raise argument_error("bias", "come with `second`", "a bias alone", "Pass both.")
        return None, 0.0
    w = moderate("second", second, advice="Pass the last layer, shape (width, classes).")
    if w.ndim != 2 or 0 in w.shape:
        raise argument_error("second", "have the shape (width, classes)", w.shape)
    if bias is None:
        return w, 0.0
    b = moderate("bias", bias, advice="Pass the last layer's bias, shape (classes,).")
    if b.shape != w.shape[1:]:
        raise argument_error("bias", f"have the shape {w.shape[1:]} of the classes", b.shape)
    return w, b
