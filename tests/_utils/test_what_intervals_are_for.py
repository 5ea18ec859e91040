"""Whatever has intervals says in its display, and in its frame, what they are for; scores: test_coverage.py."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skdpmic import Codebook, private_evaluation, private_summary
from skdpmic.correlation import PrivateCorrelation
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
