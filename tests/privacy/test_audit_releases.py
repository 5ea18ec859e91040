"""The public mechanisms, run as a user runs them, lose no more privacy than stated; broken mechanisms are detected.

Each audit uses one event chosen in advance, neighbours for which the loss comes near epsilon, alpha = 1e-2 and a fixed
seed. There are enough runs to detect noise half as large as required with probability 0.95 or more. For Gaussian noise
see ``test_audit_gaussian.py``. With groups, neighbours differ in all rows of one person.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from skdpmic import DPMICScorer, private_score
from skdpmic.privacy import mechanisms
from skdpmic.table.records import TableRecords
from tests.privacy.auditing import exchange, privacy_loss_at_least
from tests.select_names import SelectNames
from tests.statistics.test_ranks import corner

ALPHA = 1e-2
EPSILON = 1.0
GRIDS = {"B": 4, "c": 1, "correction": None}  # which attain the sensitivity
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), **GRIDS}
CLASSES = {"bounds": (0, 1), "classes": [0, 1]}
SQUARE = {"bounds": ((0, 1), (0, 1))}
TOGETHER = 4  # features that are audited as one release
GROUPS = 100  # of TOGETHER features each
M = 5  # rows of each person
PEOPLE = {"max_rows_per_group": M}
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run

# --- Neighbours: a feature or several, the target, and the person behind each row -----------------------------------


def corners(n, m, other, *groups):
    """All rows in one corner, score 0; or the last m of them in another corner."""
    x, x_other = np.zeros(n), np.repeat([0.0, other], [n - m, m])
    return (x[:, None], x, *groups), (x_other[:, None], x_other, *groups)


def lone_record():
    return corners(20, 1, 1)


def lone_person():
    return corners(20 * M, M, 1, np.arange(20 * M) // M)


def contest(m=1):
    """The last rows show up in the first feature or in the second, so their scores trade places."""
    X, y, groups = np.zeros((20 * m, 2)), np.zeros(20 * m), [np.arange(20 * m) // m] if m > 1 else []
    X[-m:, 0] = y[-m:] = 1
    return (X, y, *groups), (X[:, ::-1], y, *groups)


def chatty_person():
    """One person with few rows in a corner, or many rows in the opposite corner; everyone else has M rows."""
    few, many = (np.repeat([0.0, other], [19 * M, rows]) for other, rows in ((0, 1), (1, 8 * M)))
    return tuple((x[:, None], x, np.minimum(np.arange(len(x)) // M, 19)) for x in (few, many))


def changed_in(which, n=20):
    """Half of the records in each of two opposite corners, the largest score; then one record is moved in x or y."""
    records = np.repeat([[0.0, 0.0], [1.0, 1.0]], n // 2, axis=0)
    others = records.copy()
    others[0, which] = 1
    return (records[:, :1], records[:, 1]), (others[:, :1], others[:, 1])


def zigzag(n=40):
    """Ten records low in y, ten high, ten low, ten high, MICe 1; then the first record in x becomes the last."""
    x = np.arange(float(n))
    y = np.random.default_rng(0).random(n) + np.arange(n) // (n // 4) % 2
    x_other = x.copy()
    x_other[0] = n
    return (x[:, None], y), (x_other[:, None], y)


# --- Releases: functions of a table, a source of noise and epsilon --------------------------------------------------


def pair(**parameters):
    def release(table, source, epsilon):
        x, y = (np.ravel(column) for column in table)
        return SimpleNamespace(scores_=private_score(x, y, epsilon=epsilon, random_state=source, **parameters))

    return release


def scorer(copies=1, **parameters):
    """A fit to copies of the features, each with its own share of the budget and its own draw."""

    def release(table, source, epsilon):
        X, *others = table
        private = DPMICScorer(epsilon=copies * epsilon, random_state=source, **parameters)
        weights = {"sample_weight": np.ones(len(X))} if private.max_weight else {}
        return private.fit(np.tile(X, copies), *others, **weights)

    return release


def selector(**parameters):
    def release(table, source, epsilon):
        return SelectNames(k=1, epsilon=epsilon, random_state=source, **PUBLIC, **parameters).fit(*table)

    return release


# --- Events -----------------------------------------------------------------------------------------------------------


def is_zero(fitted):
    return fitted.scores_ == 0


def is_one(fitted):
    return fitted.scores_ == 1


def is_first(fitted):
    return fitted.get_support(indices=True)[0] == 0


def all_are_in_the_first_cell(fitted):
    tables = fitted.noisy_counts_
    return (tables[:, 0, 0] == (20 if not fitted.max_rows_per_group else 20 * M)) & (tables[:, -1, -1] == 0)


def shares_and_score_are_large(fitted):
    """At least what they are without noise if the classes are balanced.

    Half of the noise scale of a share is subtracted from the score, which is largest if the classes are balanced.
    """
    shares = fitted._target_shares
    first = shares.sums[0] >= shares.sums[1] if shares.sums else fitted.target_shares_[0] >= 0.5
    return first and fitted.scores_[0] >= 1 - shares.error


@cache
def without_noise(n_features):
    """The noise-free scores of the first neighbour."""
    return DPMICScorer(epsilon=np.inf, **PUBLIC).fit(*exchange(n_features)[0]).scores_


def all_are_further_out(n_features):
    """Whether noise has moved every score away from that of the neighbour, for which that is e^epsilon times rarer."""

    def event(fitted):
        low_to_high = np.repeat([-1, 1], n_features // 2)
        scores = fitted.scores_.reshape(-1, n_features)
        return (low_to_high * (scores - without_noise(n_features)) >= 0).all(axis=1)

    return event


def second_half_is_larger(fitted):
    scores = fitted.scores_.reshape(GROUPS, TOGETHER)
    return scores[:, TOGETHER // 2 :].sum(axis=1) > scores[:, : TOGETHER // 2].sum(axis=1)


WEIGHTED = {"max_weight": 1}  # the largest possible weights: a record that leaves the first class moves both sums
LEARNT = {"statistic": "mtv_r", **CLASSES}
KNOWN = {"statistic": "mtv_r", "target_shares": (0.5, 0.5), **PUBLIC}  # all of epsilon is spent on the scores
AUDITS = {
    # the release, neighbours, event, runs
    "mic_r of a pair": (pair(**SQUARE, **GRIDS), lone_record, is_zero, 300),
    "mtv_r of a pair": (pair(statistic="mtv_r", **SQUARE), lone_record, is_zero, 700),
    "mic_e of a pair": (pair(statistic="mic_e", B=8, c=1), zigzag, is_one, 700),
    "kendall of a pair": (pair(statistic="kendall"), lambda: corner(20), is_one, 300),
    "scores": (scorer(30, **PUBLIC), lone_record, is_zero, 30),
    "scores against classes": (scorer(30, **CLASSES, **GRIDS), lone_record, is_zero, 30),
    "scores of mtv_r": (scorer(30, **KNOWN), lambda: changed_in(0), is_one, 30),
    "shares and scores": (scorer(**LEARNT), lambda: changed_in(1), shares_and_score_are_large, 3000),
    "sums and scores": (scorer(**LEARNT, **WEIGHTED), lambda: changed_in(1), shares_and_score_are_large, 5000),
    "scores together": (scorer(GROUPS, **PUBLIC), lambda: exchange(TOGETHER), all_are_further_out(TOGETHER), 50),
    "scores in a cube": (scorer(mechanism="k-norm", **PUBLIC), lambda: exchange(2), all_are_further_out(2), 700),
    "counts": (scorer(30, mechanism="geometric", **PUBLIC), lone_record, all_are_in_the_first_cell, 15),
    "support": (selector(), contest, is_first, 400),
}
OF_PEOPLE = {
    "mic_r of people": (scorer(30, **PUBLIC, **PEOPLE), lone_person, is_zero, 30),
    "mtv_r of people": (scorer(30, statistic="mtv_r", **PUBLIC, **PEOPLE), lone_person, is_zero, 30),
    "kendall of people": (scorer(30, statistic="kendall", **PEOPLE), lone_person, is_zero, 60),
    "counts of people": (
        scorer(30, mechanism="geometric", **PUBLIC, **PEOPLE), lone_person, all_are_in_the_first_cell, 30
    ),
    "support of people": (selector(**PEOPLE), lambda: contest(M), is_first, 400),
    "many rows": (scorer(30, **PUBLIC, **PEOPLE), chatty_person, is_zero, 30),
    "counts of many rows": (
        scorer(30, mechanism="geometric", **PUBLIC, **PEOPLE), chatty_person, all_are_in_the_first_cell, 30
    ),
}  # fmt: skip
QUICK = (
    "mtv_r of a pair",
    "kendall of a pair",
    "scores",
    "scores against classes",
    "scores of mtv_r",
    "mic_r of people",
)


def each_of(audits):
    return [pytest.param(*audits[name], id=name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in audits]


def loss_of(release, neighbours, event, n_runs, epsilon=EPSILON):
    source, (here, there) = np.random.RandomState(0), neighbours()
    if event is shares_and_score_are_large:
        here, there = ((X, y.astype(int)) for X, y in (here, there))
    return privacy_loss_at_least(lambda table: release(table, source, epsilon), here, there, event, n_runs, ALPHA)


# --- Audits of real and broken releases -------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("release, neighbours, event, n_runs", each_of(AUDITS | OF_PEOPLE))
def test_no_release_loses_more_than_epsilon(release, neighbours, event, n_runs):
    assert EPSILON / 4 < loss_of(release, neighbours, event, n_runs) <= EPSILON  # and the audit detects much of it


@pytest.mark.few
@pytest.mark.parametrize("release, neighbours, event, n_runs", each_of(AUDITS))
def test_half_the_noise_is_detected(release, neighbours, event, n_runs):
    # states EPSILON, but has the noise of twice that
    assert loss_of(release, neighbours, event, n_runs, 2 * EPSILON) > EPSILON


def test_noise_shared_by_features_is_detected(monkeypatch):
    draw = mechanisms.discrete_laplace
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, source: np.repeat(draw(scale, 1, source), size)
    )
    release, neighbours, *_ = AUDITS["scores together"]
    assert loss_of(release, neighbours, second_half_is_larger, 1) > EPSILON


@pytest.mark.few
@pytest.mark.parametrize("release, neighbours, event, n_runs", each_of(OF_PEOPLE))
def test_noise_for_one_row_is_detected(release, neighbours, event, n_runs, monkeypatch):
    of_people = TableRecords.of_people

    def as_if_of_one_row(self, groups, rows_per_group):
        public = of_people(self, groups, rows_per_group).public
        one_row = public._replace(shape=public.shape._replace(rows_per_group=1))
        return of_people(self, groups, rows_per_group)._replace(public=one_row)

    monkeypatch.setattr(TableRecords, "of_people", as_if_of_one_row)
    assert loss_of(release, neighbours, event, n_runs) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("name", ["many rows", "counts of many rows"])
def test_unlimited_rows_per_person_are_detected(name, monkeypatch):
    # Without a limit on rows per person, a person with many rows is noticeable.
    monkeypatch.setattr(TableRecords, "sampled", lambda self, progress: self)
    release, neighbours, event, n_runs = OF_PEOPLE[name]

    def more_rows():
        here, there = neighbours()
        return here, tuple(np.append(part, np.repeat(part[-1:], 20 * M, axis=0), axis=0) for part in there)

    assert loss_of(release, more_rows, event, n_runs) > EPSILON
