from ._activations import activation as activation
from ._two_layer import TwoLayer as TwoLayer
from ._two_layer import TwoLayerWeights as TwoLayerWeights
