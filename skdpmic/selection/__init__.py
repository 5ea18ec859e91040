"""Selectors of features, and what scores them."""
