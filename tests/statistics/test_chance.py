"""The chance score of a kind of feature depends on public numbers only, and is what independent data score."""

from dataclasses import replace

import numpy as np
import pytest

from skdpmic.statistics import chance
from skdpmic.statistics.chance import ChanceScores, chance_added, chance_score
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import UNIT, Integers, Nominal, Whole, kind_of
from skdpmic.table.records import Shape
from skdpmic.table.values import ClassTarget, NumericTarget


def measure(statistic, n, n_classes):
    return statistic_named(statistic, "miller-madow").measure("auto", "auto", n, 1.0, n_classes)


def independent(n, n_classes, scale, shares, rng):
    """A feature, and a target with these shares of the classes, drawn in another way than by `chance_score`."""
    if n_classes is None:
        target = NumericTarget(rng.uniform(-3, 5, size=n), (-3.0, 5.0))
    else:
        target = ClassTarget(rng.choice(n_classes, size=n, p=shares), n_classes)
    if isinstance(scale, Nominal):
        return target, rng.integers(scale.n_labels, size=n).astype(np.uint32)
    integers = np.arange(scale.lower + 0.5, scale.upper) if isinstance(scale, Whole) else []
    return target, rng.choice(integers, n) if len(integers) else rng.random(n)


def mean_of_independent(its_measure, scale, n, n_draws, shares=None):
    """The mean score of independent data, and four standard errors of its difference to a mean of 24 draws."""
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(n_draws):
        target, x = independent(n, its_measure.n_classes, scale, shares, rng)
        scores.append(its_measure.with_shares_of(target).scorer(target, None).score(x, scale))
    return np.mean(scores), 4 * np.std(scores) * np.sqrt(1 / n_draws + 1 / 24)


@pytest.mark.parametrize("scale", [UNIT, Nominal(2), Nominal(10), Integers(0, 1).encoded, Integers(-3, 17).encoded])
@pytest.mark.parametrize("n_classes", [None, 5])
@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
@pytest.mark.combinations
def test_the_chance_score_is_what_independent_variables_score(statistic, n_classes, scale):
    # alpha about 1e-4, n = 600, fixed seeds.
    its_measure = measure(statistic, 600, n_classes)
    mean, error = mean_of_independent(its_measure, scale, 600, 50)
    assert abs(chance_score(its_measure, kind_of(scale), 600) - mean) < error


NUMBERS_OF_INTEGERS = [9, 11, 13, 17, 25, 40, 60, 121, 300]


def simulated_kinds(*domains):
    """The kinds for which offsets of features of these domains are simulated."""
    return ChanceScores.of(statistic_named("kendall", None).measure("auto", "auto", 9, 1.0, 2), Shape(9, domains)).kinds


def test_however_many_numbers_of_integers_there_are_few_are_simulated():
    kinds = simulated_kinds(*(Integers(5, 4 + n).encoded for n in [*range(2, 3000), 2**40]))
    assert kinds[:7] == [Integers(0, n - 1).encoded for n in range(2, 9)]
    assert len(set(kinds)) == 7 + 14 + 1
    assert kinds[1024 - 2 :: 400] == [Integers(0, 1023).encoded, *[UNIT] * 4]
    apart = [abs(np.log2(kind.n_integers / n)) for n, kind in enumerate(kinds[:1000], 2)]
    assert max(apart) < 0.28


@pytest.mark.parametrize("n_classes", [None, 2])
@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
@pytest.mark.combinations
def test_the_offset_of_nearly_as_many_integers_differs_by_less_than_the_error_of_a_simulation(statistic, n_classes):
    """By less than twice the standard error, up to .003 for MICr and .005 for MTVr; n = 600, 100 draws each."""
    its_measure = measure(statistic, 600, n_classes)
    for n in NUMBERS_OF_INTEGERS:
        exact = Integers(0, n - 1).encoded
        mean, error = mean_of_independent(its_measure, exact, 600, 100)
        assert error / 4 < (0.003 if statistic == "mic_r" else 0.005)
        assert abs(mean_of_independent(its_measure, *simulated_kinds(exact), 600, 100)[0] - mean) < error / 2


@pytest.mark.parametrize("scale", [UNIT, Nominal(5)])
@pytest.mark.parametrize("statistic, n_classes", [("mic_r", None), ("mtv_r", None), ("mtv_r", 5)])
@pytest.mark.combinations
def test_above_ten_thousand_records_the_chance_score_falls_at_the_rate_of_the_measure(statistic, n_classes, scale):
    n = 40_000
    its_measure = measure(statistic, n, n_classes)
    mean, error = mean_of_independent(its_measure, scale, n, 16)
    chance = chance_score(its_measure, scale, n)
    assert chance == chance_score(its_measure, scale, 10_000) / 4 ** {"mic_r": 1, "mtv_r": 0.5}[statistic]
    assert abs(chance - mean) < error


