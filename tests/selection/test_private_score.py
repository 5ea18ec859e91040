"""`private_score` with every statistic and mechanism: the score, the noise, the charge, and what is refused."""

import math

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning, mic_r, mtv_r, private_score
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID, grid_sensitivity, scale_for_budget
from skdpmic.statistics import ranks
from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.sensitivity import kendall_sensitivity, mic_e_sensitivity, mic_r_sensitivity, mtv_r_sensitivity
from skdpmic.table.records import TableRecords
from tests.folding import each
from tests.privacy.laws import laplace_p_value

N = 300
RANDOM = np.random.default_rng(0)
X = RANDOM.random(N)
Y = (X + 1.2 * RANDOM.random(N)) / 2.2
BOUNDS = ((0, 1), (0, 1))

WITH_LAPLACE = {
    "mic_r": {"bounds": BOUNDS},
    "mtv_r": {"statistic": "mtv_r", "bounds": BOUNDS},
    "mic_e": {"statistic": "mic_e", "B": 4},
    "kendall": {"statistic": "kendall"},
}
ALL = WITH_LAPLACE | {"geometric": {"mechanism": "geometric", "bounds": BOUNDS}}

SENSITIVITY = {
    "mic_r": mic_r_sensitivity,
    "mtv_r": mtv_r_sensitivity,
    "mic_e": lambda n: mic_e_sensitivity(n, 4),
    "kendall": kendall_sensitivity,
}
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")


def score(name, x=X, y=Y, epsilon=math.inf, **changed):
    return private_score(x, y, **ALL[name] | {"epsilon": epsilon, **changed})


# --- The score --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("B, c, correction", [(12, 3, None), (0.5, 8.5, "miller-madow")])
def test_without_noise_scores_of_grids_are_those_of_the_public_functions(B, c, correction):
    sizes = {"B": B, "c": c, "bounds": BOUNDS}
    assert score("mic_r", correction=correction, **sizes) == mic_r(X, Y, correction=correction, **sizes)
    assert score("mtv_r", **sizes) == mtv_r(X, Y, **sizes)


@each("n", [4, 5, 100])
def test_without_noise_scores_of_ranks_are_those_of_the_kernel(n):
    x, y = X[:n], Y[:n]
    assert score("kendall", x, y) == ranks.kendall(ranks.mid_ranks(x), ranks.mid_ranks(y))


@each("name", ["kendall", "mic_e"])
def test_scores_of_ranks_depend_on_nothing_but_the_records_and_mic_e_breaks_ties_at_random(name):
    rng = np.random.default_rng(0)
    x, y = rng.integers(5, size=(2, 500))
    orders = [rng.permutation(500) for _ in range(10)]
    assert (len({score(name, x[order], y[order]) for order in orders}) == 1) == (name != "mic_e")


# --- The noise --------------------------------------------------------------------------------------------------


@pytest.mark.few
@seeded
@pytest.mark.parametrize(  # the noise of mtv_r is tested below
    "name",
    [
        name if name in ("mic_r", "kendall") else pytest.param(name, marks=pytest.mark.slow)
        for name in WITH_LAPLACE
        if name != "mtv_r"
    ],
)
def test_noise_has_the_scale_of_the_sensitivity(name):
    # The median of |noise| is scale * ln 2. 400 releases, fixed seed: within 5 standard errors, which are at most
    # 1.5 / sqrt(400) of it; half or twice the noise is not.
    source, epsilon = np.random.RandomState(0), 10.0
    sizes = {"B": 16, "c": 2} if name == "mic_r" else {}
    released = np.array([score(name, epsilon=epsilon, random_state=source, **sizes) for _ in range(400)])
    noise = np.abs(released - score(name, **sizes))
    assert np.median(noise) == pytest.approx(SENSITIVITY[name](N) / epsilon * math.log(2), rel=0.375)


@pytest.mark.slow
@seeded
@pytest.mark.parametrize("epsilon", [1.0, pytest.param(3, marks=pytest.mark.slow)])
def test_noise_has_the_exact_distribution(epsilon):
    # alpha = 1e-3, n = 1,000, fixed seed; half or twice the noise has a p-value of 0.
    source = np.random.RandomState(0)
    released = [score("mtv_r", epsilon=epsilon, random_state=source) for _ in range(1000)]
    scale = scale_for_budget(epsilon, grid_sensitivity(mtv_r_sensitivity(N), ROUNDING_ERROR))
    assert 0.3 < score("mtv_r") < 0.7  # nothing is clipped at 0 or 1
    assert scale * GRID == pytest.approx(4 * 299 / 300**2 / epsilon, rel=1e-5)
    noise = (np.array(released) / GRID).astype(np.int64) - math.floor(score("mtv_r") / GRID)
    assert laplace_p_value(noise, scale) > 1e-3
    for wrong in (scale / 2, scale * 2):
        assert laplace_p_value(noise, wrong) < 1e-12


def test_the_noise_covers_the_rounding_error(monkeypatch):
    scales = []

    def draw(scale, size, source):
        scales.append(scale)
        return np.zeros(size, dtype=object)

    monkeypatch.setattr(mechanisms, "discrete_laplace", draw)
    for error in (ROUNDING_ERROR, 2.0**-10):
        monkeypatch.setattr(CountsScorer, "rounding_error", error)
        score("mtv_r", epsilon=1)
    assert scales == [grid_sensitivity(mtv_r_sensitivity(N), error) for error in (ROUNDING_ERROR, 2.0**-10)]
    assert scales[1] - scales[0] == pytest.approx(2 * 2.0**-10 / GRID, abs=2)


