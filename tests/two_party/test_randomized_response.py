"""RandomizedResponse: its input, its reports, their cost, and that it keeps no true value."""

import math
import pickle
import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning, search_cost
from skdpmic.two_party import RandomizedResponse
from skdpmic.two_party import randomized_response as module
from skdpmic.two_party.randomized_response import keep_probability, randomized_response

EXACT = {"epsilon": math.inf}
ALPHA = 1e-6
X = np.random.default_rng(0).random((200, 3))


def parts_of(table, **parameters):
    """The true parts: reports without noise."""
    return RandomizedResponse(**EXACT, **parameters).fit(table).transform(table)


# --- Parts ----------------------------------------------------------------------------------------------------------


def test_a_range_has_equal_parts_and_one_for_missing_values():
    column = np.array([[-5.0], [0.0], [0.24], [0.25], [0.99], [1.0], [7.0], [np.nan]])
    assert parts_of(column, bounds=(0, 1), n_parts=4).ravel().tolist() == [0, 0, 0, 1, 3, 3, 3, 4]
    assert parts_of(column, bounds=(0, 0.5, 1.0), n_parts=2).ravel().tolist() == [0, 0, 0, 0, 1, 1, 1, 2]
    assert parts_of(column[:7], bounds=(0, 1), n_parts=4, allow_missing=False).max() == 3


def test_each_label_other_labels_and_missing_values_have_their_own_parts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": ["Bari", "Rome", "Oslo", None], "x": [0.1, 0.9, 0.5, np.nan]})
    public = {"bounds": {"x": (0, 1)}, "categories": {"city": ["Rome", "Bari"]}}
    assert parts_of(frame, n_parts=4, **public).tolist() == [[1, 0], [0, 3], [2, 2], [3, 4]]
    fitted = RandomizedResponse(**EXACT, **public).fit(frame)
    assert fitted.n_parts_.tolist() == [4, 9]
    with pytest.raises(
        ValueError, match=r"must have no NaN or other missing values with allow_missing=False, got some in"
    ):
        RandomizedResponse(allow_missing=False, **public).fit(frame)


# --- The distribution of reports -------------------------------------------------------------------------------------


def response_matrix(n_parts, epsilon):
    """R: the probability of each report, in columns, for each true part, in rows."""
    kept = keep_probability(n_parts, epsilon)
    other = (1 - kept) / (n_parts - 1)
    return np.full((n_parts, n_parts), other) + (kept - other) * np.eye(n_parts)


class _AnotherRound(Exception):
    pass


def exact_probabilities(m, epsilon, true, monkeypatch):
    """P(report | true part), by running the sampler on every proposal and coin of its first round."""
    first_round = [0.0] * m
    for proposal in range(m):
        for coin, probability in ((True, math.exp(-epsilon)), (False, -math.expm1(-epsilon))):
            rounds = []

            def uniform_below(bound, size, source, proposal=proposal, rounds=rounds):
                assert (bound, size) == (m, 1)
                rounds.append(proposal)
                if len(rounds) > 1:
                    raise _AnotherRound
                return np.array([proposal])

            def bernoulli(gamma, size, source, coin=coin):
                assert gamma == epsilon  # exactly
                return np.array([coin])

            monkeypatch.setattr(module, "uniform_below", uniform_below)
            monkeypatch.setattr(module, "bernoulli_exp", bernoulli)
            try:
                (report,) = randomized_response(np.array([true]), m, epsilon, None)
            except _AnotherRound:
                continue
            first_round[report] += probability / m
    return np.array(first_round) / sum(first_round)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(7)])
def test_every_report_has_the_probability_of_the_formula(m, epsilon, monkeypatch):
    probabilities = np.array([exact_probabilities(m, epsilon, true, monkeypatch) for true in range(m)])
    kept, other = (weight / (math.exp(epsilon) + m - 1) for weight in (math.exp(epsilon), 1))
    np.testing.assert_allclose(probabilities, np.where(np.eye(m) == 1, kept, other), rtol=1e-13)
    np.testing.assert_allclose(response_matrix(m, epsilon), probabilities, rtol=1e-12)
    assert keep_probability(m, epsilon) == pytest.approx(kept, rel=1e-13)
    loss = np.log(probabilities.max(axis=0) / probabilities.min(axis=0))
    np.testing.assert_allclose(loss, float(epsilon), rtol=1e-12)  # epsilon-LDP, attained by every report


