"""The plot of how often each feature would be chosen at other epsilons."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils import check_random_state

from skdpmic._utils.arguments import check_row, check_whole
from skdpmic._utils.results import best_first
from skdpmic._utils.texts import in_short, names_of
from skdpmic.plotting.figures import NOISE, Display, feature_labels
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.release.repeated_choices import ReleasedScores, frequencies_of_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

_FACTORS = (0.1, 0.2, 0.5, 1, 2, 5, 10)  # multiples of the epsilon of the fit, by default
_LEAST_ROWS = 10
_MOST_COLUMNS_WITH_TEXT = 10


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """Plot of how often each feature would be among the k chosen, at this epsilon or others.

    It is computed from the release and the known noise distribution, so it costs no further budget and may be
    published. For scores, each simulation draws noise-free scores from their posterior given the released ones, with a
    uniform prior on [0, 1]; then it adds the noise of a fit at the other epsilon, and chooses. For names and gaps, as
    published by :class:`skdpmic.PrivateSelectKBest`, it shows the confidence that each feature chosen is among the k
    best without noise; the last one has none, because nothing is known about the features not chosen.

    Parameters
    ----------
    frequencies : ndarray of shape (n_epsilons, n_features)
        Share of simulated fits that choose each feature; or confidence, NaN if there is none.
    epsilons : ndarray of shape (n_epsilons,)
        Epsilons of these fits.
    k : int
        Number of features that each fit chooses.
    ranking : ndarray of shape (n_features,)
        Rank of each feature in the fit that released the scores.
    feature_names : sequence of str, default=None
        Names of the features; None numbers them.
    epsilon : float, default=None
        Epsilon of the fit that released the scores; its column is marked.
    is_confidence : bool, default=False
        Whether `frequencies` are the confidence that features are among the k best without noise.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
        One row per feature shown, best first, and one column per epsilon.

    See Also
    --------
    StabilityDisplay.from_estimator : Plots a fitted estimator.
    DPMICScorer.scores_interval : Returns intervals for the noise-free scores.

    Notes
    -----
    ``docs/choose/planning.md`` compares the frequencies with those of real choices. If nearly all features are
    irrelevant, those that noise has put far ahead are overestimated.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import DPMICScorer
    >>> from skdpmic.plotting import StabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(5000, 3))
    >>> scorer = DPMICScorer(statistic="mtv_r", epsilon=1, bounds=(0, 1), target_bounds=(0, 1)).fit(X, X[:, 1] ** 2)
    >>> display = StabilityDisplay.from_estimator(scorer, k=1, epsilons=[0.5, 1, 2])
    >>> display.frequencies[2].round(2)
    array([0., 1., 0.])
    """

    frequencies: ArrayLike
    epsilons: ArrayLike
    _: KW_ONLY
    k: int
    ranking: ArrayLike
    feature_names: Sequence[str] | None = None
    epsilon: float | None = None
    is_confidence: bool = False

    @classmethod
    def from_estimator(
        cls,
        estimator,
        *,
        epsilons: ArrayLike | None = None,
        k: int | None = None,
        release: str = "scores",
        n_simulations: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        ax: Axes | None = None,
        max_features: int | None = None,
        cmap: str | Colormap = "Blues",
    ) -> StabilityDisplay:
        """Simulate choices from the released scores of a fitted estimator, and plot how often each feature is chosen.

        Parameters
        ----------
        estimator : DPMICScorer, DPMICSelector or PrivateSelectKBest
            An estimator fitted with ``mechanism="laplace"``, "gaussian" or "k-norm", and a finite epsilon; or with
            released gaps, which do not allow other epsilons or another `k`.
        epsilons : array-like of shape (n_epsilons,), default=None
            Epsilons of the simulated fits; above 0. None uses a tenth to ten times the epsilon of the fit.
        k : int, default=None
            Number of features chosen; None uses the `k` of a selector.
        release : {"scores", "names"}, default="scores"
            What the simulated fits publish: "scores" of all features, with the mechanism of the fit, or only the
            "names" of the k best, with less noise. `delta` is that of the fit.
        n_simulations : int, default=1000
            Number of simulations; the standard error of a frequency is at most ``0.5 / sqrt(n_simulations)``.
        random_state : None, int or RandomState, default=0
            Seed of the simulations only; it does not affect privacy.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        max_features : int, default=None
            Maximum number of features shown, best of the fit first; None shows twice `k`, and at least 10.
        cmap : str or matplotlib Colormap, default="Blues"

        Returns
        -------
        StabilityDisplay

        Raises
        ------
        AttributeError
            If the estimator has released neither scores nor gaps, or scores from noisy counts.
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is invalid.

        Notes
        -----
        The sensitivity of a score is assumed to be that of the fit. With ``statistic="mic_r"``, ``B="auto"`` and
        ``c="auto"``, a fit at another epsilon would use slightly different grids and have other scores, which is not
        simulated.

        The order in `ranking_` of features whose scores were clamped to 0 or 1 is not used.
        """
        if hasattr(estimator, "gaps_"):
            _refuse_others(epsilons=epsilons, k=k)
            return cls._of_gaps(estimator).plot(ax=ax, max_features=max_features, cmap=cmap)
        fitted = ReleasedScores.of_estimator(estimator, cls.__name__)
        epsilons = _check_epsilons(epsilons, fitted.epsilon)
        k = _check_k(k, estimator, len(fitted.scores))
        if release not in ("scores", "names"):
            raise ValueError(f"release must be 'scores' or 'names', got {release!r}.")
        check_whole(n_simulations, "n_simulations")
        seed = check_random_state(random_state).randint(2**31)
        display = cls(
            frequencies_of_choice(fitted, epsilons, k, release, n_simulations, seed),
            epsilons,
            k=k,
            ranking=estimator.ranking_,
            feature_names=names_of(estimator),
            epsilon=fitted.epsilon,
        )
        return display.plot(ax=ax, max_features=max_features, cmap=cmap)

    @classmethod
    def _of_gaps(cls, estimator):
        (chosen, sure), epsilon = estimator._chosen_and_sure(), estimator.privacy_spent_[0]
        confidence = np.full((1, estimator.n_features_in_), np.nan)
        confidence[0, chosen[sure > 0]] = sure[sure > 0]
        names = names_of(estimator)
        of_fit = {"ranking": estimator.ranking_, "feature_names": names, "epsilon": epsilon}
        return cls(confidence, np.array([epsilon]), k=len(chosen), is_confidence=True, **of_fit)

    def plot(self, ax: Axes | None = None, *, max_features: int | None = None, cmap: str | Colormap = "Blues") -> Self:
        """Plot the frequencies.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        max_features : int, default=None
            Maximum number of features shown, best of the fit first; None shows twice `k`, and at least 10.
        cmap : str or matplotlib Colormap, default="Blues"

        Returns
        -------
        self : StabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is invalid.
        """
        shown = best_first(np.asarray(self.ranking))[: self._n_shown(max_features)]
        ax = self._begin(ax, (4.6, 1.1 + 0.26 * len(shown)))
        epsilons = np.asarray(self.epsilons)
        values = np.asarray(self.frequencies)[:, shown].T
        self.image_ = ax.imshow(values, vmin=0, vmax=1, aspect="auto", cmap=cmap)
        has_text = len(epsilons) <= _MOST_COLUMNS_WITH_TEXT
        if has_text:
            _write_in_cells(ax, values, self.image_)
        else:
            self.figure_.colorbar(self.image_, ax=ax)
        names = feature_labels(self.feature_names, len(np.asarray(self.ranking)))
        names = [names[i] for i in shown]
        is_chosen = np.asarray(self.ranking)[shown] <= self.k
        _label(ax.set_yticks, names, is_chosen, len(names))
        n_labels = len(epsilons) if has_text else _MOST_COLUMNS_WITH_TEXT // 2
        labels = [in_short(epsilon, 2) for epsilon in epsilons]
        _label(ax.set_xticks, labels, epsilons == self.epsilon, n_labels)
        if 0 < is_chosen.sum() < len(shown):
            ax.axhline(is_chosen.sum() - 0.5, color=NOISE, linewidth=2)
        ax.set_xlabel("ε" if self.epsilon is None else f"ε (scores released at {in_short(self.epsilon, 2)})")
        unit = ", in %" if has_text else ""
        title = f"frequency among the {self.k} chosen{unit}\nbold: chosen by the released scores"
        if self.is_confidence:
            title = f"confidence of being among the {self.k} best\nwithout noise: at least, in %"
        ax.set_title(title, fontsize=10)
        return self

    def _n_shown(self, max_features):
        if max_features is None:
            return self.k if self.is_confidence else max(_LEAST_ROWS, 2 * self.k)
        check_whole(max_features, "max_features")
        return max_features


# --- Arguments ------------------------------------------------------------------------------------------------------


def _check_epsilons(epsilons, epsilon):
    if epsilons is None:
        return epsilon * np.array(_FACTORS)
    epsilons = check_row(epsilons, "iuf", "epsilons must be a sequence of numbers > 0")
    for value in epsilons:
        check_epsilon(value)
    return epsilons.astype(np.float64)


def _refuse_others(**given):
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must be None with an estimator that has released gaps instead of scores.")


def _check_k(k, estimator, n_features):
    if k is None:
        k = getattr(estimator, "k", None)
        if k in (None, "all") or any(getattr(estimator, name, None) is not None for name in ("threshold", "fdr")):
            raise ValueError(f"k must be given with an estimator that does not choose k features, got {estimator!r}.")
        k = min(k, n_features)
    check_whole(k, "k")
    if k > n_features:
        raise ValueError(f"k must be at most n_features = {n_features}, got {k!r}.")
    return k


# --- Drawing --------------------------------------------------------------------------------------------------------


def _write_in_cells(ax, values, image):
    """Write each share in percent, in black or white, for contrast."""
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        is_dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 and not np.isnan(value)
        colour = "white" if is_dark else "black"
        text = "?" if np.isnan(value) else f"{100 * value:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=9, color=colour)


def _label(set_ticks, labels, is_bold, n_labels):
    """Labels at regular intervals, at most `n_labels` of them."""
    places = range(0, len(labels), -(-len(labels) // n_labels))
    ticks = set_ticks(places, labels=[labels[place] for place in places])
    for tick, place in zip(ticks, places, strict=True):
        tick.label1.set_fontweight("bold" if is_bold[place] else "normal")
