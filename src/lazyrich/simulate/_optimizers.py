"""Optimisers by name: rules of rate one, whose rate and decay are numbers of each run."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from lazyrich.core import argument_error, flag, number
from lazyrich.models import PairWeights
from lazyrich.quantities._polar import orthogonalised


@dataclasses.dataclass(frozen=True)
class Optimizer:
    r"""A rule that makes steps of gradients, and how decay enters it.

    $$ \theta \leftarrow \theta + \eta\,u(\nabla\mathcal{L} + \lambda\theta), \qquad
       \text{or decoupled} \qquad
       \theta \leftarrow \theta + \eta\,\bigl(u(\nabla\mathcal{L}) - \lambda\theta\bigr) $$

    with rate η and decay λ. Two that are equal share what is compiled.

    Attributes:
        init: gives the state for weights.
        update: gives the step u at rate one and the next state, from gradient, state and weights.
        decoupled: whether decay acts on the weights and not on the gradient.
    """

    init: Callable[..., Any]
    update: Callable[..., Any]
    decoupled: bool = False


def adam(*, decoupled: bool = False, momentum: float = 0.9, memory: float = 0.999) -> Optimizer:
    r"""Adam, with decay on the gradient or on the weights.

    $$ u = -\frac{\hat m}{\sqrt{\hat v} + 10^{-8}}, \qquad m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad
       v \leftarrow \beta_2 v + (1 - \beta_2) g^2 $$

    with hats for means over past steps only, $\hat m = m/(1 - \beta_1^t)$. The names `adam` and `adamw` of
    `gradient_descent` are this, coupled and decoupled.

    Source:
        Kingma and Ba (2015), Algorithm 1; decoupled, Loshchilov and Hutter (2019).

    Args:
        decoupled: decay acts on the weights, as in AdamW, and not on the gradient.
        momentum: β₁, between 0 and 1.
        memory: β₂, between 0 and 1.

    Returns:
        An optimizer for `gradient_descent`, the same object for the same arguments.

    Example:
        >>> from lazyrich import simulate
        >>> simulate.adam() is simulate.adam(memory=0.999), simulate.adam(decoupled=True).decoupled
        (True, True)
    """
    first = number("momentum", momentum, at_least=0, below=1, advice="Use 0.9 as usual.")
    second = number("memory", memory, at_least=0, below=1, advice="Use 0.999 as usual.")
    return _adam(flag("decoupled", decoupled), first, second)


@functools.cache
def _adam(decoupled: bool, momentum: float, memory: float) -> Optimizer:
    import optax

    rule = optax.adam(1.0, b1=momentum, b2=memory)
    return Optimizer(rule.init, rule.update, decoupled)


def muon(*, exact: bool = False, top_factor: float = 1.0, momentum: float = 0.95) -> Optimizer:
    r"""Muon for hidden matrices and Adam for the top layer, with decoupled decay.

    $$ W \leftarrow W - \eta\,\bigl(\sqrt{\max(1, n/m)}\; Q(B) + \lambda W\bigr), \qquad
       Q(B) \approx U V^\top \text{ where } B = U D V^\top $$

    for a matrix W with m inputs, n outputs and Nesterov momentum B of its gradient. optax finds Q by five
    Newton–Schulz steps, which leave singular values between 0.68 and 1.13; with `exact` they are 1, as the
    theory has it. The top layer, `second` among the weights, and whatever is no matrix, follow Adam with
    (0.9, 0.999). Complex weights A + iB of a `models.PairNetwork` are one complex matrix, whose Q is found
    from the real matrix with the blocks A, −B, B, A.

    Source:
        li2, Sec. 5.3, Fig. 9, after Jordan et al. (2024).

    Args:
        exact: the polar factor itself, by a singular value decomposition at every step.
        top_factor: Adam's rate in units of Muon's, > 0. A step of Muon moves an entry by about
            $1/\sqrt{m}$ of its rate where n > m, one of Adam by all of it.
        momentum: between 0 and 1.

    Returns:
        An optimizer for `gradient_descent`, the same object for the same arguments.

    Example:
        >>> from lazyrich import simulate
        >>> simulate.muon() is simulate.muon(), simulate.muon(exact=True).decoupled
        (True, True)
    """
    factor = number("top_factor", top_factor, above=0, advice="Use e.g. 0.1.")
    beta = number("momentum", momentum, at_least=0, below=1, advice="Use 0.95 as usual.")
    return _muon(flag("exact", exact), factor, beta)


@functools.cache
def _muon(exact: bool, factor: float, beta: float) -> Optimizer:
    import optax

    hidden = _of_complex(_polar(beta) if exact else optax.contrib.muon(1.0, beta=beta))
    rule = optax.partition({"muon": hidden, "adam": optax.adam(factor)}, _labels)
    return Optimizer(rule.init, rule.update, decoupled=True)


def _labels(weights: Any) -> Any:
    """Which rule an array of weights follows."""

    def label(path: Any, array: Any) -> str:
        is_top = bool(path) and getattr(path[-1], "name", "") == "second"
        # complex weights have a leading axis of two parts; other arrays of three axes are no matrices
        matrix = array.ndim == 2 or (array.ndim == 3 and isinstance(weights, PairWeights))
        return "muon" if matrix and not is_top else "adam"

    return jax.tree_util.tree_map_with_path(label, weights)


def _of_complex(rule: Any) -> Any:
    """A rule of real matrices for complex ones too: products and sums of their real forms are as theirs."""
    import optax

    def matrices(tree: Any) -> Any:
        return jax.tree.map(lambda w: _real_form(w) if w.ndim == 3 else w, tree)

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        known = None if params is None else matrices(params)
        found, state = rule.update(matrices(updates), state, known)
        steps = jax.tree.map(
            lambda u, g: jnp.stack(jnp.split(u[:, : g.shape[2]], 2)) if g.ndim == 3 else u,
            found, updates,
        )  # fmt: skip
        return steps, state

    return optax.GradientTransformation(lambda params: rule.init(matrices(params)), update)


def _real_form(parts: Any) -> Any:
    """The real matrix, shape (2m, 2n), of a complex one, shape (m, n), given as its parts."""
    A, B = parts
    return jnp.block([[A, -B], [B, A]])


def _polar(beta: float) -> Any:
    """Momentum and width as optax's Muon has them, with the singular values set to one."""
    import optax

    def down(slope: Any) -> Any:
        inputs, outputs = slope.shape
        return -(max(1.0, outputs / inputs) ** 0.5) * orthogonalised(slope)

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        step, moment = state
        moment = jax.tree.map(lambda m, g: beta * m + (1 - beta) * g, moment, updates)
        # the same bias corrections as in optax; a common factor would not matter, their ratio does
        ahead = jax.tree.map(
            lambda m, g: beta * m / (1 - beta ** (step + 2)) + (1 - beta) * g / (1 - beta ** (step + 1)),
            moment, updates,
        )  # fmt: skip
        return jax.tree.map(down, ahead), (step + 1, moment)

    def init(params: Any) -> Any:
        return jax.numpy.zeros((), "int32"), jax.tree.map(jax.numpy.zeros_like, params)

    return optax.GradientTransformation(init, update)


NAMED: dict[str, Callable[[], "Optimizer | None"]] = {
    "sgd": lambda: None,
    "adam": adam,
    "adamw": lambda: adam(decoupled=True),
    "muon": muon,
    "polar-muon": lambda: muon(exact=True),
}


def resolved(optimizer: Any) -> Any:
    """The optimiser of that name; None, which is plain descent, or a transformation as it is."""
    if isinstance(optimizer, str) and optimizer in NAMED:
        return NAMED[optimizer]()
    rule = optimizer is None or all(
        callable(getattr(optimizer, name, None)) for name in ("init", "update")
    )
    if not rule:
        raise argument_error(
            "optimizer",
            f"be a GradientTransformation of optax or one of {', '.join(NAMED)}",
            optimizer,
            "Use 'adam', or `optax.adam(1e-3)`.",
        )
    return optimizer
