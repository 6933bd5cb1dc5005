"""
Reading the delay off a run
===========================

Train with gradient descent, read the grokking delay off the recorded accuracies, and compare with theory.
"""

import matplotlib.pyplot as plt
import numpy as np

from lazyrich import measures, plotting, simulate, tasks, theory

RATE, THRESHOLD, LEVEL = 0.01, 1e-3, 0.9545
SEEDS = range(16)

# %%
# Simulate
# --------
# Each run has its own training set, test set, teacher and student.

task = tasks.TeacherStudent(input_dimension=160, num_samples=200)
steps = simulate.log_steps(1e5, 120, start=False)
run = simulate.linear_descent(
    task, steps, learning_rate=RATE, seeds=SEEDS, thresholds=[THRESHOLD], num_test=500
).sel(threshold=THRESHOLD)

# %%
# Measure
# -------
# The measures take arrays: the same lines work on accuracies from any training script. The uncertainty
# is what reading off this record may miss; the spread over seeds is larger.

delay = measures.grokking_delay(run.time, run.train_accuracy, run.test_accuracy, LEVEL)
for seed in range(4):
    print(f"seed {seed}: {delay.time[seed]:.0f} ± {delay.uncertainty[seed]:.0f} steps")

# %%
# Compare
# -------
# Theory is the limit of many dimensions; at 160 single runs scatter around it.

model = theory.LinearGrokking(task.aspect_ratio, RATE, THRESHOLD)
error = delay.time.std(ddof=1) / np.sqrt(len(SEEDS))
print(f"mean over seeds: {delay.time.mean():.0f} ± {error:.0f} steps")
print(f"theory:          {model.grokking_delay(LEVEL).time:.0f} steps")

# %%
# Thin lines are runs, dots where they pass the level for good.

with plotting.style():
    figure, axes = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    for name, colour in zip(("train", "test"), plotting.COLOURS, strict=False):
        accuracy = run[f"{name}_accuracy"]
        crossing = measures.crossing_time(run.time, accuracy, LEVEL)
        axes.plot(run.time, accuracy.T, color=colour, linewidth=0.5, alpha=0.5)
        axes.plot(crossing.time, np.full(len(SEEDS), LEVEL), "o", color=colour, markersize=3)
        axes.plot([], [], color=colour, label={"train": "training", "test": "test"}[name])
        exact = getattr(model, f"{name}_accuracy")(steps)
        axes.plot(steps, exact, color="black", linewidth=1.2)
    axes.plot([], [], color="black", linewidth=1.2, label="theory")
    axes.axhline(LEVEL, color="0.6", linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="time $t$ (steps)", ylabel="accuracy")
    axes.set_title(rf"$\lambda = {task.aspect_ratio:g}$")
    axes.legend(loc="upper left")
plt.show()
