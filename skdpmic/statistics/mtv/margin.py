"""What is known of the target's margin, from elsewhere or by noisy counts (``docs/theory/known_margin.md``).

All of it is public or released: a share of the records in each of some pieces of the target's columns.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from skdpmic.privacy.mechanisms import laplace_quantile
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.weighted_choice import weighted_choice
from skdpmic.statistics.grids.partitions import equal_parts
from skdpmic.statistics.mtv.family import UNITS

N_PLACES = 1024  # of the target's range at which it may be cut
_LEAST_FOR_A_CUT = 50  # n * epsilon of the target from which on a cut is learnt; else it is the middle of the range
_OF_THE_MIDDLE = 1  # how many times as likely beforehand as all other places together
_FOR_THE_CUT = Fraction(1, 2)  # of the target's epsilon; the rest is for the count
_HARDLY_ANY = Fraction(1, 10**6)  # noise, with which the same divisions are known as with more


@dataclass(frozen=True)
class Margin:
    """What is known of the target's margin.

    Parameters
    ----------
    ends : tuple of int
        The target's columns are in pieces of neighbours; the column after each piece.
    shares : tuple of Fraction
        Of the records in each piece. With noise, they may be below 0, and need not add up to 1.
    scale : Fraction, default=0
        Of the discrete Laplace noise in each of them, times `n`; 0 for what is exact, or was known before.
    n : int, default=1
        Records that were counted.
    knots : tuple of float, default=None
        Of a numeric target: its range in two parts of equally many columns; None for equal columns.
    is_public : bool, default=False
        Whether it was known before, so that nobody knows how wrong it may be.
    """

    ends: tuple
    shares: tuple
    scale: Fraction = Fraction(0)
    n: int = 1
    knots: tuple | None = None
    is_public: bool = False

    @property
    def error(self):
        """Scale of the noise in each share."""
        return float(self.scale / self.n)

    def of(self, family):
        """The grids of a family, where this is known."""
        return family.knowing(self.ends, [round(share * UNITS) for share in self.shares], self.error)

    def with_equal_shares(self):
        """The same, but for what was released."""
        return replace(self, shares=(Fraction(1, len(self.shares)),) * len(self.shares), knots=None)

    def cut(self, bounds):
        """Where a numeric target is divided in two, whose range is `bounds`."""
        lower, upper = bounds
        return self.knots[1] if self.knots else lower + self.ends[0] * ((upper - lower) / self.ends[-1])

    def published(self):
        """Each share, of shape (n_pieces,), in [0, 1]."""
        return np.clip(np.array(self.shares, dtype=np.float64), 0.0, 1.0)

    def interval(self, confidence):
        """Bounds that hold each share of the records with at least this confidence."""
        reach = 0.0 if self.scale == 0 else laplace_quantile(float(self.scale), confidence) / self.n
        shares = np.array(self.shares, dtype=np.float64)
        return np.clip(shares - reach, 0.0, 1.0), np.clip(shares + reach, 0.0, 1.0)


def equal_pieces(n_pieces, n_columns):
    """The column after each of some pieces of equally many columns."""
    return tuple(n_columns * (i + 1) // n_pieces for i in range(n_pieces))


def public_margin(shares, n_columns):
    """What is known of a target by shares of equal pieces, or of its classes, that are public.

    Parameters
    ----------
    shares : sequence of float
        Above 0, with a sum of about 1.
    n_columns : int
    """
    shares = [Fraction(share) for share in shares]
    in_all = tuple(share / sum(shares) for share in shares)
    return Margin(equal_pieces(len(shares), n_columns), in_all, is_public=True)


def margin_of(counts, n_columns):
    """What nearly no noise would tell of a target, from the records in equal pieces or classes; for simulations."""
    n = int(counts.sum())
    shares = tuple(Fraction(int(count), n) for count in counts)
    return Margin(equal_pieces(len(shares), n_columns), shares, _HARDLY_ANY, n)


def places_of(y, bounds):
    """How many records are at each of the places where a numeric target may be cut: int64 (N_PLACES,)."""
    return np.bincount(equal_parts(y, bounds, N_PLACES), minlength=N_PLACES)


def learns_a_cut(n, epsilon):
    """Whether it is worth while to learn where to cut a numeric target: by public numbers."""
    return n * epsilon >= _LEAST_FOR_A_CUT


def class_margin(counts, epsilon, rows_per_group, random_bytes):
    """What epsilon tells of a target of classes: one noisy count of two classes; of more, one each.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_classes,)
    epsilon : Fraction or infinity, above 0
    rows_per_group : int
        Records of a person: so far can one of the counts move, and another one the other way.
    random_bytes : callable
    """
    n, is_pair = int(counts.sum()), len(counts) == 2
    scale = _scale(rows_per_group if is_pair else 2 * rows_per_group, epsilon)
    noisy = _with_noise(counts[:1] if is_pair else counts, scale, random_bytes)
    shares = [Fraction(count, n) for count in noisy]
    shares += [1 - shares[0]] if is_pair else []
    return Margin(tuple(range(1, len(counts) + 1)), tuple(shares), scale, n)


def cut_margin(counts, n_columns, bounds, epsilon, rows_per_group, random_bytes):
    """What epsilon tells of a numeric target: where to cut it, if that is worth while, and the share below the cut.

    The cut is drawn by the exponential mechanism, the likelier the nearer the number of records below it is to half of
    them. Without, it is the middle of the range.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_places,)
        Records in equal parts of the range: `N_PLACES` of them, of which those on either side of the cut become equally
        many columns; or `n_columns`, which then stay as they are.
    n_columns : int
    bounds : pair of floats or None
        The range; None where the columns stay as they are.
    epsilon, rows_per_group, random_bytes
        As for classes.
    """
    n, n_places, place = int(counts.sum()), len(counts), len(counts) // 2
    below = np.cumsum(counts)
    is_learnt = learns_a_cut(n // rows_per_group, epsilon)
    for_the_cut = _FOR_THE_CUT if is_learnt else 0
    if is_learnt:
        rate = epsilon if epsilon == math.inf else for_the_cut * epsilon / (4 * rows_per_group)
        from_half = np.abs(2 * below[:-1] - n)  # twice, to be whole
        weights = np.ones(n_places - 1, dtype=np.int64)
        weights[n_places // 2 - 1] = _OF_THE_MIDDLE * n_places
        place = 1 + weighted_choice(weights, from_half, rate, random_bytes)
    scale = _scale(rows_per_group, epsilon * (1 - for_the_cut))
    (count,) = _with_noise(below[place - 1 : place], scale, random_bytes)
    share = Fraction(count, n)
    margin = Margin((n_columns // 2, n_columns), (share, 1 - share), scale, n)
    if not is_learnt:
        return margin
    if n_places == n_columns:
        return replace(margin, ends=(place, n_columns))
    lower, upper = bounds
    return replace(margin, knots=(lower, lower + place * ((upper - lower) / n_places), upper))


def _scale(sensitivity, epsilon):
    return Fraction(0) if epsilon == math.inf else sensitivity / epsilon


def _with_noise(counts, scale, random_bytes):
    """Counts with discrete Laplace noise, as Python integers."""
    if scale == 0:
        return counts.tolist()
    return [
        int(count + noise) for count, noise in zip(counts.tolist(), discrete_laplace(scale, len(counts), random_bytes))
    ]
