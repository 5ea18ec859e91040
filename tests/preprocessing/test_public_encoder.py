"""Public facts alone turn columns into numbers in [0, 1], record by record, whichever library holds them."""

import datetime
import itertools
import math

import numpy as np
import pandas
import polars
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from skdpmic import PrivateSelectKBest, PublicEncoder
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow")

DAY = datetime.timedelta(days=1)
BOUNDS = {
    "age": (0, 120),
    "income": (-10, 1e6, "log"),
    "since": (0, 1, 5, 50),
    "born": (datetime.datetime(1930, 1, 1), datetime.datetime(2010, 1, 1)),
    "stay": (0 * DAY, 90 * DAY),
}
CATEGORIES = {"town": ["Rome", "Bari", "Pisa"], "site": [2, 1.5]}
PUBLIC = {"bounds": BOUNDS, "categories": CATEGORIES}
SETTINGS = list(itertools.product(("one-hot", "ordinal"), (True, False)))

# Values of a column, besides missing ones: inside the public range, at its ends, and outside.
POOLS = {
    "age": [0.0, 120.0, -3.0, 500.0, 1e308, 33.3, 47.0, 80.25],
    "income": [-10.0, -11.0, 0.0, 1e6, 2e6, 0.5, 1500.0, 123456.0],
    "since": [0.0, 1.0, 5.0, 50.0, -1.0, 60.0, 0.25, 3.0, 49.0],
    "born": [datetime.datetime(year, 3, 4, 5) for year in (1900, 1931, 1987, 2009, 2020)] + [*BOUNDS["born"]],
    "stay": [days * DAY / 2 for days in (-3, 0, 1, 7, 180, 400)],
    "town": ["Rome", "Bari", "Pisa", "Oslo", "rome", ""],
    "site": [1.5, 2.0, 7.0],
    "smoker": [True, False],
}
TYPES = {  # of pandas, polars and pyarrow
    **dict.fromkeys(("age", "income", "since", "site"), ("float64", polars.Float64, pyarrow.float64())),
    "born": ("datetime64[us]", polars.Datetime("us"), pyarrow.timestamp("us")),
    "stay": ("timedelta64[us]", polars.Duration("us"), pyarrow.duration("us")),
    "town": (object, polars.String, pyarrow.string()),
    "smoker": ("boolean", polars.Boolean, pyarrow.bool_()),
}
NAMES = list(POOLS)
LIBRARIES = {
    "pandas": lambda rows: pandas.DataFrame(
        {name: pandas.Series(values, dtype=TYPES[name][0]) for name, values in columns_of(rows).items()}
    ),
    "polars": lambda rows: polars.DataFrame(
        columns_of(rows), schema={name: of[1] for name, of in TYPES.items()}
    ).select(NAMES),
    "pyarrow": lambda rows: pyarrow.table(
        {name: pyarrow.array(values, TYPES[name][2]) for name, values in columns_of(rows).items()}
    ),
}


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in NAMES}


def random_rows(n, missing=0.2, n_values=None, seed=0):
    """Rows of random values from the pools, or from the first `n_values` of each."""
    rng = np.random.default_rng(seed)
    pools = {name: pool[:n_values] for name, pool in POOLS.items()}
    return [
        {name: None if rng.random() < missing else pool[rng.integers(len(pool))] for name, pool in pools.items()}
        for _ in range(n)
    ]


TABLES = {
    "random": random_rows(200),
    "tied": random_rows(100, n_values=2),
    "constant": random_rows(20, missing=0, n_values=1),
    "tiny": random_rows(1, missing=0.5),
    "all missing": random_rows(5, missing=1),
}


def arrays(encoded):
    """A dataframe of any library as a dict of arrays."""
    if isinstance(encoded, pyarrow.Table):
        return {name: encoded[name].to_numpy() for name in encoded.column_names}
    return {name: encoded[name].to_numpy() for name in encoded.columns}


