"""The statistics that features are scored by, each with its grids or ranks, score, sensitivity and null law."""
