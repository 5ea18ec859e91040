"""What selectors do with a table once they have chosen: keep columns, with their names and types."""

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.feature_selection import SelectorMixin

from skdpmic._utils.errors import without_data
from skdpmic._utils.typing import TableLike
from skdpmic.table.frames import as_frame, columns_at, holds_numbers, in_library_of, is_frame, row_of_zeros


class ColumnSelectionMixin(SelectorMixin):
    """A selector of features of tables that may hold more than numbers."""

    def transform(self, X: TableLike) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        X_selected : array-like of shape (n_samples, n_selected_features)
            Of a dataframe that does not hold numbers only, a dataframe with the names and types of its columns; of
            other tables an ndarray or a sparse matrix, unless `set_output` says otherwise.
        """
        support = self._get_support_mask()
        with config_context(array_api_dispatch=False):
            if not is_frame(X):
                return without_data(super().transform, X)
            X = as_frame(X)
            container = without_data(super().transform, row_of_zeros(X))  # of the kind that the output is to have
            chosen = columns_at(X, np.flatnonzero(support).tolist())
            if not isinstance(container, np.ndarray):
                return in_library_of(chosen, container)
            if not holds_numbers(X):
                return chosen.to_native()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "No features were selected", UserWarning)  # as was said just now
                return without_data(super().transform, X.to_native())


def check_k(k):
    """Raise unless `k` says how many features to keep."""
    if k != "all" and (not isinstance(k, numbers.Integral) or k < 1):
        raise ValueError(f"k must be an int >= 1 or 'all', got {k!r}.")


def warn_about_k(k, n_features, stacklevel):
    """Warn if there are fewer features than are to be kept."""
    if k != "all" and k > n_features:
        warnings.warn(
            f"k={k} is greater than n_features={n_features}. All the features will be returned.",
            stacklevel=stacklevel + 1,
        )


def n_to_keep(k, n_features):
    """How many of so many features are kept."""
    return n_features if k == "all" else min(k, n_features)
