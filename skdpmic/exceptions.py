"""Warnings of the package."""


class PrivacyLeakWarning(UserWarning):
    """Something outside the differential privacy guarantee was asked for: data-dependent bounds, or a seed."""
