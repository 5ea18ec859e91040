"""What the whole package uses, and what says nothing of statistics, tables or privacy."""
