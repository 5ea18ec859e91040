"""The summary of a fitted estimator in notebooks, below scikit-learn's diagram: the release and its cost.

Everything shown was released or is public. Colours follow the surrounding page, light or dark.
"""

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from skdpmic._utils.texts import budget, counted, in_html, in_short, names_of, shortened

MOST_ROWS = 20
NOT_COVERED = "Not covered"  # what the guarantee of this release does not cover, besides what none does
_MOST_SHARES = 10
_MOST_LETTERS = 200  # of a parameter, which may be an estimator
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


# --- Of each kind of release ----------------------------------------------------------------------------------------


def shown_scores(estimator):
    """Scores, or the names of the best features, of a scorer or selector."""
    entry, features = estimator._entry, counted(estimator.n_features_in_, "feature")
    n_rows = estimator.n_features_in_
    if not hasattr(estimator, "scores_"):
        n_rows = estimator.n_ranked_
        gaps = ", and the gaps between them" if len(getattr(estimator, "gaps_", ())) else ""
        released = f"names of the best {n_rows:,} of {features}, in order, by {entry.statistic}{gaps}; no scores"
    else:
        tables = ", and the noisy tables of counts behind them" if hasattr(estimator, "noisy_counts_") else ""
        released = f"scores of {features}, by {entry.statistic}{tables}"
    chosen, is_chosen = _choice(estimator)
    facts = _facts(estimator, released) + chosen
    order = _ranked(estimator)[:n_rows]
    return Summary(facts, why_broken(entry), _features(estimator), order, is_chosen, "feature", (entry,))


def shown_correlations(estimator):
    """The strongest correlations of a :class:`PrivateCorrelation`."""
    names, pairs = names_of(estimator), np.triu_indices(estimator.n_features_in_, k=1)
    noisy, *ends = (
        np.asarray(matrix)[pairs] for matrix in (estimator.noisy_correlation_, *estimator.correlation_interval())
    )
    columns = [
        *(ResultColumn("column", [names[j] for j in side]) for side in pairs),
        _numbers("noisy correlation", noisy),
        _intervals(*ends),
    ]
    released = f"Kendall's correlations of {counted(len(names), 'column')}; the strongest are shown"
    facts = _facts(estimator, released, noisy="correlation")
    order = np.argsort(-np.abs(noisy), kind="stable")
    return Summary(facts, why_broken(estimator._entry), columns, order, unit="pair", entries=(estimator._entry,))


def shown_graph(estimator):
    """The edges of a :class:`PrivatePC`, strongest evidence first."""
    names, of_numbers, entry = names_of(estimator), estimator.kind_ == "numeric", estimator._entry
    what = "Kendall's correlations" if of_numbers else "counts and tables"
    released = f"{what} of {counted(len(names), 'column')}, from which the graph is computed"
    facts = _facts(estimator, released, noisy="correlation" if of_numbers else "count")
    try:
        marks, p_values = np.asarray(estimator.cpdag_), np.asarray(estimator.p_values_)
    except AttributeError as error:  # of parameters changed since
        return Summary([*facts, ("Edges", str(error))], why_broken(entry), entries=(entry,))
    edges = [(i, j) for i, j in np.argwhere(marks).tolist() if i < j or not marks[j, i]]
    facts.append(("Edges", f"{len(edges):,}, by tests with alpha = {estimator.alpha:g}"))
    columns = [
        ResultColumn("column", [names[i] for i, _ in edges]),
        ResultColumn("", ["—" if marks[j, i] else "→" for i, j in edges]),
        ResultColumn("column", [names[j] for _, j in edges]),
        ResultColumn("largest p-value", [_p_value(p_values[edge]) for edge in edges], "number"),
    ]
    order = np.argsort([p_values[edge] for edge in edges], kind="stable")
    return Summary(facts, why_broken(entry), columns if edges else (), order, unit="edge", entries=(entry,))


def _p_value(p):
    return "not tested" if math.isnan(p) else f"{p:.1g}"


