"""The party with the target: scores of the features reported by the other party."""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.arguments import nearest_shares
from skdpmic._utils.private_estimator import PrivateEstimator, ResultsMixin
from skdpmic._utils.readable import abbreviated, refuse_target_among
from skdpmic._utils.summaries import Summary, by_rank, feature_columns, why_broken
from skdpmic._utils.texts import budget, counted, in_short, quoted, warn
from skdpmic._utils.typing import BesideTable, ColumnLike, Floats, RandomState, Range
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import Cost, check_confidence, check_epsilon, exact
from skdpmic.privacy.noise import discrete_laplace, entropy_source, with_noise
from skdpmic.privacy.quantiles import normal_half_width
from skdpmic.release.kinds import places
from skdpmic.release.path import Ready, run, store
from skdpmic.statistics.grids import divisions_in_two, equal_parts
from skdpmic.statistics.mic.noisy_tables import mic_of_class_table, mic_of_table
from skdpmic.table.facts import PublicFacts
from skdpmic.table.records import check_enough
from skdpmic.table.values import check_kind, check_target_shares, make_target, target_domain
from skdpmic.two_party.distance_correlation import FARTHEST, REFUSALS, estimate_from_counts, estimate_from_records
from skdpmic.two_party.randomized_response import inverse_response_matrix
from skdpmic.two_party.reports import open_reports


