"""A private additive model of numbers."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from skdpmic._utils.rollback import one_call_at_a_time
from skdpmic._utils.typing import BesideTable, Categories, FromData, RandomState, Range, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models.additive_model import PrivateAdditiveModel
from skdpmic.models.additive_plan import additive_plan
from skdpmic.models.target_mean import is_bent, numbers_at
from skdpmic.release.path import publish, store
from skdpmic.table.domains import NUMBERS, as_date


class PrivateAdditiveRegressor(RegressorMixin, PrivateAdditiveModel):
    """Fit an additive model of numbers under differential privacy.

    Every column is cut into public parts, and each part has an effect on the target; a prediction is the sum of the
    effects of a row. The model is computed from noisy tables only, and satisfies (epsilon, delta)-differential privacy:
    replacing one record (one row of X and y; with `max_rows_per_group`, all rows of one person) changes the probability
    of any outcome by a factor of at most exp(epsilon), plus delta. So the model, all its effects and their predictions
    for new rows may be published.

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
    target_bounds : tuple or array-like, default=None
        Public range of the target, in the form of an entry of `bounds`; values outside are clipped. A tenth of the
        budget finds where in it most targets are (`target_window_`), so it may be wide. "data" reads it from y, which
        breaks the guarantee and warns.
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
        target; it is used without `delta`, or if n_samples is below 64 times the noise on two-way tables.
    coef_ : ndarray of shape (n_parts,)
        The effect of each part of each column, in the order of `to_frame`; the mean effect of a column over its records
        is about 0. Effects are in units of the target, or of
        ``sign(y) * log(1 + abs(y))`` if `target_bounds` have "log", or in intervals between knots.
    intercept_ : float
        The prediction if all effects are 0.
    coef_noise_scale_ : ndarray of the shape of `coef_`
        Approximate standard deviation that the noise gives to each effect.
    noisy_counts_ : list of ndarray of shape (n_parts_j,)
        The release: the noisy number of records in each part of each column, those of missing values last.
    noisy_pairs_ : dict of (int, int) to ndarray of shape (n_parts_i, n_parts_j)
        The release, with ``kind_="two-way"``: the noisy number of records in each pair of parts of two columns.
    target_window_ : (float, float)
        The release: the range to which targets are clipped, in units of `intercept_`. It reaches from about the median
        three times as far as to about the quartile on either side, or further with little noise.
    noisy_sums_ : ndarray of shape (n_parts, 1)
        The release: the noisy sum of the target in each part, after `target_window_` is mapped to [-1/2, 1/2].
    correction_ : tuple (anchor, factor, shift)
        Only with "log" or knots, where the mean of the axis is not that of the target: a prediction becomes ``anchor +
        factor * (prediction - anchor) + shift``, so that predictions add up to about the total of the target. The
        factor is for a range on one side of the anchor, the shift for a range on both.
    noisy_octaves_ : ndarray of shape (2, n_sides, n_bins)
        The release, likewise: noisy sums of the target and of the predictions without correction, in bins of their
        distance from the anchor, each over the upper end of its bin.
    noisy_total_ : float
        The release, with ``kind_="scorecard"``: the noisy sum of the target of all records, likewise.
    factor_ : float
        The release, with ``kind_="scorecard"``: the factor in (0, 1] by which the effects of single columns are
        multiplied, because columns partly repeat one another.
    noise_scale_ : float
        Standard deviation of the noise on a count, in records.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has column names, which must be str.

    See Also
    --------
    PrivateAdditiveClassifier : The same for classes.
    PrivateSelectKBest : Chooses columns; can come before this model in a pipeline, with the same bounds and categories.

    Notes
    -----
    Predictions are of the mean of the target, in its units, and clipped to `target_bounds`. With much noise, they are
    near one number for all: the mean, or, with "log" or knots and so few records that all of `noisy_octaves_` are
    within their noise, the number at the mean of the axis.

    See ``docs/theory/additive_model.md`` for the theorems. Not covered by the guarantee: errors raised on invalid data,
    timing, scores on other records.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import PrivateAdditiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(20_000, 3))
    >>> y = 4 * (X[:, 0] - 0.5) ** 2 + X[:, 1]
    >>> model = PrivateAdditiveRegressor(epsilon=1.0, delta=1e-6, bounds=(0, 1), target_bounds=(0, 2)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.kind_
    (True, 'two-way')
    >>> model.to_frame().columns.tolist()
    ['feature', 'part', 'effect', 'lower', 'upper', 'count', 'has_records']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        bounds: Ranges | FromData | None = None,
        categories: Categories | None = None,
        target_bounds: Range | FromData | None = None,
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
        self.target_bounds = target_bounds
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
            Numbers or dates without missing values, clipped to `target_bounds`.
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
            If bounds or target_bounds are read from the data, or `random_state` is set.
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
        return additive_plan(self, target_bounds=self.target_bounds)

    def predict(self, X: TableLike) -> Any:
        """Predict the target.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of `fit`. The prediction for a row depends on this row and the model only.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers within `target_bounds`; dates or durations if these are.
        """
        scores, domain = self._scores(X)[:, 0], self._target_domain
        lower, *_, upper = (bound for bound in domain.bounds if bound != "log")
        if is_bent(domain):
            scores = self.correction_.applied(numbers_at(domain, np.clip(scores, *self.target_window_)))
        numbers = np.clip(scores, lower, upper)
        return numbers if domain.of == NUMBERS else np.array([as_date(number, domain.of) for number in numbers])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the small tables of scikit-learn's checks, because of the noise
        return tags
