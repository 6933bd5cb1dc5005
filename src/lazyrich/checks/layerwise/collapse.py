"""Eq. 13, 61–68 and App. F.2: neural collapse, and the distance between kernels."""

from typing import Any

import numpy as np

from lazyrich import adapters, measures, quantities, simulate, theory
from lazyrich.checks._oracles import two_layer_flow
from lazyrich.core import CheckResult, check

SHAPES = ((3, 4, 5), (2, 6, 1), (4, 3, 3), (5, 2, 9))
"""Classes, samples of each, width."""


def _instance(seed: int, c: int, each: int, p: int) -> tuple[np.ndarray, ...]:
    """Random features, shuffled labels, last layer and bias."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(c), each))
    features = rng.standard_normal((c * each, p)) + 2 * rng.standard_normal((c, p))[labels]
    return features, labels, rng.standard_normal((p, c)), rng.standard_normal(c)


def _means(
    features: np.ndarray, labels: np.ndarray, c: int
) -> tuple[list[list[float]], list[float]]:
    """Eq. 62 and 63 as sums, number by number."""
    n, p = features.shape
    means = [[0.0] * p for _ in range(c)]
    for x, k in zip(features, labels, strict=True):
        for i in range(p):
            means[k][i] += c / n * float(x[i])
    return means, [sum(mean[i] for mean in means) / c for i in range(p)]


def _largest(a: Any, b: Any) -> float:
    return float(np.max(np.abs(np.asarray(a) - np.asarray(b))))


def _balanced_flow(X: np.ndarray, Y: np.ndarray, scale: float, time: float, seed: int) -> Any:
    """Both layers at the end of the flow on ½ mean squared error; a balanced start in the inputs' span."""
    from scipy.integrate import solve_ivp

    rng, (n, d), c = np.random.default_rng(seed), X.shape, Y.shape[1]
    p = c + 2
    second = scale * rng.standard_normal((p, c))
    R, s, _ = np.linalg.svd(second, full_matrices=False)
    frame = np.linalg.qr(X.T @ rng.standard_normal((n, c)))[0]
    start = np.concatenate([((frame * s) @ R.T).ravel(), second.ravel()])

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        A, B = flat[: d * p].reshape(d, p), flat[d * p :].reshape(p, c)
        error = (Y - X @ A @ B) / n
        return np.concatenate([(X.T @ error @ B.T).ravel(), ((X @ A).T @ error).ravel()])

    end = solve_ivp(velocity, (0, time), start, method="LSODA", rtol=1e-11, atol=1e-13).y[:, -1]
    return end[: d * p].reshape(d, p), end[d * p :].reshape(p, c)


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors / np.sqrt(values)) @ vectors.T


@check(
    "layerwise/eq13",
    "After training the features have rank c",
    against="an adaptive integrator of the flow from small balanced weights",
)
def eq13() -> CheckResult:
    """The labels are fitted, features have rank c, and class means the Gram matrix (Yᵀ(XXᵀ)⁻¹Y)^(−½).

    The text after Eq. 13 has them orthogonal, which needs white inputs.
    """
    errors, printed = [], []
    for seed, white in ((0, True), (1, False), (2, False)):
        rng, labels = np.random.default_rng(seed), np.repeat(np.arange(3), 2)
        X, Y = rng.standard_normal((6, 10)), np.eye(3)[labels]
        if white:
            X = np.linalg.qr(X.T)[0].T * 3
        first, second = _balanced_flow(X, Y, 1e-2, 400.0, seed)
        errors.append(_largest(X @ first @ second, Y))
        spectrum = np.linalg.svd(X @ first, compute_uv=False)
        errors.append(spectrum[3] / spectrum[0])
        means = (X @ first)[::2]  # two samples a class, which are the same at the end
        gram = _inverse_root(Y.T @ np.linalg.solve(X @ X.T, Y))
        errors.append(_largest(means @ means.T, gram) / np.max(gram))
        cosines = gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
        printed.append(_largest(cosines, np.eye(3)))
    return CheckResult(
        max(errors), 1e-9, len(errors), printed_error=max(printed),
        correction="the c directions are orthogonal for white inputs only; otherwise the class means have "
        "the Gram matrix (Yᵀ(XXᵀ)⁻¹Y)^(−½)",
    )  # fmt: skip