def shown_search(search, earlier):
    """The parameters chosen by a :class:`PrivateGridSearch`; `earlier` says what steps before a private one may do."""
    chosen = ", ".join(f"{name}={shortened(repr(value), _MOST_LETTERS)}" for name, value in search.best_params_.items())
    of_what = "the choice and the private steps of the refit" if hasattr(search, "best_estimator_") else "the choice"
    noise = f"one-sided exponential noise of scale {in_short(search.noise_scale_)}, on each mean score over its range"
    facts = [
        ("Released", "the best parameters; no scores"),
        ("Chosen", chosen),
        ("Cost", f"{budget(*search.privacy_spent_)}, for {of_what}"),
        ("Noise", "none" if search.noise_scale_ == 0 else noise),
        ("Subsets", f"{search.n_subsets_:,}"),
        *([(NOT_COVERED, f"the refit: {earlier} before a private step")] if earlier else []),
    ]
    entry = search._entry
    return Summary(facts, why_broken(entry), entries=(entry,))


def shown_reports(transformer):
    """The release of each `transform` of a :class:`RandomizedResponse`."""
    n_reported, d = transformer.columns_per_record_, transformer.n_features_in_
    entry = transformer._entry()
    epsilon, broken = entry.epsilon, why_broken(entry)
    facts = [
        ("Released", f"by each transform: noisy parts of {n_reported:,} of {counted(d, 'column')} of each record"),
        (
            "Cost",
            f"{budget(epsilon, 0)}, local, for each transform; {budget(transformer.epsilon_per_column_, 0)} a part",
        ),
        ("Covers", "no one" if broken else "each record, against anyone who sees its reports"),
    ]
    columns = [
        ResultColumn("column", names_of(transformer)),
        ResultColumn("parts", [str(n_parts) for n_parts in transformer.n_parts_], "number"),
    ]
    return Summary(facts, broken, columns, np.arange(d), unit="column", entries=(entry,))


def shown_two_party(scorer):
    """Scores of a :class:`TwoPartyScorer`."""
    of_reports, of_target = (epsilon for epsilon, _ in (scorer.privacy_of_reports_, scorer.privacy_spent_))
    features, entry, entries = counted(scorer.n_features_in_, "feature"), scorer._entry, ()
    facts = [
        ("Computed" if entry is None else "Released", f"scores of {features}, by {scorer._scored_by}"),
        ("Features", f"reported by each of {counted(scorer._n_records, 'record')} at {budget(of_reports, 0)}, local"),
    ]
    if entry is not None:
        of_scores = getattr(scorer, "noise_scales_", None)
        scale = scorer.noise_scale_ if of_scores is None else of_scores.max()
        noise = f"scale {in_short(scale)} records, on each count"
        if of_scores is not None:
            noise = f"scale {in_short(scale)} or less, on each score"
        facts += [
            ("Target", f"{budget(of_target, 0)}, central"),
            ("Noise", f"geometric noise of {noise}" if scale else "none"),
        ]
        of_features = entry._replace(
            epsilon=float(of_reports),
            mechanism="randomized-response",
            model="local",
            covers="the features",
            broken_by="",
        )
        entries = (entry, of_features)
    else:
        facts.append(("Target", "not covered by the guarantee: for the party that holds it only, not to be published"))
    broken = list(dict.fromkeys(reason for each in entries for reason in why_broken(each)))
    return Summary(facts, broken, _features(scorer), _ranked(scorer), unit="feature", entries=entries)


def _facts(estimator, released, noisy="score"):
    entry, scale = estimator._entry, estimator.noise_scale_
    noise = _NOISE.get(entry.mechanism, f"{entry.mechanism} noise of scale {{}}, on each score").format(in_short(scale))
    return [
        ("Released", released),
        ("Cost", budget(entry.epsilon, entry.delta)),
        *_of_target(estimator),
        ("Noise", "none" if scale == 0 else noise.replace("each score", f"each {noisy}")),
        ("Covers", "no one" if why_broken(entry) else _protected(entry)),
    ]


