"""The candidates of a private search, and the checks before any is fitted."""

import contextlib
import numbers
import random
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import f_classif
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import indexable, resample

from skdpmic._utils.errors import BudgetError, is_invalid_parameter, warn
from skdpmic._utils.readable import are_text, check_meaning, column_names, is_dask_collection, refuse_target_among
from skdpmic._utils.texts import quoted
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.search.cost_of_fits import (
    UNIVARIATE,
    UNKNOWN,
    as_estimator,
    given_the_table,
    has_parameters,
    is_private,
    private_steps,
    widths_in,
)
from skdpmic.table.frames import declared_by_name, is_frame, is_lazy
from skdpmic.table.tables import open_table

_ANY_SEED = bytes(16)
_KNOWN = ("sklearn", "skdpmic")  # packages whose estimators carry nothing over from one fit to the next


def checked_grid(param_grid):
    """The candidates of `param_grid`, if there are any."""
    if isinstance(param_grid, Iterator):
        kind = type(param_grid).__name__
        raise ValueError(f"param_grid must be a dict or a list of dicts, got a {kind}, which is read only once.")
    grid = list(ParameterGrid(param_grid))
    if not grid:
        raise ValueError(f"param_grid must be a dict, or a list of at least one dict, got {quoted(param_grid)}.")
    return grid


def check_has_choice(grid):
    """Raise if there is a single candidate: nothing would be chosen, at the cost of a choice."""
    if len(grid) == 1:
        raise ValueError(
            f"param_grid must have two candidates or more, got {quoted(grid)}: nothing would be chosen, at a cost of "
            "epsilon. Set these parameters by set_params, and fit the estimator by itself."
        )


def checked_table(X, y, candidates):
    """X and y, whose rows can be assigned to subsets; an error if a private step given them unchanged refuses them."""
    for data, name in ((X, "X"), (y, "y")):
        _refuse_unsplittable(data, name)
    refuse_target_among(column_names(X), y)
    X, y = indexable(X, y)
    _refuse_unreadable_for(candidates, X, y)
    return X, y


def _refuse_unsplittable(data, name):
    """Raise if the rows of a table or a column cannot be assigned to subsets, because it is not in memory."""
    is_stream = hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__")
    if is_lazy(data) or is_dask_collection(data) or is_stream or isinstance(data, Iterator):
        raise TypeError(
            f"{name} must be in memory inside PrivateGridSearch, which assigns its rows to subsets, got "
            f"{type(data).__name__}: load it first, as by {name}.collect(), {name}.compute(), {name}.to_arrow_table() "
            f"or np.array(list({name}))."
        )
    if is_frame(data) and len(data) and not _has_rows_to_pick(data):
        raise TypeError(
            f"{name} must be a table whose rows scikit-learn can pick inside PrivateGridSearch, got a "
            f"{type(data).__name__}: convert it first, as by {name}.to_pandas()."
        )


def _has_rows_to_pick(frame):
    """Whether this version of scikit-learn can pick rows of a dataframe of this library."""
    try:
        return len(resample(frame, n_samples=1, random_state=0)) == 1
    except Exception:  # of many kinds; other tables are refused by name
        return False


def candidate_with(estimator, parameters):
    """A new estimator with these parameters."""
    return clone(estimator).set_params(**clone(parameters, safe=False))


def candidates_with(estimator, grid):
    """New estimators with the parameters of each entry of the grid.

    Invalid parameters of scikit-learn estimators are found here: scikit-learn checks parameters before the data, so
    each estimator is fitted to a table without rows. The fit stops there: it computes nothing and sees no data.
    """
    candidates = [candidate_with(estimator, parameters) for parameters in grid]
    for candidate in candidates:
        for step in _estimators_in(candidate):
            if all(map(_is_of_scikit_learn, _estimators_in(step))):
                _check_parameters_of(step)
    return candidates


def _estimators_in(step):
    """The step itself, if it is an estimator, and all estimators inside it except private ones."""
    inside = [step, *step.get_params().values()]
    return [part for part in inside if has_parameters(part) and not is_private(part)]


def _is_of_scikit_learn(estimator):
    return type(estimator).__module__.startswith("sklearn.")


def _check_parameters_of(step):
    """Raise if a parameter of the step itself is invalid; inner steps check their own."""
    private = private_steps(step)
    if isinstance(step, Pipeline | FeatureUnion | ColumnTransformer) or (private and not isinstance(step, UNIVARIATE)):
        return
    step = clone(step).set_params(**dict.fromkeys(private, f_classif))  # never called, because there are no rows
    try:
        with generators_seeded(_ANY_SEED), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            step.fit(np.empty((0, 1)), np.empty(0))
        return
    except Exception as error:
        if not is_invalid_parameter(error) or f"parameter of {type(step).__name__} " not in str(error):
            return  # the error about the missing rows
        message = str(error)
    raise ValueError(message)


def _first_step(estimator):
    """The step that gets the unchanged table, of a pipeline or of a single estimator; None if there is none."""
    if not isinstance(estimator, Pipeline):
        return estimator
    steps = (step for _, step in estimator.steps if step not in (None, "passthrough"))
    return _first_step(next(steps, None))


