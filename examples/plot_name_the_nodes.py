"""
Naming the nodes of a grokking network
======================================

A network learns to add modulo 23 from most of the sums. Its hidden nodes begin as noise and end as waves.
Which node becomes which wave, and when?
"""

import matplotlib.pyplot as plt
import numpy as np

from lazyrich import groups, measures, models, plotting, simulate, tasks

M = 23

# %%
# Train
# -----
# Weights are recorded on a logarithmic grid of epochs.

task = tasks.GroupArithmetic(groups.cyclic(M), train_fraction=0.8)
learning = simulate.FeatureLearning(
    models.PairNetwork(M, width=64), task, centring="samples", records=("weights", "change")
)
epochs = simulate.log_steps(400, 40)
run = simulate.gradient_descent(
    learning, epochs, optimizer="adam", learning_rate=5e-3, weight_decay=1e-3, seeds=[0]
).isel(seed=0)

# %%
# Name
# ----
# The measures take arrays: the same lines work on weights from any framework.

first, second = run["first"].values, run["second"].values
pairs = learning.train_pairs(seed=0)
labels = task.group.table[pairs[:, 0], pairs[:, 1]]
nodes = measures.node_features(first, task.group, pairs=pairs)
stages = measures.training_stage(
    first,
    second,
    lambda W: (W[pairs[:, 0]] + W[M + pairs[:, 1]]) ** 2,
    labels,
    inputs=pairs,
    start=first[0],
    group=task.group,
)
case = measures.grokking_case(epochs, run.train_accuracy, run.test_accuracy, stages)
print(f"{case.case}: {case.reason}")
print(
    f"independent from epoch {case.independent_time:g}, interactive from {case.interactive_time:g}"
)
live = nodes.live[-1]
for k in np.unique(nodes.cyclic.frequency[-1, live]):
    found = live & (nodes.cyclic.frequency[-1] == k)
    print(
        f"frequency {k:2}: {found.sum():2} nodes, median purity {np.median(nodes.purity[-1, found]):.4f}"
    )

# %%
# Look
# ----
# Left: accuracies; shades are stages. At the end the gradient only has to balance the decay, and is that of
# independent nodes again. Middle: the purity of every node, in the colour of its final frequency.
# Right: phases of the two halves of the nodes that are left. They need not be equal at maxima of the energy;
# what a node says about the sum has the sum of both.

SHADES = {"lazy": "0.92", "independent": "0.8", "interactive": "0.65"}
with plotting.style():
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    edges = np.r_[0.7, np.sqrt(epochs[1:-1] * epochs[2:]), epochs[-1]]
    for word, start, end in zip(stages.stage[1:], edges[:-1], edges[1:], strict=True):
        left.axvspan(start, end, color=SHADES.get(word, "white"), linewidth=0)
    left.plot(epochs[1:], run.train_accuracy[1:], label="training")
    left.plot(epochs[1:], run.test_accuracy[1:], label="test")
    for word, shade in SHADES.items():
        left.fill_between([], [], color=shade, label=word)
    left.set(xscale="log", xlabel="time $t$ (epochs)", ylabel="accuracy", title="Stages")
    left.legend(loc="center left", fontsize="small")

    colours = plt.get_cmap("cividis")(np.linspace(0, 1, M // 2))
    for j in np.flatnonzero(live):
        colour = colours[nodes.cyclic.frequency[-1, j] - 1]
        middle.plot(epochs[1:], nodes.purity[1:, j], color=colour, linewidth=0.8)
        right.plot(*nodes.cyclic.phases[-1, j], "o", color=colour, markersize=4)
    middle.set(
        xscale="log", xlabel="time $t$ (epochs)", ylabel="purity", title="Nodes become waves"
    )
    ticks = [-np.pi, 0, np.pi], [r"$-\pi$", "0", r"$\pi$"]
    right.set(xlabel=r"phase of the first half", ylabel="phase of the second half", title="Phases")
    right.set_xticks(*ticks)
    right.set_yticks(*ticks)
    scale = plt.cm.ScalarMappable(plt.Normalize(1, M // 2), "cividis")
    figure.colorbar(scale, ax=right, label="frequency")
plt.show()
