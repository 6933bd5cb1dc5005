"""Layerwise linear models: two layers of weights on fixed features, with any set of connections."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyrich.core import argument_error, count
from lazyrich.models._network import Network, Units, check_form, check_units
from lazyrich.models._two_layer import OneHiddenLayer, TwoLayerWeights
from lazyrich.models._unit_kind import UnitKind

MOST_CONNECTIONS = 2**26
"""They are kept one by one, which takes half a gigabyte."""


@dataclasses.dataclass(frozen=True)
class Layerwise(OneHiddenLayer):
    r"""A model that is linear in each of its two layers of weights, on fixed features of the inputs.

    $$ f(x) = \sum_{(i,j) \in V} \phi_i(x)\, a_{ij}\, b_j = \sum_j h_j(x), \qquad
       h_j(x) = \sum_{i: (i,j) \in V} \phi_i(x)\, a_{ij}\, b_j $$

    V says which features each hidden neuron reads. Weights of connections that are not in V are ignored: they
    neither act nor learn. The features $h_j$ of the neurons are vectors in the space spanned by the $\phi_i$.

    Under gradient flow of ½ mean squared error its cases are solved by `theory`: `diagonal` on orthogonal
    features by `DiagonalNetwork`, with the last layer frozen by `LinearModes`; `full` on one feature by
    `ScalarNetwork`, on whitened features by `LinearNetworkModes` (aligned starts) and `BalancedNetwork`
    (λ-balanced ones), on features that are one-hot samples by `UnconstrainedFeatures`. For other sets V there
    is none.

    Source:
        layerwise, Eq. 3, 4, 22, 24, 25.

    Attributes:
        connections: V, rows of booleans, shape (features, hidden); `diagonal` and `full` make the usual ones.
        feature_map: the function φ from inputs, shape (samples, inputs), to features, shape
            (samples, features); without it the inputs themselves.
        output_dimension: number of outputs; with more than one, $b_j$ is a row.

    Example:
        >>> import numpy as np
        >>> from lazyrich.models import Layerwise, TwoLayerWeights
        >>> model = Layerwise.diagonal(2)
        >>> weights = TwoLayerWeights(np.diag([3.0, 2.0]), np.array([[1.0], [0.5]]))
        >>> model.neuron_features(weights)[..., 0].tolist()
        [[3.0, 0.0], [0.0, 1.0]]
        >>> model.apply(weights, np.array([[1.0, 10.0]])).tolist()
        [[13.0]]
    """

    connections: Any
    feature_map: "Callable[[Any], Any] | None" = None
    output_dimension: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "connections", _rows("connections", self.connections))
        size = count("output_dimension", self.output_dimension, advice="Pass a size ≥ 1.")
        object.__setattr__(self, "output_dimension", size)
        _check_map(self.feature_map)

    @classmethod
    def diagonal(
        cls, num_features: int, feature_map: "Callable[[Any], Any] | None" = None
    ) -> "Layerwise":
        """One neuron for each feature (Eq. 3)."""
        size = count("num_features", num_features, at_most=math.isqrt(MOST_CONNECTIONS))
        return cls(np.eye(size, dtype=bool), feature_map)

    @classmethod
    def full(
        cls, num_features: int, width: int, output_dimension: int = 1,
        feature_map: "Callable[[Any], Any] | None" = None,
    ) -> "Layerwise":  # fmt: skip
        """Every neuron reads every feature: a linear network (Eq. 4)."""
        rows = count("num_features", num_features, at_most=MOST_CONNECTIONS)
        columns = count("width", width, at_most=MOST_CONNECTIONS // rows)
        return cls(np.ones((rows, columns), bool), feature_map, output_dimension)

    @property
    def mask(self) -> np.ndarray:
        """V as an array, shape (features, hidden)."""
        return np.array(self.connections)

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """What holds for the hidden neurons."""
        # neurons that read different features cannot be mixed as those of a linear network can
        return (UnitKind(1, degree=1, signed=True, linear=bool(self.mask.all())),)

    @property
    def has_features(self) -> bool:
        """True: outputs are linear in φ."""
        return True

    def shapes(self) -> TwoLayerWeights:
        """Shapes of the weights."""
        features, width = self.mask.shape
        return TwoLayerWeights((features, width), (width, self.output_dimension))

    @property
    def form(self) -> TwoLayerWeights:
        """`shapes`, with any number of outputs and, where all connections exist, of neurons."""
        features, width = self.mask.shape
        units = "units" if self.mask.all() else width
        return TwoLayerWeights((features, units), (units, "outputs"))

    def features(self, inputs: Any) -> Any:
        """φ of the inputs, shape (samples, features)."""
        return _features(self.feature_map, inputs, self.mask.shape[0])

    def apply(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs)."""
        return self.features(inputs) @ self._connected(weights) @ weights.second

    def coefficients(self, weights: TwoLayerWeights) -> Any:
        """The output as vectors in function space, shape (features, outputs): the sum of all h (Eq. 25)."""
        return self._connected(weights) @ weights.second

    def neuron_features(self, weights: TwoLayerWeights) -> Any:
        """Every h as a vector in function space, shape (hidden, features, outputs) (Eq. 24)."""
        return self._connected(weights).T[:, :, None] * weights.second[:, None, :]

    def neuron_feature_values(self, weights: TwoLayerWeights, inputs: Any) -> Any:
        """Every h as a function, at inputs: shape (hidden, samples, outputs)."""
        return (self.features(inputs) @ self._connected(weights)).T[:, :, None] * weights.second[
            :, None, :
        ]

    def units(self, weights: TwoLayerWeights, layer: int = 0) -> Units:
        """The hidden neurons; what they are not connected to they read with weight 0."""
        self.check_layer(layer)
        return Units(self._connected(weights).T, weights.second)

    def with_units(self, weights: TwoLayerWeights, units: Units, layer: int = 0) -> TwoLayerWeights:
        """The model with other neurons: as many as there are, unless all connections exist."""
        self.check_layer(layer)
        self.check_weights(weights)
        check_units(units, weights.first.shape[0], weights.second.shape[1])
        hidden = np.shape(units.outgoing)[0]
        if not self.mask.all() and hidden != self.mask.shape[1]:
            raise argument_error(
                "units", f"be {self.mask.shape[1]}, one for each column of `connections`", hidden
            )
        return TwoLayerWeights(units.incoming.T, units.outgoing)

    def _connected(self, weights: TwoLayerWeights) -> Any:
        """The first layer, with zeros for connections that do not exist."""
        self.check_weights(weights)
        if self.mask.all():
            return weights.first
        return weights.first * self.mask.astype(weights.first.dtype)


