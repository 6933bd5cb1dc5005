"""The direction in which small ReLU units grow fastest."""

from typing import Any, NamedTuple

import numpy as np

from lazyrich.core import argument_error, count, moderate, untraced

ITERATIONS = 200
"""Steps of the ascent; each start ends after a few, when the activation pattern repeats."""
TRIED = 50
"""Random directions looked at for each start."""

Signs = tuple[int] | tuple[int, int]


class FastestDirection(NamedTuple):
    r"""A direction of growth of small ReLU units, returned by `fastest_direction`.

    $$ \rho = v^\top \langle\operatorname{ReLU}(u^\top x)\, y\rangle, \qquad
       \lVert u\rVert = \lVert v\rVert = 1 $$

    Symbols:
        $u$ → `incoming`, $v$ → `outgoing`, $\rho$ → `rate`.

    Source:
        saddles, App. C.

    Holds when:
        as `fastest_direction`.

    Checked by:
        check `saddles/app-c`.

    Attributes:
        incoming: u, shape (inputs,).
        outgoing: v, shape (outputs,).
        rate: growth rate of both, in gradient flow on the loss with ½.
        agreement: share of starts that found it; 1 in up to two dimensions, where no start is needed.

    Example:
        >>> from lazyrich.theory import fastest_direction
        >>> fastest_direction([[3.0, 0.0], [0.0, 1.0]], [1.0, 1.0]).rate.round(6)
        np.float64(1.581139)
    """

    incoming: Any
    outgoing: Any
    rate: Any
    agreement: Any


@untraced
def fastest_direction(
    inputs: Any, targets: Any, sample_weights: Any = None, *,
    sign: int | None = None, num_starts: int = 64, seed: int = 0,
) -> FastestDirection:  # fmt: skip
    r"""The direction in which a small ReLU unit grows fastest.

    $$ \max_{\lVert u\rVert = \lVert v\rVert = 1} v^\top \langle\operatorname{ReLU}(u^\top x)\, y\rangle $$

    Small units obey $\dot u_i = \partial_u v_i^\top G(u_i)$, $\dot v_i = G(u_i)$ with
    $G(u) = \langle\operatorname{ReLU}(u^\top x) y\rangle$. As G is homogeneous, no unit grows at a rate
    above the maximum.

    Symbols:
        $x$ → `inputs`, $y$ → `targets`, $\langle\cdot\rangle$ → the mean with
        `sample_weights`.

    Source:
        saddles, App. C. The paper has one output and $v > 0$: `sign=1`.

    Holds when:
        weights are so small that outputs are negligible beside targets; loss = ½ mean squared norm of the
        error (for losses without the ½ the rate is twice as high); gradient flow. Where the maximum lies on
        a kink, $u^\top x = 0$ for some sample, growth along it is sliding.

    Computed as:
        in up to two dimensions exactly: within each of the activation patterns around the circle the maximum
        is a singular vector or an end. Beyond, ascent from many starts. A step keeps v and the samples
        that push u up as they are, and maximises the concave rest, kinks included, as a bounded
        least-squares problem; then v turns to G(u). No step goes down, but the highest maximum may be
        missed: `agreement` says how many starts found the one returned.

    Checked by:
        check `saddles/app-c`; `tests/theory/test_fastest_direction.py`.

    Args:
        inputs: shape (samples, inputs).
        targets: shape (samples,) or (samples, outputs).
        sample_weights: weight of each sample, ≥ 0, shape (samples,); 1/samples without.
        sign: with one output, 1 for units with v > 0 and −1 for units with v < 0; without, the faster.
        num_starts: starts beyond two dimensions, half of them the best of many random directions.
        seed: for the starts.

    Returns:
        Direction, rate and agreement. A rate ≤ 0, possible with a `sign`, says that no such unit grows;
        beyond two dimensions, that none was found.

    Example:
        >>> from lazyrich.theory import fastest_direction
        >>> pair = [[1.0, 0.5], [-1.0, 2.0]]
        >>> fastest_direction(pair, [1.0, -1.0], sign=1).incoming.round(4)
        array([0.8944, 0.4472])
        >>> found = fastest_direction(pair, [1.0, -1.0])
        >>> found.incoming.round(4), found.outgoing, found.rate.round(4)
        (array([-0.4472,  0.8944]), array([-1.]), np.float64(1.118))
    """
    x, y = _data(inputs, targets, sample_weights)
    signs = _signs(sign, y.shape[1])
    starts = count("num_starts", num_starts, at_most=10**6, advice="Use e.g. 64.")
    seed = count("seed", seed, at_least=0, advice="Use e.g. 0.")
    if x.shape[1] <= 2:
        ends = np.array([[1.0], [-1.0]])
        candidates = ends if x.shape[1] == 1 else _around_the_circle(x, y, signs)
        return _best(candidates, x, y, signs, exact=True)
    tops = [_ascend(u, x, y, signs) for u in _starts(x, y, signs, starts, seed)]
    return _best(np.array(tops), x, y, signs, exact=False)


