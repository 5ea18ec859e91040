"""A privacy card: what a release is, and what its guarantee covers, for people and for programs."""
