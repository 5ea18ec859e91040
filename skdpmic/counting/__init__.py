"""Exact counts on public grids, which add up: in memory, in files, on the workers of a cluster."""
