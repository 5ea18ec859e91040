"""Features that are scored together have the same scores as alone, bit for bit."""

import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import _VALUES_AT_ONCE, ClassTargetScorer, NumericTargetScorer
from skdpmic.table.domains import Nominal

UNIT = (0.0, 1.0)


def features(n, rng):
    """Numbers that are spread, tied, constant, related to others, out of range, or partly or all missing."""
    x = rng.random((20, n))
    x[1], x[2], x[3], x[4] = np.round(3 * x[1]) / 3, 0.3, (x[0] - 0.5) ** 2, 4 * x[4] - 2
    x[5][rng.random(n) < 0.4], x[12] = np.nan, np.nan
    return x


def targets(n, rng, B, c, correction):
    yield NumericTargetScorer(rng.random(n), UNIT, B, c, correction=correction)
    yield NumericTargetScorer(np.round(rng.random(n), 1), UNIT, B, c, correction=correction)
    for n_classes in (2, 3, 7):
        yield ClassTargetScorer(rng.integers(n_classes, size=n), n_classes, B, c, correction)


@pytest.mark.parametrize("n", [4, 50, 1000, _VALUES_AT_ONCE + 1])
@pytest.mark.parametrize("B, c, correction", [(9.0, 1.5, None), (121.0, 5.0, "miller-madow"), (60.0, 4.0, None)])
def test_features_that_are_scored_together_score_as_alone(n, B, c, correction):
    rng = np.random.default_rng(n)
    X = features(n, rng)
    for target in targets(n, rng, B, c, correction):
        alone = [target.score(x, UNIT) for x in X]
        assert target.score_block(X, [UNIT] * len(X)) == alone
        assert target.score_block(list(X[::-1]), [UNIT] * len(X)) == alone[::-1]
        assert target.score_block(X[12:13], [UNIT]) == alone[12:13]


def test_features_of_several_domains_score_as_alone():
    rng = np.random.default_rng(0)
    X, domains = (
        [*rng.random((3, 100)), rng.integers(5, size=100).astype(np.uint32)],
        [UNIT, (0.0, 2.0), UNIT, Nominal(3)],
    )
    for target in targets(100, rng, 24.0, 3.0, "miller-madow"):
        assert target.score_block(X, domains) == [target.score(x, domain) for x, domain in zip(X, domains, strict=True)]
