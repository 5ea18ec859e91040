"""What can be refused from public arguments alone is refused before a ledger is charged, and changes nothing."""

import math

import numpy as np
import pytest

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    PrivateGridSearch,
    dp_mic_classif,
    dp_mic_regression,
    private_score,
)
from tests.folding import each
from tests.select_names import SelectNames

pytestmark = pytest.mark.filterwarnings("ignore:k=10 is greater", "ignore:B=")

N = 60
NUMBERS = {"bounds": (0, 1), "target_bounds": (0, 1)}
CLASSES = {"bounds": (0, 1), "classes": [0, 1, 2]}


def table():
    X = np.random.default_rng(0).random((N, 3))
    return X, X[:, 1] ** 2


def pair():
    X, y = table()
    return X[:, 1], y


def labelled():
    X, y = table()
    return X, (3 * y).astype(int)


def dask_table():
    array = pytest.importorskip("dask.array")
    return tuple(array.from_array(part, chunks=(20, *part.shape[1:])) for part in table())


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", 100.0)


def assert_refused(estimator, method, arguments, ledger, error, message):
    """The call is refused without a charge or a change, both for a new estimator and for a fitted one."""
    for fitted in (False, True):
        if fitted:
            good = type(estimator)(**NUMBERS).fit(*table())
            estimator = good.set_params(**estimator.get_params())
        before = vars(estimator).copy()
        with pytest.raises(error, match=message):
            getattr(estimator, method)(*arguments)
        assert vars(estimator).keys() == before.keys()
        assert all(vars(estimator)[name] is before[name] for name in before)
    assert ledger.entries() == []


# --- Sizes too large to be useful or affordable -------------------------------------------------------------------

TOO_LARGE = [
    ({"B": 1e12}, r"B must be at most 1,000 cells with n_samples=60, got 1000000000000\.0"),
    ({"B": 1e300}, "B must be at most 1,000 cells"),
    ({"B": 1001}, "B must be at most 1,000 cells"),
    ({"c": 1e12}, r"c must be at most \S+ with B=\S+ with n_samples=60, because master .* at most 1,000 parts, got 1"),
    ({"c": 1e300}, "c must be at most"),
    ({"c": 1e308}, "c must be at most"),
    ({"B": 1000, "c": 33}, r"c must be at most 32\.2581 with B=1000"),
    ({"mechanism": "gaussian", "delta": 1e-6, "c": 1e12}, "c must be at most"),
    (
        {"mechanism": "geometric", "c": 1e5},
        r"c must be at most [0-9.]+ with .*a noisy table has at most 100 parts per side",
    ),
    ({"mechanism": "geometric", "c": 1e308}, "c must be at most"),
    ({"mechanism": "geometric", "B": 1e12}, "B must be at most"),
]


@each("change, message", TOO_LARGE)
def test_too_large_grids_are_refused(change, message, ledger):
    assert_refused(DPMICScorer(**NUMBERS, ledger=ledger, **change), "fit", table(), ledger, ValueError, message)
    message = message.partition(" ")[0] + " must be at most"
    assert_refused(DPMICScorer(**CLASSES, ledger=ledger, **change), "fit", labelled(), ledger, ValueError, message)


SOME_TOO_LARGE = [({"B": 1001}, "B"), ({"c": 1e12}, "c"), ({"mechanism": "geometric", "c": 1e5}, "c")]


@each("change, name", SOME_TOO_LARGE)
def test_too_large_grids_are_refused_if_records_come_in_chunks(change, name, ledger):
    message = f"{name} must be at most"
    scorer = DPMICScorer(**NUMBERS, ledger=ledger, **change)
    assert_refused(scorer, "fit", dask_table(), ledger, ValueError, message)
    assert_refused(scorer, "partial_fit", (*table(), N), ledger, ValueError, message)
    with pytest.raises(ValueError, match=message):
        DPMICScorer(**NUMBERS, **change).empty_sketch(N, n_features=3)
    kind = {key: value for key, value in change.items() if key not in ("B", "c")}
    sketch = DPMICScorer(**NUMBERS, **kind).empty_sketch(N, n_features=3)
    arguments = (sketch.update(*table()),)
    assert_refused(scorer, "fit_sketch", arguments, ledger, ValueError, f"{name} must be that of the sketch")


PAIRS = {
    "laplace": {"bounds": ((0, 1), (0, 1))},
    "geometric": {"mechanism": "geometric", "bounds": ((0, 1), (0, 1))},
    "mass": {"statistic": "mic_e"},
}


@each("change, name", SOME_TOO_LARGE)
def test_too_large_grids_are_refused_by_everything_that_reads_their_sizes(change, name, ledger):
    search = PrivateGridSearch(DPMICScorer(**NUMBERS, **change), [{}, {}], scoring=lambda *_: 1.0, ledger=ledger)
    before = vars(search).copy()
    given = {"epsilon": 1, "ledger": ledger}
    calls = [
        lambda: dp_mic_regression(*table(), **given, **NUMBERS, **change),
        lambda: dp_mic_classif(*labelled(), **given, **CLASSES, **change),
        lambda: private_score(*pair(), **given, **PAIRS["laplace"] | change),
        lambda: search.fit(*table()),
    ]
    if "mechanism" not in change:
        calls.append(lambda: SelectNames(k=1, **NUMBERS, ledger=ledger, **change).fit(*table()))
    if name == "B":  # the number of master parts of a mass partition is capped at the number of records
        calls.append(lambda: private_score(*pair(), **given, **PAIRS["mass"], **change))
    for call in calls:
        with pytest.raises(ValueError, match=f"{name} must be at most"):
            call()
    assert vars(search) == before
    assert ledger.entries() == []


