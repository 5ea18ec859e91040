"""How selectors transform a table: they keep the chosen columns, with their names and types."""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.feature_selection import SelectorMixin

from skdpmic._utils.errors import warn
from skdpmic._utils.typing import TableLike
from skdpmic.table.frames import check_columns_seen, open_table
from skdpmic.table.handed_on import AsksForContainer, among_zeros, with_columns


class ColumnSelectionMixin(AsksForContainer, SelectorMixin):
    """A feature selector for tables that may hold more than numbers."""

    def transform(self, X: TableLike) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Or any object with ``__arrow_c_stream__``, which is read as a whole by pyarrow or Polars.

        Returns
        -------
        X_selected : array-like of shape (n_samples, n_selected_features)
            The values of these columns, unchanged, in the container of X: a dataframe of the same library, with the
            types of its columns and the names of `get_feature_names_out`; a sparse matrix; or an array, of objects
            if X is a list of rows with other values than floats. For an Arrow stream, a dataframe of the library that
            read it. `set_output` may ask for another container; columns of types that it lacks then hold objects.
        """
        support = self.get_support()
        table = open_table(X, type(self).__name__, takes_text=True)
        check_columns_seen(self, table)
        if not support.any():
            warn("No features were selected: either the data is too noisy or the selection test too strict.")
        with config_context(array_api_dispatch=False):
            container = super().transform(None)
        return with_columns(table, np.flatnonzero(support).tolist(), self.get_feature_names_out(), container)

    def inverse_transform(self, X: TableLike) -> Any:
        """Put zeros where `transform` removed features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_selected_features)
            The selected features, in order; missing values are kept.

        Returns
        -------
        X_original : array-like of shape (n_samples, n_features)
            In the container of X, as for `transform`; a dataframe has the feature names seen in `fit`.
        """
        support = self.get_support()
        table = open_table(X, type(self).__name__, takes_text=True)
        if table.n_features != support.sum():
            raise ValueError("X has a different shape than during fitting.")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(support))])  # as scikit-learn's
        return among_zeros(table, support, names)
