"""Feature selectors and scorers."""
