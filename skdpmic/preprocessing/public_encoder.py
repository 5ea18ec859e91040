"""Encoding of columns of every kind as numbers from 0 to 1, by public facts: nothing is learnt from data."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.bases import AsksForContainer, BaseEstimator
from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import require, told_apart
from skdpmic._utils.typing import Categories, ColumnLike, Ranges, TableLike
from skdpmic.table.domains import MISSING, OTHER, Labels, beside, domain_of, ends_of, in_unit_interval, names_of_labels
from skdpmic.table.facts import PublicFacts
from skdpmic.table.frames import as_frame, is_frame, is_lazy
from skdpmic.table.records import read_columns
from skdpmic.table.tables import check_columns_seen, columns_seen, dataframe_of, open_table

_ENCODINGS = ("one-hot", "ordinal")


@dataclass(eq=False, repr=False, kw_only=True)
class PublicEncoder(AsksForContainer, BaseEstimator):
    """Encode numbers, dates, labels and missing values as numbers in [0, 1], by public facts only.

    Use it between a private selector and a model, instead of a scaler, a label encoder and an imputer. These learn
    means, labels or ranges from the data, which costs privacy or breaks the guarantee. PublicEncoder learns nothing, so
    it costs no privacy: each record is encoded separately, and the output columns depend only on `bounds`,
    `categories`, and the names and types of the columns.

    Parameters
    ----------
    bounds : tuple or dict, default=None
        Public ranges of numeric columns, by name, as in :class:`PrivateSelectKBest`: ``(lower, upper)``, ``(lower,
        upper, "log")`` or three or more increasing numbers, in the unit of the column; dates or durations for columns
        of these; ``range(lowest, highest + 1)`` for integers, to the nearest of which numbers are rounded. A single
        range applies to all columns not in `categories`. Values outside are clipped.
    categories : dict, default=None
        Public labels of nominal columns, by name: lists of at least 2 distinct strings or numbers. Any other label
        counts as "other". Entries of `bounds` and `categories` for columns missing from X are ignored, so you can pass
        the same two for any choice of columns. Boolean columns, and columns whose type declares its labels (such as
        Polars Enum), need no entry.
    encoding : {"one-hot", "ordinal"}, default="one-hot"
        How labels are encoded. "one-hot" gives one column per label. "ordinal" gives one column for the position of the
        label in its public list, from 0 for the first to 1 for the last; this suits trees and ordered labels.
    add_indicator : bool, default=True
        Whether to add an indicator for each column, which is 1 if the value is missing, as in scikit-learn's
        SimpleImputer; a missing value is then 0 in the other columns. If False, missing numbers become 0.5, the middle
        of the range, as do missing labels with "ordinal"; with "one-hot", all columns of the label are 0.

    Attributes
    ----------
    bounds_ : (ndarray of shape (n_features_out,), ndarray of shape (n_features_out,))
        Smallest and largest possible value of each output column, 0 and 1, for private models that require bounds.
    data_norm_ : float
        Largest possible Euclidean norm of an output row, ``sqrt(n_features_in_)`` for both encodings, for private
        linear models.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns of X.

    See Also
    --------
    PrivateSelectKBest : Chooses the columns, by the same `bounds` and `categories`.
    private_bounds : Learns the bounds of columns about which you know nothing.

    Notes
    -----
    A number becomes ``(value - lower) / (upper - lower)``, clipped to [0, 1]. With "log", the value and both ends are
    first replaced by ``sign(x) * log(1 + abs(x))``. With k increasing numbers, number j becomes ``(j - 1) / (k - 1)``,
    and values in between are interpolated linearly. A column `name` of X gives these output columns:

    ==================  ===============================================================================================
    column              values
    ==================  ===============================================================================================
    ``name``            the number in [0, 1]; or the position of the label, with "ordinal"
    ``name_<label>``    with "one-hot": 1 for this label, 0 otherwise; booleans have ``name_0`` and ``name_1``
    ``name_other``      for labels: 1 if the label is not public, 0 otherwise
    ``name_missing``    with `add_indicator`: 1 if the value is missing, 0 otherwise
    ==================  ===============================================================================================

    All names are different. If a label is "other" or "missing", or a column is called so, our own columns are
    ``name_other (not a label)`` and ``name_missing (not a label)``; of a column ``town_a`` and a label "a" of ``town``,
    the second has `` (2)`` after its name.

    Not covered by the guarantee: the output of `transform`, which is as sensitive as X, and errors raised on invalid
    data, although they quote no values. A model fitted on the output needs its own privacy mechanism.

    Examples
    --------
    A private choice of two of four columns, which include labels and missing values, for a model:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdpmic import PrivateSelectKBest, PublicEncoder
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"age": rng.uniform(18, 90, 5000), "height": rng.normal(170, 10, 5000)})
    >>> X["town"], X["smoker"] = rng.choice(["Bari", "Rome"], 5000), rng.random(5000) < 0.3
    >>> y = (X["age"] > 60) & (X["town"] == "Bari")
    >>> X.loc[::50, "age"] = np.nan
    >>> public = {"bounds": {"age": (0, 120), "height": (100, 220)}, "categories": {"town": ["Bari", "Rome"]}}
    >>> selector = PrivateSelectKBest(k=2, epsilon=1, classes=[False, True], **public)
    >>> encoder = PublicEncoder(**public)
    >>> model = make_pipeline(selector.set_output(transform="pandas"), encoder, LogisticRegression()).fit(X, y)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age_missing', 'town_Bari', 'town_Rome', 'town_other', 'town_missing']
    >>> bool(model.score(X, y) > 0.9)
    True

    The encoder alone:

    >>> encoder.fit_transform(X[["age", "town"]]).shape
    (5000, 6)
    >>> X = pd.DataFrame({"age": [30, None, 150], "town": ["Rome", "Oslo", None]})
    >>> encoder.set_params(encoding="ordinal").fit_transform(X).to_dict("list")  # doctest: +NORMALIZE_WHITESPACE
    {'age': [0.25, 0.0, 1.0], 'age_missing': [0.0, 1.0, 0.0],
     'town': [1.0, 0.0, 0.0], 'town_other': [0.0, 1.0, 0.0], 'town_missing': [0.0, 0.0, 1.0]}
    """

    bounds: Ranges | None = None
    categories: Categories | None = None
    encoding: Literal["one-hot", "ordinal"] = "one-hot"
    add_indicator: bool = True

    def fit(self, X: TableLike, y: ColumnLike | None = None) -> Self:
        """Store the names and types of the columns. No value is read, and nothing is learnt.

        Parameters
        ----------
        X : dataframe of shape (n_samples, n_features)
            A dataframe of any library, with column names of type str. It needs no rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError, TypeError
            If a parameter is invalid, X is not a dataframe with column names of type str, or a column has no
            entry. The transformer is left unchanged.
        """
        self._check_parameters()
        _refuse_arrays(X)
        table = self._open(_without_rows(X))
        facts = PublicFacts(self.bounds, self.categories, allows_other_columns=True)
        domains = facts.domains(table.n_features, table.names, table.declared())
        how = table.names, domains, self.encoding == "one-hot", bool(self.add_indicator)
        # The encoding of an empty table gives the output columns.
        names_out = _names_out(_encoded_table([np.empty(0, dtype=np.uint32)] * table.n_features, *how))
        fitted = {
            "bounds_": (np.zeros(len(names_out)), np.ones(len(names_out))),
            # Proof: of the output columns of one column of X, at most one is not 0 in each row, and it is in [0, 1]; so
            # the squares of a row sum to at most n_features_in_. The bound is attained if every number is at its upper
            # bound and every label is the last in its list.
            "data_norm_": math.sqrt(table.n_features),
            "_how": how,
            "_names_out": names_out,
        }
        vars(self).update(columns_seen(table) | fitted)
        return self

    def transform(self, X: TableLike) -> Any:
        """Encode a table, each record separately.

        Parameters
        ----------
        X : dataframe of shape (n_samples, n_features)
            Table with the columns seen in `fit`, in the same order.

        Returns
        -------
        X_encoded : dataframe of shape (n_samples, n_features_out)
            Floats in [0, 1], in a dataframe of the same library as X, with its index in pandas, unless `set_output`
            asks for another container.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        ValueError
            If X does not have the columns seen in `fit`, or does not match `bounds` and `categories`.
        """
        check_is_fitted(self)
        _refuse_arrays(X)
        table = self._open(X)
        check_columns_seen(self, table)
        columns = read_columns(table, self._how[1])
        encoded = [values.astype(np.float64, copy=False) for *_, values in _encoded_table(columns, *self._how)]
        container = super().transform(None)
        container = table.native if isinstance(container, np.ndarray) else container
        return dataframe_of(dict(zip(self._names_out, encoded, strict=True)), container, table)

    def get_feature_names_out(self, input_features: ColumnLike | None = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            None, or the names of the columns of X, as in `feature_names_in_`.

        Returns
        -------
        names : ndarray of shape (n_features_out,)

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        ValueError
            If `input_features` differ from `feature_names_in_`.
        """
        check_is_fitted(self)
        if input_features is not None and list(input_features) != self.feature_names_in_.tolist():
            raise ValueError("input_features must be None or equal to feature_names_in_.")
        return np.array(self._names_out, dtype=object)

    def _check_parameters(self):
        for name in ("bounds", "categories"):
            entries = getattr(self, name)
            if isinstance(entries, dict) and (others := [key for key in entries if not isinstance(key, str)]):
                raise ValueError(f"the keys of {name} must be column names, got {abbreviated(others)}.")
        if self.bounds is not None and not isinstance(self.bounds, dict):
            domain_of(self.bounds, "bounds")  # a single range: arrays of ends could not follow the chosen columns
        require(self.encoding in _ENCODINGS, f"encoding must be one of {list(_ENCODINGS)}", self.encoding)
        require(isinstance(self.add_indicator, bool | np.bool_), "add_indicator must be a bool", self.add_indicator)

    def _open(self, X):
        table = open_table(X, type(self).__name__)
        if table.names_as_text() is None:
            raise ValueError(
                f"X must have column names of type str, by which bounds and categories are looked up, got "
                f"{abbreviated(table.names)}: convert them by X.columns = X.columns.map(str)."
            )
        return table

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.two_d_array = False  # an array has no names
        return tags


