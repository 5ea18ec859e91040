"""What features add by chance to one that they are compared with: public numbers, that fall as it tells more."""

import numpy as np
import pytest

from skdpmic.statistics.chance import chance_added
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import Nominal
from skdpmic.table.records import Shape
from skdpmic.table.targets import ClassTarget, NumericTarget

UNIT = (0.0, 1.0)
KINDS = [UNIT, Nominal(2), Nominal(20), Nominal(100)]
N = 1000


def measure(shares=(0.5, 0.5), n_classes=None):
    return (
        statistic_named("mtv_r", "miller-madow").measure("auto", "auto", N, 1.0, n_classes).with_target_shares(shares)
    )


def added(given, alone, of=None, domains=KINDS):
    return chance_added(of or measure(), Shape(N, list(domains)), given, alone, range(len(domains)))


@pytest.mark.few
@pytest.mark.parametrize("given", range(4))
def test_less_is_added_to_a_feature_that_tells_more(given):
    none, little, much = (added(given, alone) for alone in (0.0, 0.2, 0.9))
    assert (none >= little).all()
    assert (little >= much - 0.002).all()
    assert np.ptp(none) > 0.02
    assert much.max() < 0.03


def test_noise_may_put_what_it_tells_below_nothing():
    np.testing.assert_array_equal(added(1, -0.7), added(1, 0.0))


def test_it_decides_nothing_among_features_of_one_kind():
    assert added(0, 0.1, domains=[UNIT] * 3).tolist() == [0, 0, 0]


def test_a_rare_class_leaves_less_to_chance():
    rare, even = (added(1, 0.0, measure(shares, 2)) for shares in ((0.95, 0.05), (0.5, 0.5)))
    assert (rare[[0, 2, 3]] < 0.6 * even[[0, 2, 3]]).all()


@pytest.mark.parametrize("n_classes", [None, 2])
def test_an_unrelated_feature_adds_about_that_much(n_classes):
    """Twenty tables of labels that tell nothing: a standard error of about 0.005."""
    random, given, differences = np.random.default_rng(0), 1, []
    of = measure((0.5, 0.5), n_classes)
    for _ in range(20):
        y, s = random.random(N), random.integers(2, size=N).astype(np.uint32)
        target = NumericTarget(y, UNIT) if n_classes is None else ClassTarget((2 * y).astype(np.int64), 2)
        scorer = of.scorer_beside(target, s, KINDS[given])
        code = random.integers(100, size=N).astype(np.uint32)
        differences.append(scorer.score(code, KINDS[3]) - scorer.score(s, KINDS[given]))
    assert added(given, 0.0, of)[3] == pytest.approx(np.mean(differences), abs=0.02)