@each("correction", ["none", 1, True, np.array(["miller-madow"])])
def test_a_correction_that_does_not_exist_is_refused_for_a_pair(correction, ledger):
    with pytest.raises(ValueError, match="correction must be None or 'miller-madow', got"):
        private_score(*pair(), epsilon=1, ledger=ledger, correction=correction, **PAIRS["laplace"])
    assert ledger.entries() == []


def test_a_mass_partition_takes_any_c():
    here, there = (private_score(*pair(), statistic="mic_e", epsilon=math.inf, c=c) for c in (N, 1e300))
    assert here == there


# --- Other failures in what is computed from public numbers --------------------------------------------------------


def out_of_memory(*arguments, **parameters):
    raise MemoryError("too large")


@pytest.mark.parametrize(
    "name, change",
    [
        ("privacy.mechanisms.LaplaceMechanism.for_budget", {}),
        ("privacy.mechanisms.GaussianMechanism.for_budget", {"mechanism": "gaussian", "delta": 1e-6}),
        ("privacy.mechanisms.KNormMechanism.for_budget", {"mechanism": "k-norm"}),
        ("release.kinds.GeometricMechanism.for_budget", {"mechanism": "geometric"}),
        ("statistics.mic.statistic.TableScorer", {"mechanism": "geometric"}),
        ("statistics.mic.statistic.entropy_table", {}),
        ("statistics.mic.statistic.largest_rounding_error", {}),
        ("statistics.mic.statistic.mic_r_group_sensitivity", {}),
        ("statistics.measure.grid_sensitivity", {}),
    ],
)
def test_noise_and_grids_are_made_before_the_charge(name, change, ledger, monkeypatch):
    scorer = DPMICScorer(**NUMBERS, ledger=ledger, **change)
    sketch = DPMICScorer(**NUMBERS, **change).empty_sketch(N, n_features=3).update(*table())
    chunked = DPMICScorer(**NUMBERS, ledger=ledger, **change).partial_fit(*table(), n_expected=N)
    monkeypatch.setattr(f"skdpmic.{name}", out_of_memory)
    for release in (lambda: scorer.fit(*table()), lambda: scorer.fit_sketch(sketch), chunked.publish):
        with pytest.raises(MemoryError):
            release()
    assert ledger.entries() == []
    assert "_sketch" in vars(chunked)


def test_the_noise_of_a_choice_is_made_before_the_charge(ledger, monkeypatch):
    selector = SelectNames(k=1, ledger=ledger, **NUMBERS)
    monkeypatch.setattr("skdpmic.privacy.top_k.OneShotTopK.for_budget", out_of_memory)
    with pytest.raises(MemoryError):
        selector.fit(*table())
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "name, broken",
    [
        ("laplace", "mic.mic_r.continuous_grids"),
        ("laplace", "mic.mic_r.rounding_error"),
        ("laplace", "mic.statistic.entropy_table"),
        ("laplace", "measure.grid_sensitivity"),
        ("mass", "mic.statistic.mass_plan"),
        ("mass", "mic.statistic.rounding_error"),
        ("mass", "mic.statistic.entropy_table"),
        ("mass", "measure.grid_sensitivity"),
        ("geometric", "mic.statistic.resolve_parts"),
        ("geometric", "mic.statistic.TableScorer"),
        ("geometric", "mic.noisy_tables.GeometricMechanism.for_budget"),
    ],
)
def test_noise_and_grids_of_a_pair_are_made_before_the_charge(name, broken, ledger, monkeypatch):
    monkeypatch.setattr(f"skdpmic.statistics.{broken}", out_of_memory)
    with pytest.raises(MemoryError):
        private_score(*pair(), epsilon=1, ledger=ledger, **PAIRS[name])
    assert ledger.entries() == []


def test_mtv_r_never_gets_more_parts_than_are_useful(ledger):
    public = {"statistic": "mtv_r", "bounds": ((0, 1), (0, 1)), "epsilon": math.inf}
    assert private_score(*pair(), c=1e300, **public) == private_score(*pair(), c=10_000, **public)
    with pytest.raises(ValueError, match="B must be at most 1,000 cells with n_samples=60, got 1e\\+300"):
        private_score(*pair(), B=1e300, ledger=ledger, **public)
    assert ledger.entries() == []


# --- What is not refused ---------------------------------------------------------------------------------------------


def test_a_sketch_for_many_records_is_published_even_if_few_arrive(ledger):
    scorer = DPMICScorer(B=1500, c=1, ledger=ledger, **NUMBERS)
    scorer.partial_fit(*table(), n_expected=2000).publish()
    assert scorer.B_ == 1500
    with pytest.raises(ValueError, match="B must be at most 1,000 cells with n_samples=60"):
        scorer.fit(*table())
    assert len(ledger.entries()) == 1


def test_dask_collections_are_limited_by_their_own_number_of_rows(ledger):
    array = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X, y = rng.random((2000, 1)), rng.random(2000)
    lazy = [array.from_array(part, chunks=(1000, *part.shape[1:])) for part in (X, y)]
    scorer = DPMICScorer(B=1500, c=1, epsilon=math.inf, **NUMBERS)
    np.testing.assert_array_equal(scorer.fit(*lazy).scores_, scorer.fit(X, y).scores_)
    with pytest.raises(ValueError, match="B must be at most 1,000 cells with n_samples=60"):
        scorer.set_params(ledger=ledger).fit(*dask_table())
    assert ledger.entries() == []
