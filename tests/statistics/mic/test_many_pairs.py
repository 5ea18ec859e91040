"""Many pairs have the scores of single pairs, and keep the names of the columns."""

from itertools import combinations

import numpy as np
import pytest

from skdpmic import mic_cross, mic_e, mic_pairs, mic_r

LO, HI = np.array([-3.0, -2.0, -1.0, -4.0]), np.array([3.0, 2.0, 1.0, 4.0])


def _table(n=40, n_columns=4):
    X = np.random.default_rng(0).normal(size=(n, n_columns))
    X[:, 1] = np.round(X[:, 0])
    return X


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_many_pairs_have_the_scores_of_single_pairs(n_jobs):
    X, Y, sizes = _table(), _table()[:, :2] ** 2, {"B": 12, "c": 2}
    pairs, ends = list(combinations(range(4), 2)), list(zip(LO, HI, strict=True))
    expected = [mic_e(X[:, i], X[:, j], **sizes) for i, j in pairs]
    np.testing.assert_array_equal(mic_pairs(X, **sizes, n_jobs=n_jobs), expected)
    expected = [mic_r(X[:, i], X[:, j], bounds=(ends[i], ends[j]), **sizes) for i, j in pairs]
    scores = mic_pairs(X, statistic="mic_r", bounds=(LO, HI), **sizes, n_jobs=n_jobs)
    np.testing.assert_array_equal(scores, expected)
    expected = [[mic_e(x, y, **sizes) for y in Y.T] for x in X.T]
    np.testing.assert_array_equal(mic_cross(X, Y, **sizes, n_jobs=n_jobs), expected)
    sizes["master"] = "full"
    expected = [[mic_r(x, y, bounds=(of_x, (0, 5)), **sizes) for y in Y.T] for x, of_x in zip(X.T, ends, strict=True)]
    scores = mic_cross(X, Y, statistic="mic_r", bounds=((LO, HI), (0, 5)), **sizes, n_jobs=n_jobs)
    np.testing.assert_array_equal(scores, expected)


def test_each_statistic_has_its_own_default_of_c():
    X = _table()[:, [0, 2]]
    assert mic_pairs(X)[0] == mic_e(*X.T)
    assert mic_pairs(X, statistic="mic_r", bounds=(-3, 3))[0] == mic_r(*X.T, bounds=((-3, 3), (-3, 3)))


def test_pandas_names_are_kept():
    pandas = pytest.importorskip("pandas")
    X = _table()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(b=X[:, 1].astype(int))
    pairs = mic_pairs(frame, B=8, c=1)
    assert pairs.name == "mic_e"
    assert list(pairs.index) == list(combinations("abcd", 2))
    np.testing.assert_array_equal(pairs, mic_pairs(X, B=8, c=1))
    cross = mic_cross(frame[["d", "a"]], frame[["b"]], B=8, c=1)
    assert list(cross.index) == ["d", "a"]
    assert list(cross.columns) == ["b"]
    assert cross.loc["a", "b"] == pairs["a", "b"]
    assert list(mic_cross(frame, X[:, :2], B=8, c=1).columns) == [0, 1]


def test_polars_frames_give_arrays():
    X = _table()
    frame = pytest.importorskip("polars").DataFrame(X, schema=["a", "b", "c", "d"])
    scores = mic_pairs(frame, B=8, c=1)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_array_equal(scores, mic_pairs(X, B=8, c=1))


def test_one_column_has_no_pairs():
    assert mic_pairs(np.arange(5.0).reshape(-1, 1)).shape == (0,)
    pandas = pytest.importorskip("pandas")
    assert mic_pairs(pandas.DataFrame({"a": [1.0, 2.0]})).empty
