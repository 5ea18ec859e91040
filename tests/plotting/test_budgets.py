"""Curves show what `plan_release` states, bars what a ledger holds; drawing changes nothing."""

from pathlib import Path

import numpy as np
import pytest

from skdpmic import BudgetLedger, plan_release
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.plotting import LedgerDisplay, PlanDisplay
from skdpmic.privacy.composition import rho_for
from tests.plotting.shown import assert_readable, labels, legend
from tests.tables import refused

SIZES = [200, 1000, 5000]


def planned(release, statistic="mtv_r", **public):
    rows = [row for row in plan_release(**public) if (row.release, row.statistic) == (release, statistic)]
    return min(rows, key=lambda row: (row.n_samples, row.error))


@pytest.mark.slow
@pytest.mark.parametrize("show", ["error", "found"])
@pytest.mark.parametrize("release, public", [("names", {"n_classes": 2}), ("scores", {}), ("scores", {"delta": 1e-6})])
@pytest.mark.combinations
def test_each_curve_matches_the_plan(pyplot, release, public, show):
    public = public | {"n_features": 40, "k": 3}
    display = PlanDisplay.from_plan(**public, epsilons=(0.1, 2), n_samples=SIZES, release=release, show=show)
    for line, epsilon in zip(display.lines_, (0.1, 2), strict=True):
        rows = [planned(release, n_samples=n, epsilon=epsilon, **public) for n in SIZES]
        np.testing.assert_array_equal(line.get_xdata(), SIZES)
        np.testing.assert_array_equal(line.get_ydata(), [getattr(row, show) for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("usable", [None, 0.02])
def test_a_mark_shows_where_the_error_becomes_usable(pyplot, usable):
    public = {"n_features": 20, "k": 5, "show": "error"}
    display = PlanDisplay.from_plan(**public, epsilons=(0.1, 1), n_samples=[100, 100_000], usable=usable)
    error = usable or 0.1
    enough = [planned("names", error=error, epsilon=e, n_features=20, k=5).n_samples for e in (0.1, 1)]
    assert display.enough == enough
    assert [mark.get_xydata()[0].tolist() for mark in display.enough_] == [[n, error] for n in enough]
    texts = [f"ε = {e}: enough from n = {n:,}" for e, n in zip((0.1, 1), enough, strict=True)]
    assert [text for text in legend(display) if text.startswith("ε")] == texts
    assert display.usable_.get_extents().transformed(display.ax_.transData.inverted()).y1 == pytest.approx(error)


def test_the_error_axis_ends_at_1_and_curves_differ_by_more_than_colour(pyplot):
    public = {"n_features": 20, "k": 5, "show": "error"}
    display = PlanDisplay.from_plan(**public, epsilons=(0.01, 0.1, 1, 3), n_samples=[10, 1000])
    assert display.values.max() > 1 == display.ax_.get_ylim()[1]
    for style in ("get_linestyle", "get_marker", "get_color"):
        assert len({getattr(line, style)() for line in display.lines_}) == 4


def test_a_mark_shows_where_enough_is_found(pyplot):
    display = PlanDisplay.from_plan(n_features=100, k=5, epsilons=(1e-8, 30), n_samples=SIZES)
    public = {"n_features": 100, "k": 5, "found": 0.8}
    n = next(row.n_samples for row in plan_release(**public, epsilon=30) if row[:3] == ("names", "one-shot", "mtv_r"))
    assert display.enough == [None, n]
    assert np.isnan(display.enough_[0].get_xdata()).all()
    assert "enough" not in display.lines_[0].get_label()
    assert f"ε = 30: enough from n = {n:,}" in legend(display)
    y0, y1 = display.usable_.get_extents().transformed(display.ax_.transData.inverted()).intervaly
    assert y0 == pytest.approx(0.8)
    assert y1 >= 1


@pytest.mark.slow
def test_defaults_match_a_selector_and_range_from_a_hundred_to_a_million_records(pyplot):
    display = PlanDisplay.from_plan(n_features=5, k=2, epsilons=[1])
    assert display.title == "mtv_r, best 2 of 5 features"
    assert (display.n_samples.min(), display.n_samples.max(), len(display.n_samples)) == (100, 1_000_000, 25)


def test_people_are_planned_for(pyplot):
    groups = {"epsilons": [1], "n_samples": SIZES, "n_features": 5}
    display = PlanDisplay.from_plan(**groups, max_rows_per_group=3)
    assert (display.values[0] >= PlanDisplay.from_plan(**groups).values[0]).all()
    assert PlanDisplay.from_plan(**groups, max_rows_per_group=3, show="found", k=2).values[0].max() > 0.5
    assert display.title == "mtv_r, scores of 5 features"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"statistic": "pearson"}, "statistic must be one of 'mic_r', .*got 'pearson'"),
        ({"statistic": "kendall", "n_classes": 3}, "statistic must have a plan that shows error .* got 'kendall'"),
        ({"release": "all"}, "release must be 'scores' or 'names', got 'all'"),
        ({"release": "names"}, "k must be given"),
        ({"show": "found"}, "k must be given"),
        ({"show": "noise"}, "show must be 'error' or 'found', got 'noise'"),
        ({"usable": 0}, r"usable must be a number in \[1e-06, 1\], and a share below 1, got 0"),
        ({"usable": 1.0, "show": "found", "k": 2}, r"and a share below 1, got 1.0"),
        ({"epsilons": [1, -1]}, "epsilon must be a number > 0"),
        ({"epsilons": [np.inf]}, "epsilon must be finite"),
        ({"n_samples": [100.5]}, "n_samples must be an int >= 4, got 100.5"),
        ({"n_samples": [3]}, "n_samples must be an int >= 4, got 3"),
        ({"k": 6}, "k must be at most n_features=5, got 6"),
    ],
)
def test_what_cannot_be_planned_is_refused(pyplot, options, message):
    with refused(ValueError, message):
        PlanDisplay.from_plan(**{"n_features": 5, "epsilons": [1], "n_samples": SIZES} | options)
    assert not pyplot.get_fignums()


