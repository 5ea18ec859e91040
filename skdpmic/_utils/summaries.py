"""The summary of a fitted estimator in notebooks, below scikit-learn's diagram: the release and its cost.

Everything shown was released or is public. Colours follow the surrounding page, light or dark.
"""

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from skdpmic._utils.texts import budget, counted, html_facts, html_rows, in_html, in_short, names_of, shortened

INTERVAL = "95% interval"
MOST_ROWS = 20
NOT_COVERED = "Not covered"  # by the guarantee of this release, beyond what no guarantee covers
_MOST_SHARES, _MOST_LETTERS_IN_ROW = 10, 40
MOST_LETTERS = 200  # of a parameter, which may be an estimator
_NOISE = {
    "laplace": "Laplace noise of scale {}, on each score",
    "gaussian": "Gaussian noise of standard deviation {}, on each score",
    "k-norm": "noise in a cube, of standard deviation {}, on each score",
    "geometric": "geometric noise of scale {} records, on each count",
    "one-shot": "one-sided exponential noise of scale {}, on each score before the choice",
    "permute-and-flip": "one-sided exponential noise of scale {}, on each score before each choice",
    "exponential": "Gumbel noise of scale {}, on each score before each choice",
}
_WHY_BROKEN = {
    "random_state": "random_state was set, so anyone who knows the seed can subtract the noise",
    "epsilon": "an epsilon is infinite, so there is no noise",
}
_STYLE = (files("skdpmic._utils") / "summaries.css").read_text(encoding="utf-8")


class ResultColumn(NamedTuple):
    """One column of the table of results."""

    title: str
    cells: list
    kind: str = "text"  # or "number" or "mark"


class Summary(NamedTuple):
    """The summary of a release."""

    facts: list  # pairs of a name and a text
    broken: list  # why there is no privacy
    columns: Sequence = ()  # of its table
    order: Sequence | np.ndarray = ()  # of the rows of the table
    is_marked: np.ndarray | None = None  # which rows are chosen
    unit: str = ""  # what a row is
    entries: Sequence = ()  # one LedgerEntry per guarantee; empty if nothing was published

    def all_columns(self):
        """The columns, with marks of the chosen rows."""
        if self.is_marked is None or not self.columns:
            return [*self.columns]
        return [*self.columns, ResultColumn("", ["chosen" if marked else "" for marked in self.is_marked], "mark")]

    def table(self):
        """The titles, the unit and the first rows of the table, as text; None without one."""
        if not self.columns:
            return None
        columns = self.all_columns()
        return {
            "unit": self.unit,
            "columns": [column.title for column in columns],
            "rows": [[column.cells[i] for column in columns] for i in self.order[:MOST_ROWS]],
            "n_rows": len(self.order),
        }


# --- What several releases say ---------------------------------------------------------------------------------------


def facts_of_release(estimator, released, noisy="score"):
    entry, scale = estimator._entry, estimator.noise_scale_
    noise = _NOISE.get(entry.mechanism, f"{entry.mechanism} noise of scale {{}}, on each score").format(in_short(scale))
    return [
        ("Released", released),
        ("Cost", budget(entry.epsilon, entry.delta) + _cost_of_target(estimator)),
        ("Noise", "none" if scale == 0 else noise.replace("each score", f"each {noisy}")),
        ("Covers", "no one" if why_broken(entry) else _protected(entry)),
    ]


def _cost_of_target(estimator):
    """What was learnt about the target itself, and its part of the cost; empty if nothing was learnt."""
    part = estimator._entry.epsilon_of_target
    if part is None:
        return ""
    shares = [in_short(share) for share in estimator.target_shares_[:_MOST_SHARES]]
    shares += ["…"] if len(estimator.target_shares_) > _MOST_SHARES else []
    found = f"the shares of the classes of the target, {', '.join(shares)}"
    if hasattr(estimator, "target_cut_"):
        cut = estimator.target_cut_  # or a date
        found = f"the median of the target, about {cut}"
    return f", of which ε = {in_short(part)} found {found}"


