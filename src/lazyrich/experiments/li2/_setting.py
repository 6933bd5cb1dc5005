"""What the studies of `when` train: one network for modular addition, a setting of it at a time."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lazyrich import groups, simulate
from lazyrich.core import Context
from lazyrich.experiments.li2 import _training

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a run may do differently. Rates are Adam's unless another optimizer is named."""

    epochs: float
    decay: float
    rate: float = 5e-3
    fraction: float = 0.8
    order: int = 0  # 0: that of the study, as for the width
    width: int = 0
    optimizer: str = "adam"
    objective: str = "squared"
    initial_scale: float = 1.0
    top_scale: float = 1.0
    output_scale: float = 1.0
    early_rate: float = 0.0  # if not 0, Adam's rate up to epoch `switch`
    switch: int = 0


def sized(
    settings: Mapping[str, Setting], order: int, width: int, stretch: float
) -> dict[str, Setting]:
    """Settings with a network, and with a multiple of their epochs, at least two."""
    return {
        name: dataclasses.replace(
            setting, epochs=max(int(setting.epochs * stretch), 2), order=setting.order or order,
            width=setting.width or width,
        )
        for name, setting in settings.items()
    }  # fmt: skip


def training(setting: Setting, **options: Any) -> "simulate.FeatureLearning":
    """What a setting trains. Of a seed, pairs of a smaller share are among those of a larger one."""
    return _training.training(
        groups.cyclic(setting.order), setting.fraction, setting.width, output_scale=setting.output_scale,
        objective=setting.objective, initial_scale=setting.initial_scale, top_scale=setting.top_scale,
        **options,
    )  # fmt: skip


def descend(
    training: "simulate.FeatureLearning",
    setting: Setting,
    epochs: Any,
    seeds: range,
    context: Context,
) -> "xarray.Dataset":
    """A run of every seed."""
    by: dict[str, Any] = {"optimizer": setting.optimizer, "learning_rate": setting.rate}
    if setting.early_rate:
        by = {"optimizer": _falling(setting.early_rate, setting.rate, setting.switch)}
    return simulate.gradient_descent(
        training, epochs, seeds=seeds, weight_decay=setting.decay, context=context,
        checkpoint=_training.checkpoint(training, epochs), **by,
    ).drop_attrs()  # fmt: skip


@functools.cache  # the compiled loop is found again by the optimizer's identity
def _falling(early: float, late: float, switch: int) -> Any:
    """Adam whose rate falls once."""
    import optax

    return optax.adam(optax.piecewise_constant_schedule(early, {switch: late / early}))