# --- Ledgers ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def charged(tmp_path):
    ledger = BudgetLedger(tmp_path / "charged", epsilon=1.0)
    for what, epsilon in (("means", 0.1), ("$x_{ & <b>Größe</b>\n" + "long " * 20, 0.25), ("means", 0.3)):
        ledger.charge(what, epsilon)
    return ledger


def bars(display):
    return np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_])


def costs(display):
    return [text.get_text().strip() for text in display.ax_.texts]


def test_each_bar_extends_from_the_total_before_its_entry_to_the_total_after(pyplot, charged):
    content = Path(charged.path).read_bytes()
    display = LedgerDisplay.from_ledger(charged)
    np.testing.assert_allclose(bars(display), [(0, 0.1), (0.1, 0.35), (0.35, 0.65)])
    assert costs(display) == ["ε = 0.1", "ε = 0.25", "ε = 0.3"]
    assert labels(display)[::2] == ["means", "means"]
    assert len(labels(display)[1].replace(r"\$", "$")) == 58  # beside the cost
    assert labels(display)[1].startswith(r"\$x_{ & <b>Größe</b> long long")
    assert display.ax_.get_title() == "ε = 0.65 of 1 per record spent"
    assert display.limit_.get_xdata() == [1.0, 1.0]
    assert display.ax_.get_xlim()[1] > 1
    display.figure_.canvas.draw()
    assert Path(charged.path).read_bytes() == content