@check(
    "layerwise/sec5-2",
    "A linear network without bias reaches NC1 to NC4",
    against="Eq. 65 to 68 number by number on unconstrained features at late times",
)
def sec5_2() -> CheckResult:
    """NC1, NC2, NC4 hold; NC3 does with the last layer's weights centred, and as printed only with bias."""
    errors, printed, c = [], [], 4
    labels = np.repeat(np.arange(c), 4)
    for centring in ("none", "samples"):
        model = theory.UnconstrainedFeatures.small(labels, c + 3, 1e-6, seed=c, centring=centring)
        late = 40.0 * labels.size / model.singular_values[0]
        h, w = model.features(late), model.last_layer(late)
        means, centre = (np.asarray(a) for a in _means(h, labels, c))
        m = (means - centre) / np.linalg.norm(means - centre, axis=1, keepdims=True)
        nearest = np.argmin(np.linalg.norm(h[:, None] - means, axis=2), axis=1)
        errors += [
            _largest(h, means[labels]),
            _largest(m @ m.T, (c * np.eye(c) - 1) / (c - 1)),
            _self_duality(w.T - w.mean(axis=1), m),
            float(np.mean(np.argmax(h @ w + model.bias, axis=1) != nearest)),
        ]
        gap = _self_duality(w.T, m)
        if centring == "samples":
            errors.append(gap)
        else:
            errors.append(abs(gap - np.sqrt(2 - 2 * np.sqrt(1 - 1 / c))))
            printed.append(gap)
    return CheckResult(
        max(errors), 1e-4, len(errors), printed_error=max(printed),
        correction="without bias the last layer's weights are orthogonal, and Eq. 67 ends at "
        "√(2 − 2√(1 − 1/c)); it tends to 0 with bias, or if the mean over classes is subtracted from the "
        "weights too",
    )  # fmt: skip


def _self_duality(rows: np.ndarray, directions: np.ndarray) -> float:
    difference = rows / np.linalg.norm(rows, axis=1, keepdims=True) - directions
    return float(np.linalg.norm(difference, axis=1).max())


@check(
    "layerwise/eq61",
    "A network as features and a last layer",
    against="the sum of Eq. 61, number by number",
)
def eq61() -> CheckResult:
    """The loss of `LinearClassifier` from Eq. 61; a bias of p entries, as printed, does not fit c classes."""
    import jax

    errors, missing = [], []
    for seed, (c, each, p) in enumerate(SHAPES):
        training = simulate.LinearClassifier(
            c * each, c, each, p, initial_std=1.0, bias=True, num_test=1
        )
        weights, data = training.start(seed)
        weights = weights._replace(bias=np.random.default_rng(seed).standard_normal(c))
        phi, n = data.inputs @ weights.first, c * each
        total = 0.0
        for x, y in zip(phi, data.targets, strict=True):
            for k in range(c):
                f = sum(x[i] * weights.second[i, k] for i in range(p)) + weights.bias[k]
                total += (f - y[k]) ** 2 / (2 * n)
        with jax.enable_x64(True):
            errors.append(abs(float(training.loss(weights, data)) / total - 1))
        missing.append(abs(p - c))
    return CheckResult(
        max(errors), 1e-12, len(errors), printed_error=max(missing),
        correction="b has one entry for each class, b ∈ R^c; with b ∈ R^p entries are lacking or left over "
        "(the number of them is the error of the printed form)",
    )  # fmt: skip


@check("layerwise/eq62", "Mean of a class", against="the sum over samples, number by number")
def eq62() -> CheckResult:
    """Eq. 62, for classes of one size."""
    errors = []
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, _, _ = _instance(seed, c, each, p)
        found = measures.neural_collapse(features, labels).class_means
        errors.append(_largest(found, _means(features, labels, c)[0]))
    return CheckResult(max(errors), 1e-13, len(errors))


