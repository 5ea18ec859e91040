"""A card of what is published together counts each release once, and states one total and one list of columns."""

import json
import math
import re

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from skdpmic import (
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    private_evaluation,
    private_summary,
    release_card,
)
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each

N, NAMES = 600, ["age", "<i>income</i>", "rooms", "floor"]
X = pandas.DataFrame(np.random.default_rng(0).random((N, 4)), columns=NAMES)
Y = np.asarray(X)[:, 1] ** 2
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:delta=")


def selector(**more):
    return PrivateSelectKBest(2, **{"epsilon": 0.5} | PUBLIC | more).set_output(transform="pandas")


def model(**more):
    return PrivateAdditiveRegressor(**{"epsilon": 1.0, "delta": 0.0} | PUBLIC | more)


def search(**more):
    pipeline = make_pipeline(selector(delta=1e-6), model(delta=1e-6))
    return PrivateGridSearch(pipeline, {"privateselectkbest__k": [1, 2]}, epsilon=0.25, n_subsets=8, **more)


def cost(card):
    (guarantee,) = card.fields["guarantees"]
    return guarantee["epsilon"], guarantee["delta"]


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "study.db", 100.0)


@pytest.fixture
def study(ledger):
    """A summary, a pipeline and the test score of its model, charged to one ledger."""
    book = Codebook(dict.fromkeys(NAMES, (0, 1)) | {"price": (0, 1)})
    summary = private_summary(X.assign(price=Y), book, epsilon=0.125, ledger=ledger)
    pipeline = make_pipeline(selector(ledger=ledger), model(ledger=ledger)).fit(X[:400], Y[:400])
    unseen = pipeline[:-1].transform(X[400:])
    return [summary, pipeline, private_evaluation(pipeline[-1], unseen, Y[400:], epsilon=0.25, ledger=ledger)]


# --- One total, one list of columns, a section for each part ----------------------------------------------------------


def test_a_pipeline_has_a_card_with_the_sum_of_its_steps_and_the_columns_that_it_was_given():
    pipeline = make_pipeline(selector(), FunctionTransformer(), model()).fit(X, Y)
    fields = release_card(pipeline).fields
    assert cost(release_card(pipeline)) == (1.5, 0.0)
    assert [part["by"] for part in fields["parts"]] == ["PrivateSelectKBest", "PrivateAdditiveRegressor"]
    assert [part["guarantees"][0]["epsilon"] for part in fields["parts"]] == [0.5, 1.0]
    assert fields["columns"] == NAMES
    assert fields["guarantees"][0]["n"] == N
    assert "with ε = 1.5 in total, by PrivateSelectKBest, PrivateAdditiveRegressor of" in fields["statement"]
    assert "Columns that were looked at: 4." in fields["statement"]
    assert "what functiontransformer (FunctionTransformer) does, which learns nothing from records" in fields["public"]


def test_a_list_is_one_card_with_a_section_for_each_part(study, ledger, tmp_path):
    card = release_card(study, ledger=ledger)
    by = ["private_summary", "PrivateSelectKBest", "PrivateAdditiveRegressor", "private_evaluation"]
    assert cost(card) == ledger.spent() == (1.875, 0.0)
    assert [part["by"] for part in card.fields["parts"]] == by
    assert card.fields["columns"] == [*NAMES, "price"]
    numbers = [text for text in card.fields["public"] if text.startswith("the number of records")]
    assert numbers == [f"the number of records, {n}" for n in (600, 400, 200)]
    assert card.fields["guarantees"][0]["n"] is None  # the parts are about different numbers
    page, sections = card.to_html(), re.findall(r"<h2>(.*?)</h2>", card.to_html())
    assert [title for title in sections if title[:4] == "Part"] == [f"Part {i}: {of}" for i, of in enumerate(by, 1)]
    assert sections.count("The budget of the table") == sections.count("The guarantee") == 1
    assert "<i>income" not in page
    assert "&lt;i&gt;income" in page
    for part in card.fields["parts"]:
        for fact in part["published"]["facts"]:
            assert fact["text"].replace("'", "&#x27;") in page
    assert json.loads(card.to_json()) == card.fields
    card.write(tmp_path / "card.json")
    assert str(card).split() == card.fields["statement"].split()
    assert card._repr_html_() in page


