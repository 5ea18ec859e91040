"""Intervals and p-values of published scores, from the known distribution of the noise."""

import numpy as np

from skdpmic._utils.arguments import one_of
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import Auto, Floats, RandomState
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.privacy.parameters import check_confidence
from skdpmic.selection.scoring import PrivateScoring
from skdpmic.selection.scoring_plan import AllScores, MeasureParameters, scoring_plan
from skdpmic.statistics.null_laws import NullModel


class PrivateScores(PrivateScoring):
    """An estimator that publishes the scores of all features."""

    _null_model: NullModel

    def scores_interval(self, confidence: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Confidence intervals for the noise-free scores, from the known noise distribution.

        If the fit learnt shares of the target that scores depend on, as with "mtv_r", these are the scores at
        `target_shares_` and `target_cut_` as they were released, not at those that would be learnt without noise.
        For two classes or a number, if all shares are above their error, and without `max_weight`, a fit to the same
        rows with ``epsilon=inf``, the same `B_` and `c_`, and `target_shares` and `target_cut` as released has these
        scores; so does :func:`mtv_r` with the same arguments. These are larger than the scores to which noise was
        added by what was withheld for the error of the shares, if anything: an interval contains both, and its upper
        end is that much higher. With three or four classes such a fit has other scores, because given shares also serve
        against all classes at once, and the interval is for the score to which noise was added.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, in (0, 1): the interval of a feature contains its noise-free score with at least this
            probability.
        simultaneous : bool, default=False
            Whether all intervals contain their scores simultaneously at this confidence, rather than each separately.
            They are then wider: at 95%, by at most 28% with ``mechanism="k-norm"``, and by a factor of about ``log(20 *
            n_features) / 3`` with "laplace".

        Returns
        -------
        lower, upper : ndarrays of shape (n_features,)

        Raises
        ------
        AttributeError
            If the distribution of the noise on the scores is not known, as with ``mechanism="geometric"``.
        ValueError
            If `confidence` is invalid.
        """
        mechanism = self._mechanism_of_scores("scores_interval")
        check_confidence(confidence)
        lower, upper = mechanism.interval(self.scores_, confidence, simultaneous)
        return lower, np.minimum(upper + self._null_model.measure.withheld_for_error, 1.0)

    @property
    def _what_intervals_hold(self):
        """What an interval is for, in words."""
        return f"the noise-free score{self._scores_at}"

    @property
    def _scores_at(self):
        """The learnt facts about the target on which the noise-free scores rest, in words; empty if there are none."""
        if not self._null_model.measure.has_common_error or self._target_shares.is_public:
            return ""
        return " at the released target_shares_" + (" and target_cut_" if hasattr(self, "target_cut_") else "")

    def p_values(self, *, n_resamples: int | Auto = "auto", random_state: RandomState = 0) -> Floats:
        """Compute p-values of the scores: the probability that an independent feature scores at least as much.

        The noise is included. Costs no privacy: it uses only what was released, and public numbers. The p-values are
        not corrected for multiple testing: use ``scipy.stats.false_discovery_control``, scikit-learn's `SelectFdr`, or
        `fdr` of :class:`DPMICSelector`. With ``mechanism="k-norm"`` the p-values depend on one another, which only
        `fdr`, and ``method="by"`` of the first, allow for.

        Parameters
        ----------
        n_resamples : int or "auto", default="auto"
            Number of simulated scores of independent variables, for rank statistics; at least 1. No p-value is below
            ``1 / (n_resamples + 1)``. "auto" is 9,999, or 99,999 for more than 100 features.
        random_state : None, int or RandomState, default=0
            Seed of these simulations, which need no secrecy. With the default, a release always has the same p-values.

        Returns
        -------
        p_values : ndarray of shape (n_features,)
            In [0, 1]; 1 for a score of 0. If all records are independent of one another, and a feature is independent
            of the target, its p-value is at most a with probability at most a, for every a. With "chatterjee" and
            "distance_correlation", from 50 records and without ties, it is exact up to simulation error; above 10,000
            and 2,000 records, respectively, only that many are simulated, and their scores are scaled to the standard
            deviation for all records. Otherwise it is an upper bound, because the distribution of scores depends on
            that of the values: the bound is close if noise is stronger than chance, and too large otherwise. With
            "kendall", it uses the shares of two classes as given by `target_shares`; for columns in which nearly all
            values are equal it is too large by orders of magnitude (``docs/choose/significance.md``).

        Raises
        ------
        AttributeError
            If the distribution of the noise on the scores is not known, or if people have several rows each, because
            these are not independent.
        ValueError
            If `n_resamples` is invalid.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import DPMICScorer
        >>> X = np.random.default_rng(0).normal(size=(5000, 3))
        >>> y = X[:, 1] + np.random.default_rng(1).normal(size=5000)
        >>> scorer = DPMICScorer(statistic="kendall", epsilon=1.0).fit(X, y)
        >>> bool(scorer.p_values()[1] < 0.01)
        True
        """
        noise = self._mechanism_of_scores("p_values").law
        return self._null_model.p_values(self.scores_, noise, n_resamples, random_state)

    def _mechanism_of_scores(self, name):
        """The mechanism that drew the noise on the scores; an AttributeError if its distribution is not known."""
        check_published(self)
        if not hasattr(self._noise, "law"):
            raise AttributeError(
                f"{name} needs noise with a known distribution, and mechanism={self._noise.name!r} adds it to counts."
            )
        return self._noise


def scores_plan(estimator, mechanisms, k=None, needs_largest=False):
    """The plan of an estimator that publishes the scores of all features, by one of these mechanisms."""
    asked = MeasureParameters(estimator.B, estimator.c, estimator.correction)
    plan = scoring_plan(estimator, asked, AllScores(estimator.mechanism, k, needs_largest))
    _check_mechanism(estimator.mechanism, mechanisms, plan.statistic, plan.delta)
    return plan


def _check_mechanism(mechanism, allowed, statistic, delta):
    """Raise unless a mechanism is among those allowed, and suits the statistic and delta."""
    if mechanism not in allowed:
        raise ValueError(f"mechanism must be {one_of(allowed)}, got {quoted(mechanism)}.")
    if mechanism not in MECHANISMS and not statistic.supports_counts:
        raise ValueError(
            f"mechanism must be {one_of(MECHANISMS)} with statistic={statistic.name!r}, got {quoted(mechanism)}, "
            "whose noisy tables require statistic='mic_r'."
        )
    needs_delta = mechanism in MECHANISMS and MECHANISMS[mechanism].needs_delta
    if needs_delta and delta == 0:
        raise ValueError(f"delta must be > 0 with mechanism={quoted(mechanism)}, got {quoted(delta)}.")
    if not needs_delta and delta > 0:
        raise ValueError(
            f"delta must be 0 with mechanism={quoted(mechanism)}, whose guarantee needs none, got {quoted(delta)}; "
            "use mechanism='gaussian'."
        )