# --- The distribution of a record's reports ---------------------------------------------------------------------------


def probabilities_of_reports(true, m, k, epsilon):
    """The probability of each tuple of reports; -1 is a column that is not reported."""
    choices, R = list(combinations(range(len(true)), k)), response_matrix(m, epsilon / k)
    expected = {}
    for choice in choices:
        for reports in np.ndindex(*[m] * k):
            key = [-1] * len(true)
            probability = 1 / len(choices)
            for j, report in zip(choice, reports, strict=True):
                key[j] = report
                probability *= R[true[j], report]
            expected[tuple(key)] = probability
    return expected


def observed_counts(true, n=60_000, **change):
    """How often each tuple is reported by n equal records with 3 columns of 2 parts, two of which are reported."""
    table = np.tile((np.array(true) + 0.5) / 2, (n, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alice = RandomizedResponse(5.0, (0, 1), n_parts=2, columns_per_record=2, allow_missing=False, random_state=0)
        reports = alice.set_params(**change).fit(table).transform(table)
        reports = np.nan_to_num(reports, nan=-1).astype(int)
    return dict(zip(*(part.tolist() for part in np.unique(reports @ [100, 10, 1], return_counts=True)), strict=True))


def p_value(counts, expected):
    keys = {tuple(key): np.array(key) @ [100, 10, 1] for key in expected}
    assert set(counts) <= set(keys.values())
    observed = [counts.get(code, 0) for code in keys.values()]
    return stats.chisquare(observed, np.array(list(expected.values())) * sum(observed)).pvalue


@pytest.mark.parametrize("true", [(0, 0, 0), (1, 0, 1)])
def test_reports_have_the_distribution_of_the_theorem_and_those_with_more_budget_do_not(true):
    expected = probabilities_of_reports(true, 2, 2, 5.0)
    assert sum(expected.values()) == pytest.approx(1)
    assert p_value(observed_counts(true), expected) > ALPHA
    assert p_value(observed_counts(true, epsilon=5.5), expected) < ALPHA  # a tenth more
    assert p_value(observed_counts(true, epsilon=10.0), expected) < ALPHA  # the whole budget on each column


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 6.0, 11.0])
def test_the_columns_share_the_budget(epsilon):
    alice = RandomizedResponse(epsilon, (0, 1)).fit(X)
    assert alice.columns_per_record_ == max(1, min(3, int(epsilon / 2.5)))
    assert alice.epsilon_per_column_ * alice.columns_per_record_ == pytest.approx(epsilon)
    reports = alice.transform(X)
    assert np.all((~np.isnan(reports)).sum(axis=1) == alice.columns_per_record_)


# --- What it costs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger.db", epsilon=2.5)


