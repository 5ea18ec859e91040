"""What can be refused from public arguments alone is refused before a ledger is charged, and changes nothing."""

import math

import numpy as np
import pytest

from skdpmic import DPMICScorer, PrivateGridSearch, dp_mic_classif, dp_mic_regression, private_score
from tests.folding import each
from tests.select_names import SelectNames
from tests.tables import UNIT, refused

pytestmark = pytest.mark.filterwarnings("ignore:k=10 is greater", "ignore:B=")

N = 60
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


def assert_refused(estimator, method, arguments, ledger, message):
    """The call is refused without a charge or a change, both for a new estimator and for a fitted one."""
    fitted = type(estimator)(**UNIT).fit(*table()).set_params(**estimator.get_params())
    for each_one in (estimator, fitted):
        before = vars(each_one).copy()
        with refused(ValueError, message, ledger):
            getattr(each_one, method)(*arguments)
        assert vars(each_one).keys() == before.keys()
        assert all(vars(each_one)[name] is before[name] for name in before)


# --- Sizes too large to be useful or affordable -------------------------------------------------------------------

TOO_LARGE = [
    ({"B": 1e12}, r"B must be at most 1,000 cells with n_samples=60, got 1000000000000\.0"),
    ({"B": 1001}, "B must be at most 1,000 cells"),
    ({"c": 1e12}, r"c must be at most \S+ with B=\S+ with n_samples=60, because master .* at most 1,000 parts, got 1"),
    ({"c": 1e308}, "c must be at most"),
    ({"B": 1000, "c": 33}, r"c must be at most 32\.2581 with B=1000"),
    ({"mechanism": "gaussian", "delta": 1e-6, "c": 1e12}, "c must be at most"),
    ({"mechanism": "geometric", "c": 1e5}, r"c must be at most [0-9.]+ with .*a noisy table has at most 100 parts per"),
    *[({name: 1e300}, f"{name} must be at most") for name in ("B", "c")],
    ({"mechanism": "geometric", "c": 1e308}, "c must be at most"),
    ({"mechanism": "geometric", "B": 1e12}, "B must be at most"),
]


@each("change, message", TOO_LARGE)
def test_too_large_grids_are_refused(change, message, ledger):
    assert_refused(DPMICScorer(**UNIT, ledger=ledger, **change), "fit", table(), ledger, message)
    message = message.partition(" ")[0] + " must be at most"
    assert_refused(DPMICScorer(**CLASSES, ledger=ledger, **change), "fit", labelled(), ledger, message)


SOME_TOO_LARGE = [({"B": 1001}, "B"), ({"c": 1e12}, "c"), ({"mechanism": "geometric", "c": 1e5}, "c")]
PAIRS = {
    "laplace": {"bounds": ((0, 1), (0, 1))},
    "geometric": {"mechanism": "geometric", "bounds": ((0, 1), (0, 1))},
    "mass": {"statistic": "mic_e"},
}


@each("change, name", SOME_TOO_LARGE)
def test_too_large_grids_are_refused_by_everything_that_reads_their_sizes(change, name, ledger):
    search = PrivateGridSearch(DPMICScorer(**UNIT, **change), [{}, {}], scoring=lambda *_: 1.0, ledger=ledger)
    given = {"epsilon": 1, "ledger": ledger}
    calls = [
        lambda: DPMICScorer(**UNIT, **given, **change).partial_fit(*table(), N),
        lambda: DPMICScorer(**UNIT, **change).empty_sketch(N, n_features=3),
        lambda: dp_mic_regression(*table(), **given, **UNIT, **change),
        lambda: dp_mic_classif(*labelled(), **given, **CLASSES, **change),
        lambda: private_score(*pair(), **given, **PAIRS["laplace"] | change),
        lambda: search.fit(*table()),
    ]
    if "mechanism" not in change:
        calls.append(lambda: SelectNames(k=1, **UNIT, ledger=ledger, **change).fit(*table()))
    if name == "B":  # the number of master parts of a mass partition is capped at the number of records
        calls.append(lambda: private_score(*pair(), **given, **PAIRS["mass"], **change))
    array = pytest.importorskip("dask.array")
    lazy = [array.from_array(part, chunks=(20, *part.shape[1:])) for part in table()]
    calls.append(lambda: DPMICScorer(**UNIT, ledger=ledger, **change).fit(*lazy))
    kind = {key: value for key, value in change.items() if key == "mechanism"}
    sketch = DPMICScorer(**UNIT, **kind).empty_sketch(N, n_features=3).update(*table())
    with refused(ValueError, f"{name} must be that of the sketch", ledger):
        DPMICScorer(**UNIT, ledger=ledger, **change).fit_sketch(sketch)
    for call in calls:
        with refused(ValueError, f"{name} must be at most", ledger):
            call()


