"""A folded test checks every case, and names the one that failed."""

import pytest

from tests.folding import each


def test_all_combinations_come_once_in_order():
    cases = []
    each("a", "xy")(each("b", range(2))(lambda a, b: cases.append((a, b))))()
    assert cases == [("x", 0), ("x", 1), ("y", 0), ("y", 1)]


def test_a_failure_names_its_case():
    @each("a", [1, 2, 3])
    @each("b", ["x"])
    def fails(a, b):
        assert a < 2

    with pytest.raises(AssertionError) as caught:
        fails()
    assert caught.value.__notes__ == ["with {'b': 'x'}", "with {'a': 2}"]


@pytest.mark.few
@pytest.mark.parametrize("n", [1, 2, 3])
def test_only_the_middle_one_of_few_cases_is_fast(n, request):
    assert (request.node.get_closest_marker("slow") is None) == (n == 2)
