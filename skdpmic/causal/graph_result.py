"""The graph found by tests of independence, as attributes and methods of an estimator."""

from typing import Any

import numpy as np

from skdpmic._utils.arguments import check_whole, is_number
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.texts import quoted
from skdpmic.causal.pc import arrows_of, find_graph, lines_of, markov_blanket
from skdpmic.table.features import allowed_keys, numbers_of
from skdpmic.table.frames import columns_by_columns
from skdpmic.table.normal_form.containers import as_frame


class GraphResultMixin:
    """An estimator with a graph of the columns of a table.

    `_make_tests` returns its tests of independence, which are functions of the release. A fit sets `_names`, a
    dataframe with the column names, or None; and sets the caches `_tests` and `_kept` to None. Everything else is
    computed from these on access, with the current `alpha` and `max_order`.
    """

    n_features_in_: int
    alpha: float

    @property
    def cpdag_(self) -> Any:
        """The graph, with arrows and lines."""
        return self._attribute("cpdag")

    @property
    def skeleton_(self) -> Any:
        """The pairs of columns with an edge."""
        return self._attribute("skeleton")

    @property
    def p_values_(self) -> Any:
        """The largest p-value of the tests of each pair of columns."""
        return self._attribute("p_values")

    @property
    def n_untested_(self) -> int:
        """Number of tests of pairs of columns with an edge that are no evidence of it."""
        return self._attribute("n_untested")

    def p_value(self, i: int | str, j: int | str, given: Any = ()) -> float:
        """Test the independence of two columns given others, with the noise taken into account.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        i, j : int or str
            Two columns, by name, or by number if they have no names.
        given : sequence of int or str, default=()
            Other columns.

        Returns
        -------
        float
            p-value in [0, 1]. If the columns are independent given the others, the probability of a p-value of at most
            a is about a or less, for every a: also if noise hides rare labels of `given`, or combinations of labels. 1
            if `given` nearly determines one of the columns. NaN if there is no p-value: if `given` has a number that
            was cut into parts, a column without bounds has many ties, or tables would be too large.

        Raises
        ------
        ValueError
            If the columns are not distinct.
        """
        check_published(self)
        i, j, *given = (self._number(column) for column in (i, j, *given))
        if len({i, j, *given}) < 2 + len(given):
            raise ValueError("i, j and given must be distinct columns, got one of them twice.")
        return self._test(min(i, j), max(i, j), tuple(sorted(given))).p_value

    def markov_blanket(self, target: int | str) -> np.ndarray:
        """Return the Markov blanket of a target: given these columns, all others are irrelevant for predicting it.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        target : int or str
            Target column, by name, or by number if columns have no names.

        Returns
        -------
        ndarray
            The columns with an edge to the target, and those with an arrow into a child of the target; in the order of
            the table. Names if the columns have names, otherwise numbers.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        check_published(self)
        blanket = markov_blanket(self._found().cpdag, self._number(target))
        return blanket if self._seen_names is None else self._seen_names[blanket]

    def to_networkx(self) -> Any:
        """Return the graph as a networkx graph; requires ``pip install skdpmic[graphs]``.

        Costs no privacy: it uses only what was released.

        Returns
        -------
        networkx.DiGraph
            Columns are nodes, by name, or by number if they have no names. An arrow is an edge with ``directed=True``.
            A line is two edges, one each way, with ``directed=False``. Each edge has the `p_value` of `p_values_`.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        check_published(self)
        try:
            import networkx
        except ImportError as error:
            raise ImportError("to_networkx requires networkx: pip install skdpmic[graphs]") from error
        found, names, graph = self._found(), self._seen_names, networkx.DiGraph()
        labels = list(range(self.n_features_in_)) if names is None else names.tolist()
        graph.add_nodes_from(labels)
        for of_kind, is_directed in ((arrows_of(found.cpdag), True), (lines_of(found.cpdag), False)):
            for i, j in np.argwhere(of_kind):
                graph.add_edge(labels[i], labels[j], directed=is_directed, p_value=float(found.p_values[i, j]))
        return graph

    def _attribute(self, name):
        """A matrix of the result. Invalid parameters raise an AttributeError, because `dir` accesses all attributes."""
        check_published(self)
        try:
            found = getattr(self._found(), name)
            return self._labelled(found) if isinstance(found, np.ndarray) else found
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _check_algorithm(self):
        if not is_number(self.alpha) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be a number in (0, 1), got {quoted(self.alpha)}.")
        check_whole(self.max_order, "max_order", 0)

    def _found(self):
        """The result of the algorithm."""
        check_published(self)
        self._check_algorithm()
        asked = (float(self.alpha), int(self.max_order))
        if self._kept is None or self._kept[0] != asked:
            self._kept = asked, find_graph(self.n_features_in_, self._test, *asked)
        return self._kept[1]

    def _test(self, *test):
        """A test, by column numbers."""
        if self._tests is None:
            self._tests = self._make_tests()
        return self._tests.test(*test)

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"_tests": None} if "_tests" in state else state  # the computed tests are not pickled

    @property
    def _seen_names(self):
        """Names of the columns, or None."""
        return vars(self).get("feature_names_in_")

    def _number(self, column):
        """The number of a column, which is given by name, or by number without names."""
        columns = self.n_features_in_, self._seen_names
        number = numbers_of(*columns)(column)
        if number is None:
            raise ValueError(f"a column must be {allowed_keys(*columns)}, got {quoted(column)}.")
        return number

    def _labelled(self, matrix):
        """A copy of a square matrix, with the column names if X was a dataframe."""
        return matrix.copy() if self._names is None else columns_by_columns(matrix, as_frame(self._names))
