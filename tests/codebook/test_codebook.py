"""What a codebook states about columns, and what estimators take from it: only described columns are used."""

import copy
import datetime
import math
import pickle
import warnings

import numpy as np
import pandas
import polars
import pytest

from skdpmic import Codebook, DPMICScorer, DPMICSelector, PrivateSelectKBest, PublicEncoder, private_bounds
from tests.codebook.entries import DAY, DAYS, ENTRIES, LATER, WRONG
from tests.counting.tables import relation
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow")

# --- Entries ----------------------------------------------------------------------------------------------------------


@each("given, entry", ENTRIES)
def test_every_form_of_an_entry_is_understood(given, entry):
    (found,) = Codebook({"x": given}).columns.values()
    assert found == entry
    plain = (int, float, str, bool, datetime.date, datetime.timedelta)
    assert all(
        type(value) in plain or type(value) is datetime.datetime
        for value in (*(found.bounds or ()), *(found.labels or ()))
    )
    assert found.kind == entry.kind
    assert found.is_used == (entry.kind not in ("identifier", "text"))


@each("entry, message", WRONG)
def test_a_wrong_entry_is_refused_and_its_column_is_named(entry, message):
    with pytest.raises(ValueError, match=message) as caught:
        Codebook({"x": entry})
    assert "column 'x'" in str(caught.value)


@each(
    "given, message",
    [
        ({"columns": {}}, "columns must have an entry"),
        ({"columns": ["a"]}, "columns must be a dict"),
        ({"columns": {1: (0, 1)}}, "columns must be a dict"),
        ({"title": 5}, "title must be None or a str"),
        ({"groups": 5}, "groups must be"),
        ({"groups": [5]}, "groups must be"),
        ({"groups": {"person": 1}}, "groups must be"),
        ({"groups": ["person", "person"]}, "groups must be"),
        ({"max_rows_per_group": 0, "groups": "person"}, "max_rows_per_group must be"),
        ({"max_rows_per_group": 3}, "max_rows_per_group must be None without groups"),
    ],
)
def test_wrong_facts_about_the_table_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Codebook(**({"columns": {"x": (0, 1)}} | given))


# --- Patterns ---------------------------------------------------------------------------------------------------------

PATTERNS = Codebook(
    {"bp_?": (0, 1), "bp_*": (0, 2), "*": (0, 3), "bp_mean": (0, 4), "a[bc]*": (0, 5), "BP_*": "identifier"}
)


@each(
    "name, upper",
    [
        ("bp_1", 1),
        ("bp_?", 1),
        ("bp_", 2),
        ("bp_12", 2),
        ("bp_mean", 4),  # an exact name, although earlier patterns match
        ("xbp_1", 3),
        ("a[bc]", 3),  # the first pattern that matches
        ("b p\n.", 3),
    ],
)
def test_an_exact_name_takes_precedence_over_patterns_and_the_first_pattern_over_others(name, upper):
    assert PATTERNS.features([name])["bounds"] == {name: (0, upper)}


def test_brackets_in_a_pattern_are_literal():
    codebook = Codebook({"a[bc]*": (0, 1), "[!x]?": (0, 1), "d[": (0, 1)})
    assert list(codebook.features(["a[bc]", "a[bc]d", "[!x]y", "d["])["bounds"]) == ["a[bc]", "a[bc]d", "[!x]y", "d["]
    for name in ("ab", "abd", "yz", "d"):
        with pytest.raises(ValueError, match=f"must describe column '{name}'"):
            codebook.features([name])


def test_a_pattern_describes_the_matching_columns_of_a_frame_and_requires_none():
    codebook = Codebook({"bp_*": (0, 300), "none_*": (0, 1), "dead": [0, 1]})
    frame = pandas.DataFrame({"bp_a": [1.0], "dead": [1], "bp_b": [2.0]})
    assert codebook.records(frame, "dead")["X"].columns.tolist() == ["bp_a", "bp_b"]
    assert codebook.target("dead", frame)["bounds"] == {"bp_a": (0, 300), "bp_b": (0, 300)}
    for ask in (codebook.features, lambda: codebook.target("dead")):
        with pytest.raises(ValueError, match="features must be names or a dataframe"):
            ask()


