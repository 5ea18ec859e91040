"""The public mechanisms, run as a user runs them, lose no more privacy than stated; broken mechanisms are detected.

Each audit uses one event chosen in advance, neighbours for which the loss comes near epsilon, alpha = 1e-2 and a fixed
seed. There are enough runs to detect noise half as large as required with probability 0.95 or more. For Gaussian noise
see ``test_audit_gaussian.py``.
"""

from functools import cache

import numpy as np
import pytest

from skdpmic import DPMICScorer, private_score
from skdpmic.privacy import mechanisms
from tests.privacy.auditing import exchange, privacy_loss_at_least
from tests.select_names import SelectNames
from tests.statistics.test_ranks import corner

ALPHA = 1e-2
EPSILON = 1.0
PUBLIC = {
    "bounds": (0, 1),
    "target_bounds": (0, 1),
    "B": 4,
    "c": 1,
    "correction": None,
}  # which attains the sensitivity
PAIR = {"bounds": ((0, 1), (0, 1)), "B": 4, "c": 1, "correction": None}
COPIES = 30  # of a feature, each with its own share of the budget and its own draw
TOGETHER = 4  # features that are audited as one release
GROUPS = 100  # of TOGETHER features each
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run


# --- Neighbours -------------------------------------------------------------------------------------------------


def lone_record(n=20):
    """All records in one corner, score 0; then one of them in the opposite corner, score h(1/n)."""
    x = np.zeros(n)
    x_other = x.copy()
    x_other[-1] = 1
    return (x[:, None], x), (x_other[:, None], x_other)


def contest(n=20):
    """The record in the corner shows up in the first feature or in the second, so their scores trade places."""
    X, y = np.zeros((n, 2)), np.zeros(n)
    X[-1, 0] = y[-1] = 1
    return (X, y), (X[:, ::-1], y)


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


# --- Releases: functions of a table and a source of noise -------------------------------------------------------


def release_mic_r_of_a_pair(table, source, epsilon=EPSILON):
    X, y = table
    return private_score(X[:, 0], y, epsilon=epsilon, random_state=source, **PAIR)


def release_mtv_r_of_a_pair(table, source, epsilon=EPSILON):
    X, y = table
    public = {"statistic": "mtv_r", "bounds": ((0, 1), (0, 1))}
    return private_score(X[:, 0], y, epsilon=epsilon, random_state=source, **public)


def release_mic_e_of_a_pair(table, source, epsilon=EPSILON):
    X, y = table
    return private_score(X[:, 0], y, statistic="mic_e", epsilon=epsilon, B=8, c=1, random_state=source)


def release_kendall_of_a_pair(table, source, epsilon=EPSILON):
    x, y = table
    return private_score(x, y, statistic="kendall", epsilon=epsilon, random_state=source)


def release_scores(table, source, epsilon=EPSILON):
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    return DPMICScorer(epsilon=COPIES * epsilon, random_state=source, **PUBLIC).fit(X, y).scores_


def release_scores_against_classes(table, source, epsilon=EPSILON):
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    public = {"bounds": (0, 1), "classes": [0, 1], "B": 4, "c": 1, "correction": None}
    return DPMICScorer(epsilon=COPIES * epsilon, random_state=source, **public).fit(X, y).scores_


def release_scores_of_mtv_r(table, source, epsilon=EPSILON):
    """With known target shares, so that all of epsilon is spent on the scores."""
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    settings = {"statistic": "mtv_r", "target_shares": (0.5, 0.5), "random_state": source} | PUBLIC
    return DPMICScorer(epsilon=COPIES * epsilon, **settings).fit(X, y).scores_


def release_shares_and_scores(table, source, epsilon=EPSILON):
    """Whether the noisy share and score are at least what they are without noise if the classes are balanced.

    Half of the noise scale of a share is subtracted from the score, which is largest if the classes are balanced.
    """
    settings = {"statistic": "mtv_r", "bounds": (0, 1), "classes": [0, 1], "random_state": source}
    scorer = DPMICScorer(epsilon=epsilon, **settings).fit(table[0], table[1].astype(int))
    return scorer.target_shares_[0] >= 0.5 and scorer.scores_[0] >= 1 - scorer._target_shares.error


def release_sums_and_scores(table, source, epsilon=EPSILON):
    """The same with the largest possible weights: a record that leaves the first class moves both sums."""
    settings = {"statistic": "mtv_r", "bounds": (0, 1), "classes": [0, 1], "random_state": source, "max_weight": 1}
    X, y = table
    scorer = DPMICScorer(epsilon=epsilon, **settings).fit(X, y.astype(int), sample_weight=np.ones(len(y)))
    first, second = scorer._target_shares.sums
    return first >= second and scorer.scores_[0] >= 1 - scorer._target_shares.error


def release_scores_together(table, source, epsilon=EPSILON):
    X, y = np.tile(table[0], GROUPS), table[1]
    scorer = DPMICScorer(epsilon=GROUPS * epsilon, random_state=source, **PUBLIC)
    return scorer.fit(X, y).scores_.reshape(GROUPS, TOGETHER)


