"""A fit to people with several rows loses no more than epsilon on a person; one that looks at rows is detected.

Each audit is of one event that was chosen beforehand, at alpha = 1e-2 and a fixed seed, on tables that differ in all
rows of one person. Broken is a fit whose noise is that for one row of as many rows.
"""

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.table.records import Shape, TableRecords
from tests.privacy.auditing import privacy_loss_at_least
from tests.select_names import SelectNames

ALPHA = 1e-2
EPSILON = 1.0
N, M = 20, 5  # people, rows of each
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1, "correction": None}
COPIES = 30  # of a feature: each has a share of the budget and a draw of its own
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source, which goes on


def lone_person():
    """All people in one corner; then one of them in the opposite corner."""
    x = np.zeros(N * M)
    x_other = x.copy()
    x_other[-M:] = 1
    return (x[:, None], x), (x_other[:, None], x_other)


def contest():
    """One person shows in the first feature or in the second: their scores change places."""
    X, y = np.zeros((N * M, 2)), np.zeros(N * M)
    X[-M:, 0] = y[-M:] = 1
    return (X, y), (X[:, ::-1], y)


def chatty_person():
    """One person of few rows in a corner, or of many in the opposite corner; the others have as many as count."""
    (X, y), (X_other, y_other) = lone_person()
    more = np.ones(7 * M)
    return (X[: 1 - M], y[: 1 - M]), (np.append(X_other, more[:, None], axis=0), np.append(y_other, more))


def persons_of(y):
    return np.minimum(np.arange(len(y)) // M, N - 1)


def release_scores(statistic, table, source, epsilon=EPSILON):
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    parameters = PUBLIC if statistic in ("mic_r", "mtv_r") else {}
    scorer = DPMICScorer(
        statistic=statistic, epsilon=COPIES * epsilon, max_rows_per_group=M, random_state=source, **parameters
    )
    return scorer.fit(X, y, persons_of(y)).scores_


def release_support(table, source, epsilon=EPSILON):
    selector = SelectNames(k=1, epsilon=epsilon, max_rows_per_group=M, random_state=source, **PUBLIC)
    return selector.fit(*table, persons_of(table[1])).get_support(indices=True)[0]


def release_counts(table, source, epsilon=EPSILON):
    """Whether the noisy table has all rows in the first cell and none in the last."""
    X, y = np.repeat(table[0], COPIES, axis=1), table[1]
    scorer = DPMICScorer(
        mechanism="geometric", epsilon=COPIES * epsilon, max_rows_per_group=M, random_state=source, **PUBLIC
    ).fit(X, y, persons_of(y))
    return (scorer.noisy_counts_[:, 0, 0] == N * M) & (scorer.noisy_counts_[:, -1, -1] == 0)


def of(statistic):
    return lambda *given, **changed: release_scores(statistic, *given, **changed)


def is_zero(score):
    return score == 0


def is_so(observed):
    return observed


def is_first(feature):
    return feature == 0


AUDITS = {
    # the release, neighbours, event, runs
    "mic_r": (of("mic_r"), lone_person, is_zero, 30),
    "mtv_r": (of("mtv_r"), lone_person, is_zero, 30),
    "kendall": (of("kendall"), lone_person, is_zero, 60),
    "counts": (release_counts, lone_person, is_so, 15),
    "support": (release_support, contest, is_first, 400),
    "scores of few and many rows": (of("mic_r"), chatty_person, is_zero, 30),
    "counts of few and many rows": (release_counts, chatty_person, is_so, 15),
}


def each_of(names):
    """Audits, of which the quick run does some."""
    return [name if name in ("mic_r", "kendall") else pytest.param(name, marks=pytest.mark.slow) for name in names]


def loss_of(name, **changed):
    release, neighbours, event, n_runs = AUDITS[name]
    source = np.random.RandomState(0)
    here, there = neighbours()
    return privacy_loss_at_least(lambda table: release(table, source, **changed), here, there, event, n_runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", each_of(AUDITS))
def test_no_release_loses_more_than_epsilon_on_a_person(name):
    assert EPSILON / 4 < loss_of(name) <= EPSILON  # and the audit sees a good part of it


@pytest.mark.few
@pytest.mark.parametrize("name", each_of(AUDITS))
def test_noise_for_one_row_is_found_out(name, monkeypatch):
    monkeypatch.setattr(TableRecords, "shape", property(lambda self: Shape(self.n_samples, self.domains)))
    assert loss_of(name) > EPSILON


@pytest.mark.parametrize("name", each_of(["mic_r", "counts of few and many rows"]))
def test_rows_as_they_are_would_be_found_out(name, monkeypatch):
    # Without a limit on the rows of a person, someone with many of them shows.
    monkeypatch.setattr(TableRecords, "sampled", lambda self, source, progress: self)
    if name == "mic_r":
        _, neighbours, event, n_runs = AUDITS["scores of few and many rows"]
        here, there = neighbours()
        there = tuple(np.append(part, np.repeat(part[-1:], 20 * M, axis=0), axis=0) for part in there)
        source = np.random.RandomState(0)
        loss = privacy_loss_at_least(lambda t: release_scores("mic_r", t, source), here, there, event, n_runs, ALPHA)
    else:
        loss = loss_of(name)
    assert loss > EPSILON