def _of_target(estimator):
    """The release about the target itself, and its part of the cost."""
    part = estimator._entry.epsilon_of_target
    if part is None:
        return []
    shares = [in_short(share) for share in estimator.target_shares_[:_MOST_SHARES]]
    shares += ["…"] if len(estimator.target_shares_) > _MOST_SHARES else []
    cut = f", cut at {estimator.target_cut_}" if hasattr(estimator, "target_cut_") else ""
    return [("Target", f"{budget(part)} of it, for shares of {', '.join(shares)} of the records{cut}")]


def _features(estimator):
    """Columns with one cell per feature: its name, and its score and interval if there are any."""
    columns, results = [ResultColumn("feature", names_of(estimator))], estimator._result_columns()
    if "score" in results:
        columns.append(_numbers("score", results["score"]))
    if "lower" in results:
        columns.append(_intervals(results["lower"], results["upper"]))
    return columns


def _ranked(estimator):
    return np.argsort(estimator.ranking_, kind="stable")


def _choice(estimator):
    """A description of the chosen features, and these features; None if there are none, or if they are unknown."""
    if not hasattr(estimator, "get_support"):
        return [], None
    try:
        is_chosen = estimator.get_support()
    except ValueError as error:  # of parameters changed since
        return [("Chosen", str(error))], None
    names = [name for name, chosen in zip(names_of(estimator), is_chosen, strict=True) if chosen]
    text = f"{len(names):,} of {counted(len(is_chosen), 'feature')}: {', '.join(names[:MOST_ROWS])}"
    return [("Chosen", text + _and_more(len(names)))], is_chosen


def broken_by(entry):
    """Names of the parameters that break the guarantee of a release; empty if none does."""
    return [*filter(None, entry.broken_by.split(", ")), *(["epsilon"] if entry.epsilon == math.inf else [])]


def why_broken(entry):
    """The reasons why a release has no privacy; empty if it has."""
    return [_WHY_BROKEN.get(name, f"{name} was read from the data") for name in broken_by(entry)]


# --- Texts ----------------------------------------------------------------------------------------------------------


def _numbers(title, numbers):
    return ResultColumn(title, [f"{number:.4f}" for number in numbers], "number")


def _intervals(lower, upper):
    cells = [f"{lo:.4f} to {hi:.4f}" for lo, hi in zip(lower, upper, strict=True)]
    return ResultColumn("95% interval", cells, "number")


def _and_more(number, unit=None):
    if number <= MOST_ROWS:
        return ""
    more = number - MOST_ROWS
    return f" and {more:,} more" if unit is None else f" and {counted(more, f'more {unit}')}"


def _protected(entry):
    if entry.rows_per_person is None:
        return f"each of {counted(entry.n, 'record')}"
    rows = "one of which counts" if entry.rows_per_person == 1 else f"{entry.rows_per_person:,} of which count"
    return f"each of {entry.n:,} people with all their rows, {rows}"


# --- HTML -----------------------------------------------------------------------------------------------------------


def as_html(shown, title="What was released, and what it cost"):
    """The HTML of a summary."""
    broken = "".join(f'<p class="broken">No privacy: {in_html(reason)}.</p>' for reason in shown.broken)
    facts = "".join(
        f'<tr><th scope="row">{in_html(name)}</th><td>{in_html(text)}</td></tr>' for name, text in shown.facts
    )
    return (
        f'<div class="skdpmic-release"><style>\n{_STYLE}</style><details open><summary>{title}</summary>'
        f"{broken}<table><tbody>{facts}</tbody></table>{_table(shown)}</details></div>"
    )


def _table(shown):
    if not shown.columns:
        return ""
    columns = shown.all_columns()
    head = "".join(f'<th scope="col" class="{column.kind}">{in_html(column.title)}</th>' for column in columns)
    body = "".join(
        ('<tr class="chosen">' if shown.is_marked is not None and shown.is_marked[i] else "<tr>")
        + "".join(f'<td class="{column.kind}">{in_html(column.cells[i])}</td>' for column in columns)
        + "</tr>"
        for i in shown.order[:MOST_ROWS]
    )
    rest = f"<p>…{_and_more(len(shown.order), shown.unit)}</p>" if len(shown.order) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"
