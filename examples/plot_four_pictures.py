"""
Four pictures of learning
=========================

Plateaus, lazy and rich regimes, late generalisation, features that emerge: what this library is about, each
from a few lines. Colour is training, black is theory without a fit.
"""

import jax
import matplotlib.pyplot as plt
import numpy as np

from lazyrich import groups, models, plotting, simulate, tasks, theory

# %%
# Plateaus
# --------
# A linear network of 50 units learns five directions from weights of 1e-6, one after the other. `Staircase`
# says when, from the data and the size of the weights alone. It takes ½ of the loss used here: hence the two
# factors of 2.

strengths = np.array([3.0, 2.0, 1.4, 1.0, 0.7])
task = tasks.GaussianRegression(5, lambda x: x * strengths)
training = simulate.Supervised(
    models.TwoLayer(5, 50, 5), task, initial_std=1e-6, population=True, records=()
)
times = np.linspace(0, 10, 300)
walks = simulate.gradient_flow(training, times, seeds=range(8))
stairs = theory.Staircase(
    np.diag(strengths), np.eye(5), initial_std=1e-6, width=50, learning_rate=2
)
print(stairs)

# %%
# Lazy and rich
# -------------
# How far the tangent kernel of a small linear network turns until its task is learned, for starts of every
# size and every imbalance λ between its layers. Black: contours of the exact solution.

imbalances, scales = np.linspace(-9, 9, 25), np.linspace(1, 20, 20)
key = jax.random.key(0)
start = models.balanced_weights(key, 2, 2, 2, imbalance=imbalances[:, None], scale=scales)
data = tasks.RandomRegression(num_samples=10, input_dimension=2, output_dimension=2).moments(key)
grid = simulate.linear_network_descent(
    data.correlation, data.covariance, start.first, start.second, [0, 4000], learning_rate=0.01
)
exact = np.empty(grid.loss.shape[:2])
for i, j in np.ndindex(exact.shape):
    network = theory.BalancedNetwork(
        data.correlation, start.first[i, j], start.second[i, j], covariance=data.covariance
    )
    exact[i, j] = network.kernel_distance(40.0)

# %%
# Late generalisation
# -------------------
# A linear student of a linear teacher: the training accuracy rises, and ten times later the test accuracy.

steps = simulate.log_steps(10**5, 200, start=False)
student = tasks.TeacherStudent(input_dimension=450, num_samples=500)
descent = simulate.linear_descent(student, steps, learning_rate=0.01, seeds=range(8))
grokking = theory.LinearGrokking(aspect_ratio=0.9, learning_rate=0.01, threshold=1e-3)

# %%
# Features
# --------
# A network learns to add modulo 23. Each hidden node begins as noise and ends as a wave of one frequency.

M = 23
addition = tasks.GroupArithmetic(groups.cyclic(M), train_fraction=0.8)
learning = simulate.FeatureLearning(
    models.PairNetwork(M, width=64), addition, centring="samples", records=("weights",)
)
run = simulate.gradient_descent(
    learning, [0, 400], optimizer="adam", learning_rate=5e-3, weight_decay=1e-3, seeds=[0]
)
first = run["first"].values[0]  # epochs × (both summands) × nodes
power = groups.power(addition.group, np.moveaxis(first[:, :M], 1, 2))[..., 1 : M // 2 + 1]
live = np.linalg.norm(first[1], axis=0) > 0.1 * np.linalg.norm(first[1], axis=0).max()
power = (power / power.sum(axis=-1, keepdims=True))[:, live]
power = power[:, np.argsort(power[1].argmax(axis=-1))]

# %%
# Look
# ----

BLUE, ORANGE = plotting.COLOURS[:2]
THEORY = {"color": "black", "linewidth": 1.1}
with plotting.style():
    figure, ((a, b), (c, d)) = plt.subplots(2, 2, figsize=(9.2, 6.2), layout="constrained")

    a.plot(times, walks.loss.T, color=BLUE, linewidth=4, alpha=0.25)
    a.plot(times, 2 * stairs.loss(times), **THEORY)
    a.set(xlabel="time $t$ (learning rate × step)", ylabel="loss", title="From plateau to plateau")

    image = b.pcolormesh(scales, imbalances, grid.kernel_distance[..., 1], cmap="magma")
    b.contour(scales, imbalances, exact, levels=6, colors="black", linewidths=0.8)
    figure.colorbar(image, ax=b, label="kernel distance at the end")
    b.set(
        xlabel="size of the first map", ylabel="imbalance λ", title="Lazy (dark) or rich (bright)"
    )

    at = descent.sel(threshold=1e-3)
    c.plot(steps, at.train_accuracy.T, color=BLUE, linewidth=0.7, alpha=0.6)
    c.plot(steps, at.test_accuracy.T, color=ORANGE, linewidth=0.7, alpha=0.6)
    c.plot(steps, grokking.train_accuracy(steps), **THEORY)
    c.plot(steps, grokking.test_accuracy(steps), **THEORY)
    c.set(xscale="log", xlabel="time $t$ (steps)", ylabel="accuracy", title="Late generalisation")
    lines = {"training": {"color": BLUE}, "test": {"color": ORANGE}, "theory": THEORY}
    plotting.curves_legend(c, lines, loc="upper left")

    both = np.vstack([power[0].T, np.full((1, power.shape[1]), np.nan), power[1].T])
    d.imshow(both, aspect="auto", cmap="magma", origin="lower", vmin=0, vmax=1)
    d.set(xlabel="hidden node", ylabel="frequency", title="Noise (below) becomes waves (above)")
    marks = np.array([1, 6, 11])
    d.set_yticks(np.r_[marks - 1, marks + M // 2], np.r_[marks, marks])
    d.grid(False)
plt.show()
