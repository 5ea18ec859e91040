"""The command line interface, for a codebook and a table in a file or database."""