def _refuse_unreadable_for(candidates, X, y):
    """Before the charge, raise errors that a private estimator given X and y unchanged would raise in each subset."""
    seen = set()
    for step in map(_first_step, candidates):
        as_array = not is_private(step)  # univariate selectors pass an array to their score function
        private = getattr(step, "score_func", None) if as_array else step
        if not is_private(private):
            continue
        plan = as_estimator(private)._plan()
        described = repr([plan.reader, plan.facts])
        if described not in seen:
            seen.add(described)
            table = _array_for(step, X) if as_array else X
            plan.read_table(table, y)  # raises what some subsets of the rows would not, such as a label in no class


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


def private_estimators(candidate):
    """The private estimators in a candidate; for a function form, the scorer it fits."""
    return [as_estimator(private) for private in private_steps(candidate).values()]


def check_private_steps(candidates, X, numbers_of_samples):
    """Raise the errors of a private step that depend on the number of samples, not on the values in X and y."""
    n_features_in, names = _columns_of(X)
    for candidate in candidates:
        widths = widths_in(candidate, n_features_in)
        for private in private_steps(candidate).values():
            estimator = as_estimator(private)
            if estimator.max_rows_per_group is not None:
                raise ValueError(
                    "max_rows_per_group must be None inside PrivateGridSearch, got "
                    f"{quoted(estimator.max_rows_per_group)}: "
                    "it assigns rows, not people, to subsets, so one person may be in several subsets."
                )
            _check_before_data(estimator._plan(), widths.get(id(private)), numbers_of_samples)
    declared = declared_by_name(X)
    for candidate in candidates:
        for private, n_features, of_columns in given_the_table(candidate, n_features_in, names):
            _check_columns(as_estimator(private), n_features, of_columns, declared)


def check_refits_fit_in(ledger, choice, candidates, n_features):
    """Raise a BudgetError if a ledger could not pay for the refit of a candidate after the choice, which is then lost.

    Parameters
    ----------
    ledger : BudgetLedger or None
        That of the choice.
    choice : LedgerEntry
    candidates : list of estimator
    n_features : int or UNKNOWN
    """
    for candidate in candidates:
        widths = widths_in(candidate, n_features)
        charges = [(ledger, choice)]
        for private in private_steps(candidate).values():
            estimator = as_estimator(private)
            charges.append((estimator.ledger, _least_charge(estimator, widths.get(id(private)))))
        for each in {ledger for ledger, _ in charges if ledger is not None}:
            entries = each.entries()
            for entry in (entry for ledger, entry in charges if ledger == each):
                try:
                    each.limits.check(entry, entries, each.path)
                except BudgetError as error:
                    raise BudgetError(f"{error} This counts the choice as spent, which is not made.") from None
                entries.append(entry)


def _least_charge(estimator, numbers_of_features):
    """What a fit to this many features charges; where these depend on an earlier step, at least its epsilon."""
    name, plan = type(estimator).__name__, estimator._plan()
    costs = [plan.cost(number) for number in numbers_of_features or ()]
    if not costs:
        return LedgerEntry(name, float(estimator.epsilon), rho=0.0)
    least = min(costs, key=lambda cost: cost.in_zcdp)
    return LedgerEntry(name, *least[:3])


def _check_before_data(plan, numbers_of_features, numbers_of_samples):
    """Raise the errors of a fit to tables of these shapes that do not depend on the data."""
    facts = plan.facts
    if facts.needs_ranges:
        _check_entries(facts)
    for n_samples, n_features in product(numbers_of_samples, numbers_of_features or {plan.fewest_features}):
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


def n_columns(X):
    """The number of columns of a table; None if unknown."""
    shape = getattr(X, "shape", None) or np.shape(X[:1])
    return shape[1] if len(shape) == 2 else None


def _columns_of(X):
    """The number of columns of a table (None if unknown), and their labels (None if they have none, or UNKNOWN)."""
    names = column_names(X) or None
    if names is None and hasattr(X, "__dataframe__") and not hasattr(X, "iloc"):
        names = UNKNOWN  # scikit-learn determines the kind of dataframe
    return n_columns(X), names


def _check_columns(private, n_features, names, declared):
    """Raise if the bounds of a private estimator do not fit its columns."""
    if names is not UNKNOWN and names is not None:
        check_meaning(names)
        names = names if are_text(names) else None
    facts = private._plan().facts
    by_name = isinstance(facts.bounds, dict) or facts.categories is not None
    is_open = n_features is None or (names is UNKNOWN and by_name)
    if facts.needs_ranges and not is_open:
        names = None if names is UNKNOWN else names
        facts.domains(n_features, names, {j: declared[name] for j, name in enumerate(names or []) if name in declared})


def warn_about_unknown(candidates):
    """Warn about estimators whose fits in one subset might affect those in another."""
    inside = [step for candidate in candidates for step in [candidate, *candidate.get_params().values()]]
    classes = {type(step) for step in inside if hasattr(step, "fit") and not isinstance(step, type)}
    unknown = sorted(kind.__name__ for kind in classes if kind.__module__.partition(".")[0] not in _KNOWN)
    if unknown:
        warn(
            f"the choice is private only if the fits of {', '.join(unknown)} depend on nothing but their own rows, the "
            "parameters and their own random numbers. This has been checked only for scikit-learn's estimators. "
            "Nothing may pass from one fit to another, for example through a cache, a class attribute, or a random "
            "generator of a library. (The global generators of NumPy and of Python's random are reseeded for each "
            "fit.)",
        )


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
