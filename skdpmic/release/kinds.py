"""The releases of a table with a target: scores, noisy tables, or the names of the best features.

A release is built from public numbers. It first determines its cost, and the budget per score, which decides on the
grids; then the noise, the last step before the ledger is charged. Finally it scores the records, and returns the
attributes of the estimator, all of them noisy.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from skdpmic.privacy.composition import Cost, budget_of
from skdpmic.privacy.mechanisms import GRID, MECHANISMS, law_of_scale, scale_for_budget, to_grid
from skdpmic.privacy.top_k import ChoicesInTurn, mechanism_of_names
from skdpmic.statistics.chance import ChanceScores, chance_added
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism

CHOSEN_SHARE = Fraction(1, 10)  # of the budget of scores, for single scores of those chosen: docs/theory/joint.md
TARGET_SHARE = Fraction(3, 20)  # share of the budget for the target itself: docs/theory/learnt_margin.md


def release_of_scores(mechanism, epsilon, delta, n_features, *, spends_on_target=False):
    """The release of scores by the mechanism with this name."""
    if mechanism == GeometricMechanism.name:
        return NoisyTables(epsilon, n_features)
    return NoisyScores(epsilon, delta, MECHANISMS[mechanism], n_features, spends_on_target=spends_on_target)


@dataclass(frozen=True)
class _ScoreRelease:
    """A release from the scores of all features, which may first spend a part of the budget on the target."""

    epsilon: float
    delta: float
    _: KW_ONLY
    spends_on_target: bool = False

    def _split(self, noise, squares):
        """Split the budget, once: set what is charged and the part for the target, and return that of the scores.

        Parameters
        ----------
        noise : class of a mechanism
        squares : int or Fraction
            Squared epsilons of independent draws, as shares of the budget of scores.
        """
        whole = budget_of(self.epsilon, self.delta if noise.needs_delta else 0.0)
        share = TARGET_SHARE if self.spends_on_target else Fraction(0)  # of epsilon, or of rho if delta is used
        if noise.needs_delta:
            cost = Cost.concentrated(self.epsilon, self.delta)
        else:
            cost = Cost.of_parts(self.epsilon, share**2 + (1 - share) ** 2 * squares)
        vars(self).update(cost=cost, epsilon_of_target=whole.part(share).epsilon if share else Fraction(0))
        return whole.part(1 - share)

    def measure(self, statistic, B, c, n, n_classes):
        """The statistic over the grids for this budget per score."""
        measure = statistic.measure(B, c, n, self.epsilon_per_feature, n_classes)
        return replace(measure, spends_on_target=True) if self.spends_on_target else measure

    def mechanism(self, measure, shape):
        """The noise."""
        return self.noise_for(measure.steps(shape))

    def noise_and_chance(self, measure, shape, kept):
        """The noise, its distribution on each score up to grid steps, or None, and the scores by chance."""
        mechanism, candidates = self.noise_for(measure.steps(shape)), np.delete(np.arange(shape.n_features), kept)
        return mechanism, mechanism.law, ChanceScores.of(measure, shape, candidates)


@dataclass(frozen=True)
class NoisyScores(_ScoreRelease):
    """All scores, with noise from one mechanism."""

    noise: type  # of MECHANISMS
    n_features: int

    publishes = "scores"
    k = None  # number of features chosen

    def __post_init__(self):
        """Split the budget; per score, it is the epsilon at which Laplace noise has the same standard deviation."""
        budget = self._split(self.noise, Fraction(1, self.n_features) if self.noise.splits_evenly else 1)
        vars(self).update(_budget=budget, epsilon_per_feature=self.noise.epsilon_per_score(budget, self.n_features))

    def noise_for(self, steps):
        """The noise on scores of sensitivity `steps`."""
        return self.noise.for_budget(self._budget, self.n_features, steps)

    def draw(self, records, measure, mechanism, by_chance, n_jobs, random_bytes):
        """The published attributes; the measure knows the shares of the target."""
        by_chance = by_chance.at(measure)
        scores, order = mechanism.release(records.scores(measure, n_jobs, random_bytes), random_bytes, by_chance)
        return {
            "scores_": scores,
            "null_scores_": by_chance,
            "ranking_": places(order),
            "noise_scale_": mechanism.noise_scale,
        }


@dataclass(frozen=True)
class NoisyTables:
    """A table of noisy counts for each feature, and the scores computed from it."""

    epsilon: float
    n_features: int

    publishes = "tables"
    k = None
    spends_on_target, epsilon_of_target = False, 0

    def __post_init__(self):
        """Split the budget: two counts of each table change, at epsilon / (2 n_features) each."""
        cost = Cost.of_parts(self.epsilon, Fraction(1, 2 * self.n_features))
        vars(self).update(cost=cost, epsilon_per_feature=float(self.epsilon) / self.n_features)

    def measure(self, statistic, B, c, n, n_classes):
        """The tables for this budget per table."""
        return statistic.table(B, c, n, self.epsilon_per_feature, n_classes)

    def mechanism(self, measure, shape):
        """The noise."""
        return GeometricMechanism.for_budget(self.epsilon, self.n_features, shape.rows_per_group)

    def noise_and_chance(self, measure, shape, kept):
        """The noise, approximately its distribution on each score, or None, and None: no score is set against chance.

        The distribution is that of the share of records in two opposite quarters of a table minus the others. This
        difference ranges from 0 to 1, the value for a score of 1.
        """
        mechanism = self.mechanism(measure, shape)
        n_cells = measure.n_parts * (measure.n_classes or measure.n_parts)
        deviation = mechanism.noise_scale * math.sqrt(2 * n_cells) / shape.n_samples
        return mechanism, None if mechanism.scale == 0 else law_of_scale(stats.norm, deviation), None

    def draw(self, records, measure, mechanism, by_chance, n_jobs, random_bytes):
        """The published attributes."""
        shape = records.public.shape
        noisy_counts = mechanism.release(records.tables(measure, n_jobs), shape.n_samples, random_bytes)
        max_rows = shape.rows_per_group
        scorer = measure.scorer_of_tables(shape.n_groups, mechanism.scale / max_rows)  # each person counts once
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=records.progress.return_as)
        scores = parallel(delayed(scorer.score)(t / max_rows) for t in noisy_counts)
        scores = np.array(list(records.progress.track(scores, len(noisy_counts), "noisy tables")))
        return {
            "noisy_counts_": noisy_counts,
            "scores_": scores,
            "ranking_": places(np.argsort(-scores, kind="stable")),
            "noise_scale_": mechanism.noise_scale,
        }


@dataclass(frozen=True)
class BestFeatures(_ScoreRelease):
    """The k features with the largest scores, in order, and the gaps between them if these cost nothing."""

    k: int
    _: KW_ONLY
    n_candidates: int | None = None  # that are scored once; None if each choice has new scores

    publishes = "names"
    criterion = "single"

    def __post_init__(self):
        """Spend the budget of scores on one draw for all k features."""
        self._choose(1, squares=1)

    def _choose(self, of_choices, squares):
        """Choose the noise, split the budget, of which this share is for choices, and return all of it.

        The budget per feature is the sensitivity over the standard deviation.
        """
        noise = mechanism_of_names(self.epsilon, self.delta, self.k, self.n_candidates)
        budget = self._split(noise, squares)
        choices = budget.part(of_choices)
        per_score = noise.epsilon_per_score(choices, self.k, self.n_candidates)
        vars(self).update(noise=noise, _choice_budget=choices, epsilon_per_feature=per_score)
        return budget

    def noise_for(self, steps):
        """The noise on scores of sensitivity `steps`."""
        return self.noise.for_budget(self._choice_budget, self.k, steps, self.n_candidates)

    def draw(self, records, measure, mechanism, by_chance, n_jobs, random_bytes):
        """The published attributes."""
        shape = records.public.shape
        candidates = np.delete(np.arange(shape.n_features), records.public.kept)
        by_chance = by_chance.at(measure)
        chosen, gaps = self._chosen(records, measure, mechanism, n_jobs, random_bytes, candidates, by_chance)
        ranking, null_scores = np.zeros(shape.n_features, dtype=np.int64), np.zeros(shape.n_features)
        ranking[candidates], null_scores[candidates] = len(chosen) + 1, by_chance
        ranking[chosen] = np.arange(1, len(chosen) + 1)
        return {
            "criterion_": self.criterion,
            "mechanism_": mechanism.name,
            "n_ranked_": len(chosen),
            "null_scores_": null_scores,
            "ranking_": ranking,
            "noise_scale_": mechanism.noise_scale,
        } | ({} if gaps is None else {"gaps_": gaps})

    def _chosen(self, records, measure, mechanism, n_jobs, random_bytes, candidates, by_chance):
        """The k features, in order, and the gaps between them, or None."""
        scores = records.scores(measure, n_jobs, random_bytes, records.public.kept)
        places, gaps = mechanism.release(scores, random_bytes, by_chance)
        return candidates[places], gaps


@dataclass(frozen=True)
class JointFeatures(BestFeatures):
    """The k features chosen one at a time, each by its gain over those kept and earlier choices.

    A tenth of the budget is for the single scores of these features, needed for the gains of others.
    """

    n_kept: int = 0

    criterion = "joint"

    def __post_init__(self):
        """Spend the budget on k choices, and on the single scores of all features compared with others."""
        n_singles = self.n_kept + self.k - 1
        squares = (1 - CHOSEN_SHARE) ** 2 / self.k + CHOSEN_SHARE**2 / n_singles
        budget = self._choose(1 - CHOSEN_SHARE, squares)
        vars(self).update(_epsilon_of_single=budget.part(CHOSEN_SHARE).epsilon / n_singles)

    def noise_for(self, steps):
        """The noise on scores of sensitivity `steps`, single or joint."""
        return ChoicesInTurn(super().noise_for(steps), scale_for_budget(self._epsilon_of_single, steps))

    def _chosen(self, records, measure, mechanism, n_jobs, random_bytes, candidates, by_chance):
        shape, kept = records.public.shape, records.public.kept

        def scores_beside(feature, taken):
            others = [other for other in taken if other != feature]
            scores = to_grid(records.scores_beside(feature, measure, others, n_jobs)).astype(object)  # as noise may be
            place = feature - sum(other < feature for other in others)  # of itself, among those not left out
            return np.delete(scores, place), scores[place]

        def added_by_chance(feature, taken, own):
            others = np.setdiff1d(candidates, taken)
            return to_grid(chance_added(measure, shape, feature, own * GRID, others))

        alone = to_grid(records.scores(measure, n_jobs, random_bytes, kept)) - to_grid(by_chance)
        reach = mechanism.reach(int(shape.n_groups), measure.chance_factor)
        return mechanism.release(candidates, alone, scores_beside, added_by_chance, reach, random_bytes, kept), None


def places(order):
    """The rank of each feature, 1 for the first."""
    ranking = np.empty(len(order), dtype=np.int64)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking
