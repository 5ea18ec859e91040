"""Plans: the cost of a release of a table of a given shape, and what it will find, before there is data."""
