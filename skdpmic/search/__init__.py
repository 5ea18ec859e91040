"""Parameter searches: a private one, and the privacy cost of the others."""
