"""p-values of MTVr where the target's shares were learnt with noise: docs/theory/learnt_margin.md, "p-values"."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln

from skdpmic import DPMICScorer, DPMICSelector
from skdpmic.statistics.mtv import statistic as null_law
from skdpmic.statistics.mtv.family import UNITS, Family, Side, TargetShares
from skdpmic.statistics.mtv.statistic import _families_of
from skdpmic.statistics.null_laws import log_division_tail
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import Nominal
from skdpmic.table.values import ClassTarget
from tests.folding import each
from tests.privacy.laws import discrete_laplace_cdf
from tests.statistics.null_laws.test_tails import all_tables, exact_tail

UNIT = (0.0, 1.0)
X_VALUES = {"numbers": (np.array([0.1, 0.9]), UNIT), "labels": (np.array([0, 1], np.uint32), Nominal(2))}


def noise_distribution(scale, reach):
    z = np.arange(-reach, reach + 1)
    return z, np.diff(discrete_laplace_cdf(np.arange(-reach - 1, reach + 1), scale))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "labels"])
@pytest.mark.parametrize("q", [0.5, 0.1])
@pytest.mark.parametrize("scale", [1, 3])
def test_no_exact_tail_of_scores_with_noisy_shares_exceeds_the_bound(kind, q, scale):
    """All tables of 6 records with two values of x and two classes, and all noise more likely than 1e-9."""
    n, (values, kind_of_x) = 6, X_VALUES[kind]
    measure = replace(statistic_named("mtv_r", None).measure(4.0, 1.0, n, 1.0, 2), spends_on_target=True)
    tables, (noise, weights) = all_tables(n, 2, 2), noise_distribution(scale, 20 * scale)
    log_ways = gammaln(n + 1) - gammaln(tables + 1).sum(axis=(1, 2))
    for p in (0.5, 0.2):
        chances = np.exp(log_ways + (tables * np.log(np.outer([p, 1 - p], [q, 1 - q]))).sum(axis=(1, 2)))
        scores, probabilities = [], []
        for table, chance in zip(tables, chances, strict=True):
            x, y = np.repeat(values, table.sum(axis=1)), np.repeat([0, 1, 0, 1], table.ravel())
            for z, weight in zip(noise.tolist(), weights, strict=True):
                share = Fraction(int(table[:, 0].sum()) + z, n)
                learnt = replace(measure, target_shares=TargetShares((1, 2), (share, 1 - share), Fraction(scale), n))
                scores.append(learnt.scorer(ClassTarget(y, 2), None).score(x, kind_of_x))
                probabilities.append(chance * weight)
        law = learnt.null_law(n, kind_of_x)
        least, exact = exact_tail(np.array(scores) - 1e-12, np.array(probabilities))
        assert exact[0] == pytest.approx(1, abs=1e-6)
        assert (law.p_values(np.maximum(least, 0), None) >= exact - 1e-9).all()


@each("n_noisy", [1, 2, 5])
@each("scale", [0.3, 4.0])
def test_the_tail_of_the_noise_in_a_share_is_bounded(n_noisy, scale):
    n, reach = 50, 400
    family = Family(2, 2, (Side((0, 1), 2, 2.0, (UNITS // 2, UNITS // 2), n_noisy),), share_error=scale / n)
    _, law = noise_distribution(scale, reach)
    of_sum = law
    for _ in range(n_noisy - 1):
        of_sum = np.convolve(of_sum, law)
    z = np.abs(np.arange(len(of_sum)) - len(of_sum) // 2)
    ends = np.arange(0, 3 * n + 1)
    exact = np.array([of_sum[z >= end].sum() for end in ends])
    bound = np.exp(null_law._log_tail_of_error(ends / n, n, n_noisy, family))
    assert (bound >= exact - 1e-12).all()
    far = (exact > 1e-12) & (ends > 3 * scale * n_noisy + 1)
    assert scale < 1 or (bound[far] <= 5 * exact[far] ** 0.7).all()  # and is not vacuous


def test_the_tail_with_a_noisy_share_is_at_most_twice_a_fine_sum():
    """A sum over many small intervals of the noise."""
    n, scale = 400, 8.0
    family = Family(2, 2, (Side((0, 1), 2, 2.0, (UNITS // 2, UNITS // 2), 1),), share_error=scale / n)

    def log_tail(tv):
        return np.minimum(math.log(2) + log_division_tail(tv, n), 0.0)

    for tv in (0.05, 0.15, 0.3):
        bound = np.exp(null_law._with_noisy_share(log_tail, np.array([tv]), n=n, n_noisy=1, family=family))[0]
        ends = np.linspace(0, tv, 20_001)
        exceeds = np.exp(null_law._log_tail_of_error(ends, n, 1, family))
        fine = -(np.diff(exceeds) * np.exp(log_tail(tv - ends[1:]))).sum() + exceeds[-1]
        assert fine <= bound <= 2 * fine


def test_the_bound_does_not_depend_on_the_released_shares():
    measure = replace(statistic_named("mtv_r", None).measure("auto", "auto", 500, 1.0, 3), spends_on_target=True)
    laws = []
    for shares in ((0.2, 0.3, 0.5), (0.6, 0.3, 0.1)):
        margin = TargetShares((1, 2, 3), tuple(map(Fraction, shares)), Fraction(20), 500)
        laws.append(replace(measure, target_shares=margin).null_law(500, UNIT))
    assert laws[0] is laws[1]


def test_the_divisor_is_the_smallest_possible_whatever_share_was_released():
    """It is that of a half; no two groups have a smaller divisor."""
    measure = replace(statistic_named("mtv_r", None).measure("auto", "auto", 500, 1.0, 3), spends_on_target=True)
    margin = TargetShares((1, 2, 3), (Fraction(1, 3),) * 3, Fraction(20), 500)
    grids = list(null_law._merges(500, _families_of(replace(measure, target_shares=margin))[0]))
    assert [of_side.slope for of_side in grids] == [0.5] * len(grids)


def test_discoveries_allow_for_the_error_that_all_scores_share(monkeypatch):
    """At 0.2, Benjamini-Hochberg would keep the smallest of ten p-values, .012; Benjamini-Yekutieli does not."""
    X, y = np.random.default_rng(0).random((100, 10)), np.arange(100) % 2
    kept = {}
    for statistic in ("mtv_r", "mic_r"):
        selector = DPMICSelector(statistic=statistic, fdr=0.2, bounds=(0, 1), classes=[0, 1]).fit(X, y)
        monkeypatch.setattr(selector, "p_values", lambda: np.array([0.012] + [0.5] * 9))
        kept[statistic] = selector.get_support().sum()
    assert kept == {"mtv_r": 0, "mic_r": 1}


def test_p_values_are_unavailable_with_shares_given_by_the_user():
    X, y = np.random.default_rng(0).random((100, 2)), np.arange(100) % 2
    scorer = DPMICScorer(statistic="mtv_r", bounds=(0, 1), classes=[0, 1], target_shares=[0.5, 0.5]).fit(X, y)
    with pytest.raises(AttributeError, match="which is unknown for target_shares"):
        scorer.p_values()


@pytest.mark.slow
@each("n_classes", [2, 3, 4])
@each("n_labels", [None, 2, 5])
def test_no_released_class_shares_require_less_of_a_score_than_the_bound_assumes(n_classes, n_labels):
    """The rarer a class, the smaller the offset and the larger the divisor; no shares undercut the bound."""
    n, scores, rng = 400, np.linspace(0, 1, 101), np.random.default_rng(0)
    measure = replace(statistic_named("mtv_r", None).measure("auto", 4, n, 1.0, n_classes), spends_on_target=True)

    def required(shares, *, of_any=False):
        known = replace(measure, target_shares=TargetShares(tuple(range(1, n_classes + 1)), shares, Fraction(9), n))
        family = known._family.sized_by_shares(0.5) if of_any else known._family
        make = null_law._merges(n, family) if n_labels is None else null_law._label_grids(n, n_labels, family)
        return family, list(make)

    equal = (Fraction(1, n_classes),) * n_classes
    _, of_any_shares = required(equal, of_any=True)
    strict = 0
    for _ in range(30):
        drawn = rng.dirichlet(np.full(n_classes, 0.5))
        family, grids = required(tuple(Fraction(int(2**40 * share), 2**40) for share in drawn))
        divisors = (float(family.normaliser(side, 2)) for side in family.sides if side.n_groups == 2)
        for bound, of_one in zip(of_any_shares, grids, strict=True):
            needed = (next(divisors) if bound.least < math.inf else of_one.slope) * scores + of_one.offset
            assert (bound.needed(scores) <= needed + 1e-12).all()
            strict += bool((bound.slope * scores + bound.offset > needed + 1e-9).any())
    assert strict > 0 or n_labels == 2  # with one end alone, the bound would not hold
