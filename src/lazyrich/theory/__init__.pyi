from ._linear_escape import LinearEscape as LinearEscape
from ._linear_fixed_points import LinearFixedPoints as LinearFixedPoints
from ._linear_flow import LinearFlow as LinearFlow
from ._linear_grokking import LinearGrokking as LinearGrokking
from ._marchenko_pastur import MarchenkoPastur as MarchenkoPastur
from ._two_layer_grokking import TwoLayerGrokking as TwoLayerGrokking
