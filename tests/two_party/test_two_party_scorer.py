"""TwoPartyScorer: scores from reports, their errors, and what is published at what cost."""

import math
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning
from skdpmic.table.domains import Range
from skdpmic.two_party import TwoPartyScorer, distance_correlation
from skdpmic.two_party import two_party_scorer as module
from skdpmic.two_party.reports import ReportedColumn
from tests.two_party.sent import reports_of, seeded

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")

STATISTICS = ("distance_correlation", "mtv_r", "mic_r")
BOUNDS = {"target_bounds": (-1, 2)}


def line(n, rng):
    """One column, and a target whose distance correlation with it is 0.737."""
    x = rng.random((n, 1))
    return x, x[:, 0] + 0.25 * rng.standard_normal(n)


# --- Without noise ----------------------------------------------------------------------------------------------------


def u_products(x, y):
    """Products of U-centred distances (Székely and Rizzo 2014): another way to write equation 1."""

    def centred(values):
        n, D = len(values), np.abs(values[:, np.newaxis] - values)
        rows = D.sum(axis=1) / (n - 2)
        U = D - rows[:, np.newaxis] - rows + D.sum() / ((n - 1) * (n - 2))
        np.fill_diagonal(U, 0.0)
        return U

    return centred(x) * centred(y)


def plain_distance_correlation(x, y):
    return math.sqrt(u_products(x, y).sum() / math.sqrt(u_products(x, x).sum() * u_products(y, y).sum()))


@pytest.mark.parametrize("n_parts", [2, 4, 8])
def test_without_noise_the_score_is_the_distance_correlation_of_the_centres_of_parts(n_parts):
    """For any distribution of the values: the reference implementation takes the centres, not the parts."""
    rng = np.random.default_rng(1)
    for x in (rng.random(500), rng.lognormal(size=500) / 5, rng.integers(2, size=500), rng.integers(3, size=500) / 2):
        y = x + 0.25 * rng.standard_normal(500)
        centres = np.minimum(np.floor(n_parts * x), n_parts - 1)
        (score,) = TwoPartyScorer().fit(reports_of(x[:, np.newaxis], math.inf, n_parts=n_parts), y).scores_
        assert score == pytest.approx(plain_distance_correlation(centres, y), abs=2e-3)


