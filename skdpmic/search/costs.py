"""The privacy cost of searches, cross-validations and single fits, before they run (``docs/theory/search.md``)."""

import functools
import itertools
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn import model_selection as splits
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, RandomizedSearchCV, check_cv

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.texts import PrivacyLeakWarning, quoted, warn, wrapped
from skdpmic._utils.typing import Estimator
from skdpmic.privacy.composition import round_up
from skdpmic.search import nested
from skdpmic.search.grid_search import PrivateGridSearch

_NOT_COVERED = (
    "Cross-validated scores, and choices made by them, are raw functions of held-out records and not covered by the "
    "guarantee."
)
_ADD_THEM = "private by the accounting of another library; add their cost, once for each fit"


@dataclass(frozen=True, repr=False)
class SearchCost:
    """Upper bound on the privacy cost of a search, a cross-validation or a fit.

    Attributes
    ----------
    epsilon, delta : float
        Privacy cost of all fits together, by basic composition over the training sets that a record can be in.
    n_fits : int
        Number of fits of private estimators, and of choices of a PrivateGridSearch; each is an entry in a ledger.
    charged_epsilon, charged_delta : float
        Charge of a ledger, which counts every fit. With composition="zcdp", the total is less.
    charged_rho : float or None
        Charge of a ledger with composition="zcdp"; None unless `n_features` was given.
    priced : tuple of str
        Parameter names of the steps that are counted.
    not_priced : tuple of str
        Steps that appear to be private by the accounting of another library; these are **not** counted.
    earlier : tuple of str
        Steps that come before a private one and may learn from all rows. If they do, the guarantee does not hold, at
        any cost.
    fit_arguments : tuple of str
        Arguments that `fit` must be passed, because private steps need them. A pipeline of scikit-learn notices that
        one is missing only at its step, when earlier steps have been charged.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdpmic import PrivateSelectKBest, search_cost
    >>> cost = search_cost(make_pipeline(PrivateSelectKBest(2, epsilon=0.1), Ridge()), cv=5)
    >>> cost.epsilon, cost.charged_epsilon, cost.n_fits, cost.priced
    (0.4, 0.5, 5, ('privateselectkbest',))
    """

    epsilon: float
    delta: float
    n_fits: int
    charged_epsilon: float
    charged_delta: float
    charged_rho: float | None = None
    priced: tuple[str, ...] = ()
    not_priced: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    fit_arguments: tuple[str, ...] = ()

    def __repr__(self):
        given = ", ".join(f"{name}={value}" for name, value in vars(self).items() if value not in (None, ()))
        seen = "at most this for the private estimators seen, in fits on folds assigned without looking at the records."
        return wrapped(f"SearchCost({given}): {seen} {_NOT_COVERED}")


