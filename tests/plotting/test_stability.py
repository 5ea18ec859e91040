"""Frequencies of choices are right where the truth is known, and drawn at their place."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.plotting import StabilityDisplay
from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism
from skdpmic.release import repeated_choices
from skdpmic.release.repeated_choices import ReleasedScores, chances_among_best, frequencies_of_choice
from tests.folding import each
from tests.select_names import SelectNames

PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 2)}


def data(n=500, d=6):
    X = np.random.default_rng(0).random((n, d))
    return X, X[:, 0] + X[:, 1] ** 2


def fitted(d=6, **parameters):
    return DPMICScorer(**PUBLIC, **parameters).fit(*data(d=d))


MECHANISMS = {"laplace": {}, "gaussian": {"mechanism": "gaussian", "delta": 1e-6}, "k-norm": {"mechanism": "k-norm"}}


def said_and_chosen(release, truth_is_released=False):
    """Frequencies as they are said and the choices made, of 150 tables of 20 scores, at three times the epsilon."""
    d, k, scale, random = 20, 5, 0.15, np.random.default_rng(0)
    rows = []
    for seed in range(150):
        truths = random.random(d)
        released = np.clip(truths + random.laplace(scale=scale, size=d), 0, 1)
        fit = ReleasedScores(released, 0.0, LaplaceMechanism(round(scale / GRID)), 1.0, 0.0)
        law = fit.mechanism_at(3.0, k, release).law
        said = frequencies_of_choice(fit, [3.0], k, release, 300, seed)[0]
        if truth_is_released:
            noisy = released + law.rvs(size=(300, d), random_state=random)
            said = (noisy >= np.sort(noisy, axis=1)[:, -k, None]).mean(axis=0)
        noisy = truths + law.rvs(size=(300, d), random_state=random)
        rows.append([said, (noisy >= np.sort(noisy, axis=1)[:, -k, None]).mean(axis=0)])
    return np.concatenate(rows, axis=1)


def gaps(said, chosen):
    """Mean of what is said less what is chosen, in standard errors, for features said to be chosen seldom ... often."""
    cells = np.digitize(said, [0.1, 0.4, 0.8])
    return [
        (said - chosen)[cells == i].mean() / ((said - chosen)[cells == i].std() / np.sqrt((cells == i).sum()))
        for i in range(4)
    ]


@pytest.mark.parametrize("release", ["scores", pytest.param("names", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_features_are_chosen_as_often_as_is_said(release):
    """3,000 features of any score; beyond 4 standard errors once in 16,000. Scores taken for the truth fail."""
    assert np.abs(gaps(*said_and_chosen(release))).max() < 4
    assert np.abs(gaps(*said_and_chosen(release, truth_is_released=True))).max() > 6


@pytest.mark.parametrize("epsilon", [0.5, 7])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_noise_at_another_epsilon_is_that_of_a_fit(mechanism, epsilon):
    fit = ReleasedScores.of_estimator(fitted(epsilon=2, **MECHANISMS[mechanism]), "a test")
    other = fitted(epsilon=epsilon, **MECHANISMS[mechanism])
    assert fit.mechanism_at(epsilon, 2, "scores").noise_scale == pytest.approx(other.noise_scale_, rel=1e-6)
    names = SelectNames(k=2, epsilon=epsilon, **PUBLIC, delta=MECHANISMS[mechanism].get("delta", 0.0)).fit(*data())
    chooser = fit.mechanism_at(epsilon, 2, "names")
    assert chooser.name == names.mechanism_
    assert chooser.noise_scale == pytest.approx(names.noise_scale_, rel=1e-6)


def test_many_choices_with_delta_are_made_by_the_exponential_mechanism():
    fit = ReleasedScores.of_estimator(fitted(d=60, epsilon=2, **MECHANISMS["gaussian"]), "a test")
    selector = SelectNames(k=50, epsilon=3, **PUBLIC, delta=MECHANISMS["gaussian"]["delta"]).fit(*data(d=60))
    chooser = fit.mechanism_at(3, 50, "names")
    assert chooser.name == selector.mechanism_ == "exponential"
    assert chooser.noise_scale == pytest.approx(selector.noise_scale_, rel=1e-6)


def test_what_is_public_about_chance_is_taken_off_before_features_are_compared():
    scores, by_chance = np.array([0.5, 0.4, 0.3]), np.array([0.3, 0.0, 0.0])
    fit = ReleasedScores(scores, by_chance, LaplaceMechanism(1000), 1.0, 0.0)
    assert frequencies_of_choice(fit, [1.0], 1, "scores", 20, 0).tolist() == [[0, 1, 0]]


def test_more_epsilon_brings_the_choice_that_scores_without_noise_would_give(pyplot):
    display = StabilityDisplay.from_estimator(fitted(epsilon=20), k=2, epsilons=[0.001, 1, np.inf])
    np.testing.assert_allclose(display.frequencies.sum(axis=1), 2)
    np.testing.assert_allclose(display.frequencies[0], 2 / 6, atol=0.08)  # 5 standard errors of 1,000 simulations
    assert (display.frequencies[2, :2] > 0.95).all()
    assert display.ax_.get_xticklabels()[2].get_text() == "∞"


def test_the_picture_shows_the_frequencies_best_first_and_what_was_chosen_in_bold(pyplot):
    pandas = pytest.importorskip("pandas")
    X, y = data(d=12)
    X = pandas.DataFrame(X, columns=[f"column {i}" for i in range(11)] + ["a name that no phone is wide enough for"])
    selector = DPMICSelector(k=2, epsilon=30, **PUBLIC).fit(X, y)
    display = StabilityDisplay.from_estimator(selector)
    order = np.argsort(selector.ranking_)
    assert display.frequencies.shape == (7, 12)
    np.testing.assert_allclose(display.epsilons, [3, 6, 15, 30, 60, 150, 300])
    np.testing.assert_array_equal(display.image_.get_array(), display.frequencies[:, order[:10]].T)
    labels = display.ax_.get_yticklabels()
    shown = [name if len(name) < 25 else "a name that no phone is…" for name in X.columns[order[:10]]]
    assert [label.get_text() for label in labels] == shown
    assert [label.get_fontweight() for label in labels] == ["bold"] * 2 + ["normal"] * 8
    assert [tick.get_text() for tick in display.ax_.get_xticklabels() if tick.get_fontweight() == "bold"] == ["30"]
    assert display.plot(max_features=12).image_.get_array().shape == (12, 7)
    assert display.figure_ is display.ax_.figure


def test_it_is_drawn_on_given_axes_and_the_seed_decides_the_simulations(pyplot):
    scorer, (_, ax) = fitted(epsilon=1), pyplot.subplots()
    options = {"k": 2, "n_simulations": 50, "epsilons": np.geomspace(0.1, 10, 11), "release": "names"}
    displays = [StabilityDisplay.from_estimator(scorer, ax=ax, random_state=seed, **options) for seed in (0, 0, 1)]
    assert displays[0].ax_ is ax
    assert (displays[0].frequencies == displays[1].frequencies).all()
    assert (displays[0].frequencies != displays[2].frequencies).any()
    assert len(ax.get_xticklabels()) < 7


@each(
    "parameters, options, error, message",
    [
        ({"epsilon": np.inf}, {}, ValueError, "finite epsilon"),
        ({"threshold": 0.5}, {}, ValueError, "k must be given"),
        ({"k": "all"}, {}, ValueError, "k must be given"),
        ({}, {"k": 7}, ValueError, "k must be at most n_features = 6, got 7"),
        ({}, {"k": 0}, ValueError, "k must be an int >= 1, got 0"),
        ({}, {"epsilons": [1, -1]}, ValueError, "epsilon must be a number > 0"),
        ({}, {"epsilons": 1}, ValueError, "epsilons must be a sequence"),
        ({}, {"release": "order"}, ValueError, "release must be 'scores' or 'names', got 'order'"),
        ({}, {"n_simulations": 0.5}, ValueError, "n_simulations must be an int >= 1, got 0.5"),
        ({}, {"max_features": 0}, ValueError, "max_features must be an int >= 1, got 0"),
    ],
)
def test_what_cannot_be_simulated_is_refused(parameters, options, error, message):
    selector = DPMICSelector(**{"k": 2, **PUBLIC, **parameters}).fit(*data())
    with pytest.raises(error, match=message):
        StabilityDisplay.from_estimator(selector, **options)


def test_scores_from_noisy_counts_are_refused():
    scorer = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), mechanism="geometric").fit(*data())
    with pytest.raises(AttributeError, match="mechanism='geometric'"):
        StabilityDisplay.from_estimator(scorer, k=2)


def test_a_scorer_must_be_told_k_and_be_fitted():
    with pytest.raises(ValueError, match="k must be given"):
        StabilityDisplay.from_estimator(fitted())
    with pytest.raises(NotFittedError):
        StabilityDisplay.from_estimator(DPMICScorer(**PUBLIC), k=1)


def test_noise_in_a_cube_is_drawn_for_all_features_together():
    """The noise of one fit is large everywhere or nowhere: absolute values are correlated."""
    noise = repeated_choices._noise(CubeLaw(2, 0.1), (5000, 2), np.random.default_rng(0))
    assert noise.shape == (5000, 2)
    assert np.corrcoef(np.abs(noise.T))[0, 1] > 0.2
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.06


# --- How sure a choice is -----------------------------------------------------------------------------------------


def test_of_gaps_the_confidence_of_each_feature_chosen_is_shown_and_none_of_the_last(pyplot):
    X, y = data(n=4000)
    selector = PrivateSelectKBest(3, criterion="single", bounds=(0, 1), target_bounds=(0, 2), keep=[5]).fit(X, y)
    selector.gaps_ = np.array([0.5, 3]) * selector.noise_scale_  # as they may come out
    display = StabilityDisplay.from_estimator(selector)
    order = np.argsort(selector.ranking_, kind="stable")[1:4]
    np.testing.assert_allclose(display.frequencies[0, order], [(1 - np.exp(-3.5)) ** 2, 1 - np.exp(-3), np.nan])
    assert np.isnan(np.delete(display.frequencies[0], order[:2])).all()
    assert [text.get_text() for text in display.ax_.texts] == ["94", "95", "?"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [f"feature {j}" for j in order]
    assert "confidence" in display.ax_.get_title()
    with pytest.raises(ValueError, match="epsilons must be None with an estimator that has released gaps"):
        StabilityDisplay.from_estimator(selector, epsilons=[1])


@pytest.mark.slow
def test_features_are_among_the_best_as_often_as_is_said():
    """3,000 scores that are as likely as others; beyond 4 standard errors once in 16,000."""
    d, k, scale, random, rows = 20, 5, 0.15, np.random.default_rng(0), []
    for _ in range(150):
        truths = random.random(d)
        released = np.clip(truths + random.laplace(scale=scale, size=d), 0, 1)
        said = chances_among_best(ReleasedScores(released, 0.0, LaplaceMechanism(round(scale / GRID)), 1.0, 0.0), k)
        rows.append([said, truths >= np.sort(truths)[-k]])
    assert max(map(abs, gaps(*np.concatenate(rows, axis=1)))) < 4