def stacked(encoded):
    return np.column_stack([*arrays(encoded).values()])


def encoder(**more):
    return PublicEncoder(**PUBLIC, **more)


# --- The reference: record by record, in plain Python ----------------------------------------------------------


def fraction_of_range(value, entry):
    lower, upper = entry[0], entry[-1]
    if entry[-1] == "log":
        value, lower, upper = (math.copysign(math.log1p(abs(x)), x) for x in (value, *entry[:2]))
    elif len(entry) > 2:
        value, lower, upper = knots_below(value, entry), 0, len(entry) - 1
    if value <= lower:
        return 0.0
    return 1.0 if value >= upper else (value - lower) / (upper - lower)


def knots_below(value, knots):
    if value <= knots[0]:
        return 0
    for place, (left, right) in enumerate(itertools.pairwise(knots)):
        if value < right:
            return place + (value - left) / (right - left)
    return len(knots) - 1


def encoded_number(value, name, entry, add_indicator):
    if value is None:
        return {name: 0.0 if add_indicator else 0.5}
    return {name: fraction_of_range(value, entry)}


def encoded_label(value, name, labels, encoding, add_indicator):
    is_known = value in labels
    if encoding == "one-hot":
        encoded = {f"{name}_{label}": float(value == label) for label in labels}
    elif value is None:
        encoded = {name: 0.0 if add_indicator else 0.5}
    else:
        encoded = {name: labels.index(value) / (len(labels) - 1) if is_known else 0.0}
    return encoded | {f"{name}_other": float(value is not None and not is_known)}


def twin(row, encoding, add_indicator):
    """The expected output for a record, by name."""
    encoded = {}
    for name, value in row.items():
        if name in BOUNDS:
            encoded |= encoded_number(value, name, BOUNDS[name], add_indicator)
        else:
            labels = [0, 1] if name == "smoker" else CATEGORIES[name]
            encoded |= encoded_label(value, name, labels, encoding, add_indicator)
        if add_indicator:
            encoded[f"{name}_missing"] = float(value is None)
    return encoded


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("table", TABLES)
def test_every_record_equals_its_slow_twin(table, library):
    frame = LIBRARIES[library](TABLES[table])
    for encoding, add_indicator in SETTINGS:
        transformer = encoder(encoding=encoding, add_indicator=add_indicator)
        encoded = transformer.fit_transform(frame)
        expected = [twin(row, encoding, add_indicator) for row in TABLES[table]]
        assert type(encoded) is type(frame)
        assert [*arrays(encoded)] == [*expected[0]] == transformer.get_feature_names_out().tolist()
        assert all(column.dtype == np.float64 for column in arrays(encoded).values())
        np.testing.assert_allclose(stacked(encoded), [[*row.values()] for row in expected], rtol=1e-12, atol=1e-12)


# --- All libraries, and records one at a time -------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_record_is_encoded_the_same_way_alone_and_among_others(library):
    rows, make = TABLES["random"][:40], LIBRARIES[library]
    for encoding, add_indicator in SETTINGS:
        transformer = encoder(encoding=encoding, add_indicator=add_indicator).fit(make(rows))
        alone = np.vstack([stacked(transformer.transform(make([row]))) for row in rows])
        assert np.array_equal(stacked(transformer.transform(make(rows))), alone)


# --- What is public about the output ----------------------------------------------------------------------------------


