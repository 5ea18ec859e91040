"""Warnings and errors of the package."""


class PrivacyLeakWarning(UserWarning):
    """Something outside the differential privacy guarantee was asked for: data-dependent bounds, or a seed."""


class BudgetError(RuntimeError):
    """A privacy cost was refused, because the total would pass the limit of the :class:`BudgetLedger`."""
