"""A private choice of parameters: scores on disjoint parts of the table, then one noisy choice."""

import contextlib
import functools
import inspect
import math
import numbers
import warnings
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skdpmic.accounting import UNKNOWN, cost_of_fit, given_the_table, is_private, private_parts
from skdpmic.checks.arguments import check_interval
from skdpmic.checks.errors import public_messages
from skdpmic.checks.readable import refuse_unreadable
from skdpmic.counting.distributed import feature_names
from skdpmic.description import describe, n_features_of
from skdpmic.isolation import generators_seeded
from skdpmic.privacy.arguments import check_epsilon, exact, warn_of_seed
from skdpmic.privacy.filters import round_up
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.scorer import DPMICScorer
from skdpmic.uncached import NeverCached
from skdpmic.validation import asks_for_data, check_feature_bounds, check_n_jobs, unchanged_on_error


def _delegated(name):
    """A method of the best estimator; there is one if that has one."""

    def has_it(search):
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # its own AttributeError tells why not
        return True

    def method(self, X):
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
            What it returns.
        """
    return available_if(has_it)(method)


class PrivateGridSearch(MetaEstimatorMixin, NeverCached, BaseEstimator):
    """Choose parameters under differential privacy, by sample and aggregate.

    The rows are dealt into disjoint parts. In each part, every candidate is fitted on some rows and scored on the
    others. One record bears on the scores of one part only, so the mean score of a candidate moves by at most one
    part's share, and the candidate with the largest mean plus noise is chosen at a cost of `epsilon`. The estimator
    need not be private, and the score may be any, but **nothing may go from one fit to another**: a fit and its score
    may depend on their own rows, the parameters and their own random numbers only (see the notes).

    Parameters
    ----------
    estimator : estimator
        What is tuned; usually a pipeline with a private selector and a model.
    param_grid : dict or list of dicts
        As in scikit-learn's GridSearchCV.
    epsilon : float, default=1.0
        Privacy budget of the choice; above 0. Infinity chooses without noise. The refit costs what its private
        estimators cost.
    n_parts : int or "auto", default="auto"
        Number of parts, at least 2, and at most a quarter of the number of rows. More parts need less noise, whose
        scale is ``2 / (n_parts epsilon)`` of the range of the score, but each is smaller. "auto" is the square root of
        the number of rows, where a quarter allows it.
    scoring : str, callable or None, default=None
        As in GridSearchCV; a single score. None is the estimator's own: accuracy or R squared.
    score_bounds : pair of floats, default=(0, 1)
        Public range of the score; scores outside are clipped. For an error as ``neg_mean_squared_error``, give
        the largest error that you care to tell from others.
    test_size : float, default=0.25
        Share of each part on which candidates are scored, in (0, 1).
    refit : bool, default=True
        Whether to fit the chosen candidate on all rows.
    ledger : BudgetLedger, default=None
        Where the cost of the choice is written before any candidate is fitted. The private estimators inside
        `estimator` write that of the refit to their own `ledger`.
    n_jobs : int, default=None
        Fits at the same time, as joblib counts jobs. In processes, as is joblib's default; threads take turns, because
        they share the global random generators.
    random_state : None, int or RandomState, default=None
        None draws parts and noise from the operating system's entropy. A seed is for tests; it breaks the
        guarantee, and warns.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen.
    best_index_ : int
        Their place in ``ParameterGrid(param_grid)``.
    best_estimator_ : estimator
        The estimator with these parameters, fitted on all rows; only with `refit`, and if that did not fail.
    privacy_spent_ : (float, float)
        Epsilon and delta of the choice and, if there is a `best_estimator_`, of the private estimators in the refit
        together.
    n_parts_ : int
        Number of parts.
    noise_scale_ : float
        Scale of the one-sided noise on the mean scores, as a share of the range of the score.
    classes_ : ndarray of shape (n_classes,)
        Labels that the best estimator knows, if it is a classifier.
    n_features_in_ : int
        Number of features, if the best estimator tells; likewise `feature_names_in_`.

    See Also
    --------
    search_cost : What scikit-learn's searches cost, whose scores carry no guarantee.

    Notes
    -----
    What is private is the choice: `best_params_` and `best_index_`. There is no `cv_results_`. The refitted model is
    as private as it is by itself; an ordinary scikit-learn model is not.

    scikit-learn's estimators let nothing go from one fit to another once the generators that they share are out of the
    way: each fit in a part has NumPy's global generator and that of Python's random seeded for itself alone, and both
    go on afterwards as if there had been no fit. What else a process keeps is not seen: a random generator of a library
    (torch), a cache on a class or a module, a scoring function that remembers, a limit of time. With these, a record
    can bear on all parts, and the choice is not private. A warning names the classes that are not known.

    In the parts, the private estimators inside `estimator` get `n_parts` times their epsilon, which makes their noise
    about as large as that of the refit, and no ledger; nothing they release in the parts leaves them. A private
    function hidden in a lambda is not seen, and charges its ledger in every part: use functools.partial. A candidate
    that fails in a part gets the lowest score there.

    After an error the search is as it was before, unless it is the refit that fails. Then the choice, which is paid
    for, stays: `best_params_`, `best_index_`, `noise_scale_`, `n_parts_` and, for the choice alone, `privacy_spent_`.
    There is no `best_estimator_` then.

    See ``docs/theory/search.md`` for the theorem. Outside the guarantee: errors raised on invalid data, and time.

    References
    ----------
    .. [1] K. Nissim, S. Raskhodnikova and A. Smith, "Smooth Sensitivity and Sampling in Private Data Analysis",
       STOC 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import Pipeline
    >>> from skdpmic import DPMICSelector, PrivateGridSearch
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(4000, 5))
    >>> y = (X[:, 3] - 0.5) ** 2
    >>> selector = DPMICSelector(epsilon=2.0, bounds=(0, 1), target_bounds=(0, 0.25), release="support")
    >>> pipeline = Pipeline([("select", selector), ("model", KNeighborsRegressor())])
    >>> grid = {"select__k": [1, 5], "model__n_neighbors": [3, 40]}
    >>> search = PrivateGridSearch(pipeline, grid, epsilon=2.0).fit(X, y)
    >>> search.best_params_["model__n_neighbors"], search.privacy_spent_
    (3, (4.0, 0.0))
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        epsilon=1.0,
        n_parts="auto",
        scoring=None,
        score_bounds=(0, 1),
        test_size=0.25,
        refit=True,
        ledger=None,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.n_parts = n_parts
        self.scoring = scoring
        self.score_bounds = score_bounds
        self.test_size = test_size
        self.refit = refit
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None):
        """Choose the parameters, and fit the estimator with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One record a row; at least 8 rows.
        y : array-like of shape (n_samples,), default=None
            The target.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        ValueError
            If a parameter is not as described, or does not fit the columns or the number of rows, also of a private
            estimator in any candidate, if every candidate fails in every part, or if it is unknown how often the
            estimator fits a private one inside it. All but a failure in every part is told before the charge.
        BudgetError
            If a cost does not fit in its ledger.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If `ledger` is None while a private estimator inside has one: then the choice is written nowhere. If a
            candidate holds an estimator that is neither scikit-learn's nor of this package.
        """
        with unchanged_on_error(self):
            self._check_parameters()
            grid = self._check_grid()
            candidates = [_candidate(self.estimator, parameters) for parameters in grid]
            scorer = functools.partial(_score_as_number, check_scoring(self.estimator, self.scoring))
            if y is None and get_tags(self).target_tags.required:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
            X, y = indexable(X, y)
            _refuse_unreadable(candidates, X, y)
            n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
            self.n_parts_ = self._check_n_parts(n_samples)
            self._check_private_estimators(candidates, X, n_samples)
            costs = [cost_of_fit(candidate) for candidate in candidates]
            _warn_of_unknown(candidates)
            mechanism = self._mechanism()
            source = entropy_source(self.random_state)
            if self.random_state is not None:
                warn_of_seed(stacklevel=2)
            if self.ledger is not None:
                self.ledger.charge(f"{type(self).__name__}, choice", self.epsilon, n=n_samples)

            parts = deal(n_samples, self.n_parts_, self.test_size, source)
            trials = [_for_a_part(candidate, self.n_parts_) for candidate in candidates]
            seeds = [source(_SEED_BYTES) for _ in product(trials, parts)]
            scores = self._score(trials, X, y, parts, scorer, seeds)
            self.best_index_ = int(mechanism.release(mean_over_parts(scores, self.score_bounds), source)[0])
            self.noise_scale_ = mechanism.noise_scale
            self.best_params_ = grid[self.best_index_]
            self.privacy_spent_ = (float(self.epsilon), 0.0)
            for name in ("best_estimator_", "n_features_in_", "feature_names_in_"):
                vars(self).pop(name, None)  # of an earlier fit
        if self.refit:  # the choice is paid for, and stays if this fails
            self._refit(X, y, costs[self.best_index_])
        return self

    def _check_parameters(self):
        check_epsilon(self.epsilon)
        check_ledger(self.ledger)
        check_n_jobs(self.n_jobs)
        check_interval(self.score_bounds, "score_bounds")
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring must be a single score, got {self.scoring!r}.")
        if not isinstance(self.test_size, numbers.Real) or not 0 < self.test_size < 1:
            raise ValueError(f"test_size must be a number in (0, 1), got {self.test_size!r}.")

    def _check_grid(self):
        if isinstance(self.param_grid, Iterator):
            kind = type(self.param_grid).__name__
            raise ValueError(f"param_grid must be a dict or a list of dicts, got a {kind}, which is read only once.")
        grid = list(ParameterGrid(self.param_grid))
        if not grid:
            raise ValueError(f"param_grid must be a dict, or a list of at least one dict, got {self.param_grid!r}.")
        return grid

    def _check_private_estimators(self, candidates, X, n_samples):
        """Raise what a fit of a private estimator, in a part or on all rows, raises whatever the values in X and y."""
        sizes = {n_samples, *_training_sizes(n_samples, self.n_parts_, self.test_size)}
        private = [estimator for candidate in candidates for estimator in _private_estimators(candidate)]
        if private and min(sizes) < 4:
            raise ValueError(
                f"n_parts and test_size must leave 4 rows in each part to fit a private estimator on, got n_parts="
                f"{self.n_parts!r} and test_size={self.test_size!r}, which leave {min(sizes)} of {n_samples} samples."
            )
        for estimator in private:
            _check_before_data(estimator, sizes)
        for candidate in candidates:
            for estimator, n_features, names in given_the_table(candidate, *_columns_of(X)):
                _check_columns(_scorer_of(estimator), n_features, names)
        if self.ledger is None and any(estimator.ledger is not None for estimator in private):
            warnings.warn(
                f"ledger is None, so the cost of the choice, epsilon={self.epsilon}, is written nowhere, while the "
                f"private estimators inside have a ledger: give it as {type(self).__name__}(..., ledger=...), too.",
                stacklevel=3,
            )

    def _check_n_parts(self, n_samples):
        most = n_samples // 4
        if most < 2:
            raise ValueError(
                f"Found array with {n_samples} sample(s) while a minimum of 8 is required by {type(self).__name__}."
            )
        n_parts = min(math.isqrt(n_samples), most) if self.n_parts == "auto" else self.n_parts
        if not isinstance(n_parts, numbers.Integral) or not 2 <= n_parts <= most:
            raise ValueError(
                f"n_parts must be 'auto' or an int in [2, n_samples // 4] = [2, {most}] with n_samples={n_samples}, "
                f"got {self.n_parts!r}."
            )
        return int(n_parts)

    def _score(self, trials, X, y, parts, scorer, seeds):
        """Scores of shape (n_candidates, n_parts); NaN where a candidate fails."""
        fits = zip(product(trials, parts), seeds, strict=True)
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(_score_in_part)(trial, X, y, part, scorer, seed) for (trial, part), seed in fits
        )
        scores = np.reshape(scores, (len(trials), len(parts)))
        if np.isnan(scores).all():
            why = _why(trials[0], X, y, parts[0], scorer, seeds[0])
            raise ValueError(
                f"no candidate could be fitted and scored in any of the {len(parts)} parts of the data. "
                f"{why}Fit the estimator by itself to see more; parts may also be "
                "too small for it, or lack a class, so try a smaller n_parts."
            )
        return scores

    def _mechanism(self):
        steps = grid_sensitivity(Fraction(1, self.n_parts_), MEAN_ERROR)
        return OneShotTopK.for_budget(self.epsilon, 1, steps)

    def _refit(self, X, y, cost):
        best_estimator = _candidate(self.estimator, self.best_params_)
        best_estimator.fit(X, y)
        with unchanged_on_error(self):  # an interrupt must not leave an estimator beside the cost of the choice alone
            self.best_estimator_ = best_estimator
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(best_estimator, name):
                    setattr(self, name, getattr(best_estimator, name))
            self.privacy_spent_ = (float(_sum(self.epsilon, cost.epsilon)), round_up(cost.delta))

    predict = _delegated("predict")
    predict_proba = _delegated("predict_proba")
    predict_log_proba = _delegated("predict_log_proba")
    decision_function = _delegated("decision_function")

    def score(self, X, y=None):
        """Score of the best estimator, by `scoring`, on other data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
            A raw function of these data, without any guarantee for them.
        """
        check_is_fitted(self, "best_estimator_")
        return check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y)

    @property
    def classes_(self):
        """Labels that the best estimator knows."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "best_index_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags


# --- The steps ----------------------------------------------------------------------------------------------------

_SEED_BYTES = 16
_KNOWN = ("sklearn", "skdpmic")  # packages whose estimators keep nothing from one fit to another

# Of a mean of numbers in [0, 1]: the sum is rounded once, and the division once.
MEAN_ERROR = 2.0**-52


def deal(n_samples, n_parts, test_size, source):
    """Row numbers of disjoint parts, each as (training rows, test rows), drawn without looking at the rows."""
    order = np.random.RandomState(_seed(source)).permutation(n_samples)
    parts = []
    for rows in np.array_split(order, n_parts):
        n_test = _n_test(len(rows), test_size)
        parts.append((rows[n_test:], rows[:n_test]))
    return parts


def _n_test(n_rows, test_size):
    return min(max(round(test_size * n_rows), 2), n_rows - 2)  # R squared needs two


def _training_sizes(n_samples, n_parts, test_size):
    """How many rows a candidate may be fitted on in a part."""
    return {n_rows - _n_test(n_rows, test_size) for n_rows in (n_samples // n_parts, -(-n_samples // n_parts))}


def mean_over_parts(scores, bounds):
    """Mean of each candidate's clipped scores, as a share of their range. One part moves it by 1 / n_parts at most."""
    lower, upper = check_interval(bounds, "score_bounds")
    clipped = np.clip(np.nan_to_num(scores, nan=lower), lower, upper)
    shares = np.clip((clipped - lower) / (upper - lower), 0.0, 1.0)
    return np.array([math.fsum(row) / len(row) for row in shares])


