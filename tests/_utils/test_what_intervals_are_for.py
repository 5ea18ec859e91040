"""Whatever has intervals says in display, frame and plot what they are for; they are tested by ``tests/intervals``."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skdpmic import Codebook, DPMICScorer, private_evaluation, private_summary
from skdpmic.correlation import PrivateCorrelation
from skdpmic.plotting import ScoresDisplay
from tests.folding import each

pd = pytest.importorskip("pandas")
X = np.random.default_rng(0).random((400, 2))
Y = X[:, 0] > 0.5


RELEASES = {
    "the share without noise, of the same records, simultaneous for all": lambda: private_summary(
        pd.DataFrame(X, columns=["a", "b"]), Codebook({"a": (0, 1), "b": (0, 1)}), epsilon=1.0
    ),
    "the value without noise, for the same records, each by itself": lambda: private_evaluation(
        LogisticRegression().fit(X, Y), X, Y, epsilon=1.0, model_is_public=True
    ),
    "the noise-free correlation of these records, each by itself": lambda: PrivateCorrelation(epsilon=1.0).fit(X),
}


@each("what", RELEASES)
def test_a_display_and_a_frame_say_what_intervals_are_for(what):
    release = RELEASES[what]()
    assert f"for {what}<" in release._repr_html_()
    if hasattr(release, "to_frame"):
        assert release.to_frame().attrs["interval"] == f"95% interval for {what}"


NUMBERS, CLASSES = {"target_bounds": (0, 1)}, {"classes": [False, True]}


@each(
    "statistic, options, expected",
    [
        ("mtv_r", NUMBERS, " at the released target_shares_ and target_cut_"),
        ("mtv_r", CLASSES, " at the released target_shares_"),
        ("mtv_r", CLASSES | {"target_shares": [0.5, 0.5]}, ""),
        ("kendall", CLASSES | {"target_shares": [0.5, 0.5]}, ""),
        ("mic_r", NUMBERS, ""),
    ],
)
def test_the_display_the_frame_and_the_plot_say_what_the_interval_of_a_score_is_for(statistic, options, expected):
    pytest.importorskip("matplotlib")
    y = Y if "classes" in options else X[:, 0]
    released = DPMICScorer(statistic=statistic, epsilon=5.0, bounds=(0, 1), **options).fit(X, y)
    what = f"the noise-free score{expected}"
    assert released.to_frame().attrs["interval"] == f"95% interval for {what}"
    assert f"for {what}<" in released._release_as_html()
    plot = ScoresDisplay.from_estimator(released)
    assert plot.intervals_.get_label().replace("\n", " ") == f"95% interval for {what}"