def feature_columns(estimator):
    """Columns with one cell per feature: its name, and its score and interval if there are any."""
    columns, results = [ResultColumn("feature", names_of(estimator))], estimator._result_columns()
    if "score" in results:
        columns.append(number_column("score", results["score"]))
    if "lower" in results:
        columns.append(interval_column(results["lower"], results["upper"]))
    if "of_possible" in results:
        title = f"of {in_short(estimator.largest_possible_score_)} possible"
        columns.append(number_column(title, results["of_possible"]))
    if "of_possible_lower" in results:
        columns.append(interval_column(results["of_possible_lower"], results["of_possible_upper"]))
    return columns


def by_rank(estimator):
    return np.argsort(estimator.ranking_, kind="stable")


def breaks_guarantee(entry):
    """Names of the parameters that break the guarantee of a release; empty if none does."""
    return [*filter(None, entry.broken_by.split(", ")), *(["epsilon"] if entry.epsilon == math.inf else [])]


def why_broken(entry):
    """The reasons why a release has no privacy; empty if it has."""
    return [_WHY_BROKEN[name] for name in breaks_guarantee(entry)]


# --- Texts ----------------------------------------------------------------------------------------------------------


def number_column(title, numbers):
    return ResultColumn(title, [f"{number:.4f}" for number in numbers], "number")


def interval_column(lower, upper):
    cells = [f"{lo:.4f} to {hi:.4f}" for lo, hi in zip(lower, upper, strict=True)]
    return ResultColumn(INTERVAL, cells, "number")


def and_more(number):
    """What is left out of a list of this many."""
    return f" and {number - MOST_ROWS:,} more" if number > MOST_ROWS else ""


def _protected(entry):
    if entry.rows_per_person is None:
        return f"each of {counted(entry.n, 'record')}"
    rows = "one of which counts" if entry.rows_per_person == 1 else f"{entry.rows_per_person:,} of which count"
    return f"each of {entry.n:,} people with all their rows, {rows}"


# --- HTML -----------------------------------------------------------------------------------------------------------


def as_html(shown, opened=""):
    """The HTML of a summary: one row, and the rest on demand, or at once if `opened` is " open"."""
    broken = "".join(f'<p class="broken">No privacy: {in_html(reason)}.</p>' for reason in shown.broken)
    marked = () if shown.is_marked is None else [row for row, i in enumerate(shown.order) if shown.is_marked[i]]
    kinds = [column.kind for column in shown.all_columns()]
    table = table_as_html(**shown.table(), kinds=kinds, marked=marked) if shown.columns else ""
    return (
        f'<div class="skdpmic-release"><style>\n{_STYLE}</style>{broken}<details{opened}>'
        f"<summary>{in_html(_in_a_row(shown))}</summary>{html_facts(shown.facts)}{table}</details></div>"
    )


def _in_a_row(shown):
    """What was chosen, or else released, and its cost."""
    first, what = next((fact for fact in shown.facts if fact[0] == "Chosen"), shown.facts[0])
    if shown.is_marked is not None and any(shown.is_marked):
        names = [shortened(shown.columns[0].cells[i], _MOST_LETTERS_IN_ROW) for i in shown.order if shown.is_marked[i]]
        what = ", ".join(names[:MOST_ROWS]) + and_more(len(names))
    return "; ".join([f"{first}: {what}", *(budget(entry.epsilon, entry.delta) for entry in shown.entries)])


def table_as_html(columns, rows, n_rows, unit, kinds=None, marked=()):
    """The table of a summary, by its plain form."""
    n_more = n_rows - len(rows)
    more = f"<p>… and {in_html(counted(n_more, f'more {unit}'))}</p>" if n_more > 0 else ""
    return html_rows(columns, rows, kinds, marked) + more
