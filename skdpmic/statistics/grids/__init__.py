"""Grids that depend on public numbers only."""