def _data(inputs: Any, targets: Any, sample_weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and targets times weights of shape (samples, outputs)."""
    x = moderate("inputs", inputs, advice="Pass an array of shape (samples, inputs).")
    y = moderate(
        "targets", targets, advice="Pass an array of shape (samples,) or (samples, outputs)."
    )
    if x.ndim != 2 or 0 in x.shape:
        raise argument_error("inputs", "have the shape (samples, inputs)", x.shape)
    if y.ndim not in (1, 2) or len(y) != len(x) or 0 in y.shape:
        raise argument_error(
            "targets", f"have the shape ({len(x)},) or ({len(x)}, outputs) to fit `inputs`", y.shape
        )
    p = np.full(len(x), 1 / len(x)) if sample_weights is None else sample_weights
    p = moderate("sample_weights", p, at_least=0, advice="Leave it out for equal weights.")
    if p.shape != (len(x),):
        raise argument_error(
            "sample_weights", f"have the shape ({len(x)},) of the samples", p.shape
        )
    y = y.reshape(len(x), -1) * p[:, None]
    if not np.any(x[np.any(y != 0, axis=1)]):
        raise argument_error(
            "targets",
            "not vanish wherever `inputs` and `sample_weights` do not",
            targets,
            "Nothing would grow.",
        )
    return x, y


def _signs(sign: int | None, outputs: int) -> Signs:
    """The signs that v may have; both stand for any v."""
    if sign is None:
        return (1, -1)
    if np.ndim(sign) or sign not in (1, -1) or isinstance(sign, bool):
        raise argument_error("sign", "be 1, -1 or None", sign)
    if outputs > 1:
        raise argument_error("sign", f"be None for {outputs} outputs", sign, "Leave it out.")
    return (sign,)


def _heights(gain: np.ndarray, signs: Signs) -> np.ndarray:
    """The largest vᵀG over unit vectors v, or over those of one sign; last axis of G the outputs."""
    return np.linalg.norm(gain, axis=-1) if len(signs) > 1 else signs[0] * gain[..., 0]


def _best(
    candidates: np.ndarray, x: np.ndarray, y: np.ndarray, signs: Signs, *, exact: bool
) -> FastestDirection:
    heights = np.array([_heights(_gain(u, x, y), signs) for u in candidates])
    u, rate = candidates[np.argmax(heights)], heights.max()
    agreement = 1.0 if exact else np.mean(heights >= rate - 1e-6 * abs(rate))
    return FastestDirection(u, _outgoing(_gain(u, x, y), signs), rate, np.float64(agreement))


def _starts(x: np.ndarray, y: np.ndarray, signs: Signs, num_starts: int, seed: int) -> np.ndarray:
    """Random directions, half of them the highest of many."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((TRIED * num_starts, x.shape[1]))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    high = num_starts - num_starts // 2
    heights = np.array([_heights(_gain(u, x, y), signs) for u in noise])
    best = np.argsort(heights)[-high:]
    return np.concatenate([noise[best], np.delete(noise, best, axis=0)[: num_starts - high]])


def _gain(u: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """G(u), shape (outputs,)."""
    return np.maximum(x @ u, 0) @ y


def _around_the_circle(x: np.ndarray, y: np.ndarray, signs: Signs) -> np.ndarray:
    """The maximiser of every arc on which the same samples are active."""
    used = np.any(x != 0, axis=1)
    x, y = x[used], y[used]
    angle = np.arctan2(x[:, 1], x[:, 0])
    moments = y[:, :, None] * x[:, None, :]  # (samples, outputs, 2)
    turns = np.concatenate([angle - np.pi / 2, angle + np.pi / 2]) % (2 * np.pi)
    order = np.argsort(turns)
    begin = turns[order]
    end = np.append(begin[1:], begin[0] + 2 * np.pi)
    middle = _unit((begin[-1] + end[-1]) / 2)
    last = moments[x @ middle > 0].sum(axis=0)  # what is active on the arc that closes the circle
    changes = np.concatenate([moments, -moments])[order]
    M = last + np.cumsum(changes, axis=0)  # active on each arc: G(u) = M u there
    inside = _stationary(M, signs)
    after = (np.arctan2(inside[..., 1], inside[..., 0]) - begin) % (2 * np.pi)
    kept = inside[after <= end - begin]
    corners = np.stack([np.cos(begin), np.sin(begin)], axis=1)
    every = np.concatenate([kept, corners])
    # of many arcs only the highest few are looked at again with all samples
    values = np.concatenate([
        _heights(np.einsum("aoi,sai->sao", M, inside), signs)[after <= end - begin],
        _heights(np.einsum("aoi,ai->ao", M, corners), signs),
    ])  # fmt: skip
    return every[np.argsort(values)[-8:]]


def _stationary(M: np.ndarray, signs: Signs) -> np.ndarray:
    """Directions of the maxima of vᵀM u on the whole circle, shape (2, arcs, 2)."""
    if len(signs) == 1:
        m = signs[0] * M[:, 0]
        length = np.linalg.norm(m, axis=1, keepdims=True)
        u = np.divide(m, length, out=np.zeros_like(m), where=length > 0)
        return np.stack([u, u])
    u = np.linalg.svd(M)[2][:, 0]
    return np.stack([u, -u])


def _unit(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def _ascend(u: np.ndarray, x: np.ndarray, y: np.ndarray, signs: Signs) -> np.ndarray:
    """A local maximum above a start, or the start itself where nothing grows."""
    u, height = u / np.linalg.norm(u), -np.inf
    best = u
    for _ in range(ITERATIONS):
        gain = _gain(u, x, y)
        new = float(_heights(gain, signs))
        if not new > height + 1e-13 * abs(new):
            break
        best, height = u, new
        u = _concave_step(u, x, y @ _outgoing(gain, signs))
    return best


def _outgoing(gain: np.ndarray, signs: Signs) -> np.ndarray:
    """The v that G(u) drives; zero where G(u) is, for a unit that no sample reaches."""
    if len(signs) == 1:
        return np.array([float(signs[0])])
    length = np.linalg.norm(gain)
    return gain / length if length > 0 else gain


def _concave_step(u: np.ndarray, x: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The maximum over the ball of gᵀu − Σ aⱼ ReLU(uᵀxⱼ), g what the active positive targets push by.

    Its dual is the shortest g − Σ λⱼ aⱼ xⱼ with 0 ≤ λⱼ ≤ 1, and u points along that.
    """
    from scipy.optimize import lsq_linear

    push = (targets > 0) & (x @ u > 0)
    g = targets[push] @ x[push]
    pull = targets < 0
    rest = g
    if np.any(pull):
        A = (-targets[pull, None] * x[pull]).T
        rest = g - A @ lsq_linear(A, g, bounds=(0, 1), method="bvls", tol=1e-14).x
    length = np.linalg.norm(rest)
    return rest / length if length > 1e-12 * (np.abs(targets) @ np.linalg.norm(x, axis=1)) else u
