"""Tables of nothing but ties, one row, one column or missing values: refused uncharged, or all that follows works."""

import inspect
import pickle
import warnings

import numpy as np
import pytest

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateSelectKBest,
    private_bounds,
    private_evaluation,
    private_score,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation

CHANGING = ("fit", "partial_fit", "publish", "set_", "inverse_transform", "plan")  # refuse, change or need more
NUMBERS, LABELS = {"target_bounds": (0, 1)}, {"classes": [0, 1]}
STATISTICS = ["mic_r", "mtv_r", "kendall"]


def drawn_table(rng):
    """Few rows and columns, a target of numbers and one of labels."""
    n, d = rng.choice([1, 4, 5, 8, 30]), rng.choice([1, 2, 3, 5])
    some = rng.random((n, d))
    X = [np.full((n, d), 0.5), some.round(), some, np.full((n, d), np.nan), np.where(some < 0.5, np.nan, some)]
    y = [np.full(n, 0.5), rng.random(n).round(), rng.random(n)][rng.integers(3)]
    return X[rng.integers(5)], y, (y > 0.5).astype(int)


def drawn_release(rng, ledger, X, y, labels):
    """What publishes something of a table, and returns it."""
    given = {"epsilon": rng.choice([0.01, 1.0, 1000.0]), "ledger": ledger}
    known = given | {"bounds": (0, 1)}
    targets = [(NUMBERS, y), (LABELS, labels)][rng.integers(2)]
    way = known | targets[0] | {"statistic": str(rng.choice(STATISTICS))}
    k, noise = int(rng.choice([1, 2])), str(rng.choice(["laplace", "k-norm", "geometric"]))
    return [
        lambda: DPMICScorer(**way, mechanism=noise).fit(X, targets[1]),
        lambda: DPMICSelector(k, **way).fit(X, targets[1]),
        lambda: DPMICSelector(None, threshold=0.5, **way).fit(X, targets[1]),
        lambda: DPMICSelector(None, fdr=0.1, **way).fit(X, targets[1]),
        lambda: PrivateSelectKBest(k, **way).fit(X, targets[1]),
        lambda: PrivateSelectKBest(k, criterion="joint", **known, **targets[0]).fit(X, targets[1]),
        lambda: PrivateCorrelation(**given).fit(X),
        lambda: PrivatePC(**known).fit(X),
        lambda: private_summary(X, **known),
        lambda: private_bounds(X, **given),
        lambda: private_score(X[:, 0], y, bounds=((0, 1), (0, 1)), **given),
        lambda: PrivateAdditiveRegressor(**known, **NUMBERS).fit(X, y),
        lambda: PrivateAdditiveClassifier(**known, **LABELS).fit(X, labels),
        lambda: private_evaluation(PrivateAdditiveRegressor(bounds=(0, 1), **NUMBERS).fit(X, y), X, y, **given),
    ][rng.integers(14)]


def use_all_of(published, X):
    """Display it, and call each public method and property that needs at most a table; those that it lacks say so."""
    assert isinstance(repr(published), str)
    pickle.dumps(published)
    for name in dir(published):
        if name.startswith("_") and name != "_repr_html_":
            continue
        try:
            part = getattr(published, name)
            if not inspect.ismethod(part) or name.startswith(CHANGING):
                continue
            needed = [each for each, p in inspect.signature(part).parameters.items() if p.default is p.empty]
            if set(needed) <= {"X"}:
                part(*[X for _ in needed])
        except AttributeError as error:
            assert len(str(error)) > 30  # noqa: PT017
        except ValueError as error:
            assert "must be a class, but this is the evaluation of a model of numbers" in str(error)  # noqa: PT017


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_odd_tables_are_refused_before_the_charge_or_everything_works(seed, tmp_path):
    rng, n_published = np.random.default_rng(seed), 0
    for i in range(60):
        ledger = BudgetLedger(tmp_path / str(i), epsilon=1e9, delta=0.9)
        X, y, labels = drawn_table(rng)
        release = drawn_release(rng, ledger, X, y, labels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                published = release()
            except (TypeError, ValueError):
                assert ledger.spent() == (0, 0)
                continue
            use_all_of(published, X)
            n_published += 1
    assert n_published > 20