@dataclasses.dataclass(frozen=True)
class LinearModel(Network):
    r"""A model without a hidden layer: linear in its weights, on fixed features of the inputs.

    $$ f(x) = \sum_k \phi_k(x)\, \theta_k = \sum_k h_k(x), \qquad h_k(x) = \phi_k(x)\, \theta_k $$

    Its units are the features themselves, which do not learn what they read: the weights are one matrix θ,
    shape (features, outputs).

    Source:
        layerwise, Eq. 5, 21, 23.

    Attributes:
        num_features: number of features.
        feature_map: φ, as in `Layerwise`.
        output_dimension: number of outputs.

    Example:
        >>> import numpy as np
        >>> from lazyrich.models import LinearModel
        >>> LinearModel(2).apply(np.array([[3.0], [1.0]]), np.array([[1.0, 10.0]])).tolist()
        [[13.0]]
    """

    num_features: int
    feature_map: "Callable[[Any], Any] | None" = None
    output_dimension: int = 1

    def __post_init__(self) -> None:
        for name in ("num_features", "output_dimension"):
            value = count(name, getattr(self, name), advice="Pass a size ≥ 1.")
            object.__setattr__(self, name, value)
        _check_map(self.feature_map)

    @property
    def kinds(self) -> tuple[UnitKind, ...]:
        """Features that nothing incoming can silence: order 0."""
        return (UnitKind(0),)

    @property
    def has_features(self) -> bool:
        """True: outputs are linear in φ."""
        return True

    def shapes(self) -> Any:
        """The shape of θ."""
        return (self.num_features, self.output_dimension)

    @property
    def form(self) -> Any:
        """The shape of θ, with any number of outputs."""
        return (self.num_features, "outputs")

    def features(self, inputs: Any) -> Any:
        """φ of the inputs, shape (samples, features)."""
        return _features(self.feature_map, inputs, self.num_features)

    def apply(self, weights: Any, inputs: Any) -> Any:
        """Outputs, shape (samples, outputs)."""
        self.check_weights(weights)
        return self.features(inputs) @ weights

    def coefficients(self, weights: Any) -> Any:
        """θ."""
        self.check_weights(weights)
        return weights

    def neuron_features(self, weights: Any) -> Any:
        """Every h as a vector in function space, shape (features, features, outputs) (Eq. 23)."""
        return self._identity(weights)[:, :, None] * weights[:, None, :]

    def units(self, weights: Any, layer: int = 0) -> Units:
        """Feature k, which reads itself and writes by row k of θ."""
        self.check_layer(layer)
        return Units(self._identity(weights), weights)

    def with_units(self, weights: Any, units: Units, layer: int = 0) -> Any:
        """The model with other θ; what features read is fixed."""
        self.check_layer(layer)
        self.check_weights(weights)
        check_form("units", units, Units((self.num_features,) * 2, (self.num_features, "outputs")))
        return units.outgoing

    def _identity(self, weights: Any) -> np.ndarray:
        self.check_weights(weights)
        most = math.isqrt(MOST_CONNECTIONS)
        count("num_features", self.num_features, at_most=most, advice="This needs its square.")
        return np.eye(self.num_features, dtype=weights.dtype)


def _rows(name: str, value: Any) -> tuple[tuple[bool, ...], ...]:
    """A table of booleans, as tuples: models are compared and hashed."""
    table = np.asarray(value)
    if table.dtype != bool or table.ndim != 2 or table.size == 0:
        raise argument_error(
            name, "be booleans of the shape (features, hidden)", value, "Use e.g. np.eye(3, dtype=bool)."
        )  # fmt: skip
    return tuple(tuple(row) for row in table.tolist())


def _check_map(feature_map: Any) -> None:
    if feature_map is not None and not callable(feature_map):
        raise argument_error(
            "feature_map", "be a function or None", feature_map, "Pass e.g. lambda x: x**2."
        )


def _features(feature_map: Any, inputs: Any, size: int) -> Any:
    found = inputs if feature_map is None else feature_map(inputs)
    if np.ndim(found) != 2 or np.shape(found)[1] != size:
        name = "inputs" if feature_map is None else "feature_map"
        wanted = f"{'have' if feature_map is None else 'give'} the shape (samples, {size})"
        raise argument_error(name, wanted, np.shape(found))
    return found
