"""Public arguments that may also be read from the data, which breaks the guarantee."""

import warnings

from skdpmic._utils.exceptions import PrivacyLeakWarning
from skdpmic.table.values import is_missing


def asks_for_data(value):
    """Whether a public argument is to be read from the data, which breaks the guarantee."""
    return isinstance(value, str) and value == "data"


def check_public(name, value):
    """Raise if a public argument is to be read from the data, all of which is never there at once."""
    if asks_for_data(value):
        raise ValueError(f"{name} must be public where records come in pieces, got 'data'.")


def refuse_missing(labels, name):
    """Raise if public labels, as an array of objects, hold one that stands for a missing value."""
    if is_missing(labels).any():
        raise ValueError(
            f"{name} must hold labels only, got one that stands for a missing value, such as NaN or None. Leave it "
            "out: missing values of a feature have a bin of their own, and a target must have none."
        )


def warn_about_data(name, stacklevel):
    """Warn that the public argument `name` is read from the data."""
    warnings.warn(
        f"{name}='data' reads {name} from the data, so the privacy guarantee does not hold. Pass values that are "
        "known in advance, not read from the data.",
        PrivacyLeakWarning,
        stacklevel=stacklevel + 1,
    )
