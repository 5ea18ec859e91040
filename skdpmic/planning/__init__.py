"""What a release of a table of some shape will cost, and tell, before there is data."""
