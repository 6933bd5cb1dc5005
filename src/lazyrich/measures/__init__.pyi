from ._crossing_time import crossing_time as crossing_time
from ._crossing_time import grokking_delay as grokking_delay
from ._crossing_time import MeasuredCrossing as MeasuredCrossing
