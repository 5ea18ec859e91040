"""The graph that tests of independence find: what an estimator with such tests tells of it, and how."""

import numbers
from typing import Any

import numpy as np

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.fitted import check_published
from skdpmic.causal.cpdag import arrows_of, lines_of, markov_blanket
from skdpmic.causal.pc import find_graph
from skdpmic.table.frames import as_frame, columns_by_columns


class GraphResultMixin:
    """An estimator with a graph of the columns of a table.

    `_make_tests` gives its tests of independence, which are functions of what was released. A fit leaves `_names`, a
    dataframe with the names of the columns, or None; and None as `_tests` and `_kept`, what was asked for since. All
    else follows from these, with the `alpha` and the `max_order` of the time when it is asked.
    """

    @property
    def cpdag_(self) -> Any:
        """The graph, of arrows and lines."""
        return self._attribute("cpdag")

    @property
    def skeleton_(self) -> Any:
        """Which columns have an edge."""
        return self._attribute("skeleton")

    @property
    def p_values_(self) -> Any:
        """The largest p-value of the tests of each two columns."""
        return self._attribute("largest_p_values")

    def p_value(self, i: int | str, j: int | str, given: Any = ()) -> float:
        """Chance of as much dependence as was released, or more, of two columns that are independent given others.

        Costs no privacy: nothing but what was released is used. The noise is accounted for.

        Parameters
        ----------
        i, j : int or str
            Two columns, by number or name.
        given : sequence of int or str, default=()
            Other columns.

        Returns
        -------
        float
            In [0, 1]; NaN where there is no such test.

        Raises
        ------
        ValueError
            If these are not different columns.
        """
        check_published(self)
        i, j, *given = (self._number(column) for column in (i, j, *given))
        if len({i, j, *given}) < 2 + len(given):
            raise ValueError("i, j and given must be different columns, got one of them twice.")
        return self._p_value()(min(i, j), max(i, j), tuple(sorted(given)))

    def markov_blanket(self, target: int | str) -> np.ndarray:
        """The columns that together tell all that the table does of a target: the best features for any model of it.

        Costs no privacy: nothing but what was released is used.

        Parameters
        ----------
        target : int or str
            A column, by number or name.

        Returns
        -------
        ndarray
            The columns with an edge to the target, and the other columns with an arrow into one that the target has an
            arrow into; in the order of the table. Names, if the columns have names; numbers otherwise.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        check_published(self)
        blanket = markov_blanket(self._found().cpdag, self._number(target))
        return np.array(self._labels(), dtype=object)[blanket] if hasattr(self, "feature_names_in_") else blanket

    def to_networkx(self) -> Any:
        """The graph as one of networkx, which ``pip install skdpmic[graphs]`` brings.

        Costs no privacy: nothing but what was released is used.

        Returns
        -------
        networkx.DiGraph
            Columns are nodes, by name or number. An arrow is an edge with ``directed=True``. A line is two edges, one
            each way, with ``directed=False``. Each edge has the `p_value` of `p_values_`.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        check_published(self)
        try:
            import networkx
        except ImportError as error:
            raise ImportError("to_networkx needs networkx: pip install skdpmic[graphs]") from error
        found, labels, graph = self._found(), self._labels(), networkx.DiGraph()
        graph.add_nodes_from(labels)
        for of_kind, is_directed in ((arrows_of(found.cpdag), True), (lines_of(found.cpdag), False)):
            for i, j in np.argwhere(of_kind):
                graph.add_edge(labels[i], labels[j], directed=is_directed, p_value=float(found.largest_p_values[i, j]))
        return graph

    def _attribute(self, name):
        """A matrix of what was found. Of parameters that cannot be, an AttributeError, as `dir` asks for all."""
        check_published(self)
        try:
            return self._labelled(getattr(self._found(), name))
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _check_algorithm(self):
        if not isinstance(self.alpha, numbers.Real) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be a number in (0, 1), got {self.alpha!r}.")
        check_whole(self.max_order, "max_order", 0)

    def _found(self):
        """What the algorithm finds."""
        check_published(self)
        self._check_algorithm()
        asked = (float(self.alpha), int(self.max_order))
        if self._kept is None or self._kept[0] != asked:
            self._kept = asked, find_graph(self.n_features_in_, self._p_value(), *asked, self._tests.is_exact)
        return self._kept[1]

    def _p_value(self):
        """The tests, by numbers of columns."""
        if self._tests is None:
            self._tests = self._make_tests()
        return self._tests.p_value

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"_tests": None} if "_tests" in state else state  # what it computed for them is not kept

    def _number(self, column):
        """The number of a column that is given by name or number."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(column, str) and names is not None and column in names:
            return names.tolist().index(column)
        is_number = isinstance(column, numbers.Integral) and not isinstance(column, bool)
        if not (is_number and 0 <= column < self.n_features_in_):
            raise ValueError(
                f"a column must be an int from 0 to {self.n_features_in_ - 1}"
                f"{'' if names is None else ' or a name in feature_names_in_'}, got {column!r}."
            )
        return int(column)

    def _labels(self):
        """Names of the columns, or their numbers."""
        names = getattr(self, "feature_names_in_", None)
        return list(range(self.n_features_in_)) if names is None else names.tolist()

    def _labelled(self, matrix):
        """A matrix of all columns by all, with their names if X was a dataframe; a new one."""
        return matrix.copy() if self._names is None else columns_by_columns(matrix, as_frame(self._names))