def release_scores_in_a_cube(table, source, epsilon=EPSILON):
    scorer = DPMICScorer(epsilon=epsilon, mechanism="k-norm", random_state=source, **PUBLIC)
    return scorer.fit(*table).scores_


def release_support(table, source, epsilon=EPSILON):
    selector = SelectNames(k=1, epsilon=epsilon, random_state=source, **PUBLIC)
    return selector.fit(*table).get_support(indices=True)[0]


def release_counts(table, source, epsilon=EPSILON):
    """Whether the noisy table has all records in the first cell and none in the last cell."""
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    scorer = DPMICScorer(mechanism="geometric", epsilon=COPIES * epsilon, random_state=source, **PUBLIC).fit(X, y)
    return (scorer.noisy_counts_[:, 0, 0] == len(y)) & (scorer.noisy_counts_[:, -1, -1] == 0)


def is_true(observed):
    return observed


def is_zero(score):
    return score == 0


def is_one(score):
    return score == 1


def is_first(feature):
    return feature == 0


@cache
def scores_without_noise():
    """The noise-free scores of the first neighbour."""
    X, y = exchange(TOGETHER)[0]
    return DPMICScorer(epsilon=np.inf, **PUBLIC).fit(X, y).scores_


def all_are_further_out(scores):
    """Whether noise has moved every score away from that of the neighbour."""
    low_to_high = np.repeat([-1, 1], TOGETHER // 2)
    return (low_to_high * (scores - scores_without_noise()) >= 0).all(axis=1)


@cache
def pair_without_noise():
    """The two noise-free scores of the first neighbour."""
    X, y = exchange(2)[0]
    return DPMICScorer(epsilon=np.inf, **PUBLIC).fit(X, y).scores_


def both_are_further_out(scores):
    """Whether noise has moved both scores away from the neighbour's, for which that is e^epsilon times rarer."""
    return ([-1, 1] * (scores - pair_without_noise()) >= 0).all()


def second_half_is_larger(scores):
    return scores[:, TOGETHER // 2 :].sum(axis=1) > scores[:, : TOGETHER // 2].sum(axis=1)


AUDITS = {
    # the release, neighbours, event, runs
    "mic_r of a pair": (release_mic_r_of_a_pair, lone_record, is_zero, 300),
    "mtv_r of a pair": (release_mtv_r_of_a_pair, lone_record, is_zero, 700),
    "mic_e of a pair": (release_mic_e_of_a_pair, zigzag, is_one, 700),
    "kendall of a pair": (release_kendall_of_a_pair, lambda: corner(20), is_one, 300),
    "scores": (release_scores, lone_record, is_zero, 30),
    "scores against classes": (release_scores_against_classes, lone_record, is_zero, 30),
    "scores of mtv_r": (release_scores_of_mtv_r, lambda: changed_in(0), is_one, 30),
    "shares and scores": (release_shares_and_scores, lambda: changed_in(1), is_true, 3000),
    "sums and scores": (release_sums_and_scores, lambda: changed_in(1), is_true, 5000),
    "scores together": (release_scores_together, lambda: exchange(TOGETHER), all_are_further_out, 50),
    "scores in a cube": (release_scores_in_a_cube, lambda: exchange(2), both_are_further_out, 700),
    "counts": (release_counts, lone_record, is_true, 15),
    "support": (release_support, contest, is_first, 400),
}


def loss_of(name, **changed):
    release, neighbours, event, n_runs = AUDITS[name]
    source = np.random.RandomState(0)
    here, there = neighbours()
    return privacy_loss_at_least(lambda table: release(table, source, **changed), here, there, event, n_runs, ALPHA)


# --- Audits of real and broken releases -------------------------------------------------------------------------


SLOW = (
    "counts",
    "scores in a cube",
    "scores together",
    "shares and scores",
    "sums and scores",
    "support",
    *(f"{name} of a pair" for name in ("mic_r", "mic_e")),
)
QUICK_AND_SLOW = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in AUDITS]


@pytest.mark.few
@seeded
@pytest.mark.parametrize("name", QUICK_AND_SLOW)
def test_no_release_loses_more_than_epsilon(name):
    assert EPSILON / 4 < loss_of(name) <= EPSILON  # and the audit detects much of it


@pytest.mark.few
@seeded
@pytest.mark.parametrize("name", QUICK_AND_SLOW)
def test_half_the_noise_is_detected(name):
    assert loss_of(name, epsilon=2 * EPSILON) > EPSILON  # states EPSILON, but has the noise of twice that


@seeded
def test_noise_shared_by_features_is_detected(monkeypatch):
    draw = mechanisms.discrete_laplace
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, source: np.repeat(draw(scale, 1, source), size)
    )
    source = np.random.RandomState(0)
    loss = privacy_loss_at_least(
        lambda table: release_scores_together(table, source), *exchange(TOGETHER), second_half_is_larger, 1, ALPHA
    )
    assert loss > EPSILON
