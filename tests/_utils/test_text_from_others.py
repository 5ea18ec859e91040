"""Names, purposes and cards from others are harmless on a screen: no control characters and no forged lines."""

import json
import random
import re
import unicodedata
import warnings

import numpy as np
import pandas
import pytest

from skdpmic import BudgetLedger, Codebook, PrivateSelectKBest, plan_release, private_summary, release_card
from skdpmic._utils.texts import escaped
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.cards.release_card import PrivacyCard
from skdpmic.command_line.main import main
from skdpmic.plotting import figures
from tests.folding import each

ACTING = (
    *("\x1b]0;title\x07", "\x1b[2J", "\x1b[1A", "\x9b31m", "\x9d0;t\x9c", "\r", "\b", "\t", "\v", "\f", "\x7f", "\x85"),
    *("\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\u2029", "\u200b", "\ufeff", "\U000e0041", "\x1e", "\x00"),
)
FORGED = "ε = 0 was spent"


def hostile(draw, but=""):
    """A text with active characters that forges a line."""
    parts = [draw.choice(["name", "Größe", "x y", "a<b&c", "#1", "'\"", "\\n"]), f"\n{FORGED}\n"]
    parts += draw.choices([part for part in ACTING if not set(part) & set(but)], k=3)
    first = f"{draw.choice('abcxyz')}{draw.randrange(10**6)}"  # all different
    return first + "".join(draw.sample(parts, len(parts)))


def assert_harmless(*texts):
    for text in texts:
        acting = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert acting <= {"\n"}, (acting, ascii(text))
        assert not any(line.strip(" >").startswith(FORGED) for line in text.splitlines()), text


def replaced(value, draw):
    """The fields of a card with other texts."""
    if isinstance(value, dict):
        return {name: value[name] if name in ("format", "version") else replaced(value[name], draw) for name in value}
    if isinstance(value, list):
        return [replaced(inner, draw) for inner in value]
    return hostile(draw) + draw.choice(["", "\ud800"]) if isinstance(value, str) else value


def test_control_characters_are_escaped_and_letters_are_not():
    assert escaped("Größe ‰ 年齢 🙂 a\\b") == "Größe ‰ 年齢 🙂 a\\b"
    assert escaped("a\nb\x1b\x9b\u202e\U000e0041\ud800") == r"a\nb\u001b\u009b\u202e\U000e0041\ud800"
    assert escaped("a\nb\r", but="\n") == "a\nb\\r"


