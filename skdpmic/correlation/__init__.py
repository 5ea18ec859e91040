"""Correlations of all columns of a table, and forward selection by them."""
