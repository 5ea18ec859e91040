"""If a value becomes missing, or a label is not one of the public ones, a fit loses no more than epsilon.

Each audit uses one event chosen in advance, alpha = 1e-2 and a fixed seed. The broken fit leaves out rows with missing
values or other labels, but has noise for all rows.
"""

import math

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import LaplaceMechanism
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.records import Shape
from tests.privacy.auditing import privacy_loss_at_least

ALPHA = 1e-2
N = 40
COPIES = 120  # of a feature, each with its own share of the budget and its own draw
NUMBERS = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1, "correction": None}
LABELS = NUMBERS | {"bounds": None, "categories": {j: [0, 1] for j in range(COPIES)}}
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run


def table_of(last, others):
    """A few informative records, including the last, among many uninformative ones."""
    x, y = np.full(N, others, dtype=float), np.zeros(N)
    x[:4], x[-1], y[-1] = 0, last, 1
    return x[:, None], y


def fit(table, source, statistic, public):
    scorer = DPMICScorer(epsilon=COPIES * 1.0, statistic=statistic, random_state=source, **public)
    return scorer.fit(np.repeat(table[0], COPIES, axis=1), table[1]).scores_


def fit_of_present_rows(table, source, statistic, public):
    present = np.isin(table[0][:, 0], (0, 1))
    one = public | ({"categories": {0: [0, 1]}} if "categories" in public else {})
    exact = DPMICScorer(epsilon=math.inf, statistic=statistic, **one).fit(table[0][present], table[1][present])
    measure = statistic_named(statistic, None).measure(4.0, 1.0, N, 1.0, None)
    noise = LaplaceMechanism.for_budget(budget_of(COPIES * 1.0), COPIES, measure.steps(Shape(N, [(0.0, 1.0)])))
    return noise.release(np.repeat(exact.scores_, COPIES), source.bytes)[0]


def loss(release, statistic, public, others, turns_into):
    source = np.random.RandomState(0)
    here, there = table_of(turns_into, others), table_of(1, others)
    return privacy_loss_at_least(
        lambda table: release(table, source, statistic, public), here, there, lambda score: score < 0.3, 15, ALPHA
    )


CASES = [
    ("mic_r", NUMBERS, math.nan, math.nan),
    ("mtv_r", NUMBERS, math.nan, math.nan),
    ("mic_r", LABELS, math.nan, math.nan),
    ("mic_r", LABELS, 7, 7),  # another label
    ("mtv_r", LABELS, math.nan, 7),
]


@pytest.mark.few
@pytest.mark.parametrize(
    "statistic, public, others, turns_into",
    [*CASES[:2], *(pytest.param(*c, marks=pytest.mark.slow) for c in CASES[2:])],
)
def test_a_value_that_turns_missing_costs_no_more_than_epsilon(statistic, public, others, turns_into):
    assert loss(fit, statistic, public, others, turns_into) <= 1


@pytest.mark.parametrize("statistic, public, others, turns_into", CASES)
def test_leaving_out_rows_with_missing_values_is_detected(statistic, public, others, turns_into):
    assert loss(fit_of_present_rows, statistic, public, others, turns_into) > 1
