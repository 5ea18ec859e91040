"""A column is identified by name in a dataframe, by number in an array; ambiguous keys are refused, uncharged."""

import datetime
import math
import re

import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skdpmic import (
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    dp_mic_regression,
    private_bounds,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse
from tests.folding import each

N = 200
RNG = np.random.default_rng(0)
X, Y = RNG.random((N, 3)), RNG.random(N)
X[:, 1] = Y
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
LARGE = 1e6  # hardly any noise
NOISELESS = {"epsilon": LARGE} | PUBLIC
quiet = pytest.mark.filterwarnings(
    "ignore::skdpmic.PrivacyLeakWarning", "ignore:noise:UserWarning", "ignore:the quantiles:UserWarning"
)


def frame(labels):
    table = pandas.DataFrame(X)
    table.columns = labels
    return table


AMBIGUOUS = {
    "one left out": [0, 1, 3],
    "from one": [1, 2, 3],
    "another order": [2, 1, 0],
    "with text": ["a", 1, 2],
    "floats": [0.0, 1.0, 2.0],
    "booleans": [False, True, 2],
    "of numpy": np.array([5, 6, 7]),
    "pairs": pandas.MultiIndex.from_tuples([("a", 0), ("a", 1), ("b", 0)]),
    "dates": pandas.to_datetime(["2000-01-01", "2001-01-01", "2002-01-01"]),
    "days": [datetime.date(2000, 1, day) for day in (1, 2, 3)],
    "nothing": ["a", "b", None],
    "bytes": [b"a", b"b", b"c"],
}


def search(X, ledger, selector=None):
    pipeline = make_pipeline(selector or DPMICSelector(1, **PUBLIC), Ridge())
    return PrivateGridSearch(pipeline, {"ridge__alpha": [1, 2]}, n_subsets=2, epsilon=50, ledger=ledger).fit(X, Y)


def on_columns(columns):
    return ColumnTransformer([("some", DPMICSelector(1, **PUBLIC), columns)])


def by_sketch(X, ledger):
    estimator, are_text = DPMICScorer(ledger=ledger, **NOISELESS), all(isinstance(name, str) for name in X.columns)
    empty = estimator.empty_sketch(N, **{"feature_names": list(X.columns)} if are_text else {"n_features": 3})
    return estimator.fit_sketch(empty.update(X, Y))


def described(X):
    return Codebook(dict.fromkeys(map(str, X.columns), (0, 1)))


FITTED = DPMICSelector(2, **NOISELESS).fit(frame([0, 1, 2]), Y)
WAYS = {
    "scorer": lambda X, ledger: DPMICScorer(ledger=ledger, **NOISELESS).fit(X, Y),
    "jointly": lambda X, ledger: PrivateSelectKBest(2, criterion="joint", ledger=ledger, **NOISELESS).fit(X, Y),
    "sketch": by_sketch,
    "function": lambda X, ledger: dp_mic_regression(X, Y, epsilon=1, ledger=ledger, **PUBLIC),
    "summary": lambda X, ledger: private_summary(X, described(X), epsilon=1, ledger=ledger),
    "encoder": lambda X, ledger: PublicEncoder(bounds=(0, 1)).fit(X),
    "records": lambda X, ledger: described(X).records(X),
    "template": lambda X, ledger: Codebook.template(X),
    "ranks": lambda X, ledger: DPMICScorer(statistic="kendall", epsilon=LARGE, ledger=ledger).fit(X, Y),
    "selector": lambda X, ledger: DPMICSelector(1, ledger=ledger, **NOISELESS).fit(X, Y),
    "in turn": lambda X, ledger: DPMICScorer(ledger=ledger, **NOISELESS).partial_fit(X, Y, n_expected=N).publish(),
    "matrix": lambda X, ledger: PrivateCorrelation(epsilon=LARGE, ledger=ledger).fit(X),
    "graph": lambda X, ledger: PrivatePC(epsilon=LARGE, ledger=ledger).fit(X),
    "bounds": lambda X, ledger: private_bounds(X, epsilon=1, ledger=ledger),
    "reports": lambda X, ledger: RandomizedResponse(bounds=(0, 1), ledger=ledger).fit(X).transform(X),
    "search": search,
    "transform": lambda X, ledger: FITTED.transform(X),
}
REFUSED = "^Feature names are only supported if all input features have string names, or if they are the numbers of the"


@quiet
@pytest.mark.parametrize("way", WAYS)
def test_names_that_might_be_positions_are_refused_before_the_charge_and_the_remedy_works(way, ledger):
    n_labels = 1 if way == "search" else 3
    for labels in np.random.default_rng(len(way)).choice(list(AMBIGUOUS), n_labels, replace=False):
        table = frame(AMBIGUOUS[labels])
        with pytest.raises(TypeError, match=f"{REFUSED}.*by (X|frame).columns = (X|frame).columns.map"):
            WAYS[way](table, ledger)
        assert ledger.entries() == []
        table.columns = table.columns.map(str)
        if way != "transform":
            WAYS[way](table, None)


@pytest.mark.parametrize("labels", AMBIGUOUS)
def test_every_kind_of_names_that_might_be_positions_is_refused(labels):
    with pytest.raises(TypeError, match=REFUSED):
        WAYS["ranks"](frame(AMBIGUOUS[labels]), None)


@quiet
def test_a_search_refuses_unnamed_columns_that_a_step_would_refuse_before_the_charge(ledger):
    for labels, columns in (([1, 0, 2], [0, 1]), ([0, 1, 2], [0, 2])):
        with pytest.raises(TypeError, match=REFUSED):
            search(frame(labels), ledger, on_columns(columns))
    assert ledger.entries() == []
    search(frame([0, 1, 2]), ledger, on_columns([0, 1]))
    search(frame(["a", "b", "c"]), ledger, on_columns([0, 1]))


# --- Keys -------------------------------------------------------------------------------------------------------------

NAMED, NUMBERED = frame(["a", "b", "c"]), X


def by_key(key, table, names):
    """Calls of every parameter that takes column keys, with `key` for the second column."""
    first, _, last = names
    of_two = dict.fromkeys((first, last), (0, 1))
    text = table.copy() if isinstance(table, pandas.DataFrame) else table.astype(object)
    if isinstance(text, pandas.DataFrame):
        text.isetitem(1, ["x", "y"] * (N // 2))
    else:
        text[:, 1] = ["x", "y"] * (N // 2)
    public = {"epsilon": math.inf, "target_bounds": (0, 1)}
    of_text = {"bounds": of_two, "categories": {key: ["x", "y"]}}
    yield lambda: DPMICScorer(bounds=of_two | {key: (0, 1)}, **public).fit(table, Y)
    yield lambda: DPMICScorer(**of_text, **public).fit(text, Y)
    yield lambda: DPMICScorer(**of_text, **public).partial_fit(text, Y)
    yield lambda: PrivateSelectKBest(1, keep=[key], bounds=(0, 1), **public).fit(table, Y)
    yield lambda: RandomizedResponse(**of_text).fit(text)
    yield lambda: private_bounds(text, epsilon=9, categories={key: ["x", "y"]}, random_state=0)
    yield lambda: PrivatePC(epsilon=math.inf).fit(table).markov_blanket(key)
    yield lambda: PrivatePC(epsilon=math.inf).fit(table).p_value(first, key)


@quiet
@pytest.mark.parametrize("table, names, keys", [(NAMED, "abc", ["b"]), (NUMBERED, range(3), [1, np.int64(1)])])
def test_a_column_is_found_by_its_name_or_in_an_array_by_its_number(table, names, keys):
    for key in keys:
        for call in by_key(key, table, names):
            call()


@quiet
@pytest.mark.parametrize(
    "table, names, keys",
    [
        (NAMED, "abc", [1, np.int64(1), True, 1.0, "1", ("b",), None]),
        (NUMBERED, range(3), ["b", "1", True, np.True_, 1.0, 3, -1]),
        (frame(["1", "0", "2"]), "102", [1, 0, np.int64(2)]),
    ],
)
def test_no_column_is_found_by_another_key(table, names, keys):
    for key in keys:
        for call in by_key(key, table, names):
            with pytest.raises((ValueError, TypeError)):
                call()


def test_columns_selected_from_a_table_without_names_get_names_that_are_not_numbers():
    table = frame([0, 1, 2])
    table[2] = ["x", "y"] * (N // 2)
    public = {"bounds": {0: (0, 1), 1: (0, 1)}, "categories": {2: ["x", "y"]}, "target_bounds": (0, 1)}
    selector = DPMICSelector(2, epsilon=math.inf, **public).fit(table, Y)
    chosen = selector.transform(table)
    assert list(chosen.columns) == selector.get_feature_names_out().tolist()
    assert selector.inverse_transform(chosen).shape == table.shape


# --- Names that almost match ------------------------------------------------------------------------------------------


@each(
    "written, meant",
    [
        ("Age", "age"),
        (" age ", "age"),
        ("\ufeffage", "age"),
        ("a\u200bge", "age"),
        ("income (USD)", "income(usd)"),
        ("Gro\u0308ße", "Größe"),
        ("diabetis", "diabetes"),
    ],
)
def test_a_name_that_almost_matches_is_suggested_and_invisible_characters_are_shown(written, meant):
    table = pandas.DataFrame({meant: [0.0, 1.0] * 4, "height": [1.0, 2.0] * 4})
    suggestion = f"Did you mean {meant!r} for {written!r}?"
    ranges = {written: (0, 1), "height": (1, 2)}
    for public in ({"bounds": ranges}, {"bounds": {meant: (0, 1)} | ranges, "keep": [written]}):
        with pytest.raises(ValueError, match=re.escape(suggestion)):
            PrivateSelectKBest(1, classes=[0, 1], **public).fit(table, [0, 1] * 4)
    codebook = Codebook({written: (0, 1), "height": (1, 2)})
    with pytest.raises(ValueError, match=re.escape(suggestion)):
        codebook.records(table)
    with pytest.raises(ValueError, match=r"the codebook must describe column .* Did you mean"):
        codebook.target(meant)
