"""Whatever the budget, a release is drawn, although the noise may not fit in an int64."""

import numpy as np
import pytest

from skdpmic import DPMICScorer, PrivateSelectKBest, private_bounds
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation, PrivateForwardSelector
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each

X = np.random.RandomState(0).random_sample((200, 5))
Y = X[:, 0]
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
DELTA = {"delta": 1e-6}
LABELS = {j: [0, 1, 2] for j in range(5)}


def reports():
    response = RandomizedResponse(epsilon=1, bounds=(0, 1))
    return response.to_arrow(response.fit_transform(X))


RELEASES = {
    "laplace": lambda epsilon: DPMICScorer(mechanism="laplace", epsilon=epsilon, **PUBLIC).fit(X, Y),
    "k-norm": lambda epsilon: DPMICScorer(mechanism="k-norm", epsilon=epsilon, **PUBLIC).fit(X, Y),
    "gaussian": lambda epsilon: DPMICScorer(mechanism="gaussian", epsilon=epsilon, **PUBLIC, **DELTA).fit(X, Y),
    "tables": lambda epsilon: DPMICScorer(statistic="mic_r", mechanism="geometric", epsilon=epsilon, **PUBLIC).fit(
        X, Y
    ),
    "names": lambda epsilon: PrivateSelectKBest(3, epsilon=epsilon, criterion="single", **PUBLIC).fit(X, Y),
    "joint": lambda epsilon: PrivateSelectKBest(3, epsilon=epsilon, criterion="joint", **PUBLIC).fit(X, Y),
    "joint with delta": lambda epsilon: PrivateSelectKBest(
        3, epsilon=epsilon, criterion="joint", **PUBLIC, **DELTA
    ).fit(X, Y),
    "bounds": lambda epsilon: private_bounds(X, epsilon=epsilon),
    "correlations": lambda epsilon: PrivateCorrelation(epsilon=epsilon, **DELTA).fit(X),
    "forward": lambda epsilon: PrivateForwardSelector(2, epsilon=epsilon, **DELTA).fit(X, Y),
    "causes": lambda epsilon: PrivatePC(epsilon=epsilon, categories=LABELS, **DELTA).fit((3 * X).astype(int)),
    "two parties": lambda epsilon: TwoPartyScorer(epsilon=epsilon, target_bounds=(0, 1)).fit(reports(), Y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
@each("epsilon", [1e-6, 1e-12, 1e-14, 1e-18, 1e-25])
def test_a_release_of_any_budget_is_drawn(release, epsilon):
    release(epsilon)
