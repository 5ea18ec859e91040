"""The Maximal Information Coefficient, without privacy."""
