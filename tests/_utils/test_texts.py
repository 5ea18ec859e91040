"""Numbers and costs as people read them."""

import math
import random

import numpy as np

from skdpmic._utils.texts import budget, budget_left, in_short, shortened


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


def test_no_cost_looks_smaller_than_it_is_and_no_remainder_larger():
    draw = random.Random(0)
    for _ in range(2000):
        numbers = [draw.uniform(0, 10) ** draw.randint(-20, 20), draw.random() ** draw.randint(1, 20)]
        spent, left = (
            [float(part.partition(" = ")[2]) for part in text.split(", ")]
            for text in (budget(*numbers), budget_left(*numbers))
        )
        for number, most, least in zip(numbers, spent, left, strict=True):
            assert least <= number <= most * (1 + 1e-15)
            assert most <= least * (1 + 1.1e-5)
    assert (budget_left(0.0, 0.0), budget_left(math.inf, 0.0)) == ("ε = 0", "ε = ∞")


def test_long_texts_end_in_an_ellipsis():
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")
