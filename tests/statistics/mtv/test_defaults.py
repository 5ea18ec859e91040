"""The automatic B and c of MTVr depend on public numbers only, and so do the errors."""

import pytest

from skdpmic.statistics.mtv.family import class_family, numeric_family, resolve_mtv


def test_numbers_are_kept_exponents_are_sizes_and_auto_is_each_on_its_own():
    assert resolve_mtv("auto", "auto", 1000) == (32, 38)
    assert resolve_mtv(20, "auto", 1000) == (20, 38)
    assert resolve_mtv("auto", 3, 1000) == (32, 3)
    assert resolve_mtv(0.5, 2.5, 400, 3) == (20, 2.5)


@pytest.mark.parametrize("n_classes", [None, 2, 7, 8, 10, 37])
def test_automatic_counts_take_at_most_20_kB_a_feature(n_classes):
    B, c = resolve_mtv("auto", "auto", 1000, n_classes)
    family = numeric_family(B, c) if n_classes is None else class_family(B, c, n_classes)
    assert 4 * family.n_columns * family.n_master <= 20_000


@pytest.mark.parametrize(
    "B, c, n_classes, message",
    [
        (3, 1, None, r"B must be a number >= 4 or an exponent in \(0, 1\), got 3"),
        (2000, 1, None, r"B must be at most 1,000 cells with n_samples=100, got 2000"),
        (2001, 1, 20, r"B must be at most 2,000 cells with n_samples=100 and 20 classes, got 2001"),
        ("best", 1, None, r"B must be a number >= 4 or an exponent in \(0, 1\), got 'best'"),
        (20, 0, None, r"c must be a number > 0, got 0"),
        ("auto", "big", 3, r"c must be a number > 0, got 'big'"),
    ],
)
def test_what_is_no_B_or_c_is_refused(B, c, n_classes, message):
    with pytest.raises(ValueError, match=message):
        resolve_mtv(B, c, 100, n_classes)
