"""Any argument of a ledger is refused with nothing written, or round-trips, in a file and in a database."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy.composition import epsilon_of, exact

HUGE = 10**5000  # with more digits than Python prints
ODD = (
    *(None, True, False, np.True_, 0, 1, 3, -1, 2**31, 2**63 - 1, 2**63, 10**30, HUGE, -HUGE),
    *(0.0, -0.0, 0.5, -0.5, 5e-324, 1e-100, 1e300, math.inf, -math.inf, math.nan),
    *(np.int8(3), np.int64(60), np.uint64(2**64 - 1), np.float16(0.1), np.float32(0.1), np.float64(0.1)),
    *(np.longdouble(1) / 3, np.float64("nan"), np.array(0.5), np.array([0.5, 1]), np.datetime64("2020-01-01")),
    *(Decimal("0.1"), Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), Fraction(1, 4), 0.5 + 0j),
    *("", " ", "text", "0.5", "record", "person", "a\0b", "\0", "\ud800", "x\udfff", "\n", "\x1b[2J", "\u202e"),
    "😀'\"%s:x",
    *(np.str_("text"), b"text", b"\xff", "x" * 2000, [], ["text"], (1, 2), {}, object(), lambda: None),
)
ARGUMENTS = (
    *("what", "epsilon", "delta", "rho", "n", "d", "k", "statistic", "release", "mechanism", "epsilon_of_target"),
    "unit",
)


def is_ours(error):
    """Whether a message is from this package, that is, says what must hold."""
    text = str(error)
    return ("must be" in text or "does not fit" in text or "cannot be added up" in text) and len(text) < 1000


def refusal(use):
    """The error of a refused use, which names the argument and what must hold; None if it succeeds."""
    try:
        use()
    except (ValueError, TypeError, BudgetError) as error:
        return error
    return None


def written(ledger, charges):
    """The charges that were accepted, checked to be exactly those that can be read back and are counted."""
    kept = []
    for charge in charges:
        error = refusal(lambda charge=charge: ledger.charge_entry(LedgerEntry(**charge)))
        if error is None:
            kept.append(charge)
        else:
            assert is_ours(error), repr(error)
    entries = BudgetLedger.open(ledger.path).entries()
    for entry, charge in zip(entries, kept, strict=True):
        assert all(getattr(entry, name) == value for name, value in charge.items())
        assert {type(value) for value in entry} <= {str, int, float, type(None)}
    costs = sum(exact(entry.epsilon) for entry in entries)
    rhos = sum(Fraction(entry.rho) if entry.rho else exact(entry.epsilon) ** 2 / 2 for entry in entries)
    least = min(costs, exact(epsilon_of(float(rhos), ledger.delta)) if ledger.composition == "zcdp" else math.inf)
    assert least * (1 - Fraction(1, 10**9)) <= exact(ledger.spent()[0]) <= costs * (1 + Fraction(1, 10**9))
    return kept


USUAL = {"what": "x", "epsilon": 0.5, "rho": 0.01}


@pytest.mark.slow
def test_an_odd_argument_is_refused_or_read_back_and_counted(place):
    charges = [USUAL | {name: value} for name, value in itertools.product(ARGUMENTS, ODD)]
    kept = written(BudgetLedger(place, 1e6, 0.5), charges)
    assert len(kept) > 50
    for name in ARGUMENTS:
        assert any(charge.get(name) != USUAL.get(name) for charge in kept)
    assert not any(value is True or value is False or value is HUGE for charge in kept for value in charge.values())


@pytest.mark.parametrize("name", ["purpose", "by"])
def test_an_odd_purpose_or_mechanism_of_a_block_is_refused_or_read_back(place, name):
    ledger, n_written = BudgetLedger(place, 1e6), 0
    for value in ODD:
        arguments = {"purpose": "x", "by": "y"} | {name: value}
        error = refusal(lambda arguments=arguments: ledger.spend(epsilon=0.5, **arguments))
        if error is not None:
            assert is_ours(error), repr(error)
            continue
        n_written += 1
        entry = ledger.entries()[-1]
        assert {"purpose": entry.purpose, "by": entry.what} == arguments
    assert len(ledger.entries()) == n_written > 5


def test_odd_limits_are_refused_or_read_back(tmp_path):
    names = ("epsilon", "delta", "composition", "max_rows_per_person")
    for i, (name, value) in enumerate(itertools.product(names, ODD)):
        path = tmp_path / f"{i}.db"
        limits = {"epsilon": 1.0, "delta": 1e-6} | {name: value}
        error = refusal(lambda path=path, limits=limits: BudgetLedger(path, **limits))
        if error is not None:
            assert is_ours(error), repr(error)
            assert not path.exists()
            continue
        assert getattr(BudgetLedger.open(path), name) == value


@pytest.mark.parametrize(
    "path",
    [None, True, 7, 0.5, [], "", b"", "a\0b", "\ud800", "x\udfff\ud800", pytest.param(HUGE, id="huge"), object()],
)
def test_an_odd_path_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (lambda: BudgetLedger(path, 1.0), lambda: BudgetLedger.open(path)):
        with pytest.raises((ValueError, TypeError), match="path must be a"):
            use()
    assert list(tmp_path.iterdir()) == []