@each("correction", ["none", 1, True, np.array(["miller-madow"])])
def test_a_correction_that_does_not_exist_is_refused_for_a_pair(correction, ledger):
    with refused(ValueError, "correction must be None or 'miller-madow', got", ledger):
        private_score(*pair(), epsilon=1, ledger=ledger, correction=correction, **PAIRS["laplace"])


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
        ("statistics.mic.statistic.entropy_table", {"mechanism": "geometric"}),
        ("statistics.mic.statistic.entropy_table", {}),
        ("statistics.measure.grid_sensitivity", {}),
    ],
)
def test_noise_and_grids_are_made_before_the_charge(name, change, ledger, monkeypatch):
    scorer = DPMICScorer(**UNIT, ledger=ledger, **change)
    chunked = DPMICScorer(**UNIT, ledger=ledger, **change).partial_fit(*table(), n_expected=N)
    sketch = DPMICScorer(**UNIT, **change).empty_sketch(N, n_features=3).update(*table())
    monkeypatch.setattr(f"skdpmic.{name}", out_of_memory)
    for release in (lambda: scorer.fit(*table()), lambda: scorer.fit_sketch(sketch), chunked.publish):
        with refused(MemoryError, "too large", ledger):
            release()
    assert "_sketch" in vars(chunked)


def test_the_noise_of_a_choice_is_made_before_the_charge(ledger, monkeypatch):
    monkeypatch.setattr("skdpmic.privacy.top_k.OneShotTopK.for_budget", out_of_memory)
    with refused(MemoryError, "too large", ledger):
        SelectNames(k=1, ledger=ledger, **UNIT).fit(*table())


@pytest.mark.parametrize(
    "name, broken",
    [
        ("laplace", "mic.statistic.entropy_table"),
        ("mass", "mic.statistic.mass_plan"),
        ("mass", "mic.statistic.entropy_table"),
        ("geometric", "mic.statistic.entropy_table"),
    ],
)
def test_noise_and_grids_of_a_pair_are_made_before_the_charge(name, broken, ledger, monkeypatch):
    monkeypatch.setattr(f"skdpmic.statistics.{broken}", out_of_memory)
    with refused(MemoryError, "too large", ledger):
        private_score(*pair(), epsilon=1, ledger=ledger, **PAIRS[name])


# --- What is not refused ---------------------------------------------------------------------------------------------


def test_mtv_r_never_gets_more_parts_than_are_useful(ledger):
    public = {"statistic": "mtv_r", "bounds": ((0, 1), (0, 1)), "epsilon": math.inf}
    assert private_score(*pair(), c=1e300, **public) == private_score(*pair(), c=10_000, **public)
    with refused(ValueError, r"B must be at most 1,000 cells with n_samples=60, got 1e\+300", ledger):
        private_score(*pair(), B=1e300, ledger=ledger, **public)


def test_a_sketch_for_many_records_is_published_even_if_few_arrive(ledger):
    scorer = DPMICScorer(B=1500, c=1, ledger=ledger, **UNIT)
    scorer.partial_fit(*table(), n_expected=2000).publish()
    assert scorer.B_ == 1500
    with refused(ValueError, "B must be at most 1,000 cells with n_samples=60", ledger):
        scorer.fit(*table())
