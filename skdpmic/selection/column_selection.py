"""How selectors transform a table: they keep the chosen columns, with their names and types."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import are_text
from skdpmic._utils.typing import TableLike
from skdpmic.table.frames import columns_at, holds_numbers, in_library_of, row_of_zeros, with_zeros
from skdpmic.table.normal_form.containers import as_frame, is_frame, refuse_remote


class ColumnSelectionMixin(SelectorMixin):
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
            For a dataframe with non-numeric columns, a dataframe with the types of its columns and the names of
            `get_feature_names_out`; for an Arrow stream, a dataframe of the library that read it; otherwise an ndarray
            or sparse matrix, unless `set_output` asks for another container.
        """
        support = self._get_support_mask()
        with config_context(array_api_dispatch=False):
            if not is_frame(X):
                refuse_remote(X, "X")
                return without_data(super().transform, X)
            X = as_frame(X)
            container = without_data(super().transform, row_of_zeros(X))  # of the kind of the output
            chosen = columns_at(X, np.flatnonzero(support).tolist())
            if not are_text(X.columns):  # the numbers of the columns, and of those chosen no more
                chosen = chosen.rename(dict(zip(chosen.columns, self.get_feature_names_out(), strict=True)))
            if not isinstance(container, np.ndarray):
                return in_library_of(chosen, container)
            if not holds_numbers(X):
                return chosen.to_native()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "No features were selected")  # already warned
                return without_data(super().transform, X.to_native())

    def inverse_transform(self, X: TableLike) -> Any:
        """Put zeros where `transform` removed features.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_selected_features)
            The selected features, in order; missing values are kept.

        Returns
        -------
        X_original : array-like of shape (n_samples, n_features)
            For a dataframe with non-numeric columns, a dataframe with the feature names seen in `fit`; otherwise an
            ndarray or sparse matrix.
        """
        support = self.get_support()
        with config_context(array_api_dispatch=False):
            if sparse.issparse(X):
                return super().inverse_transform(X)  # which calls this method on index arrays
            if is_frame(X):
                X = as_frame(X)
                if not holds_numbers(X):
                    _check_width(X, support)
                    return with_zeros(X, support, getattr(self, "feature_names_in_", _names_by_number(support)))
                X = X.to_native()
            refuse_remote(X, "X")
            options = {"dtype": None, "ensure_all_finite": "allow-nan", "input_name": "X"}
            X = without_data(check_array, X, estimator=type(self).__name__, **options)
            _check_width(X, support)
            whole = np.zeros((len(X), len(support)), dtype=X.dtype)
            whole[:, support] = X
            return whole


def _check_width(X, support):
    if X.shape[1] != support.sum():
        raise ValueError("X has a different shape than during fitting.")


def _names_by_number(support):
    """The names that scikit-learn gives to unnamed features."""
    return [f"x{j}" for j in range(len(support))]
