"""A card states in words and numbers what was released and what is protected and not, and nothing else."""

import json
import math
import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    __version__,
    private_summary,
    release_card,
)
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each

RNG = np.random.default_rng(0)
N, NAMES = 400, ["age", "<script>alert('x')</script>", "blood & soil"]
X = pandas.DataFrame(RNG.random((N, 3)), columns=NAMES)
Y = np.asarray(X)[:, 1] ** 2
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
ESTIMATORS = {
    "names": lambda **more: PrivateSelectKBest(2, epsilon=2.0, **PUBLIC, **more),
    "selector": lambda **more: DPMICSelector(1, epsilon=2.0, **PUBLIC, **more),
    "scorer": lambda **more: DPMICScorer(epsilon=2.0, delta=1e-6, mechanism="gaussian", **PUBLIC, **more),
    "correlation": lambda **more: PrivateCorrelation(epsilon=2.0, **more),
    "graph": lambda **more: PrivatePC(epsilon=2.0, **more),
    "model": lambda **more: PrivateAdditiveRegressor(epsilon=2.0, **PUBLIC, **more),
}
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "privacy_card.md"


def summary(**more):
    codebook = Codebook(dict.fromkeys(NAMES, (0, 1)))
    return private_summary(X, codebook, epsilon=2.0, **more)


def search(**more):
    return PrivateGridSearch(
        make_pipeline(PrivateSelectKBest(1, epsilon=1.0, **PUBLIC), Ridge()),
        {"privateselectkbest__k": [1, 2]},
        epsilon=1.0,
        n_subsets=8,
        **more,
    )


@pytest.fixture(scope="module")
def cards():
    found = {name: release_card(make().fit(X, Y)) for name, make in ESTIMATORS.items()}
    found["summary"] = release_card(summary())
    found["search"] = release_card(search().fit(X, Y))
    reports = RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)
    found["reports"] = release_card(reports)
    sent = reports.to_arrow(reports.transform(X))
    found["two parties"] = release_card(TwoPartyScorer(epsilon=2.0, target_bounds=(0, 1)).fit(sent, Y))
    return found


ALL = [*ESTIMATORS, "summary", "search", "reports", "two parties"]


