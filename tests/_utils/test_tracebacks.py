"""A traceback as Python and pytest print it quotes no data, neither from the error nor from its cause."""

import hashlib
import traceback

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, dp_mic_classif, private_bounds
from skdpmic.counting import RangeGridSketch
from skdpmic.table.domains import domain_of

SECRET = 0.8675309
N = 20
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1}
X, Y = np.random.default_rng(0).random((N, 3)), np.linspace(0, 1, N)


def with_value(array, value):
    array = array.astype(object)
    array[(1,) * array.ndim] = value
    return array


def whole_text(error):
    """Everything that is printed for an uncaught error."""
    return "".join(traceback.format_exception(error))


BAD = {
    "a string among the features": (with_value(X, f"patient {SECRET}"), Y),
    "strings as features": (with_value(X, f"patient {SECRET}").tolist(), Y),
    "an object among the features": (with_value(X, {"patient": SECRET}), Y),
    "a string in the target": (X, with_value(Y, f"{SECRET} mg")),
    "one row": (np.array([SECRET, SECRET, SECRET]), Y),
    "a number": (SECRET, Y),
}
CALLS = {
    "fit": lambda X, y: DPMICScorer(**PUBLIC).fit(X, y),
    "select": lambda X, y: DPMICSelector(k=1, **PUBLIC).fit(X, y),
    "first chunk": lambda X, y: DPMICScorer(**PUBLIC).partial_fit(X, y),
    "another chunk": lambda X, y: DPMICScorer(**PUBLIC).partial_fit(np.zeros((4, 3)), np.zeros(4)).partial_fit(X, y),
    "bounds": lambda X, y: (private_bounds(X, epsilon=9), private_bounds(y, epsilon=9)),
    "sketch": lambda X, y: RangeGridSketch(n_features=3, **PUBLIC).update(X, y),
}


def test_the_whole_text_includes_the_cause_of_an_error():
    def fail():
        try:
            float("patient 8675309")
        except ValueError as error:
            raise ValueError("no data") from error

    with pytest.raises(ValueError, match="no data") as caught:
        fail()
    assert "8675309" in whole_text(caught.value)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.combinations
def test_no_traceback_for_bad_data_quotes_a_value(call, bad):
    with pytest.raises((ValueError, TypeError)) as caught:
        CALLS[call](*BAD[bad])
    assert "8675" not in whole_text(caught.value)


def test_no_traceback_of_transform_quotes_a_value():
    with pytest.raises(ValueError, match="could not convert") as caught:
        DPMICScorer(**PUBLIC).fit(X, Y).transform(with_value(X, f"patient {SECRET}"))
    assert "8675" not in whole_text(caught.value)


def test_no_traceback_for_an_unknown_label_quotes_it():
    y = np.array(["a", "b"] * (N // 2), dtype=object)
    y[3] = f"patient {SECRET}"
    with pytest.raises(ValueError, match="y must hold only labels") as caught:
        dp_mic_classif(X, y, epsilon=1, bounds=(0, 1), classes=["a", "b"])
    assert "8675" not in whole_text(caught.value)


def test_no_traceback_for_a_damaged_sketch_quotes_the_file(tmp_path):
    # The check of a range quotes its ends: in a forged file they may be anything.
    with pytest.raises(ValueError, match="patient 8675309"):
        domain_of(("patient 8675309", 1), "bounds")
    good = RangeGridSketch(n_features=3, **PUBLIC).to_bytes()
    content = good[:-32].replace(b'["Range",0.0', b'["Range","patient 8675309"')
    (tmp_path / "sketch").write_bytes(content + hashlib.sha256(content).digest())
    with pytest.raises(ValueError, match="got other or damaged data") as caught:
        RangeGridSketch.load(tmp_path / "sketch")
    assert "8675309" not in whole_text(caught.value)
