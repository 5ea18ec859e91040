"""What is public about a table, written down once: for every column, what its values can be and what they mean."""
