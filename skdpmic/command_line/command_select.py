"""``select``: the names of the columns that predict a target best."""

import sys

from skdpmic._utils.private_estimator import best_first
from skdpmic._utils.texts import aligned, escaped, in_short, wrapped
from skdpmic.cards.release_card import file_content, release_card
from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.data import open_data, read_frame, size_in_words
from skdpmic.command_line.named_columns import check_choice
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
from skdpmic.selection.selectors import PrivateSelectKBest

_CLEAR = 3  # multiple of the noise scale above which a gap is clear: see `gaps_` of the estimator


def execute(arguments, run):
    """Read the table, ask, choose, and publish names."""
    codebook, ledger = Codebook.read(arguments.codebook), open_to_pay(arguments.ledger, run.interrupts)
    check_choice(arguments, codebook)
    choice = (arguments.target, arguments.features)
    frame = read_frame(open_data(arguments), arguments.codebook, codebook, *choice, verbose=verbosity(arguments))
    records = codebook.records(frame, *choice)
    selector = _selector(arguments, codebook, records["X"], ledger)
    n_samples, size = size_in_words(records, codebook)
    ask(arguments, ledger, *_beforehand(selector, n_samples, size, records["X"].num_columns))
    with printing_to_stderr():
        selector.fit(**records)
    chosen = _chosen(selector)
    if arguments.json:
        print_json(_fields(arguments, selector, chosen, n_samples, ledger))
    else:
        print(_text(arguments, selector, chosen, size, ledger))
    _write_files(arguments, run.outputs, selector, chosen)


def _selector(arguments, codebook, X, ledger):
    return PrivateSelectKBest(
        arguments.k,
        statistic=arguments.statistic,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        keep=arguments.keep,
        ledger=ledger,
        verbose=verbosity(arguments, X.num_rows * X.num_columns),
        **codebook.target(arguments.target, X.column_names),
    )


def _beforehand(selector, n_samples, size, n_features):
    """The choice to be made, and what it will find, from public numbers, so that no budget is wasted on noise."""
    plan = selector.plan(n_samples, n_features)[0]
    yield f"{selector.k} of {n_features - len(selector.keep)} columns, by {selector.statistic}, from {size}."
    if plan.found == plan.found:  # not NaN: there is an assumption about the scores
        yield (
            f"About {plan.found:.0%} of the best {selector.k} will be found, if scores fall as slowly as on a third of "
            "public tables."
        )


def _chosen(selector):
    """The names of the chosen columns, best first."""
    return selector.feature_names_in_[best_first(selector.ranking_)[: selector.n_ranked_]].tolist()


def _text(arguments, selector, chosen, size, ledger):
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
    sentences.append(spent_in_words(selector.privacy_spent_, ledger))
    return "\n\n".join([wrapped(title), table, wrapped("\n".join(sentences))])


def _fields(arguments, selector, chosen, n_samples, ledger):
    """Contents of the JSON."""
    epsilon, delta = selector.privacy_spent_
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
        "epsilon": epsilon,
        "delta": delta,
        "ledger": after_paying(ledger_state, ledger),
    }


def _write_files(arguments, outputs, selector, chosen):
    """Write the requested files."""
    contents = {
        "output": lambda: "".join(f"{name}\n" for name in [*arguments.keep, *chosen]).encode(),
        "card": lambda: file_content(release_card(selector), arguments.card),
    }
    if len(getattr(selector, "gaps_", [])):
        contents["picture"] = lambda: _picture(selector, arguments.picture)
    elif arguments.picture is not None:
        print("warning: there are no gaps to plot, so no picture was written.", file=sys.stderr)
    outputs.write(**contents)


def _picture(selector, path):
    from skdpmic.plotting import GapsDisplay

    return picture(GapsDisplay.from_estimator, selector, path)
