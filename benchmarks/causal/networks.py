"""The Bayesian networks on which published private causal discovery is evaluated, and tables drawn from them.

pgmpy's wheel ships the networks as files (MIT licence); nothing is downloaded.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

import numpy as np

from benchmarks.causal.graph_measures import cpdag_of

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm")


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network of categorical variables, columns of a table.

    Parameters
    ----------
    name : str
    columns : tuple of str
        Names of the variables.
    labels : tuple of tuples of str
        Labels of each variable.
    dag : bool ndarray of shape (n_columns, n_columns)
        ``dag[i, j]`` is True if i is a parent of j.
    parents : tuple of tuples of int
        Parents of each variable, in the order of the axes of its table.
    tables : tuple of ndarrays
        For each variable, the probability of each label (last axis) given the parents' labels (first axes).
    """

    name: str
    columns: tuple
    labels: tuple
    dag: np.ndarray
    parents: tuple
    tables: tuple

    @property
    def sizes(self):
        """Number of labels of each variable."""
        return [len(of_one) for of_one in self.labels]

    @property
    def cpdag(self):
        """The part of the graph that the table's distribution determines: ``marks`` of `skdpmic.causal.pc`."""
        return cpdag_of(self.dag)

    def sample(self, n, seed):
        """A table of n records as codes, the positions of their labels: an int64 ndarray of shape (n, n_columns)."""
        rng = np.random.default_rng(seed)
        codes = np.zeros((n, len(self.columns)), dtype=np.int64)
        for j in TopologicalSorter(dict(enumerate(self.parents))).static_order():
            given = tuple(codes[:, i] for i in self.parents[j])
            below, uniform = self.tables[j].cumsum(axis=-1), rng.random(n)
            for k in range(len(self.labels[j]) - 1):
                codes[:, j] += uniform >= below[(*given, k)]
        return codes

    def strings(self, codes):
        """The table with its labels: an object ndarray of the shape of `codes`."""
        return np.array([np.array(of_one, dtype=object)[codes[:, j]] for j, of_one in enumerate(self.labels)]).T


@cache
def network(name):
    """The network of this name, one of ``NETWORKS``."""
    from pgmpy.readwrite import BIFReader

    packed = files("pgmpy").joinpath("utils", "example_models", f"{name}.bif.gz").read_bytes()
    reader = BIFReader(string=gzip.decompress(packed).decode())
    model = reader.get_model()
    columns = tuple(reader.variable_names)
    place = {column: j for j, column in enumerate(columns)}
    dag = np.zeros((len(columns), len(columns)), dtype=bool)
    labels, parents, tables = [], [], []
    for j, column in enumerate(columns):
        cpd = model.get_cpds(column)
        labels.append(tuple(cpd.state_names[column]))
        parents.append(tuple(place[parent] for parent in cpd.variables[1:]))
        tables.append(np.moveaxis(cpd.values, 0, -1))
        dag[list(parents[-1]), j] = True
    return Network(name, columns, tuple(labels), dag, tuple(parents), tuple(tables))
