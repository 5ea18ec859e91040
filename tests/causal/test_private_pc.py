"""PrivatePC: inputs, results and cost."""

import math
import pickle
import re
import sys
from functools import partial

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from skdpmic import BudgetError, BudgetLedger
from skdpmic._utils.texts import quoted
from skdpmic.causal import PrivatePC
from skdpmic.causal.table_release import TablePlan
from skdpmic.privacy.composition import rho_for
from tests.correlation.test_private_correlation import assert_is_frame_like, assert_refused, frames

N = 5000
NAMES = ["rain", "sprinkler", "wet", "slippery"]
TRUTH = np.zeros((4, 4), dtype=bool)
TRUTH[[0, 1, 2], [2, 2, 3]] = True  # equal to its CPDAG
YES_NO = ["no", "yes"]


def numbers(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] += X[:, 0] + X[:, 1]
    X[:, 3] += X[:, 2]
    return X


def booleans(n=8 * N, seed=0):
    rng = np.random.default_rng(seed)
    rain, sprinkler, error, slips = rng.random((4, n))
    rain, sprinkler = rain < 0.4, sprinkler < 0.5
    wet = np.where(error < 0.1, rain & ~sprinkler, rain | sprinkler)
    return np.column_stack([rain, sprinkler, wet, wet & (slips < 0.8)])


def labels(n=8 * N):
    return np.array(YES_NO, dtype=object)[booleans(n).astype(int)]


CATEGORIES = dict.fromkeys(range(4), YES_NO)
X = numbers()
STRICT = {"alpha": 1e-5}  # edges here have p-values below 1e-14; one of 100,000 tests makes a false edge
KINDS = {
    "numeric": (PrivatePC(**STRICT), X),
    "categorical": (PrivatePC(**STRICT, categories=CATEGORIES), labels()),
    "boolean": (PrivatePC(**STRICT), booleans()),
}


@pytest.fixture(scope="module")
def fitted():
    return {kind: clone(private).fit(table) for kind, (private, table) in KINDS.items()}


# --- Results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_found_from_a_noisy_release(kind, fitted):
    private = fitted[kind]
    np.testing.assert_array_equal(private.cpdag_, TRUTH)
    np.testing.assert_array_equal(private.skeleton_, TRUTH | TRUTH.T)
    assert private.cpdag_.dtype == private.skeleton_.dtype == bool
    assert private.markov_blanket(0).tolist() == [1, 2]
    assert private.markov_blanket(3).tolist() == [2]
    assert private.kind_ == ("numeric" if kind == "numeric" else "categorical")
    assert private.n_features_in_ == 4
    assert private.privacy_spent_ == (1.0, 1e-6)
    assert private.noise_scale_ > 0


def test_for_labels_counts_and_tables_of_all_four_columns_are_released():
    table = labels(1000)
    table[:7, 1], table[7:10, 2] = None, "maybe"
    private = PrivatePC(epsilon=math.inf, categories=CATEGORIES).fit(table)
    assert not hasattr(private, "noisy_correlation_")
    everything = [*YES_NO, "maybe", None]
    for j, counts in enumerate(private.noisy_counts_):
        np.testing.assert_array_equal(counts, [np.sum(table[:, j] == label) for label in everything])
    assert [parts.max() + 1 for parts in private.parts_] == [2, 3, 2, 2]  # three records are too few for a bin
    assert private.parts_[2][2] == np.argmax(private.noisy_counts_[2])
    assert list(private.noisy_tables_) == [(0, 1, 2, 3)]
    expected = np.zeros((2, 3, 2, 2), dtype=int)
    for row in table:
        np.add.at(expected, tuple(private.parts_[j][everything.index(label)] for j, label in enumerate(row)), 1)
    np.testing.assert_array_equal(private.noisy_tables_[0, 1, 2, 3], expected)
    assert private.noise_scale_ == 0
    assert private.noisy_blanks_.tolist() == [997, 3]  # "maybe" in the third column; missing values have a bin
    assert private.noise_scales_ == {0: 0, 1: 0, 4: 0}


