"""Checks that an estimator has published results."""

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


def check_published(estimator):
    """Raise unless an estimator is fitted; with a separate message if records are counted but not yet published."""
    if "_sketch" in vars(estimator) and not estimator.__sklearn_is_fitted__():
        raise NotFittedError(
            f"This {type(estimator).__name__} instance has counted records that are not published yet. Call 'publish' "
            "before using this estimator."
        )
    check_is_fitted(estimator)


def check_has_scores(estimator, asker):
    """Raise unless an estimator is fitted and has published scores."""
    check_published(estimator)
    if not hasattr(estimator, "scores_"):
        raise AttributeError(
            f"{asker} requires released scores, which DPMICScorer and DPMICSelector publish, got {estimator!r}."
        )
