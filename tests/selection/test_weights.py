"""``fit(X, y, sample_weight=...)`` with ``max_weight``: each record counts by its weight, up to a public maximum.

How far one weight moves a score is tested in ``tests/statistics/mtv/test_weights.py``.
"""

import math
import pickle
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.counting import RangeGridSketch, count_stream
from skdpmic.table.values import WEIGHT_UNITS, read_weights
from tests.folding import each

UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}
N, D, MOST = 400, 5, 8.0
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # to compare ways to fit with one seed
KINDS = {
    "scores": partial(DPMICScorer, statistic="mtv_r", epsilon=2, max_weight=MOST),
    "selector": partial(DPMICSelector, statistic="mtv_r", k=2, epsilon=2, max_weight=MOST),
    "names": partial(PrivateSelectKBest, k=2, epsilon=2, max_weight=MOST),
    "names, known shares": partial(PrivateSelectKBest, k=2, epsilon=2, max_weight=MOST, target_shares=[0.5, 0.5]),
}


def table(classes=False, n=N, seed=0):
    """The second feature determines the target; weights are skewed, and some exceed the maximum."""
    rng = np.random.default_rng(seed)
    X, weights = rng.random((n, D)), rng.exponential(2, n)
    y = X[:, 1] ** 2
    return X, (y > 0.3).astype(int) if classes else y, weights


def published(estimator):
    return {
        name: np.asarray(value).tolist()
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("feature_names")
    }


def without_noise(X, y, weights, max_weight=1.0, **parameters):
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, max_weight=max_weight, **UNIT | parameters)
    return scorer.fit(X, y, sample_weight=weights).scores_


# --- What weights mean ------------------------------------------------------------------------------------------


def population(n=200_000, seed=0):
    """Nine in ten live in town, where the first two columns predict y; elsewhere, the next two do."""
    rng = np.random.default_rng(seed)
    X, in_town, noise = rng.random((n, 12)), rng.random(n) < 0.9, 0.1 * rng.random(n)
    y = np.where(in_town, (X[:, 0] + X[:, 1]) / 2, (X[:, 2] + X[:, 3]) / 2)
    return X, np.clip(0.9 * y + noise, 0, 1), in_town


def weighted_sample(X, y, in_town, n=16_000, seed=1):
    """The countryside is sampled 36 times as densely, and weights correct for it."""
    rng = np.random.default_rng(seed)
    chances = np.where(in_town, 1.0, 36.0)
    rows = rng.choice(len(X), n, replace=False, p=chances / chances.sum())
    return X[rows], y[rows], (36 / chances)[rows]


def test_chosen_columns_are_those_of_the_population_that_a_sample_represents():
    """With noise; the choice fails with a probability below 1e-6, because all scores are 15 noise scales apart."""
    X, y, in_town = population()
    sampled = weighted_sample(X, y, in_town)
    choose = partial(PrivateSelectKBest, k=2, epsilon=8, target_shares=[0.5, 0.5], **UNIT)
    of_all = choose().fit(X, y).get_support(indices=True).tolist()
    assert of_all == [0, 1]
    assert (
        choose(max_weight=36).fit(*sampled[:2], sample_weight=sampled[2]).get_support(indices=True).tolist() == of_all
    )
    assert choose().fit(*sampled[:2]).get_support(indices=True).tolist() == [2, 3]  # of the sample itself


def test_scores_divided_by_the_mean_weight_are_those_of_the_population():
    X, y, in_town = population()
    X_of, y_of, weights = weighted_sample(X, y, in_town)
    known = {"target_shares": [0.5, 0.5]}
    of_all = DPMICScorer(statistic="mtv_r", epsilon=math.inf, **UNIT, **known).fit(X, y).scores_
    of_sample = without_noise(X_of, y_of, weights, 36.0, **known) / (weights.mean() / 36)
    np.testing.assert_allclose(of_sample[:2], of_all[:2], atol=0.06)


def test_learnt_mean_weight_and_shares_are_near_those_of_the_records():
    X, y, weights = table(classes=True, n=5000)
    names = PrivateSelectKBest(k=2, epsilon=5, bounds=(0, 1), classes=[0, 1], max_weight=MOST)
    names.fit(X, y, sample_weight=weights)
    clipped = np.minimum(weights, MOST)
    assert names.mean_weight_ == pytest.approx(clipped.mean(), rel=0.05)
    assert names.target_shares_[0] == pytest.approx(clipped[y == 0].sum() / clipped.sum(), abs=0.03)
    lower, upper = names.target_shares_interval(0.95)
    assert (lower < names.target_shares_).all()
    assert (names.target_shares_ < upper).all()


