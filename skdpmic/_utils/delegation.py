"""Methods that a search delegates to its best estimator."""

from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.typing import TableLike


def delegated(name):
    """A method of the best estimator, available if that has it."""

    def has_it(search):
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # its own AttributeError gives the reason
        return True

    def method(self: Any, X: TableLike) -> Any:
        check_is_fitted(self, "best_estimator_")
        return getattr(self.best_estimator_, name)(X)

    method.__name__ = name
    method.__doc__ = f"""Call {name} of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray
            Result of the method.
        """
    return available_if(has_it)(method)
