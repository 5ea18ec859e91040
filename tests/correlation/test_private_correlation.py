"""PrivateCorrelation: its input, its output and its cost."""

import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skdpmic.correlation import PrivateCorrelation
from skdpmic.correlation.private_correlation import NoisyConcordances
from skdpmic.privacy.composition import rho_for
from tests.naive_ranks import naive_tau

N, D = 60, 4
X = np.random.default_rng(0).normal(size=(N, D))
X[:, 1] += X[:, 0]
EXACT = {"epsilon": math.inf}


def exact(table, **parameters):
    return PrivateCorrelation(**EXACT, **parameters).fit(table)


def taus_of(columns):
    return np.array([[float(naive_tau(list(x), list(y))) if x is not y else 1.0 for y in columns] for x in columns])


# --- Output -------------------------------------------------------------------------------------------------------


def test_without_noise_each_entry_is_kendalls_tau_of_two_columns():
    fitted = exact(X)
    np.testing.assert_allclose(fitted.noisy_correlation_, taus_of(X.T.tolist()), atol=1e-15)
    np.testing.assert_allclose(fitted.correlation_, fitted.noisy_correlation_, atol=1e-12)
    np.testing.assert_array_equal(fitted.untied_fraction_, 1.0)
    assert fitted.noise_scale_ == 0
    assert fitted.n_features_in_ == D
    assert not hasattr(fitted, "feature_names_in_")
    assert not hasattr(fitted, "n_groups_")


def test_ties_add_nothing_and_tau_b_follows_from_the_untied_fractions():
    tied = np.random.default_rng(0).integers(3, size=(N, 3)).astype(float)
    fitted = exact(tied)
    np.testing.assert_allclose(fitted.noisy_correlation_, taus_of(tied.T.tolist()), atol=1e-15)
    assert (fitted.untied_fraction_ < 0.8).all()
    tau_b = fitted.noisy_correlation_[0, 1] / math.sqrt(fitted.untied_fraction_[0] * fitted.untied_fraction_[1])
    assert tau_b == pytest.approx(stats.kendalltau(tied[:, 0], tied[:, 1]).statistic, abs=1e-12)


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_the_noise_matches_the_formula_and_is_independent_for_every_entry():
    # alpha = 1e-3 by a Kolmogorov-Smirnov test of 40 x 10 standardised noises, fixed seed.
    table = np.random.default_rng(0).normal(size=(300, 5))
    truth, above = exact(table).noisy_correlation_, np.triu_indices(5, 1)
    noises, source = [], np.random.RandomState(0)
    for _ in range(40):
        fitted = PrivateCorrelation(epsilon=2.0, delta=1e-5, random_state=source).fit(table)
        noises.append((fitted.noisy_correlation_ - truth)[above] / fitted.noise_scale_)
        np.testing.assert_array_equal(fitted.noisy_correlation_, fitted.noisy_correlation_.T)
    assert fitted.noise_scale_ == pytest.approx(
        4 / 300 * math.sqrt(6 / (2 * rho_for(2.0, 1e-5))), rel=1e-3
    )  # rounded up to whole pairs
    assert stats.kstest(np.ravel(noises), stats.norm.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(np.array(noises).T) - np.eye(10)).max() < 0.65
    assert fitted.privacy_spent_ == (2.0, 1e-5)


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_intervals_cover_the_correlation_as_often_as_stated():
    # 60 fits of 10 correlations, confidence 0.8, fixed seed: within 4 standard errors, alpha = 6e-5.
    table = np.random.default_rng(0).normal(size=(2000, 5))
    truth, above = exact(table).noisy_correlation_, np.triu_indices(5, 1)
    covered, source = [], np.random.RandomState(0)
    for _ in range(60):
        lower, upper = PrivateCorrelation(random_state=source).fit(table).correlation_interval(0.8)
        covered.append(((lower <= truth) & (truth <= upper))[above])
    assert abs(np.mean(covered) - 0.8) < 4 * math.sqrt(0.16 / 600)
    assert (lower.diagonal() == 1).all()
    assert (upper.diagonal() == 1).all()
    assert (lower >= -1).all()
    assert (upper <= 1).all()


def test_pearson_correlations_of_normal_columns_are_recovered():
    rng = np.random.default_rng(0)
    truth = np.array([[1, 0.7, -0.4], [0.7, 1, 0], [-0.4, 0, 1]])
    table = np.exp(rng.multivariate_normal(np.zeros(3), truth, 50_000, method="cholesky"))  # increasing: ranks stay
    np.testing.assert_allclose(PrivateCorrelation().fit(table).pearson_correlation(), truth, atol=0.02)