@pytest.mark.parametrize("max_order, n_columns", [(0, 2), (1, 2), (2, 3), (3, 4), (9, 4)])
def test_tables_have_one_or_two_columns_more_than_max_order(max_order, n_columns):
    private = PrivatePC(max_order=max_order).fit(booleans())
    assert set(map(len, private.noisy_tables_)) == {n_columns}
    assert private.set_params(max_order=3).cpdag_.shape == (4, 4)


# --- Labels beside numbers, and repeated values -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:untied_fraction_:UserWarning")
def test_without_bounds_no_test_is_made_given_a_column_with_many_ties_and_the_edge_stays():
    """s -> a and s -> b: a and b are independent given s, which has few values."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 5, size=3000)
    private = PrivatePC(epsilon=math.inf).fit(np.column_stack([s, *(s + rng.normal(size=(2, 3000)))]).astype(float))
    assert math.isnan(private.p_value(1, 2, [0]))
    assert private.p_value(1, 2) < 1e-6
    assert private.skeleton_[1, 2]
    assert math.isnan(private.p_values_[1, 2])
    assert (private.p_values_.diagonal() == 0).all()


def mixed(n=20_000, seed=0):
    """smokes -> weight -> pressure, and an independent sex."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    smokes = rng.random(n) < 0.4
    weight = 70 + 12 * smokes + 10 * rng.normal(size=n)
    pressure = 120 + 0.8 * (weight - 75) + 8 * rng.normal(size=n)
    sex = rng.choice(["f", "m"], size=n)
    return pandas.DataFrame({"smokes": smokes, "weight": weight, "pressure": pressure, "sex": sex})


MIXED = {"bounds": {"weight": (0, 250), "pressure": (50, 250)}, "categories": {"sex": ["f", "m"]}}


def test_numbers_beside_labels_are_binned_by_released_counts():
    private = PrivatePC(alpha=1e-4, **MIXED).fit(mixed())
    assert private.kind_ == "mixed"
    assert [len(counts) for counts in private.noisy_counts_] == [4, 65, 65, 4]
    assert 5 <= private.parts_[1].max() + 1 <= 8
    assert private.noisy_tables_[0, 1, 2].sum(axis=(0, 2)).min() > 1500
    edges = {("smokes", "weight"), ("weight", "pressure")}
    names = list(private.skeleton_)
    assert {(names[i], names[j]) for i, j in np.argwhere(np.triu(private.skeleton_))} == edges
    assert math.isnan(private.p_value("smokes", "pressure", ["weight"]))


def test_a_column_with_a_single_bin_causes_a_warning_after_the_release():
    table = booleans(2000)
    table[:, 3] = True
    with pytest.warns(UserWarning, match=re.escape("noise hides all but one part of [3]")) as caught:
        private = PrivatePC().fit(table)
    assert caught[0].filename == __file__
    assert not private.skeleton_[3].any()


def test_another_alpha_or_max_order_after_the_fit_costs_nothing(ledger):
    private = PrivatePC(**STRICT, ledger=ledger).fit(X)
    assert np.array_equal(private.cpdag_, TRUTH)
    assert private.set_params(max_order=0).skeleton_[0, 3]  # dependent if nothing is given
    assert private.to_networkx().number_of_edges() > 3
    assert np.array_equal(private.set_params(max_order=3).cpdag_, TRUTH)
    p = float(private.p_values_[0, 1])
    assert not private.skeleton_[0, 1]
    assert private.set_params(alpha=(1 + p) / 2).skeleton_[0, 1]
    assert len(ledger.entries()) == 1


