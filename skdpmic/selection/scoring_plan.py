"""What an estimator does in a fit, as frozen values: its parameters, checked and resolved once.

See :class:`skdpmic.release.path.FitPlan` for what all plans share.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.arguments import check_k, one_of
from skdpmic._utils.texts import Progress, in_short, quoted, require, warn
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.planning.chances import excess_of_noise, share_found, tolerance_of
from skdpmic.privacy.mechanisms import GRID, MECHANISMS
from skdpmic.release.kinds import BestFeatures, JointFeatures, release_of_scores
from skdpmic.release.path import FitPlan, check_budget_and_run
from skdpmic.statistics.chance import ChanceScores
from skdpmic.statistics.measure import Statistic
from skdpmic.statistics.registry import check_of_target, check_takes_weights, statistic_named
from skdpmic.statistics.sensitivity import mtv_r_sensitivity
from skdpmic.table.domains import kind_of
from skdpmic.table.facts import PublicFacts, n_candidates, refuse_no_choice
from skdpmic.table.records import Shape, read_records
from skdpmic.table.values import USUAL_MEAN, check_target_shares

# Noise of a choice with which "auto" is "joint", and how much less this may be planned to find: docs/theory/joint.md.
_MOST_NOISE_OF_JOINT, _MOST_LESS_FOUND = 0.01, 0.02


def n_to_keep(k, n_features):
    """The number of features kept, by a `k` that may have changed since the fit; a ValueError if it is invalid."""
    check_k(k)
    return n_features if k == "all" else min(k, n_features)


class MeasureParameters(NamedTuple):
    """The grids and the bias correction that the user asks for."""

    B: Any = "auto"
    c: Any = "auto"
    correction: Any = "miller-madow"


# --- The plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoringPlan(FitPlan):
    """How features are scored against a target, and what is published: all scores, or the names of the best features.

    Without a `mechanism`, names are published; public numbers then choose the mechanism.
    """

    statistic: Statistic
    asked: MeasureParameters
    shares: Any  # public shares of the target; None if there are none
    max_weight: float | None
    k: Any = None  # number of features to choose, or "all"; None if the scores decide it
    mechanism: str | None = None  # of scores
    needs_largest: bool = False  # whether a choice by scores needs the largest possible one
    criterion: str = "single"  # of names, as are the next two
    can_be_joint: bool = False  # whether "auto" may choose features by joint scores
    keep: Any = ()  # features that are kept in any case

    @property
    def fewest_features(self):
        """The least number of features of which this plan chooses some."""
        return len(self.keep) + 1 + (1 if self.k in (None, "all") else int(self.k))

    def read_table(self, X, y):
        """The records of a table in memory."""
        return read_records(self.facts, X, y, self.reader)

    def check_has_choice(self, n_features):
        """Raise if the names are known before anything is released."""
        if self.mechanism is None:
            refuse_no_choice(self.k, self.keep, n_features)

    def n_wanted(self, n_features):
        """Number of features to choose; None if the scores decide it."""
        return None if self.k is None else n_to_keep(self.k, n_candidates(self.keep, n_features))

    def release(self, n_features, n_groups, n_classes):
        """The release of a table of this shape; without `n_groups`, pairs of its features cannot be counted."""
        spends = self.shares is None and self.statistic.spends_on_target(n_classes)
        if self.mechanism is not None:
            return release_of_scores(self.mechanism, self.epsilon, self.delta, n_features, spends_on_target=spends)
        among = n_candidates(self.keep, n_features)
        k = n_to_keep(self.k, among)
        single = BestFeatures(self.epsilon, self.delta, k, n_candidates=among, spends_on_target=spends)
        can_be_joint = self.criterion == "joint" or (self.can_be_joint and n_groups is not None)
        if self.criterion == "single" or not can_be_joint or k + len(self.keep) < 2:
            return single
        joint = JointFeatures(self.epsilon, self.delta, k, len(self.keep), spends_on_target=spends)
        if self.criterion == "joint" or self._finds_nearly_as_much(joint, single, among, n_groups):
            return joint
        return single

    def _finds_nearly_as_much(self, joint, single, n_candidates, n_groups):
        """Whether joint choices have little noise, with which a plan finds nearly as much as with single scores."""
        signal = 1.0 if self.max_weight is None else USUAL_MEAN
        knows_shares, are_weighted = joint.spends_on_target or self.shares is not None, self.max_weight is not None
        sensitivity = mtv_r_sensitivity(n_groups, knows_target_shares=knows_shares, are_weighted=are_weighted)
        if sensitivity / joint.epsilon_per_feature > _MOST_NOISE_OF_JOINT * signal:
            return False
        laws = [release.noise_for(math.ceil(sensitivity / GRID)).law for release in (joint, single)]
        public, tolerance = (self.statistic.name, "weak", n_candidates, joint.k), tolerance_of(n_groups)
        found = [1.0 if law is None else share_found(*public, law, tolerance, signal) for law in laws]
        return found[1] - found[0] <= _MOST_LESS_FOUND

    def counts_pairs(self, n_samples, sketch):
        """Whether the release of a table of this many rows, with the columns of a sketch, is of joint scores."""
        return isinstance(self.release(sketch.n_features_in_, n_samples, sketch.n_classes), JointFeatures)

    def cost(self, n_features):
        """The cost of a fit to this many features."""
        return self.release(n_features, None, self.facts.n_classes).cost

    def measure(self, n_people, n_features, n_classes):
        """The measure for this many people; without `max_rows_per_group`, each row of X is one person."""
        return self.measure_of(self.release(n_features, n_people, n_classes), n_people, n_classes)

    def measure_of(self, release, n_people, n_classes, counted=None):
        """The measure of a release for this many people; or of counts, which have one of their own."""
        B, c, _ = self.asked
        if counted is None:
            measure = release.measure(self.statistic, B, c, n_people, n_classes)
        else:
            measure = replace(counted, spends_on_target=True) if release.spends_on_target else counted
        if self.shares is not None:
            measure = measure.with_target_shares(self.shares)
        if self.max_weight is not None:
            measure = measure.of_weights()
        max_rows = self.facts.max_rows_per_group
        return measure if max_rows is None else measure.of_groups(max_rows)

    def ready(self, public):
        """The release of a table with these public facts; warns, and refuses what cannot be released."""
        shape, n_classes = public.shape, public.n_classes
        release = self.release(shape.n_features, shape.n_groups if public.has_rows else None, n_classes)
        measure = self.measure_of(release, shape.n_groups, n_classes, public.measure)
        self.warn_about_table(public)
        self._check_choice(shape.n_features, n_classes is not None, release.spends_on_target)
        measure.prepare(shape)
        mechanism, law, by_chance = release.noise_and_chance(measure, shape, public.kept)
        entry = self.entry(release, mechanism, shape, self.statistic.name)
        ready = ReadyToScore(entry, self, release, measure, shape, mechanism, law, by_chance)
        return replace(ready, has_warned=ready.warn_if_hidden(measure))

    def _check_choice(self, n_features, has_classes, learns_shares):
        """Raise if nothing would be chosen by names, or a largest score is not known; warn if k chooses nothing."""
        is_given = self.shares is not None and self.max_weight is None  # with weights, their mean must also be learnt
        if self.needs_largest and not (has_classes and (is_given or learns_shares)):
            raise ValueError(
                "threshold must be a number, because the largest possible score is not known: it is only for classes "
                "whose shares are public (target_shares, without max_weight) or learnt (statistic='mtv_r', up to four "
                "classes)."
            )
        self.check_has_choice(n_features)
        if self.k not in (None, "all") and self.k >= n_features:
            size = "greater than" if self.k > n_features else "equal to"
            warn(
                f"k={self.k} is {size} n_features={n_features}. All the features will be returned: none is chosen, and "
                f"epsilon={float(self.epsilon):g} pays for the scores only."
            )


def scoring_plan(estimator, asked, **published):
    """The plan of an estimator; a ValueError or TypeError if a parameter that all of them have is invalid.

    Parameters
    ----------
    estimator : PrivateScoring
    asked : MeasureParameters
    **published
        What is published, as fields of the plan; and `reads_kept`, whether values of features kept in any case are
        used.
    """
    reads_kept, keep = published.pop("reads_kept", False), published.get("keep", ())
    statistic = statistic_named(estimator.statistic, asked.correction)
    shares = estimator.target_shares
    if shares is not None:
        has_noise = published.get("mechanism") in MECHANISMS  # on scores, not names or counts
        if not (has_noise and statistic.is_explained_by_shares and estimator.classes is not None):
            check_of_target(statistic)
        shares = check_target_shares(shares, estimator.target_bounds, estimator.classes)
    check_takes_weights(statistic, estimator.max_weight)
    check_budget_and_run(estimator)
    public = estimator.bounds, estimator.categories, estimator.target_bounds, estimator.classes
    facts = PublicFacts(*public, estimator.max_rows_per_group, statistic.needs_ranges, keep, reads_kept)
    further = {"statistic": statistic, "asked": asked, "shares": shares, "max_weight": estimator.max_weight}
    return ScoringPlan.of(estimator, facts, **further, **published)


def check_mechanism(mechanism, allowed, statistic, delta):
    """Raise unless a mechanism is among those allowed, and suits the statistic and delta."""
    require(isinstance(mechanism, str) and mechanism in allowed, f"mechanism must be {one_of(allowed)}", mechanism)
    of_scores = [name for name in allowed if name in MECHANISMS]
    if mechanism not in MECHANISMS and not statistic.supports_counts:
        raise ValueError(
            f"mechanism must be {one_of(of_scores)} with statistic={statistic.name!r}, got {quoted(mechanism)}, "
            "whose noisy tables require statistic='mic_r'."
        )
    needs_delta = mechanism in MECHANISMS and MECHANISMS[mechanism].needs_delta
    require(delta > 0 or not needs_delta, f"delta must be > 0 with mechanism={quoted(mechanism)}", delta)
    if not needs_delta and delta > 0:
        raise ValueError(
            f"delta must be 0 with mechanism={quoted(mechanism)}, whose guarantee needs none, got {quoted(delta)}; "
            "use mechanism='gaussian'."
        )


# --- A release that may be charged -----------------------------------------------------------------------------------

_FEWEST = 4  # smallest number of features warned about: among fewer, chance finds the best


@dataclass(frozen=True, eq=False)
class ReadyToScore:
    """A release, of which everything public is decided: its noise and law, its cost and entry of a ledger."""

    entry: LedgerEntry
    plan: ScoringPlan
    release: Any  # NoisyScores, NoisyTables, BestFeatures or JointFeatures
    measure: Any
    shape: Shape
    mechanism: Any
    law: Any  # a distribution of scipy.stats or CubeLaw, of the noise; None if there is none
    by_chance: ChanceScores
    has_warned: bool = False  # about noise, by public numbers

    def draw(self, records, random_bytes):
        """What an estimator stores from a release: all of it noisy or public."""
        plan, release, public = self.plan, self.release, records.public
        sampled = records.sampled(Progress(plan.reader, plan.verbose))
        measure = self.measure
        if release.spends_on_target:
            counts = sampled.target_counts(measure)
            measure = measure.release_target_shares(*counts, release.epsilon_of_target, random_bytes)
        released = release.draw(sampled, measure, self.mechanism, self.by_chance, plan.n_jobs, random_bytes)
        results = plan.results(public, released, self.entry) | {"epsilon_per_feature_": release.epsilon_per_feature}
        results |= {f"{name}_": getattr(measure, name) for name in ("B", "c") if hasattr(measure, name)}
        shares = getattr(measure, "target_shares", None)
        results["_target_shares"] = shares
        if shares is not None:
            results["target_shares_"] = shares.published()
            if shares.mean_weight is not None:
                results["mean_weight_"] = shares.mean_weight * float(plan.max_weight)
            if public.n_classes is None and not shares.is_public:
                domain = public.description.target
                results["target_cut_"] = domain.decode(shares.cut(domain.encoded))
        if "scores_" in released:
            kinds = [kind_of(domain) for domain in self.shape.domains]
            model = NullModel(measure, self.shape.n_samples, self.shape.rows_per_group, kinds)
            results |= {"_noise": self.mechanism, "_null_model": model}
            if shares is not None and (largest := measure.largest_score(self.shape.n_samples)) is not None:
                results["largest_possible_score_"] = largest
        return results

    def warn_after(self, published):
        """Warn about noise by the shares of the target, if they were released."""
        shares = published["_target_shares"]
        if not self.has_warned and shares is not None and not shares.is_public:
            self.warn_if_hidden(replace(self.measure, target_shares=shares), is_released=True)

    def warn_if_hidden(self, measure, is_released=False):
        """Warn if fewer than half of the best features are found amid the noise, and return whether it did.

        Parameters
        ----------
        measure : object
            May have shares of the target.
        is_released : bool, default=False
            Whether the release has been made, and its shares are those of the measure.
        """
        if self.law is None:
            return False
        plan, shape, epsilon = self.plan, self.shape, float(self.plan.epsilon)
        n_candidates = max(shape.n_features - len(plan.keep), _FEWEST)
        k = min(plan.n_wanted(shape.n_features) or n_candidates, n_candidates // _FEWEST)
        shares = getattr(measure, "target_shares", None)
        largest = None if shares is None else measure.largest_score(shape.n_samples)
        largest = math.inf if largest is None else largest
        mean_weight = getattr(shares, "mean_weight", None)  # as a part of the largest: the factor of all scores
        if mean_weight is None:
            mean_weight = USUAL_MEAN if getattr(measure, "units", 1) > 1 else 1.0
        exactly = 0.0  # the tolerance: other people are not the noise's fault
        assumed = plan.statistic.name, "weak", n_candidates, k, self.law, exactly, mean_weight, largest
        found = share_found(*assumed)
        if not found < 0.5:
            return False
        what = "noise will exceed the signal of a typical table"
        if is_released:
            shown = _signal_in_words(mean_weight, largest, plan.max_weight)
            what = f"noise exceeds the signal of a typical table, as the release shows: {shown}"
        will_be = "were" if is_released else "will be"
        best = f"{found:.0%} of the best {k} features {will_be} found"
        if k == 1:
            best = f"the best feature {'was' if is_released else will_be} found in {found:.0%} of fits"
        budget, excess = shape.n_groups * epsilon, excess_of_noise(*assumed)
        half = f"half at n_samples * epsilon = {in_short(excess * budget)}, which is {in_short(budget)} here."
        warn(
            f"{what}: with n_samples={shape.n_groups:,}, n_features={shape.n_features:,} and epsilon={epsilon:g}, "
            f"{best} in spite of it, beyond chance, if scores fall as slowly as on a third of public tables. "
            f"{'No budget makes that half.' if excess == math.inf else f'That becomes {half}'} Fewer features, "
            f"{' or '.join(self._advice())} also reduce the noise; skdpmic.plan_release computes by how much."
        )
        return True

    def _advice(self):
        """Other ways to have less noise, by the names of the parameters."""
        plan = self.plan
        ways = {
            "statistic='mtv_r'": plan.statistic.name != "mtv_r",
            "a smaller max_weight": plan.max_weight is not None,
            "mechanism='k-norm'": plan.mechanism == "laplace" and self.shape.n_features > 1,
            "a smaller k": plan.mechanism is None,
            "publishing names only (PrivateSelectKBest with a small k)": plan.mechanism is not None,
        }
        return [way for way, has_less in ways.items() if has_less]


def _signal_in_words(mean_weight, largest, max_weight):
    words = [] if largest == math.inf else [f"no score can exceed {in_short(largest, 2)}"]
    if max_weight is not None:
        mean = in_short(mean_weight * float(max_weight))
        words.insert(0, f"the mean weight is {mean}, {mean_weight:.2%} of max_weight")
    return " and ".join(words)


# --- What a fitted estimator keeps for p-values -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NullModel:
    """The data for p-values, besides the scores and the noise.

    Parameters
    ----------
    measure : Measure
    n_samples : int
    rows_per_group : int
    kinds : list of length n_features
        Of each feature, from :func:`skdpmic.table.domains.kind_of`.
    """

    measure: Any
    n_samples: int
    rows_per_group: int
    kinds: list

    def p_values(self, scores, noise):
        """The p-value of each score, of shape (n_features,).

        Parameters
        ----------
        scores : ndarray of shape (n_features,)
            Released noisy scores.
        noise : frozen distribution of scipy.stats or None
            None without noise.
        """
        if self.rows_per_group > 1:
            raise AttributeError(
                "p_values requires independent records, which several rows of one person are not: fit with "
                f"max_rows_per_group=1, got {self.rows_per_group}."
            )
        p_values = np.empty(len(scores))
        for kind in set(self.kinds):
            of_kind = np.array([each == kind for each in self.kinds])
            p_values[of_kind] = self.measure.null_law(self.n_samples, kind).p_values(scores[of_kind], noise)
        return p_values
