"""Utilities of the whole package, independent of statistics, tables and privacy."""
