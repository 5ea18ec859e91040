"""Charges for mechanisms of other libraries, made before these run."""

from contextlib import AbstractContextManager
from typing import Literal

from skdpmic.budget.ledger_entry import text_of


class ForeignMechanismsMixin:
    """A ledger that can be charged for mechanisms of other libraries."""

    def spend(
        self,
        purpose: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        by: str = "another library",
        rho: float | None = None,
        unit: Literal["record", "person"] = "record",
    ) -> AbstractContextManager[tuple[float, float]]:
        """Charge a mechanism of another library, then run it inside a ``with`` block.

        The cost is on disk before the block runs. If the block fails, the charge stays, because its result may have
        been seen. If the cost does not fit, :class:`BudgetError` is raised and the block does not run.

        The ledger cannot check the cost: pass the epsilon and delta that the library guarantees if one `unit` is
        replaced, and publish nothing from the block that they do not cover.

        Parameters
        ----------
        purpose : str
            Purpose of the result, appended to that of :meth:`for_purpose`, if any. Anyone who can read the file can
            read it, so it must not contain anything read from the data.
        epsilon : float
            Above 0.
        delta : float, default=0.0
            In [0, 1).
        by : str, default="another library"
            Name of the mechanism, such as "OpenDP AIM".
        rho : float, default=None
            Rho of the mechanism, if it is also rho-zCDP; required for delta > 0 in a ledger with composition="zcdp".
        unit : {"record", "person"}, default="record"
            What the library's guarantee covers: one record, as most do, or all records of a person.

        Returns
        -------
        context manager
            For one ``with`` statement. Its ``as`` target is (epsilon, delta), to pass to the mechanism.

        Raises
        ------
        BudgetError
            If the total would exceed the limit, or if `unit` is not that of the ledger. Nothing is written.
        ValueError
            If an argument is invalid, or the file is damaged or no longer this ledger.
        OSError
            If the charge cannot be written.

        See Also
        --------
        BudgetLedger.to_frame : Returns all charges as a table.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from skdpmic import BudgetLedger
        >>> records = np.random.default_rng(0).integers(0, 2, size=1000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     with ledger.spend("number of smokers", 0.4, by="numpy, for show") as (epsilon, delta):
        ...         smokers = records.sum() + np.random.default_rng().laplace(scale=1 / epsilon)
        ...     print(ledger.entries()[0], ledger.remaining())
        number of smokers: numpy, for show (0.6, 0.0)
        """
        _charge(self, purpose, epsilon, delta, by=by, rho=rho, unit=unit)
        return _Paid(float(epsilon), float(delta))


class _Paid(AbstractContextManager):
    """A block that has been charged, to be run once."""

    def __init__(self, epsilon, delta):
        self._cost, self._is_used = (epsilon, delta), False

    def __enter__(self):
        if self._is_used:
            raise RuntimeError("a charge pays for one block only. Call spend again.")
        self._is_used = True
        return self._cost

    def __exit__(self, *exception):
        """Keep the charge, whatever happened, and propagate errors."""


def _charge(ledger, purpose, epsilon, delta, *, by, rho, unit):
    purpose, by = text_of(purpose, "purpose"), text_of(by, "by")
    of_block = ledger.for_purpose(purpose if ledger.purpose is None else f"{ledger.purpose}, {purpose}")
    of_block.charge(by, epsilon, delta, rho=rho, unit=unit)
