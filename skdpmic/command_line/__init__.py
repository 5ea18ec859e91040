"""The command line: a codebook, a table in a file or a database, and what the package does with them."""
