"""The one path of a release: what has been checked is charged, then drawn, then kept."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skdpmic.budget.filters import Cost
from skdpmic.budget.ledger import check_ledger
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import warn_about_seed


@dataclass(frozen=True)
class Expense:
    """What a ledger is told of a release: names and public numbers only."""

    what: str  # the estimator or the function
    cost: Cost
    n: int  # records, or people
    d: int | None = None  # features
    k: int | None = None  # of them that are chosen
    statistic: str | None = None
    release: str | None = None  # what is published
    mechanism: str | None = None  # that draws the noise
    epsilon_of_target: float | None = None  # of the cost, what is spent on the target itself

    def released(self) -> dict[str, Any]:
        """What is released, by the names that a ledger has for it."""
        names = ("n", "d", "k", "statistic", "release", "mechanism", "epsilon_of_target")
        return {name: getattr(self, name) for name in names}


def run(
    expense: Expense,
    draw: Callable[[Callable[[int], bytes]], Any],
    keep: Callable[[Any], Any] = lambda released: released,
    *,
    ledger: Any,
    random_state: Any,
    stacklevel: int,
) -> Any:
    """Check, charge, draw, keep: whatever costs budget comes this way.

    An `expense` is made of public numbers, with all that can be refused of a release. So an error up to the charge
    costs nothing; and nothing that depends on the records happens before it.

    Parameters
    ----------
    expense : Expense
    draw : callable
        ``draw(random_bytes)`` is what is published.
    keep : callable, default=None
        Is given what is published. By default it is returned as it is.
    ledger : BudgetLedger or None
    random_state : None, int or RandomState
    stacklevel : int
        Of a warning that a seed is set, as seen from here.

    Returns
    -------
    object
        What `keep` returns.
    """
    check_ledger(ledger)
    random_bytes = entropy_source(random_state)
    if random_state is not None:
        warn_about_seed(stacklevel + 1)
    if ledger is not None:
        ledger.charge(expense.what, *expense.cost[:2], rho=expense.cost.rho, **expense.released())
    return keep(draw(random_bytes))
