"""What selectors and scorers have released, as columns with a value for each feature."""

from contextlib import suppress
from typing import Any

import numpy as np

from skdpmic._utils.fitted import check_published


class ResultsMixin:
    """A selector or scorer whose results a user can have as one dataframe."""

    def to_frame(self) -> Any:
        """Return what was released of each feature, best first.

        Costs no privacy: nothing but what was released, and public numbers, are used. With ranks, the first call takes
        a few seconds, in which p-values are simulated.

        Returns
        -------
        pandas.DataFrame
            A row for each feature, with those of these columns that the estimator has:

            - `feature`: its name, or its number where features have no names;
            - `rank`: its place, 1 for the best, as in `ranking_`. Features that share a place stay in the order of the
              table: if names only were released, all that were not chosen share the next place, and those of `keep`
              have 0;
            - `score`: its released score;
            - `lower`, `upper`: the 95% interval for the score without noise, as of `scores_interval`;
            - `p_value`: as of `p_values`, not corrected for there being several features;
            - `gap`: with ``mechanism_="one-shot"``, how much larger its noisy score is than that of the next feature
              chosen, as in `gaps_`; NaN where there is none;
            - `among_best`: how sure it is that the feature is among the k best without noise. By a selector of scores:
              how likely, if any score was as likely as another before the release. By :class:`PrivateSelectKBest` with
              gaps: the confidence, for each place by itself, that no feature left out is as good, whatever the scores
              are; NaN for the last one chosen and those left out, of which nothing is known;
            - `r2`: with :class:`skdpmic.correlation.PrivateForwardSelector`, the R squared of a linear model with this
              feature and those before it, as in `r2_path_`;
            - `n_reported`: with :class:`skdpmic.two_party.TwoPartyScorer`, how many records reported it;
            - `chosen`: whether a selector keeps it, with the `k`, `threshold` or `fdr` that it has now.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the selector has been given parameters since the fit with which what was released does not say which
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
        """Scores and their intervals, where there are such."""
        columns = {"score": self.scores_} if hasattr(self, "scores_") else {}
        with suppress(AttributeError):  # where the law of the noise on a score is not known
            columns["lower"], columns["upper"] = self.scores_interval()
        return columns

    def _further_columns(self):
        """What only this estimator has."""
        return {}


def _frame_of(estimator):
    check_published(estimator)
    features = getattr(estimator, "feature_names_in_", np.arange(estimator.n_features_in_))
    columns = {"feature": features, "rank": estimator.ranking_} | estimator._result_columns()
    with suppress(AttributeError):  # where the law of a score is not known
        columns["p_value"] = estimator.p_values()
    columns |= estimator._further_columns()
    if hasattr(estimator, "get_support"):
        columns["chosen"] = estimator.get_support()
    return dataframe(columns).sort_values("rank", kind="stable", ignore_index=True)


def in_order(ranking):
    """The numbers of the features that were ranked, best first; kept ones, which have 0, were not."""
    order = np.argsort(ranking, kind="stable")
    return order[ranking[order] > 0]


def dataframe(data, columns=None):
    """A dataframe of pandas, as every `to_frame` returns."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install pandas") from error
    return pandas.DataFrame(data, columns=columns)
