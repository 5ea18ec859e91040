"""What a release of a table of a given shape will cost, and what it will find, before there is data."""
