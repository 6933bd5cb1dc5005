"""Optimisers by name: rules of rate one, whose rate and decay are numbers of each run."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax

from lazyrich.core import argument_error, number
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


@functools.cache
def muon(*, exact: bool = False, top_factor: float = 1.0, momentum: float = 0.95) -> Optimizer:
    r"""Muon for hidden matrices and Adam for the top layer, with decoupled decay.

    $$ W \leftarrow W - \eta\,\bigl(\sqrt{\max(1, n/m)}\; Q(B) + \lambda W\bigr), \qquad
       Q(B) \approx U V^\top \text{ where } B = U D V^\top $$

    for a matrix W with m inputs, n outputs and Nesterov momentum B of its gradient. optax finds Q by five
    Newton–Schulz steps, which leave singular values between 0.68 and 1.13; with `exact` they are 1, as the
    theory has it. The top layer, `second` among the weights, and whatever is no matrix, follow Adam with
    (0.9, 0.999).

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
    import optax

    factor = number("top_factor", top_factor, above=0, advice="Use e.g. 0.1.")
    beta = number("momentum", momentum, at_least=0, below=1, advice="Use 0.95 as usual.")
    if not isinstance(exact, bool):
        raise argument_error("exact", "be True or False", exact)
    hidden = _polar(beta) if exact else optax.contrib.muon(1.0, beta=beta)
    rule = optax.partition({"muon": hidden, "adam": optax.adam(factor)}, _labels)
    return Optimizer(rule.init, rule.update, decoupled=True)


def _labels(weights: Any) -> Any:
    """Which rule an array of weights follows."""

    def label(path: Any, array: Any) -> str:
        is_top = bool(path) and getattr(path[-1], "name", "") == "second"
        return "adam" if is_top or array.ndim != 2 else "muon"

    return jax.tree_util.tree_map_with_path(label, weights)


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


@functools.cache
def _adam(decoupled: bool) -> Optimizer:
    import optax

    rule = optax.adam(1.0)
    return Optimizer(rule.init, rule.update, decoupled)


NAMED: dict[str, Callable[[], "Optimizer | None"]] = {
    "sgd": lambda: None,
    "adam": lambda: _adam(False),
    "adamw": lambda: _adam(True),
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
