"""What a codebook states about columns, and what estimators take from it: only described columns are used."""

import datetime
import math
import warnings

import numpy as np
import pandas
import polars
import pytest

from skdpmic import Codebook, DPMICScorer
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


def test_a_pattern_describes_the_matching_columns_of_a_frame_and_requires_none():
    codebook = Codebook({"bp_*": (0, 300), "none_*": (0, 1), "dead": [0, 1]})
    frame = pandas.DataFrame({"bp_a": [1.0], "dead": [1], "bp_b": [2.0]})
    assert codebook.records(frame, "dead")["X"].columns.tolist() == ["bp_a", "bp_b"]
    assert codebook.target("dead", frame)["bounds"] == {"bp_a": (0, 300), "bp_b": (0, 300)}
    for ask in (codebook.features, lambda: codebook.target("dead")):
        with pytest.raises(ValueError, match="features must be names or a dataframe"):
            ask()


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


# --- Copies -----------------------------------------------------------------------------------------------------------

FULL = Codebook(COLUMNS | {"bp_*": (0, 300)}, groups=["person", "house"], max_rows_per_group=3, title="Patients")


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
