"""The interface of every statistic, and of its measures of dependence, from public numbers only.

What scores also states how far one record can move the score: noise is calibrated to `Measure.sensitivity`, which a
measure derives from the very objects that score, and from nothing that they do not use.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from skdpmic.privacy.mechanisms import grid_sensitivity


class Statistic:
    """A choice of the user: a name, and its capabilities.

    ``measure(B, c, n, epsilon, n_classes)`` returns its :class:`Measure` for n records and a budget of epsilon per
    score; a ValueError if it has none for this many classes.
    """

    name: str
    needs_ranges = True  # of numbers
    is_mergeable = False  # scores can be computed from counts of pieces: it has `measure_of_any_number`
    supports_counts = False  # scores can be estimated from noisy tables: it has `table`
    takes_weights = False  # its measure has `of_weights`, for records with different weights
    is_explained_by_shares = False  # whether shares of classes can be given that scores do not depend on
    has_p_values = False  # whether its measure has `null_law`

    @staticmethod
    def spends_on_target(n_classes):
        """Whether a share of a target with this many classes, or of numbers, is learnt before any feature is scored.

        The measure then has `learning` and `learnt`.
        """
        return False


class Scorer(NamedTuple):
    """Scores features against a target. Raw data; not private.

    Parameters
    ----------
    score : callable
        ``score(column, domain)`` returns the score of a feature, in [0, 1].
    """

    score: Callable


class Measure(ABC):
    """A statistic for one kind of target, with everything fixed on which its sensitivity depends.

    Measures with mergeable counts also have `counts` and `scorer_of_counts`.
    """

    n_parts = None  # number of parts of a feature in its noisy table, if the measure is estimated from such tables
    has_common_error = False  # whether all scores depend on the learnt shares of the target, and share their error
    # Power of n at which scores of independent variables fall, if those of kinds of features differ.
    chance_rate: float | None = None
    withheld_for_error = 0.0  # by how much a score is below one at the released shares, for their noise, at most
    chance_factor = 1.0  # factor of the chance level relative to records of equal weight
    # Known shares of the classes of the target, which decide what chance shows.
    class_shares: tuple[float, ...] | None = None

    def with_shares_of(self, target):
        """The measure for simulations with this target; it differs if shares of the target are learnt."""
        return self

    def without_target_shares(self):
        """The public measure, before anything was learnt about a target."""
        return self

    def of_groups(self, rows_per_group):
        """The measure for people with this many rows each, which may be no more informative than one."""
        return self

    def steps(self, shape):
        """Sensitivity of a score to one person in a table of this shape, in steps of the noise grid."""
        return grid_sensitivity(self.sensitivity(shape), self.rounding_error(shape))

    def prepare(self, shape):  # noqa: B027, because most have nothing to do
        """Raise now, before any charge, if a table of this shape has too many records to be scored."""

    @abstractmethod
    def sensitivity(self, shape):
        """Sensitivity of the exact score to the records of one person, rounded up; the largest of all that score."""

    @abstractmethod
    def rounding_error(self, shape):
        """Bound on the distance of a computed score from the exact one."""

    def null_law(self, n, kind):
        """The known distribution of scores of n records if a feature is independent of the target.

        Parameters
        ----------
        n : int
        kind : pair of floats, Whole or Nominal
            Of the feature, from :func:`skdpmic.table.domains.kind_of`.

        Returns
        -------
        ScoreBound

        Raises
        ------
        AttributeError
            If nothing is known.
        """
        raise AttributeError(
            f"p_values requires the distribution of scores of independent features, which is unknown for "
            f"{type(self).__name__}."
        )

    def largest_score(self, n):
        """The largest score of n records that any feature can have, from known shares of the classes of the target.

        None if these are not known, or the target has no classes.
        """
        return None

    def in_numpy_if_little(self, n_samples, n_features):
        """The context for scoring a table of this shape: without kernels, if compiling them takes longer than numpy."""
        return nullcontext()

    @abstractmethod
    def scorer(self, target, random_bytes):
        """The function that scores features against a target: ``score(column, domain)`` in [0, 1].

        Parameters
        ----------
        target : NumericTarget or ClassTarget
        random_bytes : callable
            Random bytes, for a measure that breaks ties at random.
        """
