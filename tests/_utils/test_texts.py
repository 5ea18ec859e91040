"""Numbers and costs as people read them."""

import numpy as np

from skdpmic._utils.texts import budget, in_short, shortened


def test_numbers_are_short():
    assert [in_short(number) for number in (1, 0.1, 1500, 0.00123456, np.inf)] == ["1", "0.1", "1500", "0.00123", "∞"]


def test_costs_are_rounded_to_more_digits_than_other_numbers():
    assert (budget(1), budget(0.5, 1e-6), budget(0.12345), budget(np.inf)) == (
        "ε = 1",
        "ε = 0.5, δ = 1e-06",
        "ε = 0.12345",
        "ε = ∞",
    )
    assert budget(0.1 + 0.2) == "ε = 0.3"


def test_long_texts_end_in_an_ellipsis():
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")