def search_cost(
    estimator: Estimator, *, cv: Any = None, n_samples: int | None = None, n_features: int | None = None
) -> SearchCost:
    """Compute the privacy cost of a parameter search, a cross-validation or a single fit before it runs.

    Parameters
    ----------
    estimator : estimator
        A GridSearchCV, RandomizedSearchCV or PrivateGridSearch; or any other estimator, such as a pipeline or a single
        private estimator. It may be fitted or unfitted, with private estimators anywhere inside.
    cv : int, cross-validation generator, iterable or None, default=None
        For an estimator that is not a search: None gives the cost of one fit; any other value gives the cost of
        `cross_val_score`, `cross_validate` or `cross_val_predict` with this `cv`, which fit once for each split. (In
        these functions, None means 5.)
    n_samples : int, default=None
        Number of records in the table; required if the number of splits depends on it, and by your own splitters.
    n_features : int, default=None
        Number of columns of the table; required for `charged_rho`.

    Returns
    -------
    SearchCost
        Has the attributes epsilon, delta, n_fits, charged_epsilon, charged_delta, charged_rho, priced, not_priced,
        earlier and fit_arguments.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator.
    ValueError
        If the cost has no bound, for example because a step before a private one resamples rows, so that one record
        may become many, a training set repeats a row, or a search inside, or a distribution, may set a private
        estimator; if it requires `n_samples`; if `cv` is given for a search, which has its own; with
        `n_features`, if a parameter of a private estimator is invalid.

    Warns
    -----
    PrivacyLeakWarning
        If the splits depend on labels or groups, or a step before a private one may learn from all rows.
    UserWarning
        If a step appears to be private by the accounting of another library, or no private estimator is found.

    Notes
    -----
    With m candidates, K folds and refit, each record is in K - 1 training folds, so the privacy cost of the fits is ``m
    (K - 1) epsilon + epsilon`` by basic composition; a ledger is charged for each of the ``m K + 1`` fits. A
    cross-validation is a search with one candidate and no refit: it costs ``(K - 1) epsilon`` and is charged ``K
    epsilon``. If epsilon varies, it is summed over the candidates, and the refit counts at the largest.
    If the splits are not known to be folds, a record counts in every training set. Parameters of a private step may be
    searched in lists, not drawn from distributions. A private function hidden in a lambda is not seen. The `memory` of
    a pipeline does not save fits of private steps, which are never cached.

    A PrivateGridSearch costs its own epsilon and its refit, counted at the costliest candidate, by itself, as a step of
    a pipeline and inside other searches, except another PrivateGridSearch.

    With `n_features`, the cost is that of the releases that the fits will make: a ledger with composition="zcdp" is
    charged exactly `charged_rho` if each private estimator gets all columns, or a list of them. It is charged at most
    that if an earlier step may change their number, if ``criterion="auto"`` turns out to choose by joint scores, or if
    a search draws candidates or drops some on the way. Without `n_features`, a `delta` that is set counts even if the
    release does not use it.

    With `max_rows_per_group`, the cost is per person. A person counts in every training set, or in all but one if the
    folds are those of GroupKFold or StratifiedGroupKFold; the groups must then be the people.

    All this holds for training sets whose rows are distinct. A list of splits is checked, and so is what a splitter of
    your own yields for `n_samples` rows: if a training set repeats a row, its record costs a multiple, and no price is
    stated. That the splitter yields the same when it is used is assumed; ``list(splitter.split(X))`` as `cv` cannot
    change. All this also holds only for splits by row position. StratifiedKFold, scikit-learn's default for
    classifiers, and splits by group look at all records: the cost may then be higher than stated, without a general
    bound (``docs/theory/search.md``).

    Only steps of this package are priced. A step with a parameter `epsilon` or `accountant` that belongs neither to
    this package nor to scikit-learn (whose SVR has an unrelated epsilon) is assumed to have its own accounting, like
    those of diffprivlib, and is listed in `not_priced`. Any other step is assumed to be fitted without privacy: what it
    learns is not covered by the guarantee, and costs nothing as long as it is not published.

    The cross-validated scores, and the parameters chosen by them, carry no guarantee at any cost.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdpmic import PrivateSelectKBest, search_cost
    >>> pipeline = make_pipeline(PrivateSelectKBest(2, epsilon=0.1), Ridge())
    >>> grid = {"privateselectkbest__k": [2, 4, 8], "ridge__alpha": [0.1, 1, 10, 100]}
    >>> search = GridSearchCV(pipeline, grid, cv=5)
    >>> cost = search_cost(search)
    >>> cost.epsilon, cost.n_fits, cost.charged_epsilon
    (4.9, 61, 6.1)

    ``cross_val_score(pipeline, X, y, cv=5)``, and ``pipeline.fit(X, y)``:

    >>> search_cost(pipeline, cv=5).charged_epsilon, search_cost(pipeline).charged_epsilon
    (0.5, 0.1)
    """
    if n_features is not None:
        check_whole(n_features, "n_features")
    width = nested.UNKNOWN if n_features is None else n_features
    base, is_split, refit = estimator, cv is not None, nested.FitCost()
    grids: list[Mapping[str, Any]] = [{}]
    choice: tuple[str, ...] = ()
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        if cv is not None:
            raise ValueError(
                f"cv must be None with a {type(estimator).__name__}, which has its own cv, got {quoted(cv)}. "
                "Cross-validating a search would fit all of it once for each split."
            )
        base, cv, is_split, grids = estimator.estimator, estimator.cv, True, _grids(estimator)
        costs = _costs(estimator, grids, width)
        fits, refit = nested.total_cost(costs), nested.largest_cost(costs) if estimator.refit else refit
    elif isinstance(estimator, PrivateGridSearch):
        base, grids, choice = estimator.estimator, _grids(estimator), (type(estimator).__name__,)
        fits = nested.cost_of_fit(estimator, width)
    else:
        if not hasattr(estimator, "fit") or not nested.has_parameters(estimator):
            raise TypeError(f"estimator must be an estimator or a search, got {type(estimator).__name__}.")
        fits = nested.cost_of_fit(estimator, width)
    candidates = [candidate for candidate, _ in _alternatives(base, grids)]
    n_splits = n_trainings = 1
    if is_split:
        has_people = _have_people(candidates, grids)
        n_splits, n_trainings = count_splits(cv, base, n_samples, has_people)
        warn_about_splits_by_records(cv, base, has_people)
    private = [place for candidate in candidates for place in nested.private_places(candidate)]
    earlier, unpriced = nested.checked_earlier_steps(candidates), unpriced_steps(candidates)
    if unpriced or not fits.n_private:
        _warn_about_unseen(estimator, unpriced)
    return SearchCost(
        epsilon=round_up(fits.epsilon * n_trainings + refit.epsilon),
        delta=round_up(fits.delta * n_trainings + refit.delta),
        n_fits=fits.n_private * n_splits + refit.n_private,
        charged_epsilon=round_up(fits.epsilon * n_splits + refit.epsilon),
        charged_delta=round_up(fits.delta * n_splits + refit.delta),
        charged_rho=None if n_features is None else round_up(fits.rho * n_splits + refit.rho, Fraction),
        priced=(*choice, *dict.fromkeys(place.name or _kind(place.part) for place in private)),
        not_priced=tuple(unpriced),
        earlier=tuple(earlier),
        fit_arguments=tuple(nested.fit_arguments(private)),
    )


