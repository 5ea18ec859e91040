"""The commands of ``python -m skdpmic``, which print their results.

What can be refused without reading the table is refused first, and before the libraries that score columns are loaded.
"""

import contextlib
import os
import sys

from skdpmic._utils.arguments import check_k
from skdpmic._utils.texts import aligned, counted, escaped, quoted, wrapped
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_entry import unit_of
from skdpmic.codebook.codebook import Codebook, features_among
from skdpmic.codebook.toml_file import template_of
from skdpmic.command_line import outputs
from skdpmic.command_line.data import open_data
from skdpmic.privacy.composition import check_delta, check_epsilon
from skdpmic.table.facts import refuse_no_choice


def template(arguments, run):
    """Print a codebook template, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = template_of(source.outline)
    run.write(output=text.encode)
    if arguments.json:
        outputs.print_json({"command": "template", "columns": source.names, "codebook": text, "file": arguments.output})
    elif arguments.output is None:
        print(text, end="")
    else:
        print(f"{len(source.names)} columns were written to {arguments.output}: fill in the blanks.")


def ledger(arguments, run):
    """Create or open a ledger, and print it."""
    account = _created(arguments) if arguments.create else outputs.open_ledger(arguments.file)
    from skdpmic.cards.release_card import CHARGES, charges_in_words, ledger_in_words

    entries = account.entries()
    state = account.limits.standing(entries) | {"entries": [entry._asdict() for entry in entries]}
    if arguments.json:
        outputs.print_json({"command": "ledger", "file": account.path} | state)
    else:
        print(wrapped("\n".join(f"{name + ':':10} {text}" for name, text in ledger_in_words(state).items())))
        if entries:
            charges = zip(charges_in_words(state["entries"]), entries, strict=True)
            print("", aligned(CHARGES[:3], [(*row[:2], str(entry)) for row, entry in charges]), sep="\n")
    run.write(picture=lambda: outputs.picture(arguments, "LedgerDisplay.from_ledger", account))


def _created(arguments):
    if os.path.exists(arguments.file):
        raise FileExistsError(f"{arguments.file!r} already exists, and is not overwritten.")
    rows = arguments.max_rows_per_person
    return BudgetLedger(arguments.file, arguments.epsilon, arguments.delta, max_rows_per_person=rows)


def _opened(arguments, run):
    """The codebook, the ledger, the table and the names of its features, unless the command is refused anyway."""
    codebook, account = Codebook.read(arguments.codebook), outputs.open_to_pay(arguments.ledger, run.interrupts)
    choice = (arguments.target, arguments.features) if arguments.command == "select" else ()
    if choice:
        _check_choice(arguments, codebook)
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
    return codebook, account, source, names


def summary(arguments, run):
    """Read the table, ask, and print a private summary, which checks whether a codebook fits."""
    codebook, account, source, names = _opened(arguments, run)
    from skdpmic.command_line import reading, results
    from skdpmic.release.summary import private_summary

    frame = reading.read_frame(source, codebook, names)
    _, size = results.size_in_words(codebook.records(frame), codebook)
    outputs.ask(arguments, account, [f"A private summary of {counted(len(names), 'column')} of {size}."])
    budget = {"epsilon": arguments.epsilon, "delta": arguments.delta, "ledger": account}
    with contextlib.redirect_stdout(sys.stderr):  # of progress
        released = private_summary(frame, codebook, verbose=int(arguments.verbose), **budget)
    if arguments.json:
        outputs.print_json(results.fields_of_summary(released, account))
    else:
        print(results.text_of_summary(released, account, size))
    run.write(
        card=lambda: results.card(arguments, released, ledger=account),
        picture=lambda: outputs.picture(arguments, "SummaryDisplay.from_summary", released),
    )


def plan(arguments, run):
    """Print a plan of `select` with this epsilon, or the smallest epsilon or number of people that it needs."""
    codebook = Codebook.read(arguments.codebook)
    _check_choice(arguments, codebook)
    public = codebook.target(arguments.target, arguments.features)
    refuse_no_choice(arguments.k, arguments.keep, len(public["bounds"] | public["categories"]))
    check_epsilon(1.0 if arguments.epsilon is None else arguments.epsilon)
    check_delta(arguments.delta)
    from skdpmic.command_line import results

    rows = results.plan_of_names(arguments, public)
    if arguments.json:
        releases = [row._asdict() for row in rows]
        outputs.print_json({"command": "plan", "sought": rows.sought, "releases": releases})
    else:
        print(rows)


def select(arguments, run):
    """Read the table, ask, choose the columns that predict a target best, and publish their names."""
    codebook, account, source, names = _opened(arguments, run)
    from skdpmic.command_line import reading, results

    frame = reading.read_frame(source, codebook, names, arguments.target)
    records = codebook.records(frame, arguments.target, arguments.features)
    selector = results.selector_of(arguments, codebook.target(arguments.target, names))
    selector.set_params(ledger=account, verbose=int(arguments.verbose))
    n_samples, size = results.size_in_words(records, codebook)
    outputs.ask(arguments, account, results.beforehand(selector, n_samples, size, len(names)))
    with contextlib.redirect_stdout(sys.stderr):  # of progress
        selector.fit(**records)
    chosen = results.chosen_by(selector)
    if arguments.json:
        outputs.print_json(results.fields_of_choice(arguments, selector, chosen, n_samples))
    else:
        print(results.text_of_choice(arguments, selector, chosen, size))
    _write_choice(arguments, run, selector, chosen)


def _check_choice(arguments, codebook):
    """Raise unless the options name columns that the codebook describes, of a type that is used."""
    features, keep, target = arguments.features, arguments.keep, arguments.target
    if target in keep:
        raise ValueError(f"--keep must not hold the target {quoted(target)}, which is predicted.")
    codebook.target(target, [*(features or []), *keep])
    if features is not None and not set(keep) <= set(features):
        raise ValueError(f"--keep must be among --features, got {escaped(', '.join(keep))}.")
    check_k(arguments.k)


def _write_choice(arguments, run, selector, chosen):
    """Write the requested files."""
    from skdpmic.command_line import results

    contents = {
        "output": lambda: "".join(f"{name}\n" for name in [*arguments.keep, *chosen]).encode(),
        "card": lambda: results.card(arguments, selector),
    }
    if len(getattr(selector, "gaps_", [])):
        contents["picture"] = lambda: outputs.picture(arguments, "GapsDisplay.from_estimator", selector)
    elif arguments.picture is not None:
        print("warning: there are no gaps to plot, so no picture was written.", file=sys.stderr)
    run.write(**contents)
