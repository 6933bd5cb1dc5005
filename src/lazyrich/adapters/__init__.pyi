from ._derivatives import Derivatives as Derivatives
from ._derivatives import derivatives as derivatives
from ._tangents import Tangents as Tangents
from ._tangents import tangents as tangents
