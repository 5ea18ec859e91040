"""The notebook display of a fitted scorer or selector."""

from skdpmic._utils.summaries import (
    INTERVAL,
    MOST_ROWS,
    Summary,
    and_more,
    by_rank,
    facts_of_release,
    feature_columns,
    why_broken,
)
from skdpmic._utils.texts import counted, names_of


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
    order = by_rank(estimator)[:n_rows]
    chosen, is_chosen = _choice(estimator, set(order[:MOST_ROWS]))
    facts, columns = facts_of_release(estimator, released), feature_columns(estimator)
    if any(column.title == INTERVAL for column in columns):
        facts.append(("Intervals", f"for {estimator._what_intervals_hold}"))
    return Summary(facts + chosen, why_broken(entry), columns, order, is_chosen, "feature", (entry,))


def _choice(estimator, listed):
    """A description of the chosen features, and these features; None if there are none, or if they are unknown.

    Features that are `listed` in the table are marked there.
    """
    if not hasattr(estimator, "get_support"):
        return [], None
    try:
        is_chosen = estimator.get_support()
    except ValueError as error:  # of parameters changed since
        return [("Chosen", str(error))], None
    names = [name for j, name in enumerate(names_of(estimator)) if is_chosen[j] and j not in listed]
    text = f"{is_chosen.sum():,} of {counted(len(is_chosen), 'feature')}"
    others = f", among them {', '.join(names[:MOST_ROWS])}{and_more(len(names))}" if names else ""
    return [("Chosen", text + others)], is_chosen