def test_names_that_are_not_strings_are_refused():
    frame = pandas.DataFrame({"a": [1.0], 0: [2.0]})
    with pytest.raises(TypeError, match=r"but frame has \['a', 0\], which might mean names or positions"):
        Codebook({"a*": (0, 1)}).records(frame)


# --- For estimators ---------------------------------------------------------------------------------------------------

COLUMNS = {
    "name": "identifier",
    "age": (0, 110),
    "income": (0, 1e6, "log"),
    "bmi": (10, 20, 25, 30, 60),
    "born": (DAY, LATER),
    "stay": (0 * DAYS, 90 * DAYS),
    "ward": ["births", "heart", "surgery"],
    "site": [2, 1],
    "smoker": "boolean",
    "note": "text",
    "cost": {"range": [0, 1000], "unit": "EUR", "description": "all of it"},
    "dead": [0, 1],
}
BOUNDS = {name: COLUMNS[name] for name in ("age", "income", "bmi", "born", "stay")} | {"cost": (0, 1000)}
CATEGORIES = {"ward": COLUMNS["ward"], "site": [2, 1], "smoker": [0, 1], "dead": [0, 1]}
CODEBOOK = Codebook(COLUMNS)
USED = [name for name in COLUMNS if name not in ("name", "note")]
N = 400


def without(entries, *names):
    return {name: entry for name, entry in entries.items() if name not in names}


def test_a_codebook_gives_estimators_what_is_public():
    assert CODEBOOK.features() == {"bounds": BOUNDS, "categories": CATEGORIES}
    assert CODEBOOK.features(target="age") == {"bounds": without(BOUNDS, "age"), "categories": CATEGORIES}
    assert CODEBOOK.features(["ward", "age"]) == {"bounds": {"age": (0, 110)}, "categories": {"ward": COLUMNS["ward"]}}
    assert CODEBOOK.target("cost") == {
        "bounds": without(BOUNDS, "cost"),
        "categories": CATEGORIES,
        "target_bounds": (0, 1000),
    }
    assert CODEBOOK.target("smoker", ["age"]) == {
        "bounds": {"age": (0, 110)},
        "categories": {},
        "classes": [0, 1],
    }


def mixed_frame():
    """A column of each kind and one without an entry; most depend on age."""
    rng = np.random.default_rng(0)
    age = rng.integers(0, 110, N)
    return pandas.DataFrame(
        {
            "dead": (age + rng.normal(0, 10, N) > 60).astype(int),
            "name": [f"n{i}" for i in range(N)],
            "person": np.arange(N) // 2,
            "age": age,
            "income": rng.lognormal(10, 2, N),
            "bmi": rng.normal(25, 5, N),
            "born": pandas.Timestamp(DAY) + pandas.to_timedelta(age, unit="D"),
            "stay": pandas.to_timedelta(rng.integers(0, 100, N), unit="D"),
            "ward": rng.choice(["births", "heart", "other"], N),
            "site": rng.integers(1, 3, N),
            "smoker": rng.random(N) < 0.5,
            "note": "?",
            "cost": 9.0 * age + rng.normal(0, 10, N),
        }
    )


FRAME = mixed_frame()
ARROW = pyarrow.Table.from_pandas(FRAME, preserve_index=False)
LIBRARIES = {
    "pandas": lambda: FRAME,
    "polars": lambda: polars.from_arrow(ARROW),
    "LazyFrame": lambda: polars.from_arrow(ARROW).lazy(),
    "pyarrow": lambda: ARROW,
    "DuckDB": lambda: relation("from t", t=ARROW),
}


