"""Bars and curves show what a ledger holds, and drawing does not change it."""

from datetime import datetime

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.correlation import PrivateCorrelation
from skdpmic.plotting import LedgerDisplay
from skdpmic.privacy.composition import rho_for
from tests.plotting.shown import labels


@pytest.fixture
def ledger(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=1.0)
    for what, epsilon in (("means", 0.1), ("$x_{ & <b>Größe</b>\n" + "long " * 20, 0.25), ("means", 0.3)):
        ledger.charge(what, epsilon)
    return ledger


def bars(display):
    return np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_])


def costs(display):
    return [text.get_text() for text in display.ax_.texts]


def test_each_bar_extends_from_the_total_before_its_entry_to_the_total_after(pyplot, ledger):
    display = LedgerDisplay.from_ledger(ledger)
    np.testing.assert_allclose(bars(display), [(0, 0.1), (0.1, 0.35), (0.35, 0.65)])
    assert costs(display) == ["ε = 0.1 per record", "ε = 0.25 per record", "ε = 0.3 per record"]
    assert labels(display)[::2] == ["means", "means"]
    assert len(labels(display)[1].replace(r"\$", "$")) == 44
    assert labels(display)[1].startswith(r"\$x_{ & <b>Größe</b>\nlong long")
    assert display.ax_.get_title() == "ε = 0.65 of 1 per record spent"
    assert display.limit_.get_xdata() == [1.0, 1.0]
    assert display.ax_.get_xlim()[1] > 1
    display.figure_.canvas.draw()


def test_the_title_and_the_costs_name_the_unit_of_privacy(pyplot, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", 9.0, max_rows_per_person=5)
    ledger.charge("rows", 1.0)
    ledger.charge("people", 0.5, unit="person")
    display = LedgerDisplay.from_ledger(ledger)
    assert [bar.get_width() for bar in display.bars_] == [5.0, 0.5]
    assert costs(display) == ["ε = 1 per record", "ε = 0.5 per person"]
    assert display.ax_.get_title() == "ε = 5.5 of 9 per person spent"


def test_a_label_says_who_spent_budget_and_on_the_next_line_on_what(pyplot, ledger):
    released = {"statistic": "mtv_r", "release": "names", "mechanism": "one-shot"}
    ledger.for_purpose("$ report").charge_entry(LedgerEntry("DPMICSelector", 0.1, n=500, d=100, k=5, **released))
    assert labels(LedgerDisplay.from_ledger(ledger))[-1] == (
        "\\$ report: DPMICSelector\nmtv_r, names of 5 of 100, one-shot"
    )


def test_over_time_the_curve_rises_at_each_entry(pyplot, ledger):
    display = LedgerDisplay.from_ledger(ledger, by="time")
    times = [datetime.fromisoformat(entry.when) for entry in ledger.entries()]
    assert list(display.line_.get_xdata()) == times
    np.testing.assert_allclose(display.line_.get_ydata(), [0.1, 0.35, 0.65])
    assert display.line_.get_drawstyle() == "steps-post"
    assert display.limit_.get_ydata() == [1.0, 1.0]
    assert display.bars_ is None
    assert display.plot().line_ is None


def test_older_entries_share_a_bar(pyplot, ledger):
    display = LedgerDisplay.from_ledger(ledger, max_entries=1)
    np.testing.assert_allclose(bars(display), [(0, 0.35), (0.35, 0.65)])
    assert labels(display) == ["2 earlier", "means"]
    assert costs(display) == ["", "ε = 0.3 per record"]
    assert len(LedgerDisplay.from_ledger(ledger, max_entries=3).bars_) == 3


def test_with_zcdp_costs_add_up_to_less_and_delta_is_shown(pyplot, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=3.0, delta=1e-5)
    for _ in range(6):
        ledger.charge("matrix", 0.5, 1e-6, rho=rho_for(0.5, 1e-6))
    display = LedgerDisplay.from_ledger(ledger)
    np.testing.assert_allclose(bars(display)[-1, 1], ledger.spent()[0])
    assert ledger.spent()[0] < 6 * 0.5
    assert (np.diff(bars(display)[:, 1]) > 0).all()
    assert costs(display) == ["ε = 0.5, δ = 1e-06 per record"] * 6
    assert display.ax_.get_title().endswith("of 3 per record spent, δ = 1e-05 of 1e-05")


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_history_holds_the_total_spent_after_each_entry(tmp_path, delta):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=2.0, delta=delta)
    spent = []
    for i in range(8):
        ledger.charge("a fit", 0.2, delta / 10 * (i > 3), rho=rho_for(0.2, delta / 10) if i > 3 and delta else None)
        spent.append(ledger.spent())
    assert ledger.history() == (ledger.entries(), spent)


@pytest.mark.parametrize("by", ["entry", "time"])
def test_an_empty_ledger_shows_its_limit(pyplot, tmp_path, by):
    display = LedgerDisplay.from_ledger(BudgetLedger(tmp_path / "ledger", epsilon=0.5), by=by)
    display.figure_.canvas.draw()
    assert display.ax_.get_title() == "ε = 0 of 0.5 spent"
    assert 0.5 in (display.limit_.get_xdata() if by == "entry" else display.limit_.get_ydata())


@pytest.mark.slow
@pytest.mark.parametrize("by", ["entry", "time"])
def test_many_entries_are_drawn(pyplot, tmp_path, by):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=100.0)
    for i in range(60):
        ledger.charge(f"fit {i}", 0.5)
    display = LedgerDisplay.from_ledger(ledger, by=by)
    display.figure_.canvas.draw()
    if by == "entry":
        assert len(display.bars_) == 21
        assert labels(display)[0] == "40 earlier"
        np.testing.assert_allclose(bars(display)[-1], (29.5, 30))


def test_drawing_changes_neither_the_file_nor_its_entries(pyplot, ledger):
    path, before = ledger.path, ledger.entries()
    with open(path, "rb") as file:
        content = file.read()
    for by in ("entry", "time"):
        LedgerDisplay.from_ledger(ledger, by=by)
    with open(path, "rb") as file:
        assert file.read() == content
    assert ledger.entries() == before


def test_refused_charges_are_not_shown(pyplot, ledger):
    with pytest.raises(BudgetError):
        PrivateCorrelation(epsilon=0.9, delta=1e-6, ledger=ledger).fit(np.random.default_rng(0).random((50, 2)))
    assert len(LedgerDisplay.from_ledger(ledger).bars_) == 3


def test_the_display_is_drawn_on_given_axes(pyplot, ledger):
    _, (left, right) = pyplot.subplots(1, 2)
    display = LedgerDisplay.from_ledger(ledger, ax=left)
    assert display.ax_ is left
    assert display.plot(right) is display
    assert right.get_legend() is not None


@pytest.mark.parametrize(
    "options, message",
    [
        ({"by": "day"}, "by must be 'entry' or 'time', got 'day'"),
        ({"max_entries": 0}, "max_entries must be an int >= 1, got 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(pyplot, ledger, options, message):
    with pytest.raises(ValueError, match=message):
        LedgerDisplay.from_ledger(ledger, **options)
    with pytest.raises(TypeError, match="ledger must be a BudgetLedger, got str"):
        LedgerDisplay.from_ledger("ledger.db")
    assert not pyplot.get_fignums()
