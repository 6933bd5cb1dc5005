"""What the panels of Fig. 11 share: a deep network on digits, as it stands and with one scale changed."""

import dataclasses
import functools
from typing import TYPE_CHECKING, NamedTuple

from lazyrich import models, simulate
from lazyrich.core import Claim, Context, require_seeds
from lazyrich.experiments import _digits
from lazyrich.experiments._over_seeds import over_cases
from lazyrich.experiments.layerwise import _grokking

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

SOURCE = "Fig. 11, App. G.3"
REFERENCES = ("layerwise", "grokking-lazy-rich")


class Setting(NamedTuple):
    """A row of the table in App. G.3."""

    name: str
    weights: float = 5.0
    target: float = 3.0
    input: float = 1.0
    output: float = 1.0


DEFAULT = Setting("default")


@dataclasses.dataclass(frozen=True)
class Config:
    """What a panel is computed from. Pictures are pooled to at most `side` pixels a side."""

    width: int = 512
    hidden_layers: int = 3
    num_samples: int = 1000
    num_test: int = 2000
    side: int = 28
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    last_step: int = 14_000
    num_records: int = 120
    num_seeds: int = 8
    seeds_per_chunk: int = 2


QUICK = Config(
    width=64, num_samples=200, num_test=500, side=14, batch_size=0, learning_rate=3e-3,
    weight_decay=1e-3, last_step=2500, num_records=60, num_seeds=4, seeds_per_chunk=4,
)  # fmt: skip
PRESETS = {"quick": QUICK, "paper": Config()}


def caption(what: str) -> str:
    """What a panel shows, and how the presets differ."""
    return (
        "Training and test accuracy of a tanh network with three hidden layers on few pictures of digits; "
        f"{what}. Thin: every seed, bold: mean. The bar: from the training to the test time at the level, "
        "four fifths of the default's last test accuracy, with their ratio. Preset `paper`: "
        "784-512-512-512-10, 1000 pictures, Adam at 1e-3 with coupled decay 1e-4, batches of 128, 2000 "
        "passes of 7 batches. Preset `quick`: width 64, 200 pictures of 14 × 14 pixels, full batch, rate "
        "3e-3 and decay 1e-3, which bring the delayed rise forward. Biases start at zero. Without MNIST "
        "the small digits set that comes with the install takes its place."
    )


@dataclasses.dataclass(frozen=True)
class Panel:
    """The default from every seed, and beside it, if there is one, the setting that shortens the delay."""

    setting: Setting | None = None
    title: str = ""

    def run(self, config: Config, context: Context) -> "xarray.Dataset":
        """Both settings, from every seed."""
        settings = (DEFAULT, *([self.setting] if self.setting else []))
        task = _grokking.digits_task(config, context.data_folder)

        def train(config: Config, setting: Setting, seeds: range) -> "xarray.Dataset":
            return _train(config, setting, seeds, task.source, task.digits.fingerprint)

        found = over_cases({"setting": {s.name: s for s in settings}}, train, config, context)
        attributes = _grokking.CONVENTION.attributes() | _digits.attributes(task.digits)
        return found.assign_attrs(attributes)

    def claims(self, result: "xarray.Dataset", config: Config) -> list[Claim]:
        """The default groks; the other setting less."""
        found = _grokking.delay_claims(result, SOURCE)
        if self.setting:
            found += _grokking.shorter_claims(result, SOURCE, setting=1)
        return require_seeds(found, _grokking.FEWEST_SEEDS)

    def figure(self, result: "xarray.Dataset", config: Config) -> "Figure":
        """Accuracies over time, side by side."""
        return _grokking.figure(result, ["Default", *([self.title] if self.setting else [])])


@functools.lru_cache(maxsize=8)  # five panels compare with the same default
def _train(
    config: Config, setting: Setting, seeds: range, source: str, fingerprint: str
) -> "xarray.Dataset":
    task = _grokking.digits_task(config, source, setting.target)
    widths = (task.input_dimension, *[config.width] * config.hidden_layers, 10)
    network = models.MLP(widths, "tanh", input_scale=setting.input, output_scale=setting.output)
    training = simulate.Classification(network, task, network.lecun(setting.weights))
    return _grokking.train(training, config, seeds)