class Reader(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


# --- Contents ---------------------------------------------------------------------------------------------------------


@each("name", ALL)
def test_the_first_guarantee_is_for_the_release(name, cards):
    fields = cards[name].fields
    guarantee = fields["guarantees"][0]
    epsilon = 4.0 if name == "reports" else 2.0
    assert guarantee["epsilon"] == epsilon
    assert guarantee["delta"] == (1e-6 if name in ("scorer", "correlation", "graph", "model") else 0.0)
    assert guarantee["model"] == ("local" if name == "reports" else "central")
    assert guarantee["n"] == (None if name == "reports" else N)
    assert (guarantee["unit"], guarantee["rows_per_person"]) == ("record", None)
    assert (fields["private"], fields["broken_by"], fields["why_broken"]) == (True, [], [])
    assert fields["package"] == {"name": "skdpmic", "version": __version__}
    assert f"ε = {epsilon:g}" in fields["statement"]
    assert fields["published"]["what"] in fields["statement"]


def test_the_card_of_a_release_of_names_is_complete(cards):
    fields = cards["names"].fields
    assert fields["by"] == "PrivateSelectKBest"
    assert (fields["published"]["statistic"], fields["published"]["mechanism"]) == ("mtv_r", "k-norm")
    assert fields["guarantees"][0]["epsilon_of_target"] == 0.3
    assert fields["published"]["table"]["rows"][0] == [NAMES[1], "chosen"]
    assert "the number of records, 400" in fields["public"]
    assert str(cards["names"]).split() == fields["statement"].split()
    assert max(map(len, repr(cards["names"]).splitlines())) <= 80
    assert "The guarantee covers each of 400 records; their number is public." in fields["statement"]
    assert "Other spending on the same records is unknown." in fields["statement"]


def test_both_parties_have_a_guarantee(cards):
    target, features = cards["two parties"].fields["guarantees"]
    assert (target["of"], target["model"], target["epsilon"]) == ("the target", "central", 2.0)
    assert (features["of"], features["model"], features["epsilon"]) == ("the features", "local", 4.0)
    assert target["neighbours"] == "the target of one record may change"
    assert any("the other party drew with a seed" in text for text in cards["two parties"].fields["not_covered"])
    assert not any("the other party" in text for text in cards["names"].fields["not_covered"])


def test_people_are_distinguished_from_records():
    groups = np.arange(N) // 4
    scorer = DPMICScorer(epsilon=2.0, max_rows_per_group=3, **PUBLIC).fit(X, Y, groups=groups)
    codebook = Codebook(dict.fromkeys(NAMES, (0, 1)) | {"who": "identifier"}, groups="who", max_rows_per_group=3)
    table_summary = private_summary(X.assign(who=groups.astype(str)), codebook, epsilon=2.0)
    for released in (scorer, table_summary):
        fields = release_card(released).fields
        guarantee = fields["guarantees"][0]
        assert (guarantee["unit"], guarantee["n"], guarantee["rows_per_person"]) == ("person", 100, 3)
        assert guarantee["neighbours"] == "all records of one person are replaced"
        assert "the number of people, 100" in fields["public"]
        assert "The guarantee covers each of 100 people with all their records" in fields["statement"]


BROKEN = [
    ({"random_state": 0}, ["random_state"], "random_state was set"),
    ({"epsilon": math.inf}, ["epsilon"], "an epsilon is infinite"),
]


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@each("parameters, names, why", BROKEN)
@each("kind", [DPMICScorer, partial(DPMICSelector, 1), partial(PrivateSelectKBest, 1)])
def test_the_card_keeps_saying_what_broke_the_guarantee(kind, parameters, names, why):
    fitted = kind(**PUBLIC | parameters).fit(X, Y)
    fitted.set_params(random_state=None, epsilon=1.0, **PUBLIC)
    card = release_card(fitted)
    assert card.fields["private"] is False
    assert sorted(card.fields["broken_by"]) == sorted(names)
    assert str(card).startswith("Published without privacy")
    assert f"There is no privacy: {why}" in card.fields["statement"]
    assert "is protected" not in card.fields["statement"]
    assert f"No privacy: {why}" in card.to_html()
    assert json.loads(card.to_json())["private"] is False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_cards_say_what_broke_the_guarantee_of_a_summary_a_search_and_reports():
    assert release_card(summary(random_state=0)).fields["broken_by"] == ["random_state"]
    assert release_card(search(random_state=0).fit(X, Y)).fields["broken_by"] == ["random_state"]
    seeded = search().set_params(estimator__privateselectkbest__random_state=0).fit(X, Y)
    for later in (0, None):
        seeded.best_estimator_[0].set_params(random_state=later)
        assert release_card(seeded).fields["broken_by"] == ["random_state"]
    reports = RandomizedResponse(epsilon=math.inf, bounds=(0, 1), random_state=0).fit(X)
    fields = release_card(reports).fields
    assert fields["broken_by"] == ["random_state", "epsilon"]
    assert fields["guarantees"][0]["epsilon"] is None


def test_the_ledger_is_listed_with_all_its_entries(tmp_path):
    ledger = BudgetLedger(tmp_path / "people of private.db", 5.0)
    with ledger.spend("synthetic table", 0.5, by="OpenDP AIM"):
        pass
    selector = ESTIMATORS["names"](ledger=ledger.for_purpose("<b>report</b>")).fit(X, Y)
    card = release_card(selector)
    listed = card.fields["ledger"]
    assert listed["entries"] == [entry._asdict() for entry in ledger.entries()]
    assert (listed["limit"], listed["spent"]["epsilon"]) == ({"epsilon": 5.0, "delta": 0.0}, 2.5)
    assert (
        "In total, ε = 2.5 per record was spent on this table, of a limit of ε = 5 per record."
        in card.fields["statement"]
    )
    assert "OpenDP AIM" in card.to_html()
    assert "people of private" not in card.to_html() + card.to_json()  # the path is not shown
    before = Path(ledger.path).read_bytes()
    release_card(selector)
    assert Path(ledger.path).read_bytes() == before

    charged = summary(ledger=ledger)
    assert release_card(charged).fields["ledger"] is None
    assert release_card(charged, ledger=ledger).fields["ledger"]["spent"]["epsilon"] == 4.5


def test_a_ledger_that_was_not_charged_is_refused(tmp_path):
    other = BudgetLedger(tmp_path / "other.db", 5.0)
    other.charge("DPMICScorer", 1.0)
    selector = ESTIMATORS["names"]().fit(X, Y)
    with pytest.raises(ValueError, match="one without an entry of PrivateSelectKBest"):
        release_card(selector, ledger=other)
    with pytest.raises(ValueError, match="ledger must be a BudgetLedger"):
        release_card(selector, ledger="other.db")


def test_objects_without_a_card_are_refused():
    with pytest.raises(NotFittedError):
        release_card(PrivateSelectKBest(2))
    with pytest.raises(NotFittedError, match="Call 'publish'"):
        release_card(DPMICScorer(**PUBLIC).partial_fit(X, Y))
    for thing in (Ridge(), 7, DPMICScorer):
        with pytest.raises(TypeError, match="released must be a fitted private estimator"):
            release_card(thing)
    reports = RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)
    alone = TwoPartyScorer().fit(reports.to_arrow(reports.transform(X)), Y)
    with pytest.raises(ValueError, match="must have published something, got results"):
        release_card(alone)