def quietly(function, *arguments, **others):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*arguments, **others)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_of_any_library_has_the_same_scores_as_with_parameters_written_out(library):
    unknown = ["cost"] if library != "DuckDB" else ["cost", "stay"]  # DuckDB has no durations
    codebook = Codebook(without(COLUMNS, *unknown) | {"cost": COLUMNS["cost"]})
    features = [name for name in FRAME if name in without(dict.fromkeys(USED), *unknown)]
    written = {"bounds": without(BOUNDS, *unknown), "categories": CATEGORIES, "target_bounds": (0, 1000)}
    expected = DPMICScorer(epsilon=math.inf, **written).fit(FRAME[features], FRAME["cost"])
    records = quietly(codebook.records, LIBRARIES[library](), "cost")
    assert records.keys() == {"X", "y"}
    scorer = DPMICScorer(epsilon=math.inf, **codebook.target("cost")).fit(**records)
    assert scorer.feature_names_in_.tolist() == features  # in the order of the table
    assert scorer.scores_.tolist() == expected.scores_.tolist()
    assert scorer.scores_[features.index("age")] > 0.9


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_selector_and_the_encoder_accept_what_a_codebook_gives(library):
    codebook = Codebook(without(COLUMNS, "stay"))
    records = quietly(codebook.records, LIBRARIES[library](), "dead")
    selector = PrivateSelectKBest(1, epsilon=1000, **codebook.target("dead")).fit(**records)
    assert selector.get_feature_names_out()[0] in ("age", "born", "cost")
    encoder = PublicEncoder(**codebook.features(target="dead")).fit(records["X"])
    assert {"age", "ward_heart", "site_2", "smoker_1", "born_missing"} < set(encoder.get_feature_names_out())


def test_the_schema_of_a_frame_gives_its_columns_and_no_value_is_read():
    frame = relation("select error('read') as x, 1 as age, 2 as dead, 'a' as other from range(3)")
    lazy = polars.LazyFrame({"age": [1]}).map_batches(lambda _: 1 / 0, schema={"age": polars.Int64})
    for of in (frame, lazy):
        assert CODEBOOK.target("dead", of) == {"bounds": {"age": (0, 110)}, "categories": {}, "classes": [0, 1]}


def test_one_kind_of_column_is_enough():
    numbers = Codebook({"a": (0, 1), "b": (0, 2), "y": (0, 1)})
    labels = Codebook({"a": ["x", "z"], "b": "boolean", "y": ["x", "z"]})
    frame = pandas.DataFrame({"a": np.linspace(0, 1, 40), "b": np.arange(40) % 2, "y": np.linspace(0, 1, 40)})
    of_labels = pandas.DataFrame({"a": ["x", "z"] * 20, "b": [True, False] * 20, "y": ["x", "z"] * 20})
    for codebook, table in ((numbers, frame), (labels, of_labels)):
        selector = DPMICSelector(1, epsilon=math.inf, **codebook.target("y"))
        assert selector.fit(**codebook.records(table, "y")).get_feature_names_out().tolist() == ["a"]


def test_learnt_knots_complete_a_codebook():
    X = quietly(CODEBOOK.records, FRAME, features=["income", "born"])["X"]
    learnt = private_bounds(X, epsilon=math.inf)
    completed = Codebook(CODEBOOK.columns | {name: tuple(knots) for name, knots in learnt.items()})
    assert [completed.columns[name].kind for name in learnt] == ["number", "date"]
    assert completed.columns["income"].bounds == tuple(learnt["income"])
    selector = PrivateSelectKBest(1, epsilon=1000, **completed.target("cost"))
    assert selector.fit(**quietly(completed.records, FRAME, "cost")).get_feature_names_out().tolist() in (
        ["age"],
        ["born"],
    )


# --- Columns that are never used --------------------------------------------------------------------------------------


