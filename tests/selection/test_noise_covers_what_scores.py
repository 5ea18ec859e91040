"""The noise covers what one record changes in the very scores that are released, however they were requested.

For MTVr, whose sensitivity depends on what is known about the target, arguments and ways to fit are drawn at random.
What a record changes is found by exhaustion: each scorer that a fit used scores every table of as many records in two
bins of a feature, and tables that differ in one record are compared. The code's own sensitivity is not used.
"""

import math
from functools import lru_cache, partial
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skdpmic import DPMICScorer, DPMICSelector, PrivateGridSearch, PrivateSelectKBest, search_cost
from skdpmic.counting import RangeGridSketch, count_stream, merge_all
from skdpmic.privacy.composition import rho_for
from skdpmic.release import path
from skdpmic.statistics.mtv.counts import CountsScorer
from skdpmic.table.records import TableRecords
from skdpmic.table.values import ClassTarget, NumericTarget
from tests.tables import refused

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.combinations]

EPSILON, DELTA, MOST_WEIGHT = 1.5, 1e-3, 2.0
NAMES = ["a", "b", "c", "d"]
ENTRIES = (2, 3, 4, 5, 8)

# --- What one record changes, by exhaustion ---------------------------------------------------------------------------


def largest_change(scorer):
    """The largest difference between scores of two tables that differ in one record, among all tables in two bins."""
    units = scorer._most // scorer._n
    return _largest_change(scorer._n, units, scorer)