def test_p_value_is_symmetric_and_takes_names_or_column_numbers():
    pandas = pytest.importorskip("pandas")
    private = PrivatePC(**STRICT).fit(pandas.DataFrame(X, columns=NAMES))
    assert private.markov_blanket("rain").tolist() == ["sprinkler", "wet"]
    assert sorted(private.to_networkx()) == sorted(NAMES)
    assert private.p_value("rain", "sprinkler") == private.p_value("sprinkler", "rain") > 1e-5
    assert private.p_value("rain", "sprinkler", ["wet"]) < 1e-6
    assert private.p_value("rain", "slippery", given=["wet", "sprinkler"]) > 1e-5
    numbered = PrivatePC(**STRICT).fit(X)
    assert numbered.p_value(0, np.int64(3)) < 1e-6
    for of, wrong in ((private, ("rain", "rain")), (numbered, (0, 1, [0])), (numbered, (0, 1, [2, 2]))):
        with pytest.raises(ValueError, match="i, j and given must be distinct columns"):
            of.p_value(*wrong)
    for of, key, allowed, others in (
        (private, "rain", "a name in feature_names_in_", [0, "snow"]),
        (numbered, 0, "an int from 0 to 3", [4, -1, True]),
    ):
        for wrong in others:
            for ask in (partial(of.p_value, key), of.markov_blanket):
                with pytest.raises(ValueError, match=re.escape(f"a column must be {allowed}, got {quoted(wrong)}.")):
                    ask(wrong)


def test_networkx_gets_an_edge_for_an_arrow_and_two_for_a_line(fitted):
    graph = fitted["numeric"].to_networkx()
    assert isinstance(graph, nx.DiGraph)
    assert sorted(graph.nodes) == [0, 1, 2, 3]
    assert {(i, j): data["directed"] for i, j, data in graph.edges(data=True)} == dict.fromkeys(
        [(0, 2), (1, 2), (2, 3)], True
    )
    assert graph.edges[0, 2]["p_value"] == fitted["numeric"].p_values_[0, 2]
    line = PrivatePC(**STRICT).fit(X[:, [2, 3]]).to_networkx()
    assert {(i, j): data["directed"] for i, j, data in line.edges(data=True)} == {(0, 1): False, (1, 0): False}


def test_without_networkx_the_error_says_what_to_install(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=re.escape("to_networkx requires networkx: pip install skdpmic[graphs]")):
        fitted["numeric"].to_networkx()


def test_a_pickle_keeps_the_graph_and_the_tests(fitted):
    for private in fitted.values():
        graph = private.cpdag_  # makes tests, whose distributions are cached
        again = pickle.loads(pickle.dumps(private))
        assert again._tests is None  # computed again from the release
        np.testing.assert_array_equal(again.cpdag_, graph)
        assert again.p_value(0, 1, [2, 3]) == private.p_value(0, 1, [2, 3])


# --- Tables of every kind ---------------------------------------------------------------------------------------------


def test_a_dataframe_gives_dataframes_of_its_library_with_its_names():
    for frame in frames(X, NAMES):
        private = PrivatePC(**STRICT).fit(frame)
        for matrix in (private.cpdag_, private.skeleton_, private.p_values_):
            assert_is_frame_like(frame, matrix, NAMES)
        np.testing.assert_array_equal(np.array(private.cpdag_), TRUTH)


def test_repeated_rows_of_a_person_are_not_counted_as_evidence():
    """Two independent columns with each row five times: both kinds of p-values count people, not rows."""
    rng = np.random.default_rng(0)
    p_values = {"numeric": [], "categorical": []}
    for _ in range(60):
        rows = np.repeat(rng.normal(size=(200, 2)), 5, axis=0)
        for table in (rows, rows > 0):
            private = PrivatePC(epsilon=math.inf, max_rows_per_group=5)
            private.fit(table, groups=np.repeat(np.arange(200), 5))
            p_values[private.kind_].append(private.p_value(0, 1))
    for kind, found in p_values.items():
        # alpha = 1e-4 at a level of 0.05; if rows were counted, the level would be about 0.4.
        assert np.mean(np.array(found) < 0.05) < 0.18, kind


# --- Cost, and refusals before the charge -----------------------------------------------------------------------------


RELEASES = {  # the text of the ledger entry, and the function that computes it
    "numeric": ("kendall, matrix of 4", "skdpmic.correlation.private_correlation.concordances"),
    "boolean": ("tables of 4", "skdpmic.causal.table_release.counts_of_sets"),
}


