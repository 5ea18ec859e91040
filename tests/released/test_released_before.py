"""Seeded releases equal those recorded before the package was rearranged, to the last bit.

``before.json`` was recorded from the tree at that time and is never recorded again: a difference is an error unless the
change behind it was intended. Fourteen were, and their cases were recorded again, as the history of the file shows:
MTVr learns target shares; features are chosen by what they add to one another, no longer by how unlike they are;
neither orders of ties nor rows of people are drawn; distance correlations between two parties are computed from parts;
causes of labels follow from tables in stages; knots of dates are seconds; budgets of Gaussian noise have 40 bits, so
that they are the same with every C library; Spearman's correlation was removed, and later Chatterjee's, the distance
correlation of ranks, strata and p-values of Kendall, with their cases and their rows in two lists; chance scores of
classes follow from their shares; cuts of a feature are weighted by their place, and joint choices also use single
scores; tests of labels keep their level if cells are sparse; intervals of MTVr also contain the scores at the released
shares; blanks of labels are counted separately; and p-values of causes allow for all that noise hides.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.released.cases import CASES

FILES = ["before.json"]
if np.lib.NumpyVersion(np.__version__) >= "2.5.0":  # other multinomial draws; scores from noisy tables depend on them
    FILES.append("multinomials_of_numpy_2_5.json")
BEFORE = {}
for name in FILES:
    BEFORE |= json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
LATER = ("criterion_", "largest_possible_score_")  # attributes added later
STEP_TOLERANCE = 0.1 * 2.0**-30  # 0.1 steps; only values computed from released numbers are not whole steps
P_VALUE_TOLERANCE = 1e-4  # their bounds depend on the last digits of tails, which differ between scipy versions

pytestmark = pytest.mark.filterwarnings("ignore")


def differences(before, now, place=""):
    """Descriptions of all places where two releases differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        pairs = [(str(key), before.get(key), now.get(key)) for key in before.keys() | now.keys() if key not in LATER]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = [(str(j), *pair) for j, pair in enumerate(zip(before, now, strict=True))]
    else:
        step = P_VALUE_TOLERANCE if ".p_values." in place else STEP_TOLERANCE
        return [] if are_equal(before, now, step) else [f"{place}: {before} is now {now}"]
    return [found for key, *pair in pairs for found in differences(*pair, f"{place}.{key}")]


def are_equal(before, now, step):
    if isinstance(before, float) and isinstance(now, float):
        are_both_nan = math.isnan(before) and math.isnan(now)
        return are_both_nan or math.isclose(before, now, rel_tol=0, abs_tol=step * max(1.0, abs(before)))
    return type(before) is type(now) and before == now


@pytest.mark.parametrize("case", CASES)
def test_releases_equal_those_recorded_before(case):
    assert not differences(BEFORE[case], json.loads(json.dumps(CASES[case]())))


def test_no_case_is_left_out():
    assert BEFORE.keys() == CASES.keys()


def test_a_single_step_of_a_single_score_is_a_difference():
    before = BEFORE["scores, mtv_r, laplace, numbers"]
    assert not differences(before, json.loads(json.dumps(before)))
    moved = json.loads(json.dumps(before))
    moved["scores_"][0] += 2.0**-30
    assert len(differences(before, moved)) == 1
