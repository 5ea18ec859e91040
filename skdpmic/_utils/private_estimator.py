"""What all estimators that draw noise have in common."""

import contextlib
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.bases import BaseEstimator
from skdpmic._utils.dataframes import dataframe, with_intervals
from skdpmic._utils.never_cached import fresh_nonce
from skdpmic._utils.summaries import as_html
from skdpmic._utils.texts import require_type

_NONCE = "nonce"


class PrivateEstimator(BaseEstimator):
    """An estimator that makes a private release: every hash of it is new, and notebooks show what it released.

    Cloning and pickling are unaffected. `_shown` returns a :class:`Summary` once it is fitted.
    """

    _plan: Callable[[], Any] | None = None  # of a fit to a table; None for releases of other kinds

    def __sklearn_is_fitted__(self):
        return "_stored" in vars(self) and "_sketch" not in vars(self)  # which are counts not yet published

    def __getstate__(self):
        return super().__getstate__() | {_NONCE: fresh_nonce()}

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

    def _release_as_html(self):
        return as_html(self._shown()) if self.__sklearn_is_fitted__() else ""


def check_published(estimator):
    """Raise unless an estimator is fitted; with a separate message if records are counted but not yet published."""
    require_type(hasattr(estimator, "fit"), "estimator must be a fitted estimator", estimator)
    if "_sketch" in vars(estimator) and not estimator.__sklearn_is_fitted__():
        raise NotFittedError(
            f"This {type(estimator).__name__} instance has counted records that are not published yet. Call 'publish' "
            "before using this estimator."
        )
    check_is_fitted(estimator)


def check_publishes(estimator, attribute, must):
    """Raise unless an estimator is fitted and has this attribute; `must` says who requires what, for a message."""
    check_published(estimator)
    if not hasattr(estimator, attribute):
        raise AttributeError(f"{must}, got {type(estimator).__name__}.")


@dataclass(frozen=True, eq=False)
class _Call:
    """A call that changes an object, or reads one that must not change meanwhile."""

    thing: object
    only_reads: bool


_calls: list[_Call] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_calls.clear)  # a forked process has its own copies


@contextlib.contextmanager
def in_use(thing, *, only_reads=False, remedy="give each thread one of its own, by sklearn.base.clone"):
    """Raise a RuntimeError if a call in progress changes `thing`, or if one reads it and this one changes it."""
    call = _Call(thing, only_reads)
    try:
        _calls.append(call)  # of two simultaneous calls, the first in the list proceeds
        calls = _calls.copy()  # which no other thread changes
        before = [other for other in calls[: calls.index(call)] if other.thing is thing]
        if any(not (other.only_reads and only_reads) for other in before):
            raise RuntimeError(f"this {type(thing).__name__} is in use by another call: {remedy}.")
        yield
    finally:
        if call in _calls:
            _calls.remove(call)


class ResultsMixin(BaseEstimator):
    """A selector or scorer that returns its results as a dataframe."""

    def to_frame(self) -> Any:
        """Return the released results of each feature as a dataframe, best first.

        Costs no privacy: it uses only what was released, and public numbers.

        Returns
        -------
        pandas.DataFrame
            One row per feature, with those of these columns that apply:

            - `feature`: its name, or its number if features have no names;
            - `rank`: its rank, 1 for the best, as in `ranking_`. Features with equal ranks stay in the order of the
              table: if only names were released, all features not chosen share the next rank, and those of `keep` have
              0;
            - `score`: its released score;
            - `lower`, `upper`: the 95% interval for the noise-free score, as in `scores_interval`; the dataframe's
              ``attrs["interval"]`` says which score that is;
            - `of_possible`: its released score as a share of `largest_possible_score_`, the largest score that any
              feature can have with the known shares of the classes; at most 1, and NaN if that is 0;
            - `of_possible_lower`, `of_possible_upper`: the 95% interval for the noise-free score as a share of
              `largest_possible_score_`. It covers the noise on the score, and takes `largest_possible_score_` as exact:
              if shares of the classes were learnt, its error is not covered;
            - `p_value`: as in `p_values`, not corrected for multiple testing;
            - `gap`: with ``mechanism_="one-shot"``, the difference between its noisy score and that of the next feature
              chosen, as in `gaps_`; NaN if there is none;
            - `among_best`: the certainty that the feature is among the k best without noise. With released scores: its
              posterior probability for a uniform prior of the scores. With :class:`PrivateSelectKBest` and gaps: the
              confidence, for each rank separately, that no feature left out is as good, for any scores; NaN for the
              last feature chosen and those left out, about which nothing is known;
            - `n_reported`: with :class:`skdpmic.two_party.TwoPartyScorer`, the number of records that reported it;
            - `chosen`: whether a selector keeps it, with the current `k`, `threshold` or `fdr`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If parameters of the selector have changed since the fit so that the release does not determine which
            features to keep.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import DPMICSelector
        >>> X = np.random.default_rng(0).uniform(size=(5000, 3))
        >>> selector = DPMICSelector(k=1, statistic="mtv_r", epsilon=5, bounds=(0, 1), target_bounds=(0, 1))
        >>> frame = selector.fit(X, X[:, 2] ** 2).to_frame()
        >>> frame.columns.tolist()
        ['feature', 'rank', 'score', 'lower', 'upper', 'p_value', 'among_best', 'chosen']
        >>> frame[["feature", "chosen"]].head(1).to_dict("records")
        [{'feature': 2, 'chosen': True}]
        """
        check_published(self)
        features = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        columns = {"feature": features, "rank": self.ranking_} | self._result_columns()
        with contextlib.suppress(AttributeError):  # if the distribution of a score is not known
            columns["p_value"] = self.p_values()
        columns |= self._further_columns()
        if hasattr(self, "get_support"):
            columns["chosen"] = self.get_support()
        frame = dataframe(columns).sort_values("rank", kind="stable", ignore_index=True)
        return with_intervals(frame, self._what_intervals_hold) if "lower" in columns else frame

    def _result_columns(self):
        """Scores and their intervals, if there are any."""
        columns = {"score": self.scores_} if hasattr(self, "scores_") else {}
        with contextlib.suppress(AttributeError):  # if the distribution of the noise on a score is not known
            columns["lower"], columns["upper"] = self.scores_interval()
        largest = getattr(self, "largest_possible_score_", None)
        return columns if largest is None else columns | _as_shares_of_possible(columns, largest)

    def _further_columns(self):
        """The columns of this estimator only."""
        return {}


def share_of_possible(scores, largest):
    """Scores as shares of the largest possible score, capped at 1, which noise and wrong shares may exceed.

    NaN if the largest possible score is 0, because noise hides the shares of the classes.
    """
    return np.minimum(scores / largest, 1.0) if largest > 0 else np.full_like(scores, np.nan)


def _as_shares_of_possible(columns, largest):
    """A score, and the ends of its interval, as shares of the largest possible score."""
    names = {"score": "of_possible", "lower": "of_possible_lower", "upper": "of_possible_upper"}
    return {new: share_of_possible(columns[name], largest) for name, new in names.items() if name in columns}


def best_first(ranking):
    """Indices of the ranked features, best first, without those kept in any case, which have rank 0."""
    order = np.argsort(ranking, kind="stable")
    return order[ranking[order] > 0]


_KINDS_THAT_NUMBER_LABELS = ("Bagging", "OneVsOne", "OneVsRest", "OutputCode", "Stacking", "Voting")
_NUMBER_LABELS = {f"{kind}Classifier" for kind in _KINDS_THAT_NUMBER_LABELS}


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
