"""Factors of ½, means or sums, and what t counts: stated once, carried by every result."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Convention:
    """How a loss and a time are counted.

    Attributes:
        loss: the loss in words and symbols, with its factor and what it averages over.
        time: what t counts.
        time_unit: the unit on axes.
    """

    loss: str
    time: str
    time_unit: str

    def attributes(self) -> dict[str, str]:
        """As attributes of a trajectory."""
        return {
            "loss_convention": self.loss,
            "time_convention": self.time,
            "time_unit": self.time_unit,
        }


LIBRARY_CONVENTION = Convention(
    loss="as the training states it: the gradient that is followed is that of exactly this loss",
    time="gradient flow dθ/dt = −∇loss, so that t = learning rate × step",
    time_unit="learning rate × step",
)
"""The library's own convention: solutions without a learning rate, and flows, count time this way."""
