"""A private summary of a table, which checks whether its codebook fits."""
