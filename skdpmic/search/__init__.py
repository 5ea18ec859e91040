"""Searches for parameters: a private one, and what the others cost."""
