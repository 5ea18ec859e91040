"""Distributions of scores of independent columns, from public numbers: for p-values."""
