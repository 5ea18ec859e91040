"""The page for auditors lists the sensitivity of every statistic, and each value matches the code."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from skdpmic.release.path import tables_squared_sensitivity
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.statistics.sensitivity import (
    kendall_matrix_squared_sensitivity,
    mic_e_sensitivity,
)
from skdpmic.table.records import Shape

THEORY = Path(__file__).parents[2] / "docs" / "theory"
PAGE = (THEORY / "all_sensitivities.md").read_text(encoding="utf-8")
SIX_DIGITS = 1e-5
SHAPES = [Shape(100, [(0.0, 1.0)]), Shape(10_000, [(0.0, 1.0)]), Shape(3000, [(0.0, 1.0)], 3)]


def rows():
    """The numbers in each row of the page, by the first cell of the row."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    return {cells[0]: [float(cell) for cell in cells if re.fullmatch(r"0[.][0-9]+", cell)] for cells in lines}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("n_classes", [None, 2])
def test_every_statistic_is_on_the_page_with_its_sensitivity(name, n_classes):
    measure = statistic_named(name, "miller-madow").measure("auto", "auto", 1000, 1.0, n_classes)
    measure = replace(measure, spends_on_target=True) if STATISTICS[name].spends_on_target(n_classes) else measure
    stated = rows()[f"`{name}`"]
    assert len(stated) == len(SHAPES)
    for shape, value in zip(SHAPES, stated, strict=True):
        assert measure.of_groups(shape.rows_per_group).sensitivity(shape) == pytest.approx(value, rel=SIX_DIGITS)


def test_sensitivities_of_pairs_are_on_the_page():
    for n, value in zip((100, 10_000), rows()["`mic_e` at B = n^0.6"], strict=True):
        assert mic_e_sensitivity(n, n**0.6) == pytest.approx(value, rel=SIX_DIGITS)
    assert len(rows()) == len(STATISTICS) + 2  # and nothing else


def test_mtv_r_with_nothing_known_of_the_target_is_on_the_page():
    measure = statistic_named("mtv_r", None).measure("auto", "auto", 1000, 1.0, None)
    for shape, value in zip(SHAPES, rows()["`mtv_r` of a pair"], strict=True):
        assert measure.of_groups(shape.rows_per_group).sensitivity(shape) == pytest.approx(value, rel=SIX_DIGITS)


@pytest.mark.parametrize("p, n, m", [(2, 10, 1), (5, 100, 1), (5, 300, 3)])
def test_sensitivities_of_matrices_and_tables_match_the_page(p, n, m):
    assert "4 ⌊p² / 4⌋ (m (n - m) + m (m - 1) / 2)²" in PAGE
    pairs = m * (n - m) + m * (m - 1) // 2
    assert kendall_matrix_squared_sensitivity(p, n, m) == 4 * (p * p // 4) * pairs**2
    assert "2 m² K" in PAGE
    assert tables_squared_sensitivity(p, m) == 2 * m * m * p


def test_every_row_names_a_proof_that_exists():
    proofs = re.findall(r"\]\((\w+[.]md)\)", PAGE)
    assert len(proofs) > 15
    assert all((THEORY / proof).exists() for proof in proofs)
