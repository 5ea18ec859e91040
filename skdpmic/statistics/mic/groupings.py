"""Groups of labels or classes that grids distinguish."""

from typing import NamedTuple

from skdpmic.table.domains import Nominal


class Grouping(NamedTuple):
    """Codes in groups, which are the parts of a fixed axis."""

    groups: tuple  # of int: the group 0, 1, ... of each code; the last code is in the last group
    degrees: int  # of freedom, for the bias correction

    @property
    def n_groups(self):
        """Number of groups."""
        return max(self.groups) + 1


def groupings_of_classes(n_classes):
    """All classes apart; for three classes, also each against the other two (``docs/theory/closed_family.md``)."""
    apart = Grouping(tuple(range(n_classes)), n_classes - 1)
    return _with_each_of_three(apart, n_classes)


def groupings_of_labels(n_labels):
    """All codes of a nominal feature apart; and the labels, with other and missing values joined to the last.

    If one of these has three groups, also each of them against the other two; without these, one record could change
    a score by a quarter more (``docs/theory/nominal_missing.md``).
    """
    n_parts = Nominal(n_labels).n_parts
    apart = _with_each_of_three(Grouping(tuple(range(n_parts)), n_labels - 1), n_labels)
    if n_labels == 1:
        return apart
    joined = Grouping(tuple(min(code, n_labels - 1) for code in range(n_parts)), n_labels - 1)
    return apart + _with_each_of_three(joined, n_labels)


def _with_each_of_three(grouping, n_labels):
    """The grouping and, if it has three groups, each of them against the other two."""
    if grouping.n_groups != 3:
        return [grouping]
    last = grouping.groups[-1]
    divisions = [tuple(int((group == one) == (last == one)) for group in grouping.groups) for one in range(3)]
    # A side without public labels is usually empty, and then has no bias.
    return [grouping, *(Grouping(division, len(set(division[:n_labels])) - 1) for division in divisions)]
