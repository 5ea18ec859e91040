"""What all estimators that draw noise have in common."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils import no_cache
from skdpmic._utils.summaries import as_html, cost_in_short

_NONCE = "nonce"


def _holds_no_estimator(estimator):
    return not any(hasattr(value, "fit") for value in estimator.get_params(deep=False).values())


class PrivateEstimator(BaseEstimator):
    """An estimator that makes a private release: every hash of it is new, and notebooks show what it released.

    Cloning and pickling are unaffected. `_shown` returns a :class:`Summary` once it is fitted.
    """

    _plan: Callable[[], Any] | None = None  # of a fit to a table; None for releases of other kinds

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ranking_")

    def __getstate__(self):
        return super().__getstate__() | {_NONCE: no_cache.fresh_nonce()}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != _NONCE})

    def __repr__(self, N_CHAR_MAX=700):
        with np.printoptions(threshold=10, edgeitems=2):
            return super().__repr__(N_CHAR_MAX)

    @property
    def _repr_html_(self):
        diagram = super()._repr_html_  # an AttributeError if text is displayed
        return lambda: diagram() + self._release_as_html()

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._release_as_html()
        return bundle

    @available_if(_holds_no_estimator)  # others are drawn as nested boxes
    def _sk_visual_block_(self):
        """The box of this step in a scikit-learn diagram, such as a pipeline's: with its cost below its name."""
        cost = cost_in_short(self._shown().entries) if self.__sklearn_is_fitted__() else ""
        return SimpleNamespace(
            kind="single",
            estimators=self,
            names=type(self).__name__,
            name_details=str(self),
            name_caption=cost or None,
            doc_link_label=None,
            dash_wrapped=True,
        )

    def _release_as_html(self):
        return as_html(self._shown()) if self.__sklearn_is_fitted__() else ""


def check_published(estimator):
    """Raise unless an estimator is fitted; with a separate message if records are counted but not yet published."""
    if not hasattr(estimator, "fit"):
        raise TypeError(f"estimator must be a fitted estimator, got {type(estimator).__name__}.")
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
            f"{asker} requires released scores, which DPMICScorer and DPMICSelector publish, got "
            f"{type(estimator).__name__}."
        )
