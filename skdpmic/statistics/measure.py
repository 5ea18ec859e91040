"""What every statistic, and every measure of dependence that it gives, says of itself, from public numbers only."""

from abc import ABC, abstractmethod

from skdpmic.privacy.mechanisms import grid_sensitivity


class Statistic:
    """A choice of the user: a name, and what it can do.

    ``measure(B, c, n, epsilon, n_classes)`` gives its :class:`Measure` for n records, on each of whose scores epsilon
    is spent; a ValueError if it has none for so many classes.
    """

    name: str
    needs_ranges = True  # of numbers
    is_mergeable = False  # scores follow from counts of pieces: it has `measure_of_any_number`
    supports_counts = False  # scores can be estimated from noisy tables: it has `table`
    takes_copies_for_dependence = False  # of several equal rows of a person
    takes_weights = False  # its measure has `of_weights`, for records that do not all count alike
    tests_by_ties = False  # p-values are smaller where shares of two classes are known, or that nothing is tied

    @staticmethod
    def learns_target(n_classes):
        """Whether a share of a target of so many classes, or of numbers, is learnt before any feature is scored.

        Its measure has `learning` and `learnt` then.
        """
        return False

    @classmethod
    def with_correction(cls, correction):
        """The statistic with a correction for chance, if it knows any."""
        return cls()


class Measure(ABC):
    """A statistic with everything fixed that its sensitivity depends on, for one kind of target.

    Those whose counts add up have `counts` and `scorer_of_counts`, too.
    """

    n_parts = None  # of a feature in its noisy table, for a measure that is estimated from such tables
    has_common_error = False  # whether all scores hang on what was learnt of the target, right or wrong
    chance_factor = 1.0  # by which chance does less than for records that all count alike

    def knowing_all_of(self, target):
        """The measure of scores of this very target, for simulations; another one where something of it is learnt."""
        return self

    def before_learning(self):
        """The measure as it was before anything was learnt of a target: public."""
        return self

    def of_groups(self, rows_per_group):
        """The same where each person has so many rows, which may say no more than one of them."""
        return self

    def steps(self, shape):
        """How far one person of a table of that shape can move a score, in steps of the grid that noise is drawn on.

        All that scores share is made, and kept, or refused, on the way: before anything is paid for.
        """
        self.prepare(shape)
        return grid_sensitivity(self.sensitivity(shape), self.rounding_error(shape))

    def prepare(self, shape):  # noqa: B027, as most have nothing to do
        """Make and keep what scores of that shape share, beyond what bounds their rounding errors."""

    @abstractmethod
    def sensitivity(self, shape):
        """How far the records of one person can move the exact score, rounded up."""

    @abstractmethod
    def rounding_error(self, shape):
        """Bound on the distance of a computed score from the exact one."""

    def null_law(self, n, n_labels):
        """What is known of scores of n records where a feature is independent of the target.

        Parameters
        ----------
        n : int
        n_labels : int or None
            Of a nominal feature; None for numbers.

        Returns
        -------
        SimulatedLaw, AveragedLaw or BoundedLaw

        Raises
        ------
        AttributeError
            If nothing is known.
        """
        raise AttributeError(
            f"p_values needs to know how independent features score, which {type(self).__name__} does not tell."
        )

    @abstractmethod
    def scorer(self, target, random_bytes):
        """What scores features against a target: ``score(column, scale)`` in [0, 1].

        Parameters
        ----------
        target : NumericTarget or ClassTarget
        random_bytes : callable
            Random bytes, for a measure that breaks ties at random.
        """
