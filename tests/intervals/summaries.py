"""Intervals of summaries, and what they are certain of."""

import math

import numpy as np

from skdpmic.privacy.noise import entropy_source
from skdpmic.release.summary import shares_of_column
from skdpmic.release.summary_cells import CellsRelease, SummaryCells
from skdpmic.table.domains import Labels, Range
from tests.intervals.table import Drawn, Row

N_DRAWS = 300


def release_of(setting, random):
    """The release of a table of many columns of numbers or labels, its cells and its exact counts."""
    delta = 1e-6 if random.random() < 0.5 else 0.0
    n_columns = int(random.choice([1, 3, 40 if delta else 8])) if math.isfinite(setting.epsilon) else 3
    labels = Labels([f"{i}" for i in range(setting.n_classes)])
    cells = [SummaryCells(labels if random.random() < 0.5 else Range(0.0, 1.0)) for _ in range(n_columns)]
    counts = [[random.multinomial(setting.n, random.dirichlet([0.3] * size)) for size in of.sizes] for of in cells]
    sizes = tuple(of_column.sizes for of_column in cells)
    return CellsRelease(setting.epsilon, delta, sizes, setting.rows_per_group or 1), cells, counts


def drawn_counts(release, counts, random, n_sets=2):
    """The counts with noise, of the flags alone or of both sets of cells."""
    source = entropy_source(int(random.integers(2**31)))
    for _ in range(N_DRAWS * n_sets // 2):
        yield [
            release.mechanisms[which].release([of_column[which] for of_column in counts], source)
            for which in range(n_sets)
        ]


def shares(random, setting):
    """All shares of all columns."""
    release, cells, counts = release_of(setting, random)
    names, n = [f"x{j}" for j in range(len(cells))], setting.n
    exact = np.concatenate([np.concatenate([flags[:-1], parts[:-1]]) for flags, parts in counts]) / n
    lower, upper, noisy = [], [], []
    for drawn in drawn_counts(release, counts, random):
        columns = [shares_of_column(*each, n, release) for each in zip(names, cells, *drawn, strict=True)]
        rows = [row for column in columns for row in column.rows()]
        lower.append([row[3] for row in rows])
        upper.append([row[4] for row in rows])
        noisy.append(np.concatenate([np.r_[flags[:-1], parts[:-1]] for flags, parts in zip(*drawn, strict=True)]) / n)
    return Drawn(*map(np.array, (lower, upper)), exact, np.array(noisy), (0, 1))


def certain(random, setting):
    """The limits that a finding assumes of the values within the range, in the last cell of the flags."""
    release, cells, counts = release_of(setting, random)
    valid = np.array([flags[-1] for flags, _ in counts])
    reach = np.array([release.usual_reach(0, of_column.sizes[0]) for of_column in cells])
    noisy = np.array([[flags[-1] for flags in drawn[0]] for drawn in drawn_counts(release, counts, random, 1)])
    return Drawn(noisy - reach, noisy + reach, valid, noisy)


ROWS = [
    Row("interval", "PrivateSummary.to_frame", shares, simultaneous=True),  # for the shares without noise
    Row("interval", "PrivateSummary.suspicious", certain, confidence=0.9),  # as a finding assumes: 95% on either side
]
