"""A total has one unit: costs per record are multiplied by the records of a person, or refused."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from skdpmic import (
    BudgetError,
    BudgetLedger,
    DPMICScorer,
    release_card,
)
from skdpmic.budget.ledger import Limits
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy.composition import BasicFilter, Cost, epsilon_of, rho_for
from tests.budget.test_ledger import broken_noise

RNG = np.random.default_rng(0)
X, PERSON = RNG.random((60, 3)), np.arange(60) // 5
Y = X[:, 0]
PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1)}
FITS = {
    "record": lambda ledger, epsilon=1.0: DPMICScorer(epsilon=epsilon, ledger=ledger, **PUBLIC).fit(X, Y),
    "person": lambda ledger, epsilon=0.5: DPMICScorer(
        epsilon=epsilon, max_rows_per_group=2, ledger=ledger, **PUBLIC
    ).fit(X, Y, groups=PERSON),
}


# --- One unit a ledger ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first, second", [("record", "person"), ("person", "record")])
def test_a_fit_with_another_unit_is_refused_before_any_charge_or_noise(place, first, second, monkeypatch):
    ledger = BudgetLedger(place, 9.0)
    assert ledger.unit() is None
    FITS[first](ledger)
    with broken_noise(monkeypatch), pytest.raises(BudgetError, match=r"nothing limits.* max_rows_per_person"):
        FITS[second](ledger)
    (entry,) = ledger.entries()
    assert entry.unit == ledger.unit() == first
    FITS[first](ledger, 0.25)
    assert f"unit='{first}'" in repr(ledger)


def test_with_max_rows_per_person_a_fit_per_record_costs_a_person_that_many_times_as_much(place):
    ledger = BudgetLedger(place, 6.0, max_rows_per_person=5)
    assert ledger.unit() == "person"
    FITS["record"](ledger)
    FITS["person"](ledger)
    assert ledger.spent() == (5.5, 0.0)
    assert BudgetLedger.open(place).remaining() == (0.5, 0.0)
    with pytest.raises(BudgetError, match=r"\(1.0, 0.0\) for one record, which counts 5 times for a person"):
        FITS["record"](ledger)
    FITS["record"](ledger, 0.1)
    assert [entry.unit for entry in ledger.entries()] == ["record", "person", "record"]
    assert BudgetLedger(place, 6.0, max_rows_per_person=np.int64(5)) == ledger


def test_the_card_says_the_total_cost_per_person(path):
    pytest.importorskip("pandas", reason="of the table")
    ledger = BudgetLedger(path, 6.0, max_rows_per_person=5)
    FITS["record"](ledger)
    card = release_card(FITS["person"](ledger))
    total = "In total, ε = 5.5 per person (with at most 5 records) was spent on this table, of a limit of ε = 6 per"
    assert total in card.fields["statement"]
    assert (card.fields["ledger"]["unit"], card.fields["ledger"]["max_rows_per_person"]) == ("person", 5)
    assert [entry["unit"] for entry in card.fields["ledger"]["entries"]] == ["record", "person"]
    for text in ("ε = 5.5 per person", "ε = 1 per record", "ε = 0.5 per person", "at most 5,"):
        assert text in card.to_html()


def test_a_card_needs_an_entry_with_its_own_unit(tmp_path):
    by_records, by_people = (BudgetLedger(tmp_path / name, 9.0) for name in ("records", "people"))
    FITS["record"](by_records)
    fitted = FITS["person"](by_people)
    with pytest.raises(ValueError, match="without an entry of DPMICScorer per person"):
        release_card(fitted, ledger=by_records)
    assert "ε = 0.5 per person" in release_card(fitted).fields["statement"]


# --- Sums for a person ------------------------------------------------------------------------------------------------


def least_growth(epsilon, rows):
    """The growth factor of delta, to 80 digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(80 + int(rows * epsilon)):
        one = Fraction(repr(epsilon))
        ratio = mpmath.exp(mpmath.mpf(one.numerator) / one.denominator)
        total = mpmath.fsum(ratio**i for i in range(rows))
        man, exp = mpmath.frexp(total)
        return Fraction(int(man * 2**400), 2**400) * Fraction(2) ** int(exp)


