"""What fits, and searches over parameters, cost before they run (``docs/theory/search.md``)."""
