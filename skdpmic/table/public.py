"""Public arguments that can also be "data", which breaks the guarantee."""

from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic.table.normal_form.of_numpy import is_missing


def asks_for_data(value):
    """Whether a public argument is "data", which breaks the guarantee."""
    return isinstance(value, str) and value == "data"


def check_public(name, value):
    """Raise if a public argument is "data", but the data is never complete in memory."""
    if asks_for_data(value):
        raise ValueError(f"{name} must be public if records come in pieces, got 'data'.")


def refuse_missing(labels, name):
    """Raise if public labels, as an array of objects, include a missing value."""
    if is_missing(labels).any():
        raise ValueError(
            f"{name} must hold labels only, got a missing value such as NaN or None. Leave it "
            "out: missing values of a feature have their own bin, and a target must have none."
        )


def warn_about_data(name):
    """Warn that the public argument `name` is read from the data."""
    warn(
        f"{name}='data' reads {name} from the data, so the privacy guarantee does not hold. Pass values that are "
        "known in advance, not read from the data.",
        PrivacyLeakWarning,
    )
