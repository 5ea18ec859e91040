"""Suspicious findings about a column, in plain language, from noisy shares and public facts only."""

from functools import partial

import numpy as np

from skdpmic._utils.readable import abbreviated
from skdpmic.release.summary.cells import ABOVE, BELOW, MISSING, OTHER
from skdpmic.table.dates import NUMBERS
from skdpmic.table.domains import Knots, LogRange

FEWEST = 0.005  # share of the values: an end of a range may well lie where there are hardly any
_MOST = 0.5
# Share of the values in range that are in one or two of its parts; single labels are rarer by nature.
_NEARLY_ALL, _ONE_LABEL = 0.85, 0.97
_SURE = 0.3  # smallest certain share, so that it is not noise alone


def suspicions(name, cells, flags, parts, n_samples, release):
    """List the findings to check.

    Parameters
    ----------
    name : str
    cells : Cells
    flags, parts : ndarrays of shapes (n_flags + 1,) and (n_parts + 1,)
        Noisy counts.
    n_samples : int
    release : CellsRelease

    Returns
    -------
    list of str
    """
    n_flags, n_parts = cells.sizes

    def reach(which, n_cells, n_together=1):
        return release.reach(which, n_cells, n_together) / n_samples

    shares = dict(zip(cells.flags, (flags[:-1] / n_samples).tolist(), strict=True))
    margin = release.margin(0, n_flags) / n_samples
    found = [
        _of_flag(name, cells, flag, _about(share, margin))
        for flag, share in shares.items()
        if share - reach(0, n_flags) > (_MOST if flag == MISSING else FEWEST)
    ]
    if not cells.is_nominal and not found:
        found = _of_both_ends(name, cells, shares[BELOW] + shares[ABOVE], reach(0, n_flags, 2))
    return found + _of_parts(name, cells, parts[:-1] / n_samples, flags[-1] / n_samples, partial(reach, 1, n_parts))


def _of_flag(name, cells, flag, about):
    if flag == MISSING:
        return f"{about} of {name} is missing."
    if flag == OTHER:
        labels = abbreviated(list(cells.domain.labels[:5]))
        return f"{about} of {name} matches none of its labels, such as {labels}: check spelling, case and spaces."
    end = written(cells.part_ends()[0 if flag == BELOW else -1])
    return f"{about} of {name} lies {flag} its range, which ends at {end}: check the unit, or widen the range."


def _of_both_ends(name, cells, share, reach):
    """A finding if values are outside, although too few of them are on either side to be found."""
    if share - reach <= FEWEST:
        return []
    lower, upper = (written(cells.part_ends()[end]) for end in (0, -1))
    return [f"{_about(share, reach)} of {name} lies outside its range, {lower} to {upper}: widen the range."]


def _of_parts(name, cells, parts, share_inside, reach):
    """A finding if nearly all values in range are in one part of it, or in two adjacent parts."""
    least = max((_ONE_LABEL if cells.is_nominal else _NEARLY_ALL) * share_inside, _SURE)
    for n_together in (1,) if cells.is_nominal else (1, 2):
        together = np.convolve(parts, np.ones(n_together), mode="valid")
        first = int(np.argmax(together))
        share = float(together[first])
        if share > least and share - reach(n_together) > _SURE * share_inside:
            return [_in_few_parts(name, cells, first, n_together, _about(share, reach(n_together)))]
    return []


def _in_few_parts(name, cells, first, n_together, about):
    if cells.is_nominal:
        labels = cells.part_ends()[first]
        label = f"{labels[0]!r}" if len(labels) == 1 else f"one of {labels[0]!r} to {labels[-1]!r}"
        return f"{about} of {name} is {label}: the column hardly distinguishes records."
    ends = cells.part_ends()
    lower, upper = written(ends[first]), written(ends[first + n_together])
    place = {(0, 1): "the lowest fiftieth", (0, 2): "the lowest tenth"}.get((first, n_together))
    place = place or ("a tenth" if n_together == 1 else "a fifth")
    scale = {LogRange: "the logarithms of its range", Knots: "its knots"}.get(type(cells.domain), "its range")
    is_linear = scale == "its range" and cells.domain.of == NUMBERS
    advice = "use 'log', or narrow the range." if first == 0 and is_linear else "narrow the range."
    return f"{about} of {name} lies in {place} of {scale}, {lower} to {upper}: {advice}"


def _about(share, margin):
    """A share with its interval."""
    low, high, share = (min(max(value, 0.0), 1.0) for value in (share - margin, share + margin, share))
    return f"About {share:.0%} ({low:.0%} to {high:.0%})"


def written(end):
    """A short form of a number, a date (without its time if that is midnight) or a duration in days and hours."""
    if isinstance(end, float):
        return np.format_float_positional(end, precision=4, fractional=False, trim="-")
    if isinstance(end, np.timedelta64):
        return str(end.item()).removesuffix(", 0:00:00")
    return str(end).removesuffix("T00:00:00.000000")
