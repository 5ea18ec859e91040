"""Kept results and quick runs match the paper's figures within their Monte Carlo error.

Quick runs on real data need the paper's two files, which may not be redistributed. Where a median over data sets is
compared, "se" is its standard error from the order statistics. The tolerance is 4 of them, which a correct program
exceeds about once in 10,000 times, and half a unit of the paper's last digit.
"""

from itertools import product

import pytest

pytest.importorskip("matplotlib", reason="the benchmarks draw with matplotlib")
pytest.importorskip("pandas", reason="the benchmarks tabulate with pandas")
pytest.importorskip("tqdm", reason="the benchmarks show progress with tqdm")

import numpy as np
import pandas as pd

from benchmarks.paper import real_data, report, tables
from benchmarks.paper.tables import RESULTS
from benchmarks.store import completed
from benchmarks.tests import pages

pytestmark = pytest.mark.xdist_group("paper")  # else each worker would compute the tables


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("paper")


KEPT_AND_QUICK = ["kept", pytest.param("quick", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=KEPT_AND_QUICK)
def real(request, output):
    """The rows of tables.py."""
    if request.param == "kept":
        rows = pd.read_csv(RESULTS / "tables.csv")
    else:
        arguments = ["--quick", "--data", str(request.getfixturevalue("paper_data")), "--output", str(output)]
        rows = pd.DataFrame(tables.main(arguments))
    return rows.set_index(["epsilon", "collection", "mechanism", "measure"]).sort_index()


# --- Tables 1 and 3 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon, collection", list(product((1.0, 0.1), real_data.COLLECTIONS)))
def test_tables_1_and_3_are_reproduced_with_the_papers_noise(real, epsilon, collection):
    """Except for the numbers that benchmarks/paper/README.md lists."""
    differ = {(0.1, "Baseball", "MICr-Geom")}
    for mechanism in ("MICe-Lap", "MICr-Lap", "MICr-Geom"):
        row = real.loc[epsilon, collection, mechanism, "bias"]
        if not np.isnan(row.paper) and (epsilon, collection, mechanism) not in differ:
            assert abs(row.reproduced - row.paper) <= 0.005 + 4 * row.reproduced_se


@pytest.mark.parametrize(
    "collection, mechanism, unit",
    [
        ("Spellman23", "MICe-Lap", 0.01),
        ("Spellman23", "MICr-Lap", 0.01),
        ("Spellman23", "MICr-Geom", 0.01),
        ("Baseball", "MICr-Lap", 0.001),
        ("Baseball", "MICr-Geom", 0.001),
        ("Spellman4381", "MICr-Lap", 0.001),
    ],
)
def test_table_1_reproduces_the_papers_unsigned_errors(real, collection, mechanism, unit):
    row = real.loc[1.0, collection, mechanism, "error"]
    assert abs(row.reproduced - row.paper) <= unit / 2 + 4 * row.reproduced_se


@pytest.mark.parametrize(
    "epsilon, collection, limit",
    [(1.0, "Baseball", 0.033), (1.0, "Spellman4381", 0.011), (0.1, "Baseball", 0.19), (0.1, "Spellman4381", 0.032)],
)
def test_shipped_mic_r_lap_is_within_its_promised_error(real, epsilon, collection, limit):
    row = real.loc[epsilon, collection, "MICr-Lap", "error"]
    assert row.shipped <= limit + 2 * row.shipped_se


@pytest.mark.parametrize("mechanism", ["MICe-Lap", "MICr-Lap", "MICr-Geom"])
@pytest.mark.parametrize("collection", ["Spellman23", "Baseball", "Spellman4381"])
@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_every_shipped_mechanism_errs_less_than_the_published_one(real, epsilon, collection, mechanism):
    row = real.loc[epsilon, collection, mechanism, "error"]
    assert row.shipped < row.reproduced


# --- What the experiments are built on ----------------------------------------------------------------------------


def test_an_interrupted_run_resumes_where_it_stopped(tmp_path):
    path, computed = tmp_path / "raw.csv", []

    def compute(configuration, seed):
        computed.append(configuration["n"])
        return {"value": configuration["n"] + seed / 1e10}

    first = completed(path, [{"n": 1}, {"n": 2}], compute, "first")
    path.write_text(path.read_text() + "3,0.")  # cut off in the middle of a row
    again = completed(path, [{"n": 3}, {"n": 2}, {"n": 1}], compute, "again")
    assert computed == [1, 2, 3]
    assert again[:0:-1] == first


@pytest.mark.slow
def test_the_report_matches_the_results_and_the_page_shows_parts_of_it():
    text = report.markdown()
    assert pages.text_of("benchmarks/paper/results/report.md") == text
    assert len(pages.shown_in(pages.text_of("benchmarks/paper/README.md"), text)) == 2


@pytest.mark.slow
def test_the_scripts_read_files_in_the_format_of_the_paper(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(40, 24)).round(2)).to_csv(tmp_path / "Spellman.csv", index=False)
    pd.DataFrame(rng.random((50, 9)).round(2)).to_csv(tmp_path / "baseball.csv", index=False)
    for name in ("QUICK", "QUICK_HEADLINE", "QUICK_SIMULATED"):
        monkeypatch.setattr(real_data, name, dict.fromkeys(real_data.COLLECTIONS, 2))
    arguments = ["--quick", "--runs", "3", "--data", str(tmp_path), "--output", str(tmp_path)]
    rows = pd.DataFrame(tables.main(arguments))
    assert len(rows) == 2 * 3 * 3 * 3  # epsilon, collections, mechanisms, measures
    assert (rows.reproduced_data_sets == 2).all()
    assert rows[["reproduced", "shipped"]].notna().all(axis=None)


def test_missing_data_files_are_named(tmp_path):
    with pytest.raises(SystemExit, match=r"Spellman\.csv and baseball\.csv not found .* --data"):
        tables.main(["--quick", "--data", str(tmp_path), "--output", str(tmp_path)])