@each("encoding, add_indicator", SETTINGS)
def test_no_row_exceeds_the_norm_and_no_column_the_bounds_and_some_attain_them(encoding, add_indicator):
    ends = {name: max(BOUNDS[name][1:2]) for name in ("age", "income", "born", "stay")}
    ends |= {"since": 50.0, "town": "Pisa", "site": 1.5, "smoker": True}
    every = [dict.fromkeys(NAMES, None), ends]
    every += [{name: pool[place % len(pool)] for name, pool in POOLS.items()} for place in range(12)]
    frame = LIBRARIES["pandas"](every + TABLES["random"])
    transformer = encoder(encoding=encoding, add_indicator=add_indicator).fit(frame)
    encoded, (lower, upper) = stacked(transformer.transform(frame)), transformer.bounds_
    assert lower.shape == upper.shape == transformer.get_feature_names_out().shape
    assert (lower == 0).all()
    assert (upper == 1).all()
    assert (encoded.min(axis=0) == lower).all()
    is_possible = transformer.get_feature_names_out() != "smoker_other"
    assert (encoded.max(axis=0)[is_possible] == upper[is_possible]).all()
    assert transformer.data_norm_ == math.sqrt(len(NAMES))
    assert np.linalg.norm(encoded, axis=1).max() == transformer.data_norm_


# --- Nothing is learnt ------------------------------------------------------------------------------------------------


@each(
    "parameters, message",
    [
        ({"bounds": "auto"}, "bounds must be .lower, upper., "),
        ({"categories": "auto"}, "categories must be a dict by name of a feature"),
        ({"bounds": {"age": "auto"}}, "bounds of feature 'age' must be"),
        ({"categories": {"age": "auto"}}, "categories of feature 'age' must be a list"),
        ({"bounds": {0: (0, 1)}}, r"the keys of bounds must be column names, got \[0\]"),
        ({"bounds": ([0, 0], [1, 1])}, "bounds must be .lower, upper., "),
        ({"bounds": {"age": (1, 0)}}, "bounds of feature 'age' must be finite with lower < upper"),
        ({"bounds": {"weight": (0, 1)}}, r"got none for \['age'\]"),
        ({"bounds": None, "categories": None}, "got none for"),
        ({"categories": {"age": ["a", "b"]}}, r"in bounds or in categories, got both for \['age'\]"),
        ({"categories": ["a", "b"]}, "categories must be a dict"),
        ({"encoding": "hash"}, r"encoding must be one of \['one-hot', 'ordinal'\], got 'hash'"),
        ({"add_indicator": "yes"}, "add_indicator must be a bool, got 'yes'"),
    ],
)
def test_parameters_that_are_not_public_or_not_valid_are_refused(parameters, message):
    transformer = PublicEncoder(**{"bounds": {"age": (0, 1)}, "categories": {"town": ["Bari", "Rome"]}} | parameters)
    with pytest.raises(ValueError, match=message):
        transformer.fit(pandas.DataFrame({"age": [1.0], "town": ["Bari"]}))
    assert not hasattr(transformer, "feature_names_in_")


# --- What is refused --------------------------------------------------------------------------------------------------


@each("X", [np.zeros((3, 2)), [[1, 2]], np.ma.ones((2, 2)), pandas.Series([1.0]), polars.Series([1]), None])
def test_arrays_are_refused_with_a_line_of_code_that_helps(X):
    line = r"X must be a dataframe with column names.* got an array: call .*selector.set_output\(transform='pandas'\)"
    with pytest.raises(ValueError, match=line):
        PublicEncoder(bounds=(0, 1)).fit(X)
    with pytest.raises(ValueError, match=line):
        PublicEncoder(bounds=(0, 1)).fit(pandas.DataFrame({"a": [1.0], "b": [2.0]})).transform(X)


OURS = "(not a label)"


@each(
    "frame, categories, names",
    [
        ({"town": ["a"]}, {"town": ["a", "other"]}, ["town_a", "town_other", f"town_other {OURS}", "town_missing"]),
        ({"town": ["a"]}, {"town": ["missing", "a"]}, ["town_missing", "town_a", "town_other", f"town_missing {OURS}"]),
        (
            {"town": ["a"], "town_a": [1.0]},
            {"town": ["a", "b"]},
            ["town_a", "town_b", "town_other", "town_missing", "town_a (2)", "town_a_missing"],
        ),
        (
            {"age": [1.0], "age_missing": [1.0]},
            None,
            ["age", f"age_missing {OURS}", "age_missing", "age_missing_missing"],
        ),
    ],
)
def test_output_columns_have_different_names_whatever_the_labels_are(frame, categories, names):
    encoder = PublicEncoder(bounds=(0, 1), categories=categories).fit(pandas.DataFrame(frame))
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(pandas.DataFrame(frame)).columns.tolist() == names


