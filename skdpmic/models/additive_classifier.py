"""A private additive model of classes."""

from typing import Any, Self

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin

from skdpmic._utils.rollback import one_call_at_a_time
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, Floats, FromData, RandomState, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models.additive_model import PrivateAdditiveModel
from skdpmic.models.additive_plan import additive_plan
from skdpmic.release.path import publish, store


class PrivateAdditiveClassifier(ClassifierMixin, PrivateAdditiveModel):
    """Fit an additive model of classes under differential privacy.

    Every column is cut into public parts, and each part has an effect on the probability of each class; a prediction is
    the sum of the effects of a row. The model is computed from noisy tables of counts only, and satisfies (epsilon,
    delta)-differential privacy: replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one
    person) changes the probability of any outcome by a factor of at most exp(epsilon), plus delta. So the model, all
    its effects and their predictions for new rows may be published.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). Choose it far
        below ``1 / n_samples``. With 0, the model is a scorecard, which needs more records.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric columns; values outside are clipped. Each range is cut into eight parts of equal
        width. As in :class:`PrivateSelectKBest`; a dict may also have entries for columns that are not in X, such as
        those that an earlier step of a pipeline did not choose.
    categories : dict, default=None
        Public labels of nominal columns, each of which is a part. Any other label counts as "other", which is another
        part. As in :class:`PrivateSelectKBest`; it may have entries for columns that are not in X.
    classes : array-like, default=None
        All labels the target can have, at most ten, in any order; or "data", which breaks the guarantee and warns. Not
        inside a wrapper that numbers labels (Bagging, OneVsOne, OneVsRest, OutputCode, Stacking, VotingClassifier),
        where they would mean others.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. The number of people is public, as n_samples is otherwise.
    ledger : BudgetLedger, default=None
        Ledger that every `fit` charges, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Verbosity of `fit`, which prints how many columns are done and the elapsed time: 0 prints nothing, 1 about ten
        lines in each pass over the columns, 2 more. The time is not covered by the guarantee: do not publish it.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Attributes
    ----------
    kind_ : {"two-way", "scorecard"}
        What was released; public numbers decide it. "two-way" is ridge regression on the noisy tables of all pairs of
        columns. "scorecard" is a sum of effects of single columns, from the noisy table of each column with the
        target; it is used without `delta`, or if the noise on two-way tables would exceed a third of n_samples.
    coef_ : ndarray of shape (1, n_parts) or (n_classes, n_parts)
        The effect of each part of each column, in the order of `to_frame`; the mean effect of a column over its records
        is about 0. With ``kind_="two-way"``, effects are on the
        probability of a class; with "scorecard", on the logarithm of the odds of two classes, or of the probability of
        each. For two classes, they are those on the second one.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The prediction if all effects are 0.
    coef_noise_scale_ : ndarray of the shape of `coef_`
        Approximate standard deviation that the noise gives to each effect.
    noisy_counts_ : list of ndarray of shape (n_parts_j,)
        The release: the noisy number of records in each part of each column, those of missing values last.
    noisy_pairs_ : dict of (int, int) to ndarray of shape (n_parts_i, n_parts_j)
        The release, with ``kind_="two-way"``: the noisy number of records in each pair of parts of two columns.
    noisy_sums_ : ndarray of shape (n_parts, n_classes) or (n_parts, 1)
        The release: the noisy number of records of each class in each part; with ``kind_="two-way"`` and two
        classes, half the difference between those of the second and the first.
    factor_ : float
        The release, with ``kind_="scorecard"``: the factor in (0, 1] by which the effects of single columns are
        multiplied, because columns partly repeat one another.
    noise_scale_ : float
        Standard deviation of the noise on a count, in records.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has column names, which must be str.

    See Also
    --------
    PrivateAdditiveRegressor : The same for a numeric target.
    PrivateSelectKBest : Chooses columns; can come before this model in a pipeline, with the same bounds and categories.

    Notes
    -----
    Probabilities of the two-way model are the nearest ones to its sums of effects, which may be below 0 or above 1.

    See ``docs/theory/additive_model.md`` for the theorems. Not covered by the guarantee: errors raised on invalid data,
    timing, scores on other records.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import PrivateAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(20_000, 3))
    >>> y = np.where((X[:, 0] - 0.5) ** 2 + 0.1 * X[:, 1] > 0.13, "far", "near")
    >>> model = PrivateAdditiveClassifier(epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=["far", "near"]).fit(X, y)
    >>> model.predict([[0.5, 0.5, 0.5], [0.95, 0.5, 0.5]]).tolist()
    ['near', 'far']
    >>> bool(model.score(X, y) > 0.85), model.kind_
    (True, 'two-way')
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        classes: ColumnLike | FromData | None = None,
        max_rows_per_group: int | None = None,
        ledger: BudgetLedger | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.categories = categories
        self.classes = classes
        self.max_rows_per_group = max_rows_per_group
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @one_call_at_a_time
    def fit(self, X: TableLike, y: BesideTable | None = None, groups: BesideTable | None = None) -> Self:
        """Release the noisy tables, and compute the model from them.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows, in memory. Columns hold numbers, labels, booleans, dates or durations,
            according to `bounds` and `categories`. Missing values are never an error: they have their own part.
        y : array-like of shape (n_samples,)
            Labels from `classes`, without missing values.
        groups : array-like of shape (n_samples,), default=None
            Identifies the person behind each row; given if and only if `max_rows_per_group` is. Hashable labels of at
            least 4 people, none missing.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid. The estimator is left unchanged.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.
        RuntimeError
            If another call that changes the estimator is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If bounds or classes are read from the data, or `random_state` is set.
        UserWarning
            Before the charge: if the noise will exceed the signal of a typical table, or delta is above
            ``1 / n_samples``.
        """
        plan = self._plan()
        records = plan.read(X, y, groups)
        ready = plan.ready(records.public)
        published = publish(ready, records, ledger=self.ledger, random_state=self.random_state)
        store(self, published)
        return self

    def _plan(self):
        return additive_plan(self, classes=self.classes)

    def decision_function(self, X: TableLike) -> Floats:
        """Compute the sums of effects from which predictions are made.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of `fit`. The prediction for a row depends on this row and the model only.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, above 0 where the second one is predicted: its probability minus a half, or for a
            scorecard, the logarithm of its odds. For more, the largest is that of the predicted class.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: TableLike) -> Floats:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of `fit`. The prediction for a row depends on this row and the model only.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        scores, is_scorecard = self._scores(X), self.kind_ == "scorecard"
        if len(self.classes_) == 2:
            scores = np.hstack([-scores, scores]) / 2 if is_scorecard else np.hstack([0.5 - scores, 0.5 + scores])
        return special.softmax(scores, axis=1) if is_scorecard else nearest_distributions(scores)

    def predict(self, X: TableLike) -> Any:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of `fit`. The prediction for a row depends on this row and the model only.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from `classes_`.
        """
        scores = self._scores(X)
        return self.classes_[(scores[:, 0] > 0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on the small tables of scikit-learn's checks, because of the noise
        return tags


def nearest_distributions(scores):
    """The probabilities nearest to each row of scores: at least 0, with a sum of 1, in the same order.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    descending = -np.sort(-scores, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1) / np.arange(1, scores.shape[1] + 1)
    n_positive = (descending > excess).sum(axis=1)
    return np.maximum(scores - excess[np.arange(len(scores)), n_positive - 1][:, None], 0.0)
