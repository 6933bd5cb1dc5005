from ._crossing_time import MeasuredCrossing as MeasuredCrossing
from ._crossing_time import crossing_time as crossing_time
from ._crossing_time import grokking_delay as grokking_delay
from ._seed_mean import SeedMean as SeedMean
from ._seed_mean import seed_mean as seed_mean