@check("layerwise/eq63", "Mean of all classes", against="the sum over classes, number by number")
def eq63() -> CheckResult:
    """Eq. 63, which for classes of one size is the mean over samples too."""
    errors = []
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, _, _ = _instance(seed, c, each, p)
        found = measures.neural_collapse(features, labels).global_mean
        errors.append(_largest(found, _means(features, labels, c)[1]))
        errors.append(_largest(found, features.mean(axis=0)))
    return CheckResult(max(errors), 1e-13, len(errors))


@check(
    "layerwise/eq64", "Covariance within classes", against="the sum over samples, number by number"
)
def eq64() -> CheckResult:
    """Eq. 64, also from batches of two samples."""
    errors = []
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, _, _ = _instance(seed, c, each, p)
        means, n = _means(features, labels, c)[0], c * each
        exact = np.zeros((p, p))
        for x, k in zip(features, labels, strict=True):
            rest = [x[i] - means[k][i] for i in range(p)]
            exact += np.array([[rest[i] * rest[j] / n for j in range(p)] for i in range(p)])
        meter = measures.CollapseMeter()
        for i in range(0, n, 2):
            meter.add(features[i : i + 2], labels[i : i + 2])
        for found in (measures.neural_collapse(features, labels), meter.result()):
            errors.append(_largest(found.within_covariance, exact) / np.max(exact))
    return CheckResult(max(errors), 1e-13, len(errors))


def _integrated(model: "theory.UnconstrainedFeatures", times: np.ndarray) -> list[tuple[Any, Any]]:
    """Features and last layer of the flow, by Runge–Kutta."""
    n = len(model.first)  # one input for each sample: E[xᵀx] is 1/n, and E[xᵀy] the targets over n
    flow = two_layer_flow(
        model.targets / n, model.first, model.second, times, covariance=np.eye(n) / n, atol=1e-15
    )
    return list(zip(*flow, strict=True))


def _along_flows(method: str, field: str) -> tuple[list[float], list[float]]:
    """Relative differences between theory and the measure on integrated flows, and the last values."""
    errors, last = [], []
    times = np.array([0.0, 4.0, 15.0, 30.0, 60.0])
    for labels, centring in (
        ([0, 0, 0, 1, 1, 1, 2, 2, 2], "samples"),
        ([0, 0, 0, 0, 0, 1, 1, 2, 2], "none"),
    ):
        model = theory.UnconstrainedFeatures.small(labels, 5, 0.05, seed=4, centring=centring)
        *exact, end = getattr(model, method)([*times, 1e4])
        for value, (H, W) in zip(exact, _integrated(model, times), strict=True):
            found = measures.neural_collapse(H, labels, W, model.bias)
            errors.append(abs(value - getattr(found, field)) / max(abs(value), 1e-3))
        last.append(float(end))
    return errors, last


@check("layerwise/eq65", "NC1: spread within classes vanishes", against="Runge–Kutta integration")
def eq65() -> CheckResult:
    """Of unconstrained features, as the theory says over time; without bias it ends at 0."""
    errors, last = _along_flows("within_class", "within_class")
    return CheckResult(max([*errors, last[1]]), 1e-9, len(errors) + 1)


@check(
    "layerwise/eq66",
    "NC2: class means form a simplex",
    against="loops, exact simplices, Runge–Kutta",
)
def eq66() -> CheckResult:
    """The measure on random features, on simplices of any size, and theory over time."""
    errors, last = _along_flows("simplex", "simplex")
    errors.append(last[0])  # classes of one size
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, _, _ = _instance(seed, c, each, p)
        means, centre = _means(features, labels, c)
        m = [[means[k][i] - centre[i] for i in range(p)] for k in range(c)]
        norm = [sum(v * v for v in row) ** 0.5 for row in m]
        worst = max(
            abs(sum(a * b for a, b in zip(m[j], m[k], strict=True)) / norm[j] / norm[k]
                - (c * (j == k) - 1) / (c - 1))
            for j in range(c) for k in range(c)
        )  # fmt: skip
        errors.append(abs(measures.neural_collapse(features, labels).simplex - worst))
        corners = np.linalg.qr(np.random.default_rng(seed).standard_normal((c + 1, c + 1)))[0][:c]
        errors.append(measures.neural_collapse(3 * corners + 1, range(c)).simplex)
    return CheckResult(max(errors), 1e-9, len(errors))


