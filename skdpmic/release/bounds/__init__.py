"""Public bounds learnt from the data, at a privacy cost."""