# --- As JSON ----------------------------------------------------------------------------------------------------------


def keys_of(value):
    """All keys of a card, at any depth."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {*(value if isinstance(value, dict) else ())}.union(*map(keys_of, inside))


def test_the_json_is_complete_and_has_the_documented_keys(cards):
    documented = PAGE.read_text("utf-8")
    for card in cards.values():
        assert json.loads(card.to_json(), parse_constant=pytest.fail) == card.fields
        own = keys_of(card.fields) - set(LedgerEntry._fields)  # documented by "such as" with a few examples
        assert [name for name in own if f"`{name}`" not in documented] == []


def test_no_key_of_version_2_is_renamed_or_removed(cards, tmp_path):
    """Keys may be added."""
    selector = ESTIMATORS["names"](ledger=BudgetLedger(tmp_path / "ledger.db", 5.0)).fit(X, Y)
    made = [*cards.values(), release_card(selector)]
    keys = """
        broken_by by composition delta entries epsilon epsilon_of_target facts format guarantees ledger limit
        max_rows_per_person mechanism model n neighbours not_covered of package private public published remaining
        rows_per_person spent statement statistic table unit version what why_broken
    """
    assert set().union(*(keys_of(card.fields) for card in made)) >= set(keys.split())


# --- As HTML ----------------------------------------------------------------------------------------------------------


@each("name", ALL)
def test_the_html_is_complete_and_names_are_escaped(name, cards):
    card = cards[name]
    for text in (card.to_html(), card._repr_html_()):
        reader = Reader(text)
        assert "script" not in reader.tags
        assert re.search(r"https?:", text) is None  # self-contained
        published = card.fields["published"]
        for statement in (card.fields["statement"], *card.fields["not_covered"], *card.fields["public"]):
            assert statement in reader.text
        for fact in published["facts"]:
            assert fact["text"] in reader.text
        if published["table"] and name != "search":
            assert NAMES[1] in reader.text
    assert card.to_html().startswith("<!DOCTYPE html>")
    assert card._repr_html_().startswith('<div class="skdpmic-card">')


def test_a_long_table_and_a_long_ledger_are_truncated(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", 50.0)
    for i in range(30):
        ledger.charge(f"release {i:02d}", 0.1)
    table = np.random.default_rng(0).random((50, 40))
    scorer = DPMICScorer(statistic="kendall", ledger=ledger).fit(table, table[:, 0])
    card = release_card(scorer)
    assert len(card.fields["published"]["table"]["rows"]) == 20
    assert card.fields["published"]["table"]["n_rows"] == 40
    assert len(card.fields["ledger"]["entries"]) == 31
    text = Reader(card.to_html()).text
    assert "and 20 more features" in text
    assert "after 11 earlier charges" in text
    assert "release 10" not in text
    assert "release 11" in text


@each("suffix", [".json", ".html", ".HTML"])
def test_the_format_of_a_file_follows_its_suffix(suffix, cards, tmp_path_factory):
    path = tmp_path_factory.mktemp("card") / f"card{suffix}"
    cards["names"].write(path)
    text = path.read_text("utf-8")
    assert text == (cards["names"].to_json() if suffix == ".json" else cards["names"].to_html())
    with pytest.raises(ValueError, match=r"path must end in \.json or \.html"):
        cards["names"].write(path.with_suffix(".txt"))
