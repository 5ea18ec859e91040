"""Numbers and costs as people read them."""

import math
import random

import numpy as np
import pandas

from skdpmic._utils.texts import as_python, budget, budget_left, quoted


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


SCALARS = [
    *(kind(7) for kind in (np.int8, np.uint64, np.longlong, np.float16, np.float32, np.float64, np.longdouble)),
    *(kind(-1.5) for kind in (np.float32, np.float64, np.longdouble, np.complex128)),
    *(np.float64(special) for special in ("nan", "inf", "-inf")),
    *(np.str_(text) for text in ("age", "it's (a) name", 'a "name"')),
    *([np.str_("np.float64(1.0")] if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else []),  # where repr names types
    *(np.bool_(0), np.bool_(1), np.bytes_(b"a)b")),
]


def nested(draw, depth):
    """A parameter as users compute it, of numpy's scalars, and the same of Python's."""
    if depth == 0 or draw.random() < 0.3:
        scalar = draw.choice(SCALARS)
        return scalar, float(scalar) if isinstance(scalar, np.longdouble) else scalar.item()
    pairs = [nested(draw, depth - 1) for _ in range(draw.randint(0, 3))]
    kind = draw.choice([list, tuple, dict])
    if kind is dict:
        return {np.str_(i): a for i, (a, _) in enumerate(pairs)}, {str(i): b for i, (_, b) in enumerate(pairs)}
    return tuple(kind(pair[side] for pair in pairs) for side in (0, 1))


def test_messages_quote_numpy_scalars_at_any_depth_as_those_of_python():
    draw = random.Random(0)
    for _ in range(500):
        given, plain = nested(draw, 3)
        said, expected = as_python(given), repr(plain)
        assert said.replace("(-1.5+0j)", "-1.5+0j") == expected.replace("(-1.5+0j)", "-1.5+0j")  # by version
    assert quoted(np.datetime64("2020-01-01")).replace("numpy.", "np.") == "np.datetime64('2020-01-01')"  # by version


def test_messages_do_not_quote_what_may_be_data_in_place_of_a_parameter():
    values = [123456.0] * 21
    for given, text in [
        (values, "a list of 21 values"),
        (np.array(values), "ndarray of shape (21,)"),
        (pandas.Series(values[:2]), "Series of shape (2,)"),
        (pandas.DataFrame({"a": values}), "DataFrame of shape (21, 1)"),
    ]:
        assert quoted(given) == text
    assert "123456" in quoted(values[:20])
    assert len(quoted("a" * 10_000)) < 250