def _have_people(candidates, grids):
    """Whether one of the candidates may protect people with several rows."""
    searched = {name for grid in grids for name in grid}
    given = {name for candidate in candidates for name, value in candidate.get_params().items() if value is not None}
    return any(name.rpartition("__")[2] == "max_rows_per_group" for name in searched | given)


def _grids(search):
    grids = getattr(search, "param_distributions", None) or search.param_grid
    return [grids] if isinstance(grids, Mapping) else list(grids)


def _warn_about_unseen(estimator, unpriced):
    """Warn about private steps of other libraries; if there are none, that no private step was found at all."""
    described = ", ".join(f"{name} ({what})" for name, what in unpriced.items())
    warn(
        f"search_cost cannot price {described}: {_ADD_THEM} (see BudgetLedger.spend)."
        if unpriced
        else f"search_cost found no private estimator in this {type(estimator).__name__}. If one is hidden in a lambda "
        "or in a custom class, the cost stated is not a bound. Estimators of this package are found as steps and "
        "parameters, dp_mic_classif and dp_mic_regression as functools.partial with their arguments."
    )


# --- The candidates of a search ---------------------------------------------------------------------------------------


def _costs(search, grids, n_features):
    """The cost of one fit of each candidate; of those drawn at random, the largest possible, as often."""
    if isinstance(search, GridSearchCV):
        return _costs_of(search.estimator, ParameterGrid(grids), n_features)
    n_candidates = search.n_iter
    if not any(hasattr(values, "rvs") for grid in grids for values in grid.values()):
        n_candidates = min(n_candidates, len(ParameterGrid(grids)))  # lists are sampled without replacement
    alternatives = _alternatives(search.estimator, grids)
    worst = [cost for candidate, others in alternatives for cost in _worst_with(candidate, others, n_features)]
    return [nested.largest_cost(worst)] * n_candidates


