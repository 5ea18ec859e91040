"""Results as one dataframe: everything that was released, best first, and nothing else."""

import sys
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.selection.selectors import chances_among_best
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

NAMES = ["a", "b", "c", "d", "e"]
X = np.random.default_rng(0).random((400, 5))
Y = X[:, 3]
FRAME = pandas.DataFrame(X, columns=NAMES)
PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1), "epsilon": 50.0}
SCORED = ["feature", "rank", "score", "lower", "upper", "p_value"]


def fitted_to_reports(**parameters):
    pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
    alice = RandomizedResponse(8.0, bounds=(0, 1)).fit(FRAME)
    return TwoPartyScorer(**parameters).fit(alice.to_arrow(alice.transform(FRAME)), Y)


FITTED = {
    "scorer": lambda: DPMICScorer(**PUBLIC).fit(FRAME, Y),
    "gaussian": lambda: DPMICScorer(**PUBLIC, mechanism="gaussian", delta=1e-6).fit(FRAME, Y),
    "k-norm": lambda: DPMICScorer(**PUBLIC, mechanism="k-norm").fit(FRAME, Y),
    "kendall": lambda: DPMICScorer(statistic="kendall").fit(FRAME, Y),
    "exact": lambda: DPMICScorer(**PUBLIC | {"epsilon": np.inf}).fit(FRAME, Y),
    "geometric": lambda: DPMICScorer(**PUBLIC | {"statistic": "mic_r"}, mechanism="geometric").fit(FRAME, Y),
    "people": lambda: DPMICScorer(**PUBLIC, max_rows_per_group=2).fit(FRAME, Y, groups=np.arange(400) // 2),
    "selector": lambda: DPMICSelector(2, **PUBLIC).fit(FRAME, Y),
    "names": lambda: PrivateSelectKBest(2, **PUBLIC, criterion="single").fit(FRAME, Y),
    "two parties": fitted_to_reports,
    "two parties, maxima": partial(fitted_to_reports, statistic="mtv_r", target_bounds=(0, 1)),
}
COLUMNS = {
    "scorer": SCORED,
    "gaussian": SCORED,
    "k-norm": SCORED,
    "kendall": SCORED[:5],  # the distribution of scores depends on ties
    "exact": SCORED,
    "geometric": SCORED[:3],  # noise is on counts, so the scores have no known distribution
    "people": SCORED[:5],  # the rows of a person are dependent
    "selector": [*SCORED, "among_best", "chosen"],
    "names": ["feature", "rank", "gap", "among_best", "chosen"],
    "two parties": [*SCORED[:5], "n_reported"],
    "two parties, maxima": [*SCORED[:3], "n_reported"],
}


def among_best(fitted):
    if hasattr(fitted, "gaps_"):
        chosen = np.argsort(fitted.ranking_)[:1]
        sure = np.where(np.arange(5) == chosen, 1 - np.exp(-fitted.gaps_[0] / fitted.noise_scale_), np.nan)
        return np.round(sure, 12)
    return chances_among_best(fitted.scores_, fitted.null_scores_, fitted._noise.law, 2)


@pytest.mark.few
@pytest.mark.parametrize("kind", FITTED)
def test_every_column_is_what_the_estimator_released_best_first(kind):
    fitted = FITTED[kind]()
    frame, order = fitted.to_frame(), np.argsort(fitted.ranking_, kind="stable")
    assert frame.columns.tolist() == COLUMNS[kind]
    assert frame.index.tolist() == list(range(5))
    assert frame["feature"].tolist() == [NAMES[j] for j in order]
    of_estimator = {
        "rank": lambda: fitted.ranking_,
        "score": lambda: fitted.scores_,
        "lower": lambda: fitted.scores_interval(0.95)[0],
        "upper": lambda: fitted.scores_interval(0.95)[1],
        "p_value": lambda: fitted.p_values(),
        "chosen": lambda: fitted.get_support(),
        "among_best": lambda: among_best(fitted),
        "gap": lambda: np.append(fitted.gaps_, [np.nan] * 4)[np.argsort(order)],
        "n_reported": lambda: fitted.n_reported_,
    }
    for name in COLUMNS[kind][1:]:
        values = frame[name].round(12) if name == "among_best" else frame[name]
        np.testing.assert_array_equal(values, of_estimator[name]()[order], err_msg=name)


def test_in_a_release_of_names_all_others_share_the_next_rank_in_the_order_of_the_table():
    frame = PrivateSelectKBest(1, **PUBLIC).fit(FRAME, Y).to_frame()
    assert frame["feature"].tolist() == ["d", "a", "b", "c", "e"]
    assert frame["rank"].tolist() == [1, 2, 2, 2, 2]
    assert frame["chosen"].tolist() == [True, False, False, False, False]


def test_records_that_are_counted_but_not_published_give_no_results():
    scorer = DPMICScorer(**PUBLIC).partial_fit(FRAME, Y)
    with pytest.raises(NotFittedError, match="not published yet"):
        scorer.to_frame()


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    scorer = DPMICScorer(**PUBLIC).fit(X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame requires pandas: pip install pandas"):
        scorer.to_frame()
