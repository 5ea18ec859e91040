"""No error leaks a secret in the data: not in its message, cause or context, nor in the frames of a library."""

import hashlib
import traceback
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

import skdpmic
from skdpmic import (
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    characteristic_matrix,
    dp_mic_classif,
    mic_cross,
    mic_e,
    mic_pairs,
    private_bounds,
    private_score,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch, count_stream
from skdpmic.table.domains import domain_of
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.two_party.sent import reports_of

PACKAGE = str(Path(skdpmic.__file__).parent)
SECRET = "8675309"
TEXT = f"patient {SECRET}"
N = 20
SHARES = np.linspace(0, 1, N)


def parts_of(error):
    """An error with all its causes and contexts."""
    seen, waiting = [], [error]
    while waiting:
        error = waiting.pop()
        if error is not None and error not in seen:
            seen.append(error)
            waiting += [error.__cause__, error.__context__]
    return seen


def frames_below_ours(error):
    """Frames of other libraries called by this package."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [frame.f_code.co_filename.startswith(PACKAGE) for frame in frames]
    first = ours.index(True) if True in ours else len(frames)
    return [frame for frame, is_ours in zip(frames[first:], ours[first:], strict=True) if not is_ours]


def assert_says_nothing(error):
    for part in parts_of(error):
        assert SECRET not in "".join(traceback.format_exception(part))
        assert SECRET not in repr((part.args, getattr(part, "__notes__", None)))
        for frame in frames_below_ours(part):
            assert SECRET not in repr(frame.f_locals), frame.f_code


def refuses(call, *data):
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*data)
    assert_says_nothing(caught.value)


def test_a_leak_is_detected_in_every_part_of_an_error():
    def library(value):
        return float(value)

    def quoted(value):
        raise ValueError(f"cannot read {value}")

    def noted(value):
        error = ValueError("no")
        error.add_note(value)
        raise error

    def chained(value):
        try:
            library(value)
        except ValueError:
            raise TypeError("no") from None

    for broken in (library, quoted, noted, chained):
        with pytest.raises((ValueError, TypeError)) as caught:
            broken(TEXT)
        with pytest.raises(AssertionError):
            assert_says_nothing(caught.value)


# --- What cannot be read ----------------------------------------------------------------------------------------------


def with_secret(secret=TEXT):
    return [*SHARES[1:].tolist(), secret]


def pyarrow_table(values):
    return pytest.importorskip("pyarrow").table({"a": values, "b": SHARES})


class FailingStream:
    """An Arrow stream whose source quotes a value in its error."""

    def __arrow_c_stream__(self, requested_schema=None):
        pyarrow = pytest.importorskip("pyarrow")
        schema = pyarrow.schema({"a": pyarrow.float64(), "b": pyarrow.float64()})

        def batches():
            yield pyarrow.record_batch({"a": SHARES, "b": SHARES})
            raise ValueError(f"cannot read {TEXT}")

        return pyarrow.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested_schema)


def failing_lazy_frame():
    text = polars.DataFrame({"a": list(map(str, with_secret())), "b": SHARES})
    return text.lazy().with_columns(polars.col("a").cast(polars.Float64))


def failing_dask():
    dask = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame({"a": list(map(str, with_secret())), "b": SHARES})
    meta = pandas.DataFrame({"a": [0.0], "b": [0.0]})
    return dask.from_pandas(frame, npartitions=2).map_partitions(lambda part: part.astype(float), meta=meta)


def dask_of_bytes():
    """dask converts them to text, and fails, before any task runs."""
    return dask_of_objects(b"\xff" + TEXT.encode())


def dask_of_objects(secret=TEXT):
    dask = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame({"a": pandas.Series(with_secret(secret), dtype=object), "b": SHARES})
    with pytest.MonkeyPatch.context():
        return dask.from_pandas(frame, npartitions=2)


class Talkative:
    """An object of an unknown library whose errors quote everything."""

    def __init__(self, kind):
        self.kind = kind

    def __float__(self):
        try:
            raise KeyError(TEXT)
        except KeyError as error:
            raise self.kind(f"Input X contains NaN of {TEXT}") from error


class TalkativeTable(Talkative):
    """A table of that library."""

    def __array__(self, dtype=None, copy=None):
        return self.__float__()


NUMBER = float(SECRET)
LARGE = int(SECRET) * 10**400
TABLES = {
    "list": lambda: [[value, 0.5] for value in with_secret()],
    "list of text": lambda: [[str(value), "0.5"] for value in with_secret()],
    "objects": lambda: np.array([[value, 0.5] for value in with_secret()], dtype=object),
    "text": lambda: np.array([[str(value), "0.5"] for value in with_secret()]),
    "pandas": lambda: pandas.DataFrame({"a": with_secret(), "b": SHARES}),
    "pandas text": lambda: pandas.DataFrame({"a": list(map(str, with_secret())), "b": SHARES}),
    "Categorical": lambda: pandas.DataFrame({"a": pandas.Categorical(map(str, with_secret())), "b": SHARES}),
    "polars": lambda: polars.DataFrame({"a": list(map(str, with_secret())), "b": SHARES}),
    "polars objects": lambda: polars.DataFrame({"a": polars.Series(with_secret(), dtype=polars.Object), "b": SHARES}),
    "lazy text": lambda: polars.DataFrame({"a": list(map(str, with_secret())), "b": SHARES}).lazy(),
    "lazy, failing": failing_lazy_frame,
    "arrow": lambda: pyarrow_table(list(map(str, with_secret()))),
    "stream, failing": FailingStream,
    "a date": lambda: [[value, 0.5] for value in with_secret(np.datetime64(f"{SECRET}-01-01"))],
    "a nested list": lambda: [[value, 0.5] for value in with_secret([TEXT])],
    "bytes": lambda: [[value, 0.5] for value in with_secret(TEXT.encode())],
    "surrogates": lambda: [[value, 0.5] for value in with_secret(f"{TEXT}\udc80")],
    "complex": lambda: np.full((N, 2), NUMBER + 1j),
    "sparse": lambda: sparse.csr_matrix(np.full((N, 2), NUMBER + 1j)),
    "a large int": lambda: np.array([[value, 0.5] for value in with_secret(LARGE)], dtype=object),
    "an object": lambda: np.array([[value, 0.5] for value in with_secret(Talkative(ArithmeticError))], dtype=object),
    "a table of objects": lambda: TalkativeTable(ValueError),
    "ragged": lambda: [[0.5, SECRET]] * (N - 1) + [[SECRET]],
    "three dimensions": lambda: np.full((N, 2, 2), NUMBER),
    "a number": lambda: NUMBER,
}
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 9, "c": 2}
NAMED = {"bounds": {"a": (0, 1), "b": (0, 1)}, "target_bounds": (0, 1)}
GROUPS = np.arange(N)


def public_of(X):
    return NAMED if hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__") else PUBLIC


def fitted(estimator):
    return estimator.fit(np.column_stack([SHARES, SHARES]), SHARES)


WAYS = {
    "fit": lambda X: DPMICScorer(**public_of(X)).fit(X, SHARES),
    "mtv_r": lambda X: DPMICSelector(k=1, statistic="mtv_r", **public_of(X)).fit(X, SHARES),
    "ranks": lambda X: DPMICScorer(statistic="kendall").fit(X, SHARES),
    "people": lambda X: DPMICScorer(**PUBLIC, max_rows_per_group=1).fit(X, SHARES, groups=GROUPS),
    "partial_fit": lambda X: DPMICScorer(**PUBLIC).partial_fit(X, SHARES),
    "sketch": lambda X: RangeGridSketch(n_features=2, **PUBLIC).update(X, SHARES),
    "matrix": lambda X: PrivateCorrelation().fit(X),
    "graph": lambda X: PrivatePC().fit(X),
    "model": lambda X: PrivateAdditiveRegressor(bounds=(0, 1), target_bounds=(0, 1)).fit(X, SHARES),
    "bounds": lambda X: private_bounds(X, epsilon=9),
    "reports": lambda X: RandomizedResponse(bounds=(0, 1)).fit(X),
    "pipeline": lambda X: make_pipeline(DPMICScorer(**PUBLIC)).fit(X, SHARES),
    "search": lambda X: PrivateGridSearch(DPMICSelector(k=1, **PUBLIC), {"k": [1, 2]}, epsilon=1).fit(X, SHARES),
    "transform": lambda X: fitted(DPMICScorer(**PUBLIC)).transform(X),
    "pairs": lambda X: mic_pairs(X),
    "other pairs": lambda X: mic_cross(np.column_stack([SHARES, SHARES]), X),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.combinations
def test_the_error_for_an_unreadable_table_quotes_nothing(way, table):
    refuses(WAYS[way], TABLES[table]())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("X", [failing_dask, dask_of_objects, dask_of_bytes], ids=["failing", "objects", "bytes"])
def test_the_error_for_an_unreadable_dask_collection_quotes_nothing(X):
    pytest.importorskip("dask.dataframe")
    import dask.array

    y = dask.array.from_array(SHARES, chunks=N // 2)
    refuses(lambda X: DPMICScorer(**NAMED).fit(X, y), X())  # rows are counted first, to choose B
    refuses(lambda X: DPMICScorer(**NAMED, B=9, c=2).fit(X, y), X())
    refuses(lambda X: DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), statistic="mtv_r").fit(X[["b"]], X["a"]), X())
    refuses(lambda X: DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), B=9, c=2).fit(X[["b"]], X["a"]), X())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", ["lazy, failing", "stream, failing"])
def test_the_error_for_a_stream_that_breaks_off_quotes_nothing(table):
    empty = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1)).empty_sketch(N, feature_names=["a"])
    refuses(lambda stream: count_stream(empty, stream, target="b"), TABLES[table]())
    # Fitted on other data with the same columns.
    selector = DPMICSelector(k=1, **NAMED).fit(pandas.DataFrame({"a": SHARES, "b": SHARES}), SHARES)
    refuses(selector.transform, TABLES[table]())


TARGETS = {
    "list": with_secret,
    "objects": lambda: np.array(with_secret(), dtype=object),
    "text": lambda: np.array(list(map(str, with_secret()))),
    "pandas": lambda: pandas.Series(with_secret()),
    "polars": lambda: polars.Series(list(map(str, with_secret()))),
    "lazy": lambda: failing_lazy_frame().select("a"),
    "stream of text": lambda: pyarrow_table(list(map(str, with_secret()))).select(["a"]).to_reader(),
    "stream, failing": FailingStream,
    "a date": lambda: with_secret(np.datetime64(f"{SECRET}-01-01")),
    "bytes": lambda: with_secret(TEXT.encode()),
    "a list in it": lambda: with_secret([TEXT]),
    "a dict in it": lambda: with_secret({"id": TEXT}),
    "complex": lambda: np.full(N, NUMBER + 1j),
    "infinity": lambda: [*[NUMBER] * (N - 1), np.inf],
    "a large int": lambda: with_secret(LARGE),
    "an object": lambda: with_secret(Talkative(RuntimeError)),
    "nested": lambda: [[SECRET]] * (N - 1) + [SECRET],
}
X = np.column_stack([SHARES, SHARES])
LAZY = polars.DataFrame({"a": SHARES, "b": SHARES}).lazy()
CLASSES = {"bounds": (0, 1), "classes": ["a", "b"]}
TARGET_WAYS = {
    "fit": lambda y: DPMICScorer(**PUBLIC).fit(X, y),
    "classes": lambda y: DPMICScorer(**CLASSES).fit(X, y),
    "function": lambda y: dp_mic_classif(X, y, epsilon=1, **CLASSES),
    "beside a LazyFrame": lambda y: DPMICScorer(**NAMED).fit(LAZY, y),
    "ranks": lambda y: DPMICScorer(statistic="kendall").fit(X, y),
    "sketch": lambda y: RangeGridSketch(n_features=2, **PUBLIC).update(X, y),
    "two parties": lambda y: TwoPartyScorer(target_bounds=(0, 1)).fit(reports_of(SHARES[:, None]), y),
    "bounds": lambda y: private_bounds(y, epsilon=9),
    "pair": lambda y: private_score(SHARES, y, bounds=((0, 1), (0, 1)), epsilon=1),
    "pair without noise": lambda y: mic_e(SHARES, y),
    "matrix of a pair": lambda y: characteristic_matrix(y, SHARES),
    "ranks of a pair": lambda y: private_score(y, SHARES, statistic="kendall", epsilon=1),
    "search": lambda y: PrivateGridSearch(DPMICSelector(k=1, **PUBLIC), {"k": [1, 2]}, epsilon=1).fit(X, y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("way", TARGET_WAYS)
@pytest.mark.combinations
def test_the_error_for_an_unreadable_column_quotes_nothing(way, target):
    refuses(TARGET_WAYS[way], TARGETS[target]())


@pytest.mark.parametrize("missing", [np.nan, pandas.NA])
@pytest.mark.parametrize("way", sorted(TARGET_WAYS.keys() - {"bounds"}))
@pytest.mark.combinations
def test_the_error_for_a_missing_target_quotes_nothing(way, missing):
    refuses(TARGET_WAYS[way], np.array([*[NUMBER] * (N - 1), missing], dtype=object))


class NotHashable:
    __hash__ = None

    def __repr__(self):
        return TEXT


class FailsToHash:
    def __hash__(self):
        raise ValueError(TEXT)


class FailsToCompare:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise KeyError(TEXT)


@pytest.mark.parametrize(
    "groups",
    [
        lambda: [*range(N - 1), [TEXT]],
        lambda: [NotHashable() for _ in range(N)],
        lambda: [*range(N - 1), FailsToHash()],
        lambda: [FailsToCompare() for _ in range(N)],
        lambda: np.array([*range(N - 1), {TEXT}], dtype=object),
        lambda: failing_lazy_frame().select("a"),
        FailingStream,
        lambda: TEXT,
    ],
    ids=["a list", "not hashable", "own words", "own comparison", "a set", "lazy", "stream", "text"],
)
def test_the_error_for_groups_that_cannot_be_compared_quotes_nothing(groups):
    refuses(lambda groups: DPMICScorer(**PUBLIC, max_rows_per_group=1).fit(X, SHARES, groups=groups), groups())


def test_the_error_for_a_damaged_sketch_quotes_nothing(tmp_path):
    # The check of a range quotes its ends: in a forged file they may be anything.
    with pytest.raises(ValueError, match=TEXT):
        domain_of((TEXT, 1), "bounds")
    content = (
        RangeGridSketch(n_features=3, **PUBLIC).to_bytes()[:-32].replace(b'["Range",0.0', f'["Range","{TEXT}"'.encode())
    )
    (tmp_path / "sketch").write_bytes(content + hashlib.sha256(content).digest())
    refuses(RangeGridSketch.load, tmp_path / "sketch")
