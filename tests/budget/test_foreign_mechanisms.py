"""Mechanisms of other libraries are charged before they run, whatever happens then."""

import pytest

from skdpmic import BudgetError, BudgetLedger
from tests.folding import each


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger.db", 1.0, 1e-6, composition="basic")


def test_the_charge_is_on_disk_before_the_with_block_runs(ledger):
    with ledger.spend("synthetic table", 0.4, 1e-7, by="OpenDP AIM") as cost:
        (entry,) = BudgetLedger.open(ledger.path).entries()
        assert cost == (entry.epsilon, entry.delta) == (0.4, 1e-7)
    assert (entry.what, entry.purpose, str(entry)) == (
        "OpenDP AIM",
        "synthetic table",
        "synthetic table: OpenDP AIM",
    )
    assert len(ledger.entries()) == 1


def test_a_block_that_fails_keeps_its_charge_and_its_error(ledger):
    with pytest.raises(KeyboardInterrupt), ledger.spend("model", 0.25):
        raise KeyboardInterrupt
    assert ledger.spent() == (0.25, 0.0)


def test_a_block_that_exceeds_the_budget_does_not_run(ledger):
    for cost in ((1.25, 0.0), (0.5, 2e-6)):
        with pytest.raises(BudgetError), ledger.spend("too much", *cost):
            pytest.fail("it ran")
    assert ledger.entries() == []


def test_a_charge_pays_for_one_block(ledger):
    paid = ledger.spend("model", 0.25)
    with paid:
        pass
    with pytest.raises(RuntimeError, match="one block only"), paid:
        pytest.fail("it ran twice")
    assert ledger.spent() == (0.25, 0.0)


def test_a_call_without_a_block_is_charged_too(ledger):
    """A forgotten `with` must not give a free release."""
    ledger.spend("model", 0.25)
    assert ledger.spent() == (0.25, 0.0)


def test_the_purpose_of_the_ledger_precedes_that_of_the_block(ledger):
    with ledger.for_purpose("annual report").spend("model", 0.25):
        pass
    assert str(ledger.entries()[0]) == "annual report, model: another library"
    assert ledger.purpose is None


def test_a_zcdp_ledger_adds_up_rho(tmp_path):
    ledger = BudgetLedger(tmp_path / "zcdp.db", 1.0, 1e-6)
    with ledger.spend("synthetic table", 0.5, 1e-6, rho=0.005):
        pass
    assert ledger.entries()[0].rho == 0.005
    with pytest.raises(ValueError, match="rho must be given"), ledger.spend("another", 0.1, 1e-6):
        pytest.fail("it ran")
    assert len(ledger.entries()) == 1


@each(
    "arguments, message",
    [
        (("", 0.1), "purpose must be a non-blank str"),
        ((None, 0.1), "purpose must be a non-blank str"),
        (("model", 0), "epsilon must be"),
        (("model", 0.1, 1.0), "delta must be"),
        (("model", 0.1, -0.1), "delta must be"),
    ],
)
def test_invalid_arguments_are_refused_and_cost_nothing(arguments, message, ledger):
    with pytest.raises(ValueError, match=message), ledger.spend(*arguments):
        pytest.fail("it ran")
    with pytest.raises(ValueError, match="by must be"):
        ledger.spend("model", 0.1, by=" ")
    assert ledger.entries() == []