def test_each_weight_is_read_independently():
    _, _, weights = table()
    together = read_weights(weights, MOST, N)
    np.testing.assert_array_equal(together, [read_weights([weight], MOST, 1)[0] for weight in weights])
    assert together.max() == WEIGHT_UNITS == read_weights([1e300], MOST, 1)[0]
    assert read_weights([MOST / 2], MOST, 1)[0] == WEIGHT_UNITS / 2


def test_a_fitted_estimator_stores_no_weight():
    X, y, weights = table()
    weights[17] = 1.23456789
    for kind in KINDS.values():
        fitted = kind(**UNIT).fit(X, y, sample_weight=weights)
        assert np.float64(1.23456789).tobytes() not in pickle.dumps(fitted)
        assert not any(isinstance(value, np.ndarray) and len(value) == N for value in vars(fitted).values())


# --- All ways to fit ------------------------------------------------------------------------------------------------


@seeded
@each("classes", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_with_one_seed_all_ways_to_fit_publish_the_same(kind, classes):
    X, y, weights = table(classes)
    target = {"classes": [0, 1]} if classes else {"target_bounds": (0, 1)}
    make = partial(
        KINDS[kind], random_state=0, bounds=(0, 1), **target | {"epsilon": 1}
    )  # a sketch cuts y at multiples of an eighth
    expected = published(make().fit(X, y, sample_weight=weights))
    names = list("abcde")

    sketch = make().empty_sketch(N, n_features=D)
    halves = np.array_split(np.arange(N), 2)
    for rows in halves:
        sketch = sketch.merge(sketch.empty().update(X[rows], y[rows], sample_weight=weights[rows]))
    assert published(make().fit_sketch(sketch)) == expected
    again = RangeGridSketch.from_bytes(sketch.to_bytes())
    assert again == sketch
    assert again.max_weight == MOST
    assert published(make().fit_sketch(again)) == expected

    streamed = make()
    for rows in halves:
        streamed.partial_fit(X[rows], y[rows], n_expected=N, sample_weight=weights[rows])
    assert published(streamed.publish()) == expected

    lazy = pl.DataFrame(X, schema=names).lazy()
    assert published(make().fit(lazy, pl.Series(y), sample_weight=pl.Series(weights))) == expected

    frame = pl.DataFrame(X, schema=names).with_columns(y=pl.Series(y), w=pl.Series(weights))
    empty = make().empty_sketch(N, feature_names=names)
    counted = count_stream(empty, frame.lazy(), target="y", sample_weight="w")
    assert published(make().fit_sketch(counted)) == expected


@seeded
def test_a_dask_collection_has_weights_in_partitions_of_the_same_rows():
    array = pytest.importorskip("dask.array")
    X, y, weights = table()
    make = partial(KINDS["names"], random_state=0, **UNIT | {"epsilon": 1})
    collections = [
        array.from_array(X, chunks=(70, D)),
        array.from_array(y, chunks=70),
        array.from_array(weights, chunks=70),
    ]
    fitted = make().fit(*collections[:2], sample_weight=collections[2])
    assert published(fitted) == published(make().fit(X, y, sample_weight=weights))
    with pytest.raises(ValueError, match=r"sample_weight|inconsistent numbers of samples"):
        make().fit(*collections[:2], sample_weight=array.from_array(weights[:-1], chunks=70))
    with pytest.raises(TypeError, match="sample_weight must be in memory, got a dask"):
        make().fit(X, y, sample_weight=collections[2])


@seeded
def test_rows_of_one_person_have_their_own_weights():
    X, y, weights = table()
    groups = np.arange(N) // 2
    make = partial(DPMICScorer, statistic="mtv_r", max_rows_per_group=2, max_weight=MOST, **UNIT)
    scorer = make(epsilon=math.inf).fit(X, y, groups=groups, sample_weight=weights)
    np.testing.assert_allclose(
        scorer.scores_[1], without_noise(X, y, weights, MOST)[1], atol=0.005
    )  # a finer cut costs more
    shuffled = np.random.default_rng(2).permutation(N)
    again = make(epsilon=math.inf).fit(
        X[shuffled], y[shuffled], groups=groups[shuffled], sample_weight=weights[shuffled]
    )
    np.testing.assert_array_equal(again.scores_, scorer.scores_)
    kept = make(epsilon=math.inf, random_state=0).set_params(max_rows_per_group=1)  # one row of each, with its weight
    assert kept.fit(X, y, groups=groups, sample_weight=weights).scores_[1] > 0.05
    assert make(epsilon=1).fit(X, y, groups=groups, sample_weight=weights).noise_scale_ == pytest.approx(
        2 * make(epsilon=1, max_rows_per_group=None).fit(X, y, sample_weight=weights).noise_scale_, rel=0.1
    )


# --- scikit-learn ------------------------------------------------------------------------------------------------


# --- Noise and plans -------------------------------------------------------------------------------------------------


# --- The alternative for other statistics --------------------------------------------------------------------------

UNITS = 2  # the largest weight: a row is kept with probability 0, 1/2 or 1
KINDS_OF_ROWS = tuple(product((0, 1), range(UNITS + 1)))  # a value and a weight


def sample_distribution(rows, n_fitted, n_public):
    """The numbers of ones and of rows in samples of weighted rows, counted over all orders and coins."""
    distribution = Counter()
    for order, chances in product(permutations(rows), product(range(UNITS), repeat=len(rows))):
        kept = [value for (value, weight), chance in zip(order, chances, strict=True) if chance < weight]
        sample = (kept + [0] * n_public)[:n_fitted]
        distribution[sum(sample), len(sample)] += 1
    return distribution


def release_distribution(rows, n_fitted, n_public):
    """The number of ones in a sample, with noise that costs ln 2, clipped to 0 ... n_fitted; and the number of rows."""
    distribution = Counter()
    for (ones, size), weight in sample_distribution(rows, n_fitted, n_public).items():
        for z in range(-20, 21):  # beyond n_fitted + 1, clipping makes all z equal
            distribution[min(max(ones + z, 0), n_fitted), size] += weight * NOISE[z]
    return distribution


def _noise(largest=20):
    """Discrete Laplace noise of scale 1 / ln 2, with the remainder of each tail at its end."""
    distribution = {z: Fraction(1, 3 * 2 ** abs(z)) for z in range(-largest, largest + 1)}
    rest = (1 - sum(distribution.values())) / 2
    return {z: p + rest * (abs(z) == largest) for z, p in distribution.items()}


NOISE = _noise()


def largest_ratio(n, n_fitted, n_public):
    """The largest ratio of an outcome's probabilities for neighbours; infinite if only one of them can have it."""
    others, largest = combinations_with_replacement(KINDS_OF_ROWS, n - 1), Fraction(0)
    for rest in others:
        distributions = [release_distribution((kind, *rest), n_fitted, n_public) for kind in KINDS_OF_ROWS]
        for here, there in permutations(distributions, 2):
            if any(here[outcome] and not there[outcome] for outcome in here):
                return math.inf
            largest = max(largest, *(p / there[outcome] for outcome, p in here.items() if p))
    return largest


@each("n_fitted", [1, 2, 3])
def test_a_sample_by_weight_with_public_rows_costs_what_the_fit_costs(n_fitted):
    """All tables of 3 rows of two values and three weights, all orders and coins; the noise of the fit costs ln 2."""
    assert largest_ratio(3, n_fitted, n_fitted) == 2


def test_the_guide_fits_the_same_number_of_rows_for_any_weights_and_one_weight_changes_one_row():
    page = Path(__file__).parents[2] / "docs" / "choose" / "survey_weights.md"
    (recipe,) = (part for part in page.read_text(encoding="utf-8").split("```") if "n_fitted = " in part)
    recipe = recipe.removeprefix("python\n").split("sampled = ")[0].replace("n_fitted = 1500", "n_fitted = 20")
    X, y = np.random.default_rng(5).random((60, 12)), np.arange(60) / 60

    def fitted(weight):
        names = {"np": np, "rng": np.random.default_rng(6), "n": 60, "X": X, "y": y, "weight": weight}
        exec(recipe, names)
        assert names["X_fitted"].shape == (20, 12)
        return Counter(zip(names["y_fitted"].tolist(), names["X_fitted"][:, 0].tolist(), strict=True))

    assert fitted(np.zeros(60)) == Counter({(0.5, 0.5): 20})
    weights = np.random.default_rng(7).choice([0.0, 6.0, 36.0], 60)
    changes = set()
    for row, other in product(range(60), (0.0, 36.0, 99.0)):
        one = weights.copy()
        one[row] = other
        changes.add((fitted(weights) - fitted(one)).total())
    assert changes == {0, 1}


# --- Refused -------------------------------------------------------------------------------------------------------


BAD = {
    "missing": (
        lambda w: np.where(w == w[3], np.nan, w),
        ValueError,
        "sample_weight must hold finite numbers >= 0, got at least",
    ),
    "infinite": (
        lambda w: np.where(w == w[3], np.inf, w),
        ValueError,
        "sample_weight must hold finite numbers >= 0, got at least",
    ),
    "negative": (lambda w: w - 1, ValueError, "sample_weight must hold finite numbers >= 0, got at least"),
    "too few": (lambda w: w[1:], ValueError, "sample_weight must have one weight per row of X"),
    "a column": (lambda w: w[:, None], ValueError, "sample_weight must be 1-dimensional"),
    "one number": (lambda w: 1.5, ValueError, "sample_weight must be 1-dimensional"),
    "masked": (lambda w: np.ma.masked_less(w, 1), TypeError, "sample_weight must not be a masked array"),
    "text": (lambda w: ["secret7"] * len(w), ValueError, "got at least one other value"),
    "not given": (lambda w: None, ValueError, "sample_weight must hold the weight of each row with max_weight=8.0"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", BAD)
def test_bad_weights_are_refused_before_anything_is_charged(what, kind, ledger):
    X, y, weights = table()
    make_bad, error, message = BAD[what]
    estimator = KINDS[kind](**UNIT, ledger=ledger)
    before = dict(vars(estimator))
    with pytest.raises(error, match=message) as caught:
        estimator.fit(X, y, sample_weight=make_bad(weights))
    assert "secret7" not in str(caught.value)
    assert caught.value.__context__ is None
    assert vars(estimator) == before
    assert ledger.spent() == (0, 0)
    if hasattr(estimator, "partial_fit"):
        with pytest.raises(error, match=message):
            estimator.partial_fit(X, y, sample_weight=make_bad(weights))
        assert vars(estimator) == before


def test_a_stream_needs_the_name_of_the_weights_if_and_only_if_the_sketch_has_them():
    X, y, weights = table()
    frame = pl.DataFrame(X, schema=list("abcde")).with_columns(y=pl.Series(y), w=pl.Series(weights))
    weighted = KINDS["names"](**UNIT).empty_sketch(N, feature_names=list("abcde"))
    plain = PrivateSelectKBest(k=2, **UNIT).empty_sketch(N, feature_names=list("abcde"))
    for empty, name in ((weighted, None), (plain, "w"), (weighted, "y"), (weighted, "a"), (weighted, "nobody")):
        with pytest.raises((ValueError, KeyError), match=r"sample_weight|nobody"):
            count_stream(empty, frame, target="y", sample_weight=name)


NOT_ALLOWED = [
    *((DPMICSelector(k=2, max_weight=most), "max_weight must be None or a finite number > 0")
      for most in (0, -1, math.inf, math.nan, "a", True, [1])),
    (DPMICSelector(k=2), "max_weight must be given with sample_weight, got None"),
    (DPMICScorer(statistic="kendall", max_weight=MOST), r"max_weight must be None with statistic=.*mtv_r"),
    (DPMICScorer(statistic="mic_r", max_weight=MOST), r"max_weight must be None with statistic=.*mtv_r"),
    (DPMICSelector(fdr=0.1, max_weight=MOST), r"fdr must be .* with max_weight"),
]  # fmt: skip


@pytest.mark.parametrize("estimator, phrase", NOT_ALLOWED)
def test_weights_are_refused_where_no_theorem_holds(estimator, phrase):
    X, y, weights = table()
    statistic = {} if isinstance(estimator, DPMICScorer) else {"statistic": "mtv_r"}
    with pytest.raises(ValueError, match=phrase):
        estimator.set_params(**UNIT, **statistic).fit(X, y, sample_weight=weights)