def test_transform_needs_fit_and_its_columns():
    frame = LIBRARIES["pandas"](TABLES["tied"])
    for use in (lambda: encoder().transform(frame), encoder().get_feature_names_out):
        with pytest.raises(NotFittedError):
            use()
    fitted = encoder().fit(frame)
    for other in (frame[NAMES[::-1]], frame[NAMES[1:]], frame.rename(columns={"age": "Age"})):
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.transform(other)
    assert fitted.get_feature_names_out(NAMES).tolist() == fitted.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="input_features"):
        fitted.get_feature_names_out(NAMES[::-1])


WRONG = {
    "text for numbers": {"age": ["Secretville", "1"]},
    "text among numbers": {"age": np.array(["Secretville", 1], dtype=object)},
    "infinity": {"age": [math.inf, 31337.25]},
    "numbers for text": {"town": [31337.25, 1.0]},
    "numbers among text": {"town": np.array([31337.25, "Rome"], dtype=object)},
    "numbers for dates": {"born": [31337.25, 1.0]},
    "text for labels that are numbers": {"site": ["Secretville", "1"]},
}


@each("wrong", WRONG)
def test_errors_quote_no_value(wrong):
    ((name, values),) = WRONG[wrong].items()
    frame = pandas.DataFrame({name: values})
    with pytest.raises((ValueError, TypeError), match=name) as caught:
        encoder().fit(frame).transform(frame)
    assert not any(secret in repr(caught.value) for secret in ("Secretville", "31337"))
    assert caught.value.__context__ is None


def test_a_fit_that_fails_leaves_the_encoder_as_it_was():
    frame = LIBRARIES["pandas"](TABLES["tied"])
    fitted = encoder().fit(frame)
    before = fitted.transform(frame)
    with pytest.raises(ValueError, match="got none for"):
        fitted.fit(frame.assign(weight=1.0))
    assert fitted.transform(frame).equals(before)


# --- With other steps ------------------------------------------------------------------------------------------------

N = 2000


def people():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"age": rng.uniform(0, 120, N), "since": rng.uniform(0, 50, N)})
    frame["town"], frame["smoker"] = rng.choice(["Rome", "Bari", "Oslo", None], N), rng.random(N) < 0.3
    return frame, np.where(frame["town"] == "Rome", frame["age"] > 40, frame["age"] > 80)


def selector(k, names=("age", "since")):
    bounds = {name: BOUNDS[name] for name in names}
    categories = {"town": CATEGORIES["town"]} if len(names) == 2 else None
    return PrivateSelectKBest(k, epsilon=10.0, bounds=bounds, categories=categories, classes=[False, True])


def test_the_encoder_follows_the_columns_that_a_selector_chose():
    X, y = people()
    for k in (1, 2, 3):
        model = make_pipeline(selector(k).set_output(transform="pandas"), encoder(), LogisticRegression()).fit(X, y)
        chosen = model[0].get_feature_names_out().tolist()
        assert model[1].feature_names_in_.tolist() == chosen
        assert len(chosen) == k
        assert model[:-1].get_feature_names_out().tolist() == model[1].get_feature_names_out().tolist()
    assert model.score(X, y) > 0.7
    assert set(model[0].get_feature_names_out()) >= {"age", "town"}


@each(
    "check",
    [
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_set_params,
        estimator_checks.check_mixin_order,
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
    ],
)
def test_the_encoder_passes_the_checks_of_scikit_learn_for_dataframes_and_parameters(check):
    check("PublicEncoder", PublicEncoder(bounds=(-10, 10)))
