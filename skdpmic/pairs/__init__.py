"""Private scores of one pair of variables."""
