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
from tests.privacy.test_audit_releases import ALPHA, PUBLIC, scorer

COPIES, N = 120, 40
LABELS = PUBLIC | {"bounds": None, "categories": {j: [0, 1] for j in range(COPIES)}}
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run


def fit(table, source, **parameters):
    return scorer(COPIES, **parameters)(table, source, 1.0).scores_


def fit_of_present_rows(table, source, statistic, **public):
    present = np.isin(table[0][:, 0], (0, 1))
    one = public | ({"categories": {0: [0, 1]}} if "categories" in public else {})
    exact = DPMICScorer(epsilon=math.inf, statistic=statistic, **one).fit(table[0][present], table[1][present])
    measure = statistic_named(statistic, None).measure(4.0, 1.0, N, 1.0, None)
    noise = LaplaceMechanism.for_budget(budget_of(COPIES * 1.0), COPIES, measure.steps(Shape(N, [(0.0, 1.0)])))
    return noise.release(np.repeat(exact.scores_, COPIES), source.bytes)[0]


def loss(release, statistic, public, others, turns_into):
    """Of a few informative records, including the last, among many uninformative ones."""
    source, tables = np.random.RandomState(0), []
    for last in (turns_into, 1):
        x, y = np.full(N, others, dtype=float), np.zeros(N)
        x[:4], x[-1], y[-1] = 0, last, 1
        tables.append((x[:, None], y))
    return privacy_loss_at_least(
        lambda table: release(table, source, statistic=statistic, **public),
        *tables,
        lambda score: score < 0.3,
        15,
        ALPHA,
    )


CASES = [  # the last two: another label
    *[(name, public, math.nan, math.nan) for name, public in (("mic_r", PUBLIC), ("mtv_r", PUBLIC), ("mic_r", LABELS))],
    *[("mic_r", LABELS, 7, 7), ("mtv_r", LABELS, math.nan, 7)],
]


@pytest.mark.few
@pytest.mark.parametrize("case", CASES)
def test_a_value_that_turns_missing_costs_no_more_than_epsilon_but_leaving_out_its_row_does(case):
    assert loss(fit, *case) <= 1 < loss(fit_of_present_rows, *case)
