"""Checks of the paper `saddles`."""
