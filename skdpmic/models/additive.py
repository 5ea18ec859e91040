"""Additive models: the plan of a fit, the common base of the classifier and the regressor, and both of these."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import special
from sklearn.base import is_classifier

from skdpmic._utils.arguments import check_whole, nearest_shares
from skdpmic._utils.bases import ClassifierMixin, RegressorMixin
from skdpmic._utils.dataframes import dataframe, with_intervals
from skdpmic._utils.private_estimator import PrivateEstimator, check_published
from skdpmic._utils.readable import is_dask_collection
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, number_column, why_broken
from skdpmic._utils.texts import Progress, counted, in_short, names_of, warn
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, RandomState, Range, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.models import parts
from skdpmic.models.model_releases import MOST_PARTS, ScorecardNoise, ScorecardRelease, TwoWayRelease
from skdpmic.planning.rows import ReleasePlan, row_of
from skdpmic.privacy.noise import laplace_scale
from skdpmic.privacy.quantiles import gaussian_quantile, laplace_quantile, normal_half_width
from skdpmic.release.path import Ready, UnscoredPlan, check_budget_and_run, run, store
from skdpmic.table.domains import NUMBERS, as_date, ends_of
from skdpmic.table.facts import PublicFacts
from skdpmic.table.frames import in_memory
from skdpmic.table.records import open_chunk, read_columns, read_records
from skdpmic.table.tables import check_columns_seen
from skdpmic.table.values import target_domain

MOST_CLASSES = 10
_CONFIDENCE = 0.95  # of intervals, and that all parts said to have records have some
_MIN_FOR_SCORECARD = {"classes": 3.0, NUMBERS: 4.5}  # records, in standard deviations of the noise on a count
_MIN_FOR_TWO_WAY = {"classes": 3.0, NUMBERS: 64.0}  # likewise: docs/theory/additive_model.md


@dataclass(frozen=True, eq=False)
class AdditivePlan(UnscoredPlan):
    """How an additive model is published."""

    def cost(self, n_features):
        """The cost of a fit to this many features, which does not depend on the kind of release."""
        return self._kinds(n_features)[0].cost

    def releases(self, n_features, n_samples, n_classes):
        """The possible releases of a table of this shape with their noise, first the one that is made.

        It is of two-way tables, unless their noise exceeds what they would show.
        """
        releases = [(release, release.noise(n_classes, self.rows_per_group)) for release in self._kinds(n_features)]
        _, noise = releases[0]
        is_enough = n_samples >= _MIN_FOR_TWO_WAY[self._target_kind] * noise.noise_scale
        return releases if is_enough else releases[::-1]

    def _kinds(self, n_features):
        """The possible kinds of release, those with less noise last."""
        budget = self.epsilon, self.delta, n_features
        card = ScorecardRelease(*budget, self._target_kind == NUMBERS, self._is_bent)
        return [card] if self.delta == 0 else [TwoWayRelease(*budget, self._is_bent), card]

    def rows(self, n_people, n_features):
        """The rows of a plan: of the release of a table of this shape first."""
        n_samples, n_classes = n_people * self.rows_per_group, self.facts.n_classes
        return tuple(
            row_of(
                release,
                noise,
                release="model",
                statistic=release.kind,
                n_samples=n_people,
                n_features=n_features,
                error=_margins(noise.noise_scale) / n_samples,
                noise_scale=noise.noise_scale,
            )
            for release, noise in self.releases(n_features, n_samples, n_classes)
        )

    @property
    def _target_kind(self):
        """The kind of target."""
        return NUMBERS if self.facts.classes is None else "classes"

    @property
    def _is_bent(self):
        """Whether the axis of the target is not its own scale."""
        return self._target_kind == NUMBERS and parts.is_bent(target_domain(self.facts.target_bounds))

    @property
    def rows_per_group(self):
        """Number of records of each person."""
        return self.facts.max_rows_per_group or 1

    def read_table(self, X, y=None):
        """The records of a table in memory and its target."""
        if is_dask_collection(X):
            raise TypeError(f"X must be in memory for {self.reader}, got a dask collection: pass X.compute().")
        return read_records(self.facts, X, y, self.reader)

    def ready(self, public):
        """The release of a table with these public facts; warns, and refuses what cannot be released."""
        shape = public.shape
        _check_size(shape, public)
        self.warn_about_table(public)
        (release, noise), *_ = self.releases(shape.n_features, shape.n_samples, public.n_classes)
        self._warn_about_noise(release, noise, public)
        entry = self.entry(release, noise, shape, None)
        return Ready(entry, partial(_results, self, release, noise, entry))

    def _warn_about_noise(self, release, noise, public):
        is_clear = public.shape.n_samples >= _MIN_FOR_SCORECARD[self._target_kind] * noise.noise_scale
        if noise.noise_scale == 0 or release.kind != "scorecard" or is_clear:
            return
        advice = "a larger epsilon" if self.delta > 0 else "a larger epsilon, delta > 0 (far below 1 / n_samples)"
        warn(
            f"noise will exceed the signal of a typical table: with n_samples={public.shape.n_groups:,}, "
            f"n_features={public.shape.n_features:,} and epsilon={float(self.epsilon):g}, the noise on each count has "
            f"a standard deviation of {in_short(noise.noise_scale)} records, and predictions may be worse than one "
            f"number for all. Use more records, fewer columns or {advice}."
        )


def _margins(deviations):
    return normal_half_width(_CONFIDENCE) * deviations


def _check_size(shape, public):
    if public.n_classes is not None and public.n_classes > MOST_CLASSES:
        raise ValueError(f"classes must hold at most {MOST_CLASSES} labels, got {public.n_classes}.")
    sizes = [parts.n_parts_of(domain) for domain in shape.domains]
    if sum(sizes) > MOST_PARTS:
        raise ValueError(
            f"X must have at most {MOST_PARTS:,} parts in all columns together (a column of numbers has nine, another "
            f"one two more than it has labels), got {sum(sizes):,}. Choose columns first, as by make_pipeline("
            "PrivateSelectKBest(k=20, ...).set_output(transform='pandas'), model), or group labels by public knowledge."
        )


def _results(plan, release, noise, entry, records, random_bytes):
    """What an estimator stores from a release: all of it noisy or public."""
    public = records.public
    sampled = records.sampled(Progress(plan.reader, plan.verbose))
    target = sampled.target
    if public.n_classes is None:
        rates = parts.rates_of_window(plan.epsilon, plan.delta, plan.rows_per_group)
        sampled = sampled._replace(target=parts.within_window(sampled.target, rates, random_bytes))
    released, effects = release.draw(sampled, noise, plan.n_jobs, random_bytes)
    model = {
        "noise_scale_": noise.noise_scale,
        "_offsets": parts.offsets_of([parts.n_parts_of(domain) for domain in public.shape.domains]),
        "_domains": public.description.domains,
    }
    if public.n_classes is None:
        model |= _model_of_numbers(effects, sampled.target.bounds, public.description.target)
        if plan._is_bent:
            model |= _mean_of_numbers(plan, model, sampled._replace(target=target), random_bytes)
    else:
        model |= _model_of_classes(release, effects, public)
    return plan.results(public, released | model, entry)


def _model_of_classes(release, effects, public):
    """The model of a discrete target, in probabilities or, for a scorecard, in logarithms of odds."""
    intercept, of_parts, deviations = effects
    if release.kind == "scorecard" and public.n_classes == 2:
        intercept, of_parts = np.diff(intercept), np.diff(of_parts, axis=1)
        deviations = deviations.sum(axis=1)[:, None]  # of opposite effects
    elif release.kind == "two-way" and public.n_classes > 2:
        intercept = intercept + 1 / public.n_classes
    return {
        "coef_": of_parts.T,
        "intercept_": intercept,
        "coef_noise_scale_": deviations.T,
        "classes_": public.description.classes,
    }


def _model_of_numbers(effects, window, domain):
    """The model of a numeric target, in the units of its axis."""
    first, last = ends_of(domain.encoded)
    lower, upper = (first + share * (last - first) for share in window)
    return {
        "coef_": (upper - lower) * effects.of_parts[:, 0],
        "intercept_": float((lower + upper) / 2 + (upper - lower) * effects.intercept[0]),
        "coef_noise_scale_": (upper - lower) * effects.deviations[:, 0],
        "target_window_": (lower, upper),
        "_target_domain": domain,
    }


def _mean_of_numbers(plan, model, records, random_bytes):
    """The correction of predictions to the mean of a target with a bent axis, and the noisy sums behind it."""
    columns = records.map_features(parts.codes_of, plan.n_jobs)
    scores = parts.sums_of_effects(columns, model["coef_"][:, None], model["intercept_"], model["_offsets"])[:, 0]
    noise = ScorecardNoise.of_mean(plan.epsilon, plan.delta, plan.rows_per_group)
    domain, window = model["_target_domain"], model["target_window_"]
    correction, sums = parts.correction_of(domain, window, records.target.values, scores, noise, random_bytes)
    return sums | {"correction_": correction}


_OF_INTERVALS = "the mean of the effect over the noise, which shrinks effects; for each separately, approximately"


@dataclass(eq=False, repr=False)
class PrivateAdditiveModel(PrivateEstimator):
    """A model that sums one effect per column, which depends only on the part that contains its value."""

    epsilon: float = 1.0
    delta: float = 1e-6
    _: KW_ONLY
    bounds: Ranges | None = None
    categories: Categories | None = None
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None

    def fit(self, X: TableLike, y: BesideTable | None = None, groups: BesideTable | None = None) -> Self:
        """Release the noisy tables, and compute the model from them.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows, in memory. Columns hold numbers, labels, booleans, dates or durations,
            according to `bounds` and `categories`. Missing values are never an error: they have their own part.
        y : array-like of shape (n_samples,)
            The target, without missing values: labels from `classes`; or numbers or dates, clipped to `target_bounds`.
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

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            Before the charge: if the noise will exceed the signal of a typical table, or delta is above
            ``1 / n_samples``.
        """
        plan = self._plan()
        records = plan.read(X, y, groups)
        ready = plan.ready(records.public)
        published = run(ready.entry, partial(ready.draw, records), ledger=self.ledger, random_state=self.random_state)
        store(self, published)
        return self

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
        effects, margins = np.atleast_2d(self.coef_), _margins(np.atleast_2d(self.coef_noise_scale_))
        of_parts = {"count": np.maximum(np.concatenate(self.noisy_counts_), 0), "has_records": self._have_records()}
        names = np.repeat(np.asarray(names_of(self), dtype=object), np.diff(self._offsets))
        labels = [part for domain in self._domains for part in parts.names_of_parts(domain)]
        columns = {"feature": np.tile(names, len(effects)), "part": labels * len(effects)}
        if len(effects) > 1:
            columns["class"] = np.repeat(self.classes_, len(labels))
        columns |= {"effect": effects.ravel(), "lower": (effects - margins).ravel()}
        columns["upper"] = (effects + margins).ravel()
        frame = dataframe(columns | {name: np.tile(of_part, len(effects)) for name, of_part in of_parts.items()})
        return with_intervals(frame, _OF_INTERVALS)

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

    def _plan(self):
        check_budget_and_run(self)
        classes, target_bounds = (getattr(self, name, None) for name in ("classes", "target_bounds"))
        if classes is None and target_bounds is None:
            raise ValueError(
                "classes must hold all labels that the target can have, such as classes=['no', 'yes'], got None."
                if is_classifier(self)
                else "target_bounds must hold the public range of the target, such as target_bounds=(0, 100), got "
                "None: where nothing is known, private_bounds learns it, at a cost of epsilon."
            )
        each = self.max_rows_per_group
        facts = PublicFacts(self.bounds, self.categories, target_bounds, classes, each, allows_other_columns=True)
        return AdditivePlan.of(self, facts)

    def _scores(self, X):
        """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
        check_published(self)
        table = open_chunk(in_memory(X), self._domains, type(self).__name__, least=1)
        check_columns_seen(self, table)
        columns = zip(read_columns(table, self._domains), self._domains, strict=True)
        codes = [parts.codes_of(column, domain.encoded) for column, domain in columns]
        return parts.sums_of_effects(codes, np.atleast_2d(self.coef_).T, self.intercept_, self._offsets)

    def _effects_of(self, j):
        """A column's parts: names, ends or None, whether they have records, effects and noise (n_targets, n_parts)."""
        of_column = slice(self._offsets[j], self._offsets[j + 1])
        both = (np.atleast_2d(values)[:, of_column] for values in (self.coef_, self.coef_noise_scale_))
        has_records = self._have_records()[of_column]
        return parts.names_of_parts(self._domains[j]), parts.ends_of_parts(self._domains[j]), has_records, *both

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
        margins = _margins(np.atleast_2d(self.coef_noise_scale_))
        ranges = [slice(*pair) for pair in zip(self._offsets[:-1], self._offsets[1:], strict=True)]
        labels = [parts.names_of_parts(domain) for domain in self._domains]
        shown = np.where(self._have_records(), effects[-1], np.nan)  # on the last class if there are several
        weights = np.maximum(np.concatenate(self.noisy_counts_), 0.0)
        sizes = np.array([_root_mean_square(effects[:, j], weights[j]) for j in ranges])
        columns = [
            ResultColumn("feature", names),
            number_column("typical effect", sizes),
            ResultColumn("largest in", [_best(shown[j], texts) for texts, j in zip(labels, ranges, strict=True)]),
            ResultColumn("smallest in", [_best(-shown[j], texts) for texts, j in zip(labels, ranges, strict=True)]),
            number_column("95% half-width", [float(np.median(margins[:, j])) for j in ranges]),
        ]
        released = f"an additive model of {counted(len(names), 'column')}, and the tables from which it is computed"
        facts = facts_of_release(self, released, noisy="count")
        order = np.argsort(-sizes, kind="stable")
        return Summary(facts, why_broken(self._entry), columns, order, unit="column", entries=(self._entry,))


