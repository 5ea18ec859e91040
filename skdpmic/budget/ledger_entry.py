"""One charge of a ledger, in the unit protected: checked first, so that every storage returns it as it was given."""

import contextlib
import math
from typing import Any, NamedTuple, get_args, get_type_hints

from skdpmic._utils.arguments import is_number, is_whole
from skdpmic._utils.texts import budget, budget_left, escaped, quoted, require
from skdpmic.privacy.composition import check_delta, check_epsilon

RECORD, PERSON = UNITS = ("record", "person")
PLURAL = {RECORD: "records", PERSON: "people"}


def unit_of(max_rows_per_group):
    """The unit of a release: people, if a limited number of rows counts for each."""
    return RECORD if max_rows_per_group is None else PERSON


def per(unit):
    """The unit after a cost; nothing if no unit is known, because nothing has been charged."""
    return "" if unit is None else f" per {unit}"


_LARGEST_INT = 2**63 - 1  # of a column of integers


class LedgerEntry(NamedTuple):
    """One release and its cost, as a :class:`BudgetLedger` stores it; its str states what was spent on what, and why.

    It contains names and public numbers only. A release makes its entry once; the ledger adds `purpose` and `when`.

    Attributes
    ----------
    what : str
        Estimator or function that spent it, or the user's text.
    epsilon, delta : float
        Cost for one `unit`.
    rho : float or None
        Rho of a zCDP guarantee; None with delta 0 means ``epsilon**2 / 2``.
    unit : {"record", "person"}
        Unit of protection: whether the cost is for one record, or for all records of a person.
    n, d : int or None
        Number of records (or people), and number of features.
    k : int or None
        Number of features chosen, if only their names were published.
    statistic : str or None
        Statistic computed for each feature, or for each pair.
    release : {"scores", "names", "tables", "matrix", "bounds", "choice", "reports"}, other str or None
        What was published: scores; the names of the best k features; tables of counts; a correlation matrix; ranges;
        the parameters chosen by a search; reports of single records.
    mechanism : str or None
        Mechanism that drew the noise.
    epsilon_of_target : float or None
        Epsilon spent on the target itself, before any feature was scored; part of `epsilon`, or with `delta`, of `rho`.
    rows_per_person : int or None
        Number of records counted for each person, if the unit is a person.
    model : {"central", "local"}
        Model of differential privacy.
    covers : str or None
        What the guarantee covers, such as "the target", if not all inputs of the release.
    broken_by : str
        Names of parameters whose values break the guarantee, separated by commas; empty if none does.
    purpose : str or None
        See :meth:`BudgetLedger.for_purpose`.
    when : str
        Time of the charge in UTC, in ISO 8601; empty before it.
    """

    what: str
    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    unit: str = RECORD
    n: int | None = None
    d: int | None = None
    k: int | None = None
    statistic: str | None = None
    release: str | None = None
    mechanism: str | None = None
    epsilon_of_target: float | None = None
    rows_per_person: int | None = None
    model: str = "central"
    covers: str | None = None
    broken_by: str = ""
    purpose: str | None = None
    when: str = ""

    @property
    def spender(self) -> str:
        """What spent it, after the purpose if there is one; control characters are escaped."""
        return escaped(self.what if self.purpose is None else f"{self.purpose}: {self.what}")

    @property
    def released(self) -> str:
        """The release, such as "mtv_r, names of 5 of 100, one-shot, target 0.075"; empty if none was recorded.

        The last item is the part of epsilon spent on the target. Control characters are escaped.
        """
        numbers = (f"{number:,}" for number in (self.k, self.d) if number is not None)
        amount = self.release and " of ".join([self.release, *numbers])
        target = self.epsilon_of_target and f"target {self.epsilon_of_target:.3g}"
        return escaped(", ".join(part for part in (self.statistic, amount, self.mechanism, target) if part))

    def __str__(self) -> str:
        return ", ".join(part for part in (self.spender, self.released) if part)


# The types that a field may have.
_KINDS = {name: get_args(kind) or (kind,) for name, kind in get_type_hints(LedgerEntry).items()}


