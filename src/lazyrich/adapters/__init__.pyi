from ._derivatives import Derivatives as Derivatives
from ._derivatives import derivatives as derivatives
