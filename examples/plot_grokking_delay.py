"""
Grokking delay against the aspect ratio
=======================================

How much later a linear student generalises than it fits, for several thresholds, and the limit of
small thresholds (Eq. 11 of *Grokking in Linear Estimators*).
"""

import matplotlib.pyplot as plt
import numpy as np

from lazyrich import plotting
from lazyrich.theory import LateGrokking, LinearGrokking

# %%
# Parameters broadcast: two hundred aspect ratios against four thresholds. Without a learning rate, time
# is learning rate × step.

ratios = 1 - np.geomspace(0.98, 0.005, 200)
thresholds = np.array([1e-2, 1e-3, 1e-6, 1e-12])
model = LinearGrokking(ratios[:, None], threshold=thresholds)
delays = model.grokking_delay().time
limit = LateGrokking(ratios).small_threshold_delay()

# %%
# The limit is approached slowly, like one over the logarithm of the threshold, and slowest near λ = 1.

with plotting.style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    for delay, threshold in zip(delays.T, thresholds, strict=True):
        label = rf"$\epsilon = 10^{{{np.log10(threshold):.0f}}}$"
        left.plot(ratios, delay, label=label)
        right.plot(ratios, limit / delay, label=label)
    left.plot(ratios, limit, "k--", linewidth=1, label="Eq. 11")
    left.set(title="Grokking time", ylabel="delay (learning rate × steps)")
    right.set(title="Overestimate", ylabel="Eq. 11 / exact", ylim=(0.9, 100))
    for axes in (left, right):
        axes.set(xlabel=r"aspect ratio $\lambda$", yscale="log")
    right.axhline(1, color="black", linewidth=1, linestyle="--")
    left.legend()
plt.show()
