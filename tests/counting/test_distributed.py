"""Counting on dask workers publishes the same as counting in memory, and moves only sketches."""

from functools import partial

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.counting import RangeGridSketch
from tests.select_names import SelectNames

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")

N, D = 600, 4
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def table():
    X = np.random.default_rng(0).random((N, D))
    return X, (2 * X[:, 2] - 1) ** 2


def published(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items() if name.endswith("_")}


# --- Any engine ---------------------------------------------------------------------------------------------------


# --- Dask, in this process ------------------------------------------------------------------------------------------


def collections(X, y):
    """The table as dask collections of several kinds."""
    array, frame = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    rows = frame.from_pandas(pandas.DataFrame(np.c_[X, y], columns=[*"abcd", "y"]), npartitions=11)
    no_rows = rows.query("a > 5")
    empty = frame.concat([no_rows, rows, no_rows], interleave_partitions=False)
    return {
        "array": (array.from_array(X, chunks=(70, 3)), array.from_array(y, chunks=200)),
        "one chunk": (array.from_array(X, chunks=-1), array.from_array(y, chunks=-1)),
        "frame": (rows[list("abcd")], rows["y"]),
        "frame, one column": (rows[list("abcd")], rows[["y"]]),
        "unknown lengths": (rows[list("abcd")].to_dask_array(), rows["y"].to_dask_array()),
        "few partitions": (rows[list("abcd")].repartition(npartitions=3), rows["y"].repartition(npartitions=3)),
        "empty partitions": (empty[list("abcd")], empty["y"]),
    }


WAYS = ["array", "one chunk", "frame", "unknown lengths", "empty partitions"]


@pytest.mark.few
@seeded
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "make",
    [
        partial(DPMICScorer, **PUBLIC),
        partial(SelectNames, k=2, **PUBLIC),
        partial(DPMICScorer, mechanism="geometric", B=16, c=2, **PUBLIC),
    ],
)
@pytest.mark.combinations
def test_fitting_a_collection_is_the_same_as_fitting_its_rows(way, make):
    X, y = collections(*table())[way]
    fitted = make(random_state=0).fit(X, y)
    expected = make(random_state=0).fit(*table())
    if "frame" in way or way == "empty partitions":
        assert fitted.feature_names_in_.tolist() == list("abcd")
        del fitted.feature_names_in_
    assert published(fitted) == published(expected)


def test_collections_that_do_not_match_are_refused():
    every = collections(*table())
    scorer = DPMICScorer(B=20, **PUBLIC)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[600, 599\]"):
        scorer.fit(every["array"][0], every["one chunk"][1][:-1])
    with pytest.raises(ValueError, match="same partitions, got 11 and 3"):
        scorer.fit(every["frame"][0], every["few partitions"][1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        scorer.fit(every["unknown lengths"][0], every["frame"][1].shift(1).dropna())
    with pytest.raises(TypeError, match="y must be a dask collection if X is one, got ndarray"):
        scorer.fit(every["array"][0], table()[1])
    with pytest.raises(ValueError, match="y is None"):
        scorer.fit(every["array"][0], None)
    with pytest.raises(ValueError, match=r"3 sample\(s\) while a minimum of 4 is required"):
        DPMICScorer(**PUBLIC).fit(every["array"][0][:3], every["array"][1][:3])
    for use in (scorer.partial_fit, RangeGridSketch(B=20, n_features=D, **PUBLIC).update):
        with pytest.raises(TypeError, match="X must be in memory to be counted in chunks"):
            use(*every["array"])
    with pytest.raises(ValueError, match="X must be 2-dimensional, got a dask collection of 1"):
        scorer.fit(every["array"][1], every["array"][1])
    assert not hasattr(scorer, "n_features_in_")


def test_errors_on_workers_quote_the_classes_but_not_an_unknown_label():
    array, X = pytest.importorskip("dask.array"), table()[0]
    y = np.where(np.arange(N) % 2, "ill", "well").astype(object)
    y[3] = "patient 8675309"
    scorer = DPMICScorer(B=20, bounds=(0, 1), classes=["well", "ill"])
    with pytest.raises(
        ValueError, match=r"that are in classes, \['ill', 'well'\], got at least one other label\.$"
    ) as caught:
        scorer.fit(array.from_array(X, chunks=(200, D)), array.from_array(y, chunks=200))
    assert "8675309" not in str(caught.value)


# --- Dask, on a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
