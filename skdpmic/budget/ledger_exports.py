"""Exports of a ledger: a table for people, events for another accountant (``docs/theory/ledger.md``)."""

import math
from fractions import Fraction
from typing import Any

from skdpmic._utils.results import dataframe
from skdpmic.budget.filters import round_up
from skdpmic.budget.ledger_entry import LedgerEntry

_COLUMNS = ("when", *LedgerEntry._fields[:-1])


class LedgerExportsMixin:
    """A ledger whose entries can be exported."""

    def to_frame(self) -> Any:
        """Return all charges as a table, oldest first, with the total spent after each.

        Returns
        -------
        pandas.DataFrame
            One row per entry: `when` (UTC, as str) and the other fields of a LedgerEntry; and `spent_epsilon` and
            `spent_delta`, the result of `spent` when this entry was the last.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import tempfile
        >>> from skdpmic import BudgetLedger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     with ledger.spend("synthetic table", 0.5, by="OpenDP AIM"):
        ...         pass
        ...     with ledger.spend("model", 0.25, by="diffprivlib"):
        ...         pass
        ...     print(ledger.to_frame()[["what", "purpose", "epsilon", "spent_epsilon"]])
                  what          purpose  epsilon  spent_epsilon
        0   OpenDP AIM  synthetic table     0.50           0.50
        1  diffprivlib            model     0.25           0.75
        """
        return _table(self)

    def to_dp_accounting(self) -> Any:
        """Return all charges as events of Google's dp_accounting, for its accountants.

        The privacy loss of every event is at least that of its entry. So the total of an accountant for replace-one
        neighbours is valid if no cost was chosen depending on earlier results. (The limit of a ledger holds in any
        case.)

        Returns
        -------
        dp_accounting.ComposedDpEvent
            One event per entry, oldest first, for one :meth:`unit` of the ledger:

            - RandomizedResponseDpEvent with two buckets, the worst case of epsilon-DP, if delta is 0;
            - ZCDpEvent, if rho was recorded, and the ledger has composition="zcdp" or delta is above 0;
            - UnsupportedDpEvent, if delta is above 0 and no rho was recorded: no event describes this, and accountants
              refuse it. Pass ``rho=`` to :meth:`spend` if the mechanism has one.

        Raises
        ------
        ImportError
            If dp_accounting is not installed.

        Notes
        -----
        With ``neighboring_relation=NeighboringRelation.REPLACE_ONE``, a PLDAccountant accepts the events of a ledger
        with composition="basic" whose entries have delta 0: at delta 0 its total is that of `spent`, up to
        discretisation, and at a delta above 0 it is less. An RdpAccountant also accepts zCDP: at the ledger's delta,
        its total is at most that of `spent`, except for the orders missing from its list (``docs/theory/ledger.md``).

        Examples
        --------
        >>> import tempfile
        >>> from skdpmic import BudgetLedger
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     ledger.charge("median age", 0.5)
        ...     (event,) = ledger.to_dp_accounting().events
        >>> type(event).__name__, round(event.noise_parameter, 4)
        ('RandomizedResponseDpEvent', 0.7551)
        """
        return _events(self)


def standing(ledger, entries):
    """The state of a ledger with these entries in plain values: its limits, unit, and what is spent and remains."""
    limits = ledger.limits
    costs = {"limit": limits[:2], "spent": limits.spent(entries), "remaining": limits.remaining(entries)}
    unit = {"unit": limits.unit_of(entries), "max_rows_per_person": limits.max_rows_per_person}
    return (
        {"composition": limits.composition}
        | unit
        | {name: {"epsilon": epsilon, "delta": delta} for name, (epsilon, delta) in costs.items()}
    )


def _table(ledger):
    entries, spent = ledger.history()
    rows = [(*(getattr(entry, name) for name in _COLUMNS), *total) for entry, total in zip(entries, spent, strict=True)]
    return dataframe(rows, [*_COLUMNS, "spent_epsilon", "spent_delta"])


def _events(ledger):
    try:
        import dp_accounting
    except ImportError as error:
        raise ImportError("to_dp_accounting requires dp_accounting: pip install dp-accounting") from error
    return dp_accounting.ComposedDpEvent([_event(dp_accounting, entry, ledger.limits) for entry in ledger.entries()])


def _event(dp_accounting, entry, limits):
    cost = limits.cost(entry)
    if entry.rho is not None and (entry.delta > 0 or limits.composition == "zcdp"):
        return dp_accounting.ZCDpEvent(rho=round_up(cost.in_zcdp, Fraction))
    if entry.delta > 0:
        return dp_accounting.UnsupportedDpEvent()
    return dp_accounting.RandomizedResponseDpEvent(noise_parameter(round_up(cost.in_basic[0], Fraction)), 2)


def noise_parameter(epsilon):
    """The probability that a coin decides randomised response of one bit, for a loss of epsilon or hardly more.

    With probability p, the response is right ``(2 - p) / p = exp(epsilon)`` times as often as wrong.
    """
    wrong = math.exp(-epsilon)
    return 2 * wrong / (1 + wrong) * (1 - 2.0**-50)  # covers four roundings of 2**-53 each, downwards
