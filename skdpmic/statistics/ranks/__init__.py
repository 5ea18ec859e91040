"""Kendall, Chatterjee and the distance correlation of ranks."""
