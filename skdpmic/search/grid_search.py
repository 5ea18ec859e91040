"""A private choice of parameters: scores on disjoint subsets of the table, followed by one noisy choice."""

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_validate
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.arguments import check_n_jobs, check_verbose, is_auto, is_number, is_whole
from skdpmic._utils.bases import MetaEstimatorMixin
from skdpmic._utils.errors import public_messages, warn
from skdpmic._utils.private_estimator import PrivateEstimator, rollback_on_error
from skdpmic._utils.progress import Progress
from skdpmic._utils.summaries import MOST_LETTERS, NOT_COVERED, Summary, why_broken
from skdpmic._utils.texts import as_python, budget, in_short, quoted, shortened
from skdpmic._utils.typing import Auto, ColumnLike, Estimator, RandomState, TableLike
from skdpmic.budget.filters import round_up, round_up_sum
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, broken_by_seed
from skdpmic.privacy.composition import budget_of, check_epsilon, epsilon_of, rho_for
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import MOST_CUBE_NOISE, OneShotTopK
from skdpmic.release.path import run
from skdpmic.search.candidates import (
    candidate_with,
    candidates_with,
    check_has_choice,
    check_private_steps,
    check_refits_fit_in,
    checked_grid,
    checked_table,
    generators_seeded,
    n_columns,
    private_estimators,
    warn_about_unknown,
)
from skdpmic.search.cost_of_fits import (
    UNKNOWN,
    arguments_of,
    check_fit_arguments,
    checked_earlier_steps,
    cost_of_fit,
    earlier_steps,
    private_steps,
    steps_in_words,
    widths_in,
)
from skdpmic.selection.selectors import PrivateSelectKBest
from skdpmic.table.domains import check_interval


def delegated(name):
    """A method of the best estimator, available if that has it."""

    def has_it(search):
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # its own AttributeError gives the reason
        return True

    def method(self: Any, X: TableLike) -> Any:
        check_is_fitted(self, "best_estimator_")
        return getattr(self.best_estimator_, name)(X)

    method.__name__ = name
    method.__doc__ = f"""Call {name} of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray
            Result of the method.
        """
    return available_if(has_it)(method)