def _root_mean_square(effects, weights):
    weights = weights if weights.sum() > 0 else np.ones(len(weights))
    return float(np.sqrt(np.average((effects**2).mean(axis=0), weights=weights)))


def _best(effects, texts):
    """The part with the largest effect, among those that certainly have records."""
    return "every count is within its noise" if np.isnan(effects).all() else texts[np.nanargmax(effects)]


class _ScoresPoorly:
    """Before scikit-learn's mixins, which replace the tags of their kind."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        for of_kind in filter(None, (tags.classifier_tags, tags.regressor_tags)):
            of_kind.poor_score = True  # on the small tables of scikit-learn's checks, because of the noise
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateAdditiveClassifier(_ScoresPoorly, ClassifierMixin, PrivateAdditiveModel):
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
        width; of integers, into these if they are fewer. As in :class:`PrivateSelectKBest`; a dict may also have
        entries for columns that are not in X, such as those that an earlier step of a pipeline did not choose.
    categories : dict, default=None
        Public labels of nominal columns, each of which is a part. Any other label counts as "other", which is another
        part. As in :class:`PrivateSelectKBest`; it may have entries for columns that are not in X.
    classes : array-like, default=None
        All labels the target can have, at most ten, in any order. Not
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

    classes: ColumnLike | None = None

    def decision_function(self, X: TableLike) -> Any:
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

    def predict_proba(self, X: TableLike) -> Any:
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
        return special.softmax(scores, axis=1) if is_scorecard else nearest_shares(scores)

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


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateAdditiveRegressor(_ScoresPoorly, RegressorMixin, PrivateAdditiveModel):
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
        width; of integers, into these if they are fewer. As in :class:`PrivateSelectKBest`; a dict may also have
        entries for columns that are not in X, such as those that an earlier step of a pipeline did not choose.
    categories : dict, default=None
        Public labels of nominal columns, each of which is a part. Any other label counts as "other", which is another
        part. As in :class:`PrivateSelectKBest`; it may have entries for columns that are not in X.
    target_bounds : tuple or array-like, default=None
        Public range of the target, in the form of an entry of `bounds`; values outside are clipped. A tenth of the
        budget finds where in it most targets are (`target_window_`), so it may be wide.
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

    target_bounds: Range | None = None

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
        if parts.is_bent(domain):
            scores = self.correction_.applied(parts.numbers_at(domain, np.clip(scores, *self.target_window_)))
        numbers = np.clip(scores, lower, upper)
        return numbers if domain.of == NUMBERS else np.array([as_date(number, domain.of) for number in numbers])
