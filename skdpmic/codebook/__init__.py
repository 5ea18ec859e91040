"""Codebooks: the public description of a table, with the possible values and the meaning of every column."""
