from ._gradient_descent import gradient_descent as gradient_descent
from ._gradient_flow import gradient_flow as gradient_flow
from ._linear_descent import linear_descent as linear_descent
from ._modular_addition_network import ModularAdditionNetwork as ModularAdditionNetwork
from ._supervised import Moments as Moments
from ._supervised import Supervised as Supervised
from ._training import Training as Training
from ._two_layer_student import TwoLayerStudent as TwoLayerStudent
