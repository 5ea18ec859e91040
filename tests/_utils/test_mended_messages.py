"""Messages say what to write instead and quote neither data nor a whole estimator."""

import warnings

import narwhals
import numpy as np
import pandas
import polars
import pytest

from skdpmic import PrivateSelectKBest
from tests.folding import each

RNG = np.random.default_rng(0)
X = pandas.DataFrame({"age": RNG.uniform(0, 90, 200), "wage": RNG.uniform(0, 10, 200)})
Y = (X["age"] > 50).astype(int).rename("old")
PUBLIC = {"bounds": {"age": (0, 90), "wage": (0, 10)}, "classes": [0, 1], "epsilon": 50}


@each(
    "y, classes",
    [
        (np.where(np.arange(200) == 3, None, "a"), ["a", "b"]),
        (pandas.Series(np.where(np.arange(200) == 3, None, "a"), dtype="string"), ["a", "b"]),
        (np.where(np.arange(200) == 3, np.nan, 1.0), [0, 1]),
        (pandas.array(Y.astype(bool).where(Y.index != 3), dtype="boolean"), [False, True]),
    ],
)
def test_the_error_for_a_missing_label_has_a_remedy_for_numbers_and_booleans_too(y, classes):
    with pytest.raises(ValueError, match="Input y contains NaN") as caught:
        PrivateSelectKBest(1, **PUBLIC | {"classes": classes}).fit(X, y)
    message = str(caught.value)
    assert "make 'unknown' a separate class (beside numbers or booleans, a further number in classes)" in message
    assert "X[y.notna()] and y[y.notna()]" in message


@each("native", [pandas.DataFrame, polars.DataFrame])
def test_a_narwhals_frame_is_read_as_its_native_frame_without_a_warning(native):
    frame = native({name: X[name].to_numpy() for name in X})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (frame, narwhals.from_native(frame)):
            chosen = PrivateSelectKBest(1, **PUBLIC).fit(table, Y.to_numpy())
            assert chosen.get_feature_names_out().tolist() == ["age"]


@each(
    "bounds",
    [None, {}, {"age": (0, 90)}, {"age": (0, 90), "wage": None}, {"age": (0, 90), "wage": (0, None)}],
)
def test_the_error_for_unknown_bounds_points_to_private_bounds(bounds):
    with pytest.raises(ValueError, match="where nothing is known, private_bounds learns bounds, at a cost of epsilon"):
        PrivateSelectKBest(1, **PUBLIC | {"bounds": bounds}).fit(X, Y)
