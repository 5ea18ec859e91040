"""No error quotes a data value, and neither do its causes."""

import math
import traceback

import numpy as np
import pandas
import pytest
from scipy import sparse

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    characteristic_matrix,
    mic_cross,
    mic_e,
    mic_pairs,
    mic_r,
    private_score,
)
from skdpmic._utils.errors import public_messages, without_data
from skdpmic.counting import RangeGridSketch
from tests.folding import each

N = 20
SECRET = "8675309"
BYTES = SECRET.encode() + b"\xff"
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
LABELS = {"bounds": (0, 1), "classes": ["a", "b"]}
BOTH = {"bounds": ((0, 1), (0, 1))}


class Talkative:
    """An object of an unknown library whose errors quote everything."""

    def __init__(self, kind):
        self.kind = kind

    def __float__(self):
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise self.kind(f"cannot convert {SECRET}") from error


class TalkativeArray:
    """A table of that library."""

    def __init__(self, kind):
        self.kind = kind

    def __array__(self, dtype=None, copy=None):
        raise self.kind(f"Input X contains NaN of {SECRET}")


def column_of(value, like=0.5):
    column = np.array([like] * N, dtype=object)
    column[3] = value
    return column


BAD_VALUES = {
    "text": column_of(f"patient {SECRET}"),
    "mixed bytes": column_of(BYTES, like="a"),
    "bytes": column_of(BYTES),
    "fixed bytes": np.array([BYTES] * N),
    "surrogates": column_of(SECRET + "\udc80"),
    "a list": column_of([SECRET]),
    "a dict": column_of({"id": SECRET}),
    "a complex": column_of(complex(8675309, 1)),
    "complex": np.full(N, 8675309 + 1j),
    "a large int": column_of(8675309 * 10**400),
    "an object": column_of(Talkative(ValueError)),
    "an object of another error": column_of(Talkative(ArithmeticError)),
    "an object of a type error": column_of(Talkative(TypeError)),
    "an object of a runtime error": column_of(Talkative(RuntimeError)),
    "infinity": column_of(math.inf, like=8675309.0).astype(float),
    "nested": [[SECRET]] * (N - 1) + [SECRET],
    "mixed list": ["a", BYTES] * (N // 2),
}


def as_table(column):
    column = column if isinstance(column, np.ndarray) else np.array(column, dtype=object)
    return np.c_[column, column]


# Missing values are allowed in features, but not in a target or in a pair of columns.
MISSING = {
    "missing": column_of(math.nan, like=8675309.0).astype(float),
    "pandas.NA": column_of(pandas.NA, like=8675309.0),
}
BAD_TABLES = {name: as_table(column) for name, column in BAD_VALUES.items() if name not in ("nested", "mixed list")} | {
    "mixed list": [["a", BYTES]] * N,
    "ragged": [[0.5, SECRET]] * (N - 1) + [[SECRET]],
    "one column": np.full(N, 8675309.0),
    "a number": 8675309.0,
    "text alone": SECRET,
    "three dimensions": np.full((N, 2, 2), 8675309.0),
    "sparse": sparse.csr_matrix(np.full((N, 2), 8675309.0 + 1j)),
    "a talkative array": TalkativeArray(ValueError),
    "a talkative array of another error": TalkativeArray(RuntimeError),
    "few rows": np.full((3, 2), 8675309.0),
}
X = np.random.default_rng(0).random((N, 2))
Y = X[:, 0]
A_OR_B = np.array(["a", "b"] * (N // 2))


def whole_chain(error):
    """The error with all its causes."""
    errors, seen = [error], []
    while errors:
        error = errors.pop()
        if error is not None and error not in seen:
            seen.append(error)
            errors += [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
    return seen


def assert_nothing_is_quoted(call, *arguments):
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*arguments)
    for error in whole_chain(caught.value):
        texts = [str(error), repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "__notes__", None))]
        texts += traceback.format_exception_only(error)
        assert not any("8675" in text or "0xff" in text or "udc80" in text for text in texts), type(error)
    assert type(caught.value) in (ValueError, TypeError)  # no type that keeps the object, as UnicodeError does


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return BudgetLedger(tmp_path_factory.mktemp("ledger") / "ledger", epsilon=1.0)


@pytest.fixture(autouse=True)
def nothing_is_charged(ledger):
    yield
    assert ledger.spent() == (0.0, 0.0)


TABLE_READERS = {
    "fit": lambda X, y, **kwargs: DPMICScorer(**PUBLIC, **kwargs).fit(X, y),
    "fit of a selector": lambda X, y, **kwargs: DPMICSelector(k=1, **PUBLIC, **kwargs).fit(X, y),
    "fit of labels": lambda X, y, **kwargs: DPMICScorer(**LABELS, **kwargs).fit(X, A_OR_B if y is Y else y),
    "partial_fit": lambda X, y, **kwargs: DPMICScorer(**PUBLIC, **kwargs).partial_fit(X, y).publish(),
    "update": lambda X, y, **kwargs: DPMICScorer(**PUBLIC, **kwargs).fit_sketch(
        RangeGridSketch(B=9, n_features=2, **PUBLIC).update(X, y)
    ),
}
PAIR_READERS = {
    "mic_r": lambda x, y, ledger: mic_r(x, y, **BOTH),
    "mic_e": lambda x, y, ledger: mic_e(x, y),
    "characteristic_matrix": lambda x, y, ledger: characteristic_matrix(x, y),
    "private mic_r": lambda x, y, ledger: private_score(x, y, epsilon=1, ledger=ledger, **BOTH),
    "private mic_r, geometric": lambda x, y, ledger: private_score(
        x, y, mechanism="geometric", epsilon=1, ledger=ledger, **BOTH
    ),
    "private mic_e": lambda x, y, ledger: private_score(x, y, statistic="mic_e", epsilon=1, ledger=ledger),
    "private mtv_r": lambda x, y, ledger: private_score(x, y, statistic="mtv_r", epsilon=1, ledger=ledger, **BOTH),
    "private kendall": lambda x, y, ledger: private_score(x, y, statistic="kendall", epsilon=1, ledger=ledger),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("read", TABLE_READERS.values(), ids=TABLE_READERS)
@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES)
@pytest.mark.combinations
def test_no_error_of_a_table_quotes_it(read, table, ledger):
    assert_nothing_is_quoted(lambda: read(table, Y, ledger=ledger))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("read", TABLE_READERS.values(), ids=TABLE_READERS)
@pytest.mark.parametrize("values", (BAD_VALUES | MISSING).values(), ids=BAD_VALUES | MISSING)
@pytest.mark.combinations
def test_no_error_of_a_target_quotes_it(read, values, ledger):
    assert_nothing_is_quoted(lambda: read(X, values, ledger=ledger))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("column", BAD_VALUES.values(), ids=BAD_VALUES)
def test_no_error_of_a_dataframe_quotes_it(column, ledger):
    frame = pandas.DataFrame({"a": Y, "b": pandas.Series(list(column), dtype=object)})
    assert_nothing_is_quoted(lambda: DPMICScorer(ledger=ledger, **PUBLIC).fit(frame, Y))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("read", PAIR_READERS.values(), ids=PAIR_READERS)
@pytest.mark.parametrize("values", (BAD_VALUES | MISSING).values(), ids=BAD_VALUES | MISSING)
@pytest.mark.combinations
def test_no_error_of_a_pair_quotes_it(read, values, ledger):
    assert_nothing_is_quoted(lambda: read(values, Y, ledger))
    assert_nothing_is_quoted(lambda: read(Y, values, ledger))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(BAD_TABLES.keys() - {"few rows"}))