@lru_cache
def _largest_change(n, units, scorer):
    n_cells = 2 * scorer._family.n_columns
    weights = (1,) if units == 1 else (units // 2, units)
    kinds = [(cell, weight) for cell in range(n_cells) for weight in weights]
    kinds += [(0, 0)] if units > 1 else []
    scores = _scores_of_all(n, kinds, n_cells, scorer)
    return largest_difference(scores, n, len(kinds))


def largest_difference(scores, n, n_kinds):
    """The largest difference between scores, each keyed by n kinds of records, of tables that differ in one record."""
    largest = 0.0
    for others in combinations_with_replacement(range(n_kinds), n - 1):
        with_one_more = [scores[tuple(sorted((*others, one)))] for one in range(n_kinds)]
        largest = max(largest, max(with_one_more) - min(with_one_more))
    return largest


def _scores_of_all(n, kinds, n_cells, scorer):
    """The score of every table of n records, keyed by their kinds."""
    records = list(combinations_with_replacement(range(len(kinds)), n))
    tables = np.zeros((len(records), n_cells), dtype=np.uint32)
    cells, weights = np.array(kinds, dtype=np.uint32).T
    for place in np.array(records).T:
        tables[np.arange(len(records)), cells[place]] += weights[place]
    totals, scores = tables.sum(axis=1), np.empty(len(records))
    for total in np.unique(totals):  # the same for all features of a table
        scores[totals == total] = scorer.of_rows(tables[totals == total].reshape(-1, n_cells // 2, 2))
    return dict(zip(records, scores.tolist(), strict=True))


def covered(fitted, d):
    """The change in a score that the noise of a fit covers."""
    has_learnt = fitted.target_shares is None and hasattr(fitted, "target_shares_")
    left = 0.85 if has_learnt else 1.0
    if isinstance(fitted, PrivateSelectKBest):
        of_choices = 0.9 if fitted.criterion_ == "joint" else 1.0
        if fitted.mechanism_ != "k-norm":
            return fitted.noise_scale_ * of_choices * left * EPSILON / (2 * min(fitted.k, d))
    elif fitted.mechanism == "laplace":
        return fitted.noise_scale_ * left * EPSILON / d
    if "k-norm" in (getattr(fitted, "mechanism_", None), getattr(fitted, "mechanism", None)):
        return fitted.noise_scale_ * left * EPSILON / math.sqrt((d + 1) * (d + 2) / 3)
    return fitted.noise_scale_ * math.sqrt(2 * left * rho_for(EPSILON, DELTA) / d)


@pytest.fixture
def spies(monkeypatch):
    """Lists of the scorers used and the charges made, to be cleared before each fit."""
    scorers, charges, score, run = [], [], CountsScorer.of_rows, path.run

    def of_rows(scorer, tables):
        scorers.append(scorer)
        return score(scorer, tables)

    def charged(*arguments, **options):
        charges.append(True)
        return run(*arguments, **options)

    monkeypatch.setattr(CountsScorer, "of_rows", of_rows)
    monkeypatch.setattr(path, "run", charged)
    return scorers, charges


# --- Requests, and ways to fit ----------------------------------------------------------------------------------------


class Case:
    """A random draw: a table, an estimator that may leave out what a sketch states, and a way to fit."""

    def __init__(self, seed, ways, makers):
        random = np.random.default_rng(seed)
        self.n, self.d = 4, int(random.choice([3, 4]))  # more than are chosen
        self.n_classes = random.choice([None, 2, 3, 4, 5, 6, 7])
        self.X = random.random((self.n, self.d))
        self.way = str(random.choice(list(ways)))
        self.knows_target = self.way in WITHOUT_SKETCH or bool(random.integers(2))
        self.make = makers[random.integers(len(makers))]
        self.entries = random.choice([None, None, self.n_classes, *ENTRIES])
        self.weights = random.random(self.n) * 3 if (self.n_classes or 8) < 4 and random.integers(3) == 0 else None
        if self.n_classes is None:
            self.y, self.of_target = random.random(self.n), {"target_bounds": (0, 1)}
        else:
            self.y = random.integers(self.n_classes, size=self.n)
            self.of_target = {"classes": list(range(self.n_classes))}
        self.public = {"statistic": "mtv_r", "epsilon": EPSILON, "random_state": 0, "bounds": (0, 1)}
        self.public |= {} if self.weights is None else {"max_weight": MOST_WEIGHT}

    @property
    def shares(self):
        return None if self.entries is None else [1 / self.entries] * self.entries

    @property
    def fits(self):
        """Whether the number of given shares suits the target."""
        return self.entries is None or self.entries in ((2, 4, 8) if self.n_classes is None else (self.n_classes,))

    def estimator(self):
        of_target = self.of_target if self.knows_target else {}
        return self.make(target_shares=self.shares, **self.public, **of_target)

    def plain(self):
        """The estimator with all public arguments, fitted to the table."""
        return self.make(target_shares=self.shares, **self.public, **self.of_target).fit(
            self.X, self.y, **self.weighted()
        )

    def weighted(self, rows=slice(None)):
        return {} if self.weights is None else {"sample_weight": self.weights[rows]}

    def empty(self):
        return RangeGridSketch(
            bounds=(0, 1), statistic="mtv_r", B=32, c=38, feature_names=NAMES[: self.d],
            max_weight=None if self.weights is None else MOST_WEIGHT, **self.of_target,
        )  # fmt: skip

    def counted(self, rows=slice(None)):
        return self.empty().update(self.X[rows], self.y[rows], **self.weighted(rows))

    def __repr__(self):
        return f"{self.way}, {self.n_classes} classes, {self.entries} entries, {self.estimator()}"


def fit_lazily(case):
    X = pl.DataFrame(case.X, schema=NAMES[: case.d], orient="row").lazy()
    return case.estimator().fit(X, case.y, **case.weighted())


def fit_dask(case):
    array = pytest.importorskip("dask.array")
    weights = {name: array.from_array(each, chunks=2) for name, each in case.weighted().items()}
    X, y = (array.from_array(each, chunks=(2, -1)[: each.ndim]) for each in (case.X, case.y))
    return case.estimator().fit(X, y, **weights)


def fit_own_sketch(case):
    empty = case.make(**case.public, **case.of_target).empty_sketch(case.n, n_features=case.d)
    return case.estimator().fit_sketch(empty.update(case.X, case.y, **case.weighted()))


def fit_stream(case):
    columns = dict(zip(NAMES, case.X.T, strict=False)) | {"y": case.y}
    columns |= {} if case.weights is None else {"w": case.weights}
    stream = [pl.DataFrame(columns)[:1], pl.DataFrame(columns)[1:]]
    weighted = {} if case.weights is None else {"sample_weight": "w"}
    return case.estimator().fit_sketch(count_stream(case.empty(), stream, target="y", **weighted))


def publish_chunks(case):
    estimator = case.make(**case.public, **case.of_target)
    for rows in (slice(2), slice(2, None)):
        estimator.partial_fit(case.X[rows], case.y[rows], n_expected=case.n, **case.weighted(rows))
    estimator.set_params(target_shares=case.shares)
    if not case.knows_target:
        estimator.set_params(classes=None, target_bounds=None)
    return estimator.publish()


WITHOUT_SKETCH = {
    "fit": lambda case: case.estimator().fit(case.X, case.y, **case.weighted()),
    "lazily": fit_lazily,
    "dask": fit_dask,
}
WITH_SKETCH = {
    "sketch": lambda case: case.estimator().fit_sketch(case.counted()),
    "own sketch": fit_own_sketch,
    "merged": lambda case: case.estimator().fit_sketch(
        merge_all([case.empty(), case.counted(slice(1)), case.counted(slice(1, 3)), case.counted(slice(3, None))])
    ),
    "saved": lambda case: case.estimator().fit_sketch(RangeGridSketch.from_bytes(case.counted().to_bytes())),
    "stream": fit_stream,
    "chunks": publish_chunks,
}
SCORES = [
    partial(DPMICScorer, B=32, c=38),
    partial(DPMICScorer, B=32, c=38, mechanism="k-norm"),
    partial(DPMICScorer, B=32, c=38, mechanism="gaussian", delta=DELTA),
    partial(DPMICSelector, 1, B=32, c=38),
]
NAMED = [partial(PrivateSelectKBest, 1), partial(PrivateSelectKBest, 2)]
JOINT = [partial(PrivateSelectKBest, k, criterion="joint") for k in (1, 2)]


def fitted_or_refused(way, case):
    """The fitted estimator and None, or None and the error message."""
    try:
        return way(case), None
    except ValueError as error:
        return None, str(error)


def check(seed, ways, makers, spies):
    """Draw a case; check that it is refused, or that its noise covers a record and its release is that of `fit`."""
    case, (scorers, charges) = Case(seed, ways, makers), spies
    scorers.clear()
    charges.clear()
    fitted, error = fitted_or_refused(ways[case.way], case)
    if error:
        of_target = "2 or 4 or 8" if case.n_classes is None else case.n_classes
        assert error.startswith(f"target_shares must be {of_target} numbers "), case
        assert error.endswith(f", got {case.entries} numbers."), case
        assert not case.fits, case
        assert not charges, case
        return
    assert {scorer._n for scorer in scorers} == {case.n}, case
    for scorer in set(scorers):
        assert largest_change(scorer) <= covered(fitted, case.d) * (1 + 1e-7), case
    assert case.fits, case
    plain = case.plain()
    for name in ("scores_", "ranking_", "noise_scale_", "target_shares_", "mean_weight_", "privacy_spent_"):
        assert np.array_equal(getattr(fitted, name, None), getattr(plain, name, None)), (name, case)


WAYS = WITHOUT_SKETCH | WITH_SKETCH
QUICK = {name: way for name, way in WAYS.items() if name != "dask"}


@pytest.mark.parametrize("seed", range(24))
def test_noise_covers_a_record_for_random_arguments_and_ways_to_fit(seed, spies):
    check(seed, QUICK, SCORES + NAMED, spies)


@pytest.mark.parametrize("seed", range(4))
def test_noise_covers_a_record_for_joint_scores(seed, spies):
    ways = {name: WITHOUT_SKETCH[name] for name in ("fit", "lazily")}
    check(10_000 + seed, ways, JOINT, spies)


# --- The examples, and other statistics -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", range(2, 8))
def test_shares_for_a_wrong_number_of_classes_are_refused_before_the_charge_in_every_way(n_classes, ledger):
    X, y = np.random.default_rng(0).random((70, 1)), np.arange(70) % n_classes
    sketch = RangeGridSketch(bounds=(0, 1), n_features=1, classes=range(n_classes), statistic="mtv_r", B=32, c=38)
    for entries in {2, 4, 8} - {n_classes}:
        shared = {"statistic": "mtv_r", "target_shares": [1 / entries] * entries, "ledger": ledger}
        scorer = DPMICScorer(bounds=(0, 1), classes=range(n_classes), **shared)
        search = PrivateGridSearch(make_pipeline(scorer, Ridge()), {"ridge__alpha": [1.0, 1.0]}, ledger=ledger)
        for use in (
            lambda shared=shared: DPMICScorer(**shared).fit_sketch(sketch.update(X, y)),
            lambda shared=shared: PrivateSelectKBest(1, **shared).fit_sketch(sketch),
            lambda scorer=scorer: scorer.fit(X, y),
            lambda scorer=scorer: scorer.plan(100, 1),
            lambda scorer=scorer: search_cost(scorer, n_features=1),
            lambda search=search: search.fit(X, y),
        ):
            with refused(ValueError, f"must be {n_classes} numbers .*got {entries} numbers", ledger):
                use()


@pytest.mark.parametrize("n_classes", [4, 5])
@pytest.mark.parametrize("classes", [True, False])
def test_whether_shares_are_learnt_depends_on_the_fitted_classes(n_classes, classes):
    X, y = np.random.default_rng(0).random((60, 2)), np.arange(60) % n_classes
    given = {"statistic": "mtv_r", "bounds": (0, 1), "random_state": 0}
    fitted = DPMICScorer(classes=range(n_classes), **given).fit(X, y)
    sketch = DPMICScorer(classes=range(n_classes), **given).empty_sketch(60, n_features=2).update(X, y)
    published = DPMICScorer(classes=range(n_classes) if classes else None, **given).fit_sketch(sketch)
    for one in (fitted, published):
        assert one.scores_.tolist() == fitted.scores_.tolist()
        assert hasattr(one, "target_shares_") == (n_classes == 4)


def test_shares_that_do_not_match_the_counted_classes_are_refused_with_the_next_chunk():
    X, y = np.random.default_rng(0).random((20, 1)), np.arange(20) % 2
    scorer = DPMICScorer(statistic="mtv_r", bounds=(0, 1), classes=[0, 1]).partial_fit(X, y)
    scorer.set_params(classes=None, target_shares=[0.25] * 4)
    with pytest.raises(ValueError, match=r"must be 2 numbers .*got 4 numbers"):
        scorer.partial_fit(X, y)
    assert scorer.set_params(target_shares=[0.5, 0.5]).publish().target_shares_.tolist() == [0.5, 0.5]
    assert scorer._null_model.n_samples == 20


OTHERS = [("mic_r", None), ("mic_r", 2), ("mic_r", 3), ("kendall", None), ("kendall", 2)]


@pytest.mark.slow
@pytest.mark.parametrize("name, n_classes", OTHERS)
def test_noise_covers_a_record_for_statistics_whose_sensitivity_depends_only_on_n(name, n_classes, monkeypatch):
    n, measures, scores_of = 5, [], TableRecords.scores

    def spied(records, measure, *arguments):
        measures.append(measure)
        return scores_of(records, measure, *arguments)

    monkeypatch.setattr(TableRecords, "scores", spied)
    of_target = {"target_bounds": (0, 2)} if n_classes is None else {"classes": range(n_classes)}
    y = np.arange(n) % (n_classes or n)
    public = {"bounds": (0, 2), "epsilon": EPSILON, **of_target}
    fitted = DPMICScorer(statistic=name, correction=None, **public).fit(np.arange(n)[:, None], y)
    kinds = list(product((0.0, 1.0, 2.0), range(n_classes or 3)))
    scores = {}
    for records in combinations_with_replacement(range(len(kinds)), n):
        x, y = np.array([kinds[record] for record in records]).T
        target = NumericTarget(y, (0, 2)) if n_classes is None else ClassTarget(y.astype(np.int64), n_classes)
        scores[records] = measures[0].scorer(target, None).score(x, (0.0, 2.0))
    change = largest_difference(scores, n, len(kinds))
    assert change <= covered(fitted, 1) * (1 + 1e-7)
    assert change >= 0.7 * covered(fitted, 1)


# --- Many draws -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_noise_covers_a_record_in_thousands_of_draws(spies):
    for seed in range(1200):
        check(20_000 + seed, WAYS, SCORES + NAMED, spies)
    for seed in range(150):
        check(30_000 + seed, WITHOUT_SKETCH, JOINT, spies)