def test_the_total_is_that_of_the_ledger_by_its_composition(tmp_path):
    """Together, releases cost less in zCDP than their sum; a search with its refit, too."""
    ledger = BudgetLedger(tmp_path / "zcdp.db", 9.0, 1e-5)
    noisy = {"delta": 1e-6, "ledger": ledger}
    parts = [DPMICScorer(epsilon=0.3, mechanism="gaussian", **noisy, **PUBLIC).fit(X, Y) for _ in range(4)]
    card = release_card(parts)
    assert cost(card) == ledger.spent()
    assert cost(release_card(parts[:2])) < cost(card) < (4 * 0.3, 1e-5)
    assert card.fields["by"] == "DPMICScorer"  # once, of four
    parts.append(PrivateGridSearch(model(**noisy), {"epsilon": [0.5, 1.0]}, n_subsets=8, ledger=ledger).fit(X, Y))
    assert cost(release_card(parts)) == pytest.approx(ledger.spent(), rel=1e-9)
    parts.append(search(ledger=ledger).fit(X, Y))
    assert cost(release_card(parts)) > ledger.spent()  # which was charged for the choice only


def test_what_is_in_a_pipeline_and_a_list_and_a_refit_is_counted_once():
    pipeline = make_pipeline(selector(), model()).fit(X, Y)
    assert cost(release_card([pipeline, pipeline[0], pipeline, pipeline[1]])) == (1.5, 0.0)
    assert cost(release_card((pipeline[0], pipeline[0]))) == (0.5, 0.0)
    searched = search().fit(X, Y)
    alone = release_card(searched).fields["guarantees"]
    for parts in ([searched, searched.best_estimator_[0]], [searched.best_estimator_, searched], [searched]):
        card = release_card(parts)
        assert card.fields["guarantees"] == alone
        assert card.fields["parts"] == []


def test_a_list_or_a_pipeline_of_one_has_the_card_of_that_release():
    pipeline = make_pipeline(selector()).fit(X, Y)
    encoded = make_pipeline(PublicEncoder(bounds=(0, 1)), clone(pipeline[0])).fit(X, Y)
    alone = release_card(pipeline[0]).fields
    assert release_card([pipeline[0]]).fields == release_card(pipeline).fields == alone
    fields = release_card(encoded).fields
    assert fields["columns"] == NAMES
    assert fields["public"] == [
        *alone["public"],
        "what publicencoder (PublicEncoder) does, which learns nothing from records",
    ]


def test_columns_without_names_are_numbered_only_if_no_release_knows_names():
    unnamed = make_pipeline(selector().set_output(transform="default"), model()).fit(X.to_numpy(), Y)
    assert release_card(unnamed).fields["columns"] == [f"feature {j}" for j in range(4)]
    named = make_pipeline(selector().set_output(transform="default"), model()).fit(X, Y)  # the model gets an array
    assert release_card([named, named[-1]]).fields["columns"] == NAMES
    evaluation = private_evaluation(named[-1], named[:-1].transform(X), Y, epsilon=1.0)
    assert release_card(evaluation).fields["columns"] == []


COMPOSED = {
    "nested": make_pipeline(make_pipeline(PolynomialFeatures(1, include_bias=False), selector()), model()),
    "columns": make_pipeline(ColumnTransformer([("k", selector(), NAMES[:3])], remainder="passthrough"), model()),
    "remainder": make_pipeline(ColumnTransformer([("p", "passthrough", NAMES[:1])], remainder=selector()), model()),
    "union": make_pipeline(FeatureUnion([("k", selector()), ("all", "passthrough")]), model()),
    "scores": make_pipeline(SelectKBest(DPMICScorer(epsilon=0.5, **PUBLIC), k=2), model()),
}


@each("kind", COMPOSED)
def test_private_steps_are_found_wherever_a_pipeline_holds_them(kind):
    card = release_card(clone(COMPOSED[kind]).fit(X, Y))
    assert cost(card) == (1.5, 0.0)
    assert len(card.fields["parts"]) == 2


# --- What has no common guarantee -------------------------------------------------------------------------------------

FITTED = selector().fit(X, Y)


def in_two_places(step):
    """A pipeline whose ledger would be charged twice: the second fit replaces the first release, which was used."""
    return Pipeline([("first", step), ("second", step)]).fit(X, Y)