def test_no_error_of_pairs_of_columns_quotes_them(name):
    for call in (lambda table: mic_pairs(table), lambda table: mic_cross(table, X), lambda table: mic_cross(X, table)):
        assert_nothing_is_quoted(call, BAD_TABLES[name])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(BAD_TABLES.keys() - {"few rows"}))
def test_no_error_of_transform_quotes_a_table(name):
    assert_nothing_is_quoted(DPMICScorer(**PUBLIC).fit(X, Y).transform, BAD_TABLES[name])


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("values", ["text", "mixed bytes", "an object", "a large int"])
def test_no_error_of_dask_quotes_a_partition(values, scheduler, ledger):
    dask = pytest.importorskip("dask")
    table = pytest.importorskip("dask.array").from_array(BAD_TABLES[values], chunks=(10, 2))
    with dask.config.set(scheduler=scheduler):
        y = dask.array.from_array(Y, chunks=10)
        assert_nothing_is_quoted(lambda: DPMICScorer(ledger=ledger, **PUBLIC).fit(table, y))


# --- What errors do say -----------------------------------------------------------------------------------------------


def test_errors_still_say_what_is_wrong():
    for name, message in {
        "text": "could not convert string to float. Numbers with ',' between thousands",
        "mixed list": "could not convert string to float.",
        "a large int": "int too large to convert to float",
        "ragged": "X must have rows of equal length, got rows of different lengths.",
        "one column": "Expected 2D array, got 1D array instead. Reshape your data",
        "few rows": "Found array with 3 sample(s) (shape=(3, 2)) while a minimum of 4 is required by DPMICScorer.",
        "three dimensions": "Found array with dim 3",
        "sparse": "Complex data not supported",
    }.items():
        with pytest.raises((ValueError, TypeError)) as caught:
            DPMICScorer(**PUBLIC).fit(BAD_TABLES[name], Y)
        assert message in str(caught.value), name


