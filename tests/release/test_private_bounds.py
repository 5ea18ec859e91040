"""Knots learnt privately: what is released, what is read, and what it costs."""

import math
import re
import warnings

import numpy as np
import pandas
import polars
import pytest

from skdpmic import BudgetError, BudgetLedger, DPMICScorer, private_bounds
from skdpmic.release import bounds as learnt_bounds
from tests.tables import refused

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
N = 3000
RNG = np.random.default_rng(0)
INCOME = RNG.lognormal(mean=10, sigma=2, size=N)
FRAME = pandas.DataFrame(
    {
        "income": INCOME,
        "visits": pandas.array(RNG.poisson(1, size=N), dtype="Int64"),
        "sex": RNG.choice(["f", "m"], size=N),
        "insured": (RNG.random(N) < 0.5) * 1.0,
        "smokes": RNG.random(N) < 0.5,
    }
)
SEX = {"sex": ["f", "m"]}
LEVELS = [1, 3, 7, 15, 31]


def assert_are_knots(knots):
    assert knots.dtype == np.float64
    assert knots.ndim == 1
    assert len(knots) >= 3
    assert np.isfinite(knots).all()
    assert (np.diff(knots) > 0).all()
    assert math.isfinite(knots[-1] - knots[0])


# --- What is released ---------------------------------------------------------------------------------------------

COLUMNS = {
    "tiny": 1e-20 * INCOME,
    "large": 1e20 * INCOME,
    "negative": -INCOME,
    "both signs": RNG.standard_cauchy(N),
    "the largest floats": np.where(RNG.random(N) < 0.5, 1.0, -1.0) * np.finfo(np.float64).max,
    "one largest float": np.full(N, np.finfo(np.float64).max),
    "the smallest floats": np.full(N, 5e-324),
    "mostly zeros": np.where(RNG.random(N) < 0.8, 0.0, INCOME),
    "one value": np.full(N, 7.0),
    "truth values": RNG.random(N) < 0.3,
    "a narrow range": RNG.uniform(40.5, 40.9, size=N),
    "mostly missing": np.where(RNG.random(N) < 0.9, np.nan, INCOME),
    "all missing": np.full(N, np.nan),
}


@pytest.mark.parametrize("epsilon", [0.016, 0.05, 0.5, math.inf])
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.combinations
def test_knots_increase_and_are_finite_whatever_the_column_holds(name, epsilon):
    assert_are_knots(private_bounds(COLUMNS[name], epsilon=epsilon))


@pytest.mark.parametrize("name", ["tiny", "large", "negative", "both signs", "a narrow range"])
def test_shares_between_knots_are_about_equal_without_given_bounds(name):
    # n * epsilon = 3,000; 31 quantiles need 1,488 of it. Shares of 3% are off by about 2%.
    knots = private_bounds(COLUMNS[name], epsilon=1)
    assert len(knots) == 33
    shares = np.histogram(COLUMNS[name], bins=knots[1:-1])[0] / N
    assert shares.max() < 0.07
    assert shares.sum() > 0.85


def test_a_value_shared_by_most_records_is_one_knot_and_the_others_stay_distinct():
    knots = private_bounds(COLUMNS["mostly zeros"], epsilon=1)
    assert (knots == 0).sum() == 1
    assert 4 <= (knots > 0).sum() <= 9


@seeded  # otherwise two knots could coincide, and count as one
@pytest.mark.filterwarnings("ignore:private_bounds learns nothing")
@pytest.mark.parametrize("levels, budget", list(enumerate([48, 144, 336, 720, 1488], start=1)))
def test_the_number_of_knots_grows_with_the_public_budget(levels, budget):
    def n_knots(epsilon):
        return len(private_bounds(INCOME, epsilon=epsilon, random_state=0))

    assert n_knots(budget / N) == LEVELS[levels - 1] + 2
    assert n_knots(budget / N - 1e-6) == (LEVELS[levels - 2] + 2 if levels > 1 else 63)


def test_the_number_of_missing_values_changes_no_rate(monkeypatch):
    used = []

    def rates(epsilon, n_levels):
        used.append((epsilon, n_levels))
        return [0] * n_levels

    monkeypatch.setattr(learnt_bounds, "rates", rates)
    for name in ("large", "mostly missing", "all missing"):
        private_bounds(COLUMNS[name], epsilon=0.5)
    assert used == [(1, 5), (0.5, 5)] * 3  # first for the cost, which needs only squared shares, then for the draw


def test_missing_values_have_no_share_of_the_knots():
    values = np.where(np.arange(N) % 5 == 0, COLUMNS["a narrow range"], np.nan)
    for column in (values, pandas.Series(values, dtype="Float64")):
        knots = private_bounds(column, epsilon=math.inf)
        assert ((knots[1:-1] >= 40.5) & (knots[1:-1] <= 40.9)).all()


