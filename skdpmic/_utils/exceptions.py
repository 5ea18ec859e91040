"""Warnings and errors of the package."""

import inspect
import warnings

_NOT_THE_USER = {"skdpmic", "sklearn", "joblib", "contextlib"}


class PrivacyLeakWarning(UserWarning):
    """Warns that a parameter breaks the privacy guarantee: bounds or classes read from the data, or a seed.

    Examples
    --------
    >>> import warnings
    >>> from skdpmic import PrivacyLeakWarning, PrivateSelectKBest
    >>> selector = PrivateSelectKBest(k=1, epsilon=1, bounds=(0, 1), target_bounds=(0, 1), random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyLeakWarning)
    ...     try:
    ...         selector.fit([[0.1], [0.2], [0.3], [0.4]], [0, 0, 1, 1])
    ...     except PrivacyLeakWarning:
    ...         print("refused")
    refused
    """


class BudgetError(RuntimeError):
    """Raised if a privacy cost is refused because the total would exceed the limit of the :class:`BudgetLedger`.

    Examples
    --------
    >>> import tempfile
    >>> from skdpmic import BudgetError, BudgetLedger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
    ...     try:
    ...         ledger.charge("mean age", 1.5)
    ...     except BudgetError:
    ...         print("refused")
    refused
    """


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the user's line: the innermost call from outside of this package and scikit-learn."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