def test_feature_names_that_do_not_match_are_listed():
    frame = pandas.DataFrame(X, columns=["a", "b"])
    scorer = DPMICScorer(**PUBLIC).fit(frame, Y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time:\n- z\n"):
        scorer.transform(frame.rename(columns={"b": "z"}))


def fails(error):
    def function(*arguments, **options):
        raise error

    return function


def test_a_sanitised_error_has_no_cause():
    with pytest.raises(ValueError) as caught:
        without_data(fails(UnicodeDecodeError("ascii", BYTES, 7, 8, "ordinal not in range")))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_memory_error_is_passed_on():
    with pytest.raises(MemoryError, match="Unable"):
        without_data(fails(MemoryError("Unable to allocate")))


@each(
    "message, kept",
    [
        (f"Found array with dim 3 of patient {SECRET}", []),
        (f"X has 5 features, but {SECRET} said so", []),
        (f"X has 5 features, but Ridge is expecting 4 features as input {SECRET}", True),
        (f"Input X contains NaN of patient {SECRET}", ["Input X contains NaN"]),
        (f"Sparse data was passed by patient {SECRET}", []),
        (f"The feature names should match {SECRET}", []),
        (f"The feature names should match those that were passed during fit.\nunseen: {SECRET}", True),
        (f"Found input variables with inconsistent numbers of samples: {SECRET} of mine", []),
        (f"Unknown label type: {SECRET}", []),
        (f"patient {SECRET}: y must hold only labels that are in classes", True),
        (SECRET, []),
    ],
)
def test_only_known_parts_of_an_unknown_message_are_passed_on(message, kept):
    words = public_messages(ValueError(message))
    assert SECRET not in " ".join(words)
    assert bool(words) if kept is True else words == kept


@each(
    "message",
    [
        "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required by Ridge",
        "Found array with dim 3, while dim <= 2 is required by Ridge",
        "Found input variables with inconsistent numbers of samples: [20, 19]",
        "Input X contains infinity or a value too large for dtype('float64')",
        "X has 2 features, but Ridge is expecting 3 features as input",
        "y should be a 1d array, got an array of shape (20, 2) instead",
    ],
)
def test_messages_of_scikit_learn_are_passed_on_whole(message):
    assert public_messages(ValueError(message + ".\nmore")) == [message]
