"""A private choice of parameters: scores on disjoint subsets of the table, followed by one noisy choice."""

import contextlib
import functools
import itertools
import math
import numbers
import random
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import f_classif
from sklearn.metrics import check_scoring
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable, resample
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.arguments import check_n_jobs, check_verbose, is_auto, is_number, is_whole
from skdpmic._utils.bases import MetaEstimatorMixin
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic._utils.readable import are_text, check_meaning, column_names, is_dask_collection, refuse_target_among
from skdpmic._utils.summaries import MOST_LETTERS, NOT_COVERED, Summary, why_broken
from skdpmic._utils.texts import (
    Progress,
    as_python,
    budget,
    in_short,
    is_invalid_parameter,
    public_messages,
    quoted,
    require,
    shortened,
    warn,
)
from skdpmic._utils.typing import Auto, ColumnLike, Estimator, RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import Cost, budget_of, check_epsilon, round_up
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.release.path import run, store
from skdpmic.search import nested
from skdpmic.table.domains import check_interval, in_unit_interval
from skdpmic.table.frames import declared_by_name
from skdpmic.table.tables import open_table


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
    number fitted on: their noise is then that of the refit. (Of Gaussian noise, it is rho that grows, by the square;
    with "mic_r", the noise is up to a third less; of names chosen with `delta`, up to half as much more, or nine times
    as much in a later step, whose columns are not known.) They get no ledger, because their
    releases never leave the subset, and the choice alone is published. What chance does to so few rows is not reduced:
    a step that needs hundreds of rows to find anything needs subsets of hundreds. A private function hidden in a lambda
    is not seen, and charges its ledger in every subset: use functools.partial. A candidate that fails in a subset gets
    the lowest score there.

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

    def fit(self, X: TableLike, y: ColumnLike | None = None) -> Self:
        """Choose the parameters, and refit the estimator with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One record per row; at least 8 rows, in memory.
        y : array-like of shape (n_samples,), default=None
            The target.

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

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If `ledger` is None while a private estimator inside has one, so that the choice is not recorded; or if a
            candidate contains an estimator that belongs neither to scikit-learn nor to this package.
        """
        self._check_parameters()
        grid = nested.checked_grid(self.param_grid)
        candidates = _checked_candidates(self)
        scorer = check_scoring(self.estimator, self.scoring)
        if y is None and get_tags(self).target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X, y = _checked_table(X, y)
        _refuse_unreadable_for(candidates, X, y)
        n_samples, (n_features, names) = X.shape[0] if hasattr(X, "shape") else len(X), _columns_of(X)
        private_of_each = [nested.private_places(candidate, n_features, names) for candidate in candidates]
        private = list(itertools.chain.from_iterable(private_of_each))
        n_subsets = checked_n_subsets(self.n_subsets, n_samples, type(self).__name__, bool(private))
        self._check_private(private, X, n_samples, n_subsets)
        costs = [nested.cost_of_fit(candidate, n_features) for candidate in candidates]
        if self.refit:  # fits in the subsets are part of the choice, whatever they do to rows
            nested.checked_earlier_steps(candidates)
        nested.check_has_choice(grid)
        _warn_about_unknown(candidates)
        mechanism = mechanism_of_choice(self.epsilon, n_subsets)
        public = {"n": n_samples, "release": "choice", "mechanism": mechanism.name, "random_state": self.random_state}
        entry = entry_for(type(self).__name__, Cost(float(self.epsilon)), **public)
        if self.refit:
            nested.check_refits_fit_in(self.ledger, entry, private_of_each)

        def draw(random_bytes):
            subsets = assign_subsets(n_samples, n_subsets, self.test_size, random_bytes)
            trials = [(candidate, subset) for candidate in candidates for subset in subsets]
            seeds = [random_bytes(SEED_BYTES) for _ in trials]
            scored = functools.partial(score_in_subset, X, y, n_features, n_samples, scorer)
            scores = self._scores(scored, trials, seeds).reshape(-1, n_subsets)
            return int(mechanism.release(mean_over_subsets(scores, self.score_bounds), random_bytes)[0][0])

        chosen = run(entry, draw, ledger=self.ledger, random_state=self.random_state)
        choice = {
            "best_index_": chosen,
            "best_params_": grid[chosen],
            "n_subsets_": n_subsets,
            "noise_scale_": mechanism.noise_scale,
            "privacy_spent_": (entry.epsilon, 0.0),
            "_entry": entry,
            "_earlier": {},
        }
        store(self, choice)  # it has been charged, and is kept if the refit fails
        if self.refit:
            store(self, choice | self._refitted(X, y, costs[chosen]))
        return self

    def _scores(self, scored, trials, seeds):
        """The score of each trial of a candidate in a subset; NaN if it fails, and an error if all do."""
        progress = Progress(type(self).__name__, self.verbose)
        results = Parallel(n_jobs=self.n_jobs, return_as=progress.return_as)(
            delayed(scored)(*trial, seed) for trial, seed in zip(trials, seeds, strict=True)
        )
        scores, reasons = zip(*progress.track(results, len(trials), "fits"), strict=True)
        if np.isnan(scores).all():
            why = "".join(f"{reason}. " for reason in reasons[0])
            raise ValueError(
                f"no candidate could be fitted and scored in any of the subsets of the data. {why}Fit the estimator by "
                "itself to see more. The subsets may also be too small for it, or lack a class: try a smaller "
                "n_subsets."
            )
        return np.array(scores)

    def _check_parameters(self):
        entropy_source(self.random_state)  # raises if it is invalid
        check_epsilon(self.epsilon)
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        check_verbose(self.verbose)
        check_interval(self.score_bounds, "score_bounds")
        require(not isinstance(self.scoring, list | tuple | set | dict), "scoring must be a single score", self.scoring)
        is_share = is_number(self.test_size) and 0 < self.test_size < 1
        require(is_share, "test_size must be a number in (0, 1)", self.test_size)

    def _check_private(self, private, X, n_samples, n_subsets):
        """Raise the errors of private steps, on a subset or on all rows, that do not depend on values in X and y."""
        sizes = {n_samples, *training_sizes(n_samples, n_subsets, self.test_size)}
        if private and min(sizes) < 4:
            raise ValueError(
                "n_subsets and test_size must leave 4 rows in each subset to fit a private estimator on, got "
                f"n_subsets={quoted(self.n_subsets)} and test_size={quoted(self.test_size)}, which leave {min(sizes)} "
                f"of {n_samples} samples."
            )
        declared = declared_by_name(X)
        for place in private:
            _check_private_step(place, sizes, declared)
        if self.ledger is None and any(nested.arguments_of(place.part).get("ledger") is not None for place in private):
            warn(
                f"ledger is None, so the cost of the choice, epsilon={self.epsilon}, is not recorded, while the "
                f"private estimators inside have a ledger: pass it as {type(self).__name__}(..., ledger=...), too."
            )

    def _refitted(self, X, y, cost):
        """What is stored of the best candidate, fitted to all rows, and of its cost and that of the choice."""
        best = nested.candidate_with(self.estimator, self.best_params_).fit(X, y)
        epsilon, delta, _, rho = nested.total_cost([nested.cost_of(Cost(self.epsilon)), cost])
        spent = {"epsilon": round_up(epsilon), "delta": round_up(delta), "rho": round_up(rho, Fraction)}
        names = [nested.as_estimator(place.part)._plan().broken_by for place in nested.private_places(best)]
        broken_by = ", ".join(dict.fromkeys(filter(None, [self._entry.broken_by, *names])))
        seen = {name: getattr(best, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(best, name)}
        return seen | {
            "best_estimator_": best,
            "privacy_spent_": (spent["epsilon"], spent["delta"]),
            "_entry": self._entry._replace(**spent, broken_by=broken_by),
            "_earlier": nested.earlier_steps([best]),
        }

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
            facts.append((NOT_COVERED, f"the refit: {nested.steps_in_words(self._earlier)} before a private step"))
        return Summary(facts, why_broken(self._entry), entries=(self._entry,))

    def __sklearn_tags__(self):
        inner = get_tags(self.estimator)
        names = ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags")
        return replace(super().__sklearn_tags__(), **{name: getattr(inner, name) for name in names})


# --- Candidates, checked before the charge ----------------------------------------------------------------------------

_ANY_SEED = bytes(16)
_KNOWN = ("sklearn", "skdpmic")  # packages whose estimators carry nothing over from one fit to the next


def _checked_candidates(search):
    """New estimators with the parameters of each entry of the grid of a search.

    Invalid parameters of scikit-learn estimators are found here: scikit-learn checks parameters before the data, so
    each estimator is fitted to a table without rows. The fit stops there: it computes nothing and sees no data.
    """
    candidates = nested.candidates_of(search)
    for candidate in candidates:
        for _, step, *_ in nested.places_in(candidate):
            _check_parameters_of(step)
    return candidates


def _check_parameters_of(step):
    """Raise if a parameter of a scikit-learn estimator itself is invalid; its inner steps are checked by themselves."""
    if isinstance(step, nested.COMPOSITES):
        return
    if isinstance(step, nested.UNIVARIATE):
        step = clone(step).set_params(score_func=f_classif)  # never called, because there are no rows
    inside = [place.part for place in nested.places_in(step) if nested.has_parameters(place.part)]
    if not inside or not all(type(part).__module__.startswith("sklearn.") for part in inside):
        return
    try:
        with generators_seeded(_ANY_SEED), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            step.fit(np.empty((0, 1)), np.empty(0))
    except Exception as error:  # about the missing rows, if not about a parameter
        if is_invalid_parameter(error) and f"parameter of {type(step).__name__} " in str(error):
            raise ValueError(str(error)) from None


def _warn_about_unknown(candidates):
    """Warn about estimators whose fits in one subset might affect those in another."""
    parts = (place.part for candidate in candidates for place in nested.places_in(candidate))
    classes = {type(part) for part in parts if hasattr(part, "fit")}
    if unknown := sorted(kind.__name__ for kind in classes if kind.__module__.partition(".")[0] not in _KNOWN):
        warn(
            f"the choice is private only if the fits of {', '.join(unknown)} depend on nothing but their own rows, the "
            "parameters and their own random numbers. This has been checked only for scikit-learn's estimators. "
            "Nothing may pass from one fit to another, for example through a cache, a class attribute, or a random "
            "generator of a library. (The global generators of NumPy and of Python's random are reseeded for each "
            "fit.)"
        )


# --- The table, and what private steps make of it ---------------------------------------------------------------------


def _checked_table(X, y):
    """X and y, whose rows can be assigned to subsets."""
    for data, name in ((X, "X"), (y, "y")):
        if data is not None and (is_dask_collection(data) or not _has_rows_to_pick(data)):
            raise TypeError(
                f"{name} must be in memory inside PrivateGridSearch, as an array or a table whose rows scikit-learn "
                f"can pick, got {type(data).__name__}: convert it first, as by {name}.collect(), {name}.compute(), "
                f"{name}.to_pandas() or np.array(list({name}))."
            )
    refuse_target_among(column_names(X), y)
    return indexable(X, y)


def _has_rows_to_pick(data):
    """Whether this version of scikit-learn can pick rows of these data; those without rows are refused later."""
    try:
        return np.shape(resample(data, n_samples=1, random_state=0))[0] == 1
    except Exception:  # of many kinds
        is_converted = hasattr(data, "__array__") and not hasattr(data, "__getitem__")  # before they are picked
        return is_converted or np.shape(data)[:1] == (0,)


def _refuse_unreadable_for(candidates, X, y):
    """Raise what a private estimator given X and y unchanged would, and some subsets would not, as a label in no class.

    This is done once for each description of a table.
    """
    seen = set()
    for step in map(_first_step, candidates):
        private = step.score_func if isinstance(step, nested.UNIVARIATE) else step
        if nested.is_private(private):
            plan = nested.as_estimator(private)._plan()
            described = repr([plan.reader, plan.facts])
            if described not in seen:
                seen.add(described)
                plan.read_table(X if private is step else _array_for(step, X), y)


def _first_step(estimator):
    """The step that gets the unchanged table, of a pipeline or of a single estimator; None if there is none."""
    if not isinstance(estimator, Pipeline):
        return estimator
    steps = (step for _, step in estimator.steps if step not in (None, "passthrough"))
    return _first_step(next(steps, None))


def _array_for(step, X):
    """The array that scikit-learn makes of a table for a score function; raises if a record may change how others are.

    It converts a table as a whole, which is exact only for numbers of one type.
    """
    table = open_table(X, type(step).__name__, takes_text=True)
    if table.values is None and not table.is_sparse and getattr(table.native, "dtype", None) != np.float64:
        raise ValueError(
            "X must be an array or a pandas dataframe of numbers of one type for a private score function of "
            f"{type(step).__name__}, because scikit-learn converts other tables as a whole, so that one record may "
            "change how others are read: use PrivateSelectKBest or DPMICSelector instead."
        )
    return table.native if table.values is None else table.values


def _columns_of(X):
    """The number of columns of a table, or UNKNOWN; and their labels, None if they have none, or UNKNOWN."""
    names = column_names(X) or None
    if names is None and hasattr(X, "__dataframe__") and not hasattr(X, "iloc"):
        names = nested.UNKNOWN  # scikit-learn determines the kind of dataframe
    shape = getattr(X, "shape", None) or np.shape(X[:1])
    return (shape[1] if len(shape) == 2 else nested.UNKNOWN), names


_NO_LIMITS = {  # parameters of private steps
    "max_rows_per_group": "it assigns rows, not people, to subsets, so one person may be in several subsets",
    "max_weight": "its fit takes no weights",
}


def _check_private_step(place, numbers_of_samples, declared):
    """Raise the errors of a private step on tables of these sizes and columns, whatever their values are."""
    estimator, n_features, names = nested.as_estimator(place.part), place.n_features, place.names
    for limit, why in _NO_LIMITS.items():
        if (given := getattr(estimator, limit, None)) is not None:
            raise ValueError(f"{limit} must be None inside PrivateGridSearch, got {quoted(given)}: {why}.")
    plan = estimator._plan()
    facts = plan.facts
    if names not in (None, nested.UNKNOWN):
        check_meaning(names)
        names = names if are_text(names) else None
    if n_features is nested.UNKNOWN or (
        names is nested.UNKNOWN and (isinstance(facts.bounds, dict) or facts.categories is not None)
    ):
        _check_entries(facts)
    else:
        names = None if names is nested.UNKNOWN else names
        facts.describe(n_features, names, {j: declared[name] for j, name in enumerate(names or []) if name in declared})
    n_features = plan.fewest_features if n_features is nested.UNKNOWN else n_features
    for n_samples in numbers_of_samples:
        plan.check_has_choice(n_features)
        plan.measure(n_samples, n_features, facts.n_classes)


def _check_entries(facts):
    """Raise if an entry of bounds or categories, or the target's, is invalid, whichever columns the table has."""
    keys = [key for entries in (facts.bounds, facts.categories) if isinstance(entries, dict) for key in entries]
    numbered = {key for key in keys if isinstance(key, numbers.Integral)}
    if 0 < len(numbered) < len(keys):
        return  # by name and by number: only the table shows whether they fit
    others = sorted(set(range(max(numbered, default=-1) + 1)) - numbered)
    facts = replace(facts, keep=others, reads_kept=False, allows_other_columns=False)
    facts.describe_unseen(facts.n_features or 1, None)


# --- Subsets ----------------------------------------------------------------------------------------------------------

SEED_BYTES = 16

# Rounding of a mean of numbers in [0, 1]: once in the sum, once in the division.
MEAN_ERROR = 2.0**-52


def mechanism_of_choice(epsilon, n_subsets):
    """The noise on mean scores over so many subsets, of which one record changes one."""
    return OneShotTopK.for_budget(budget_of(epsilon), 1, grid_sensitivity(Fraction(1, n_subsets), MEAN_ERROR))


def checked_n_subsets(n_subsets, n_samples, reader, has_private):
    """The number of subsets, with "auto" resolved; a ValueError if there are too many or too few.

    What a private step finds in few rows is left to chance at any epsilon: half as many subsets are twice as large.
    """
    most = n_samples // 4
    if most < 2:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of 8 is required by {reader}.")
    usual = max(math.isqrt(n_samples) // (1 + has_private), 2)
    asked = min(usual, most) if is_auto(n_subsets) else n_subsets
    must = f"n_subsets must be 'auto' or an int in [2, n_samples // 4] = [2, {most}] with n_samples={n_samples}"
    require(is_whole(asked) and 2 <= asked <= most, must, n_subsets)
    return int(asked)


def assign_subsets(n_samples, n_subsets, test_size, random_bytes):
    """Row positions of disjoint subsets, each as (training rows, test rows), drawn independently of the data."""
    order = np.random.RandomState(int.from_bytes(random_bytes(4), "little")).permutation(n_samples)
    subsets = (np.split(own, [_n_test(len(own), test_size)]) for own in np.array_split(order, n_subsets))
    return [(train, test) for test, train in subsets]


def _n_test(n_rows, test_size):
    return min(max(round(test_size * n_rows), 2), n_rows - 2)  # R squared requires two


def training_sizes(n_samples, n_subsets, test_size):
    """The possible numbers of training rows in a subset."""
    return {n_rows - _n_test(n_rows, test_size) for n_rows in (n_samples // n_subsets, -(-n_samples // n_subsets))}


def mean_over_subsets(scores, bounds):
    """Means of the clipped scores, as shares of their range; one record changes each by at most 1 / n_subsets."""
    lower, upper = check_interval(bounds, "score_bounds")
    shares = in_unit_interval(np.nan_to_num(scores, nan=lower), lower, upper)
    return np.array([math.fsum(row) / len(row) for row in shares])


def score_in_subset(X, y, n_features, n_samples, scorer, candidate, subset, seed):
    """The score of a candidate in one subset, NaN if it fails; and what the error says without data.

    It is a function of the rows of the subset and its own random numbers, in this process or another one. Threads run
    one at a time, because they share the global generators.
    """
    try:
        with generators_seeded(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings could reveal data
            trial = nested.for_a_subset(candidate, n_features, len(subset[0]), n_samples)
            results = cross_validate(trial, X, y, cv=[subset], scoring=scorer, error_score="raise")
            return float(results["test_score"][0]), []
    except Exception as error:
        with contextlib.suppress(Exception):  # of an error without a text
            return math.nan, public_messages(error)
        return math.nan, []


_GENERATORS_LOCK = threading.RLock()


@contextlib.contextmanager
def generators_seeded(seed):
    """Seed the global generators of NumPy and of Python's `random` within the block, and restore them afterwards.

    Draws within the block depend only on the seed and the block, not on earlier draws, and later draws do not depend on
    the block. Threads of a process share the generators, so only one block runs at a time.

    Parameters
    ----------
    seed : bytes
    """
    with _GENERATORS_LOCK:
        numpys, pythons_state = np.random.get_bit_generator(), random.getstate()
        numpys_state = np.random.get_state(legacy=False)
        try:
            np.random.set_bit_generator(np.random.MT19937(int.from_bytes(seed, "little")))
            random.seed(seed)
            yield
        finally:
            np.random.set_bit_generator(numpys)
            np.random.set_state(numpys_state)
            random.setstate(pythons_state)
