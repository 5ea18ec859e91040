"""The layout of a graph: nodes near their neighbours, and causes above their effects."""

import math

import numpy as np
from scipy.sparse.csgraph import shortest_path

_STEPS = 200
_DOWN = 1.0  # weight of the direction of an arrow, relative to its length
_TINY = 1e-9


def layout(marks):
    """Positions of the nodes of a graph, deterministic.

    The distance of two nodes approximates the number of edges between them, near ones above all, by stress majorisation
    [1]_. The layout is then rotated so that arrows point downwards on average, and refined so that each goes down by 1.

    Parameters
    ----------
    marks : bool ndarray of shape (n_nodes, n_nodes)
        ``marks[i, j]`` for an arrow from i to j; also ``marks[j, i]`` for a line.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        In [0, 1].

    References
    ----------
    .. [1] E. R. Gansner, Y. Koren and S. North, "Graph Drawing by Stress Majorization", Graph Drawing 2004.
    """
    distances, arrows = _distances(marks), marks & ~marks.T
    places = _majorised(_on_a_circle(len(marks)), distances, np.zeros_like(arrows))
    places = _majorised(_turned(places, arrows), distances, arrows)
    lowest, size = places.min(axis=0), np.ptp(places, axis=0)
    return np.where(size > _TINY, (places - lowest) / np.where(size > _TINY, size, 1.0), 0.5)


def _distances(marks):
    """Number of edges between every two nodes; at most three between disconnected parts of the graph."""
    distances = shortest_path(marks | marks.T, unweighted=True)
    connected = np.isfinite(distances)
    return np.where(connected, distances, min(distances[connected].max() + 1, 3))


def _on_a_circle(n_nodes):
    angles = math.tau * np.arange(n_nodes) / n_nodes
    return np.column_stack([np.cos(angles), np.sin(angles)]) * n_nodes / math.tau


def _majorised(places, distances, arrows):
    """Positions that approximate these distances, and arrows going down by one."""
    weights = 1 / (distances + np.eye(len(distances))) ** 2
    np.fill_diagonal(weights, 0.0)
    down = _DOWN * arrows
    across_by, along_by = (_inverse_laplacian(pull) for pull in (weights, weights + down + down.T))
    for _ in range(_STEPS):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        pulled = _laplacian(weights * distances / np.maximum(apart, _TINY)) @ places
        lower = down.sum(axis=1) - down.sum(axis=0)
        places = np.column_stack([across_by @ pulled[:, 0], along_by @ (pulled[:, 1] + lower)])
    return places


def _laplacian(weights):
    return np.diag(weights.sum(axis=1)) - weights


def _inverse_laplacian(weights):
    """The pseudoinverse of the Laplacian of a connected graph, 0 for constant vectors."""
    mean = 1 / len(weights)
    return np.linalg.inv(_laplacian(weights) + mean) - mean


def _turned(places, arrows):
    """The positions rotated so that arrows point downwards on average; without arrows, so that the layout is wide."""
    direction = np.sum([places[j] - places[i] for i, j in np.argwhere(arrows)], axis=0) * np.ones(2)
    if np.linalg.norm(direction) < _TINY:
        direction = _narrowest(places)
    down = direction / np.linalg.norm(direction)
    return places @ np.array([[-down[1], -down[0]], [down[0], -down[1]]])


def _narrowest(places):
    """The direction of least variance of centred positions, made robust to rounding errors."""
    (across, both), (_, along) = places.T @ places
    sine, cosine = np.array([2 * both, across - along]) / max(across + along, _TINY)
    wide = math.atan2(round(sine, 6) + 0.0, round(cosine, 6) + 0.0) / 2  # -0.0 + 0.0 is 0.0
    return np.array([math.sin(wide), -math.cos(wide)])