# --- What a feature adds to a given one by chance: less, the more informative the given one is ------------------------

KINDS = [UNIT, Nominal(2), Nominal(20), Nominal(100), Integers(4, 5).encoded]
N = 1000


def with_shares(shares=(0.5, 0.5), n_classes=None):
    return measure("mtv_r", N, n_classes).with_target_shares(shares)


def added(given, alone, of=None, domains=KINDS):
    return chance_added(of or with_shares(), Shape(N, list(domains)), given, alone, range(len(domains)))


@pytest.mark.few
@pytest.mark.parametrize("given", range(5))
def test_chance_adds_less_to_a_more_informative_feature(given):
    none, little, much = (added(given, alone) for alone in (0.0, 0.2, 0.9))
    assert (none >= little).all()
    assert (little >= much - 0.002).all()
    assert np.ptp(none) > 0.02
    assert much.max() < 0.03


def test_chance_adds_nothing_among_features_of_one_kind():
    assert added(0, 0.1, domains=[UNIT] * 3).tolist() == [0, 0, 0]
    ages, flags = [Integers(0, 120).encoded, Integers(1, 121).encoded], [Integers(0, 1).encoded]
    assert added(0, 0.1, domains=ages).tolist() == [0, 0]
    assert np.ptp(added(0, 0.1, domains=ages + flags)) > 0.005


@pytest.mark.combinations
def test_what_is_added_beside_nearly_as_many_integers_differs_by_less_than_the_error_of_a_simulation(monkeypatch):
    """By less than twice the standard error of 12 draws, .006; 60 draws each."""
    monkeypatch.setattr(chance, "_DRAWS", 120)
    for n in (9, 13, 19, 40, 121):
        given = Integers(0, n - 1).encoded
        exact, rounded = (
            chance._added.__wrapped__(UNIT, with_shares().without_target_shares(), None, kind, N, 0.0)
            for kind in (given, *simulated_kinds(given))
        )
        assert abs(exact - rounded) < 0.012
        assert exact > 0.09


def test_a_rare_class_leaves_less_to_chance():
    rare, even = (added(1, 0.0, with_shares(shares, 2)) for shares in ((0.95, 0.05), (0.5, 0.5)))
    assert (rare[[0, 2, 3]] < 0.6 * even[[0, 2, 3]]).all()


def test_one_simulation_of_gains_serves_learnt_shares_that_are_nearly_equal():
    learnt = [replace(with_shares((share, 1 - share), 2), spends_on_target=True) for share in (0.5, 0.501)]
    here, n_simulated = added(1, 0.0, learnt[0]), chance._added.cache_info().misses
    assert np.array_equal(here, added(1, 0.0, learnt[1]))
    assert chance._added.cache_info().misses == n_simulated


@pytest.mark.parametrize("n_classes", [None, 2])
def test_an_unrelated_feature_adds_about_as_much_as_predicted(n_classes):
    """Twenty tables with uninformative labels: the standard error is about 0.005."""
    random, given, differences = np.random.default_rng(0), 1, []
    of = with_shares(n_classes=n_classes)
    for _ in range(20):
        y, s = random.random(N), random.integers(2, size=N).astype(np.uint32)
        target = NumericTarget(y, UNIT) if n_classes is None else ClassTarget((2 * y).astype(np.int64), 2)
        scorer = of.scorer_beside(target, s, KINDS[given])
        code = random.integers(100, size=N).astype(np.uint32)
        differences.append(scorer.score(code, KINDS[3]) - scorer.score(s, KINDS[given]))
    assert added(given, 0.0, of)[3] == pytest.approx(np.mean(differences), abs=0.02)


TWO_CLASSES = [((1 - share, share), scale) for share in (0.06, 0.2, 0.4) for scale in (UNIT, Nominal(2), Nominal(10))]


@pytest.mark.parametrize("cases, factor", [(TWO_CLASSES, 0.95), ([((0.8, 0.1, 0.1), UNIT)], 0.7)], ids=["two", "three"])
def test_with_classes_of_known_shares_the_chance_score_is_what_independent_variables_score(cases, factor):
    """Up to 4 standard errors, n = 2,000. For two classes a factor holds for large samples; three are simulated."""
    n = 2000
    for shares, scale in cases:
        n_classes = len(shares)
        spending = replace(
            statistic_named("mtv_r", None).measure("auto", "auto", n, 1.0, n_classes), spends_on_target=True
        )
        target, _ = independent(n, n_classes, scale, shares, np.random.default_rng(2))
        shape = Shape(n, [scale, Nominal(3) if scale == UNIT else UNIT])
        known = spending.with_shares_of(target)
        by_chance = ChanceScores.of(known, shape).at(known)[0]
        mean, error = mean_of_independent(spending, scale, n, 50, shares)
        assert abs(by_chance - mean) < error + 0.05 * mean
        assert by_chance < factor * ChanceScores.of(spending, shape).at(spending)[0]
