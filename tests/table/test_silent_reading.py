"""Reading is silent: no warning depends on what one record holds, and every error is in our own words."""

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

from skdpmic import (
    Codebook,
    DPMICScorer,
    PrivacyLeakWarning,
    PublicEncoder,
    private_bounds,
    private_score,
    private_summary,
)
from skdpmic.correlation import PrivateCorrelation
from skdpmic.table.domains import seconds_of
from skdpmic.table.frames import column_of
from skdpmic.table.values import as_codes, make_target, read_people, read_weights, target_domain
from skdpmic.two_party import RandomizedResponse
from tests.folding import each

EAST, WEST = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (14, -12))
FIRST, LAST = datetime.datetime.min, datetime.datetime.max
HUGE = [1.7e308, -1.7e308, 5e-324, np.longdouble("1e-4900"), 2**1000, Decimal("-1e300"), Fraction(1, 3)]
HUGE += [np.float16(65504)]
BEYOND = [10**400, Fraction(10**400), np.longdouble("1e4000"), Decimal("1e400"), "1e400", math.inf, np.array([1.0]), 1j]
MISSING = [Decimal("sNaN"), np.longdouble("nan"), np.ma.masked, pd.NA, np.datetime64("NaT"), pd.NaT, None]
DAYS = [
    *[FIRST.replace(tzinfo=EAST), LAST.replace(tzinfo=WEST), FIRST, LAST, datetime.date.min, pd.Timestamp.max],
    *[np.datetime64(2**62, unit) for unit in ("Y", "M", "W", "D", "s", "as")],
    *[np.datetime64(-(2**62), unit) for unit in ("Y", "M", "s")],
    np.datetime64(2**60, ("s", 7)),
]
STAYS = [datetime.timedelta.max, datetime.timedelta.min, np.timedelta64(2**62, "W"), pd.Timedelta.max]


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


