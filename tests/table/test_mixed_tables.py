"""A realistic table of people: eight kinds of column in one dataframe, passed to everything that reads tables."""

import datetime
import math

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveRegressor,
    PrivateSelectKBest,
)
from tests.folding import each
from tests.table.arrow_columns import Stream
from tests.table.arrow_columns import pa as pyarrow
from tests.tables import refused

N = 600
TOWNS = list("abcdefghij")
BOUNDS = {
    "age": (0, 120),
    "income": (0, 1e8, "log"),
    "visits": (0, 1, 2, 4, 8, 20),
    "born": (datetime.date(1930, 1, 1), datetime.date(2010, 1, 1)),
    "stay": (datetime.timedelta(0), datetime.timedelta(days=100)),
}
CATEGORIES = {"sex": ["f", "m"], "town": TOWNS}
PUBLIC = {"bounds": BOUNDS, "categories": CATEGORIES, "target_bounds": (0, 3)}
NAMES = ["age", "sex", "town", "income", "born", "stay", "smoker", "visits"]


def people(n=N):
    """A pandas dataframe and a target; every column except `smoker` has missing values."""
    rng = np.random.default_rng(0)
    age, sex, town = rng.uniform(18, 90, n), rng.choice(["f", "m"], n), rng.choice([*TOWNS, "elsewhere"], n)
    income, smoker = np.exp(rng.normal(10, 2, n)), rng.random(n) < 0.3
    y = age / 90 + (sex == "f") * 0.6 + (town < "d") * 0.5 + smoker * 0.4 + rng.normal(0, 0.2, n)
    frame = pandas.DataFrame(
        {
            "age": age,
            "sex": sex.astype(object),
            "town": pandas.Categorical(town),
            "income": income,
            "born": pandas.Timestamp("1940-01-01") + pandas.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "stay": pandas.to_timedelta(rng.exponential(5, n), unit="D"),
            "smoker": smoker,
            "visits": pandas.array(rng.poisson(3, n), dtype="Int64"),
        }
    )
    for name in frame.columns.drop("smoker"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame, y


FRAME, Y = people()
FRAMES = {
    "pandas": FRAME,
    "arrow in pandas": FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "polars": polars.from_pandas(FRAME),
    "pyarrow": pyarrow.Table.from_pandas(FRAME, preserve_index=False),
    "stream": Stream(pyarrow.Table.from_pandas(FRAME, preserve_index=False)),
}


def exact(**parameters):
    """A noise-free scorer; MTVr gets public target shares, because a sketch would learn others than `fit`."""
    known = {"target_shares": (0.6, 0.4)} if parameters.get("statistic") == "mtv_r" else {}
    return DPMICScorer(epsilon=math.inf, **PUBLIC | known | parameters)


def by_hand():
    """The columns as floats and codes, computed with pandas: what the package should read."""
    seconds = pandas.Timedelta("1s")
    codes = {}
    for name, labels in CATEGORIES.items():
        column = FRAME[name].astype(object)
        known = column.map({label: float(code) for code, label in enumerate(labels)})
        codes[name] = known.where(known.notna() | column.isna(), len(labels))
    return np.column_stack(
        [
            FRAME["age"],
            codes["sex"],
            codes["town"],
            np.log1p(FRAME["income"]),
            (FRAME["born"] - pandas.Timestamp("1930-01-01")) / seconds,
            FRAME["stay"] / seconds,
            FRAME["smoker"],
            np.interp(FRAME["visits"].astype(float), [0, 1, 2, 4, 8, 20], range(6)),
        ]
    )


def bounds_by_hand():
    days = (datetime.date(2010, 1, 1) - datetime.date(1930, 1, 1)).days
    return {0: (0, 120), 3: (0, math.log1p(1e8)), 4: (0, 86_400 * days), 5: (0, 8_640_000), 7: (0, 5)}


CATEGORIES_BY_HAND = {1: [0, 1], 2: range(10), 6: [0, 1]}


@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r", "kendall"])
def test_every_kind_of_column_gets_the_score_of_its_numbers(statistic):
    bounds = {"bounds": None, "target_bounds": None} if statistic == "kendall" else {}
    by_number = {"bounds": bounds_by_hand(), "categories": CATEGORIES_BY_HAND} | bounds
    expected = exact(statistic=statistic, **by_number).fit(by_hand(), Y).scores_
    assert {0, 1, 2, 6} == set(np.argsort(-expected)[:4])
    for library, frame in FRAMES.items():
        scorer = exact(statistic=statistic, **bounds).fit(frame, Y)
        assert scorer.feature_names_in_.tolist() == NAMES
        assert scorer.scores_.tolist() == expected.tolist(), library


# --- Selection --------------------------------------------------------------------------------------------------------


def selector(**parameters):
    return DPMICSelector(**{"k": 4, "epsilon": math.inf} | PUBLIC | parameters)


# --- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_label_of_another_type_is_refused_before_the_charge(library, ledger):
    scorer = DPMICScorer(ledger=ledger, **PUBLIC | {"categories": {"sex": [0, 1], "town": TOWNS}})
    for fit in (scorer.fit, scorer.partial_fit):
        with refused(ValueError, r"text in \['sex'\], which must be numbers|'sex' of X must hold numbers", ledger):
            fit(FRAMES[library], Y)


def test_labels_found_by_pandas_are_not_public():
    for ordered in (False, True):
        frame = FRAME.assign(town=FRAME["town"].cat.set_categories(TOWNS, ordered=ordered))
        with pytest.raises(ValueError, match=r"got none for \['town'\]"):
            exact(categories={"sex": ["f", "m"]}).fit(frame, Y)


# --- Arrays -----------------------------------------------------------------------------------------------------------


SPARSE = [
    f"{form}_{kind}" for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil") for kind in ("array", "matrix")
]


@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
@each("kind", SPARSE)
def test_sparse_matrices_are_scored_as_dense_ones(kind, statistic):
    rng, kind = np.random.default_rng(0), getattr(sparse, kind)
    dense = np.where(rng.random((N, 5)) < 0.2, rng.integers(1, 4, (N, 5)), 0).astype(float)
    dense[rng.random((N, 5)) < 0.05] = np.nan
    public = {"statistic": statistic, "bounds": {0: (0, 3), 1: (0, 3, "log"), 2: (0, 1, 3)}}
    public["categories"] = {3: [0, 1, 2, 3], 4: [0, 2]}
    y = np.nan_to_num(dense[:, 0]) + rng.random(N)
    expected = exact(**public).fit(dense, y).scores_.tolist()
    scorer = exact(**public).fit(kind(dense), y)
    assert scorer.scores_.tolist() == expected
    np.testing.assert_array_equal(scorer.transform(kind(dense)).toarray(), dense * np.array(expected))
    pieces = exact(**public).partial_fit(kind(dense[:100]), y[:100], n_expected=N)
    assert pieces.partial_fit(kind(dense[100:]), y[100:]).publish().scores_.tolist() == expected
    fitted = selector(**public).fit(kind(dense), y)
    np.testing.assert_array_equal(fitted.transform(kind(dense)).toarray(), dense[:, fitted.get_support()])


def one_column(kind, values, places):
    """A sparse column with all these entries, of which several may have one place."""
    if kind is sparse.csc_array:
        return kind((values, places, [0, len(places)]), shape=(N, 1))
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(N + 1))
    return kind((values[order], np.zeros(len(places), dtype=int), ends), shape=(N, 1))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_duplicate_entries_of_a_sparse_matrix_add_up(kind):
    """SciPy defines it so for matrices that are not in canonical format."""
    parts = np.arange(N) % 3 == 0, np.arange(N) % 4 == 0, np.arange(N) % 5 == 0
    places = np.concatenate([np.flatnonzero(part) for part in parts])
    matrix = one_column(kind, np.ones(len(places)), places)
    dense, scorer = sum(part.astype(float) for part in parts)[:, None], exact(bounds=(0, 3), categories=None)
    assert not matrix.has_canonical_format
    assert (matrix.toarray() == dense).all()
    several = dense[:, 0] > 1.0
    assert scorer.fit(matrix, several).scores_.tolist() == scorer.fit(dense, several).scores_.tolist()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@each("domain", [(0, 1), (0, 1, "log"), (0, 1, 2)])
