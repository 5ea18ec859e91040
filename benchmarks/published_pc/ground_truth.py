"""The graphs that Priv-PC was scored against. Wrong: of these six, only earthquake's is what its network says.

Those of asia and cancer are what PC with the G-test finds in a table, without privacy. Edges from the authors' program,
``i>j`` for an arrow and ``i-j`` for a line; columns in the order of the network's file, but for child's.
"""

import numpy as np

EDGES = {
    "earthquake": "0>2 1>2 2>3 2>4",
    "cancer": "0>2 1>2 2>3 4>2",
    "asia": "0-1 1>5 2-3 2-4 3>5 4-7",
    "survey": "2>3 2-4 4-5 5>3",
    "sachs": "0-1 1-3 1-7 2-8 3-7 3-8 3>10 4>7 4>10 5-6 5-9 6-9 7>10 8>7",
    "child": (
        "0>18 1>7 2>7 2-8 2>10 2-16 3-9 3-17 4>10 4-17 4>18 5>12 6-14 8-12 11-13 11-14 11-15 11-16 11>18 13>18 13-19 "
        "15>1 16>1 17>5 19>5"
    ),
}


def published_truth(name, n_columns):
    """Marks of the graph that results were compared with."""
    marks = np.zeros((n_columns, n_columns), dtype=bool)
    for edge in EDGES[name].split():
        i, j = map(int, edge.replace(">", "-").split("-"))
        marks[i, j] = True
        marks[j, i] = "-" in edge
    return marks
