"""Causal structure from one noisy release of all pairs of columns."""
