"""What errors say of a table: what is wrong with it, in words of this package, or of others that quote no data."""

import numpy as np
import pandas
import pytest
from scipy import sparse

from skdpmic import DPMICScorer
from skdpmic._utils.texts import public_messages, without_data
from tests.folding import each
from tests.tables import UNIT, refused, uniform

N = 20
SECRET = "8675309"
X, Y = uniform(N, 2)
TEXT = X.astype(object)
TEXT[3, 1] = f"patient {SECRET}"


@each(
    "table, message",
    [
        (TEXT, "could not convert string to float. Numbers with ',' between thousands"),
        (np.full((N, 2), 10**400, dtype=object), "int too large to convert to float"),
        ([[0.5, 1]] * (N - 1) + [[1]], "X must have rows of equal length, got rows of different lengths."),
        (Y, "Expected 2D array, got 1D array instead. Reshape your data"),
        (X[:3], r"Found array with 3 sample\(s\) \(shape=\(3, 2\)\) while a minimum of 4 is required by DPMICScorer."),
        (X[None], "Found array with dim 3"),
        (sparse.csr_matrix(X + 1j), "Complex data not supported"),
    ],
)
def test_errors_still_say_what_is_wrong(table, message):
    with refused((ValueError, TypeError), message):
        DPMICScorer(**UNIT).fit(table, Y)


def test_feature_names_that_do_not_match_are_listed():
    frame = pandas.DataFrame(X, columns=["a", "b"])
    scorer = DPMICScorer(**UNIT).fit(frame, Y)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*unseen at fit time:\n- z\n"):
        scorer.transform(frame.rename(columns={"b": "z"}))


def fails(error):
    def function(*arguments, **options):
        raise error

    return function


def test_a_sanitised_error_has_no_cause():
    with pytest.raises(ValueError) as caught:
        without_data(fails(UnicodeDecodeError("ascii", b"8675309\xff", 7, 8, "ordinal not in range")))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_memory_error_is_passed_on():
    with pytest.raises(MemoryError, match="Unable"):
        without_data(fails(MemoryError("Unable to allocate")))


@each(
    "message, kept",
    [
        (f"Found array with dim 3 of patient {SECRET}", ["Found array with dim 3"]),
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