def test_fit_is_free_and_every_transform_is_charged_and_repeats_give_a_warning(ledger):
    alice = RandomizedResponse(1.0, (0, 1), ledger=ledger).fit(X)
    assert ledger.spent() == (0.0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alice.transform(X)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.delta) == ("RandomizedResponse", 1.0, 0.0)
    assert (entry.n, entry.d) == (200, 3)
    with pytest.warns(PrivacyLeakWarning, match="1 time.*, with epsilon=1 each.* epsilon=2") as record:
        alice.transform(X)
    assert record[0].filename == __file__
    assert ledger.spent() == (2.0, 0.0)
    with pytest.warns(PrivacyLeakWarning), pytest.raises(BudgetError):
        alice.transform(X)
    assert ledger.spent() == (2.0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alice.set_params(ledger=None).fit(X).transform(X)  # a fit starts anew


def test_the_charge_is_the_budget_of_all_reports_of_a_record_together(ledger):
    alice = RandomizedResponse(1.5, (0, 1), columns_per_record=3, ledger=ledger).fit(X)
    alice.transform(X)
    assert alice.epsilon_per_column_ == 0.5
    assert ledger.spent() == (1.5, 0.0)
    assert ledger.entries()[0].rho == 3 * 0.5**2 / 2


def test_a_pickled_copy_knows_of_earlier_releases_and_a_clone_does_not():
    alice = RandomizedResponse(1.0, (0, 1)).fit(X)
    alice.transform(X)
    with pytest.warns(PrivacyLeakWarning):
        pickle.loads(pickle.dumps(alice)).transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(alice).fit(X).transform(X)


def test_nothing_is_charged_or_drawn_on_bad_data(ledger, monkeypatch):
    alice = RandomizedResponse(1.0, (0, 1), allow_missing=False, ledger=ledger).fit(X)
    monkeypatch.setattr(module, "randomized_response", None)
    before = dict(vars(alice))
    for bad in (X[:, :2], np.where(X > 0.9, np.nan, X), X * np.inf, [["a", "b", "c"]], X[:0]):
        with pytest.raises(ValueError):
            alice.transform(bad)
    assert vars(alice) == before
    assert ledger.spent() == (0.0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none of these was a release
        monkeypatch.undo()
        alice.transform(X)


def test_seeds_warn_where_the_user_called():
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as record:
        RandomizedResponse(bounds=(0, 1), random_state=0).fit(X).transform(X)
    assert record[0].filename == __file__


# --- What it keeps ----------------------------------------------------------------------------------------------------


def test_two_tables_leave_equal_transformers():
    """Each has fitted and transformed its table; the tables share only names and types."""
    pandas = pytest.importorskip("pandas")
    states = []
    for table in (X, 1 - X):
        frame = pandas.DataFrame(table, columns=list("abc"))
        alice = RandomizedResponse(1.0, (0, 1)).fit(frame)
        alice.transform(frame)
        state = {name: value for name, value in alice.__getstate__().items() if name != "nonce"}
        states.append((pickle.dumps(state), repr(alice)))
    assert states[0] == states[1]


# --- Inside scikit-learn ---------------------------------------------------------------------------------------------


def test_names_and_containers_are_as_in_scikit_learn():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"), index=range(5, 205))
    alice = RandomizedResponse(bounds=(0, 1)).fit(frame)
    reports = alice.set_output(transform="pandas").transform(frame)
    assert alice.get_feature_names_out().tolist() == reports.columns.tolist() == list("abc")
    assert reports.index.tolist() == frame.index.tolist()
    pytest.importorskip("pyarrow")
    unnamed = RandomizedResponse(bounds=(0, 1)).fit(X)
    assert alice.to_arrow(reports).column_names == list("abc")
    assert unnamed.to_arrow(unnamed.transform(X)).column_names == ["x0", "x1", "x2"]


def test_the_cost_of_a_search_over_randomized_response_is_not_guessed():
    search = GridSearchCV(make_pipeline(RandomizedResponse(bounds=(0, 1)), Ridge()), {"ridge__alpha": [1, 2]})
    with pytest.raises(ValueError, match="each of its transforms is a separate release"):
        search_cost(search)


BAD = {
    "epsilon must be": {"epsilon": 0},
    "bounds must have an entry for every feature": {"bounds": {0: (0, 1)}},
    "categories of feature 0 must be": {"categories": {0: ["a"]}},
    "n_parts must be 'auto' or an int from 2": {"n_parts": 1},
    "n_parts must be 'auto' or an int from 2 to 255, got 2.0": {"n_parts": 2.0},
    "n_parts must be 'auto' or an int from 2 to 255": {"n_parts": 2**8},
    "columns_per_record must be an int >= 1": {"columns_per_record": 0},
    "columns_per_record must be at most n_features=3": {"columns_per_record": 4},
    "allow_missing must be a bool": {"allow_missing": "no"},
    "ledger must be a BudgetLedger": {"ledger": "ledger.db"},
    "random_state must be": {"random_state": -1},
}


def test_parameters_are_checked_and_the_transformer_is_left_unchanged():
    for phrase, change in BAD.items():
        alice = RandomizedResponse(bounds=(0, 1)).fit(X).set_params(**change)
        before = dict(vars(alice))
        with pytest.raises(ValueError, match=phrase):
            alice.fit(X)
        assert vars(alice) == before
