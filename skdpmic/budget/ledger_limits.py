"""The limits of a ledger, and how charges are added up to them: per record, or per person."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from skdpmic._utils.errors import BudgetError
from skdpmic._utils.texts import quoted
from skdpmic.budget.filters import Cost, make_filter
from skdpmic.budget.ledger_entry import PERSON, PLURAL, RECORD, LedgerEntry, count_or_none, number_of
from skdpmic.privacy.parameters import check_delta, check_epsilon

COMPOSITIONS = ("auto", "basic", "zcdp")


class Limits(NamedTuple):
    """The limits of a ledger, as stored with it."""

    epsilon: float
    delta: float
    composition: str  # "basic" or "zcdp"
    max_rows_per_person: int | None  # None if costs of records and people are not added up

    @property
    def filter(self) -> Any:
        """The filter that decides which costs fit."""
        return make_filter(self.composition, self.epsilon, self.delta)

    def unit_of(self, entries: Sequence[LedgerEntry]) -> str | None:
        """The unit of the total of these entries; None if nothing has decided it."""
        if self.max_rows_per_person is not None:
            return PERSON
        return entries[0].unit if entries else None

    def cost(self, entry: LedgerEntry) -> Cost:
        """The cost of an entry for one unit of the total."""
        rows = self.max_rows_per_person if entry.unit == RECORD else None
        return Cost(entry.epsilon, entry.delta, entry.rho, rows=rows or 1)

    def spent(self, entries: Sequence[LedgerEntry]) -> tuple[float, float]:
        """The total (epsilon, delta) of these entries."""
        return self.filter.spent(self._costs(entries))

    def remaining(self, entries: Sequence[LedgerEntry]) -> tuple[float, float]:
        """The largest (epsilon, delta) that would still be accepted after these entries."""
        return self.filter.remaining(self._costs(entries))

    def spent_after_each(self, entries: Sequence[LedgerEntry]) -> list[tuple[float, float]]:
        """What is spent with each of these entries and those before it."""
        spent, counts = [], Counter[Cost]()
        for entry in entries:
            counts[self.cost(entry)] += 1
            spent.append(self.filter.spent(_with_counts(counts)))
        return spent

    def check(self, entry: LedgerEntry, entries: Sequence[LedgerEntry], path: str) -> None:
        """Raise a :class:`BudgetError` unless this entry can be added to these entries of the ledger at `path`."""
        self._check_unit(entry, entries, path)
        costs, (cost,) = self._costs(entries), self._costs([entry])
        if math.inf in cost or not self.filter.accepts([*costs, cost]):
            counted = "" if cost.rows == 1 else f" for one record, which counts {cost.rows:,} times for a person,"
            remains = f"{self.remaining(entries)} remains{' for a person' if counted else ''}"
            raise BudgetError(
                f"a cost of (epsilon, delta) = {cost[:2]}{counted} does not fit in the ledger {path!r}: "
                f"{self.filter.spent(costs)} of {(self.epsilon, self.delta)} is spent, {remains}."
            )

    def standing(self, entries: Sequence[LedgerEntry]) -> dict[str, Any]:
        """The limits, the unit, and what is spent and remains after these entries, in plain values."""
        costs = {"limit": self[:2], "spent": self.spent(entries), "remaining": self.remaining(entries)}
        return {
            "composition": self.composition,
            "unit": self.unit_of(entries),
            "max_rows_per_person": self.max_rows_per_person,
            **{name: {"epsilon": epsilon, "delta": delta} for name, (epsilon, delta) in costs.items()},
        }

    def _check_unit(self, entry, entries, path):
        unit = self.unit_of(entries)
        if unit in (None, entry.unit) or self.max_rows_per_person is not None:
            return
        remedy = (
            "Pass groups and max_rows_per_group to the fit (or unit='person', if a cost covers all records of a person)"
            if entry.unit == RECORD
            else "Leave out groups, if nobody has several records"
        )
        raise BudgetError(
            f"a cost for {PLURAL[entry.unit]} cannot be added up in the ledger {path!r}, whose charges are for "
            f"{PLURAL[unit]}, because nothing limits how many records a person has. {remedy}; or create another ledger "
            "with max_rows_per_person, the largest number of records of a person, and charge there what was spent here."
        )

    def _costs(self, entries):
        """The costs of these entries for one unit of the total; equal costs are combined."""
        return _with_counts(Counter(map(self.cost, entries)))


def checked_limits(epsilon: Any, delta: Any, composition: Any, max_rows_per_person: Any) -> Limits:
    """The limits that a user passed; a ValueError if they are invalid."""
    epsilon, delta = number_of(epsilon, "epsilon"), number_of(delta, "delta")
    check_epsilon(epsilon)
    if epsilon == math.inf:
        raise ValueError(f"epsilon must be finite, got {quoted(epsilon)}.")
    check_delta(delta)
    if not isinstance(composition, str) or composition not in COMPOSITIONS:
        raise ValueError(f"composition must be 'auto', 'basic' or 'zcdp', got {quoted(composition)}.")
    if composition == "auto":
        composition = "zcdp" if delta > 0 else "basic"
    if composition == "zcdp" and delta == 0:
        raise ValueError(f"composition='zcdp' needs delta > 0, got {quoted(delta)}.")
    rows = count_or_none(max_rows_per_person, "max_rows_per_person", least=1)
    return Limits(epsilon, delta, str(composition), rows)


def _with_counts(counts):
    return [cost._replace(count=count) for cost, count in counts.items()]