# --- Tables of every kind -------------------------------------------------------------------------------------------


def frames(table, names):
    """The table as dataframes of every kind."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table, columns=names)
    yield frame
    polars = pytest.importorskip("polars")
    yield polars.DataFrame(table, schema=names)
    yield polars.DataFrame(table, schema=names).lazy()
    pyarrow = pytest.importorskip("pyarrow")
    yield pyarrow.Table.from_pandas(frame)
    yield pyarrow.Table.from_pandas(frame).to_reader()  # can be read only once


def assert_is_frame_like(frame, matrix, names):
    """Check for a square matrix in memory, of the same library as `frame`, with these names."""
    kind = {"LazyFrame": "DataFrame", "RecordBatchReader": "Table"}.get(type(frame).__name__, type(frame).__name__)
    assert type(matrix).__name__ == kind
    assert (matrix.column_names if kind == "Table" else list(matrix.columns)) == names
    assert matrix.shape == (len(names), len(names))


def test_a_dataframe_gives_dataframes_of_its_library_with_its_names():
    expected = exact(X).correlation_
    for frame in frames(X, ["a", "b", "c", "d"]):
        fitted = exact(frame)
        matrices = [fitted.correlation_, fitted.noisy_correlation_, fitted.pearson_correlation()]
        for matrix in (*matrices, *fitted.correlation_interval()):
            assert_is_frame_like(frame, matrix, ["a", "b", "c", "d"])
        np.testing.assert_allclose(np.array(fitted.correlation_), expected, atol=1e-12)
        assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_labels_rank_in_their_order_and_types_that_declare_them_need_no_entry():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    labels = rng.choice(["low", "middle", "high", "other", None], size=N)
    place = np.array([{"low": 0, "middle": 1, "high": 2, "other": 3, None: -1}[label] for label in labels], dtype=float)
    expected = exact(np.column_stack([place, X[:, 0] + place])).noisy_correlation_
    order = ["low", "middle", "high"]
    frame = polars.DataFrame({"level": labels.tolist(), "x": X[:, 0] + place})
    found = exact(frame, categories={"level": order}).noisy_correlation_
    np.testing.assert_array_equal(np.array(found), expected)
    declared = frame.with_columns(polars.col("level").cast(polars.Enum([*order, "other"])))
    np.testing.assert_array_equal(np.array(exact(declared).noisy_correlation_), expected)
    with pytest.raises(ValueError, match="text in \\['level'\\], which must be numbers"):
        exact(frame)


# --- People -----------------------------------------------------------------------------------------------------------


def test_people_count_for_equally_many_rows_and_the_noise_covers_all_of_them():
    rows, groups = np.repeat(X, 3, axis=0), np.repeat(np.arange(N), 3)
    fitted = PrivateCorrelation(epsilon=math.inf, max_rows_per_group=3).fit(rows, groups=groups)
    np.testing.assert_array_equal(fitted.noisy_correlation_, exact(rows).noisy_correlation_)
    assert fitted.n_groups_ == N
    one_each = PrivateCorrelation(epsilon=math.inf, max_rows_per_group=1).fit(rows, groups=groups)
    np.testing.assert_array_equal(one_each.noisy_correlation_, exact(X).noisy_correlation_)
    noisy = PrivateCorrelation(max_rows_per_group=3).fit(rows, groups=groups)
    assert noisy.noise_scale_ == NoisyConcordances.for_budget(1.0, 1e-6, D, 3 * N, 3).noise_scale
    assert noisy.noise_scale_ > PrivateCorrelation().fit(rows).noise_scale_ * 2.9


def test_groups_and_max_rows_must_be_given_together():
    with pytest.raises(ValueError, match="groups must identify the person behind each row"):
        PrivateCorrelation(max_rows_per_group=2).fit(X)
    with pytest.raises(ValueError, match="max_rows_per_group must be given with groups"):
        PrivateCorrelation().fit(X, groups=np.arange(N))


# --- Cost, and errors before the charge -------------------------------------------------------------------------------


def test_a_ledger_is_charged_once_with_the_rho_of_the_release(ledger):
    PrivateCorrelation(epsilon=0.5, delta=1e-6, ledger=ledger).fit(X)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.delta) == ("PrivateCorrelation", 0.5, 1e-6)
    assert (entry.rho, entry.n, entry.d) == (rho_for(0.5, 1e-6), N, D)


WRONG = [
    ({"epsilon": 0}, "epsilon must be a number > 0"),
    ({"delta": 0.0}, "delta must be a number in (0, 1), got 0.0"),
    ({"max_rows_per_group": 0}, "max_rows_per_group must be None or an int >= 1, got 0"),
    ({"categories": {7: ["a", "b"]}}, "categories must have entries for features of X only"),
]


def assert_refused(estimator, table, error, message, ledger):
    before = vars(estimator).copy()
    with pytest.raises(error, match=re.escape(message)):
        estimator.fit(table)
    assert vars(estimator).keys() == before.keys()
    assert all(vars(estimator)[name] is before[name] for name in before)
    assert ledger.entries() == []


@pytest.mark.parametrize("change, message", WRONG)
def test_wrong_parameters_are_refused_without_a_charge_or_a_change(change, message, ledger):
    estimator = PrivateCorrelation().fit(X).set_params(**({"ledger": ledger} | change))
    assert_refused(estimator, X, (ValueError, TypeError), message, ledger)


def test_wrong_tables_are_refused_without_a_charge_or_a_change(ledger):
    array = pytest.importorskip("dask.array")
    tables = [
        (X[:3], ValueError, "minimum of 4 is required"),
        (np.ma.masked_array(X), TypeError, "masked array"),
        (array.from_array(X, chunks=20), TypeError, "X must be in memory, because ranks cannot be computed"),
    ]
    for table, error, message in tables:
        assert_refused(PrivateCorrelation(ledger=ledger), table, error, message, ledger)


def test_noise_that_exceeds_the_signal_is_warned_about_before_the_charge(ledger):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = r"noise will exceed the signal: with n_samples=60, n_features=4 and epsilon=0\.1"
        with pytest.raises(UserWarning, match=message):
            PrivateCorrelation(epsilon=0.1, ledger=ledger).fit(X)
        assert ledger.entries() == []
        PrivateCorrelation(epsilon=9.0, ledger=ledger).fit(X)
    assert len(ledger.entries()) == 1
    with pytest.warns(UserWarning, match="noise will exceed the signal") as caught:
        PrivateCorrelation(epsilon=0.1).fit(X)
    assert caught[0].filename == __file__


def test_too_many_rows_for_exact_sums_of_pairs_are_refused_before_the_charge(ledger, monkeypatch):
    monkeypatch.setattr("skdpmic.correlation.private_correlation.MAX_RECORDS", N - 1)
    with pytest.raises(ValueError, match=f"X must have at most .* samples, got n_samples={N:,}"):
        PrivateCorrelation(ledger=ledger).fit(X)
    assert ledger.entries() == []


def test_the_noise_is_known_before_there_is_a_table(ledger):
    private = PrivateCorrelation(epsilon=0.7, delta=1e-5, ledger=ledger)
    assert private.noise_scale_for(N, D) == clone(private).fit(X).noise_scale_
    people = PrivateCorrelation(max_rows_per_group=2)
    assert people.noise_scale_for(N // 2, D) == people.fit(X, groups=np.arange(N) // 2).noise_scale_
    assert len(ledger.entries()) == 1
    for wrong in ({"n_samples": 3}, {"n_samples": 10.5}, {"n_features": 1}, {"n_features": True}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be an int >= "):
            private.noise_scale_for(**({"n_samples": 10, "n_features": 5} | wrong))


def test_pearson_correlations_of_a_column_with_many_ties_are_nan_and_do_not_affect_the_others():
    """With s -> a and s -> b, the sine of tau-b of a and s would make a and b look dependent given s."""
    rng = np.random.default_rng(0)
    s = rng.integers(0, 5, size=20_000)
    table = np.column_stack([s + rng.normal(size=20_000), s, s + rng.normal(size=20_000)])
    private = PrivateCorrelation(epsilon=np.inf).fit(table)
    with pytest.warns(UserWarning, match=re.escape("untied_fraction_ of [1] is below 0.99")) as caught:
        pearson = private.pearson_correlation()
    assert caught[0].filename == __file__
    assert np.isnan(pearson[1, [0, 2]]).all()
    assert np.isnan(pearson[[0, 2], 1]).all()
    assert pearson[1, 1] == 1
    without = PrivateCorrelation(epsilon=np.inf).fit(table[:, [0, 2]]).pearson_correlation()
    np.testing.assert_array_equal(pearson[np.ix_([0, 2], [0, 2])], without)