@each("seed", range(5))
def test_a_hostile_card_is_harmless_in_every_format(seed, tmp_path):
    ledger = BudgetLedger(tmp_path / f"{seed}.db", 5.0)
    selector = PrivateSelectKBest(1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    selector.fit(np.random.default_rng(0).random((100, 3)), np.arange(100) % 2)
    card = PrivacyCard(replaced(release_card(selector).fields, random.Random(seed)))
    assert_harmless(str(card), repr(card), card.to_json(), card.to_html(), card._repr_html_())
    assert json.loads(card.to_json()) == card.fields
    card.write(tmp_path / "card.json")
    assert_harmless((tmp_path / "card.json").read_text("utf-8"))


@pytest.mark.parametrize("seed", range(5))
def test_purposes_and_names_cannot_forge_lines_of_a_ledger(seed, tmp_path, capsys):
    draw = random.Random(seed)
    texts = dict.fromkeys(("what", "statistic", "release", "mechanism"))
    ledger = BudgetLedger(tmp_path / "ledger.db", 1.0)
    ledger = ledger.for_purpose(hostile(draw, but="\0"))
    ledger.charge_entry(LedgerEntry(epsilon=0.5, d=3, k=2, **{name: hostile(draw, but="\0") for name in texts}))
    (entry,) = ledger.entries()
    assert FORGED in entry.purpose
    assert_harmless(repr(ledger), str(entry), entry.spender, entry.released, figures.label_of(entry.what, 10**4))
    assert_harmless(repr(entry))
    assert main(["ledger", ledger.path]) == main(["ledger", ledger.path, "--json"]) == 0
    assert_harmless(*capsys.readouterr())
    with pytest.raises(Exception, match="does not fit") as caught:
        ledger.charge(hostile(draw, but="\0"), 0.75)
    assert_harmless(str(caught.value))
    assert_harmless(str(LedgerEntry("x", 1.0, purpose=hostile(draw))))


@pytest.fixture(params=range(3))
def people(request):
    """A table with hostile names and its codebook with a hostile title and labels."""
    draw, rng = random.Random(request.param), np.random.default_rng(0)
    names = [hostile(draw, but="\0") for _ in range(4)]
    frame = pandas.DataFrame({name: rng.random(400) ** 9 for name in names[:3]})
    frame[names[3]] = rng.choice(["f", "m"], 400)
    columns = dict.fromkeys(names[:3], (0, 1)) | {names[3]: [hostile(draw, but="\0"), "f"]}
    return frame, Codebook(columns, title=hostile(draw, but="\0"))


def texts_of_call(function):
    """The warnings and error of a call, and its result if it has one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = function(), ""
        except (ValueError, TypeError) as raised:
            result, error = None, str(raised)
    return result, [error, *(str(warning.message) for warning in caught)]


def test_estimators_summaries_and_codebooks_print_no_control_characters(people):
    frame, codebook = people
    names = list(frame)
    public = codebook.target(names[0])
    selector, texts = texts_of_call(
        lambda: PrivateSelectKBest(2, epsilon=1.0, **public).fit(frame[names[1:]], frame[names[0]])
    )
    card = release_card(selector)
    assert_harmless(*texts, repr(selector), selector._release_as_html(), str(card), card.to_html(), card.to_json())
    assert FORGED in card.to_html()
    summary, texts = texts_of_call(lambda: private_summary(frame, codebook, epsilon=100.0))
    assert len(summary.suspicious) > 1
    assert_harmless(*texts, repr(summary), summary._repr_html_(), *summary.suspicious, str(release_card(summary)))
    assert_harmless(repr(codebook), codebook.to_toml(), Codebook.template(frame))
    for bad in (
        lambda: selector.set_params(bounds={names[1]: (0, 1)}).fit(frame[names[1:]], frame[names[0]]),
        lambda: PrivateSelectKBest(1, bounds=(0, 1), target_bounds=(0, 1)).fit(frame[names[1:]], frame[names[0]]),
        lambda: PrivateSelectKBest(1, keep=[names[0]], **public).fit(frame[names[1:]], frame[names[0]]),
        lambda: codebook.target(names[0] + "x"),
        lambda: Codebook({names[0]: "nonsense"}),
        lambda: private_summary(frame.drop(columns=names[1]), codebook, epsilon=1),
        lambda: plan_release(n_samples=100, n_features=3, epsilon=1, k=names[0]),
    ):
        assert_harmless(*texts_of_call(bad)[1])


@pytest.mark.slow
def test_names_cannot_forge_lines_of_the_command_line(people, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    frame, codebook = people
    frame.to_parquet("people.parquet")
    codebook.write("codebook.toml")
    target, *others = list(frame)
    spending = ["people.parquet", "--codebook", "codebook.toml", "--epsilon", "2", "--yes"]
    keep = ['"' + others[0].replace('"', '""') + '"']
    assert main(["select", *spending, "--target", target, "--k", "1"]) == 0
    assert main(["select", *spending, "--target", target, "--k", "1", "--json"]) == 0
    main(["select", *spending, "--target", target, "--k", "1", "--keep", *keep])
    assert main(["summary", *spending]) == 0
    assert main(["template", "people.parquet"]) == 0
    main(["select", *spending, "--target", "no" + target, "--k", "1"])
    main(["select", *spending, "--target", target, "--k", "1", "--features", *keep, "--keep", *keep])
    main(["ledger", "no" + re.sub("[\0/]", "", target)])
    shown = capsys.readouterr()
    assert escaped(target) in shown.out
    assert_harmless(shown.out, shown.err)