def test_no_value_of_the_data_is_released():
    for name in ("tiny", "large", "both signs"):
        inner = private_bounds(COLUMNS[name], epsilon=math.inf)[1:-1]
        assert (inner.view(np.int64) % 2**36 == 0).all()
        assert not set(inner) & set(COLUMNS[name])


# --- Tables -------------------------------------------------------------------------------------------------------

NUMERIC = ["income", "visits", "insured"]


@pytest.mark.parametrize("make", [lambda frame: frame, polars.from_pandas], ids=["pandas", "polars"])
def test_a_dataframe_gives_a_dict_by_name_without_categories(make):
    knots = private_bounds(make(FRAME), epsilon=3, categories=SEX)
    assert list(knots) == NUMERIC
    for column in knots.values():
        assert_are_knots(column)
    assert 1 in knots["insured"]


def test_columns_of_an_array_are_named_by_number_and_may_be_categories():
    X = np.column_stack([INCOME, RNG.integers(0, 3, size=N), -INCOME])
    assert list(private_bounds(X, epsilon=1)) == [0, 1, 2]
    assert list(private_bounds(X, epsilon=1, categories={1: [0, 1, 2]})) == [0, 2]


def test_the_values_of_other_columns_do_not_change_the_cost_of_one(monkeypatch):
    shares = []

    def rates(epsilon, n_levels):
        shares.append(epsilon)
        return [0] * n_levels

    monkeypatch.setattr(learnt_bounds, "rates", rates)
    private_bounds(FRAME, epsilon=0.7, categories=SEX)
    assert len(shares) == 1 + 3  # for the cost, and for each column
    assert sum(shares[1:]) * 10 == 7  # exactly, though 0.7 is not a float


# --- Payment and errors -------------------------------------------------------------------------------------------


def test_the_ledger_is_charged_before_anything_is_drawn(ledger, monkeypatch):
    private_bounds(FRAME, epsilon=0.75, categories=SEX, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.delta, entry.n, entry.d) == ("private_bounds", 0.75, 0.0, N, 3)
    monkeypatch.setattr(learnt_bounds, "private_quantiles", None)
    with pytest.raises(BudgetError):
        private_bounds(FRAME, epsilon=99.5, categories=SEX, ledger=ledger)
    with pytest.raises(TypeError, match="not callable"):
        private_bounds(FRAME, epsilon=0.25, categories=SEX, ledger=ledger)
    assert [entry.epsilon for entry in ledger.entries()] == [0.75, 0.25]


