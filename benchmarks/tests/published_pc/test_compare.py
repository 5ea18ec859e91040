"""The comparison with PrivatePC: its parts, and that the report and docs/evidence/causal.md show what the files say."""

import csv

import pytest

pytest.importorskip("pgmpy", reason="the networks are in pgmpy's wheel")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.causal import compare, report
from benchmarks.causal.networks import network
from benchmarks.tests import pages


def rows_of_file():
    with compare.FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield row | {name: float(row[name]) for name in ("claimed", "f1", "shd")}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [*compare.PUBLISHED, compare.LABELS, compare.NUMBERS, compare.SIEVE])
def test_each_algorithm_finds_a_graph_of_a_small_table(algorithm, monkeypatch):
    monkeypatch.setattr(compare, "N", 5000)
    compare.table.cache_clear()
    configuration = {"network": "earthquake", "table": 0, "algorithm": algorithm, "epsilon": 3.0, "delta": 1e-3}
    result = compare.run(configuration, seed=0)
    compare.table.cache_clear()
    assert result["claimed"] > 3 if algorithm in compare.PUBLISHED else result["claimed"] == 3
    assert 0 <= result["f1"] <= 1
    assert 0 <= result["shd"] <= 10


@pytest.mark.slow
def test_the_numbers_of_edges_are_the_networks():
    assert compare.N_EDGES == {name: network(name).dag.sum() for name in compare.N_TABLES}


@pytest.mark.parametrize("claimed, expected", [(1.87, 1.8), (28.9, 28.0), (0.1999, 0.19), (333.1, 330.0), (3.0, 3.0)])
def test_claims_are_rounded_down_to_two_digits(claimed, expected):
    assert compare.claim_of({"claimed": (claimed, 0.1)}) == expected


def test_a_published_algorithm_is_beside_private_pc_at_no_more_than_its_claim():
    rows = list(rows_of_file())
    for name in compare.N_TABLES:
        pairs = list(compare.rivals(rows, name))
        assert len(pairs) == len(compare.PUBLISHED) * len(compare.STEPS)
        for rival, ours in pairs:
            assert ours["epsilon"] <= rival["claimed"][0]
            if rival["shd"][0] < ours["shd"][0]:  # then at the claim itself
                assert ours["epsilon"] > 0.9 * rival["claimed"][0]


@pytest.mark.slow
def test_the_report_is_that_of_the_results_and_the_page_shows_parts_of_it():
    text = report.markdown()
    assert pages.text_of("benchmarks/results/causal.md") == text
    assert all(line in text for line in compare.report(list(rows_of_file())))
    assert len(pages.shown_in(pages.text_of("docs/evidence/causal.md"), text)) == 2
