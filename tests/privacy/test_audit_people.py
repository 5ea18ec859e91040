"""A fit to people with several rows loses no more than epsilon per person; a fit that protects only rows is detected.

Each audit uses one event chosen in advance, alpha = 1e-2 and a fixed seed, on tables that differ in all rows of one
person. The broken fit has noise for a single row.
"""

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.table.records import Shape, TableRecords
from tests.privacy.auditing import privacy_loss_at_least
from tests.select_names import SelectNames

ALPHA = 1e-2
EPSILON = 1.0
N, M = 20, 5  # people, and rows of each person
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1, "correction": None}
COPIES = 30  # of a feature, each with its own share of the budget and its own draw
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run


def lone_person():
    """All people in one corner; then one of them in the opposite corner."""
    x = np.zeros(N * M)
    x_other = x.copy()
    x_other[-M:] = 1
    return (x[:, None], x), (x_other[:, None], x_other)


def contest():
    """One person shows up in the first feature or in the second, so their scores trade places."""
    X, y = np.zeros((N * M, 2)), np.zeros(N * M)
    X[-M:, 0] = y[-M:] = 1
    return (X, y), (X[:, ::-1], y)


def chatty_person():
    """One person with few rows in a corner, or many rows in the opposite corner; everyone else has M rows."""
    (X, y), (X_other, y_other) = lone_person()
    more = np.ones(7 * M)
    return (X[: 1 - M], y[: 1 - M]), (np.append(X_other, more[:, None], axis=0), np.append(y_other, more))


def person_ids(y):
    return np.minimum(np.arange(len(y)) // M, N - 1)


def release_scores(statistic, table, source, epsilon=EPSILON):
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    parameters = PUBLIC if statistic in ("mic_r", "mtv_r") else {}
    scorer = DPMICScorer(
        statistic=statistic, epsilon=COPIES * epsilon, max_rows_per_group=M, random_state=source, **parameters
    )
    return scorer.fit(X, y, person_ids(y)).scores_


def release_support(table, source, epsilon=EPSILON):
    selector = SelectNames(k=1, epsilon=epsilon, max_rows_per_group=M, random_state=source, **PUBLIC)
    return selector.fit(*table, person_ids(table[1])).get_support(indices=True)[0]


def release_counts(table, source, epsilon=EPSILON):
    """Whether the noisy table has all rows in the first cell and none in the last cell."""
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    scorer = DPMICScorer(
        mechanism="geometric", epsilon=COPIES * epsilon, max_rows_per_group=M, random_state=source, **PUBLIC
    ).fit(X, y, person_ids(y))
    return (scorer.noisy_counts_[:, 0, 0] == N * M) & (scorer.noisy_counts_[:, -1, -1] == 0)


def scores_of(statistic):
    return lambda *given, **changed: release_scores(statistic, *given, **changed)


def is_zero(score):
    return score == 0


def is_true(observed):
    return observed


def is_first(feature):
    return feature == 0


AUDITS = {
    # the release, neighbours, event, runs
    "mic_r": (scores_of("mic_r"), lone_person, is_zero, 30),
    "mtv_r": (scores_of("mtv_r"), lone_person, is_zero, 30),
    "kendall": (scores_of("kendall"), lone_person, is_zero, 60),
    "counts": (release_counts, lone_person, is_true, 30),
    "support": (release_support, contest, is_first, 400),
    "scores of few and many rows": (scores_of("mic_r"), chatty_person, is_zero, 30),
    "counts of few and many rows": (release_counts, chatty_person, is_true, 30),
}


def each_of(names):
    """Audits, most of them marked slow."""
    return [name if name in ("mic_r", "kendall") else pytest.param(name, marks=pytest.mark.slow) for name in names]


def loss_of(name, **changed):
    release, neighbours, event, n_runs = AUDITS[name]
    source = np.random.RandomState(0)
    here, there = neighbours()
    return privacy_loss_at_least(lambda table: release(table, source, **changed), here, there, event, n_runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of(AUDITS))
def test_no_release_loses_more_than_epsilon_per_person(name):
    assert EPSILON / 4 < loss_of(name) <= EPSILON  # and the audit detects much of it


@pytest.mark.few
@pytest.mark.parametrize("name", each_of(AUDITS))
def test_noise_for_one_row_is_detected(name, monkeypatch):
    monkeypatch.setattr(TableRecords, "shape", property(lambda self: Shape(self.n_samples, self.domains)))
    assert loss_of(name) > EPSILON


@pytest.mark.parametrize("name", each_of(["mic_r", "counts of few and many rows"]))
def test_unlimited_rows_per_person_are_detected(name, monkeypatch):
    # Without a limit on rows per person, a person with many rows is noticeable.
    monkeypatch.setattr(TableRecords, "sampled", lambda self, progress: self)
    if name == "mic_r":
        _, neighbours, event, n_runs = AUDITS["scores of few and many rows"]
        here, there = neighbours()
        there = tuple(np.append(part, np.repeat(part[-1:], 20 * M, axis=0), axis=0) for part in there)
        source = np.random.RandomState(0)
        loss = privacy_loss_at_least(lambda t: release_scores("mic_r", t, source), here, there, event, n_runs, ALPHA)
    else:
        loss = loss_of(name)
    assert loss > EPSILON
