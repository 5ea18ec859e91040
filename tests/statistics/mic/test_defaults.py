"""B="auto" and c="auto": the tables of defaults, and the claims about them."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from skdpmic import dp_mic_classif
from skdpmic.statistics.grids import check_B, check_c, largest_c
from skdpmic.statistics.mic import statistic
from skdpmic.statistics.mic.statistic import TABLES, default_B, default_c, resolve_B, resolve_c

CORRECTIONS = [None, "miller-madow"]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_table_has_every_cell_and_is_returned_unchanged(correction):
    rows = np.loadtxt(Path(statistic.__file__).with_name(TABLES[correction]), delimiter=",", skiprows=1).tolist()
    assert len(rows) == 5 * 5 * 10  # kinds of target, epsilons, numbers of records
    for n_classes, epsilon, n, B, c in rows:
        assert default_B(int(n), epsilon, int(n_classes) or None, correction) == B
        assert default_c(int(n), epsilon, int(n_classes) or None, correction) == c


@pytest.mark.parametrize("n_classes", [None, 2, 3, 10, 30, 1000])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_default_choices_are_never_refused(n_classes, correction):
    for n, epsilon in product((4, 30, 1000, 10**4, 10**7), (1e-9, 0.1, 10, math.inf)):
        B, c = (default(n, epsilon, n_classes, correction) for default in (default_B, default_c))
        assert resolve_B("auto", n, epsilon, n_classes, correction) == B
        assert resolve_c("auto", n, epsilon, B, n_classes, correction) == c
        check_B(B, n, n_classes)
        check_c(c, n, B, n_classes)


def test_c_is_chosen_to_suit_a_large_B():
    n, B = 1000, 1000
    assert default_c(n, 1.0, 2) == 8
    assert resolve_c("auto", n, 1.0, B, 2) == largest_c(n, B, 2) == 2
    scores = dp_mic_classif(np.zeros((n, 1)), np.arange(n) % 2, epsilon=1, bounds=(0, 1), classes=[0, 1], B=B)
    assert 0 <= scores[0] <= 1