# --- One column -------------------------------------------------------------------------------------------------------


class _Ours(str):
    """The name of a part that is no label."""


def _names_out(encoded):
    """The names of output columns, all different, whatever the columns and labels are: a refusal could cost budget."""
    names = [(name if part is None else f"{name}_{part}", isinstance(part, _Ours)) for name, part, _ in encoded]
    theirs = told_apart([name for name, is_ours in names if not is_ours])
    ours = beside(theirs, [name for name, is_ours in names if is_ours])
    next_of = {True: iter(ours), False: iter(theirs)}
    return [next(next_of[is_ours]) for _, is_ours in names]


def _encoded_table(columns, names, domains, is_one_hot, has_indicator):
    """The column and the part that each output column is for, the latter empty for all of it, and the values."""
    for name, domain, column in zip(names, domains, columns, strict=True):
        for part, values in _encoded(domain, column, is_one_hot, has_indicator):
            yield name, part, values


def _encoded(domain, column, is_one_hot, has_indicator):
    """The output columns of one column: pairs of a part, None for all of the column, and values.

    Parameters
    ----------
    domain : Range, LogRange, Knots, Integers or Labels
    column : ndarray of shape (n_samples,)
        Positions on the domain: floats, or codes of labels.
    is_one_hot, has_indicator : bool

    Returns
    -------
    list of (str or None, ndarray of shape (n_samples,))
    """
    filler = 0.0 if has_indicator else 0.5
    if isinstance(domain, Labels):
        encoded, is_missing = _labels(domain.labels, column, is_one_hot, filler), column == len(domain.labels) + 1
    else:
        is_missing = np.isnan(column)
        encoded = [(None, np.where(is_missing, filler, in_unit_interval(column, *ends_of(domain.encoded))))]
    return [*encoded, (_Ours(MISSING), is_missing)] if has_indicator else encoded


def _labels(labels, codes, is_one_hot, filler):
    """The output columns of a column of labels, without the missing indicator."""
    n_labels = len(labels)
    if is_one_hot:
        encoded = [(label, codes == code) for code, label in enumerate(names_of_labels(labels))]
    else:
        of_code = [*np.linspace(0.0, 1.0, n_labels), 0.0, filler]  # each label, other labels, missing
        encoded = [(None, np.array(of_code)[codes])]
    return [*encoded, (_Ours(OTHER), codes == n_labels)]


# --- Dataframes -------------------------------------------------------------------------------------------------------


def _refuse_arrays(X):
    """Raise unless X is a dataframe, with column names."""
    if not is_frame(X):
        found = f"an object of type {type(X).__name__}" if hasattr(X, "columns") else "an array"
        raise ValueError(
            f"X must be a dataframe with column names, by which bounds and categories are looked up, got {found}: call "
            "set_output(transform='pandas') on the step before, for instance "
            "selector.set_output(transform='pandas')."
        )


def _without_rows(X):
    """A dataframe without rows, with the names and types of the columns."""
    return as_frame(X.head(0) if is_lazy(X) else X).head(0).to_native()
