"""The commands of ``python -m skdpmic``, which print their results."""

import contextlib
import os
import sys

from skdpmic._utils.private_estimator import best_first
from skdpmic._utils.texts import aligned, counted, escaped, in_short, wrapped
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.cards.release_card import CHARGES, charges_in_words, file_content, ledger_in_words, release_card
from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line import outputs
from skdpmic.command_line.data import open_data, read_frame, size_in_words
from skdpmic.planning.plan import plan_release
from skdpmic.planning.rows import ReleasePlan
from skdpmic.release.summary import NOTHING, private_summary
from skdpmic.release.summary_cells import ABOVE, BELOW
from skdpmic.selection.selectors import PrivateSelectKBest
from skdpmic.table.domains import MISSING, OTHER


def template(arguments, run):
    """Print a codebook template, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = Codebook.template(source.outline)
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


# --- Summaries --------------------------------------------------------------------------------------------------------


_FLAGS = (MISSING, BELOW, ABOVE, OTHER)
_SHARE_FIELDS = ("kind", "of", "share", "lower", "upper")


def summary(arguments, run):
    """Read the table, ask, and print a private summary, which checks whether a codebook fits."""
    codebook, account = Codebook.read(arguments.codebook), outputs.open_to_pay(arguments.ledger, run.interrupts)
    frame = read_frame(open_data(arguments), codebook)
    records = codebook.records(frame)
    _, size = size_in_words(records, codebook)
    outputs.ask(arguments, account, f"A private summary of {counted(records['X'].num_columns, 'column')} of {size}.")
    budget = {"epsilon": arguments.epsilon, "delta": arguments.delta, "ledger": account}
    with contextlib.redirect_stdout(sys.stderr):  # of progress
        released = private_summary(frame, codebook, verbose=int(arguments.verbose), **budget)
    if arguments.json:
        outputs.print_json(_fields_of_summary(released, account))
    else:
        print(_text_of_summary(released, account, size))
    run.write(
        card=lambda: file_content(release_card(released, ledger=account), arguments.card),
        picture=lambda: outputs.picture(arguments, "SummaryDisplay.from_summary", released),
    )


def _text_of_summary(released, account, size):
    rows = [(column.name, *map(column.flag_in_words, _FLAGS)) for column in released.columns]
    sentences = [*(released.suspicious or [NOTHING]), outputs.spent_in_words(released.privacy_spent, account)]
    title = wrapped(f"Shares of {size}, with simultaneous 95% intervals")
    return "\n\n".join([title, aligned(("column", *_FLAGS), rows), wrapped("\n".join(sentences))])


def _fields_of_summary(released, account):
    """Contents of the JSON."""
    columns = [
        {
            "column": column.name,
            "shares": [dict(zip(_SHARE_FIELDS, row, strict=True)) for row in column.rows()],
            "suspicious": column.suspicious,
        }
        for column in released.columns
    ]
    return {
        "command": "summary",
        "n_samples": released.n_samples,
        "columns": columns,
        "suspicious": released.suspicious,
        "mechanism": released.entry.mechanism,
    } | outputs.fields_of_cost(released.privacy_spent, account)


# --- Choices ----------------------------------------------------------------------------------------------------------


_CLEAR = 3  # multiple of the noise scale above which a gap is clear: see `gaps_` of the estimator


def plan(arguments, run):
    """Print a plan of `select` with this epsilon, or the smallest epsilon that it needs."""
    codebook = Codebook.read(arguments.codebook)
    _check_choice(arguments, codebook)
    public = codebook.target(arguments.target, arguments.features)
    n_features = len(public["bounds"]) + len(public["categories"])
    if arguments.error is None:
        rows = _selector(arguments, public).plan(arguments.n_samples, n_features)
    else:
        rows = plan_release(
            **_given(arguments, "n_samples", "k", "error", "delta"),
            n_features=n_features - len(arguments.keep),
            n_classes=len(public["classes"]) if "classes" in public else None,
            max_rows_per_group=public.get("max_rows_per_group"),
        )
    of_names = [row for row in rows if row.release == "names"]  # which `select` can make
    of_names.sort(key=lambda row: row.statistic != arguments.statistic)
    if arguments.json:
        outputs.print_json({"command": "plan", "sought": rows.sought, "releases": [row._asdict() for row in of_names]})
    else:
        print(ReleasePlan(tuple(of_names), rows.sought))


def select(arguments, run):
    """Read the table, ask, choose the columns that predict a target best, and publish their names."""
    codebook, account = Codebook.read(arguments.codebook), outputs.open_to_pay(arguments.ledger, run.interrupts)
    _check_choice(arguments, codebook)
    choice = (arguments.target, arguments.features)
    records = codebook.records(read_frame(open_data(arguments), codebook, *choice), *choice)
    names = records["X"].column_names
    selector = _selector(arguments, codebook.target(arguments.target, names))
    selector.set_params(ledger=account, verbose=int(arguments.verbose))
    n_samples, size = size_in_words(records, codebook)
    outputs.ask(arguments, account, *_beforehand(selector, n_samples, size, len(names)))
    with contextlib.redirect_stdout(sys.stderr):  # of progress
        selector.fit(**records)
    chosen = _chosen(selector)
    if arguments.json:
        outputs.print_json(_fields_of_choice(arguments, selector, chosen, n_samples))
    else:
        print(_text_of_choice(arguments, selector, chosen, size))
    _write_choice(arguments, run, selector, chosen)


def _check_choice(arguments, codebook):
    """Raise unless the options name columns that the codebook describes, of a type that is used."""
    features, keep = arguments.features, arguments.keep
    codebook.target(arguments.target, [*(features or []), *keep])
    if features is not None and not set(keep) <= set(features):
        raise ValueError(f"--keep must be among --features, got {escaped(', '.join(keep))}.")


def _selector(arguments, public):
    return PrivateSelectKBest(**_given(arguments, "k", "statistic", "epsilon", "delta", "keep"), **public)


def _given(arguments, *names):
    """Options of the same names in Python."""
    return {name: getattr(arguments, name) for name in names}


def _beforehand(selector, n_samples, size, n_features):
    """The choice to be made, and what it will find, from public numbers, so that no budget is wasted on noise."""
    planned = selector.plan(n_samples, n_features)[0]
    yield f"{selector.k} of {n_features - len(selector.keep)} columns, by {selector.statistic}, from {size}."
    if planned.found == planned.found:  # not NaN: there is an assumption about the scores
        yield (
            f"About {planned.found:.0%} of the best {selector.k} will be found, if scores fall as slowly as on a third "
            "of public tables."
        )


def _chosen(selector):
    """The names of the chosen columns, best first."""
    return selector.feature_names_in_[best_first(selector.ranking_)[: selector.n_ranked_]].tolist()


def _text_of_choice(arguments, selector, chosen, size):
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


def _fields_of_choice(arguments, selector, chosen, n_samples):
    """Contents of the JSON."""
    gaps = getattr(selector, "gaps_", None)
    return {
        "command": "select",
        "target": arguments.target,
        "chosen": chosen,
        "kept": arguments.keep,
        "gaps": gaps,
        "clear_gap": None if gaps is None else _CLEAR * selector.noise_scale_,
        "statistic": selector.statistic,
        "criterion": selector.criterion_,
        "mechanism": selector.mechanism_,
        "noise_scale": selector.noise_scale_,
        "n_samples": n_samples,
        "n_features": selector.n_features_in_,
    } | outputs.fields_of_cost(selector.privacy_spent_, selector.ledger)


def _write_choice(arguments, run, selector, chosen):
    """Write the requested files."""
    contents = {
        "output": lambda: "".join(f"{name}\n" for name in [*arguments.keep, *chosen]).encode(),
        "card": lambda: file_content(release_card(selector), arguments.card),
    }
    if len(getattr(selector, "gaps_", [])):
        contents["picture"] = lambda: outputs.picture(arguments, "GapsDisplay.from_estimator", selector)
    elif arguments.picture is not None:
        print("warning: there are no gaps to plot, so no picture was written.", file=sys.stderr)
    run.write(**contents)
