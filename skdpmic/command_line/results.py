"""What commands compute, and how they show it. Slow libraries are imported where they are used: refusals need none."""

from dataclasses import replace

from skdpmic._utils.texts import aligned, counted, escaped, in_short, wrapped
from skdpmic.budget.ledger_entry import CHARGES, charges_in_words, ledger_in_words
from skdpmic.command_line import outputs
from skdpmic.table.domains import MISSING, OTHER
from skdpmic.table.values import read_people


def size_in_words(records, codebook):
    """The public number of records or people, as a number and in words."""
    n_rows = records["X"].num_rows
    if "groups" not in records:
        return n_rows, counted(n_rows, "record")
    n_people = read_people(records["groups"], codebook.max_rows_per_group, n_rows).n_groups
    return n_people, f"{n_people:,} people"


def card(arguments, released, **options):
    """The bytes of the privacy card of a release."""
    from skdpmic.cards.release_card import file_content, release_card

    return file_content(release_card(released, **options), arguments.card)


def text_of_ledger(state, entries):
    """The limit, what is spent of it and what remains, and a table of the charges."""
    facts = "\n".join(f"{name + ':':10} {text}" for name, text in ledger_in_words(state).items())
    charges = zip(charges_in_words(state["entries"]), entries, strict=True)
    table = aligned(CHARGES[:3], [(*row[:2], str(entry)) for row, entry in charges])
    return f"{wrapped(facts)}\n\n{table}" if entries else wrapped(facts)


# --- Summaries --------------------------------------------------------------------------------------------------------


_SHARE_FIELDS = ("kind", "of", "share", "lower", "upper")


def text_of_summary(released, account, size):
    """A table of what may be wrong, and the findings."""
    from skdpmic.release.summary import NOTHING
    from skdpmic.release.summary_cells import ABOVE, BELOW

    flags = (MISSING, BELOW, ABOVE, OTHER)
    rows = [(column.name, *map(column.flag_in_words, flags)) for column in released.columns]
    sentences = [*(released.suspicious or [NOTHING]), outputs.spent_in_words(released.privacy_spent, account)]
    title = wrapped(f"Shares of {size}, with simultaneous 95% intervals")
    return "\n\n".join([title, aligned(("column", *flags), rows), wrapped("\n".join(sentences))])


def fields_of_summary(released, account):
    """Contents of the JSON."""
    columns = []
    for column in released.columns:
        shares = [dict(zip(_SHARE_FIELDS, row, strict=True)) for row in column.rows()]
        columns.append({"column": column.name, "shares": shares, "suspicious": column.suspicious})
    fields = {"n_samples": released.n_samples, "columns": columns, "suspicious": released.suspicious}
    cost = outputs.fields_of_cost(released.privacy_spent, account)
    return fields | {"mechanism": released.entry.mechanism} | cost


# --- Choices ----------------------------------------------------------------------------------------------------------


_CLEAR = 3  # multiple of the noise scale above which a gap is clear: see `gaps_` of the estimator


def selector_of(arguments, public):
    """The estimator that the options describe."""
    from skdpmic.selection.selectors import PrivateSelectKBest

    return PrivateSelectKBest(**_given(arguments, "k", "statistic", "epsilon", "delta", "keep"), **public)


def _given(arguments, *names):
    """Options of the same names in Python."""
    return {name: getattr(arguments, name) for name in names}


def plan_of_names(arguments, public):
    """The plan of the releases of names, which `select` can make, with those of its statistic first."""
    from skdpmic.planning.plan import plan_release

    n_features = len(public["bounds"]) + len(public["categories"])
    if arguments.error is None and arguments.found is None:
        rows = selector_of(arguments, public).plan(arguments.n_samples, n_features)
    else:
        rows = plan_release(
            **_given(arguments, "n_samples", "k", "epsilon", "error", "found", "delta"),
            n_features=n_features - len(arguments.keep),
            n_classes=len(public["classes"]) if "classes" in public else None,
            max_rows_per_group=public.get("max_rows_per_group"),
        )
    of_names = [row for row in rows if row.release == "names"]
    of_names.sort(key=lambda row: row.statistic != arguments.statistic)
    return replace(rows, rows=tuple(of_names))


def beforehand(selector, n_samples, size, n_features):
    """The choice to be made, and what it will find, from public numbers, so that no budget is wasted on noise."""
    planned = selector.plan(n_samples, n_features)[0]
    yield f"{selector.k} of {n_features - len(selector.keep)} columns, by {selector.statistic}, from {size}."
    if planned.found == planned.found:  # not NaN: there is an assumption about the scores
        yield (
            f"About {planned.found:.0%} of the best {selector.k} will be found, if scores fall as slowly as on a third "
            "of public tables."
        )


def chosen_by(selector):
    """The names of the chosen columns, best first."""
    from skdpmic._utils.private_estimator import best_first

    return selector.feature_names_in_[best_first(selector.ranking_)[: selector.n_ranked_]].tolist()


def text_of_choice(arguments, selector, chosen, size):
    """The chosen columns, their gaps, and what they mean."""
    gaps, chosen, sentences = getattr(selector, "gaps_", []), [escaped(name) for name in chosen], []
    title = f"The best columns to predict {escaped(arguments.target)}, from {size}, by {selector.statistic}"
    table = "\n".join(chosen)
    if len(gaps):
        rows = [*zip(chosen, [f"{gap:.4f}" for gap in gaps], strict=False), (chosen[-1], "")]
        table = aligned(("column", "gap to the next"), rows)
        sentences.append(f"A gap above {in_short(_CLEAR * selector.noise_scale_)} exceeds the noise.")
    if selector.criterion_ == "joint":
        sentences.append("Each column was chosen by its gain over the columns before it.")
    if arguments.keep:
        sentences.append(f"Kept in any case: {escaped(', '.join(arguments.keep))}.")
    sentences.append(outputs.spent_in_words(selector.privacy_spent_, selector.ledger))
    return "\n\n".join([wrapped(title), table, wrapped("\n".join(sentences))])


def fields_of_choice(arguments, selector, chosen, n_samples):
    """Contents of the JSON."""
    gaps = getattr(selector, "gaps_", None)
    return {
        "target": arguments.target,
        "chosen": chosen,
        "kept": arguments.keep,
        "gaps": gaps,
        "clear_gap": None if gaps is None else _CLEAR * selector.noise_scale_,
        "statistic": selector.statistic,
        **{name: getattr(selector, f"{name}_") for name in ("criterion", "mechanism", "noise_scale")},
        "n_samples": n_samples,
        "n_features": selector.n_features_in_,
    } | outputs.fields_of_cost(selector.privacy_spent_, selector.ledger)
