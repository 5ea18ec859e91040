"""What a ledger hands on: a table for people, and events that lose no less than its entries."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer
from skdpmic.budget.filters import Cost
from skdpmic.budget.ledger_exports import noise_parameter
from skdpmic.privacy.composition import rho_for
from tests.folding import each

STEP = 1e-4  # of the discretisation of losses in a PLDAccountant, by default
ORDERS = 1 + np.geomspace(0.01, 1000, 3000)


@pytest.fixture
def basic(tmp_path):
    return BudgetLedger(tmp_path / "basic.db", 10.0)


@pytest.fixture
def zcdp(tmp_path):
    return BudgetLedger(tmp_path / "zcdp.db", 3.0, 1e-6)


# --- The table --------------------------------------------------------------------------------------------------------


def test_the_table_has_every_entry_and_what_was_spent_after_it(basic):
    pytest.importorskip("pandas", reason="it makes a dataframe")
    X = np.random.default_rng(0).random((60, 3))
    DPMICScorer(epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1), ledger=basic.for_purpose("a")).fit(X, X[:, 0])
    with basic.spend("b", 0.25, by="c"):
        pass
    frame, entries = basic.to_frame(), basic.entries()
    assert set(frame.columns) == {*entries[0]._fields, "spent_epsilon", "spent_delta"}
    assert frame["what"].tolist() == ["DPMICScorer", "c"]
    assert frame["purpose"].tolist() == ["a", "b"]
    assert frame["when"].tolist() == [entry.when for entry in entries]
    assert frame["epsilon"].tolist() == [0.5, 0.25]
    assert frame["spent_epsilon"].tolist() == [0.5, 0.75]
    assert (frame.loc[0, "n"], frame.loc[0, "d"], frame.loc[0, "release"]) == (60, 3, "scores")


def test_the_table_of_an_empty_ledger_has_its_columns(basic):
    pytest.importorskip("pandas", reason="it makes a dataframe")
    assert basic.to_frame().shape == (0, 20)


# --- The events -------------------------------------------------------------------------------------------------------


@each("epsilon", [1e-12, 1e-3, 0.1, 0.3, math.log(2), 1.0, 4.0, 30.0, 700.0])
def test_the_answers_lose_epsilon_at_least_and_hardly_more(epsilon):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(400):
        p = mpmath.mpf(noise_parameter(epsilon))
        loss = mpmath.log((2 - p) / p)
        assert 0 <= loss - mpmath.mpf(epsilon) < 4e-15 * max(1, epsilon)


def test_without_dp_accounting_it_says_how_to_install_it(basic, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        basic.to_dp_accounting()


@pytest.fixture
def accounting():
    return pytest.importorskip("dp_accounting", reason="it makes its events")


def total(accounting, ledger, delta, kind, **options):
    relation = accounting.NeighboringRelation.REPLACE_ONE
    accountant = kind(neighboring_relation=relation, **options)
    return accountant.compose(ledger.to_dp_accounting()).get_epsilon(delta)


def test_each_entry_has_its_event(accounting, basic, zcdp, tmp_path):
    assert basic.to_dp_accounting() == accounting.ComposedDpEvent([])
    for ledger in (basic, zcdp):
        ledger.charge("pure", 0.5)
        ledger.charge("in parts", 0.5, rho=0.01)
    zcdp.charge("gaussian", 0.5, 1e-6, rho=0.005)
    answers = accounting.RandomizedResponseDpEvent(noise_parameter(0.5), 2)
    concentrated = [accounting.ZCDpEvent(0.01), accounting.ZCDpEvent(0.005)]
    assert basic.to_dp_accounting().events == [answers, answers]
    assert zcdp.to_dp_accounting().events == [answers, *concentrated]

    approximate = BudgetLedger(tmp_path / "approximate.db", 1, 1e-6, composition="basic")
    approximate.charge("gaussian", 0.5, 1e-7, rho=0.005)
    approximate.charge("of another library", 0.25, 1e-7)
    events = approximate.to_dp_accounting()
    assert events.events == [concentrated[1], accounting.UnsupportedDpEvent()]
    relation = accounting.NeighboringRelation.REPLACE_ONE
    assert not accounting.rdp.RdpAccountant(neighboring_relation=relation).supports(events)


@each("epsilon", [0.01, 0.3, 1.0, 3.0])
def test_no_release_of_epsilon_loses_more_than_its_event(epsilon, accounting):
    """At any order, of two laws on three outcomes that are epsilon-DP; of a Laplace event, some would."""
    rng, ratio = np.random.default_rng(0), math.exp(epsilon)
    relation = accounting.NeighboringRelation.REPLACE_ONE
    orders = np.array([1.01, 1.5, 2.0, 5.0, 20.0])
    event = accounting.RandomizedResponseDpEvent(noise_parameter(epsilon), 2)
    accountant = accounting.rdp.RdpAccountant(orders, relation)
    most = np.array(accountant.compose(event)._rdp)
    laplace = accounting.rdp.RdpAccountant(orders).compose(accounting.LaplaceDpEvent(1 / epsilon))._rdp
    answers = np.array([ratio, 1]) / (1 + ratio)
    laws = [(np.append(answers, 0), np.append(answers[::-1], 0))]
    for _ in range(200):
        p = rng.dirichlet(np.ones(3))
        q = p * ratio ** rng.uniform(-0.5, 0.5, 3)  # and normalised, by at most the same
        laws.append((p, q / q.sum()))
    losses = []
    for p, q in laws:
        p, q = p[p > 0], q[p > 0]
        assert np.abs(np.log(p / q)).max() <= epsilon * (1 + 1e-12)
        losses.append([math.log((p**order * q ** (1 - order)).sum()) / (order - 1) for order in orders])
    assert np.all(np.max(losses, axis=0) <= most + 1e-12)
    assert np.any(np.max(losses, axis=0) > laplace + 1e-6)


def test_pure_entries_add_up_to_what_is_spent_and_to_less_with_a_delta(accounting, basic):
    costs = [0.5, 0.25, 1.0, 0.1, *[0.1] * 40]
    for cost in costs:
        basic.charge("x", cost)
    kind = accounting.pld.PLDAccountant
    spent = basic.spent()[0]
    assert spent <= total(accounting, basic, 0.0, kind) <= spent + (len(costs) + 1) * STEP
    assert total(accounting, basic, 1e-6, kind) < 0.9 * spent


@each("is_pure", [False, True])
def test_zcdp_adds_up_to_what_is_spent_or_less(is_pure, accounting, tmp_path_factory):
    ledger = BudgetLedger(tmp_path_factory.mktemp("ledger") / "zcdp.db", 3.0, 1e-6)
    for epsilon in (0.5, 0.25, 0.4):
        ledger.charge("gaussian", epsilon, 1e-6, rho=rho_for(epsilon, 1e-6))
    ledger.charge("scores", *Cost.of_parts(0.5, Fraction(1, 10))[:2], rho=Cost.of_parts(0.5, Fraction(1, 10)).rho)
    if is_pure:
        ledger.charge("names", 0.3)
    found = total(accounting, ledger, 1e-6, accounting.rdp.RdpAccountant, orders=ORDERS)
    spent = ledger.spent()[0]
    if is_pure:
        assert found < 0.95 * spent
    else:
        assert found == pytest.approx(spent, abs=1e-5)
