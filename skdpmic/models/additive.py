"""The common base of the additive classifier and regressor: the fit, the scores of new rows, and the display."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin, RegressorMixin

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import (
    PrivateEstimator,
    check_published,
    dataframe,
    one_call_at_a_time,
    with_intervals,
)
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, number_column, why_broken
from skdpmic._utils.texts import counted, names_of
from skdpmic._utils.typing import (
    BesideTable,
    Categories,
    ColumnLike,
    Floats,
    FromData,
    RandomState,
    Range,
    Ranges,
    TableLike,
)
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models.additive_plan import NORMAL_95, AdditivePlan, additive_plan
from skdpmic.models.parts import codes_of, ends_of_parts, names_of_parts, sums_of_effects
from skdpmic.models.target_mean import is_bent, numbers_at
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.mechanisms import gaussian_quantile, laplace_quantile
from skdpmic.privacy.noise import laplace_scale
from skdpmic.release.path import publish, store
from skdpmic.table.domains import NUMBERS, Labels, as_date
from skdpmic.table.frames import check_columns_seen, in_memory, open_table
from skdpmic.table.records import read_columns

_WHAT_INTERVALS_HOLD = (
    "the mean of the effect over the noise, which shrinks effects; for each separately, approximately"
)
_CONFIDENCE = 0.95  # that all parts said to have records have some


class PrivateAdditiveModel(PrivateEstimator):
    """A model that sums one effect per column, which depends only on the part that contains its value."""

    _plan: Callable[[], AdditivePlan]
    _domains: list[Any]  # public, of each column
    _offsets: Any  # the number of the first part of each column, and their total
    coef_: Any
    intercept_: Any

    def to_frame(self) -> Any:
        """Return the effect of each part of each column as a dataframe.

        Costs no privacy: it uses only what was released, and public numbers.

        Returns
        -------
        pandas.DataFrame
            One row per part of each column (and class, if there are more than two), with the columns

            - `feature`: the name of the column, or its number if columns have no names;
            - `part`: the range or the label; "other" for other labels, "missing" for missing values, and "other (not a
              label)" or "missing (not a label)" if a label is called so;
            - `class`: the class to which the effect belongs; only with more than two classes;
            - `effect`: its effect, as in `coef_`;
            - `lower`, `upper`: approximate 95% interval, for each effect separately, for the mean of the effect over
              the noise: in many fits to the same records, with the same `factor_` if there is one. More noise makes
              fits shrink their effects more, so this is not for the effect without noise, which may be far larger;
              ``attrs["interval"]`` says so, too;
            - `count`: the noisy number of records in the part; 0 if the noise makes it negative in `noisy_counts_`;
            - `has_records`: whether the count exceeds its noise, at 95% for all parts together. If not, the part may be
              empty, and its effect nothing but noise.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the estimator is not fitted.
        """
        check_published(self)
        effects, margins = np.atleast_2d(self.coef_), NORMAL_95 * np.atleast_2d(self.coef_noise_scale_)
        of_parts = {"count": np.maximum(np.concatenate(self.noisy_counts_), 0), "has_records": self._have_records()}
        names = np.repeat(np.asarray(names_of(self), dtype=object), np.diff(self._offsets))
        parts = [part for domain in self._domains for part in names_of_parts(domain)]
        columns = {"feature": np.tile(names, len(effects)), "part": parts * len(effects)}
        if len(effects) > 1:
            columns["class"] = np.repeat(self.classes_, len(parts))
        columns |= {"effect": effects.ravel(), "lower": (effects - margins).ravel()}
        columns["upper"] = (effects + margins).ravel()
        frame = dataframe(columns | {name: np.tile(of_part, len(effects)) for name, of_part in of_parts.items()})
        return with_intervals(frame, _WHAT_INTERVALS_HOLD)

    def plan(self, n_samples: int, n_features: int) -> ReleasePlan:
        """Plan the noise of a fit to a table of this shape.

        Costs no privacy: it uses only the parameters and these numbers, and charges no ledger.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; number of people with `max_rows_per_group`.
        n_features : int

        Returns
        -------
        ReleasePlan
            The first row describes `fit`: its `statistic` is `kind_`, its `noise_scale` is `noise_scale_`, and its
            `epsilon` and `delta` are `privacy_spent_`. The second, if `delta` is above 0, describes the other kind of
            model. The `error` is the half-width of a 95% interval for a count, as a share of the records.

        Raises
        ------
        ValueError
            If a parameter is invalid.

        Examples
        --------
        >>> from skdpmic import PrivateAdditiveClassifier
        >>> plan = PrivateAdditiveClassifier(1.0, 1e-6, bounds=(0, 1), classes=[0, 1]).plan(10_000, 20)
        >>> plan[0].statistic, round(plan[0].noise_scale)
        ('two-way', 139)
        """
        fitted = self._plan()
        check_whole(n_samples, "n_samples", 4)
        check_whole(n_features, "n_features", 1)
        return ReleasePlan(fitted.rows(int(n_samples), int(n_features)), "error")

    def _scores(self, X):
        """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
        check_published(self)
        takes_text = any(isinstance(domain, Labels) for domain in self._domains)
        table = open_table(in_memory(X), type(self).__name__, takes_text=takes_text, least=1)
        check_columns_seen(self, table)
        columns, domains = read_columns(table, self._domains)
        codes = [codes_of(column, domain.encoded) for column, domain in zip(columns, domains, strict=True)]
        return sums_of_effects(codes, np.atleast_2d(self.coef_).T, self.intercept_, self._offsets)

    def _effects_of(self, j):
        """A column's parts: names, ends or None, whether they have records, effects and noise (n_targets, n_parts)."""
        of_column = slice(self._offsets[j], self._offsets[j + 1])
        both = (np.atleast_2d(values)[:, of_column] for values in (self.coef_, self.coef_noise_scale_))
        has_records = self._have_records()[of_column]
        return names_of_parts(self._domains[j]), ends_of_parts(self._domains[j]), has_records, *both

    def _have_records(self):
        """Whether the number of records in each part exceeds its noise, at 95% for all parts together."""
        counts = np.concatenate(self.noisy_counts_)
        n_summed = self.noisy_sums_.shape[1] if self.kind_ == "scorecard" else 1  # noisy counts, of each class
        deviation = self.noise_scale_ * np.sqrt(n_summed)
        if deviation == 0:
            return counts > 0
        if self._entry.mechanism == "gaussian":
            return counts > gaussian_quantile(deviation, _CONFIDENCE, len(counts))
        return counts > laplace_quantile(laplace_scale(deviation), _CONFIDENCE, len(counts))

    def _shown(self):
        """The columns of an additive model, those with the largest effects first."""
        names, effects = names_of(self), np.atleast_2d(self.coef_)
        margins = NORMAL_95 * np.atleast_2d(self.coef_noise_scale_)
        ranges = [slice(*pair) for pair in zip(self._offsets[:-1], self._offsets[1:], strict=True)]
        parts = [names_of_parts(domain) for domain in self._domains]
        shown = np.where(self._have_records(), effects[-1], np.nan)  # on the last class if there are several
        weights = np.maximum(np.concatenate(self.noisy_counts_), 0.0)
        sizes = np.array([_root_mean_square(effects[:, j], weights[j]) for j in ranges])
        columns = [
            ResultColumn("feature", names),
            number_column("typical effect", sizes),
            ResultColumn("largest in", [_best(shown[j], texts) for texts, j in zip(parts, ranges, strict=True)]),
            ResultColumn("smallest in", [_best(-shown[j], texts) for texts, j in zip(parts, ranges, strict=True)]),
            number_column("95% half-width", [float(np.median(margins[:, j])) for j in ranges]),
        ]
        released = f"an additive model of {counted(len(names), 'column')}, and the tables from which it is computed"
        facts = facts_of_release(self, released, noisy="count")
        order = np.argsort(-sizes, kind="stable")
        return Summary(facts, why_broken(self._entry), columns, order, unit="column", entries=(self._entry,))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _root_mean_square(effects, weights):
    weights = weights if weights.sum() > 0 else np.ones(len(weights))
    return float(np.sqrt(np.average((effects**2).mean(axis=0), weights=weights)))


def _best(effects, texts):
    """The part with the largest effect, among those that certainly have records."""
    return "every count is within its noise" if np.isnan(effects).all() else texts[np.nanargmax(effects)]


@dataclass(eq=False, repr=False)
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

    epsilon: float = 1.0
    delta: float = 1e-6
    _: KW_ONLY
    bounds: Ranges | FromData | None = None
    categories: Categories | None = None
    classes: ColumnLike | FromData | None = None
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None

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


@dataclass(eq=False, repr=False)
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

    epsilon: float = 1.0
    delta: float = 1e-6
    _: KW_ONLY
    bounds: Ranges | FromData | None = None
    categories: Categories | None = None
    target_bounds: Range | FromData | None = None
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None

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
