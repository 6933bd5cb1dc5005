"""Checks of the paper `layerwise`."""
