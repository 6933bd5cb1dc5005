"""Position: Solve Layerwise Linear Models First to Understand Neural Dynamical Phenomena."""
