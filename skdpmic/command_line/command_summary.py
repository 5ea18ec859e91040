"""``summary``: a private summary of a table, which checks whether its codebook fits."""

from skdpmic._utils.texts import aligned, counted, wrapped
from skdpmic.cards.release_card import file_content, release_card
from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.data import open_data, read_frame, size_in_words
from skdpmic.command_line.outputs import (
    after_paying,
    ask,
    ledger_state,
    open_to_pay,
    picture,
    print_json,
    printing_to_stderr,
    spent_in_words,
    verbosity,
)
from skdpmic.release.summary import NOTHING, private_summary
from skdpmic.release.summary_cells import ABOVE, BELOW
from skdpmic.table.part_names import MISSING, OTHER

_FLAGS = (MISSING, BELOW, ABOVE, OTHER)


def execute(arguments, run):
    """Read the table, ask, and print a private summary."""
    codebook, ledger = Codebook.read(arguments.codebook), open_to_pay(arguments.ledger, run.interrupts)
    frame = read_frame(open_data(arguments), arguments.codebook, codebook, verbose=verbosity(arguments))
    records = codebook.records(frame)
    n_columns = records["X"].num_columns
    _, size = size_in_words(records, codebook)
    ask(arguments, ledger, f"A private summary of {counted(n_columns, 'column')} of {size}.")
    with printing_to_stderr():
        verbose = verbosity(arguments, frame.num_rows * n_columns)
        budget = {"epsilon": arguments.epsilon, "delta": arguments.delta, "ledger": ledger}
        summary = private_summary(frame, codebook, verbose=verbose, **budget)
    if arguments.json:
        print_json(_fields(summary, ledger))
    else:
        print(_text(summary, ledger, size))
    run.outputs.write(
        card=lambda: file_content(release_card(summary, ledger=ledger), arguments.card),
        picture=lambda: _picture(summary, arguments.picture),
    )


def _picture(summary, path):
    from skdpmic.plotting import SummaryDisplay

    return picture(SummaryDisplay.from_summary, summary, path)


def _text(summary, ledger, size):
    rows = [(column.name, *map(column.flag_in_words, _FLAGS)) for column in summary.columns]
    table = aligned(("column", *_FLAGS), rows)
    sentences = [*(summary.suspicious or [NOTHING]), spent_in_words(summary.privacy_spent, ledger)]
    return "\n\n".join(
        [wrapped(f"Shares of {size}, with simultaneous 95% intervals"), table, wrapped("\n".join(sentences))]
    )


def _fields(summary, ledger):
    """Contents of the JSON."""
    epsilon, delta = summary.privacy_spent
    return {
        "command": "summary",
        "n_samples": summary.n_samples,
        "columns": [
            {
                "column": column.name,
                "shares": [dict(zip(_SHARE_FIELDS, row, strict=True)) for row in column.rows()],
                "suspicious": column.suspicious,
            }
            for column in summary.columns
        ],
        "suspicious": summary.suspicious,
        "mechanism": summary.entry.mechanism,
        "epsilon": epsilon,
        "delta": delta,
        "ledger": after_paying(ledger_state, ledger),
    }


_SHARE_FIELDS = ("kind", "of", "share", "lower", "upper")
