"""Warnings that noise hides the best features: by public numbers before the charge, and by released ones after it."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from skdpmic._utils.errors import warn
from skdpmic._utils.texts import in_short
from skdpmic.planning.chances import excess_of_noise, scores_of, share_found
from skdpmic.table.targets import USUAL_MEAN

_FEWEST = 4  # smallest number of features warned about: among fewer, chance finds the best
_HARDLY_BETTER = 0.1  # a share found that exceeds chance by less than this is hardly better


class Signal(NamedTuple):
    """How scores differ from those of public tables, by what is known about the target."""

    factor: float
    """The mean weight, as a part of the largest: the factor of all scores."""
    largest: float
    """The largest possible score; infinity if it is not known."""

    @classmethod
    def of(cls, measure, n):
        """The signal of n records for a measure with public or released shares of the target, or without any."""
        shares = getattr(measure, "target_shares", None)
        largest = None if shares is None else measure.largest_score(n)
        mean_weight = getattr(shares, "mean_weight", None)
        if mean_weight is None:
            mean_weight = USUAL_MEAN if getattr(measure, "units", 1) > 1 else 1.0
        return cls(mean_weight, math.inf if largest is None else largest)

    def in_words(self, max_weight):
        """What the release shows."""
        words = [] if self.largest == math.inf else [f"no score can exceed {in_short(self.largest, 2)}"]
        if max_weight is not None:
            mean = in_short(self.factor * float(max_weight))
            words.insert(0, f"the mean weight is {mean}, {self.factor:.2%} of max_weight")
        return " and ".join(words)


@dataclass(frozen=True)
class NoiseWarnings:
    """Warnings about the noise of one release.

    Parameters
    ----------
    plan : ScoringPlan
    release : NoisyScores, NoisyTables, BestFeatures or JointFeatures
    law : distribution of scipy.stats or CubeLaw
        Distribution of the noise on each score; None without noise.
    shape : Shape
    """

    plan: Any
    release: Any
    law: Any
    shape: Any

    def before(self, measure):
        """Warn if fewer than half of the best features will be found, and return whether it did."""
        signal = Signal.of(measure, self.shape.n_samples)
        if self._is_hidden(signal):
            self._warn("noise will exceed the signal of a typical table", "will be", signal)
        return self._is_hidden(signal)

    def after(self, measure, shares):
        """Warn if fewer than half are found by these released shares of the target."""
        signal = Signal.of(replace(measure, target_shares=shares), self.shape.n_samples)
        if self._is_hidden(signal):
            shown = signal.in_words(self.plan.max_weight)
            self._warn(f"noise exceeds the signal of a typical table, as the release shows: {shown}", "were", signal)

    def _is_hidden(self, signal):
        return self.law is not None and share_found(*self._assumed, *signal) < 0.5

    @property
    def _assumed(self):
        """The arguments shared by `share_found` and `excess_of_noise`."""
        n_candidates = max(self.shape.n_features - self.plan.n_kept, _FEWEST)
        k = min(self.plan.n_wanted(self.shape.n_features) or n_candidates, n_candidates // _FEWEST)
        return scores_of(self.release, self.plan.statistic.name), "weak", n_candidates, k, self.law

    def _warn(self, what, were, signal):
        shape, epsilon = self.shape, float(self.plan.epsilon)
        warn(
            f"{what}: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and epsilon={epsilon:g}, "
            f"{self._best(were, signal)}, if scores fall as slowly as on a third of public tables. "
            f"{self._when_half(shape.n_groups * epsilon, signal)} Fewer features, {' or '.join(self._advice())} also "
            "reduce the noise; skdpmic.plan_release computes by how much."
        )

    def _when_half(self, budget, signal):
        """The budget at which half would be found, compared with this one, in words."""
        excess = excess_of_noise(*self._assumed, *signal)
        if excess == math.inf:
            return "No budget makes that half."
        return (
            f"That becomes half at n_samples * epsilon = {in_short(excess * budget)}, which is {in_short(budget)} here."
        )

    def _best(self, were, signal):
        """How many of the best features are found, in words."""
        *_, n_candidates, k, _ = self._assumed
        found, by_chance = share_found(*self._assumed, *signal), k / n_candidates
        was = were.replace("were", "was")
        best = f"{found:.0%} of the best {k} features {were} found"
        best = best if k > 1 else f"the best feature {was} found in {found:.0%} of fits"
        is_better = found >= by_chance + _HARDLY_BETTER
        return best if is_better else f"{best} (hardly better than chance, which finds {by_chance:.0%})"

    def _advice(self):
        """Other ways to have less noise, by the names of the parameters."""
        plan = self.plan
        better = [] if plan.statistic.name == "mtv_r" else ["statistic='mtv_r'"]
        if plan.max_weight is not None:
            better.append("a smaller max_weight")
        if plan.publishes.mechanism == "laplace" and self.shape.n_features > 1:
            better.append("mechanism='k-norm'")
        return [*better, plan.publishes.advice]
