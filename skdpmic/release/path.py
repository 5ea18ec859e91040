"""The single path of a release: what is ready is charged and drawn, and stored at the end."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from skdpmic.budget.filters import Cost
from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.units import RECORD
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import warn_about_seed


@dataclass(frozen=True)
class Expense:
    """The ledger entry of a release: names and public numbers only."""

    what: str  # the estimator or the function
    cost: Cost
    n: int  # records, or people: of `unit`
    d: int | None = None  # features
    k: int | None = None  # features chosen
    statistic: str | None = None
    release: str | None = None  # what is published
    mechanism: str | None = None  # draws the noise
    epsilon_of_target: float | None = None  # part of the cost for the target itself
    unit: str = RECORD  # of protection; PERSON only if the noise covers all records of a person

    def released(self) -> dict[str, Any]:
        """The release, by the names of the ledger's fields."""
        names = ("n", "d", "k", "statistic", "release", "mechanism", "epsilon_of_target", "unit")
        return {name: getattr(self, name) for name in names}


def run(
    expense: Expense,
    draw: Callable[[Callable[[int], bytes]], Any],
    keep: Callable[[Any], Any] = lambda released: released,
    *,
    ledger: Any,
    random_state: Any,
) -> Any:
    """Check, charge, draw, keep: every release that costs budget takes this path.

    An `expense` is built from public numbers, after all checks. So an error before the charge costs nothing, and
    nothing that depends on the records happens before it.

    Parameters
    ----------
    expense : Expense
    draw : callable
        ``draw(random_bytes)`` returns what is published.
    keep : callable, default=None
        Called with what is published, which is returned unchanged by default.
    ledger : BudgetLedger or None
    random_state : None, int or RandomState

    Returns
    -------
    object
        The result of `keep`.
    """
    check_ledger(ledger)
    random_bytes = entropy_source(random_state)
    if random_state is not None:
        warn_about_seed()
    if ledger is not None:
        ledger.charge(expense.what, *expense.cost[:2], rho=expense.cost.rho, **expense.released())
    return keep(draw(random_bytes))


class Ready(NamedTuple):
    """A release that may be charged: everything public is checked and decided, and no record was looked at."""

    expense: Expense
    draw: Callable[[Any, Callable[[int], bytes]], dict[str, Any]]  # of records and random bytes: all that is published


def publish(ready: Ready, records: Any, *, ledger: Any, random_state: Any) -> dict[str, Any]:
    """Charge a release, draw it from the records, and return the attributes that a fitted estimator has of it."""
    return run(ready.expense, partial(ready.draw, records), ledger=ledger, random_state=random_state)


def store(estimator: Any, published: dict[str, Any]) -> None:
    """Replace what an earlier fit stored by what is published now, in a single step that no interrupt can divide."""
    earlier = vars(estimator).get("_stored", ())
    kept = {name: value for name, value in vars(estimator).items() if name not in earlier}
    estimator.__dict__ = kept | published | {"_stored": frozenset(published)}