@dataclass(eq=False, repr=False)
class PrivateGridSearch(MetaEstimatorMixin, PrivateEstimator):
    """Choose parameters under differential privacy, by sample and aggregate.

    The rows are assigned at random to disjoint subsets. In each subset, every candidate is fitted on some rows and
    scored on the others. One record affects the scores of one subset only, so it changes the mean score of a candidate
    by at most one subset's share. The candidate with the largest mean plus noise is chosen, at a cost of `epsilon`. The
    estimator need not be private, and any score may be used, but **nothing may pass from one fit to another**: a fit
    and its score may depend only on their own rows, the parameters and their own random numbers (see the notes).

    Parameters
    ----------
    estimator : estimator
        What to tune; usually a pipeline with a private selector and a model.
    param_grid : dict or list of dicts
        As in scikit-learn's GridSearchCV, with two candidates or more.
    epsilon : float, default=1.0
        Privacy budget of the choice; above 0. Infinity adds no noise. The refit additionally costs the budgets of its
        private estimators.
    n_subsets : int or "auto", default="auto"
        Number of subsets, from 2 to a quarter of the number of rows. With more subsets, each is smaller, but there is
        less noise: its scale is ``2 / (n_subsets epsilon)`` times the range of the score. "auto" is the square root of
        the number of rows, half of that if a candidate has a private step, and at most a quarter of the number of rows.
    scoring : str, callable or None, default=None
        As in GridSearchCV; a single score. None uses the estimator's `score` method: accuracy or R squared.
    score_bounds : pair of floats, default=(0, 1)
        Public range of the score; scores outside are clipped. For an error such as ``neg_mean_squared_error``, give the
        largest error that matters.
    test_size : float, default=0.25
        Share of each subset used to score candidates, in (0, 1).
    refit : bool, default=True
        Whether to fit the chosen candidate on all rows.
    ledger : BudgetLedger, default=None
        Ledger that is charged for the choice before any candidate is fitted. The private estimators inside `estimator`
        charge the refit to their own `ledger`.
    n_jobs : int, default=None
        Number of fits that run in parallel (see joblib), by default in processes. Threads run one at a time, because
        they share the global random generators.
    verbose : int, default=0
        Verbosity of `fit`, which prints how many fits in the subsets are done and the elapsed time: 0 prints nothing, 1
        about ten lines, 2 one line per fit. The time is not covered by the guarantee: do not publish it.
    random_state : None, int or RandomState, default=None
        None draws subsets and noise from the operating system's entropy. A seed is for tests only: it breaks the
        guarantee and warns.

    Attributes
    ----------
    best_params_ : dict
        Parameters chosen.
    best_index_ : int
        Their index in ``ParameterGrid(param_grid)``.
    best_estimator_ : estimator
        Estimator with these parameters, fitted on all rows; only if `refit` is true and did not fail.
    privacy_spent_ : (float, float)
        Total epsilon and delta of the choice and, if there is a `best_estimator_`, of the private estimators in the
        refit.
    n_subsets_ : int
        Number of subsets.
    noise_scale_ : float
        Scale of the one-sided noise on the mean scores, as a share of the range of the score.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if the best estimator is a classifier.
    n_features_in_ : int
        Number of features, if the best estimator has it; likewise `feature_names_in_`.

    See Also
    --------
    search_cost : Privacy cost of scikit-learn's searches, whose scores carry no guarantee.

    Notes
    -----
    The choice is private: `best_params_` and `best_index_`. There is no `cv_results_`. The refitted model is private
    only if its estimators are; an ordinary scikit-learn model is not.

    scikit-learn's estimators pass nothing from one fit to another except through shared random generators. So for each
    fit in a subset, the global generators of NumPy and of Python's random module are seeded for that fit alone, and
    restored afterwards. Other state of the process is not controlled: a random generator of a library (torch), a cache
    on a class or module, a scoring function with memory, a time limit. With these, one record can affect all subsets,
    and the choice is not private. A warning lists the classes that have not been checked.

    In a subset, the private estimators inside `estimator` get their epsilon times the number of all rows over the
    number fitted on: their noise is then that of the refit (of Gaussian noise, it is rho that grows, by the square;
    with "mic_r", the noise is somewhat less, because the sensitivity of this statistic falls more slowly than 1 / n;
    names chosen with `delta` get up to half as much more). They get no ledger, because their releases never leave the
    subset, and the choice alone is published. What chance does to so few rows is not reduced: a step that needs
    hundreds of rows to find anything needs subsets of hundreds. A private function hidden in a lambda is not seen, and
    charges its ledger in every subset: use functools.partial. A candidate that fails in a subset gets the lowest score
    there.

    After an error the search is unchanged, unless the refit failed. The choice has then been charged and is kept:
    `best_params_`, `best_index_`, `noise_scale_`, `n_subsets_` and, for the choice alone, `privacy_spent_`. There is no
    `best_estimator_`.

    If a step before a private one resamples rows, one record may become many, and `fit` refuses to refit; if it may
    learn from all rows, `fit` warns, and the summary and the card of the search name it. The choice is private in
    either case.

    See ``docs/theory/search.md`` for the theorem. Not covered by the guarantee: errors raised on invalid data, timing.

    References
    ----------
    .. [1] K. Nissim, S. Raskhodnikova and A. Smith, "Smooth Sensitivity and Sampling in Private Data Analysis",
       STOC 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import Pipeline
    >>> from skdpmic import PrivateGridSearch, PrivateSelectKBest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(4000, 5))
    >>> y = (X[:, 3] - 0.5) ** 2
    >>> selector = PrivateSelectKBest(k=1, epsilon=2.0, bounds=(0, 1), target_bounds=(0, 0.25))
    >>> pipeline = Pipeline([("select", selector), ("model", KNeighborsRegressor())])
    >>> grid = {"select__k": [1, 4], "model__n_neighbors": [3, 40]}
    >>> search = PrivateGridSearch(pipeline, grid, epsilon=2.0).fit(X, y)
    >>> search.best_params_["model__n_neighbors"], search.privacy_spent_
    (3, (4.0, 0.0))
    """

    estimator: Estimator
    param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    _: KW_ONLY
    epsilon: float = 1.0
    n_subsets: int | Auto = "auto"
    scoring: str | Callable[..., float] | None = None
    score_bounds: Sequence[float] = (0, 1)
    test_size: float = 0.25
    refit: bool = True
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None

    def fit(self, X: TableLike, y: ColumnLike | None = None, **params: Any) -> Self:
        """Choose the parameters, and refit the estimator with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One record per row; at least 8 rows, in memory.
        y : array-like of shape (n_samples,), default=None
            The target.
        **params
            Further arguments of the estimator's `fit`, such as ``select__sample_weight``, or ``sample_weight`` with
            metadata routing. An array with one entry per row is split like the rows.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        ValueError
            If a parameter, also of a step of a candidate, is invalid or does not fit the columns or rows; if it is
            unknown how often the estimator fits a private estimator inside it; or if every candidate fails in every
            subset. All but the last are raised before the charge.
        BudgetError
            If a cost does not fit in its ledger; that of the choice, or of the refit of any candidate after it, before
            the charge.
        RuntimeError
            If another call that changes the search is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If `ledger` is None while a private estimator inside has one, so that the choice is not recorded; or if a
            candidate contains an estimator that belongs neither to scikit-learn nor to this package.
        """
        with rollback_on_error(self) as keep:
            self._check_parameters()
            grid = checked_grid(self.param_grid)
            candidates = candidates_with(self.estimator, grid)
            scorer = functools.partial(score_as_number, check_scoring(self.estimator, self.scoring))
            if y is None and get_tags(self).target_tags.required:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
            X, y = checked_table(X, y, candidates)
            n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
            has_private = any(private_estimators(candidate) for candidate in candidates)
            self.n_subsets_ = checked_n_subsets(self.n_subsets, n_samples, type(self).__name__, has_private)
            self._check_private_estimators(candidates, X, n_samples)
            check_fit_arguments(candidates, params, n_samples)
            n_features = n_columns(X) or UNKNOWN
            costs = [cost_of_fit(candidate, n_features) for candidate in candidates]
            if self.refit:  # fits in the subsets are part of the choice, whatever they do to rows
                checked_earlier_steps(candidates)
            check_has_choice(grid)
            warn_about_unknown(candidates)
            mechanism = self._mechanism()

            @functools.cache  # subsets have one of two sizes
            def trial(i, n_rows):
                return for_a_subset(candidates[i], n_samples, n_rows, n_columns(X))

            def draw(random_bytes):
                subsets = assign_subsets(n_samples, self.n_subsets_, self.test_size, random_bytes)
                each = product(range(len(candidates)), subsets)
                fits = [(trial(i, len(train)), (train, test)) for i, (train, test) in each]
                seeds = [random_bytes(SEED_BYTES) for _ in fits]
                scored = functools.partial(score_in_subset, X, y, params, scorer)
                scores = self._trial_scores(fits, scored, seeds)
                return int(mechanism.release(mean_over_subsets(scores, self.score_bounds), random_bytes)[0])

            seed, by = broken_by_seed(self.random_state), mechanism.name
            name, cost = type(self).__name__, float(self.epsilon)
            entry = LedgerEntry(name, cost, n=n_samples, release="choice", mechanism=by, broken_by=seed)
            if self.refit:
                check_refits_fit_in(self.ledger, entry, candidates, n_features)
            chosen = run(entry, draw, ledger=self.ledger, random_state=self.random_state)
            self._store(chosen, grid, mechanism, entry)
            keep()  # the choice has been charged, and is kept if the refit fails
            if self.refit:
                self._refit(X, y, params, costs[self.best_index_])
        return self

    def _trial_scores(self, fits, scored, seeds):
        """Scores of shape (n_candidates, n_subsets) of trials in subsets; NaN if one fails, and an error if all do."""
        progress = Progress(type(self).__name__, self.verbose)
        results = Parallel(n_jobs=self.n_jobs, return_as=progress.return_as)(
            delayed(scored)(*fit, seed) for fit, seed in zip(fits, seeds, strict=True)
        )
        scores, reasons = zip(*progress.track(results, len(seeds), "fits"), strict=True)
        if np.isnan(scores).all():
            why = "".join(f"{message}. " for message in reasons[0])
            raise ValueError(
                f"no candidate could be fitted and scored in any of the {self.n_subsets_} subsets of the data. {why}"
                "Fit the estimator by itself to see more. The subsets may also be too small for it, or lack a class: "
                "try a smaller n_subsets."
            )
        return np.reshape(scores, (-1, self.n_subsets_))

    def _store(self, chosen, grid, mechanism, entry):
        self.best_index_, self.best_params_ = chosen, grid[chosen]
        self.noise_scale_ = mechanism.noise_scale
        self.privacy_spent_ = (float(self.epsilon), 0.0)
        self._entry, self._earlier = entry, {}
        for name in ("best_estimator_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # from an earlier fit

    def _check_parameters(self):
        entropy_source(self.random_state)  # raises if it is invalid
        check_epsilon(self.epsilon)
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        check_interval(self.score_bounds, "score_bounds")
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring must be a single score, got {quoted(self.scoring)}.")
        if not is_number(self.test_size) or not 0 < self.test_size < 1:
            raise ValueError(f"test_size must be a number in (0, 1), got {quoted(self.test_size)}.")

    def _check_private_estimators(self, candidates, X, n_samples):
        """Raise the errors of private estimators, on a subset or on all rows, that do not depend on X and y."""
        sizes = {n_samples, *training_sizes(n_samples, self.n_subsets_, self.test_size)}
        private = [estimator for candidate in candidates for estimator in private_estimators(candidate)]
        if private and min(sizes) < 4:
            raise ValueError(
                "n_subsets and test_size must leave 4 rows in each subset to fit a private estimator on, got "
                f"n_subsets={quoted(self.n_subsets)} and test_size={quoted(self.test_size)}, which leave {min(sizes)} "
                f"of {n_samples} samples."
            )
        check_private_steps(candidates, X, sizes)
        if self.ledger is None and any(estimator.ledger is not None for estimator in private):
            warn(
                f"ledger is None, so the cost of the choice, epsilon={self.epsilon}, is not recorded, while the "
                f"private estimators inside have a ledger: pass it as {type(self).__name__}(..., ledger=...), too.",
            )

    def _mechanism(self):
        steps = grid_sensitivity(Fraction(1, self.n_subsets_), MEAN_ERROR)
        return OneShotTopK.for_budget(budget_of(self.epsilon), 1, steps)

    def _refit(self, X, y, params, cost):
        best_estimator = candidate_with(self.estimator, self.best_params_)
        best_estimator.fit(X, y, **params)
        self.best_estimator_, self._earlier = best_estimator, earlier_steps([best_estimator])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(best_estimator, name):
                setattr(self, name, getattr(best_estimator, name))
        self.privacy_spent_ = (round_up_sum(self.epsilon, cost.epsilon), round_up(cost.delta))
        names = [private._plan().broken_by for private in private_estimators(best_estimator)]
        broken_by = ", ".join(dict.fromkeys(filter(None, [self._entry.broken_by, *names])))
        epsilon, delta = self.privacy_spent_
        self._entry = self._entry._replace(epsilon=epsilon, delta=delta, broken_by=broken_by)

    predict = delegated("predict")
    predict_proba = delegated("predict_proba")
    predict_log_proba = delegated("predict_log_proba")
    decision_function = delegated("decision_function")

    def score(self, X: TableLike, y: ColumnLike | None = None) -> float:
        """Score the best estimator on other data, by `scoring`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
            The raw score; it has no privacy guarantee for these data.
        """
        check_is_fitted(self, "best_estimator_")
        return check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y)

    @property
    def classes_(self) -> Any:
        """Class labels of the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def _shown(self):
        """The chosen parameters, and their cost."""
        shown = {name: shortened(as_python(value), MOST_LETTERS) for name, value in self.best_params_.items()}
        of_what = "the choice and the private steps of the refit" if hasattr(self, "best_estimator_") else "the choice"
        noise = f"one-sided exponential noise of scale {in_short(self.noise_scale_)}, on each mean score over its range"
        facts = [
            ("Released", "the best parameters; no scores"),
            ("Chosen", ", ".join(f"{name}={value}" for name, value in shown.items())),
            ("Cost", f"{budget(*self.privacy_spent_)}, for {of_what}"),
            ("Noise", "none" if self.noise_scale_ == 0 else noise),
            ("Subsets", f"{self.n_subsets_:,}"),
        ]
        if self._earlier:
            facts.append((NOT_COVERED, f"the refit: {steps_in_words(self._earlier)} before a private step"))
        return Summary(facts, why_broken(self._entry), entries=(self._entry,))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "best_index_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags


SEED_BYTES = 16
_HALVINGS = 12  # of an interval of epsilons

# Rounding of a mean of numbers in [0, 1]: once in the sum, once in the division.
MEAN_ERROR = 2.0**-52


def checked_n_subsets(n_subsets, n_samples, reader, has_private):
    """The number of subsets, with "auto" resolved; a ValueError if there are too many or too few.

    What a private step finds in few rows is left to chance at any epsilon: half as many subsets are twice as large.
    """
    most = n_samples // 4
    if most < 2:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of 8 is required by {reader}.")
    usual = max(math.isqrt(n_samples) // (1 + has_private), 2)
    asked = min(usual, most) if is_auto(n_subsets) else n_subsets
    if not is_whole(asked) or not 2 <= asked <= most:
        raise ValueError(
            f"n_subsets must be 'auto' or an int in [2, n_samples // 4] = [2, {most}] with n_samples={n_samples}, "
            f"got {quoted(n_subsets)}."
        )
    return int(asked)


def assign_subsets(n_samples, n_subsets, test_size, random_bytes):
    """Row positions of disjoint subsets, each as (training rows, test rows), drawn independently of the data."""
    order = np.random.RandomState(int.from_bytes(random_bytes(4), "little")).permutation(n_samples)
    subsets = []
    for rows in np.array_split(order, n_subsets):
        n_test = _n_test(len(rows), test_size)
        subsets.append((rows[n_test:], rows[:n_test]))
    return subsets


def _n_test(n_rows, test_size):
    return min(max(round(test_size * n_rows), 2), n_rows - 2)  # R squared requires two


def training_sizes(n_samples, n_subsets, test_size):
    """The possible numbers of training rows in a subset."""
    return {n_rows - _n_test(n_rows, test_size) for n_rows in (n_samples // n_subsets, -(-n_samples // n_subsets))}


def mean_over_subsets(scores, bounds):
    """Means of the clipped scores, as shares of their range; one record changes each by at most 1 / n_subsets."""
    lower, upper = check_interval(bounds, "score_bounds")
    clipped = np.clip(np.nan_to_num(scores, nan=lower), lower, upper)
    shares = np.clip((clipped - lower) / (upper - lower), 0.0, 1.0)
    return np.array([math.fsum(row) / len(row) for row in shares])


def for_a_subset(candidate, n_samples, n_rows, n_features):
    """The candidate for this many of all rows: with as much private noise as in the refit, and without ledgers."""
    trial, factor, sizes = clone(candidate), n_samples / n_rows, (n_rows, n_samples)
    widths = widths_in(trial, n_features)
    for name, private in private_steps(trial).items():
        changed = _more_budget(private, factor, widths.get(id(private), ()), sizes)
        trial = trial.set_params(**{name: changed}) if name else changed
    return trial


def score_in_subset(X, y, params, scorer, trial, subset, seed):
    """The score of a candidate in one subset, and nothing; or NaN, and what is public of the error.

    It is a function of the rows of the subset and its own random numbers, in this process or another one. Threads run
    one at a time, because they share the global generators.
    """
    try:
        with generators_seeded(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings could reveal data
            options = {"scoring": scorer, "params": params, "error_score": "raise"}
            return cross_validate(trial, X, y, cv=[subset], **options)["test_score"][0], []
    except Exception as error:
        return math.nan, public_messages(error)


def score_as_number(scorer, *arguments):
    """The score, as a number: an error if it is none."""
    return float(scorer(*arguments))


def _more_budget(private, factor, widths, sizes):
    """A step with noise smaller by this factor; with delta, of which noise depends on rho, the square grows.

    Names chosen with delta come from the mechanism with the least noise, which may be another one at a larger epsilon.
    """
    given = arguments_of(private)
    epsilon, delta = float(given["epsilon"]), given.get("delta", 0.0)
    more = epsilon * factor
    if 0 < delta and epsilon < math.inf:
        of_rho = epsilon_of(factor**2 * rho_for(epsilon, delta), delta)
        is_of_names = isinstance(private, PrivateSelectKBest)
        more = _epsilon_of_names(private._plan(), factor, of_rho, widths, sizes) if is_of_names else of_rho
    changed = {"epsilon": more, "ledger": None}
    if isinstance(private, functools.partial):
        return functools.partial(private.func, *private.args, **(private.keywords | changed))
    return private.set_params(**changed)


def _epsilon_of_names(plan, factor, most, widths, sizes):
    """An epsilon with no less noise on the choice of names than the plan's, up to this factor; the largest found."""

    def has_less_noise(epsilon, width):
        here, there = (
            replace(plan, epsilon=each).release(width, n, plan.facts.n_classes)
            for each, n in zip((epsilon, plan.epsilon), sizes, strict=True)
        )
        return here.epsilon_per_feature > factor * there.epsilon_per_feature

    enough = MOST_CUBE_NOISE * factor * plan.epsilon  # for any width: other mechanisms gain less than epsilon grows
    for _ in range(_HALVINGS if widths else 0):
        middle = (enough + most) / 2
        if any(has_less_noise(middle, width) for width in widths):
            most = middle
        else:
            enough = middle
    return enough
