"""Grokking in Linear Estimators."""
