"""The public description of a table, and how its columns are read."""