REFUSED = [
    (
        lambda: make_pipeline(selector(), Ridge()).fit(X, Y),
        r"list of the private steps before these, got \['ridge \(Ridge\)'\]",
    ),
    (lambda: make_pipeline(StandardScaler(), selector()).fit(X, Y), r"got \['standardscaler \(StandardScaler\)'\]"),
    (
        lambda: make_pipeline(FITTED, model()),
        r"got \['privateadditiveregressor without a release of its own \(is it fitted\?\)'\]",
    ),
    (lambda: [FITTED, make_pipeline(selector(), model())], "'privateselectkbest without a release"),
    (
        lambda: in_two_places(DPMICSelector(k=3, epsilon=0.5, **PUBLIC)),
        "'first without .* of its own .*'second without",
    ),
    (lambda: make_pipeline(PolynomialFeatures()).fit(X, Y), r"got \[\]"),
    (
        lambda: make_pipeline(
            PrivateGridSearch(make_pipeline(selector(), Ridge()), {"ridge__alpha": [1, 2]}, n_subsets=4)
        ).fit(X, Y),
        r"got \['privategridsearch__estimator__ridge \(Ridge\)'\]",
    ),
    (list, r"a list of at least one, got \[\]"),
    (lambda: [FITTED, RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)], "private for each report or each party"),
]


@each("make, phrase", REFUSED)
def test_what_has_no_common_guarantee_is_refused_by_name(make, phrase):
    with pytest.raises(ValueError, match=phrase):
        release_card(make())


def test_other_parts_of_a_list_are_refused_as_they_are_alone():
    for part in (Ridge(), "ledger.db", [FITTED]):
        with pytest.raises(TypeError, match=r"released must be a fitted private estimator .* or a list of these"):
            release_card([FITTED, part])
    with pytest.raises(NotFittedError):
        release_card([FITTED, selector()])
    reports = RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)
    sent = reports.to_arrow(reports.transform(X))
    for scorer in (TwoPartyScorer(epsilon=2.0, target_bounds=(0, 1)), TwoPartyScorer()):
        with pytest.raises(ValueError, match="for each report or each party"):
            release_card([FITTED, scorer.fit(sent, Y)])


def test_each_release_needs_an_entry_in_one_ledger(study, ledger, tmp_path):
    other = BudgetLedger(tmp_path / "other.db", 9.0)
    later = selector(ledger=other).fit(X, Y)
    with pytest.raises(ValueError, match="ledger must be given, if releases have several"):
        release_card([*study, later])
    with pytest.raises(ValueError, match="without an entry of PrivateSelectKBest per record"):  # there is one, not two
        release_card([*study, later], ledger=ledger)
    uncharged = selector().fit(X, Y)
    with pytest.raises(ValueError, match="without an entry of PrivateSelectKBest"):
        release_card([study[1], uncharged])
    with pytest.raises(ValueError, match="without an entry of private_evaluation"):
        release_card([later, study[2]])
    assert cost(release_card([study[1], uncharged][1:])) == (0.5, 0.0)


def test_records_and_people_are_added_up_only_if_a_person_has_a_limited_number_of_records(tmp_path):
    people = {"groups": np.arange(N) // 2}
    by_record = DPMICScorer(epsilon=0.5, **PUBLIC).fit(X, Y)
    by_person = DPMICScorer(epsilon=0.5, max_rows_per_group=2, **PUBLIC).fit(X, Y, **people)
    with pytest.raises(ValueError, match="max_rows_per_person, if releases are for records and for people"):
        release_card([by_record, by_person])
    alone = release_card([by_person, by_person]).fields["guarantees"][0]
    assert (alone["unit"], alone["n"], alone["rows_per_person"]) == ("person", 300, 2)
    ledger = BudgetLedger(tmp_path / "people.db", 9.0, max_rows_per_person=3)
    for scorer, more in ((by_record, {}), (by_person, people)):
        scorer.set_params(ledger=ledger).fit(X, Y, **more)
    card = release_card([by_record, by_person])
    assert cost(card) == ledger.spent() == (2.0, 0.0)
    assert [card.fields["guarantees"][0][name] for name in ("unit", "n", "rows_per_person")] == ["person", None, None]
    only_records = release_card([by_record, DPMICScorer(epsilon=0.5, ledger=ledger, **PUBLIC).fit(X, Y)]).fields
    assert only_records["guarantees"][0]["n"] is None  # so many are records, not people
    for fields in (card.fields, only_records):
        protected = "The guarantee covers each person with all their records; the number of people is public."
        assert protected in fields["statement"]


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_one_part_without_privacy_leaves_none_to_all():
    for parameters, name in (({"random_state": 0}, "random_state"), ({"epsilon": math.inf}, "epsilon")):
        card = release_card([FITTED, selector(**parameters).fit(X, Y), selector(**parameters).fit(X, Y)])
        assert (card.fields["private"], card.fields["broken_by"]) == (False, [name])
        assert str(card).startswith("Published without privacy")
        assert cost(card)[0] == (1.5 if name == "random_state" else None)
