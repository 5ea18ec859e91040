"""Kendall, Spearman, Chatterjee and the distance correlation of ranks."""