def test_the_title_and_the_costs_name_the_unit_of_privacy(pyplot, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", 9.0, max_rows_per_person=5)
    ledger.charge("rows", 1.0)
    ledger.charge("people", 0.5, unit="person")
    display = LedgerDisplay.from_ledger(ledger)
    assert [bar.get_width() for bar in display.bars_] == [5.0, 0.5]
    assert costs(display) == ["ε = 1 per record", "ε = 0.5"]  # the axis is per person
    assert display.ax_.get_title() == "ε = 5.5 of 9 per person spent"


def test_a_label_says_who_spent_budget_and_on_the_next_line_on_what(pyplot, charged):
    released = {"statistic": "mtv_r", "release": "names", "mechanism": "one-shot"}
    charged.for_purpose("$ report").charge_entry(LedgerEntry("DPMICSelector", 0.1, n=500, d=100, k=5, **released))
    text = "\\$ report: DPMICSelector\nmtv_r, names of 5 of 100, one-shot"
    assert labels(LedgerDisplay.from_ledger(charged))[-1] == text


def test_older_entries_share_a_bar(pyplot, charged):
    display = LedgerDisplay.from_ledger(charged, max_entries=1)
    np.testing.assert_allclose(bars(display), [(0, 0.35), (0.35, 0.65)])
    assert labels(display) == ["2 earlier", "means"]
    assert costs(display) == ["", "ε = 0.3"]
    assert len(LedgerDisplay.from_ledger(charged, max_entries=3).bars_) == 3


def test_with_zcdp_costs_add_up_to_less_and_delta_is_shown(pyplot, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=3.0, delta=1e-5)
    for _ in range(6):
        ledger.charge("matrix", 0.5, 1e-6, rho=rho_for(0.5, 1e-6))
    display = LedgerDisplay.from_ledger(ledger)
    np.testing.assert_allclose(bars(display)[-1, 1], ledger.spent()[0])
    assert ledger.spent()[0] < 6 * 0.5
    assert (np.diff(bars(display)[:, 1]) > 0).all()
    assert costs(display) == ["ε = 0.5, δ = 1e-06"] * 6
    assert display.ax_.get_title().endswith("of 3 per record spent, δ = 1e-05 of 1e-05")


def long_ledger(path, composition):
    """Thirty entries of five kinds with a delta, a purpose that is long, or both."""
    ledger = BudgetLedger(path, 3.0, 1e-5, composition=composition, max_rows_per_person=2)
    scores = {"statistic": "mtv_r", "release": "scores", "mechanism": "gaussian", "epsilon_of_target": 0.0225}
    noisy = {"delta": 1e-7, "rho": rho_for(0.05, 1e-7)}
    kinds = [
        LedgerEntry("private_summary", 0.03, d=31, release="summary", mechanism="laplace"),
        LedgerEntry("DPMICSelector", 0.05, d=30, **noisy, **scores),
        LedgerEntry("PrivateAdditiveClassifier", 0.05, d=30, release="tables", mechanism="gaussian", **noisy),
        LedgerEntry("PrivateSelectKBest", 0.04, d=1000, k=15, **scores, unit="person"),
        LedgerEntry("means by age and ward, another library", 0.001),
    ]
    for i in range(30):
        purpose = ["teaching", "Dr Meyer: a pilot study on readmission, second revision of the paper"][i % 2]
        (ledger if i % 3 == 0 else ledger.for_purpose(purpose)).charge_entry(kinds[i % 5])
    return ledger


@pytest.mark.parametrize("composition", ["basic", "zcdp"])
def test_thirty_entries_with_delta_and_purposes_are_readable(pyplot, tmp_path, composition):
    """Also the costs, which end before the limit, and those that are hardly anything."""
    display = LedgerDisplay.from_ledger(long_ledger(tmp_path / "ledger", composition), max_entries=30)
    assert len(display.bars_) == 30
    assert_readable(display)
    limit = display.ax_.transData.transform((display.epsilon, 0))[0]
    assert all(cost.get_window_extent().x1 <= limit for cost in display.ax_.texts)
    for label, cost, bar in zip(display.ax_.get_yticklabels(), display.ax_.texts, display.bars_, strict=True):
        box = bar.get_window_extent()
        assert label.get_window_extent().y0 >= box.y1 - 1 <= cost.get_window_extent().y0 + 1  # above its bar
        assert box.width + bar.get_linewidth() >= 1
    assert "Dr Meyer: a pilot study on readm" in labels(display)[1]
    assert labels(display)[1].split("\n")[0].endswith("…: DPMICSelector")  # of a long purpose, the end is left out
    wide = (display.ax_.get_window_extent().width, display.figure_.bbox.width)
    assert wide[0] > 0.9 * wide[1]  # bars have the whole width


def test_an_empty_ledger_shows_its_limit(pyplot, tmp_path):
    display = LedgerDisplay.from_ledger(BudgetLedger(tmp_path / "ledger", epsilon=0.5))
    display.figure_.canvas.draw()
    assert display.ax_.get_title() == "ε = 0 of 0.5 spent"
    assert 0.5 in display.limit_.get_xdata()


def test_other_ledgers_are_refused(pyplot, charged):
    with refused(ValueError, "max_entries must be an int >= 1, got 0"):
        LedgerDisplay.from_ledger(charged, max_entries=0)
    with refused(TypeError, "ledger must be a BudgetLedger, got str"):
        LedgerDisplay.from_ledger("ledger.db")
    assert not pyplot.get_fignums()


def test_history_holds_the_total_spent_after_each_entry(tmp_path):
    ledger, spent = BudgetLedger(tmp_path / "ledger", epsilon=2.0, delta=1e-5), []
    for i in range(8):
        ledger.charge("a fit", 0.2, 1e-6 * (i > 3), rho=rho_for(0.2, 1e-6) if i > 3 else None)
        spent.append(ledger.spent())
    assert ledger.history() == (ledger.entries(), spent)
