"""Labels and ends of parts are published as they are, told apart from one another and from our own parts."""

import math

import numpy as np
import pandas as pd
import pytest

from skdpmic import Codebook, PrivateAdditiveRegressor, PublicEncoder, private_summary
from skdpmic.table.domains import domain_of, ends_in_words, names_of_ranges

TEXTS = [
    "other", "missing", "", "other (not a label)", "missing (not a label)", "1", "01", "1.0", "a", "a to b", "b",
    "x" * 60, "x" * 60 + "y", "x" * 50 + "z" + "x" * 10, "$1$", "\u00e1", "a\u0301", "a\nb", r"a\nb", "nan", "None",
    "(2)", "a (2)",
]  # fmt: skip
CODES = [10011, 10012, 10013, 1234567891, 1234567892, -3, 0, 0.1, 0.1000001, 2.5, 1e-9, 1e20, 2**53 - 1]
RANGES = [
    (1900, 2024), (10011, 10013), (10000011, 10000019), (-1e300, 1e300), (1e-300, 3e-300), (0, 1 / 3), (-5, 5),
    (0, 1e6, "log"), (-1e3, 1e9, "log"), (0, 1, 1000, 1000.001), (1, 1 + 1e-12), (0, 5e-324 * 64), (1, 1 + 2**-52),
    (pd.Timestamp("1900-01-01"), pd.Timestamp("2024-01-01")),
    (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")),
    (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01T00:00:00.001")),
    (pd.Timedelta(0), pd.Timedelta(hours=1)), (pd.Timedelta(days=-4), pd.Timedelta(days=4)),
]  # fmt: skip


def drawn(seed):
    """A table of two columns of labels and one of numbers, and its description."""
    rng = np.random.default_rng(seed)
    n_labels = rng.integers(2, 16)
    texts = rng.permutation(np.array(TEXTS, dtype=object))[:n_labels].tolist()
    codes = rng.permutation(np.array(CODES, dtype=object))[:n_labels].tolist()
    X = pd.DataFrame(
        {
            "text": rng.choice(np.array([*texts, "not declared", None], dtype=object), 60),
            "code": rng.choice([*map(float, codes), 0.25, np.nan], 60),
            "text_other": rng.random(60),
        }
    )
    return X, {"bounds": {"text_other": (0, 1)}, "categories": {"text": texts, "code": codes}}


@pytest.mark.filterwarnings("ignore:categories of")
@pytest.mark.parametrize("seed", range(12))
def test_frames_and_encoders_tell_all_parts_of_random_labels_apart(seed):
    X, public = drawn(seed)
    frame = (
        PrivateAdditiveRegressor(math.inf, **public, target_bounds=(0, 1)).fit(X, X["text_other"].to_numpy()).to_frame()
    )
    assert not frame.duplicated(["feature", "part"]).any()
    summary = private_summary(X, Codebook(public["bounds"] | public["categories"]), epsilon=math.inf).to_frame()
    assert not summary.duplicated(["column", "kind", "of"]).any()
    encoded = PublicEncoder(**public).fit_transform(X)
    assert encoded.columns.is_unique
    counts = frame.set_index(["feature", "part"])["count"]
    shares = summary.set_index(["column", "kind", "of"])["share"]
    for column, labels in public["categories"].items():
        for label in labels:
            n, name = (X[column] == label).sum(), label if isinstance(label, str) else f"{label}".removesuffix(".0")
            assert counts[column, name] == encoded[f"{column}_{name}"].sum() == n
            if len(labels) <= 11:
                assert shares[column, "part", name] == pytest.approx(n / 60)
        is_other = ~X[column].isin(labels) & X[column].notna()
        assert counts[column].iloc[-2:].tolist() == [is_other.sum(), X[column].isna().sum()]
        assert [shares[column, "flag", of] * 60 for of in ("other", "missing")] == pytest.approx(
            counts[column].iloc[-2:]
        )


@pytest.mark.parametrize("entry", RANGES, ids=str)
def test_the_parts_of_a_range_have_different_names_that_say_where_they_end(entry):
    domain = domain_of(entry, "bounds")
    lower, upper = domain.encoded
    for n_parts in (8, 11, 300):
        ends = np.array([domain.decode(lower + j * (upper - lower) / n_parts) for j in range(n_parts + 1)])
        names = names_of_ranges(ends)
        assert len(set(names)) == n_parts
        if ends.dtype.kind == "f":
            said, width = np.array([float(text) for text in ends_in_words(ends)]), np.diff(ends)
            room = np.minimum(np.append(width, np.inf), np.insert(width, 0, np.inf))
            assert (abs(said - ends) <= 0.01 * room + 1e-16 * abs(ends)).all()


def test_exact_ends_are_written_exactly_and_others_in_short():
    assert ends_in_words([1900, 1912.5, 1925]) == ["1900", "1912.5", "1925"]
    assert ends_in_words([10011, 10012, 10013]) == ["10011", "10012", "10013"]
    assert ends_in_words([0, 1 / 3, 1e6]) == ["0", "0.333", "1000000"]
    assert ends_in_words(np.array(["2020-01-01", "2020-02-15T15:00"], "M8[us]")) == ["2020-01-01", "2020-02-15T15:00"]
