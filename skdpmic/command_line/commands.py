"""The commands of ``python -m skdpmic``, which show their results.

What can be refused without reading the table is refused first, and before the libraries that score columns are loaded.
"""

import os
import sys

from skdpmic._utils.arguments import check_goal, check_k, check_whole
from skdpmic._utils.texts import counted, escaped, imported, quoted
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_entry import unit_of
from skdpmic.codebook.codebook import Codebook, features_among
from skdpmic.codebook.toml_file import template_of
from skdpmic.command_line import outputs, results
from skdpmic.command_line.data import REQUIRES, open_data
from skdpmic.privacy.composition import check_delta, check_epsilon
from skdpmic.table.facts import FEWEST, refuse_no_choice, refuse_unordered


def template(arguments, run):
    """Show a codebook template, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = template_of(source.outline)
    run.write(output=text.encode)
    written = f"{len(source.names)} columns were written to {arguments.output}: fill in the blanks."
    shown = text.removesuffix("\n") if arguments.output is None else written
    run.show(lambda: {"columns": source.names, "codebook": text, "file": arguments.output}, lambda: shown)


def ledger(arguments, run):
    """Create or open a ledger, and show it."""
    account = _created(arguments) if arguments.create else outputs.open_ledger(arguments.file, run.interrupts)
    entries = account.entries()
    state = account.limits.standing(entries) | {"entries": [entry._asdict() for entry in entries]}
    run.show(lambda: {"file": account.path} | state, lambda: results.text_of_ledger(state, entries))
    run.write(picture=lambda: outputs.picture(arguments, "LedgerDisplay.from_ledger", account))


def _created(arguments):
    if os.path.exists(arguments.file):
        raise FileExistsError(f"{arguments.file!r} already exists, and is not overwritten.")
    rows = arguments.max_rows_per_person
    return BudgetLedger(arguments.file, arguments.epsilon, arguments.delta, max_rows_per_person=rows)


def _codebook(arguments):
    """The codebook of a command, if the options are valid, and name columns of it that are used."""
    codebook = Codebook.read(arguments.codebook)
    check_epsilon(1.0 if arguments.epsilon is None else arguments.epsilon)
    check_delta(arguments.delta)
    if arguments.command == "summary":
        return codebook
    features, keep, target = arguments.features, arguments.keep, arguments.target
    if target in keep:
        raise ValueError(f"--keep must not hold the target {quoted(target)}, which is predicted.")
    public = codebook.target(target, [*(features or []), *keep])
    refuse_unordered(arguments.statistic, len(public.get("classes", ())))
    if features is not None and not set(keep) <= set(features):
        raise ValueError(f"--keep must be among --features, got {escaped(', '.join(keep))}.")
    check_k(arguments.k)
    return codebook


def _read(arguments, run, *choice):
    """The codebook, the ledger, and the records of the command, unless it is refused before any is read.

    Parameters
    ----------
    arguments : argparse.Namespace
    run : Outputs
    *choice : str, list of str
        The target and the features to choose from, if the command chooses.
    """
    codebook, account = _codebook(arguments), outputs.open_ledger(arguments.ledger, run.interrupts)
    source = open_data(arguments)
    if not any(codebook.entry(name) for name in source.names):
        raise ValueError(
            f"{source.name} must have columns that the codebook describes, got none: if a title or a note stands above "
            "their names, delete the lines above them."
        )
    names = features_among(codebook, source.names, *choice)
    if choice:
        refuse_no_choice(arguments.k, arguments.keep, len(names))
    outputs.refuse_unpaid(arguments, account, unit_of(codebook.max_rows_per_group))
    reading = imported("skdpmic.command_line.reading", REQUIRES)
    if arguments.card is not None:
        import skdpmic.cards.release_card  # noqa: F401  # now, so that no import fails after the charge
    frame = reading.read_frame(source, codebook, names, *choice[:1])
    return codebook, account, frame, codebook.records(frame, *choice)


def summary(arguments, run):
    """Read the table, ask, and show a private summary, which checks whether a codebook fits."""
    codebook, account, frame, records = _read(arguments, run)
    _, size = results.size_in_words(records, codebook)
    outputs.ask(arguments, account, [f"A private summary of {counted(records['X'].num_columns, 'column')} of {size}."])
    from skdpmic.release.summary import private_summary

    budget = {"epsilon": arguments.epsilon, "delta": arguments.delta, "ledger": account}
    released = private_summary(frame, codebook, verbose=int(arguments.verbose), **budget)
    run.show(
        lambda: results.fields_of_summary(released, account), lambda: results.text_of_summary(released, account, size)
    )
    run.write(
        card=lambda: results.card(arguments, released, ledger=account),
        picture=lambda: outputs.picture(arguments, "SummaryDisplay.from_summary", released),
    )


def plan(arguments, run):
    """Show a plan of `select` with this epsilon, or the smallest epsilon or number of people that it needs."""
    public = _codebook(arguments).target(arguments.target, arguments.features)
    refuse_no_choice(arguments.k, arguments.keep, len(public["bounds"] | public["categories"]))
    check_goal(arguments.error, arguments.found)
    if arguments.n_samples is not None:
        check_whole(arguments.n_samples, "n_samples", FEWEST)
    rows = results.plan_of_names(arguments, public)
    run.show(lambda: {"sought": rows.sought, "releases": [row._asdict() for row in rows]}, lambda: str(rows))


def select(arguments, run):
    """Read the table, ask, choose the columns that predict a target best, and publish their names."""
    codebook, account, _, records = _read(arguments, run, arguments.target, arguments.features)
    names = records["X"].column_names
    selector = results.selector_of(arguments, codebook.target(arguments.target, names))
    selector.set_params(ledger=account, verbose=int(arguments.verbose))
    n_samples, size = results.size_in_words(records, codebook)
    outputs.ask(arguments, account, results.beforehand(selector, n_samples, size, len(names)))
    selector.fit(**records)
    chosen, has_gaps = results.chosen_by(selector), len(getattr(selector, "gaps_", [])) > 0
    run.show(
        lambda: results.fields_of_choice(arguments, selector, chosen, n_samples),
        lambda: results.text_of_choice(arguments, selector, chosen, size),
    )
    if arguments.picture is not None and not has_gaps:
        print("warning: there are no gaps to plot, so no picture was written.", file=sys.stderr)
    picture = {"picture": lambda: outputs.picture(arguments, "GapsDisplay.from_estimator", selector)}
    run.write(
        output=lambda: "".join(f"{name}\n" for name in [*arguments.keep, *chosen]).encode(),
        card=lambda: results.card(arguments, selector),
        **picture if has_gaps else {},
    )
