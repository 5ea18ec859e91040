from .relationships import R2_LEVELS, RELATIONSHIPS, GaussianMixture, load_mic_star, make_relationship, relationship

__all__ = ["R2_LEVELS", "RELATIONSHIPS", "GaussianMixture", "load_mic_star", "make_relationship", "relationship"]