def columns_in_sql(text, real, integer):
    """The columns of a table of entries in SQL, whose types have these names."""
    in_sql = {str: text, float: real, int: integer}
    return ", ".join(
        f'"{name}" {in_sql[kinds[0]]}{"" if type(None) in kinds else " NOT NULL"}' for name, kinds in _KINDS.items()
    )


def broken_by_seed(random_state: Any) -> str:
    """The `broken_by` of a release whose noise is drawn from this source."""
    return "" if random_state is None else "random_state"


def entry_for(what, cost, *, random_state, max_rows_per_group=None, **public) -> LedgerEntry:
    """The entry of a function's release, for whose cost it is charged."""
    public |= {"unit": unit_of(max_rows_per_group), "broken_by": broken_by_seed(random_state)}
    return LedgerEntry(what, cost.epsilon, cost.delta, cost.rho, rows_per_person=max_rows_per_group, **public)


def checked_entry(entry: LedgerEntry) -> LedgerEntry:
    """The entry in plain types; a ValueError if a storage could not return it as it is."""
    entry = LedgerEntry(*(_checked(value, name) for name, value in entry._asdict().items()))
    check_epsilon(entry.epsilon)
    check_delta(entry.delta)
    # A release that costs nothing has no epsilon either.
    require(entry.rho is None or entry.rho > 0, "rho must be None or a number > 0", entry.rho)
    return entry


def text_of(value: Any, name: str) -> str:
    """`value` as a str that is not blank and that every storage can hold."""
    require(isinstance(value, str) and value.strip(), f"{name} must be a non-blank str", value)
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{name} must be text without NUL characters and lone surrogates, got {quoted(value)}.")
    return str(value)


def number_of(value: Any, name: str) -> float:
    """`value` as the float that equals it."""
    with contextlib.suppress(OverflowError):  # of a large int
        if is_number(value) and float(value) == value:
            return float(value) + 0.0  # 0 for -0, which not all databases store
    raise ValueError(f"{name} must be a number that is exactly a float, got {quoted(value)}.")


def count_or_none(value: Any, name: str, least: int = 0) -> int | None:
    """`value` as an int of 63 bits, or None."""
    is_count = is_whole(value) and least <= int(value) <= _LARGEST_INT
    require(value is None or is_count, f"{name} must be None or an int from {least} to 2**63 - 1", value)
    return None if value is None else int(value)


_CHECKS = {str: text_of, float: number_of, int: count_or_none}
_MAY_BE_EMPTY = ("broken_by", "when")
_CHOICES = {"unit": UNITS, "model": ("central", "local")}


def _checked(value, name):
    if value is None and type(None) in _KINDS[name]:
        return None
    if name in _MAY_BE_EMPTY and isinstance(value, str) and not value:
        return ""
    if name in _CHOICES and not (isinstance(value, str) and value in _CHOICES[name]):
        raise ValueError(f"{name} must be {' or '.join(map(repr, _CHOICES[name]))}, got {quoted(value)}.")
    return _CHECKS[_KINDS[name][0]](value, name)


# --- A ledger, by its fields in the JSON of a card and of the command line -------------------------------------------


def paid(guarantee):
    """Epsilon and delta in words; null is infinity."""
    epsilon = guarantee["epsilon"]
    return budget(math.inf if epsilon is None else epsilon, guarantee["delta"])


CHARGES = ("time (UTC)", "cost", "what", "purpose")  # titles of a table


def ledger_in_words(ledger):
    """The limit of a ledger, and what is spent and remains: names and their texts."""
    unit, most, left = per(ledger["unit"]), ledger["max_rows_per_person"], ledger["remaining"]
    facts = {
        "Limit": paid(ledger["limit"]) + unit,
        "Spent": paid(ledger["spent"]) + unit,
        "Remaining": budget_left(left["epsilon"], left["delta"]) + unit,
    }
    if most is not None:
        facts["Records per person"] = f"at most {most:,}, for each of which a cost per record counts"
    return facts


def charges_in_words(entries):
    """The rows of a table of charges."""
    return [
        (entry["when"][:19].replace("T", " "), paid(entry) + per(entry["unit"]), entry["what"], entry["purpose"] or "")
        for entry in entries
    ]
