"""Checks of the paper `li2`."""
