"""``fit(X, y, groups)`` with ``max_rows_per_group`` protects people, however many rows each of them has."""

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeavePOut, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivacyLeakWarning,
    PrivateGridSearch,
    dp_mic_classif,
    dp_mic_regression,
    search_cost,
)
from skdpmic.statistics import ranks
from skdpmic.statistics.mic import mic_r
from skdpmic.statistics.mic.noisy_tables import TableScorer
from skdpmic.statistics.mtv.family import UNITS, class_family, numeric_family, public_shares
from skdpmic.statistics.registry import STATISTICS
from skdpmic.statistics.sensitivity import mic_r_group_sensitivity
from tests.select_names import SelectNames
from tests.selection.test_statistics import exponential, gaussian, k_norm, laplace, one_shot, share_for_scores
from tests.statistics.mtv.naive_mtv_r import class_scorer, numeric_scorer

UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}
STEPS = 2**30
ERROR = 1e-9


def public(name):
    return UNIT if STATISTICS[name].needs_ranges else {}


def table(n_groups=250, most=6, d=4, seed=0):
    """Rows of people with 1 to `most` rows each, in random order; the second feature determines the target."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_groups), rng.integers(1, most + 1, n_groups)))
    X = rng.random((len(groups), d))
    return X, X[:, min(1, d - 1)] ** 2, groups


def without_noise(name, X, y, groups, m, **parameters):
    scorer = DPMICScorer(statistic=name, epsilon=math.inf, max_rows_per_group=m, **public(name) | parameters)
    return scorer.fit(X, y, groups=groups).scores_


# --- Scores -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("name", STATISTICS)
def test_scores_of_people_with_m_rows_are_those_of_all_their_rows(name, m):
    X, y, _ = table()
    X, y = X[: len(X) // m * m], y[: len(X) // m * m]
    groups = np.random.default_rng(1).permutation(np.arange(len(X)) % (len(X) // m))
    fixed = {} if not STATISTICS[name].needs_ranges else {"B": 30, "c": 4}
    known = {"target_shares": (0.5, 0.5)} if name == "mtv_r" else {}
    scores = without_noise(name, X, y, groups, m, **fixed, **known)
    if name in OFFSETS:
        against = OFFSETS[name][0](y, m)
        assert scores.tolist() == [against.score(x, (0, 1)) for x in X.T]
    else:
        plain = DPMICScorer(statistic=name, epsilon=math.inf, **public(name)).fit(X, y)
        np.testing.assert_allclose(scores, plain.scores_, atol=1e-12)


def known(family, shares):
    known = public_shares(shares, len(shares), family.n_columns)
    return family.with_target_shares(known.ends, [round(share * UNITS) for share in known.shares])


def grids_for(family, m):
    """The penalty of sqrt(m) rows of a person as one."""
    return replace(family, penalty=family.penalty * math.sqrt(math.sqrt(m)))


def shares_of(codes):
    return (np.bincount(codes) / len(codes)).tolist()


# What is subtracted for chance counts sqrt(m) rows of a person as one.
OFFSETS = {
    "mic_r": (
        lambda y, m: mic_r.NumericTargetScorer(y, (0, 1), 30, 4, correction=math.sqrt(m)),
        lambda codes, m: mic_r.ClassTargetScorer(codes, 3, 30, 4, math.sqrt(m)),
    ),
    "mtv_r": (
        lambda y, m: numeric_scorer(y, (0, 1), known(grids_for(numeric_family(30, 4), m), (0.5, 0.5))),
        lambda codes, m: class_scorer(
            codes, known(grids_for(class_family(30, 4, 3), m), shares_of(codes)).sized_by_shares()
        ),
    ),
}


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize("name", STATISTICS)
def test_the_order_of_rows_and_the_names_of_people_do_not_matter(name):
    X, y, groups = table()
    X, y, groups = X[np.argsort(groups)], y[np.argsort(groups)], np.sort(groups)
    keep = np.bincount(groups)[groups] % 2 == 0
    X, y, groups = X[keep], y[keep], groups[keep] // 1  # 2, 4 or 6 rows: two of them are drawn, or all
    few = np.bincount(groups)[groups] == 2
    X, y, groups = X[few], y[few], groups[few]
    order = np.random.default_rng(0).permutation(len(X))
    scores = without_noise(name, X, y, groups, 2, random_state=0)
    shuffled = without_noise(name, X[order], y[order], [f"p{i}" for i in groups[order]], 2, random_state=0)
    np.testing.assert_allclose(scores, shuffled, atol=1e-12)


def test_a_person_with_many_rows_counts_no_more_than_one_with_few():
    rng = np.random.default_rng(0)
    n, n_loud = 300, 300
    X, y = np.append(rng.random((n, 1)), np.ones((n_loud, 1)), axis=0), np.append(rng.random(n), np.ones(n_loud))
    groups = np.minimum(np.arange(n + n_loud), n)
    grids = {"B": 16, "c": 4, "correction": None}
    quiet = without_noise("mic_r", X[: n + 1], y[: n + 1], groups[: n + 1], 1, **grids)
    for m in (1, 4):
        assert without_noise("mic_r", X, y, groups, m, **grids) == pytest.approx(quiet, abs=1e-9)
    assert DPMICScorer(epsilon=math.inf, **grids, **UNIT).fit(X, y).scores_ > quiet + 0.3


# --- Replacing a person moves a score by at most the sensitivity -----------------------------------------------------

POSITIONS = (0.1, 0.9)
OWN = list(combinations_with_replacement(product((0, 1), (0, 1)), 2))  # a person's two rows, each (x, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize(
    "n_groups, statistics, n_tables",
    [
        (5, ["mic_r", "mtv_r"], 30),
        (5, ["kendall"], 20),
        pytest.param(5, [*STATISTICS], 300, marks=pytest.mark.slow),  # of 715
        pytest.param(6, ["mic_r", "mtv_r"], 200, marks=pytest.mark.slow),  # of 2,002
    ],
)
def test_no_person_of_two_rows_moves_a_score_further_than_the_sensitivity(n_groups, statistics, n_tables):
    # Tables of the other people on two values of x and y, with all pairs of rows of the replaced person. Tables with
    # the same target are columns of one fit.
    others = np.array(list(combinations_with_replacement(range(len(OWN)), n_groups - 1)))
    extreme = (others == others[:, :1]).all(axis=1)  # tables of equal people are always among them
    others = np.random.default_rng(0).permutation(others[~extreme])[: n_tables - extreme.sum()]
    others = np.concatenate([np.repeat(np.arange(len(OWN))[:, None], n_groups - 1, axis=1), others])
    assert len(others) == n_tables
    cells = np.array(OWN)  # (n_kinds, 2 rows, x or y)
    groups = np.repeat(np.arange(n_groups), 2)
    for name in statistics:
        parameters = dict(public(name), B=4, c=1, correction=None) if STATISTICS[name].needs_ranges else {}
        if name == "mtv_r":  # given, because shares learnt without noise differ between neighbours
            parameters["target_shares"] = (0.5, 0.5)
        scorer = DPMICScorer(statistic=name, epsilon=math.inf, max_rows_per_group=2, random_state=0, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bound = clone(scorer).set_params(epsilon=1.0, random_state=None)
            bound.fit(np.zeros((2 * n_groups, 1)), np.zeros(2 * n_groups), groups)
        scores = np.empty((len(others), len(OWN)))
        for i in range(len(OWN)):
            rows = np.concatenate(
                [cells[others].reshape(len(others), -1, 2), np.tile(cells[i], (len(others), 1, 1))], axis=1
            )
            by_target = {}
            for j, y in enumerate(rows[:, :, 1]):
                by_target.setdefault(tuple(y), []).append(j)
            for y, chosen in by_target.items():
                X = np.array(POSITIONS)[rows[chosen, :, 0]].T
                scores[chosen, i] = scorer.fit(X, np.array(POSITIONS)[list(y)], groups).scores_
        largest = np.ptp(scores, axis=1).max()
        assert largest <= bound.noise_scale_ + ERROR
        if STATISTICS[name].needs_ranges:  # two values give few ranks
            assert largest > 0.8 * bound.noise_scale_


# --- Noise --------------------------------------------------------------------------------------------------------

EACH, N = 3, 240  # rows per person, people

SENSITIVITY = {  # for a person, by the theorems, in exact fractions where possible; n rows, m per person
    "mic_r": lambda n, m: mic_r_group_sensitivity(n // m, m),
    "mtv_r": lambda n, m: m * Fraction(2, n),
    "kendall": lambda n, m: m * Fraction(4, n),
}


RELEASES = {
    "laplace": (partial(DPMICScorer, epsilon=0.3), laplace),
    "gaussian": (partial(DPMICScorer, epsilon=0.3, delta=1e-6, mechanism="gaussian"), gaussian),
    "k-norm": (partial(DPMICScorer, epsilon=0.3, mechanism="k-norm"), k_norm),
    "selector": (partial(DPMICSelector, k=2, epsilon=0.3), laplace),
    "one-shot": (partial(SelectNames, epsilon=0.3, k=2), one_shot),
    "exponential": (partial(SelectNames, epsilon=0.3, delta=1e-6, k=40), exponential),
}


@pytest.mark.few
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_the_noise_for_a_person_matches_the_formula(name, release):
    make, scale_of = RELEASES[release]
    X, y, groups = table(n_groups=N, d=50)
    for m in (EACH, 1):
        fitted = make(statistic=name, max_rows_per_group=m, **public(name)).fit(X, y, groups=groups)
        least = scale_of(50, SENSITIVITY[name](N * m, m) * STEPS) / share_for_scores(name, fitted)
        assert least <= fitted.noise_scale_ * STEPS <= least * (1 + 1e-4)


@pytest.mark.parametrize("m", [1, 2, 7])
def test_the_noise_of_a_table_covers_all_rows_removed_and_all_rows_added(m):
    X, y, groups = table(n_groups=N)
    scorer = DPMICScorer(mechanism="geometric", epsilon=0.3, max_rows_per_group=m, **UNIT).fit(X, y, groups)
    assert scorer.noise_scale_ == float(2 * m * 4 / Fraction(3, 10))
    assert scorer.noisy_counts_.max() <= N * m
    counts = DPMICScorer(mechanism="geometric", epsilon=math.inf, max_rows_per_group=m, **UNIT).fit(X, y, groups)
    assert (counts.noisy_counts_.sum(axis=(1, 2)) == N * m).all()
    assert counts.ranking_[1] == 1


def test_scores_follow_from_noisy_tables_of_people_however_many_rows_they_have():
    """Each row counts 1/m, with the noise of a table that has each person once."""
    m, (X, y, groups) = 3, table(n_groups=N)
    scorer = DPMICScorer(mechanism="geometric", epsilon=5.0, max_rows_per_group=m, **UNIT).fit(X, y, groups)
    again = TableScorer(N, Fraction(2 * 4, 5), scorer.B_, is_discrete=False)
    assert scorer.scores_.tolist() == [again.score(counts / m) for counts in scorer.noisy_counts_]


def test_a_delta_that_covers_a_whole_person_with_many_rows_warns():
    X, y, groups = table(n_groups=N)
    given = {"mechanism": "gaussian", "max_rows_per_group": EACH, **UNIT}
    with pytest.warns(UserWarning, match=rf"delta=.* is above 1 / n = 0.0042 for n = {N} people"):
        DPMICScorer(delta=1.001 / N, **given).fit(X, y, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "noise will exceed the signal")
        DPMICScorer(delta=0.999 / N, **given).fit(X, y, groups)


def test_what_is_spent_and_recorded_is_per_person(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 1.0)
    X, y, groups = table()
    scorer = DPMICScorer(epsilon=0.25, max_rows_per_group=3, ledger=ledger, **UNIT).fit(X, y, groups)
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.n, entry.d) == (0.25, 250, 4)
    assert scorer.privacy_spent_ == (0.25, 0.0)
    assert scorer.n_groups_ == 250
    of_rows = BudgetLedger(tmp_path / "rows.db", 1.0)
    scorer.set_params(max_rows_per_group=None, ledger=of_rows).fit(X, y)
    assert not hasattr(scorer, "n_groups_")
    assert (ledger.unit(), of_rows.unit()) == ("person", "record")
    assert of_rows.entries()[-1].n == len(X)


# --- What is refused ------------------------------------------------------------------------------------------------


def assert_refused(estimator, arguments, error, message):
    """Assert that new and fitted estimators refuse to fit, without a charge or a change."""
    for fitted in (False, True):
        if fitted:
            good = type(estimator)(**UNIT | ({} if isinstance(estimator, DPMICScorer) else {"k": 2})).fit(*table()[:2])
            estimator = good.set_params(**estimator.get_params())
        before = vars(estimator).copy()
        with pytest.raises(error, match=message):
            estimator.fit(*arguments)
        assert vars(estimator).keys() == before.keys()
        assert all(vars(estimator)[name] is before[name] for name in before)
    assert estimator.ledger.entries() == []


X, Y, GROUPS = table()
BAD = {
    "no groups": (3, None, ValueError, "groups must identify the person .*max_rows_per_group=3, got None"),
    "no number of rows": (None, GROUPS, ValueError, "max_rows_per_group must be given with groups"),
    "no rows": (0, GROUPS, ValueError, "max_rows_per_group must be None or an int >= 1, got 0"),
    "half rows": (2.5, GROUPS, ValueError, "max_rows_per_group must be None or an int >= 1, got 2.5"),
    "a row too few": (3, GROUPS[1:], ValueError, "groups must have one label for each row of X"),
    "three people": (3, GROUPS % 3, ValueError, "groups must hold at least 4 labels, one per person, got 3"),
    "a missing label": (3, [None, *GROUPS[1:]], ValueError, "got missing values"),
    "pandas.NA": (3, [pd.NA, *GROUPS[1:]], ValueError, "got missing values"),
    "lists": (3, [[1]] * len(X), TypeError, "hashable"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", [DPMICScorer, partial(SelectNames, k=2)])
@pytest.mark.combinations
def test_bad_groups_leave_the_estimator_and_the_ledger_unchanged(name, kind, ledger):
    m, groups, error, message = BAD[name]
    assert_refused(kind(max_rows_per_group=m, ledger=ledger, **UNIT), (X, Y, groups), error, message)


def test_more_rows_than_a_kernel_accepts_are_refused_before_the_charge(ledger, monkeypatch):
    monkeypatch.setattr(ranks, "MAX_RECORDS", 3 * 250 - 1)
    scorer = DPMICScorer(statistic="kendall", ledger=ledger, max_rows_per_group=3)
    with pytest.raises(ValueError, match="scores can be computed for at most 749 records, got n_samples=750"):
        scorer.fit(X, Y, GROUPS)
    assert ledger.entries() == []
    scorer.set_params(max_rows_per_group=2).fit(X, Y, GROUPS)


def test_without_budget_no_row_is_drawn(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", 0.1)
    monkeypatch.setattr("skdpmic.table.values.People.rows", None)
    scorer = DPMICScorer(epsilon=1.0, max_rows_per_group=3, ledger=ledger, **UNIT)
    with pytest.raises(Exception, match="budget") as caught:
        scorer.fit(X, Y, GROUPS)
    assert type(caught.value).__name__ == "BudgetError"


@pytest.mark.parametrize("method", ["partial_fit", "publish", "fit_sketch", "empty_sketch"])
def test_people_cannot_come_in_chunks_and_the_error_says_why(method):
    scorer = DPMICScorer(max_rows_per_group=3, **UNIT)
    assert not hasattr(scorer, method)
    with pytest.raises(AttributeError) as caught:
        getattr(scorer, method)
    assert "max_rows_per_group must be None if records come in pieces" in repr(caught.value.__cause__ or caught.value)


def test_functions_of_x_and_y_refuse_people(ledger):
    message = "max_rows_per_group must be None if no groups can be passed"
    given = {"epsilon": 1.0, "bounds": (0, 1), "max_rows_per_group": 3, "ledger": ledger}
    with pytest.raises(ValueError, match=message):
        dp_mic_regression(X, Y, target_bounds=(0, 1), **given)
    with pytest.raises(ValueError, match=message):
        dp_mic_classif(X, Y > 0.5, classes=[False, True], **given)
    with pytest.raises(ValueError, match=message):
        SelectKBest(DPMICScorer(target_bounds=(0, 1), **given), k=2).fit(X, Y)
    assert ledger.entries() == []


# --- scikit-learn ---------------------------------------------------------------------------------------------------


def selector(**given):
    return DPMICSelector(**{"k": 1, "epsilon": 5.0, "max_rows_per_group": 3, **UNIT, **given})


def requesting_groups(**given):
    return selector(**given).set_fit_request(groups=True)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_a_private_search_refuses_people_before_the_charge(ledger):
    for candidate in (selector(), make_pipeline(requesting_groups(), Ridge())):
        name = "k" if candidate is not None and hasattr(candidate, "k") else "dpmicselector__k"
        search = PrivateGridSearch(candidate, {name: [1, 2]}, ledger=ledger, scoring=lambda *_: 0.5)
        with pytest.raises(ValueError, match="max_rows_per_group must be None inside PrivateGridSearch, got 3"):
            search.fit(X, Y)
    partial_ = partial(dp_mic_regression, epsilon=1.0, max_rows_per_group=3, **UNIT)
    search = PrivateGridSearch(make_pipeline(SelectKBest(partial_), Ridge()), {"selectkbest__k": [1, 1]}, ledger=ledger)
    with pytest.raises(ValueError, match="max_rows_per_group must be None inside PrivateGridSearch, got 3"):
        search.fit(X, Y)
    assert ledger.entries() == []


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize(
    "cv, n_splits, n_trainings",
    [(5, 5, 5), (KFold(5), 5, 5), (LeavePOut(1), 9, 9), (GroupKFold(5), 5, 4), (StratifiedGroupKFold(5), 5, 4),
     ([([0, 1], [2]), ([2], [0, 1])], 2, 2)],
)  # fmt: skip
def test_a_person_counts_in_every_training_set_unless_folds_are_assigned_by_group(cv, n_splits, n_trainings):
    grid = {"ridge__alpha": [1.0]}
    of_person = GridSearchCV(make_pipeline(selector(epsilon=1.0), Ridge()), grid, cv=cv, refit=False)
    cost = search_cost(of_person, n_samples=9)
    assert (cost.n_fits, cost.epsilon) == (n_splits, n_trainings)
    grid = {"dpmicselector__max_rows_per_group": [2, 3]}
    in_grid = GridSearchCV(make_pipeline(selector(epsilon=1.0, max_rows_per_group=None), Ridge()), grid, cv=cv)
    assert search_cost(in_grid, n_samples=9).epsilon == 2 * n_trainings + 1


def test_folds_of_rows_warn_if_people_are_protected():
    grid = {"ridge__alpha": [1.0]}
    with pytest.warns(PrivacyLeakWarning, match="cv assigns rows to folds"):
        search_cost(GridSearchCV(make_pipeline(selector(), Ridge()), grid, cv=KFold(5)))
    with pytest.warns(PrivacyLeakWarning, match=r"or groups by their number of rows.*GroupKFold\(n_splits, shuffle"):
        search_cost(GridSearchCV(make_pipeline(selector(), Ridge()), grid, cv=GroupKFold(5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search_cost(GridSearchCV(make_pipeline(selector(), Ridge()), grid, cv=GroupKFold(5, shuffle=True)))
        search_cost(GridSearchCV(make_pipeline(selector(max_rows_per_group=None), Ridge()), grid, cv=KFold(5)))
