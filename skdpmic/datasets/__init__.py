"""Distributions with a known MIC*: the 21 functional relationships of the paper, at nine levels of noise."""

from skdpmic.datasets.relationships import (
    R2_LEVELS,
    RELATIONSHIPS,
    GaussianMixture,
    load_mic_star,
    make_relationship,
    relationship,
)

__all__ = [
    "R2_LEVELS",
    "RELATIONSHIPS",
    "GaussianMixture",
    "load_mic_star",
    "make_relationship",
    "relationship",
]