def _candidate(estimator, parameters):
    return clone(estimator).set_params(**clone(parameters, safe=False))


def _first_step(estimator):
    """What is given the table as it is, of a pipeline or of an estimator by itself; None if nothing is."""
    if not isinstance(estimator, Pipeline):
        return estimator
    steps = (step for _, step in estimator.steps if step not in (None, "passthrough"))
    return _first_step(next(steps, None))


def _refuse_unreadable(candidates, X, y):
    """Refuse before the charge what a private estimator refuses in every part, if it gets X and y as they are."""
    first_steps = map(_first_step, candidates)
    if any(is_private(step) or is_private(getattr(step, "score_func", None)) for step in first_steps):
        refuse_unreadable(X, y)


def _private_estimators(candidate):
    """The private estimators in a candidate; for a function form, the scorer that it fits."""
    return [_scorer_of(private) for private in private_parts(candidate).values()]


def _scorer_of(private):
    if not isinstance(private, functools.partial):
        return private
    inspect.signature(private).bind(None, None)  # a TypeError if it lacks one of its arguments besides X and y
    return DPMICScorer(**private.keywords)


def _check_before_data(private, sizes):
    """Raise what a fit of a private estimator, to each of these numbers of rows, raises whatever the data."""
    private._check_parameters()
    described = private.bounds, private.target_bounds, private.classes
    n_classes = None
    if not any(map(asks_for_data, described)):
        n_classes = describe(*described, n_features=n_features_of(private.bounds) or 1, feature_names=None).n_classes
    for n in sizes:
        private._grid_sizes_at(1.0, n, n_classes)  # whatever epsilon is


