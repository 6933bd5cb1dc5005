"""Where a long descent has come to, so that a killed one goes on."""

import hashlib
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from lazyrich.core import Context, argument_error

if TYPE_CHECKING:
    import xarray

SECONDS = 30.0
"""Between checkpoints of one run: what a kill may cost. Writing one takes far less."""


class Checkpoint:
    """Weights, optimiser state and records of some runs that advance together, kept by a context.

    A checkpoint carries a fingerprint of the operations of the loop and of the record, of the record's names,
    the start, the data and all numbers. One of another configuration is refused and stays where it is.
    """

    def __init__(self, context: Context, name: str | None, number: int):
        if name is not None and (not isinstance(name, str) or not name):
            raise argument_error("checkpoint", "be a name", name, 'Use e.g. "descent", or None.')
        self._context, self._given = context, name
        self._name = None if name is None else f"{name}-{number}"
        self._mark, self._saved = "", time.monotonic()

    def sign(
        self, advance: Callable[..., Any], record: Callable[..., Any], moving: Any, data: Any,
        steps: list[int],
    ) -> None:  # fmt: skip
        """Say which run this is: how it advances, and what it records of weights and state."""
        if self._name is None:
            return
        digest, constants = hashlib.sha256(), []
        for function in (lambda *inputs: advance(*inputs, 0, 1), record):
            traced, shapes = jax.make_jaxpr(function, return_shape=True)(moving, data)
            # functions print their address, which differs between processes
            digest.update(re.sub(r" at 0x[0-9a-f]+", "", f"{traced} {shapes}").encode())
            constants += _constants(traced)
        for leaf in jax.tree.leaves((constants, moving, data, steps)):
            array = np.asarray(_raw(leaf))
            digest.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
        self._mark = digest.hexdigest()

    def load(self, moving: Any) -> tuple[Any, list[dict[str, np.ndarray]], int]:
        """Weights and state, records so far, and the step: of the checkpoint, or of the start."""
        piece = None if self._name is None else self._context.load(self._name)
        if piece is None:
            return moving, [], 0
        if piece.attrs.get("fingerprint") != self._mark:
            raise argument_error(
                "checkpoint", "be a name that no other configuration has used", self._given,
                "The checkpoint that is there stays as it is: use another name, or delete it.",
            )  # fmt: skip
        leaves, tree = jax.tree.flatten(moving)
        if not piece.attrs["finished"]:
            leaves = [
                jnp.asarray(piece[f"moving-{i}"].values, leaf.dtype)
                for i, leaf in enumerate(leaves)
            ]
        names = [name for name in map(str, piece) if name.startswith("record-")]
        records = [
            {name.removeprefix("record-"): piece[name].values[i] for name in names}
            for i in range(piece.attrs["records"])
        ]
        return jax.tree.unflatten(tree, leaves), records, piece.attrs["step"]

    def save(self, moving: Any, records: list[dict[str, np.ndarray]], step: int) -> None:
        """Keep where the runs are, if the last time is long enough ago."""
        if self._name is None or time.monotonic() - self._saved < SECONDS:
            return
        arrays = {f"moving-{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(moving))}
        self._write(arrays, records, step, finished=False)

    def finish(self, records: list[dict[str, np.ndarray]], step: int) -> None:
        """Keep the records of finished runs, and their weights no longer."""
        if self._name is not None:
            self._write({}, records, step, finished=True)

    def _write(
        self, arrays: dict[str, np.ndarray], records: list[dict[str, np.ndarray]], step: int,
        finished: bool,
    ) -> None:  # fmt: skip
        names = records[0] if records else ()
        stacks = {f"record-{k}": np.stack([piece[k] for piece in records]) for k in names}
        variables = {
            name: (tuple(f"{name}-{axis}" for axis in range(array.ndim)), array)
            for name, array in (arrays | stacks).items()
        }
        self._context.save(self._name or "", _dataset(variables, fingerprint=self._mark, step=step,
                                                      records=len(records), finished=finished))  # fmt: skip
        self._saved = time.monotonic()


def _dataset(variables: dict[str, Any], **attributes: Any) -> "xarray.Dataset":
    import xarray

    return xarray.Dataset(variables, attrs=attributes)


def _constants(traced: Any) -> list[Any]:
    """Arrays that a traced function and those it calls hold: what is printed lacks them."""
    found = list(traced.consts)
    for equation in traced.jaxpr.eqns:
        inner = jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda value: hasattr(value, "consts")
        )
        found += [leaf for value in inner if hasattr(value, "consts") for leaf in _constants(value)]
    return found


def _raw(leaf: Any) -> Any:
    """An array, of a random key its numbers."""
    is_key = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf
