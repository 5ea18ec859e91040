"""The notebook view of a fitted estimator shows its release and its cost, nothing else, with names escaped."""

import html
import math
from html.parser import HTMLParser

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skdpmic import (
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    private_evaluation,
    private_summary,
)
from skdpmic._utils.texts import html_facts
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse
from tests.folding import each
from tests.select_names import SelectNames

N, D = 400, 30
RNG = np.random.default_rng(0)
X = RNG.random((N, D))
Y = X[:, 4]
NAMES = [f"column {j}" for j in range(D)]
FRAME = pandas.DataFrame(X, columns=NAMES)
PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1)}
GRID = {"selectnames__k": [1, 3]}


def search(**parameters):
    pipeline = make_pipeline(SelectNames(**PUBLIC, k=3, epsilon=2.0), Ridge())
    return PrivateGridSearch(pipeline, GRID, n_subsets=4, **parameters)


ESTIMATORS = {
    "scorer": DPMICScorer(**PUBLIC, epsilon=100.0),
    "selector": DPMICSelector(k=2, **PUBLIC, epsilon=100.0),
    "names": SelectNames(**PUBLIC, k=3),
    "joint": SelectNames(**PUBLIC, k=3, criterion="joint"),
    "exponential": SelectNames(**PUBLIC, k=20, delta=0.01),
    "correlation": PrivateCorrelation(),
    "graph": PrivatePC(),
    "model": PrivateAdditiveRegressor(bounds=(0, 1), target_bounds=(0, 1)),
    "search": search(),
    "reports": RandomizedResponse(epsilon=5.0, bounds=(0, 1)),
}

ROWS = {  # which is seen first; the rest on demand
    "scorer": "Released: scores of 30 features, by mtv_r; ε = 100</summary>",
    "selector": "Chosen: column 4, column ",
    "names": "Chosen: column ",
    "joint": "Chosen: column ",
    "exponential": "Chosen: column ",
    "correlation": "Released: Kendall's correlations of 30 columns; the strongest are shown; ε = 1, δ = 1e-06</s",
    "graph": "Released: Kendall's correlations of 30 columns, from which the graph is computed; ε = 1, ",
    "model": "Released: an additive model of 30 columns, and the tables from which it is computed; ε = 1, δ = 1e-06</s",
    "search": "Chosen: selectnames__k=",
    "reports": "Released: by each transform: noisy parts of ",
}

pytestmark = pytest.mark.filterwarnings("ignore:delta=0.01 is above")


class Reader(HTMLParser):
    """The facts by name, the rows of the other table, which of them are marked, and all tags."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self.chosen, self._cell = [], [], [], None
        self.feed(text)
        self.facts = dict(self.tables[0])
        self.rows = self.tables[1][1:] if len(self.tables) > 1 else []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.chosen += [len(self.tables[-1])] * (("class", "chosen") in attributes)
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = self.tables[-1][-1]

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell[-1] += data


def released(estimator):
    """The text below the diagram."""
    return Reader(section(estimator))


def section(estimator):
    text = estimator._repr_html_()
    return text[text.index('<div class="skdpmic-release">') :]


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(estimator).fit(FRAME, Y) for name, estimator in ESTIMATORS.items()}


# --- Where it is shown ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fitted_estimator_shows_its_release_below_the_diagram_of_scikit_learn(name, fitted):
    estimator = fitted[name]
    for text in (estimator._repr_html_(), estimator._repr_mimebundle_()["text/html"]):
        assert 0 <= text.index("sk-top-container") < text.index('<div class="skdpmic-release">')
        assert f"<details><summary>{ROWS[name]}" in text.replace("&#x27;", "'")
    assert estimator._repr_mimebundle_()["text/plain"] == repr(estimator)


@each("name", ESTIMATORS)
def test_an_unfitted_estimator_shows_the_diagram_only(name):
    unfitted = clone(ESTIMATORS[name])
    assert "sk-top-container" in unfitted._repr_html_()
    assert "skdpmic-release" not in unfitted._repr_html_() + unfitted._repr_mimebundle_()["text/html"]


def test_unpublished_counts_are_not_shown():
    scorer = DPMICScorer(**PUBLIC).fit(FRAME, Y)
    assert "skdpmic-release" not in scorer.partial_fit(FRAME, Y)._repr_html_()
    assert (
        released(scorer.publish()).facts["Cost"] == "ε = 1, of which ε = 0.15 found the median of the target, about 0.5"
    )


# --- What it says ---------------------------------------------------------------------------------------------------


def test_scores_are_shown_best_first_with_their_intervals(fitted):
    scorer = fitted["scorer"]
    shown = released(scorer)
    assert shown.facts["Released"] == "scores of 30 features, by mtv_r"
    assert shown.facts["Cost"].startswith("ε = 100, of which ε = 15 found the median of the target, about 0.")
    assert shown.facts["Noise"] == f"Laplace noise of scale {scorer.noise_scale_:.3g}, on each score"
    assert shown.facts["Covers"] == "each of 400 records"
    assert "Chosen" not in shown.facts
    lower, upper = scorer.scores_interval(0.95)
    best = np.argsort(scorer.ranking_)[:20]
    expected = [[NAMES[j], f"{scorer.scores_[j]:.4f}", f"{lower[j]:.4f} to {upper[j]:.4f}"] for j in best]
    assert shown.rows == expected
    assert "and 10 more features" in section(scorer)


def test_chosen_features_are_marked_in_words(fitted):
    selector = fitted["selector"]
    shown, chosen = released(selector), selector.get_feature_names_out().tolist()
    assert shown.facts["Chosen"] == "2 of 30 features"  # whose names are in the table
    assert {row[0] for row in shown.rows if row[-1] == "chosen"} == set(chosen)
    assert shown.chosen == [2, 3]  # below the header
    assert [row[-1] for row in shown.rows] == ["chosen"] * 2 + [""] * 18


def test_the_row_that_is_seen_first_names_all_that_is_chosen_and_the_cost(fitted):
    def row(estimator):
        return section(estimator).partition("<summary>")[2].partition("</summary>")[0]

    for name in ("selector", "names", "exponential"):
        chosen, _, cost = row(fitted[name]).removeprefix("Chosen: ").rpartition("; ")
        assert sorted(chosen.split(", ")) == sorted(fitted[name].get_feature_names_out())
        assert cost.startswith("ε = ")
    many = SelectNames(**PUBLIC, k=25).fit(FRAME.rename(columns={"column 4": "a" * 99}), Y)
    assert row(many).count(", ") == 19
    assert row(many).endswith(" and 5 more; ε = 1")
    assert "a" * 40 not in row(many)
    kept = SelectNames(**PUBLIC, k=3, keep=["column 9"]).fit(FRAME, Y)
    assert sorted(row(kept)[8:].partition(";")[0].split(", ")) == sorted(kept.get_feature_names_out())
    assert row(fitted["search"]) == f"Chosen: {released(fitted['search']).facts['Chosen']}; ε = 3"


def test_a_release_of_names_shows_them_in_order_without_scores(fitted):
    selector = fitted["names"]
    shown = released(selector)
    in_order = [NAMES[j] for j in np.argsort(selector.ranking_, kind="stable")[:3]]
    assert [row for row in shown.rows] == [[name, "chosen"] for name in in_order]
    assert shown.facts["Released"] == (
        "names of the best 3 of 30 features, in order, by mtv_r, and the gaps between them; no scores"
    )
    assert "gaps" not in released(fitted["exponential"]).facts["Released"]
    noise = f"one-sided exponential noise of scale {selector.noise_scale_:.3g}, on each score before the choice"
    assert shown.facts["Noise"] == noise
    assert released(fitted["joint"]).facts["Noise"].endswith("on each score before each choice")
    assert released(fitted["exponential"]).facts["Noise"].startswith("Gumbel noise")


def test_a_search_shows_its_choice_and_what_it_cost_with_the_refit(fitted):
    shown = released(fitted["search"])
    assert shown.facts["Chosen"] == f"selectnames__k={fitted['search'].best_params_['selectnames__k']}"
    assert shown.facts["Cost"] == "ε = 3, for the choice and the private steps of the refit"
    assert shown.rows == []
    alone = search(refit=False, epsilon=math.inf).fit(FRAME, Y)
    assert released(alone).facts["Cost"] == "ε = ∞, for the choice"
    assert released(alone).facts["Noise"] == "none"


def test_results_that_are_not_below_a_diagram_show_all_of_it_at_once(fitted):
    summary = private_summary(FRAME, Codebook(dict.fromkeys(NAMES, (0, 1))), epsilon=1.0)
    evaluation = private_evaluation(fitted["model"], FRAME, Y, epsilon=1.0)
    for result, row in ((summary, "Released: shares of values in each column"), (evaluation, "Released: test score")):
        assert f"<details open><summary>{row}" in result._repr_html_()
        assert "<details>" not in result._repr_html_()


# --- Where there is no privacy --------------------------------------------------------------------------------------

BROKEN = [
    ({"random_state": 0}, "random_state was set"),
    ({"epsilon": math.inf}, "an epsilon is infinite"),
]


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize("parameters, why", BROKEN, ids=["random_state", "epsilon"])
@pytest.mark.parametrize("estimator", [DPMICScorer, DPMICSelector])
@pytest.mark.combinations
def test_a_fit_without_privacy_says_so_for_good(estimator, parameters, why):
    fit = estimator(**PUBLIC | parameters).fit(FRAME, Y)
    fit.set_params(random_state=None, epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1))
    assert f'<p class="broken">No privacy: {why}' in section(fit).partition("<details>")[0]  # without a click
    assert released(fit).facts["Covers"] == "no one"
    fit.fit(FRAME, Y)
    assert "No privacy" not in section(fit)
    assert released(fit).facts["Covers"] == "each of 400 records"


# --- Names are the user's -------------------------------------------------------------------------------------------

NASTY = "<script>alert('x')</script>"


@pytest.mark.few
@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"search"}))
def test_names_are_escaped(name):
    names = [NASTY, "Größe & 尺寸", "long " * 60, *NAMES[3:]]
    frame = pandas.DataFrame(np.c_[X[:, 4], X[:, 1:]], columns=names)
    estimator = clone(ESTIMATORS[name]).set_params(epsilon=1e4).fit(frame, Y)
    text = section(estimator)
    assert "script" not in Reader(text).tags
    assert NASTY not in text
    assert html.escape(NASTY) in text


# --- Nothing else ---------------------------------------------------------------------------------------------------


def test_facts_in_html_are_escaped():
    assert "<script>" not in html_facts([("Chosen", "2 of 30 features, among them <script>")])