@check("layerwise/eq67", "NC3: self-duality", against="loops, self-dual networks, Runge–Kutta")
def eq67() -> CheckResult:
    """w_k is a column of W. With a bias that has learned the frequencies it tends to 0 as printed."""
    errors, _ = _along_flows("duality", "duality")
    late = theory.UnconstrainedFeatures.small(np.repeat(range(3), 4), 6, 1e-10, centring="samples")
    errors.append(float(late.duality(400.0)))
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, W, b = _instance(seed, c, each, p)
        means, centre = _means(features, labels, c)
        lengths = []
        for k in range(c):
            m, w = np.subtract(means[k], centre), W[:, k]
            lengths.append(np.sqrt(np.sum((w / np.sqrt(w @ w) - m / np.sqrt(m @ m)) ** 2)))
        errors.append(abs(measures.neural_collapse(features, labels, W, b).duality - max(lengths)))  # type: ignore[operator]
        dual = 7 * np.subtract(means, centre).T
        errors.append(measures.neural_collapse(features, labels, dual).duality)  # type: ignore[arg-type]
    return CheckResult(max(errors), 1e-9, len(errors))


@check(
    "layerwise/eq68",
    "NC4: nearest class mean",
    against="loops over samples and classes, Runge–Kutta",
)
def eq68() -> CheckResult:
    """The share of samples on which both sides of Eq. 68 differ."""
    errors, last = _along_flows("disagreement", "disagreement")
    errors += last
    for seed, (c, each, p) in enumerate(SHAPES):
        features, labels, W, b = _instance(seed, c, each, p)
        means, differ = _means(features, labels, c)[0], 0
        for x in features:
            scores = [sum(x[i] * W[i, k] for i in range(p)) + b[k] for k in range(c)]
            distances = [sum((x[i] - means[k][i]) ** 2 for i in range(p)) for k in range(c)]
            differ += scores.index(max(scores)) != distances.index(min(distances))
        found = measures.neural_collapse(features, labels, W, b).disagreement
        errors.append(abs(found - differ / len(features)))  # type: ignore[operator]
    return CheckResult(max(errors), 1e-14, len(errors))


@check(
    "layerwise/app-f2",
    "Distance between tangent kernels",
    against="the printed fraction on kernels of a linear network written out by hand",
)
def app_f2() -> CheckResult:
    """S(t) from single rows of the Jacobian against S(t) from dense kernels, as printed."""
    rng, errors = np.random.default_rng(0), []
    for n, d, p, c in ((5, 3, 4, 2), (4, 5, 3, 1)):
        X = rng.standard_normal((n, d))
        layers = [(rng.standard_normal((d, p)), rng.standard_normal((p, c))) for _ in range(2)]
        net = adapters.tangents(lambda w, x: x @ w[0] @ w[1], layers[0], X)
        for full in (True, False):
            found = [
                measures.tangent_kernel(net.at(w), full=full, max_bytes=1).kernel for w in layers
            ]
            K0, K1 = (_linear_kernel(X, *w, full) for w in layers)
            dot = sum(a * b for a, b in zip(K0.ravel(), K1.ravel(), strict=True))
            norms = [sum(a * a for a in K.ravel()) ** 0.5 for K in (K0, K1)]
            errors.append(
                abs(float(quantities.kernel_distance(*found)) - (1 - dot / norms[0] / norms[1]))
            )
    return CheckResult(max(errors), 1e-13, len(errors))


def _linear_kernel(X: np.ndarray, first: np.ndarray, second: np.ndarray, full: bool) -> np.ndarray:
    """⟨x, x'⟩ W₂ᵀW₂ + ⟨W₁ᵀx, W₁ᵀx'⟩ 1, over points and outputs, or its trace over outputs."""
    inputs, hidden = X @ X.T, X @ first @ first.T @ X.T
    if full:
        return np.kron(inputs, second.T @ second) + np.kron(hidden, np.eye(second.shape[1]))
    return inputs * np.sum(second**2) + hidden * second.shape[1]
