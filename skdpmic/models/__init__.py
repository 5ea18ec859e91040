"""Private models of a table, and their private test scores."""
