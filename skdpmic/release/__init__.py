"""What can be released, and the one way to release it."""
