"""A private look at a table, which tells whether its codebook suits it."""