def _costs_of(estimator, grid, n_features):
    """The cost of each candidate, whose parameters are the entries of the grid."""
    return [nested.cost_of_fit(nested.candidate_with(estimator, parameters), n_features) for parameters in grid]


def _alternatives(estimator, grids):
    """Each choice of estimators and other values that are not plain, and the plain or drawn values of its grid.

    The plain values are not chosen here, because there may be too many combinations.

    Yields
    ------
    candidate : estimator
    others : dict of lists or distributions
    """
    now = estimator.get_params()
    for grid in grids:
        lists = {name: values for name, values in grid.items() if not hasattr(values, "rvs")}
        estimators = {
            name: values for name, values in lists.items() if not all(map(_is_plain, [now.get(name), *values]))
        }
        others = {name: values for name, values in grid.items() if name not in estimators}
        for parameters in ParameterGrid(estimators):
            yield nested.candidate_with(estimator, parameters), others


def _worst_with(estimator, grid, n_features):
    """Costs of all candidates with fixed steps, whose private steps have all the values in lists.

    Parameters of other steps cost nothing, and may be drawn.
    """
    now, tried = estimator.get_params(), {}
    private = {place.name for place in nested.private_places(estimator)}
    for name, values in grid.items():
        is_of_private = name.rpartition("__")[0] in private
        is_number = isinstance(now.get(name), numbers.Number)
        if not hasattr(values, "rvs"):
            tried |= {name: values} if is_of_private else {}
        elif is_of_private or not _is_plain(now.get(name)) or (nested.may_draw_estimators(values) and not is_number):
            raise ValueError(f"the cost has no bound: {name} is drawn from a distribution. Pass a list of values.")
    return _costs_of(estimator, ParameterGrid(tried), n_features)


def _is_plain(value):
    return value is None or isinstance(value, str | bytes | int | float | np.generic)


# --- Splits -----------------------------------------------------------------------------------------------------------

# With these, changing the label or group of one record may move other records to other folds.
_BY_RECORDS = (
    splits.StratifiedKFold,
    splits.StratifiedGroupKFold,
    splits.RepeatedStratifiedKFold,
    splits.StratifiedShuffleSplit,
    splits.GroupKFold,
    splits.GroupShuffleSplit,
)
_GROUP_FOLDS = (splits.GroupKFold, splits.StratifiedGroupKFold)  # a person is in one test set
_REPEATED = (splits.RepeatedKFold, splits.RepeatedStratifiedKFold)
_FOLDS = (*_GROUP_FOLDS, *_REPEATED, splits.KFold, splits.StratifiedKFold, splits.LeaveOneOut)  # a record is in one


def warn_about_splits_by_records(cv, estimator, has_people):
    """Warn if one record, or one person, can change the training sets of others."""
    kind = splits.StratifiedKFold if _is_number_of_folds(cv) and is_classifier(estimator) else type(cv)
    if has_people and not _assigns_groups_at_random(cv):
        warn(
            "cv assigns rows to folds, or groups by their number of rows, while max_rows_per_group protects people "
            "with several rows. The number of rows of one person can change which rows of others a training set "
            "holds, so the fits may cost more than stated here, and more than a ledger is charged. Pass "
            "cv=GroupKFold(n_splits, shuffle=True).",
            PrivacyLeakWarning,
        )
    elif not has_people and issubclass(kind, _BY_RECORDS):
        warn(
            f"{kind.__name__} assigns records to folds by the labels or groups of all records, so one record can "
            "change which others a training set holds: the fits may cost more than stated here, and more than a "
            "ledger is charged. Pass cv=KFold(n_splits, shuffle=True), which assigns records by position only.",
            PrivacyLeakWarning,
        )


