"""The statistics for scoring features, each with its grids or ranks, score, sensitivity and null distribution."""
