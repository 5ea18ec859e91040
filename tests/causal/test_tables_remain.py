"""What PrivatePC holds of a table of labels is a function of public numbers and of what was released.

As in ``tests/correlation/test_matrix_remains.py``, which sees to tables of numbers.
"""

import pickle
import re

import numpy as np
import pytest

from skdpmic import BudgetLedger
from skdpmic._utils import no_cache as uncached
from skdpmic.causal import PrivatePC
from skdpmic.causal import table_release as noisy_tables
from skdpmic.causal import table_release as two_way_tables
from skdpmic.causal.graph_result import GraphResultMixin
from skdpmic.selection.base import PrivateEstimator
from tests._utils.test_rollback import functions_of, interrupted_everywhere, prepared

N, LABELS = 60, ["a", "b", "c"]
CATEGORIES = dict.fromkeys(range(4), LABELS)

pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal")


def neighbours():
    here = np.random.default_rng(0).choice(np.array(LABELS, dtype=object), size=(N, 4))
    there = here.copy()
    here[7], there[7] = "a", ["c", "other", None, "b"]
    return here, there


def fit_with_released_values(table, monkeypatch):
    """What is released is the same whatever the table: noise is what is missing to it."""
    released, counts = np.random.default_rng(1).integers(-5, 30, size=1000), []
    compute = noisy_tables.two_way_counts

    def with_progress(*arguments):
        counts.append(compute(*arguments))
        return counts[-1]

    with monkeypatch.context() as patch:
        patch.setattr(noisy_tables, "two_way_counts", with_progress)
        patch.setattr(two_way_tables, "discrete_gaussian", lambda variance, size, source: released[:size] - counts[-1])
        return PrivatePC(categories=CATEGORIES).fit(table), counts[-1]


def everything_visible(private):
    seen = {"graph": repr(private.cpdag_), "p": repr(private.p_values_), "one": private.p_value(0, 1, (2, 3))}
    vars(private).pop("_tests")  # functions of what was released, which no pickle has
    return seen | {
        "attributes": {name: repr(value) for name, value in vars(private).items()},
        "pickle": pickle.dumps(private),
        "html": re.sub(r"sk-(container-id|estimator-id)-[\w-]+", "", private._repr_html_()),
    }


def test_equal_releases_leave_equal_estimators(monkeypatch):
    monkeypatch.setattr(uncached, "fresh_nonce", lambda: b"nonce")
    (here, counts_here), (there, counts_there) = (fit_with_released_values(t, monkeypatch) for t in neighbours())
    assert (counts_here != counts_there).sum() == 12  # of each of six tables two cells
    here, there = (pickle.loads(pickle.dumps(private)) for private in (here, there))
    here._raw, there._raw = counts_here, counts_there
    assert pickle.dumps(here) != pickle.dumps(there)  # the comparison sees what is kept
    for private in (here, there):
        del private._raw
    assert everything_visible(here) == everything_visible(there)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_of_a_dataframe_only_the_names_remain(library):
    namespace, marked = pytest.importorskip(library), np.random.default_rng(0).random((N, 2))
    marked[0] = 0.123456789
    frames = [namespace.DataFrame({"a": values[:, 0], "b": values[:, 1]}) for values in (marked, marked < 0.5)]
    for private in map(PrivatePC().fit, frames):
        assert private._names.shape == (1, 2)
        assert not np.asarray(private._names).any()
        assert list(private._names.columns) == ["a", "b"]


def test_no_count_is_there_without_noise_and_nothing_is_as_long_as_the_table():
    private = PrivatePC(epsilon=0.05, categories=CATEGORIES).fit(neighbours()[0])
    exact = PrivatePC(epsilon=np.inf, categories=CATEGORIES).fit(neighbours()[0]).noisy_tables_
    equal = np.concatenate([(private.noisy_tables_[pair] == exact[pair]).ravel() for pair in exact])
    assert private.noise_scale_ > 200
    assert equal.sum() < 6  # of 150, each with a chance of 1 in 500 or less: alpha < 1e-6
    longer = PrivatePC(epsilon=0.05, categories=CATEGORIES).fit(np.repeat(neighbours()[0], 20, axis=0))
    sizes = [len(pickle.dumps((fit, fit.cpdag_))) for fit in (private, longer)]
    assert abs(sizes[0] - sizes[1]) < N


@pytest.mark.parametrize("before", ["new", "fitted"])
def test_an_estimator_that_is_interrupted_at_any_line_is_as_it_was_or_fitted(before):
    table = neighbours()[0]

    def prepare():
        private = PrivatePC(categories=CATEGORIES)
        return prepared(private if before == "new" else private.fit(table[:30]))

    fitted, was_as_before = PrivatePC(categories=CATEGORIES).fit(table), []
    classes = (
        PrivateEstimator,
        GraphResultMixin,
        PrivatePC,
        noisy_tables.TwoWayTablesRelease,
        two_way_tables.NoisyTwoWayTables,
    )
    for interrupted in interrupted_everywhere(
        prepare, lambda interrupted: interrupted.estimator.fit(table), functions_of(*classes)
    ):
        was_as_before.append(interrupted.is_as_before())
        assert was_as_before[-1] or vars(interrupted.estimator).keys() == vars(fitted).keys()
    assert was_as_before == sorted(was_as_before, reverse=True)
    assert was_as_before.count(True) > 20
    assert not was_as_before[-1]


def test_an_interrupt_after_the_charge_loses_the_result_not_the_charge(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    ledger = BudgetLedger(tmp_path / "budget.db", 1.0, delta=1e-5)
    private = PrivatePC(epsilon=0.3, categories=CATEGORIES, ledger=ledger)
    monkeypatch.setattr(two_way_tables, "discrete_gaussian", interrupt)
    with pytest.raises(KeyboardInterrupt):
        private.fit(neighbours()[0])
    assert len(ledger.entries()) == 1
    assert not hasattr(private, "noisy_tables_")


def test_an_interrupted_search_for_the_graph_costs_nothing_and_can_be_repeated(monkeypatch):
    private = PrivatePC(categories=CATEGORIES).fit(neighbours()[0])

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skdpmic.causal.graph_result.find_graph", interrupt)
        with pytest.raises(KeyboardInterrupt):
            private.cpdag_  # noqa: B018
    assert private.cpdag_.shape == (4, 4)


def test_no_traceback_of_bad_data_holds_a_value():
    class Secret:
        def __repr__(self):
            return "secret"

        __hash__ = None

    table = neighbours()[0]
    table[3, 2] = Secret()
    seen = ""
    try:
        PrivatePC(categories=CATEGORIES).fit(table)
    except (TypeError, ValueError) as error:
        while error is not None:
            seen, error = seen + repr(error), error.__cause__ or error.__context__
    assert seen
    assert "secret" not in seen
