"""What the fit of an additive model does, as frozen values: its parameters, checked and resolved once."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from sklearn.base import is_classifier

from skdpmic._utils.arguments import asks_for_data
from skdpmic._utils.errors import warn
from skdpmic._utils.progress import Progress
from skdpmic._utils.readable import is_dask_collection
from skdpmic._utils.texts import in_short
from skdpmic.budget.filters import round_up
from skdpmic.models.parts import codes_of, n_parts_of, offsets_of, rates_of_window, sums_of_effects, within_window
from skdpmic.models.scorecard import ScorecardNoise, ScorecardRelease
from skdpmic.models.target_mean import correction_of, is_bent
from skdpmic.models.two_way import MOST_PARTS, TwoWayRelease
from skdpmic.planning.rows import PlannedRelease
from skdpmic.release.path import FitPlan, Ready, check_budget_and_run
from skdpmic.table.domains import Range
from skdpmic.table.facts import PublicFacts
from skdpmic.table.features import listed
from skdpmic.table.frames import in_memory
from skdpmic.table.people import check_given_together
from skdpmic.table.records import read_records
from skdpmic.table.targets import labels_in, target_domain

MOST_CLASSES = 10
NORMAL_95 = 1.959964  # half-width of a 95% interval, in standard deviations
CLASSES, NUMBERS = "classes", "numbers"
_MIN_FOR_SCORECARD = {CLASSES: 3.0, NUMBERS: 4.5}  # records, in standard deviations of the noise on a count
_MIN_FOR_TWO_WAY = {CLASSES: 3.0, NUMBERS: 64.0}  # likewise: docs/theory/additive_model.md


@dataclass(frozen=True, eq=False)
class AdditivePlan(FitPlan):
    """How an additive model is published."""

    fewest_features = 1

    def cost(self, n_features):
        """The cost of a fit to this many features, which does not depend on the kind of release."""
        return self.release(n_features, None).cost

    def release(self, n_features, n_samples, n_classes=None):
        """The release of a table of this shape: two-way tables, unless their noise exceeds what they would show."""
        releases = self._releases(n_features)
        noise = releases[0].noise(n_classes, self.rows_per_group)
        is_enough = n_samples is None or n_samples >= _MIN_FOR_TWO_WAY[self._target_kind] * noise.noise_scale
        return releases[0] if is_enough else releases[-1]

    def _releases(self, n_features):
        """The possible kinds of release, those with less noise last."""
        budget, is_bent = (self.epsilon, self.delta, n_features), self._is_bent
        card = ScorecardRelease(*budget, self._target_kind == NUMBERS, is_bent)
        return [card] if self.delta == 0 else [TwoWayRelease(*budget, is_bent), card]

    def rows(self, n_people, n_features):
        """The rows of a plan: of the release of a table of this shape first."""
        n_samples, n_classes = n_people * self.rows_per_group, self.facts.n_classes
        own = self.release(n_features, n_samples, n_classes)
        releases = [own, *(other for other in self._releases(n_features) if other.kind != own.kind)]
        return tuple(self._row(release, n_people, n_classes) for release in releases)

    def _row(self, release, n_people, n_classes):
        noise, cost = release.noise(n_classes, self.rows_per_group), release.cost
        return PlannedRelease(
            release="model",
            mechanism=noise.name,
            statistic=release.kind,
            epsilon=cost.epsilon,
            delta=cost.delta,
            n_samples=n_people,
            n_features=release.n_features,
            k=None,
            error=NORMAL_95 * noise.noise_scale / (n_people * self.rows_per_group),
            noise_scale=noise.noise_scale,
            found=math.nan,
            epsilon_of_target=0.0,
            rho=math.inf if cost.in_zcdp == math.inf else round_up(cost.in_zcdp, Fraction),
        )

    @property
    def _target_kind(self):
        """The kind of target."""
        return NUMBERS if self.facts.classes is None else CLASSES

    @property
    def _is_bent(self):
        """Whether the axis of the target is not its own scale."""
        return self._target_kind == NUMBERS and is_bent(target_domain(self.facts.target_bounds))

    @property
    def rows_per_group(self):
        """Number of records of each person."""
        return self.facts.max_rows_per_group or 1

    def measure(self, n_people, n_features, n_classes):
        """None: no feature is scored."""

    def read_table(self, X, y=None):
        """The records of a table in memory and its target."""
        if is_dask_collection(X):
            raise TypeError(f"X must be in memory for {self.reader}, got a dask collection: pass X.compute().")
        return read_records(self.facts_of(y), X, y, self.reader)

    def facts_of(self, y):
        """The public facts; with the labels in y as classes, if they are to be read from the data."""
        if not asks_for_data(self.facts.classes) or y is None:
            return self.facts
        return replace(self.facts, classes=labels_in(y))

    def read(self, X, y, groups):
        """The records of a table in memory, and the people behind them."""
        each = self.facts.max_rows_per_group
        check_given_together(groups, each)
        return self.read_table(in_memory(X), y).of_people(groups, each)

    def ready(self, public):
        """The release of a table with these public facts; warns, and refuses what cannot be released."""
        shape = public.shape
        _check_size(shape, public)
        self.warn_about_table(public)
        release = self.release(shape.n_features, shape.n_samples, public.n_classes)
        noise = release.noise(public.n_classes, self.rows_per_group)
        self._warn_about_noise(release, noise, public)
        entry = self.entry(release, noise, shape, None)
        return Ready(entry, partial(_results, self, release, noise, entry))

    def _warn_about_noise(self, release, noise, public):
        is_clear = public.shape.n_samples >= _MIN_FOR_SCORECARD[self._target_kind] * noise.noise_scale
        if noise.noise_scale == 0 or release.kind != "scorecard" or is_clear:
            return
        advice = "a larger epsilon" if self.delta > 0 else "a larger epsilon, delta > 0 (far below 1 / n_samples)"
        warn(
            f"noise will exceed the signal of a typical table: with n_samples={public.shape.n_groups:,}, "
            f"n_features={public.shape.n_features:,} and epsilon={float(self.epsilon):g}, the noise on each count has "
            f"a standard deviation of {in_short(noise.noise_scale)} records, and predictions may be worse than one "
            f"number for all. Use more records, fewer columns or {advice}."
        )


def _check_size(shape, public):
    if public.n_classes is not None and public.n_classes > MOST_CLASSES:
        raise ValueError(f"classes must hold at most {MOST_CLASSES} labels, got {public.n_classes}.")
    sizes = [n_parts_of(domain) for domain in shape.domains]
    if sum(sizes) > MOST_PARTS:
        largest = np.argsort(sizes, kind="stable")[::-1][:5].tolist()
        raise ValueError(
            f"X must have at most {MOST_PARTS:,} parts in all columns together (a column of numbers has nine, another "
            f"one two more than it has labels), got {sum(sizes):,}; the most are in {listed(largest, public.names)}. "
            "Choose columns first, by PrivateSelectKBest in front of the model, for instance make_pipeline("
            "PrivateSelectKBest(k=20, ...).set_output(transform='pandas'), model), or group labels by public knowledge."
        )


def _results(plan, release, noise, entry, records, random_bytes):
    """What an estimator stores from a release: all of it noisy or public."""
    public = records.public
    sampled = records.sampled(Progress(plan.reader, plan.verbose))
    target = sampled.target
    if public.n_classes is None:
        rates = rates_of_window(plan.epsilon, plan.delta, plan.rows_per_group)
        sampled = sampled._replace(target=within_window(sampled.target, rates, random_bytes))
    released, effects = release.draw(sampled, noise, plan.n_jobs, random_bytes)
    pairs = zip(public.description.domains, records.domains, strict=True)
    model = {
        "noise_scale_": noise.noise_scale,
        "_offsets": offsets_of([n_parts_of(domain) for domain in records.domains]),
        "_domains": [_domain_or_range(domain, encoded) for domain, encoded in pairs],
    }
    if public.n_classes is None:
        model |= _model_of_numbers(effects, sampled.target.bounds, public.target_domain)
        if plan._is_bent:
            model |= _mean_of_numbers(plan, model, sampled._replace(target=target), random_bytes)
    else:
        model |= _model_of_classes(release, effects, public)
    return plan.results(public, released | model, entry)


def _model_of_classes(release, effects, public):
    """The model of a discrete target, in probabilities or, for a scorecard, in logarithms of odds."""
    intercept, of_parts, deviations = effects
    if release.kind == "scorecard" and public.n_classes == 2:
        intercept, of_parts = np.diff(intercept), np.diff(of_parts, axis=1)
        deviations = deviations.sum(axis=1)[:, None]  # of opposite effects
    elif release.kind == "two-way" and public.n_classes > 2:
        intercept = intercept + 1 / public.n_classes
    return {
        "coef_": of_parts.T,
        "intercept_": intercept,
        "coef_noise_scale_": deviations.T,
        "classes_": public.description.classes,
    }


def _model_of_numbers(effects, window, domain):
    """The model of a numeric target, in the units of its axis."""
    first, last = domain.encoded
    lower, upper = (first + share * (last - first) for share in window)
    return {
        "coef_": (upper - lower) * effects.of_parts[:, 0],
        "intercept_": float((lower + upper) / 2 + (upper - lower) * effects.intercept[0]),
        "coef_noise_scale_": (upper - lower) * effects.deviations[:, 0],
        "target_window_": (lower, upper),
        "_target_domain": domain,
    }


def _mean_of_numbers(plan, model, records, random_bytes):
    """The correction of predictions to the mean of a target with a bent axis, and the noisy sums behind it."""
    columns = records.map_features(codes_of, plan.n_jobs)
    scores = sums_of_effects(columns, model["coef_"][:, None], model["intercept_"], model["_offsets"])[:, 0]
    noise = ScorecardNoise.of_mean(plan.epsilon, plan.delta, plan.rows_per_group)
    domain, window = model["_target_domain"], model["target_window_"]
    correction, sums = correction_of(domain, window, records.target.values, scores, noise, random_bytes)
    return sums | {"correction_": correction}


def _domain_or_range(domain, encoded):
    """The domain of a column; its range, if that was read from the data."""
    return Range(*encoded) if domain is None else domain


def additive_plan(estimator, target_bounds=None, classes=None):
    """The plan of an estimator, with what it says about the target; a ValueError or TypeError if that is invalid."""
    check_budget_and_run(estimator)
    if classes is None and target_bounds is None:
        raise ValueError(
            "classes must hold all labels that the target can have, such as classes=['no', 'yes'], got None."
            if is_classifier(estimator)
            else "target_bounds must hold the public range of the target, such as target_bounds=(0, 100), got None: "
            "where nothing is known, private_bounds learns it, at a cost of epsilon."
        )
    facts = PublicFacts(
        estimator.bounds,
        estimator.categories,
        target_bounds,
        classes,
        estimator.max_rows_per_group,
        may_describe_more=True,
    )
    return AdditivePlan.of(estimator, facts)