def _assigns_groups_at_random(cv):
    """Whether a splitter uses only the set of groups, not their rows or labels."""
    if type(cv) is splits.GroupKFold:
        return cv.shuffle
    return type(cv) in (splits.GroupShuffleSplit, splits.LeaveOneGroupOut, splits.LeavePGroupsOut)


def count_splits(cv, estimator, n_samples, has_people):
    """The number of splits, and the number of their training sets that one record, or one person, can be in."""
    if isinstance(cv, Iterator):
        raise ValueError("cv must be a list of splits, not an iterator, because an iterator can be read only once.")
    splitter = check_cv(cv, classifier=is_classifier(estimator))
    X = None if n_samples is None else np.empty((n_samples, 1))
    try:
        n_splits = splitter.get_n_splits(X)
    except (TypeError, ValueError) as error:
        hint = "" if n_samples else " Pass n_samples if it depends on that."
        raise ValueError(f"the number of splits of {quoted(splitter)} is not known.{hint} ({error})") from None
    is_list = cv is not splitter and not _is_number_of_folds(cv)
    if is_list or not type(splitter).__module__.startswith("sklearn."):
        _check_rows_are_distinct(splitter, X, is_list)
    left_out = getattr(splitter, "n_repeats", 1)  # of people, rows may be in several folds, unless these are of groups
    return n_splits, n_splits - left_out if type(splitter) in (_GROUP_FOLDS if has_people else _FOLDS) else n_splits


def _is_number_of_folds(cv):
    return cv is None or isinstance(cv, numbers.Integral)


def _check_rows_are_distinct(splitter, X, is_list):
    """Raise if a training set of a list, or of a splitter of others for the rows of X, holds a row twice."""
    unknown = f"the cost of splits by {quoted(splitter)} is not known"
    advice = "Pass n_samples, so that the rows of its training sets can be checked, or cv as a list of splits."
    if X is None and not is_list:
        raise ValueError(f"{unknown}: cv may repeat rows. {advice}")
    try:
        trains = [np.asarray(train) for train, _ in splitter.split(X)]
    except Exception as error:
        raise ValueError(f"{unknown} ({error}). {advice}") from None
    for train in trains:
        rows = np.flatnonzero(train) if train.dtype == bool else train.ravel()
        if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0):
            raise ValueError("cv must give rows by their positions, from 0, or by masks: a row with two may repeat.")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(
                "cv must hold each row at most once in each training set, got one that repeats rows: the cost of a fit "
                "is that of one row, and a record in several rows costs a multiple. Pass each position once."
            )


# --- Priced steps, and others -----------------------------------------------------------------------------------------

# Parameters of private estimators in diffprivlib and other libraries; scikit-learn's SVR has an epsilon, too.
_PRIVATE = {"epsilon", "accountant"}


def unpriced_steps(candidates):
    """Parts that look private and belong to another library: distinct descriptions by name."""
    found = {}
    for name, part, *_ in itertools.chain.from_iterable(map(nested.places_in, candidates)):
        if not _PRIVATE.isdisjoint(nested.arguments_of(part)):
            library = _maker(part).__module__.partition(".")[0]
            if library not in ("sklearn", "skdpmic"):
                found[name or _kind(part)] = f"{_kind(part)} of {library}"
    return found


def _kind(part):
    return part.func.__name__ if isinstance(part, functools.partial) else type(part).__name__


def _maker(part):
    """The owner of the parameters of a part: a function, or the base class that defines the constructor."""
    if isinstance(part, functools.partial):
        return part.func
    return next(kind for kind in type(part).__mro__ if "__init__" in vars(kind))