def test_covariances_are_in_the_units_of_the_target_or_of_its_bounds():
    """Equation 1 for the target and the centres of four parts of the feature."""
    x, y = line(100, np.random.default_rng(2))
    sent = reports_of(x, math.inf, n_parts=4)
    centres = (np.floor(4 * x[:, 0]) + 0.5) / 4
    for target, bob in ((10 * y, TwoPartyScorer()), (y.clip(0, 2) / 2, TwoPartyScorer(target_bounds=(0, 2)))):
        given = target if bob.target_bounds is None else y
        (found,) = bob.fit(sent, given).distance_covariances_
        assert found == pytest.approx(u_products(centres, target).sum() / (100 * 97))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_missing_values_labels_and_classes_affect_scores(statistic):
    """A feature is missing, or has a label, where the class is 1."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1000)
    table = pandas.DataFrame(
        {"gap": np.where(y == 1, np.nan, 0.5), "label": np.where(y == 1, "b", "a"), "other": rng.random(1000)}
    )
    public = {"bounds": {"gap": (0, 1), "other": (0, 1)}, "categories": {"label": ["a", "b"]}}
    sent = reports_of(table, math.inf, **public)
    bob = TwoPartyScorer(statistic, classes=["no", "yes"]).fit(sent, np.array(["no", "yes"])[y])
    assert bob.scores_[:2].min() > 0.95
    assert bob.scores_[2] < 0.15
    assert bob.feature_names_in_.tolist() == ["gap", "label", "other"]


def test_target_bounds_are_required_where_the_target_is_cut_into_parts_and_clip_it_elsewhere():
    x, y = line(300, np.random.default_rng(0))
    sent = reports_of(x)
    free, clipped = TwoPartyScorer().fit(sent, y), TwoPartyScorer(target_bounds=(0.4, 0.6)).fit(sent, y)
    assert clipped.scores_ == pytest.approx(TwoPartyScorer().fit(sent, y.clip(0.4, 0.6)).scores_)
    assert clipped.scores_ != pytest.approx(free.scores_)
    assert TwoPartyScorer().fit(sent, 1e200 * y).scores_ == pytest.approx(free.scores_)
    for parameters in ({"epsilon": 1.0}, {"statistic": "mtv_r"}, {"statistic": "mic_r"}):
        with pytest.raises(ValueError, match="exactly one of target_bounds"):
            TwoPartyScorer(**parameters).fit(sent, y)


# --- With noise: errors and intervals ---------------------------------------------------------------------------------


def test_a_higher_confidence_has_a_wider_interval():
    x, y = line(5000, np.random.default_rng(0))
    bob = TwoPartyScorer().fit(reports_of(x), y)
    (low, high), (lower, higher) = bob.scores_interval(0.5), bob.scores_interval(0.99)
    assert lower <= low < high <= higher
    with pytest.raises(ValueError, match="confidence must be"):
        bob.scores_interval(1.0)


def test_intervals_allow_for_the_noise_on_counts_but_not_for_twice_its_variance():
    """One table of 20,000 records, with 300 draws of noise: the variance of the noise, beside that of the records."""
    x, y = line(20_000, np.random.default_rng(0))
    column, inverse = ReportedColumn("x", Range(0.0, 1.0), 4, False), np.eye(4)
    counts = np.histogram2d(x[:, 0], np.clip(y, -1, 2), bins=(4, 8), range=((0, 1), (-1, 2)))[0]
    of_counts = partial(
        distance_correlation.estimate_from_counts, n=20_000, is_discrete=False, column=column, inverse=inverse
    )
    of_records, rng = of_counts(counts, scale=0)[0], np.random.default_rng(1)
    residual = np.array([1.0, -of_records.value])  # the interval is for this
    found = [of_counts(counts + np.rint(rng.laplace(0, 30, counts.shape)), scale=30)[0] for _ in range(300)]
    without, *with_noise = [residual @ estimate.errors @ residual for estimate in (of_records, *found)]
    claimed = np.mean(with_noise) - without
    assert claimed > 2 * without
    drawn = np.var([residual @ (estimate.covariance, estimate.spread) for estimate in found])
    assert claimed / 2 < drawn < 1.25 * claimed  # 3 standard errors of a variance


@pytest.mark.parametrize("statistic", ["mtv_r", "mic_r"])
def test_the_scores_that_noise_on_counts_gives_independent_columns_are_subtracted(statistic):
    """Mean scores of 20 tables of 2,000 independent records, with noise that alone would score 0.1 or more."""
    rng, score = np.random.default_rng(0), partial(module.table_score, statistic, inverse=np.eye(4), is_discrete=False)
    drawn = [rng.multinomial(2000, np.full(32, 1 / 32)).reshape(4, 8) for _ in range(20)]
    noisy = [counts + np.rint(rng.laplace(0, 30, counts.shape)) for counts in drawn]
    assert abs(np.mean([score(counts=counts, scale=30) for counts in noisy])) < 0.05
    assert np.mean([score(counts=counts, scale=0) for counts in noisy]) > 0.1


# --- What is published ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sent():
    return reports_of(SENT, 6.0)  # two of four columns for each record


Y = np.random.default_rng(1).random(300)
SENT = np.random.default_rng(0).random((300, 4))


@seeded
@pytest.mark.parametrize("target", [{"target_bounds": (0, 1)}, {"classes": [0, 1, 2]}])
def test_counts_are_those_of_the_records_plus_the_noise_of_the_formula(sent, target, monkeypatch):
    monkeypatch.setattr(module, "_FINER", {})  # as many parts without noise as with it
    y = Y if "target_bounds" in target else (3 * Y).astype(int)
    exact = TwoPartyScorer(epsilon=math.inf, **target).fit(sent, y)
    assert sum(counts.sum() for counts in exact.noisy_counts_) == 2 * 300  # each record is in two tables
    np.testing.assert_array_equal([counts.sum() for counts in exact.noisy_counts_], exact.n_reported_)
    noise = []
    for seed in range(12):
        bob = TwoPartyScorer(epsilon=0.5, random_state=seed, **target).fit(sent, y)
        assert bob.noise_scale_ == 2 * 2 / 0.5
        noise += [noisy - counts for noisy, counts in zip(bob.noisy_counts_, exact.noisy_counts_, strict=True)]
    noise = np.concatenate([of_table.ravel() for of_table in noise])  # of at least 1,296 counts
    assert np.abs(noise).mean() == pytest.approx(8.0, rel=0.09)
    assert noise.dtype == np.int64


@pytest.mark.parametrize("statistic", STATISTICS)
def test_everything_published_follows_from_the_noisy_counts(sent, statistic, monkeypatch):
    """Two targets whose noisy counts happen to be the same leave the same scorer."""
    bob = TwoPartyScorer(statistic, target_bounds=(0, 1), epsilon=1.0)
    released, states = bob.fit(sent, Y).noisy_counts_, []
    for y in (Y, SENT[:, 0]):  # their scores differ without noise
        to_come = iter(released)
        monkeypatch.setattr(module, "with_laplace_noise", lambda counts, scale, source, to_come=to_come: next(to_come))
        bob.fit(sent, y)
        state = {name: value for name, value in bob.__getstate__().items() if name != "nonce"}
        shown = bob._repr_html_()
        states.append((joblib.hash(state), repr(bob), shown[shown.index('<div class="skdpmic-release">') :]))
    assert states[0] == states[1]


def test_what_is_published_is_charged_before_noise_is_drawn(sent, tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "bob.db", epsilon=1.5)
    bob = TwoPartyScorer(target_bounds=(0, 1), epsilon=1.0, ledger=ledger).fit(sent, Y)
    assert bob.privacy_spent_ == (1.0, 0.0)
    assert bob.privacy_of_reports_ == (6.0, 0.0)
    (entry,) = ledger.entries()
    assert str(entry) == "TwoPartyScorer, distance_correlation, tables of 4, geometric"
    assert (entry.epsilon, entry.n, entry.d) == (1.0, 300, 4)
    monkeypatch.setattr(module, "with_laplace_noise", None)
    before = dict(vars(bob))
    with pytest.raises(BudgetError):
        bob.fit(sent, Y)
    assert vars(bob) == before


def test_bad_input_charges_nothing_and_leaves_the_scorer_as_it_was(sent, ledger):
    bob = TwoPartyScorer(target_bounds=(0, 1), epsilon=0.5, ledger=ledger).fit(sent, Y)
    before = dict(vars(bob))
    labels = np.full(len(Y), "a")
    for reports, y in ((sent, Y[:-1]), (sent, Y * np.nan), (sent, labels), (sent.drop(["x0"]), Y), (None, Y)):
        with pytest.raises((ValueError, TypeError)):
            bob.fit(reports, y)
    assert vars(bob) == before
    assert len(ledger.entries()) == 1


def test_seeds_warn_where_something_is_published(sent):
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as record:
        bob = TwoPartyScorer(epsilon=1.0, target_bounds=(0, 1), random_state=0).fit(sent, Y)
    assert record[0].filename == __file__
    assert "No privacy: random_state was set" in bob._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TwoPartyScorer(random_state=0).fit(sent, Y)


# --- Inside scikit-learn ----------------------------------------------------------------------------------------------


KNOWN = {"statistic": "mtv_r", "target_bounds": (0, 1), "target_shares": [0.5, 0.5]}


BAD = {
    "statistic must be 'distance_correlation', 'mtv_r' or 'mic_r'": {"statistic": "kendall"},
    "target_shares must be None with statistic='mic_r'": {**KNOWN, "statistic": "mic_r"},
    "target_shares must": {**KNOWN, "target_shares": [0.5, 0.4]},
    "epsilon must be": {"epsilon": 0.0},
    "exactly one of target_bounds": {"classes": [0, 1], "target_bounds": (0, 1)},
    "classes must be a list or array of at least 2": {"classes": [0]},
    "ledger must be a BudgetLedger": {"ledger": "bob.db"},
}


def test_parameters_are_checked(sent):
    for phrase, change in BAD.items():
        with pytest.raises(ValueError, match=phrase):
            TwoPartyScorer(**change).fit(sent, Y)


def test_results_are_those_of_the_last_fit(sent):
    bob = TwoPartyScorer("mtv_r", target_bounds=(0, 1), epsilon=1.0).fit(sent, Y)
    assert "mtv_r" in bob._repr_html_()
    with pytest.raises(AttributeError, match="requires statistic='distance_correlation'"):
        bob.scores_interval()
    bob.set_params(statistic="distance_correlation", epsilon=None).fit(sent, Y)
    assert not hasattr(bob, "noise_scale_")
    assert not hasattr(bob.set_params(statistic="mic_r").fit(sent, Y), "distance_covariances_")
    copy = clone(bob)
    assert copy.get_params() == bob.get_params()
    with pytest.raises(NotFittedError):
        copy.scores_interval()
    assert repr(TwoPartyScorer(epsilon=2.0)) == "TwoPartyScorer(epsilon=2.0)"
