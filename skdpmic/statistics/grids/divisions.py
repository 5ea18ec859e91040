"""Divisions of columns (classes, labels or equal parts) into two groups, few enough to try all."""

MOST_DIVISIONS = 32  # in order, and by parity


def each_alone(n_columns):
    """Each column against the rest."""
    return [tuple(int(j == one) for j in range(n_columns)) for one in range(n_columns)]


def cuts(n_columns):
    """Columns up to a cut, and those after it."""
    n_places = min(n_columns, MOST_DIVISIONS)
    return [tuple(int(j * n_places // n_columns >= cut) for j in range(n_columns)) for cut in range(1, n_places)]


def parities(n_columns):
    """By the parity of the sum of some binary digits of the column number."""
    n_masks = min(2 ** (n_columns - 1).bit_length(), MOST_DIVISIONS)
    return [tuple((j & mask).bit_count() % 2 for j in range(n_columns)) for mask in range(1, n_masks)]


def distinct(divisions):
    """The distinct divisions, with the first column in group 0."""
    return list(dict.fromkeys(tuple(group ^ groups[0] for group in groups) for groups in divisions))