def test_an_overflow_of_duplicate_entries_is_refused_before_the_charge(kind, domain, tmp_path_factory):
    ledger = BudgetLedger(tmp_path_factory.mktemp("ledger") / "ledger.db", 9.0)
    entries = one_column(kind, np.array([0.5] * N + [1e308] * 2), np.array([*range(N), 7, 7]))
    estimators = [
        DPMICScorer(bounds={0: domain}, target_bounds=(0, 3), ledger=ledger),
        PrivateSelectKBest(1, bounds={0: domain}, target_bounds=(0, 3), ledger=ledger),
        PrivateAdditiveRegressor(bounds={0: domain}, target_bounds=(0, 3), ledger=ledger),
    ]
    for estimator in estimators:
        with pytest.raises(ValueError, match="Input X contains infinity"):
            estimator.fit(entries, Y)
    assert not entries.has_canonical_format  # it is not changed
    assert ledger.entries() == []


# --- LazyFrames -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r", "kendall"])
@pytest.mark.parametrize("target", ["array", "lazy"])
def test_a_lazy_frame_is_scored_in_batches(statistic, target, monkeypatch):
    monkeypatch.setattr("skdpmic.counting.streams._ROWS", 100)
    lazy = FRAMES["polars"].lazy().with_columns(pay=polars.col("income") / 2)
    y = polars.LazyFrame({"y": Y}) if target == "lazy" else Y
    public = {"statistic": statistic, "bounds": BOUNDS | {"pay": (0, 1e8)}}
    expected = exact(**public).fit(lazy.collect(), Y)
    scorer = exact(**public).fit(lazy, y if statistic != "kendall" else Y)
    assert scorer.scores_.tolist() == expected.scores_.tolist()
    assert scorer.feature_names_in_.tolist() == [*NAMES, "pay"]
    assert scorer.B_ == expected.B_ if statistic != "kendall" else not hasattr(scorer, "B_")