@each("name, what", [("name", "type 'identifier'"), ("note", "type 'text'"), ("person", "one of groups")])
def test_a_column_that_must_not_be_used_is_refused_by_name_and_otherwise_skipped(name, what):
    codebook = Codebook(COLUMNS | {"person": (0, 1000)}, groups="person")
    message = f"column '{name}' must be of a type that is used, got {what}"
    for ask in (
        lambda: codebook.features(["age", name]),
        lambda: codebook.target(name),
        lambda: codebook.target("dead", ["age", name]),
        lambda: codebook.records(FRAME, name),
        lambda: codebook.records(FRAME, "dead", ["age", name]),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    public, X = codebook.features(FRAME), codebook.records(FRAME)["X"]
    assert list(X) == [column for column in FRAME if column in USED]
    assert name not in public["bounds"] | public["categories"] | codebook.features()["bounds"]


def test_a_column_without_an_entry_cannot_be_requested():
    for ask in (CODEBOOK.target, lambda name: CODEBOOK.features([name])):
        with pytest.raises(ValueError, match="the codebook must describe column 'person', got no entry"):
            ask("person")
    for ask in (CODEBOOK.features, lambda features: CODEBOOK.records(FRAME, features=features)):
        with pytest.raises(ValueError, match="features must be a list of names or a dataframe, got 'age'"):
            ask("age")


@each("codebook, target", [(Codebook({"note": "text"}), None), (Codebook({"note": "text", "age": (0, 110)}), "age")])
def test_a_frame_without_a_feature_is_refused(codebook, target):
    with pytest.raises(ValueError, match="frame must have a feature that the codebook describes, of a type that is"):
        quietly(codebook.records, FRAME, target)


def test_a_table_that_is_not_in_memory_is_refused():
    remote = pytest.importorskip("dask.dataframe").from_pandas(FRAME, npartitions=2)
    with pytest.raises(TypeError, match="frame must be in memory, got a dask collection"):
        CODEBOOK.records(remote)


@each("names", [("ward", "age"), np.array(["ward", "age"]), pandas.Index(["ward", "age"]), {"ward": 1, "age": 2}])
def test_names_may_be_in_any_iterable(names):
    assert quietly(CODEBOOK.records, FRAME, features=names)["X"].columns.tolist() == ["ward", "age"]
    assert quietly(CODEBOOK.records, FRAME, features=iter(names))["X"].columns.tolist() == ["ward", "age"]
    assert CODEBOOK.features(iter(names)) == CODEBOOK.features(["ward", "age"])


def test_columns_without_an_entry_are_ignored_and_each_is_listed_once_per_codebook():
    codebook = Codebook(COLUMNS)
    more = FRAME.assign(further=1)
    with pytest.warns(UserWarning, match=r"does not describe are ignored: \['person'\]\.") as caught:
        X = codebook.records(FRAME, "dead")["X"]
    assert caught[0].filename == __file__
    assert "person" not in X
    with pytest.warns(UserWarning, match=r"ignored: \['further'\]\."):
        codebook.records(more, "dead", ["age"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codebook.records(more, "dead")
    with pytest.warns(UserWarning, match=r"ignored: \['person', 'further'\]\."):
        Codebook(COLUMNS).records(more)


def test_a_described_column_that_a_frame_lacks_is_named():
    frame = FRAME.drop(columns=["note", "age"])  # "note" would never be used
    with pytest.raises(ValueError, match=r"must have all columns of the codebook, got none named \['age'\]"):
        CODEBOOK.records(frame, "dead")
    with pytest.raises(ValueError, match=r"got none named \['age'\]"):
        CODEBOOK.records(frame, "dead", ["age", "income"])
    with pytest.raises(ValueError, match=r"got none named \['death'\]"):
        CODEBOOK.records(frame, "death", ["income"])
    with pytest.raises(ValueError, match=r"got none named \['patient'\]"):
        Codebook(COLUMNS, groups="patient").records(FRAME, "dead", ["income"])
    assert list(quietly(CODEBOOK.records, frame, "dead", ["income"])["X"]) == ["income"]


# --- People -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
def test_several_columns_together_identify_the_person_behind_each_row(library):
    pair = pandas.DataFrame(
        {"house": [1, 1, 2, 2, 1, 3], "member": list("ababab"), "x": np.arange(6.0), "y": np.arange(6.0)}
    )
    arrow_pair = pyarrow.Table.from_pandas(pair, preserve_index=False)
    table = {
        "pandas": lambda: pair,
        "polars": lambda: polars.from_arrow(arrow_pair),
        "LazyFrame": lambda: polars.from_arrow(arrow_pair).lazy(),
        "pyarrow": lambda: arrow_pair,
        "DuckDB": lambda: relation("from t", t=arrow_pair),
    }[library]()
    codebook = Codebook({"x": (0, 5), "y": (0, 5)}, groups=["house", "member"], max_rows_per_group=2)
    records = codebook.records(table, "y")
    assert records["groups"] == [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (1, "a"), (3, "b")]
    public = codebook.target("y")
    assert public["max_rows_per_group"] == 2
    assert DPMICScorer(epsilon=math.inf, **public).fit(**records).n_groups_ == 5


def test_one_column_identifies_the_person_behind_each_row_and_one_row_counts_by_default():
    codebook = Codebook(COLUMNS, groups="person")
    public = codebook.target("cost")
    assert public["max_rows_per_group"] == codebook.max_rows_per_group == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such a column needs no entry
        records = codebook.records(FRAME, "cost")
    assert records["groups"].tolist() == FRAME["person"].tolist()
    scorer = DPMICScorer(epsilon=math.inf, **public).fit(**records)
    assert scorer.n_groups_ == N / 2
    assert "person" not in scorer.feature_names_in_
    assert "max_rows_per_group" not in CODEBOOK.target("cost")
    assert CODEBOOK.max_rows_per_group is None


@each(
    "values",
    [
        [1.0, math.nan, 2.0],
        ["a", None, "b"],
        pandas.array([1, None, 2], dtype="Int64"),
        pandas.array(["a", None, "b"], dtype="category"),
        pandas.to_datetime(["2020-01-01", None, "2020-01-02"]),
    ],
)
def test_missing_values_in_one_of_several_group_columns_are_refused(values):
    frame = pandas.DataFrame({"house": values, "member": [1.0, 1.0, 1.0], "x": [1.0, 2.0, 3.0]})
    codebook = Codebook({"x": (0, 5)}, groups=["member", "house"])
    for table in (frame, polars.DataFrame({"house": [math.nan, 1.0], "member": [1.0, 1.0], "x": [1.0, 2.0]})):
        with pytest.raises(ValueError, match=r"groups must identify .* got missing values in \['house'\]"):
            codebook.records(table)


# --- Display ----------------------------------------------------------------------------------------------------------


def test_a_repr_counts_columns_by_type():
    assert repr(CODEBOOK) == (
        "<Codebook with columns of type identifier (1), number (4), date (1), duration (1), labels (3), boolean (1), "
        "text (1)>"
    )


def test_a_notebook_shows_everything_and_runs_no_script():
    evil = "<script>alert(1)</script>"
    codebook = Codebook(
        {evil: {"range": [0, 1], "unit": evil, "description": evil}, "labels": [evil, "b"], "income": (0, 1e6, "log")}
        | {"bmi": (10, 20, 60), "smoker": "boolean", "name": "identifier", "born": (DAY, LATER)},
        groups=[evil, "house"],
        max_rows_per_group=1000,
        title=evil,
    )
    html = codebook._repr_html_()
    assert evil not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 6
    for text in ("1,000 rows", "0 to 1000000.0, on a log scale", "10 to 60, by 3 knots", "yes or no", "never used"):
        assert text in html
    assert "2020-01-01 to 2025-12-31" in html
    assert "and counts for 1 row<" in Codebook({"x": (0, 1)}, groups="a")._repr_html_()
    assert "A person" not in CODEBOOK._repr_html_()


# --- Copies -----------------------------------------------------------------------------------------------------------

FULL = Codebook(COLUMNS | {"bp_*": (0, 300)}, groups=["person", "house"], max_rows_per_group=3, title="Patients")


@each("copied", [copy.copy, copy.deepcopy, lambda codebook: pickle.loads(pickle.dumps(codebook))])
def test_a_copy_is_equal(copied):
    assert copied(FULL) == FULL
    assert copied(FULL) is not FULL
    assert copied(FULL).target("dead", ["age"]) == FULL.target("dead", ["age"])


def test_codebooks_are_equal_if_and_only_if_their_contents_are():
    same = {"columns": COLUMNS | {"bp_*": (0, 300)}, "groups": ("person", "house"), "max_rows_per_group": 3}
    assert Codebook(title="Patients", **same) == FULL
    assert FULL == Codebook(FULL.columns, groups=FULL.groups, max_rows_per_group=3, title="Patients")
    for other in (
        Codebook(title="Others", **same),
        Codebook(title="Patients", **(same | {"groups": "person"})),
        Codebook(title="Patients", **(same | {"max_rows_per_group": 2})),
        Codebook(title="Patients", **(same | {"columns": COLUMNS})),
        Codebook(title="Patients", **(same | {"columns": FULL.columns | {"age": (0, 120)}})),
        Codebook(title="Patients", **(same | {"columns": FULL.columns | {"cost": (0, 1000)}})),
        "Patients",
    ):
        assert other != FULL


def test_the_order_of_patterns_matters_and_that_of_names_does_not():
    patterns = {"a*": (0, 1), "*b": (0, 2)}
    assert Codebook(patterns) != Codebook(dict(reversed(patterns.items())))
    names = {"a": (0, 1), "b": (0, 2)}
    assert Codebook(names) == Codebook(dict(reversed(names.items())))


def test_a_codebook_is_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(FULL)