@each("name", ALL)
def test_a_seed_repeats_the_release_and_warns_at_the_call(name):
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as warned:
        one, again = (private_score(X, Y, epsilon=3, random_state=1, **ALL[name]) for _ in range(2))
    assert one == again
    assert {warning.filename for warning in warned} == {__file__}


# --- Charge -----------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger.db", 1.0)


def fail(*arguments, **parameters):
    raise MemoryError("too large")


@pytest.mark.parametrize("name", ALL)
def test_the_ledger_is_charged_before_the_score_is_computed(name, ledger, monkeypatch):
    score(name, epsilon=0.75, ledger=ledger)
    (entry,) = ledger.entries()
    which = ALL[name].get("statistic", "mic_r"), ALL[name].get("mechanism", "laplace")
    assert (entry.what, entry.statistic, entry.mechanism) == ("private_score", *which)
    assert (entry.epsilon, entry.delta) == (0.75, 0.0)
    assert (entry.n, entry.d) == (N, 1)
    monkeypatch.setattr(TableRecords, "scores", fail)
    monkeypatch.setattr(TableRecords, "tables", fail)
    with pytest.raises(BudgetError):
        score(name, epsilon=0.5, ledger=ledger)
    with pytest.raises(MemoryError):
        score(name, epsilon=0.25, ledger=ledger)
    assert [entry.epsilon for entry in ledger.entries()] == [0.75, 0.25]


# --- What is refused --------------------------------------------------------------------------------------------

FOUR = {"x": [1, 2, 3, 86.75], "y": [1, 2, 3, 4], "epsilon": 1.0}


def assert_refused(name, changed, message, ledger):
    for whose in (ledger, None):
        with pytest.raises(ValueError, match=message) as caught:
            private_score(**ALL[name] | FOUR | {"ledger": whose} | changed)
        assert "8675" not in str(caught.value).replace(".", "")
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0, and at least 1e-100, got 0"),
        ({"epsilon": -1.0}, "epsilon must be a number > 0"),
        ({"epsilon": math.nan}, "epsilon must be a number > 0"),
        ({"epsilon": "1"}, "epsilon must be a number > 0"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, "x and y must hold at least 4 samples, got n_samples=3"),
        ({"x": [1, 2, 3, 86.75, 5]}, "x and y must have the same length, got 5 and 4"),
        ({"y": [1, 2, 86.75, math.nan]}, "y must be finite, got NaN or infinity"),
        ({"x": [1, 2, 86.75, math.inf]}, "x must be finite, got NaN or infinity"),
        ({"x": [[86.75]] * 4}, r"x must be 1-dimensional, got an array of shape \(4, 1\)"),
        ({"y": list("abcd")}, "y must hold real numbers, got text"),
        ({"statistic": "pearson"}, "statistic must be one of 'mic_r', .*'mic_e', got 'pearson'"),
        ({"statistic": ["kendall"]}, "statistic must be one of"),
        ({"mechanism": "gaussian"}, "mechanism must be 'laplace' or 'geometric', got 'gaussian'"),
        ({"mechanism": ["laplace"]}, "mechanism must be 'laplace' or 'geometric', got"),
        ({"correction": "none"}, "correction must be None or 'miller-madow', got 'none'"),
        ({"ledger": "a file"}, "ledger must be a BudgetLedger or None, got str: pass BudgetLedger"),
        ({"random_state": -1}, "random_state must be None, an int in"),
        ({"random_state": "seed"}, "random_state must be None, an int in"),
    ],
)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.combinations
def test_invalid_arguments_are_refused_and_cost_nothing(name, changed, message, ledger):
    assert_refused(name, changed, message, ledger)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"bounds": None}, r"bounds must be \(\(x_lo, x_hi\), \(y_lo, y_hi\)\) with statistic='m.._r', got None"),
        ({"bounds": "data"}, r"bounds must be \(\(x_lo, x_hi\), \(y_lo, y_hi\)\), got 'data'"),
        ({"bounds": ((0, 1), (1, 1))}, "bounds of y must be finite with lower < upper"),
        ({"B": 2}, "B must be a number >= 4 or an exponent in"),
        ({"B": "best"}, "B must be a number >= 4 or an exponent in"),
        ({"c": 0}, "c must be a number > 0"),
        ({"c": "big"}, "c must be a number > 0"),
    ],
)
@pytest.mark.parametrize("name", ["mic_r", "mtv_r", "mic_e", "geometric"])
@pytest.mark.combinations
def test_invalid_bounds_and_sizes_are_refused(name, changed, message, ledger):
    if name != "mic_e" or "bounds" not in changed:
        assert_refused(name, changed, message, ledger)


def test_options_that_a_statistic_does_not_support_are_refused(ledger):
    for name in WITH_LAPLACE.keys() - {"mic_r"}:
        message = "mechanism must be 'laplace' with statistic='.*', got 'geometric'"
        assert_refused(name, {"mechanism": "geometric"}, message, ledger)


def test_more_records_than_64_bits_allow_are_refused(ledger, monkeypatch):
    monkeypatch.setattr(ranks, "MAX_RECORDS", N - 1)
    with pytest.raises(ValueError, match="scores can be computed for at most 299 records, got n_samples=300"):
        score("kendall", epsilon=1.0, ledger=ledger)
    assert ledger.entries() == []