class Oracle:
    """The privacy loss of one person, summed in fractions straight from the definitions."""

    def __init__(self, limits):
        self.limits, self.epsilon, self.delta, self.rho = limits, Fraction(0), Fraction(0), Fraction(0)

    def after(self, entry):
        rows = self.limits.max_rows_per_person if entry.unit == "record" else 1
        rows = 1 if rows is None else rows
        new, one = Oracle(self.limits), Fraction(repr(entry.epsilon))
        new.epsilon = self.epsilon + rows * one
        new.delta = self.delta + (Fraction(repr(entry.delta)) * least_growth(entry.epsilon, rows) if entry.delta else 0)
        new.rho = self.rho + rows**2 * (one**2 / 2 if entry.rho is None else Fraction(entry.rho))
        return new

    def fits(self):
        epsilon, delta = (Fraction(repr(limit)) for limit in self.limits[:2])
        if self.limits.composition == "basic":
            return self.epsilon <= epsilon and self.delta <= delta
        is_pure = self.delta == 0 and self.epsilon <= epsilon
        return is_pure or self.rho <= Fraction(rho_for(*self.limits[:2]))

    def spent(self):
        if self.limits.composition == "basic":
            return float(self.epsilon), float(self.delta)
        by_rho = epsilon_of(float(self.rho), self.limits.delta)
        is_pure = self.delta == 0 and self.epsilon <= Fraction(repr(self.limits.epsilon))
        return min([(by_rho, self.limits.delta), *([(float(self.epsilon), 0.0)] if is_pure else [])])


def drawn_entry(draw, limits):
    epsilon = draw.choice([0.01, 0.1, 0.25, 0.7, draw.uniform(0.001, 1)])
    delta = draw.choice([0.0, 0.0, 1e-9, 1e-8 * draw.random()]) if limits.delta else 0.0
    rho = rho_for(epsilon, delta) if delta else draw.choice([None, epsilon**2 / 20])
    return LedgerEntry("x", epsilon, delta, rho, unit=draw.choice(["record", "person"]))


def assert_as_the_oracle(seed):
    draw = random.Random(seed)
    delta = draw.choice([0.0, 1e-6, 1e-5])
    composition = draw.choice(["basic", "zcdp"]) if delta else "basic"
    limits = Limits(draw.choice([1.0, 3.0, 8.0]), delta, composition, draw.choice([None, 1, 2, 3, 7, 30]))
    entries, oracle, n_refused = [], Oracle(limits), 0
    for _ in range(draw.randint(1, 12)):
        entry = drawn_entry(draw, limits)
        mixed = limits.max_rows_per_person is None and entries and entries[0].unit != entry.unit
        after = oracle.after(entry)
        if mixed or not after.fits():
            n_refused += 1
            with pytest.raises(BudgetError, match="max_rows_per_person" if mixed else "does not fit"):
                limits.check(entry, entries, "a ledger")
            continue
        limits.check(entry, entries, "a ledger")
        entries, oracle = [*entries, entry], after
    for stated, least in zip(limits.spent(entries), oracle.spent() if entries else (0.0, 0.0), strict=True):
        assert least * (1 - 1e-15) <= stated <= least * (1 + 1e-12)
    if composition == "basic":
        of_both = zip(limits.spent(entries), (oracle.epsilon, oracle.delta), strict=True)
        assert all(Fraction(repr(stated)) >= least for stated, least in of_both)
    return n_refused


def test_totals_of_random_charges_are_the_loss_of_one_person():
    assert sum(map(assert_as_the_oracle, range(40))) > 40


@pytest.mark.parametrize("epsilon", [1e-100, 1e-12, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("rows", [2, 3, 40])
def test_the_delta_of_a_person_is_rounded_up_by_very_little(epsilon, rows):
    delta = min(1e-9, 1e-300 if rows * epsilon > 30 else 1.0)
    exact = Fraction(repr(delta)) * least_growth(epsilon, rows)
    (_, found) = Cost(epsilon, delta, rows=rows).in_basic
    assert found >= min(1, exact) * (1 - Fraction(1, 10**70))  # digits of the oracle
    assert found <= exact * (1 + Fraction(2, 10**12))


@pytest.mark.parametrize("epsilon, rows", [(1.0, 10**6), (1e3, 2), (1e299, 2), (1.0, 2**63 - 1)])
def test_a_delta_that_grows_beyond_1_is_1_and_fits_no_budget(epsilon, rows):
    cost = Cost(epsilon, 5e-324, rows=rows)
    assert cost.in_basic[1] == 1
    assert not BasicFilter(1e300, 1 - 2**-53).accepts([cost])


def test_the_delta_of_a_person_is_tight():
    """A chain of coin flips on tables that differ in one record each: every step is tightly (epsilon, delta)-DP."""
    epsilon, delta, rows = 0.5, 1e-3, 6
    chances = [0.0]
    for _ in range(rows):
        chances.append(math.exp(epsilon) * chances[-1] + delta)
    for less, more in itertools.pairwise(chances):
        assert more - math.exp(epsilon) * less <= delta * (1 + 1e-12)
        assert (1 - less) - math.exp(epsilon) * (1 - more) <= delta
    excess = chances[-1] - math.exp(rows * epsilon) * chances[0]
    assert float(Cost(epsilon, delta, rows=rows).in_basic[1]) == pytest.approx(excess, rel=1e-12)