def _columns_of(X):
    """How many columns a table has, None if it does not tell, and their names, None if they have none, or UNKNOWN."""
    shape = getattr(X, "shape", None) or np.shape(X[:1])
    names = feature_names(X)
    if names is None and hasattr(X, "__dataframe__") and not hasattr(X, "iloc"):
        names = UNKNOWN  # what kind of dataframe this is, scikit-learn will see
    return shape[1] if len(shape) == 2 else None, names


def _check_columns(private, n_features, names):
    """Raise if the bounds of a private estimator do not fit the columns that it will be given."""
    is_open = n_features is None or (names is UNKNOWN and isinstance(private.bounds, dict))
    if not is_open and not asks_for_data(private.bounds):
        check_feature_bounds(private.bounds, n_features, None if names is UNKNOWN else names)


def _warn_of_unknown(candidates):
    """Warn of estimators that nobody has looked at, whether their fits in one part could bear on another."""
    inside = [part for candidate in candidates for part in [candidate, *candidate.get_params().values()]]
    classes = {type(part) for part in inside if hasattr(part, "fit") and not isinstance(part, type)}
    unknown = sorted(kind.__name__ for kind in classes if kind.__module__.partition(".")[0] not in _KNOWN)
    if unknown:
        warnings.warn(
            f"the choice is private if the fits of {', '.join(unknown)} depend on nothing but their own rows, the "
            "parameters and their own random numbers, which is known of scikit-learn's estimators only. Nothing may "
            "go from one fit to another, as through a cache, an attribute of the class, or a random generator that a "
            "library keeps. (The global ones of NumPy and of Python's random are seeded anew for each fit.)",
            stacklevel=3,
        )


