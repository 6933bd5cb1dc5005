"""Saddle-to-Saddle Dynamics Explains A Simplicity Bias Across Neural Network Architectures."""
