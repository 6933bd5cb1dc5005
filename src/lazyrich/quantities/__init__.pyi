from ._kernel_distance import kernel_distance as kernel_distance
from ._threshold_accuracy import threshold_accuracy as threshold_accuracy
from ._threshold_accuracy import threshold_loss as threshold_loss
