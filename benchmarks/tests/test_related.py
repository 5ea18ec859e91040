"""The benchmark of related columns: tables are as described, choices are the package's, the docs show the results."""

import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")
pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

import pandas

from benchmarks.selection import related
from benchmarks.selection.related_tables import TABLES, RelatedTable
from skdpmic import PrivateSelectKBest
from skdpmic.correlation import PrivateForwardSelector

ROOT = Path(__file__).parents[2]


def small(n_classes):
    """Two copies of one signal, another signal, labels that tell of it, and noise."""
    random = np.random.default_rng(0)
    X = random.random((600, 5))
    X[:, 1] = X[:, 0] ** 2
    y = X[:, 0] + X[:, 2]
    frame = pandas.DataFrame(X, columns=["a", "copy", "b", "noise", "more noise"])
    frame["group"] = pandas.Categorical.from_codes((3 * X[:, 2]).astype(int), ["low", "middle", "high"])
    features = {
        "bounds": dict.fromkeys(["a", "copy", "b", "noise", "more noise"], (0, 1)),
        "categories": {"group": ["low", "middle", "high"]},
    }
    if n_classes is None:
        return RelatedTable(frame, y, 2, features, {"target_bounds": (0, 2)})
    classes = np.minimum((y * n_classes / 2).astype(int), n_classes - 1)
    return RelatedTable(frame, classes, 2, features, {"classes": range(n_classes)})


@pytest.fixture
def small_tables(monkeypatch):
    tables = {"numbers": None, "two classes": 2, "three classes": 3}
    monkeypatch.setattr(related, "TABLES", {name: lambda n=n: small(n) for name, n in tables.items()})
    kept = related._load, related._split
    for cached in kept:
        cached.cache_clear()
    yield list(tables)
    for cached in kept:
        cached.cache_clear()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_it_is_described(name):
    """Each column has bounds or labels; labels are all declared; 97 % of the numbers lie in the bounds."""
    try:
        table = related._load(name)
    except (ImportError, FileNotFoundError) as error:
        pytest.skip(str(error))
    categories, bounds = table.features.get("categories", {}), table.features["bounds"]
    if not isinstance(bounds, dict):
        bounds = dict(zip(table.X.columns, zip(*bounds, strict=True), strict=True))
    assert sorted([*categories, *bounds]) == sorted(table.X.columns)
    for label, column in table.X.items():
        if label in categories:
            assert set(column.dropna()) <= set(categories[label])
        else:
            lower, upper = bounds[label][:2]
            assert (column.dropna().between(lower, upper)).mean() > 0.97
            assert column.notna().any()
    if table.n_classes is None:
        assert ((table.y >= table.target["target_bounds"][0]) & (table.y <= table.target["target_bounds"][1])).all()
    else:
        assert set(table.y) == set(table.target["classes"])


@pytest.mark.parametrize("name", ["numbers", "two classes", "three classes"])
def test_ways_are_the_selectors_of_the_package(small_tables, name):
    table = related._load(name)
    best, greedy = (related.selector(table, f"redundancy {alpha}", epsilon=np.inf) for alpha in (0, 1))
    assert isinstance(best, PrivateSelectKBest)
    assert (best.redundancy, greedy.redundancy, greedy.statistic) == (0, 1, "mtv_r")
    split = related._split(name, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        greedy.fit(split.X, split.y)
    chosen = set(greedy.get_feature_names_out())
    assert len(chosen & {"a", "copy"}) == 1
    assert len(chosen & {"b", "group"}) == 1
    if name != "three classes":
        assert isinstance(related.selector(table, related.MATRIX, epsilon=1), PrivateForwardSelector)


def test_no_row_is_learned_from_and_predicted(small_tables):
    split = related._split("numbers", 0)
    assert not set(split._train) & set(split._test)
    assert len(split._train) == 400
    assert list(split.X.index) == list(split._train)


@pytest.mark.slow
def test_a_run_compares_all_ways_and_draws_them(small_tables, tmp_path):
    rows = [
        configuration | related.compare(configuration, seed)
        for seed, configuration in enumerate(related.configurations(small_tables, 1, [1.0]))
    ]
    summary = related.summarise(pandas.DataFrame(rows))
    assert set(summary["metric"]) == {"R²", "AUC", "accuracy"}
    known = summary.set_index(["table", "way", "epsilon"])
    free = known.loc[("numbers", "redundancy 1", np.inf)]
    assert free["n"] == 400
    assert free["quality"] > known.loc[("numbers", "at random", np.inf), "quality"]
    assert free["quality"] > 0.9
    assert ("three classes", related.MATRIX, 1.0) not in known.index
    related.draw(summary, tmp_path / "related.png")
    assert (tmp_path / "related.png").read_bytes().startswith(b"\x89PNG")
    assert "R², 2 of 6, 400 rows" in related.quality_table(summary, "numbers")
    lead = related.leads(pandas.DataFrame(rows)).set_index(["over", "table", "way", "epsilon"])["lead"]
    one = known["quality"]["numbers"]
    expected = one["redundancy 1", 1.0] - one["mutual_info", np.inf]
    assert lead["mutual_info", "numbers", "redundancy 1", 1.0] == pytest.approx(expected)
    expected = one[related.MATRIX, 1.0] - one["redundancy 0", 1.0]
    assert lead["redundancy 0", "numbers", related.MATRIX, 1.0] == pytest.approx(expected)
    assert ("redundancy 0", "numbers", "redundancy 0", 1.0) not in lead.index
    frame = related.choices_without_noise(["numbers"])
    choices = frame.set_index("way")["chosen"]
    assert list(choices.index) == [*related.REDUNDANCIES, related.MATRIX, "mutual_info"]
    assert len(set(choices["redundancy 1"].split(", ")) & {"a", "copy"}) == 1


def test_the_tables_of_the_docs_are_those_of_the_results():
    page = (ROOT / "docs" / "results" / "selection.md").read_text(encoding="utf-8")
    summary, lead, choices = (
        pandas.read_csv(related.RESULTS / f"{name}.csv") for name in ("related", "related_leads", "related_choices")
    )
    shown = [related.leads_table(lead, "redundancy 0")]
    shown += [related.choices_table(choices, name) for name in ("census", "credit cards")]
    assert [table for table in shown if table not in page] == []
    tables = (related.RESULTS / "related.md").read_text(encoding="utf-8")
    assert tables == related.markdown(summary, lead, choices)
    assert all(name in tables for name in TABLES)
