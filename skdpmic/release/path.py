"""The single path of a release: once ready, it is charged and drawn, and stored at the end."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import warn_about_seed


def run(
    entry: LedgerEntry,
    draw: Callable[[Callable[[int], bytes]], Any],
    *,
    ledger: Any,
    random_state: Any,
) -> Any:
    """Check, charge, draw: every release that costs budget takes this path.

    An `entry` is made from public numbers, after all checks. So an error before the charge costs nothing, and
    nothing that depends on the records happens before it.

    Parameters
    ----------
    entry : LedgerEntry
    draw : callable
        ``draw(random_bytes)`` returns what is published.
    ledger : BudgetLedger or None
    random_state : None, int or RandomState

    Returns
    -------
    object
        What is published.
    """
    check_ledger(ledger)
    random_bytes = entropy_source(random_state)
    if random_state is not None:
        warn_about_seed()
    if ledger is not None:
        ledger.charge_entry(entry)
    return draw(random_bytes)


class Ready(NamedTuple):
    """A release that may be charged: everything public is checked and decided, without regard to any record."""

    entry: LedgerEntry
    draw: Callable[[Any, Callable[[int], bytes]], dict[str, Any]]  # of records and random bytes: all that is published
    warn_after: Callable[[dict[str, Any]], None] | None = None  # of what was published, once it is stored


def publish(ready: Ready, records: Any, *, ledger: Any, random_state: Any) -> dict[str, Any]:
    """Charge a release, draw it from the records, and return its attributes for the fitted estimator."""
    return run(ready.entry, partial(ready.draw, records), ledger=ledger, random_state=random_state)


def store(estimator: Any, published: dict[str, Any]) -> None:
    """Replace what an earlier fit stored by what is published now, in one step that cannot be interrupted."""
    earlier = vars(estimator).get("_stored", ())
    kept = {name: value for name, value in vars(estimator).items() if name not in earlier}
    estimator.__dict__ = kept | published | {"_stored": tuple(sorted(published))}
