"""Records with the interface that releases need; `SketchedRecords` provides the same from counts."""

from functools import partial
from typing import NamedTuple

import numpy as np

from skdpmic._utils.progress import SILENT, Progress
from skdpmic.table.columns import Columns, map_features
from skdpmic.table.description import Description
from skdpmic.table.domains import Range
from skdpmic.table.people import People
from skdpmic.table.shape import Shape
from skdpmic.table.targets import ClassTarget, NumericTarget, StratifiedTarget, of_rows


class Records(NamedTuple):
    """Records and their public description. Raw data; not private."""

    columns: np.ndarray | Columns  # (n_features, n_samples)
    domains: list  # of n_features, as in `Shape`
    target: NumericTarget | ClassTarget | StratifiedTarget | None  # None without a target
    description: Description | None = None  # public
    people: People | None = None  # if people have several rows of X
    kept: tuple = ()  # indices of the features kept in any case
    rows: np.ndarray | None = None  # of X, the rows that count, after sampling
    progress: Progress = SILENT  # of loops over all columns

    @property
    def can_be_read_again(self):
        """Whether features can be counted again, together with others."""
        return True

    @property
    def n_samples(self):
        """Number of records."""
        return self.columns.shape[1] if self.people is None else self.people.n_samples

    @property
    def n_features(self):
        """Number of features."""
        return self.columns.shape[0]

    @property
    def shape(self):
        """The public numbers of the table."""
        return Shape(self.n_samples, self.domains, 1 if self.people is None else self.people.rows_per_group)

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target, or none."""
        return None if self.target is None else self.target.n_classes

    @property
    def target_domain(self):
        """The domain of a numeric target; its range, if that was read from the data."""
        return self.description.target or Range(*self.target.bounds)

    def with_progress(self, progress):
        """The records, with this progress."""
        return self._replace(progress=progress)

    def with_weights(self, weights):
        """The records, with weights in units."""
        return self._replace(target=self.target._replace(weights=weights))

    def with_sampled_rows(self, random_bytes):
        """The records that count: for people with several rows, a random sample of the same number for each."""
        if self.people is None:
            return self
        rows = self.people.draw(random_bytes)
        target = None if self.target is None else of_rows(self.target, rows)
        return self._replace(rows=rows, target=target)

    def learnt(self, measure, epsilon, random_bytes):
        """A measure, after it has learnt about the target with epsilon."""
        bounds = None if self.n_classes else self.target.bounds
        return measure.learnt(measure.target_counts(self.target), self.n_samples, bounds, epsilon, random_bytes)

    def map_features(self, function, n_jobs, left_out=(), of_block=None, takes_numbers=False):
        """``function(column, domain)`` for each feature that is not left out; `of_block` does the same for several.

        With `takes_numbers` it is ``function(column, domain, number)``.
        """
        if self.rows is not None:
            function, of_block = partial(_of_rows, function, self.rows), None
        given = (self.columns, self.domains, n_jobs, left_out, self.progress, of_block, takes_numbers)
        return map_features(function, *given)

    def scorer(self, measure, random_bytes):
        """The function that scores features by a measure, with random bytes for breaking ties."""
        return measure.scorer(self.target, random_bytes)

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j by a measure, in order, without those left out."""
        (column,) = self.columns[j : j + 1]
        column = column if self.rows is None else column[self.rows]
        scorer = measure.scorer_beside(self.target, column, self.domains[j])
        return np.array(self.map_features(scorer.score, n_jobs, left_out, of_block=scorer.score_block))

    def counter(self, table):
        """The function that makes a feature's table, still without noise."""
        return table.counter(self.target)


def _of_rows(function, rows, column, *public):
    return function(column[rows], *public)
