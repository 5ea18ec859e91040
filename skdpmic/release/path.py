"""The single path of a release: check, charge, draw, keep."""

from collections.abc import Callable
from typing import Any

from skdpmic.budget.ledger import check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import warn_about_seed


def run(
    entry: LedgerEntry,
    draw: Callable[[Callable[[int], bytes]], Any],
    keep: Callable[[Any], Any] = lambda released: released,
    *,
    ledger: Any,
    random_state: Any,
) -> Any:
    """Check, charge, draw, keep: every release that costs budget takes this path.

    An `entry` is made from public numbers, after all checks. So an error before the charge costs nothing, and
    nothing that depends on the records happens before it.

    Parameters
    ----------
    entry : LedgerEntry
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
        ledger.charge_entry(entry)
    return keep(draw(random_bytes))
