"""The releases of selectors and scorers, as columns with one value per feature."""

from contextlib import suppress
from typing import Any

import numpy as np

from skdpmic._utils.private_estimator import check_published


class ResultsMixin:
    """A selector or scorer that returns its results as a dataframe."""

    def to_frame(self) -> Any:
        """Return the released results of each feature as a dataframe, best first.

        Costs no privacy: it uses only what was released, and public numbers. With rank statistics, the first call takes
        a few seconds to simulate p-values.

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
        return _frame_of(self)

    def _result_columns(self):
        """Scores and their intervals, if there are any."""
        columns = {"score": self.scores_} if hasattr(self, "scores_") else {}
        with suppress(AttributeError):  # if the distribution of the noise on a score is not known
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


def _frame_of(estimator):
    check_published(estimator)
    features = getattr(estimator, "feature_names_in_", np.arange(estimator.n_features_in_))
    columns = {"feature": features, "rank": estimator.ranking_} | estimator._result_columns()
    with suppress(AttributeError):  # if the distribution of a score is not known
        columns["p_value"] = estimator.p_values()
    columns |= estimator._further_columns()
    if hasattr(estimator, "get_support"):
        columns["chosen"] = estimator.get_support()
    frame = dataframe(columns).sort_values("rank", kind="stable", ignore_index=True)
    return with_intervals(frame, estimator._what_intervals_hold) if "lower" in columns else frame


def with_intervals(frame, what):
    """A dataframe that says what its intervals are for."""
    frame.attrs["interval"] = f"95% interval for {what}"
    return frame


def best_first(ranking):
    """Indices of the ranked features, best first, without those kept in any case, which have rank 0."""
    order = np.argsort(ranking, kind="stable")
    return order[ranking[order] > 0]


def dataframe(data, columns=None):
    """A pandas dataframe, for all `to_frame` methods."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame requires pandas: pip install pandas") from error
    return pandas.DataFrame(data, columns=columns)
