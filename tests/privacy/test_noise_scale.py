"""The noise of every release matches the formulas in ``docs/theory`` to the last grid step, in exact fractions.

The rounding error of a score changes the noise by a grid step only at a few n. The formula is tested at such n.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skdpmic import DPMICScorer, PrivateGridSearch, private_score
from skdpmic.privacy import mechanisms
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.mechanisms import CubeLaw
from skdpmic.statistics.mic import noisy_tables as geometric
from skdpmic.statistics.mic import statistic as defaults
from skdpmic.statistics.mic.characteristic import mass_plan
from skdpmic.statistics.mic.mic_r import class_grids, closed_plan, continuous_plan
from skdpmic.statistics.mic.optimize_axis import rounding_error
from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_sensitivity
from tests.select_names import SelectNames

STEPS = 2**30  # grid steps in a score of 1
EPSILON = Fraction(3, 10)  # 0.3, as it is written

# --- Steps: ceil((sensitivity + 2 rounding errors) / step) -----------------------------------------------------------


def steps_of(sensitivity, error):
    return math.ceil((Fraction(sensitivity) + 2 * Fraction(error)) * STEPS)


def where_rounding_matters(sensitivity_of, plan):
    """The first n from 400 at which the rounding error adds a step, and the number of steps there."""
    for n in range(400, 40_000):
        steps = steps_of(sensitivity_of(n), rounding_error(n, plan))
        if steps > steps_of(sensitivity_of(n), 0):
            return n, steps
    raise AssertionError("rounding matters nowhere: look further")


CONTINUOUS = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1}
CLASSES = {"bounds": (0, 1), "classes": [0, 1, 2], "B": 12, "c": 1}
KINDS = {
    "continuous": (CONTINUOUS, mic_r_sensitivity, continuous_plan(4, 1, "reduced") + np.array([1, 0, 0])),
    "classes": (CLASSES, mic_r_sensitivity, class_grids(3, 12, 1).plan),
}


def fit(estimator, X, y):
    return estimator.fit(X, y)


def fit_sketch(estimator, X, y):
    return estimator.fit_sketch(estimator.empty_sketch(len(X), n_features=X.shape[1]).update(X, y))


def gaussian(steps):
    """The smallest integer whose square is at least d steps^2 / (2 rho)."""
    least = 5 * steps**2 / (2 * Fraction(rho_for(0.3, 1e-6)))
    return next(sigma for sigma in range(math.isqrt(int(least)), math.isqrt(int(least)) + 3) if sigma**2 >= least)


RELEASES = {  # the estimator, and its noise scale for 5 features
    "laplace": (DPMICScorer, lambda steps: math.ceil(5 * steps / EPSILON)),
    "gaussian": (partial(DPMICScorer, delta=1e-6, mechanism="gaussian"), gaussian),
    # the standard deviation of a coordinate; the scale is that of a single score
    "k-norm": (partial(DPMICScorer, mechanism="k-norm"), lambda steps: CubeLaw(5, math.ceil(steps / EPSILON)).std()),
    "one-shot": (partial(SelectNames, k=2), lambda steps: math.ceil(2 * 2 * steps / EPSILON)),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", [fit, fit_sketch])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.combinations
def test_the_noise_of_a_fit_matches_the_formula_to_the_last_step(kind, release, way):
    public, sensitivity_of, plan = KINDS[kind]
    make, scale_of = RELEASES[release]
    n, steps = where_rounding_matters(sensitivity_of, plan)
    X, y = np.random.default_rng(0).random((n, 5)), np.arange(n) % 3 if kind == "classes" else np.linspace(0, 1, n)
    assert way(make(epsilon=0.3, **public), X, y).noise_scale_ * STEPS == scale_of(
        steps
    )  # exact, as STEPS is a power of two


SQUARE = {"bounds": ((0, 1), (0, 1))}
PAIRS = {  # parameters, sensitivity, plan
    "mic_r": (SQUARE | {"B": 4, "c": 1}, mic_r_sensitivity, closed_plan(4, 1, "reduced")),
    "mic_r without correction": (
        SQUARE | {"B": 4, "c": 1, "correction": None}, mic_r_sensitivity, continuous_plan(4, 1, "reduced")
    ),
    "mic_e": ({"statistic": "mic_e", "B": 8, "c": 1}, partial(mic_e_sensitivity, B=8), mass_plan(8, 1)),
}  # fmt: skip


@pytest.fixture
def scales(monkeypatch):
    """The scales of all Laplace noise that is drawn."""
    drawn = []
    for module in (mechanisms, geometric):
        draw = lambda scale, size, source: drawn.append(scale) or np.zeros(size, dtype=object)  # noqa: E731
        monkeypatch.setattr(module, "discrete_laplace", draw)
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_the_noise_of_a_pair_matches_the_formula_to_the_last_step(name, scales):
    parameters, sensitivity_of, plan = PAIRS[name]
    n, steps = where_rounding_matters(sensitivity_of, plan)
    private_score(*np.random.default_rng(0).random((2, n)), epsilon=0.3, **parameters)
    assert scales == [math.ceil(steps / EPSILON)]


def test_the_noise_of_tables_is_twice_their_number_over_epsilon(scales):
    x, y = np.random.default_rng(0).random((2, 100))
    private_score(x, y, mechanism="geometric", epsilon=0.3, **SQUARE)
    scorer = DPMICScorer(epsilon=0.3, mechanism="geometric", **CONTINUOUS).fit(np.c_[x, x, x], y)
    assert scales == [2 / EPSILON, 2 * 3 / EPSILON]
    assert scorer.noise_scale_ == 20.0


@pytest.mark.parametrize("n_subsets", [4, 5])
def test_the_noise_of_a_choice_matches_the_formula_to_the_last_step(n_subsets):
    # A mean of scores has an error of at most 2^-52. A quarter is a whole number of steps, so the error adds one.
    x = np.random.default_rng(0).random((60, 1))
    search = PrivateGridSearch(Ridge(), {"alpha": [1, 1]}, epsilon=0.3, n_subsets=n_subsets).fit(x, x[:, 0])
    steps = steps_of(Fraction(1, n_subsets), 2.0**-52)
    assert steps == STEPS // n_subsets + 1
    assert search.noise_scale_ * STEPS == math.ceil(2 * steps / EPSILON)


# --- The rounding error itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n, B", [(4, 4), (100, 12), (1000, 60), (1000, 600), (10**5, 150)])
def test_the_rounding_error_includes_every_term_of_its_proof(n, B):
    # docs/theory/rounding.md: entries off by 2^-49 of a sum of at most 4 g(n), their last digits, and the division.
    plan = continuous_plan(B, 5, "reduced")
    scale = 2 ** (61 - math.ceil(math.log2(4 * n * math.log2(n) + 4)))
    of_the_table = Fraction(4 * math.log2(n)) / 2**49
    of_last_digits = Fraction(2 * int((plan[:, 0] * plan[:, 2]).max()) + 1, 2 * scale * n)
    of_the_division = Fraction(1, 2**49)
    proved = of_the_table + of_last_digits + of_the_division
    assert proved < Fraction(rounding_error(n, plan)) <= proved + Fraction(3, 2 * scale * n)


# --- Grids are chosen for the epsilon spent on each score ------------------------------------------------------------


@pytest.fixture
def looked_up(monkeypatch):
    """Every (name, n, epsilon, n_classes[, correction]) for which a default was looked up."""
    calls = []
    for name, value in (("B", 9.0), ("c", 2.0), ("parts", 4)):

        def look_up(n, epsilon, n_classes=None, correction=None, name=name, value=value):
            calls.append((name, n, epsilon, n_classes, *([] if correction is None else [correction])))
            return value

        monkeypatch.setattr(defaults, f"default_{name}", look_up)
    return calls


@pytest.mark.parametrize("epsilon", [0.3, 20.0])
def test_the_defaults_of_a_pair_are_those_for_its_epsilon(epsilon, looked_up):
    x, y = np.random.default_rng(0).random((2, 100))
    for parameters, names, correction in (
        ({}, "Bc", ["miller-madow"]), ({"correction": None}, "Bc", []), ({"mechanism": "geometric"}, ("B", "parts"), [])
    ):  # fmt: skip
        private_score(x, y, epsilon=epsilon, **SQUARE, **parameters)
        assert looked_up == [(name, 100, epsilon, None, *correction) for name in names]
        looked_up.clear()


PER_SCORE = {
    "laplace": (partial(DPMICScorer), 2.0 / 5),
    "gaussian": (partial(DPMICScorer, delta=1e-6, mechanism="gaussian"), 2 * math.sqrt(rho_for(2.0, 1e-6) / 5)),
    "k-norm": (partial(DPMICScorer, mechanism="k-norm"), 2.0 * math.sqrt(6 / (6 * 7))),
    "geometric": (partial(DPMICScorer, mechanism="geometric"), 2.0 / 5),
    "one-shot": (partial(SelectNames, k=2), 2.0 / (2 * 2)),
}


@pytest.mark.parametrize("way", [fit, fit_sketch])
@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.parametrize("name", PER_SCORE)
@pytest.mark.combinations
def test_the_defaults_of_a_fit_are_those_for_the_epsilon_of_each_score(name, n_classes, way, looked_up):
    make, epsilon = PER_SCORE[name]
    X, y = np.random.default_rng(0).random((90, 5)), np.arange(90) % 3
    kind = {"target_bounds": (0, 2)} if n_classes is None else {"classes": [0, 1, 2]}
    way(make(epsilon=2.0, bounds=(0, 1), **kind), X, y)
    if name == "geometric":
        assert looked_up == [("B", 90, epsilon, None), ("parts", 90, epsilon, n_classes)]
    else:
        assert looked_up == [(name, 90, epsilon, n_classes, "miller-madow") for name in "Bc"]
