"""What all displays have in common."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from skdpmic import plotting
from skdpmic.plotting import (
    EffectsDisplay,
    EvaluationDisplay,
    GapsDisplay,
    GraphDisplay,
    LedgerDisplay,
    PlanDisplay,
    ScoresDisplay,
    SummaryDisplay,
)
from skdpmic.release.summary import ColumnShares
from skdpmic.release.summary_cells import SummaryCells
from skdpmic.table.domains import Range

DISPLAYS = [
    EffectsDisplay([-0.1, 0.2, 0.0], edges=[0, 10, 20]),
    EvaluationDisplay([0, 0.2, 1], [0, 0.8, 1]),
    GapsDisplay([0.3, 0.1], noise_margin=0.2),
    GraphDisplay(np.eye(3, k=1)),
    LedgerDisplay([], [], epsilon=1.0),
    PlanDisplay([100, 1000], [1.0], [[0.5, 0.05]]),
    ScoresDisplay([0.1, 0.2], chosen=[True, False]),
    SummaryDisplay(
        [ColumnShares("age", SummaryCells(Range(0, 110)), np.zeros(3), np.full(11, 1 / 11), 0.01, 0.02, [])]
    ),
]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: type(display).__name__)
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, display):
    monkeypatch.setitem(sys.modules, "matplotlib", SimpleNamespace())
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=f"{type(display).__name__} requires matplotlib: pip install matplotlib"):
        display.plot()


@pytest.mark.few
@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: type(display).__name__)
def test_plain_data_is_drawn_and_plot_returns_the_display(pyplot, display):
    assert display.plot() is display
    display.figure_.canvas.draw()
    own = display.ax_
    _, ax = pyplot.subplots()
    assert display.plot(ax).ax_ is ax is not own
    assert display.figure_ is ax.figure


def test_all_displays_are_tested_here():
    assert sorted(plotting.__all__) == [type(display).__name__ for display in DISPLAYS]