def test_a_zcdp_ledger_is_charged_the_smaller_cost_of_several_columns(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", 1.0, 1e-6)
    private_bounds(FRAME, epsilon=0.75, categories=SEX, ledger=ledger)
    squares = sum((0.25 / 2 * 2**level / 15) ** 2 for level in range(4))
    assert ledger.entries()[0].rho == pytest.approx(3 * squares / 2, rel=1e-12)
    assert ledger.entries()[0].rho < 0.75**2 / 2 / 30
    with pytest.raises(BudgetError):
        private_bounds(INCOME, epsilon=math.inf, ledger=ledger)


def test_too_small_a_budget_warns_and_costs_nothing_and_gives_public_knots(ledger):
    expected_message = (
        "learns nothing from n_samples=3000 with epsilon=0.04: for 3 columns it needs epsilon >= 0.048, so that"
    )
    with pytest.warns(UserWarning, match=expected_message) as caught:
        here = private_bounds(FRAME, epsilon=0.04, categories=SEX, ledger=ledger)
    assert caught[0].filename == __file__
    assert ledger.entries() == []
    with pytest.warns(UserWarning, match="learns nothing"):
        there = private_bounds(FRAME[NUMERIC] * 1000, epsilon=0.04)
    for name in NUMERIC:
        assert_are_knots(here[name])
        np.testing.assert_array_equal(here[name], there[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        private_bounds(FRAME, epsilon=0.048, categories=SEX, ledger=ledger)
    assert len(ledger.entries()) == 1


SEVERAL = FRAME[["income", "income"]]
OF_SEX = {"categories": SEX}
BAD = {  # by phrase; 86.75 is a value of the data
    "epsilon must be a number > 0, and at least 1e-100, got 0": {"epsilon": 0},
    "ledger must be a BudgetLedger or None, got str: pass BudgetLedger": {"ledger": "a file"},
    "random_state must be None, an int in": {"random_state": -1},
    "X must hold at least 4 samples, got n_samples=3": {"X": [1, 2, 86.75]},
    "Input X contains infinity": {"X": [1, 2, math.inf, 86.75]},
    "could not convert string to float": {"X": ["f 86.75"] * 9},
    r"got other values in \[0\], which must be numbers, dates or durations": {"X": np.full(9, 86.75j)},
    "Found array with dim 3": {"X": np.full((2, 2, 2), 86.75)},
    "Expected 2D array, got scalar array": {"X": 86.75},
    r"Found array with 0 feature\(s\)": {"X": np.full((9, 0), 86.75)},
    r"got text in \['sex'\], which must be|could not convert string to float.*Found in column 'sex' of X": {"X": FRAME},
    "Input column 'age' of X contains infinity": {"X": FRAME.assign(age=math.inf), **OF_SEX},
    r"categories must be None or a dict by name or number, got \['sex'\]": {"X": FRAME, "categories": ["sex"]},
    "categories must have entries for features of X only": {"categories": {1: [1, 2]}},
    "X must have at least one column that is not in categories": {"X": FRAME[["sex", "smokes"]], **OF_SEX},
    r"X must have distinct column names, got several named \['income'\]": {"X": SEVERAL},
    "X must not be a masked array": {"X": np.ma.masked_array(INCOME, INCOME > 1)},
}


def test_invalid_arguments_are_refused_and_cost_nothing(ledger):
    for phrase, changed in BAD.items():
        with refused((ValueError, TypeError), phrase, ledger) as caught:
            private_bounds(**{"X": INCOME, "epsilon": 1.0, "ledger": ledger} | changed)
        assert "86.75" not in str(caught.value)


# --- Dates ------------------------------------------------------------------------------------------------------------


def test_knots_of_dates_are_dates_that_bounds_accepts():
    days = pandas.Timestamp("1990-01-01") + pandas.to_timedelta(RNG.integers(0, 9000, N), unit="D")
    stays = pandas.to_timedelta(RNG.exponential(5, N), unit="D")
    frame = pandas.DataFrame({"born": days, "stay": stays})
    knots = private_bounds(frame, epsilon=20)
    assert (knots["born"].dtype, knots["stay"].dtype) == (np.dtype("M8[us]"), np.dtype("m8[us]"))
    assert np.datetime64("1989") < knots["born"][len(knots["born"]) // 2] < np.datetime64("2015")
    y = np.asarray(days.astype("M8[us]").astype(np.int64)) / 1e15
    scores = DPMICScorer(epsilon=math.inf, bounds=knots, target_bounds=(0, 2)).fit(frame, y).scores_
    assert scores[0] > 0.9 > scores[1]
    assert (np.diff(private_bounds(frame[["born"]][:100], epsilon=0.1)["born"]) > np.timedelta64(0, "us")).all()


DAY = np.datetime64("2023-05-17", "us")
COARSE = "lie in fewer neighbouring parts of private_bounds' line"


@pytest.mark.parametrize("n_seconds", [86_400, 3_600, 600])
def test_dates_within_one_day_are_divided_evenly_between_knots(n_seconds):
    # n * epsilon = 3,000; 31 quantiles need 1,488 of it. Shares of 3% are off by about 2%.
    times = DAY + np.timedelta64(9, "h") + RNG.integers(0, n_seconds, N).astype("m8[s]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        knots = private_bounds(times, epsilon=1)
    assert len(knots) > 30
    shares = np.histogram(times.astype(np.int64), bins=knots[1:-1].astype(np.int64))[0] / N
    assert shares.max() < 0.08
    assert shares.sum() > 0.85


@pytest.mark.parametrize("column", [np.full(N, DAY), DAY + RNG.integers(0, 10**6, N).astype("m8[us]")])
def test_dates_within_one_second_warn_and_have_knots_around_it(column):
    with pytest.warns(UserWarning, match=f"the quantiles of X {COARSE}") as caught:
        knots = private_bounds(column, epsilon=1.5)
    assert caught[0].filename == __file__
    assert len(knots) <= 33
    assert np.isin([DAY], knots).all()
    with pytest.warns(UserWarning, match=COARSE):
        exact = private_bounds(column, epsilon=math.inf)
    np.testing.assert_array_equal(exact, DAY + np.arange(-1, 3).astype("m8[s]"))


def test_the_warning_about_nearly_constant_columns_names_them_follows_the_charge_and_keeps_the_knots(ledger):
    frame = FRAME[["income", "visits"]].assign(same=7.0, near=1.7e9 + RNG.uniform(0, 20_000, N), born=DAY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            UserWarning, match=re.escape(f"the quantiles of ['same', 'near', 'born'] {COARSE}")
        ) as caught:
            private_bounds(frame, epsilon=8, ledger=ledger)
    assert [entry.epsilon for entry in ledger.entries()] == [8.0]
    assert list(caught.value.knots) == list(frame)
    for name in ("income", "visits", "same", "near"):
        assert_are_knots(caught.value.knots[name])


def test_the_warning_about_coarse_parts_depends_on_the_released_quantiles_alone(monkeypatch):
    monkeypatch.setattr(learnt_bounds, "private_quantiles", lambda *arguments: np.full(3, 7.0))
    with pytest.warns(UserWarning, match=COARSE):
        private_bounds(INCOME, epsilon=1)
    monkeypatch.setattr(learnt_bounds, "private_quantiles", lambda *arguments: np.array([1.0, 2.0, 3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        private_bounds(np.full(N, 7.0), epsilon=1)
