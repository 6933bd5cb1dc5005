"""Precision: float64 outside traces whatever the user's JAX setting, the caller's dtype inside."""

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core._errors import argument_error


def is_traced(*values: Any) -> bool:
    """Whether any leaf of these pytrees is being traced by a `jit`, `vmap` or `grad` of the user's."""
    if "jax" not in sys.modules:
        return False
    import jax
    from jax.core import Tracer

    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def compute(function: Callable[..., Any], *arguments: Any, jit: bool = True) -> Any:
    """Evaluate a pure JAX function of pytrees of numbers at the precision the design promises.

    With concrete arguments: in float64 under one cached `jit`, returning NumPy, also where the caller is
    being traced; the user's JAX setting stays as it was. With traced arguments: as part of the user's
    trace, with all floating leaves cast to the widest dtype among them that the user's setting allows.
    `jit=False` is for functions made on the spot, which a cache would keep for ever.

    Example:
        >>> import jax.numpy as jnp
        >>> from lazyrich.core import compute
        >>> compute(jnp.sqrt, 2.0)
        np.float64(1.4142135623730951)
    """
    import jax

    if not callable(function):
        raise argument_error("function", "be a function", function)
    if is_traced(arguments):
        return function(*jax.tree.map(_cast_to(_common_dtype(arguments)), arguments))
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        arguments = jax.tree.map(_cast_to(np.dtype(np.float64)), arguments)
        if jit:
            return jax.tree.map(lambda leaf: np.asarray(leaf)[()], _jitted(function)(*arguments))
    return _evaluate(function, arguments)


def _evaluate(function: Callable[..., Any], arguments: Any) -> Any:
    """The function without `jit`; what it closes over may be traced, and then so is its value."""
    import jax

    result = None
    with jax.enable_x64(True), contextlib.suppress(TypeError, ValueError):
        result = function(*arguments)  # mixing in a user's 32-bit trace may fail; then as follows
    if result is None or is_traced(result):
        return function(*jax.tree.map(lambda leaf: jax.numpy.asarray(np.asarray(leaf)), arguments))
    return jax.tree.map(lambda leaf: np.asarray(leaf)[()], result)


@functools.cache
def _jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    return jax.jit(function)


def _common_dtype(tree: Any) -> Any:
    import jax
    import jax.numpy as jnp

    # jax's promotion also knows bfloat16; Python scalars and NumPy values count as what they are
    leaves = [
        leaf if hasattr(leaf, "dtype") else np.asarray(leaf) for leaf in jax.tree.leaves(tree)
    ]
    floating = [leaf.dtype for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]
    with jax.numpy_dtype_promotion("standard"):
        widest = functools.reduce(jnp.promote_types, floating, np.dtype(np.float32))
    return jax.dtypes.canonicalize_dtype(widest)


def _cast_to(dtype: Any) -> Callable[[Any], Any]:
    import jax.numpy as jnp
    from jax.core import Tracer

    def cast(leaf: Any) -> Any:
        if isinstance(leaf, Tracer) and not np.iscomplexobj(leaf):
            return leaf.astype(dtype)
        array = leaf if isinstance(leaf, Tracer) else np.asarray(leaf)
        if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
            raise argument_error("arguments", "be real numbers", leaf)
        return jnp.asarray(array, dtype=dtype)

    return cast