@pytest.mark.parametrize("kind", RELEASES)
def test_a_ledger_is_charged_the_rho_of_the_release_and_refuses_before_anything_is_computed(
    kind, tmp_path, monkeypatch
):
    ledger, (released, computed) = BudgetLedger(tmp_path / "budget.db", 0.9, delta=2e-6), RELEASES[kind]
    PrivatePC(epsilon=0.5, delta=1e-6, ledger=ledger).fit(KINDS[kind][1])
    (entry,) = ledger.entries()
    assert (str(entry), entry.epsilon, entry.delta) == (f"PrivatePC, {released}, gaussian", 0.5, 1e-6)
    assert (entry.rho, entry.n, entry.d) == (rho_for(0.5, 1e-6), len(KINDS[kind][1]), 4)
    monkeypatch.setattr(computed, lambda *_: pytest.fail("computed before the charge"))
    private = PrivatePC(ledger=ledger)
    before = dict(vars(private))
    with pytest.raises(BudgetError):
        private.fit(KINDS[kind][1])
    assert vars(private) == before


def test_the_noise_is_known_before_there_is_a_table():
    private = PrivatePC(epsilon=0.7, delta=1e-5)
    assert private.noise_scale_for(N, 4) == clone(private).fit(X).noise_scale_
    assert private.noise_scale_for(N, 4, kind="categorical") == clone(private).fit(X > 0).noise_scale_
    assert (
        private.noise_scale_for(N, 4, "mixed")
        == TablePlan.for_budget(0.7, 1e-5, (4,) * 4, N, 1, 3, frozenset([0])).noise_scale
    )
    for wrong in ({"n_samples": 3}, {"n_features": 1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be an int >= "):
            private.noise_scale_for(**({"n_samples": 10, "n_features": 5, "kind": "categorical"} | wrong))
    with pytest.raises(ValueError, match="kind must be 'numeric', 'categorical' or 'mixed', got 'text'"):
        private.noise_scale_for(10, 5, "text")


ALPHA = "alpha must be a number in (0, 1), got {!r}."
ORDER = "max_order must be an int >= 0, got {!r}."
WRONG = [
    *(({"alpha": alpha}, ALPHA.format(alpha)) for alpha in (0, math.nan, "0.05")),
    *(({"max_order": order}, ORDER.format(order)) for order in (-1, True)),
    ({"delta": 0.0}, "delta must be a number in (0, 1), got 0.0"),
    ({"bounds": {0: (0, 1)}}, "bounds must have an entry for every feature that is not in categories"),
]


@pytest.mark.parametrize("change, message", WRONG)
def test_wrong_parameters_are_refused_without_a_charge_or_a_change(change, message, ledger):
    private = PrivatePC().fit(X).set_params(**({"ledger": ledger} | change))
    assert_refused(private, X, (ValueError, TypeError), message, ledger)
    if {"alpha", "max_order"} & change.keys():
        with pytest.raises(AttributeError, match=re.escape(message)):
            private.cpdag_  # noqa: B018
        assert "markov_blanket" in dir(private)  # newer versions of scikit-learn read all attributes for it
        with pytest.raises(ValueError, match=re.escape(message)):
            private.markov_blanket(0)


def test_labels_beside_numbers_without_bounds_are_refused_by_name(ledger):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES).assign(rain=np.where(X[:, 0] > 0, "yes", "no"), wet=X[:, 2] > 0)
    private = PrivatePC(categories={"rain": YES_NO}, ledger=ledger)
    message = (
        "bounds must have an entry for every feature without labels, because ['rain', 'wet'] have labels, got none for "
        "['sprinkler', 'slippery']."
    )
    assert_refused(private, frame, ValueError, message, ledger)
    private.set_params(bounds={"sprinkler": (-4, 4), "slippery": (-8, 8)}).fit(frame)
    assert private.kind_ == "mixed"


def test_wrong_tables_are_refused_without_a_charge_or_a_change(ledger):
    tables = [
        (X[:, :1], ValueError, "1 feature(s) (shape=(5000, 1)) while a minimum of 2 is required by PrivatePC"),
        (X[:, :1] > 0, ValueError, "a minimum of 2 is required by PrivatePC"),
        (np.full(X.shape, "text"), ValueError, "could not convert string to float"),
    ]
    for table, error, message in tables:
        assert_refused(PrivatePC(ledger=ledger), table, error, message, ledger)
