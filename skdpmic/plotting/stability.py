"""The picture of how often each feature would be chosen at another epsilon."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.utils import check_random_state

from skdpmic._utils.arguments import check_row, check_whole
from skdpmic._utils.results import in_order
from skdpmic._utils.texts import in_short, names_of
from skdpmic.plotting.figures import Display, feature_labels
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.release.repeated_choices import ReleasedScores, frequencies_of_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

_FACTORS = (0.1, 0.2, 0.5, 1, 2, 5, 10)  # of the epsilon of the fit, where no other is asked for
_LEAST_ROWS = 10
_MOST_COLUMNS_WITH_TEXT = 10


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """How sure a choice is: how often each feature would be among the k chosen, at this epsilon or another.

    Computed from what was released and the known law of the noise, so it costs no further budget and may be published.
    Of names and gaps, as :class:`skdpmic.PrivateSelectKBest` publishes them, it is the confidence that each feature
    chosen is among the k best without noise; the last one has none, as nothing is known of those left out. Of scores,
    each simulation first draws what the scores may have been without noise, given the released ones, where
    any value in [0, 1] is as likely beforehand as any other; then it adds the noise that a fit at the other epsilon
    would have, and chooses.

    Parameters
    ----------
    frequencies : ndarray of shape (n_epsilons, n_features)
        Share of simulated fits that choose each feature; or confidence, NaN where there is none.
    epsilons : ndarray of shape (n_epsilons,)
        The epsilon of these fits.
    k : int
        How many features each of them chooses.
    ranking : ndarray of shape (n_features,)
        Place of each feature in the fit that the scores are from.
    feature_names : sequence of str, default=None
        None numbers the features.
    epsilon : float, default=None
        Of the fit that the scores are from; its column is marked.
    is_confidence : bool, default=False
        Whether `frequencies` are the confidence that features are among the k best without noise.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on; after :meth:`plot`.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
        A row for each feature that is shown, best first, a column for each epsilon.

    See Also
    --------
    StabilityDisplay.from_estimator : From a fitted estimator.
    DPMICScorer.scores_interval : Where each score without noise lies.

    Notes
    -----
    How far to trust it: ``docs/choose/planning.md`` compares the frequencies with those of real choices. Where nearly
    all features are noise, those that noise has put far ahead are taken for better than they are.

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
        """Simulate choices from the released scores of a fitted estimator, and draw how often each feature is chosen.

        Parameters
        ----------
        estimator : DPMICScorer, DPMICSelector or PrivateSelectKBest
            Fitted with ``mechanism="laplace"``, "gaussian" or "k-norm", and a finite epsilon; or with released gaps,
            which tell nothing of other epsilons or another `k`.
        epsilons : array-like of shape (n_epsilons,), default=None
            Of the fits that are simulated; above 0. None takes a tenth to ten times the epsilon of the fit.
        k : int, default=None
            How many features are chosen; None takes that of a selector which chooses by `k`.
        release : {"scores", "names"}, default="scores"
            What the simulated fits would publish: "scores" of all features, with the mechanism of the fit, or only
            which k are the best, with less noise. A `delta` is that of the fit.
        n_simulations : int, default=1000
            With this many, a frequency has a standard error of at most ``0.5 / sqrt(n_simulations)``.
        random_state : None, int or RandomState, default=0
            For the simulations only; a seed costs no privacy here.
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_features : int, default=None
            How many features are shown, the best of the fit first; None shows twice `k`, and at least 10.
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
            If a parameter is not as described.

        Notes
        -----
        The sensitivity of a score is taken to be that of the fit. With ``statistic="mic_r"``, ``B="auto"`` and
        ``c="auto"``, a fit at another epsilon would use somewhat different grids, and so have other scores, which is
        not simulated.

        The order in which `ranking_` has the features whose scores were clamped to 0 or 1 is not used.
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
        """Draw the frequencies.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_features : int, default=None
            How many features are shown, the best of the fit first; None shows twice `k`, and at least 10.
        cmap : str or matplotlib Colormap, default="Blues"

        Returns
        -------
        self : StabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is not as described.
        """
        shown = in_order(np.asarray(self.ranking))[: self._n_shown(max_features)]
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
            ax.axhline(is_chosen.sum() - 0.5, color="tab:orange", linewidth=2)
        ax.set_xlabel("ε" if self.epsilon is None else f"ε (scores released at {in_short(self.epsilon, 2)})")
        unit = ", in %" if has_text else ""
        title = f"how often among the {self.k} chosen{unit}\nbold: chosen by the scores released"
        if self.is_confidence:
            title = f"among the {self.k} best without noise:\nconfidence, in %, at least"
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
            raise ValueError(f"{name} must be None with an estimator that has released gaps in place of scores.")


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
    """Each share in percent, in black or white, whichever can be read."""
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        is_dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 and not np.isnan(value)
        colour = "white" if is_dark else "black"
        text = "?" if np.isnan(value) else f"{100 * value:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=9, color=colour)


def _label(set_ticks, labels, is_bold, n_labels):
    """Labels at regular places, at most `n_labels` of them."""
    places = range(0, len(labels), -(-len(labels) // n_labels))
    ticks = set_ticks(places, labels=[labels[place] for place in places])
    for tick, place in zip(ticks, places, strict=True):
        tick.label1.set_fontweight("bold" if is_bold[place] else "normal")
