"""What is public about a table, and how its columns are read."""