def outcome(call):
    """The result of a call, or None if it refuses the data; nothing else may happen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        warnings.filterwarnings("ignore", "categories of|noise will|the quantiles of|private_bounds learns")
        try:
            return call()
        except (ValueError, TypeError) as error:
            refused = error
    assert type(refused) in (ValueError, TypeError)
    assert "8675309" not in str(refused)
    return None


def both_ways(call, others, odd):
    """The outcome of a call with a column of objects and, if it can be made, with a column of floats."""
    yield outcome(lambda: call(objects([*others, odd])))
    with np.errstate(all="ignore"):
        if isinstance(odd, int | float | np.floating):
            try:
                yield outcome(lambda: call(np.array([*others, odd], dtype=np.longdouble)))
            except OverflowError:  # raised by NumPy: there is no such array
                return


OTHERS = [0.0, 0.5, 1.0, 2.0, 7.0]
AXES = [(0, 1), (0, 1e-300), (-1e300, 1e300, "log"), (-1e308, 0, 7e307), (0, 1e-310, 2e-310)]


def target_of(bounds, y):
    return make_target(y, len(y), target_domain(bounds), None, "reader")


def records_of(bounds, x):
    return DPMICScorer(bounds=bounds, classes=[0, 1])._plan().read_table(x.reshape(-1, 1), [0, 1] * (len(x) // 2))


@each("odd", [*HUGE, *BEYOND, *MISSING, -1e300, 1e300])
def test_a_target_a_feature_or_a_weight_is_read_or_refused(odd):
    is_read = any(odd is value for value in (*HUGE, -1e300, 1e300))
    for bounds in AXES:
        for target in both_ways(partial(target_of, bounds), OTHERS, odd):
            assert (target is not None) == is_read
    for weights in both_ways(lambda weights: read_weights(weights, 2, 6), OTHERS, odd):
        assert (weights is not None) == (is_read and float(odd) >= 0)
        assert weights is None or weights[:5].tolist() == [0, 64, 128, 256, 256]
    for bounds in AXES:
        for records in both_ways(partial(records_of, bounds), OTHERS, odd):
            assert (records is not None) == (is_read or any(odd is value for value in MISSING))
            assert records is None or len(list(records.columns)) == 1


TAKES = {
    "matrix": lambda x: PrivateCorrelation().fit(np.column_stack([x, x])),
    "reports": lambda x: RandomizedResponse(bounds=(0, 9)).fit(x.reshape(-1, 1)).transform(x.reshape(-1, 1)),
    "pair": lambda x: private_score(x, np.arange(len(x)), epsilon=1, bounds=((0, 9), (0, 1))),
    "people": lambda x: read_people(x, 1, len(x)),
    "bounds": lambda x: private_bounds(x, epsilon=1),
    "ranks": lambda x: DPMICScorer(statistic="kendall").fit(np.arange(len(x)).reshape(-1, 1), x),
    "classes": lambda x: make_target(x, len(x), None, [0.0, 1.0, 2.0], "reader"),
    "ranges": lambda x: DPMICScorer(bounds=(0, 9), target_bounds=(0, 9)).fit(np.column_stack([x, x]), x),
}


@pytest.mark.parametrize("take", TAKES)
def test_no_odd_value_causes_a_warning_or_another_kind_of_error_at_any_entry_point(take):
    odd = [*HUGE, *BEYOND, *MISSING, *DAYS, *STAYS, object(), {}, "\ud800", pd.Period("2000"), datetime.time(1)]
    for value in odd:
        for others in ([0.0, 0.5, 1.0, 2.0] * 5, [value] * 19):
            outcome(lambda: TAKES[take](objects([*others, value])))  # noqa: B023


@each("odd", HUGE)
def test_a_weight_of_any_size_is_clipped_at_a_limit_of_any_size(odd):
    for limit in (5e-324, 1e-310, 1e300, 1.7e308):
        weights = outcome(lambda: read_weights(objects([0.0, abs(odd)]), limit, 2))  # noqa: B023
        assert weights is not None
        assert weights[0] == 0
        assert outcome(lambda: read_weights(np.float32([0.3, 1.7]), limit, 2)) is not None  # noqa: B023


def test_dates_at_the_ends_of_the_calendar_are_exact():
    first = (FIRST - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1)
    assert seconds_of(FIRST.replace(tzinfo=EAST)) == first - 14 * 3_600
    assert seconds_of(FIRST.replace(tzinfo=WEST)) == first + 12 * 3_600
    assert seconds_of(datetime.timedelta.max) == 999_999_999 * 86_400 + 86_399 + 0.999999
    for unit in ("Y", "M"):  # in days these would overflow
        assert seconds_of(np.datetime64(2**62, unit)) > seconds_of(LAST)
        assert seconds_of(np.datetime64(-(2**62), unit)) < seconds_of(FIRST)


FRAME = pd.DataFrame({"x": [*np.linspace(0, 1, 11), 1.7e308], "y": [*np.linspace(0, 1, 11), -1.7e308]})


@each("bounds", AXES)
def test_a_value_far_outside_is_scored_encoded_and_summarized_silently(bounds):
    for statistic in ("mic_r", "mtv_r"):
        scorer = DPMICScorer(statistic=statistic, epsilon=math.inf, bounds=bounds, target_bounds=bounds, B=9, c=1)
        assert outcome(lambda: scorer.fit(FRAME, FRAME["y"].to_numpy())) is scorer  # noqa: B023
    assert outcome(lambda: PublicEncoder(bounds=bounds).fit(FRAME).transform(FRAME)) is not None
    codebook = Codebook({"x": bounds, "y": bounds})
    assert outcome(lambda: private_summary(FRAME, codebook, epsilon=math.inf)) is not None


def test_values_at_both_ends_of_the_float_range_are_scored_silently():
    both = np.where(np.arange(40) % 2, 1.7e308, -1.7e308)
    scorer = DPMICScorer(epsilon=math.inf, statistic="kendall")
    assert outcome(lambda: scorer.fit(both.reshape(-1, 1), both)) is scorer
    assert outcome(lambda: private_score(both, both, epsilon=1, statistic="kendall")) is not None
    assert outcome(lambda: private_bounds(both, epsilon=math.inf, random_state=0)) is not None


def test_a_number_among_texts_of_a_list_is_not_read_as_text():
    assert as_codes(column_of(["a", "3", None], "y"), ("a", "b", "3"), "y").tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="at least one value of another type"):
        as_codes(column_of(["a", 3], "y"), ("a", "b", "3"), "y")
