"""The releases, and the single path by which they are made."""