def _for_a_part(candidate, n_parts):
    """The candidate as it is tried in each part: with as much private noise as in the refit, which charges no one."""
    trial = clone(candidate)
    if is_private(trial):
        return _more_epsilon(trial, n_parts)
    for name, private in private_parts(trial).items():
        trial.set_params(**{name: _more_epsilon(private, n_parts)})
    return trial


def _score_in_part(trial, X, y, part, scorer, seed):
    """The score of a candidate in one part, a function of its rows and of random numbers of its own; NaN if it fails.

    That holds in this process or another one. Threads take turns, as they share the global generators.
    """
    with generators_seeded(seed), warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")  # they would tell about the data
        return cross_validate(trial, X, y, cv=[part], scoring=scorer)["test_score"][0]
    return math.nan


def _score_as_number(scorer, *arguments):
    """The score, or an error of this part alone: cross_validate would give up all parts for one that is no number."""
    return float(scorer(*arguments))


def _why(trial, X, y, part, scorer, seed):
    """What of the error of a fit can be told without quoting data."""
    try:
        with generators_seeded(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cross_validate(trial, X, y, cv=[part], scoring=scorer, error_score="raise")
    except Exception as error:
        return "".join(f"{message}. " for message in public_messages(error))
    return ""


def _more_epsilon(private, factor):
    if isinstance(private, functools.partial):
        changed = {"epsilon": private.keywords["epsilon"] * factor, "ledger": None}
        return functools.partial(private.func, *private.args, **(private.keywords | changed))
    return private.set_params(epsilon=private.epsilon * factor, ledger=None)


def _seed(source):
    return int.from_bytes(source(4), "little")


def _sum(*epsilons):
    return math.inf if math.inf in epsilons else round_up(sum(map(exact, epsilons)))
