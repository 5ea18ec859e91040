"""Selected columns return to their positions among zeros, with missing values, text and names unchanged."""

import math

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest, f_regression

from skdpmic import DPMICSelector, PrivateSelectKBest
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow")
N = 60
RNG = np.random.default_rng(0)
X = RNG.random((N, 5))
Y = X[:, 1] + X[:, 3]
KNOWN = {"k": 2, "epsilon": math.inf, "bounds": (0, 1), "target_bounds": (0, 2)}
SELECTORS = {
    "names": PrivateSelectKBest(**KNOWN),
    "scores": DPMICSelector(**KNOWN),
}
HOLES = np.where(RNG.random((N, 5)) < 0.2, np.nan, X)
EXPECTED = np.where([False, True, False, True, False], HOLES, 0.0)


@each("selector", SELECTORS)
def test_missing_values_stay_and_removed_features_are_zeros(selector):
    selector = SELECTORS[selector].fit(HOLES, Y)
    whole = selector.inverse_transform(selector.transform(HOLES))
    np.testing.assert_array_equal(whole, EXPECTED)
    np.testing.assert_array_equal(selector.inverse_transform(HOLES[:, [1, 3]].tolist()), EXPECTED)


@each("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_a_sparse_matrix_stays_sparse(kind):
    selector = DPMICSelector(**KNOWN).fit(HOLES, Y)
    whole = selector.inverse_transform(kind(HOLES[:, [1, 3]]))
    assert sparse.issparse(whole)
    assert whole.nnz == 2 * N
    np.testing.assert_array_equal(whole.toarray(), EXPECTED)


def test_the_result_is_that_of_scikit_learn_where_it_has_one():
    theirs = SelectKBest(f_regression, k=2).fit(X, Y)
    ours = DPMICSelector(**KNOWN).fit(X, Y)
    assert theirs.get_support().tolist() == ours.get_support().tolist()
    integers = np.arange(2 * N).reshape(N, 2)
    for given in (X[:, :2], integers, integers > 9, X[:, :2].astype(np.float32), integers.astype(str).astype(object)):
        expected = theirs.inverse_transform(given)
        whole = ours.inverse_transform(given)
        assert whole.dtype == expected.dtype
        np.testing.assert_array_equal(whole, expected)


# --- Mixed tables -----------------------------------------------------------------------------------------------------


MIXED = pandas.DataFrame(
    {
        "age": X[:, 0],
        "town": pandas.Categorical(np.where(X[:, 1] > 0.5, "a", "b")),
        "seen": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(np.arange(N), unit="D"),
        "sex": np.where(RNG.random(N) < 0.5, "f", "m"),
        "cost": HOLES[:, 1],
    },
    index=pandas.Index(range(7, 7 + N)),
)
PUBLIC = {
    "bounds": {"age": (0, 1), "seen": (pandas.Timestamp("2020-01-01"), pandas.Timestamp("2021-01-01")), "cost": (0, 1)},
    "categories": {"town": ["a", "b"], "sex": ["f", "m"]},
    "target_bounds": (0, 1),
}
FRAMES = {
    "pandas": MIXED,
    "polars": polars.from_pandas(MIXED),
    "pyarrow": pyarrow.Table.from_pandas(MIXED, preserve_index=False),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_mixed_dataframe_comes_back_with_the_names_of_fit(library):
    frame = FRAMES[library]
    selector = DPMICSelector(2, epsilon=math.inf, **PUBLIC).fit(frame, X[:, 1])
    assert selector.get_feature_names_out().tolist() == ["town", "cost"]
    chosen = selector.transform(frame)
    whole = selector.inverse_transform(chosen)
    assert type(whole) is type(frame)
    names = whole.column_names if library == "pyarrow" else list(whole.columns)
    assert names == list(MIXED.columns)
    if library == "pandas":
        pandas.testing.assert_frame_equal(whole[["town", "cost"]], chosen)
        assert (whole[["age", "seen", "sex"]] == 0).all(axis=None)
    else:
        kept = whole.select(["town", "cost"])
        assert kept.equals(chosen)
        assert all(
            set(whole[name].to_pylist() if library == "pyarrow" else whole[name]) == {0.0}
            for name in ("age", "seen", "sex")
        )
    assert selector.inverse_transform(chosen[:0]).shape == (0, 5)


# --- What is refused --------------------------------------------------------------------------------------------------


@each("given", [X, HOLES[:, :1], sparse.csr_array(X), FRAMES["pandas"], FRAMES["polars"], pandas.DataFrame(X)])
def test_a_wrong_number_of_columns_is_refused_with_the_message_of_scikit_learn(given):
    selector = DPMICSelector(2, epsilon=math.inf, **PUBLIC).fit(MIXED, X[:, 1])
    with pytest.raises(ValueError, match=r"^X has a different shape than during fitting\.$"):
        selector.inverse_transform(given)