@dataclass(eq=False, repr=False)
class TwoPartyScorer(ResultsMixin, PrivateEstimator):
    """Score features that another party reported by randomised response against a target.

    Use it as the party with the target. The reports are already private, so using them costs the other party no further
    budget, and nothing is sent back. **Without `epsilon`, the guarantee does not cover the target: the scores are for
    the party with the target only, and must not be shown to others.** With `epsilon`, you may publish the scores and
    everything else on the fitted scorer: replacing the target of one record changes the probability of any outcome by a
    factor of at most exp(epsilon), for any reports.

    Parameters
    ----------
    statistic : {"distance_correlation", "mtv_r", "mic_r"}, default="distance_correlation"
        Measure of dependence; scores are in [0, 1]. "distance_correlation", of the parts of the features, finds
        dependence of any shape, and has intervals. "mtv_r" and "mic_r" are estimates of :func:`mtv_r` and :func:`mic_r`
        on few parts, minus the mean score of independent columns. Use these for oscillating relationships and for
        classes.
    target_bounds : tuple or array-like, default=None
        Public range of a numeric target, as in :class:`DPMICScorer`. Not required with "distance_correlation" without
        `epsilon`.
    classes : array-like, default=None
        All labels a discrete target can have, in any order.
    target_shares : array-like, default=None
        Public distribution of the target, only with "mtv_r": the share of the records in each class, in the order of
        `classes`, or in each half, quarter or eighth of `target_bounds`; all above 0, with a sum of 1. Scores are then
        :func:`mtv_r` with this known margin. With `epsilon`, noise is added to each score, instead of to tables of
        counts, which would need more noise. Wrong shares cost power, not privacy.
    epsilon : float, default=None
        Privacy budget of one `fit` for the target, above 0, if you will publish the result; None if not.
    ledger : BudgetLedger, default=None
        Ledger that every `fit` with `epsilon` charges, after the data is validated and before noise is drawn.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Scores, in [0, 1].
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by its score before clamping to [0, 1]; 1 is the best.
    distance_covariances_ : ndarray of shape (n_features,)
        Unbiased estimates of the squared distance covariances, which may be negative; only with "distance_correlation".
        Ranges given as bounds are scaled to width 1; the distance between two classes or labels is 1.
    noisy_counts_ : list of n_features ndarrays of shape (n_parts, n_target_parts)
        Noisy number of records in each reported part and each part of the target, from which everything else is
        computed; only with `epsilon` and without `target_shares`.
    noise_scale_ : float
        Scale of the discrete Laplace noise on each of these counts, ``2 columns_per_record / epsilon``; only with
        `noisy_counts_`.
    noise_scales_ : ndarray of shape (n_features,)
        Scale of the discrete Laplace noise on each score; only with `epsilon` and `target_shares`.
    noisy_scores_ : ndarray of shape (n_features,)
        Scores with this noise, from which `scores_` are computed; only with `epsilon` and `target_shares`.
    null_scores_ : ndarray of shape (n_features,)
        Mean noise-free scores of targets with these shares that are independent of the reports, which are subtracted to
        get `scores_`. Only with `target_shares`.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit, for the target; (0, 0) without `epsilon`, if nothing may be published.
    privacy_of_reports_ : (float, float)
        Epsilon and delta of the reports, under local differential privacy.
    n_reported_ : ndarray of shape (n_features,)
        Number of records that reported each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features.

    See Also
    --------
    RandomizedResponse : Makes the reports.
    private_score : Scores a pair of columns, if one trusted party has both.

    Notes
    -----
    Errors fall as ``1 / sqrt(n_samples)``; with a trusted party, they fall as ``1 / n_samples``. That is the price of
    trusting nobody (``docs/choose/two_parties.md``). The distance correlation is that of the *parts*, at their centres
    on the scale of the bounds (``docs/theory/two_parties.md``). It is near that of the values if these spread evenly
    over the bounds (3% too low with four parts, 1% with eight), and far from it if nearly all values lie in one part.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(20_000, 2))
    >>> y = X[:, 1] + 0.25 * rng.normal(size=20_000)
    >>> alice = RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)
    >>> sent = alice.to_arrow(alice.transform(X))
    >>> bob = TwoPartyScorer().fit(sent, y)
    >>> bob.ranking_.tolist(), bool(abs(bob.scores_[1] - 0.737) < 0.1)
    ([2, 1], True)
    """

    statistic: Literal["distance_correlation", "mtv_r", "mic_r"] = "distance_correlation"
    _: KW_ONLY
    target_bounds: Range | None = None
    classes: ColumnLike | None = None
    target_shares: ColumnLike | None = None
    epsilon: float | None = None
    ledger: BudgetLedger | None = None
    random_state: RandomState = None

    def fit(self, reports: Any, y: BesideTable) -> Self:
        """Score every reported feature against the target.

        Parameters
        ----------
        reports : pyarrow.Table, str or path-like
            Result of :meth:`RandomizedResponse.to_arrow`, or an Arrow (Feather) file of it; at least 4 records. It is
            checked as untrusted input, and contains no code.
        y : array-like of shape (n_samples,)
            The target of the same records, in the same order, without missing values.

        Returns
        -------
        self : object
            The fitted scorer.

        Raises
        ------
        ValueError, TypeError
            If a parameter, the reports or the target are invalid, or if the epsilon of each reported column is below
            1e-6, which is uninformative. The scorer is left unchanged.
        BudgetError
            If epsilon does not fit in `ledger`. The scorer is left unchanged, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set with `epsilon`.
        """
        plan = self._two_party_plan()
        reports, target = plan.read(reports, y)
        ready = plan.ready(reports)
        draw = partial(ready.draw, target)
        store(self, run(ready.entry, draw, ledger=self.ledger, random_state=plan.random_state))
        return self

    _what_intervals_hold = "the distance correlation, in the population, of the target and the parts of the feature"

    def scores_interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Confidence intervals for the distance correlations of the parts of the features and the target.

        An interval is for the distance correlation in the population from which the records are sampled, between the
        target and the *parts* of the feature, at their centres on the scale of the bounds; with `epsilon`, the target
        is also in parts. The intervals account for the noise on reports and counts. **They are not for the values
        themselves,** which the parts represent only if values spread over them. Costs nothing beyond the fit.

        An interval is [0, 1], with a warning that gives the reason, if the reports do not show that a column lies in
        more than one part, if they show that parts are too coarse for its values (60% of them in one part, and others
        in the next, as with log-normal values and linear bounds), or if one record dominates the variance, as with
        heavy-tailed targets.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level for each feature separately, in (0, 1). It is approximate: from about 1,000 records on, 95%
            intervals covered the truth in 94% or more of tables, for dependent and independent columns of five
            distributions (``docs/theory/two_parties.md``).

        Returns
        -------
        lower, upper : ndarrays of shape (n_features,)
            In [0, 1].

        Raises
        ------
        AttributeError
            With a statistic other than "distance_correlation", because maxima have no such intervals.

        Warns
        -----
        UserWarning
            If an interval is [0, 1] for one of the reasons above.
        """
        check_is_fitted(self)
        if not hasattr(self, "_estimates"):
            raise AttributeError("scores_interval requires statistic='distance_correlation': other scores are maxima.")
        check_confidence(confidence)
        z = normal_half_width(confidence)
        reasons = [estimate.why_no_interval(z) for estimate in self._estimates]
        for reason, text in REFUSALS.items():
            names = [name for name, found in zip(self.feature_names_in_, reasons, strict=True) if found == reason]
            if names:
                warn(f"The intervals of {abbreviated(names)} are [0, 1], because {text}.")
        ends = np.array([estimate.interval(z) for estimate in self._estimates])
        lower, upper = np.sqrt(np.clip(ends, 0.0, 1.0)).T
        return lower, upper

    def _further_columns(self):
        return {"n_reported": self.n_reported_}

    def _shown(self):
        """Scores of a :class:`TwoPartyScorer`."""
        of_reports, of_target = (epsilon for epsilon, _ in (self.privacy_of_reports_, self.privacy_spent_))
        features, entry, entries = counted(self.n_features_in_, "feature"), self._entry, ()
        facts = [
            ("Computed" if entry is None else "Released", f"scores of {features}, by {self._scored_by}"),
            ("Features", f"reported by each of {counted(self._n_records, 'record')} at {budget(of_reports, 0)}, local"),
        ]
        if entry is None:
            why = "not covered by the guarantee: for the party that holds it only, not to be published"
            facts.append(("Target", why))
        else:
            scale, where = getattr(self, "noise_scale_", None), "records, on each count"
            if scale is None:
                scale, where = self.noise_scales_.max(), "or less, on each score"
            noise = f"geometric noise of scale {in_short(scale)} {where}" if scale else "none"
            facts += [("Target", f"{budget(of_target, 0)}, central"), ("Noise", noise)]
            of_features = {"mechanism": "randomized-response", "model": "local", "covers": "the features"}
            entries = (entry, entry._replace(epsilon=float(of_reports), broken_by="", **of_features))
        if hasattr(self, "_estimates"):
            facts.append(("Intervals", f"for {self._what_intervals_hold}"))
        broken = list(dict.fromkeys(reason for each in entries for reason in why_broken(each)))
        return Summary(facts, broken, feature_columns(self), by_rank(self), unit="feature", entries=entries)

    def _two_party_plan(self):
        got = quoted(self.statistic)
        if self.statistic not in ("distance_correlation", "mtv_r", "mic_r"):
            raise ValueError(f"statistic must be 'distance_correlation', 'mtv_r' or 'mic_r', got {got}.")
        if self.epsilon is not None:
            check_epsilon(self.epsilon)
        check_ledger(self.ledger)
        if self.ledger is not None and self.epsilon is None:
            raise ValueError("ledger must be None without epsilon, because then nothing is published or charged.")
        is_cut = self.epsilon is not None or self.statistic != "distance_correlation"
        facts = PublicFacts(target_bounds=self.target_bounds, classes=self.classes, needs_ranges=is_cut)
        check_kind(self.target_bounds, self.classes, is_cut)
        shares = self.target_shares
        if shares is not None:
            if self.statistic != "mtv_r":
                raise ValueError(f"target_shares must be None with statistic={got}, because it requires 'mtv_r'.")
            shares = np.array(check_target_shares(shares, self.target_bounds, self.classes))
            shares = shares / shares.sum()
        entropy_source(self.random_state)
        random_state = None if self.epsilon is None else self.random_state
        return TwoPartyPlan(type(self).__name__, facts, self.statistic, self.epsilon, shares, random_state)


_LEAST = 1e-6  # epsilon per report: with less, even the most reports that can be read would be uninformative


@dataclass(frozen=True, eq=False)
class TwoPartyPlan:
    """What a fit does, as a frozen value: it decides on cost and noise from the reports, which are public."""

    reader: str  # the estimator, in errors and ledgers
    facts: PublicFacts
    statistic: str
    epsilon: float | None  # None if nothing is published: then there is no noise
    shares: Any  # of the target, if they are public
    random_state: Any

    def read(self, reports, y):
        """The reports, and the target; the number of records is compared before reports are read."""
        opened = open_reports(reports)
        check_enough(opened.n_samples)
        refuse_target_among(opened.description.names, y)
        facts, domain = self.facts, None
        if facts.classes is None:
            domain = target_domain(facts.target_bounds, facts.needs_ranges or facts.target_bounds is not None)
        target = make_target(y, opened.n_samples, domain, facts.classes, self.reader)
        return opened.read(), target

    def ready(self, reports):
        """The release of the target of the reported records."""
        entry = None if self.epsilon is None else self.entry(reports)
        scored = (_scores_of_tables if self.shares is None else _known_scores)(self, reports)
        seen = {
            "n_features_in_": len(reports.parts),
            "feature_names_in_": np.array(reports.description.names, dtype=object),
            "n_reported_": np.array([(parts >= 0).sum() for parts in reports.parts]),
            "privacy_of_reports_": (reports.description.epsilon, 0.0),
            "privacy_spent_": (0.0 if self.epsilon is None else float(self.epsilon), 0.0),
            "_n_records": reports.n_samples,
            "_scored_by": self.statistic,
            "_entry": entry,
        }
        return Ready(entry, lambda target, random_bytes: seen | scored(target, random_bytes))

    def entry(self, reports):
        """The entry of the ledger."""
        of_tables, k = self.shares is None, reports.description.columns_per_record
        n_changed = 2 * k if of_tables else k  # number of counts or scores that a record changes
        cost = Cost.of_parts(self.epsilon, Fraction(1, n_changed))
        size = {"n": reports.n_samples, "d": len(reports.parts)}
        public = {"release": "tables" if of_tables else "scores", "mechanism": "geometric", "covers": "the target"}
        return entry_for(self.reader, cost, random_state=self.random_state, statistic=self.statistic, **public, **size)


def _inverses(description):
    """The inverse of the response matrix of each column; those of equal columns are the same object."""
    epsilon = float(description.epsilon_per_column)
    if epsilon < _LEAST:
        raise ValueError(
            f"reports must have an epsilon of at least {_LEAST:g} for each column that a record reports, to tell "
            f"anything, got {epsilon:g}."
        )
    sizes = [column.n_parts for column in description.columns]
    of_size = {n_parts: inverse_response_matrix(n_parts, epsilon) for n_parts in set(sizes)}
    return [of_size[n_parts] for n_parts in sizes]


# --- What is published, or computed for this party --------------------------------------------------------------------


def _scores_of_tables(plan, reports):
    """A function of target and random bytes: scores from tables of counts, noisy if they are to be published."""
    columns = list(zip(reports.parts, reports.description.columns, _inverses(reports.description), strict=True))
    budget = math.inf if plan.epsilon is None else plan.epsilon
    scale = noise_scale(budget, 2 * reports.description.columns_per_record)  # a target is in two counts of each column
    n_parts = n_target_parts(plan.statistic, budget * reports.n_samples / len(columns))

    def scored(target, random_bytes):
        is_discrete, published = target.n_classes is not None, {}
        if plan.statistic == "distance_correlation" and plan.epsilon is None:
            return _correlations([estimate_from_records(*each, target) for each in columns])
        tables = [count_reports(parts, target, n_parts, len(inverse)) for parts, _, inverse in columns]
        if plan.epsilon is not None:
            tables = [with_laplace_noise(table, scale, random_bytes) for table in tables]
            published = {"noisy_counts_": tables, "noise_scale_": float(scale)}
        if plan.statistic == "distance_correlation":
            found = [
                estimate_from_counts(table, (parts >= 0).sum(), column, inverse, is_discrete, scale)
                for table, (parts, column, inverse) in zip(tables, columns, strict=True)
            ]
            return published | _correlations(found)
        pairs = zip(tables, columns, strict=True)
        scores = [table_score(plan.statistic, table, inverse, is_discrete, scale) for table, (*_, inverse) in pairs]
        return published | _ranked(np.array(scores))

    return scored


def _correlations(found):
    squared = np.array([estimate.value for estimate, _ in found])
    return {
        "_estimates": [estimate for estimate, _ in found],
        "distance_covariances_": np.array([covariance for _, covariance in found]),
    } | _ranked(squared, np.sqrt(np.clip(squared, 0.0, 1.0)))


def _known_scores(plan, reports):
    """A function of target and random bytes: scores with the public shares of the target, with noise if published."""
    k, columns, scales, null_scores = reports.description.columns_per_record, [], [], []
    for parts, inverse in zip(reports.parts, _inverses(reports.description), strict=True):
        reported = np.bincount(parts[parts >= 0], minlength=len(inverse))
        n_steps = sensitivity_in_steps(reported.sum(), inverse, plan.shares)
        columns.append((parts, inverse))
        scales.append(noise_scale(math.inf if plan.epsilon is None else plan.epsilon, k * n_steps))
        null_scores.append(score_of_independent(reported, inverse, plan.shares))

    def scored(target, random_bytes):
        published = {"null_scores_": np.array(null_scores)}
        tables = [count_reports(parts, target, len(plan.shares), len(inverse)) for parts, inverse in columns]
        pairs = zip(tables, columns, strict=True)
        scores = [float(known_score(table, inverse, plan.shares)) for table, (_, inverse) in pairs]
        if plan.epsilon is not None:
            scores = [noisy_score(*each, random_bytes) for each in zip(scores, scales, strict=True)]
            published["noisy_scores_"] = np.array(scores)
            published["noise_scales_"] = np.array([float(scale / STEPS) for scale in scales])
        return published | _ranked(beyond_chance(np.array(scores), published["null_scores_"]))

    return scored


def _ranked(unclamped, scores=None):
    scores = np.clip(unclamped, 0.0, 1.0) if scores is None else scores
    return {"scores_": scores, "ranking_": places(np.argsort(-unclamped, kind="stable"))}


_EIGHTHS = 8  # parts of the range of a numeric target; more parts would let chance and noise score higher
_FINER = {1500: 16, 10_000: 24}  # parts for distance correlation, by the smallest number of records times epsilon
_B = 16.0  # largest grid of MICr
_DRAWS = 30  # of independent columns

# --- Counts, and their noise ------------------------------------------------------------------------------------------


def n_target_parts(statistic, budget):
    """The number of equal parts of the range of a target.

    Parameters
    ----------
    statistic : str
    budget : float
        Number of records that report a column, times the epsilon of its table; infinite without noise.
    """
    if statistic != "distance_correlation":
        return _EIGHTHS
    return max([_EIGHTHS, *(n_parts for least, n_parts in _FINER.items() if budget >= least)])


def count_reports(parts, target, n_target, n_parts):
    """The number of records in each reported part and each class, or each of `n_target` parts, of the target."""
    of_target = target.values
    if target.n_classes is None:
        of_target = equal_parts(target.values, target.bounds, n_target).astype(np.int64)
    shape, reported = (n_parts, target.n_classes or n_target), parts >= 0
    cells = parts[reported].astype(np.int64) * shape[1] + of_target[reported]
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def noise_scale(epsilon, changes):
    """Scale of the noise on numbers that a record changes by `changes` in all: a Fraction, or 0 for infinite epsilon.

    Replacing a target changes two counts by one in each column reported, or one score by its sensitivity.
    """
    return 0 if epsilon == math.inf else changes / exact(epsilon)


def with_laplace_noise(counts, scale, random_bytes):
    """Counts with independent discrete Laplace noise, as int64; clamped at `FARTHEST`, where they say nothing."""
    return np.clip(with_noise(discrete_laplace, scale, counts, random_bytes), -FARTHEST, FARTHEST)


# --- Scores -----------------------------------------------------------------------------------------------------------


def table_score(statistic, counts, inverse, is_discrete, scale):
    """MTVr or MICr from counts of reports, minus the mean score of independent columns.

    Parameters
    ----------
    statistic : {"mtv_r", "mic_r"}
    counts : ndarray of shape (n_parts, n_target_parts)
        Counts, noisy if they are to be published.
    inverse : ndarray of shape (n_parts, n_parts)
        Inverse of the response matrix.
    is_discrete : bool
        Whether the target has classes.
    scale : number
        Scale of the noise on the counts.

    Returns
    -------
    float
        At most 1, and negative if below the chance level. A function of the counts: the simulation always uses the same
        random numbers.
    """
    n = counts.sum()
    if n < 1:
        return 0.0
    largest = _largest_variation if statistic == "mtv_r" else _largest_information
    tables = (inverse @ (table / table.sum()) for table in (counts, *_independent_tables(counts, scale)))
    score, *by_chance = (largest(table, is_discrete) for table in tables)
    return float(beyond_chance(score, np.mean(by_chance)))


def _independent_tables(counts, scale):
    """Tables of the same number of records, with the same margins and noise."""
    random = np.random.RandomState(0)
    n = int(counts.sum())
    margins = [nearest_shares(counts.sum(axis=axis) / n) for axis in (1, 0)]
    for _ in range(_DRAWS):
        table = random.multinomial(n, np.outer(*margins).ravel()).reshape(counts.shape)
        yield table + random.laplace(0, float(min(scale, FARTHEST)), counts.shape) if scale else table


def _largest_variation(table, is_discrete):
    """Twice the largest total variation from independence, of all parts against the target cut in two."""
    steps, n = table - np.outer(table.sum(axis=1), table.sum(axis=0)), table.shape[1]
    divisions = np.array(divisions_in_two(n, with_each_alone=is_discrete))
    return min(2 * np.abs(steps @ divisions.T).sum(axis=0).max(), 1.0)


def _largest_information(table, is_discrete):
    """The largest entry of the characteristic matrix of a debiased table, with negative counts set to 0."""
    table = nearest_shares(table.ravel()).reshape(table.shape)
    return mic_of_class_table(table, _B) if is_discrete else mic_of_table(table, _B)


# --- Public shares of the target --------------------------------------------------------------------------------------
#
# MTVr of reports against publicly known shares of the target, and its noise.
#
# ``docs/theory/two_parties.md``, section 4. From debiased counts of reported parts and groups of the target, the
# score is the sum of ``|n_ij - t_j n_i|``, divided by ``2 n max_j (1 - t_j)``.

STEPS = 2**30  # in a score of 1; noise is an integer number of steps
_TARGETS = 100  # of independent targets


def known_score(counts, inverse, shares):
    """The score, in [0, 1].

    Parameters
    ----------
    counts : ndarray of shape (..., n_parts, n_groups)
        Number of records that report each part, by the group of their target.
    inverse : ndarray of shape (n_parts, n_parts)
        Inverse of the response matrix.
    shares : ndarray of shape (n_groups,)
        Public shares, above 0, with sum 1.

    Returns
    -------
    ndarray of shape (...,)
        0 without records.
    """
    n = np.maximum(counts.sum(axis=(-2, -1)), 1)
    beyond = inverse @ (counts - counts.sum(axis=-1, keepdims=True) * shares)
    return np.minimum(np.abs(beyond).sum(axis=(-2, -1)) / (2 * n * (1 - shares.min())), 1.0)


def sensitivity(n, inverse, shares):
    """The largest change of the score if the target of one of n records is replaced, for any reports.

    A record that reports r moves column r of the inverse from one group to another.
    """
    return min(float(np.abs(inverse).sum(axis=0).max() / (max(n, 1) * (1 - shares.min()))), 1.0)


def sensitivity_in_steps(n, inverse, shares):
    """The sensitivity of scores that are computed in floats and rounded to integer steps."""
    moves = sensitivity(n, inverse, shares)
    if moves == 1:
        return STEPS
    of_sums = len(inverse) * (len(inverse) + len(shares) + 4) * np.abs(inverse).sum(axis=0).max()
    return min(math.ceil(STEPS * moves * (1 + 1e-9)) + 1 + math.ceil(STEPS * float(of_sums) * 2**-51), STEPS)


def noisy_score(score, scale, random_bytes):
    """The score in integer steps, with discrete Laplace noise of this scale; it may be outside [0, 1]."""
    steps = round(float(score) * STEPS)
    return (steps + int(discrete_laplace(scale, 1, random_bytes)[0]) if scale else steps) / STEPS


def score_of_independent(reported, inverse, shares):
    """The mean score of targets with these shares that are independent of these reports. No real target is read.

    It always uses the same random numbers, so it is a function of the reports.
    """
    random = np.random.RandomState(0)
    drawn = [[random.multinomial(n, shares) for n in reported] for _ in range(_TARGETS)]
    return float(known_score(np.array(drawn), inverse, shares).mean())


def beyond_chance(score, by_chance):
    """Rescale scores: 0 at the chance level, 1 at 1."""
    return (score - by_chance) / np.maximum(1 - by_chance, 1e-9)
