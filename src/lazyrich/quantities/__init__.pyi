from ._imbalance import Imbalance as Imbalance
from ._imbalance import imbalance as imbalance
from ._kernel_distance import kernel_distance as kernel_distance
from ._linear_kernel import linear_kernel_distance as linear_kernel_distance
from ._threshold_accuracy import threshold_accuracy as threshold_accuracy
from ._threshold_accuracy import threshold_loss as threshold_loss
