"""Estimators of scikit-learn that number the labels before they fit what is inside them.

Public `classes` inside would mean other labels, and as the numbers depend on which labels occur, one record could
change those of all others. A wrapped estimator cannot see this; what looks at the whole estimator can.
"""

import functools

from skdpmic._utils.private_estimator import PrivateEstimator

_NUMBER_LABELS = {
    "BaggingClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "StackingClassifier",
    "VotingClassifier",
}


def about_numbered_labels(estimator):
    """A sentence that names an estimator that numbers labels for a private one inside it; empty if there is none."""
    parts = estimator.get_params() if hasattr(estimator, "get_params") and not isinstance(estimator, type) else {}
    for part in [estimator, *parts.values()]:
        if _numbers_labels(part) and any(map(_is_private, part.get_params().values())):
            return (
                f"{type(part).__name__} numbers the labels that occur before it fits the private estimator inside, "
                "whose classes would mean other labels, and one record could change the numbers of all others: fit "
                "that estimator by itself."
            )
    return ""


def _numbers_labels(part):
    kinds = () if isinstance(part, type) else type(part).__mro__
    return any(kind.__name__ in _NUMBER_LABELS and kind.__module__.startswith("sklearn.") for kind in kinds)


def _is_private(part):
    return isinstance(part, PrivateEstimator | functools.partial)  # a partial may be a score function of this package
