"""Public bounds that are learnt from the data, at a cost."""
