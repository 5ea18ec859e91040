"""The noise and the cost of a release of a table of a given shape, before any data is used."""

import math
from functools import partial
from typing import Literal, NamedTuple

from skdpmic._utils.arguments import check_goal, check_whole, is_number
from skdpmic._utils.texts import quoted
from skdpmic.planning.chances import check_signal, share_found, tolerance_of
from skdpmic.planning.rows import ReleasePlan, answers, epsilons, rounded_up, row_of, sizes
from skdpmic.privacy.composition import check_delta, check_epsilon
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.kinds import BestFeatures, NoisyScores
from skdpmic.release.summary_cells import CellsRelease
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.records import Shape

SOUGHT = ("epsilon", "n_samples", "error")  # two are given (`found` may replace `error`), the third is computed
_LEAST = {"n_features": 1, "n_samples": 4, "n_classes": 2, "max_rows_per_group": 1, "k": 1}
CONFIDENCE = 0.95  # probability that the noise is at most the error
_CORRECTION = "miller-madow"  # as in the estimators


class Request(NamedTuple):
    """Public numbers of a table and its release; of epsilon, n_samples and a goal (error or found), one is None."""

    n_samples: int | None
    n_features: int | None
    k: int | None
    epsilon: float | None
    error: float | None
    delta: float
    n_classes: int | None
    max_rows_per_group: int | None
    mean_weight: float | None = None
    signal: str = "weak"
    found: float | None = None

    @property
    def weight_factor(self):
        """Factor of the scores due to weights; 1 if all records count equally."""
        return 1.0 if self.mean_weight is None else self.mean_weight

    @property
    def sought(self):
        """The number to find: "epsilon", "n_samples" or "error"."""
        missing = [name for name in SOUGHT if getattr(self, name) is None]
        return missing[0] if self.found is None else missing[-2]

    def shape(self, n_samples):
        """The shape of a table with this many people."""
        rows_per_group = self.max_rows_per_group or 1
        return Shape(n_samples * rows_per_group, [(0.0, 1.0)] * self.n_features, rows_per_group)


def checked(request):
    """The request, with integers as Python ints, which cannot overflow; raise if it is invalid.

    See :func:`skdpmic.plan_release`.
    """
    given = [name for name in (*SOUGHT, "found") if getattr(request, name) is not None]
    if len(given) != len(SOUGHT) - 1 or {"error", "found"} <= {*given}:
        wanted = f"{', '.join(SOUGHT)} (or found, in place of error)"
        raise ValueError(f"exactly two of {wanted} must be given, got {', '.join(given) or 'none'}.")
    whole = {name: getattr(request, name) for name in _LEAST}
    whole = {name: value for name, value in whole.items() if value is not None or name == "n_features"}
    for name, value in whole.items():
        check_whole(value, name, _LEAST[name])
    if request.k is not None and request.k > request.n_features - (request.found is not None):
        most = "at most" if request.found is None else "less than"  # or chance finds all
        raise ValueError(f"k must be {most} n_features={request.n_features}, got {quoted(request.k)}.")
    check_delta(request.delta)
    if request.epsilon is not None:
        check_epsilon(request.epsilon)
        if request.epsilon == math.inf:
            raise ValueError("epsilon must be finite, because there is neither noise nor privacy otherwise, got inf.")
    check_goal(request.error, request.found)
    mean_weight = request.mean_weight
    if mean_weight is not None and not (is_number(mean_weight) and 0 < mean_weight <= 1):
        raise ValueError(f"mean_weight must be None or a number in (0, 1], got {quoted(mean_weight)}.")
    check_signal(request.signal)
    return request._replace(**{name: int(value) for name, value in whole.items()})


def plan_release(
    *,
    n_samples: int | None = None,
    n_features: int | None = None,
    k: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    found: float | None = None,
    delta: float = 0.0,
    n_classes: int | None = None,
    max_rows_per_group: int | None = None,
    mean_weight: float | None = None,
    signal: Literal["strong", "typical", "weak"] = "weak",
    release: Literal["features", "summary"] = "features",
) -> ReleasePlan:
    """Plan the cost, the noise or the number of records of a release before data is collected.

    Leave out one of `epsilon`, `n_samples` and the goal, `error` or `found`: it is computed for each statistic and
    mechanism, and the rows are in ascending order. Planning uses only the numbers given here, so it costs no budget.

    Parameters
    ----------
    n_samples : int, default=None
        Number of records, at least 4; number of people with `max_rows_per_group`.
    n_features : int
        Number of features, at least 1.
    k : int, default=None
        Number of features to choose. If None, only releases of scores are planned.
    epsilon : float, default=None
        Privacy budget of the release; above 0, and finite.
    error : float, default=None
        Largest error due to noise, in [1e-6, 1], on the scale of the scores, which are in [0, 1]. For a release of
        scores it is the half-width of the 95% interval of each score, as in `scores_interval`. For a release of names
        it is the half-width of the 95% interval of the noise on the difference of two scores: of two features whose
        scores are that far apart, the better one comes first with a probability of at least 97.5%.
    found : float, default=None
        In place of `error`: the share of the best k features to be found, in (0, 1), as in the Notes.
    delta : float, default=0.0
        In [0, 1). If above 0, mechanisms that use it are also planned.
    n_classes : int, default=None
        Number of classes of a discrete target, at least 2; None for a continuous one.
    max_rows_per_group : int, default=None
        If given, the guarantee covers people, each with this many rows.
    mean_weight : float, default=None
        If given, records have survey weights, and this is their approximate mean, as a share of the estimators'
        `max_weight`; in (0, 1]. `error` then refers to scores divided by it.
    signal : {"strong", "typical", "weak"}, default="weak"
        Assumption about the scores behind `found`: they are as large, and fall as fast, as on the third of 25 public
        tables whose best features are hardest to find ("weak"), on all 25 ("typical"), or on the third whose best
        features are easiest to find ("strong"). The noise does not depend on it.
    release : {"features", "summary"}, default="features"
        What to publish: scores or names of features; or a :func:`private_summary` of a table with `n_features` columns.
        The `error` of a summary is the half-width of the simultaneous intervals for the shares of missing, clipped and
        unknown values. A summary has no target, so `k`, `n_classes`, `mean_weight` and `found` must be None.

    Returns
    -------
    ReleasePlan
        Rows with the attributes release, mechanism, statistic, epsilon, delta, n_samples, n_features, k, error,
        noise_scale, found and rho. `to_frame` returns them as a dataframe.

    Raises
    ------
    ValueError
        If a parameter is invalid, if not exactly one of the three is left out, if `found` is given without `k`, or if
        no release is possible.

    See Also
    --------
    PrivateSelectKBest.plan : The same for an estimator.
    search_cost : Computes the privacy cost of a parameter search.
    skdpmic.plotting.PlanDisplay : Plots plans against the number of records.

    Notes
    -----
    The numbers come from the mechanisms that a fit uses, and are rounded up to three digits: with the stated epsilon or
    number of records, the noise is at most that requested; and at the confidence above, no fit has a larger error than
    stated. They assume numeric features and automatic B and c, on which the noise hardly depends. Plans leave out
    releases that would need more than a billion records or an epsilon above 10 million, statistics that do not support
    that many classes, and ``mechanism="geometric"``, whose scores have an error of unknown distribution, because the
    noise is on counts.

    `found` is the expected share of the k choices that count, beyond chance: 0 for a random choice, 1 for all. A choice
    (or one of the k largest noisy scores) counts if it is among the best k without noise, or if its noise-free score is
    within `tolerance` of the last of these, ``2 / sqrt(n_samples)``: other people of the same kind could have ranked
    them the other way around. It relies on the assumption of `signal` (``docs/choose/planning.md``).

    Examples
    --------
    Which epsilon finds 80% of the best 5 of 100 features in data of 5,000 patients, and how many patients does
    epsilon = 1 need?

    >>> from skdpmic import plan_release
    >>> plan = plan_release(n_samples=5000, n_features=100, k=5, found=0.8)
    >>> plan[0].release, plan[0].statistic, plan[0].epsilon
    ('names', 'mtv_r', 0.296)
    >>> plan_release(epsilon=1, n_features=100, k=5, found=0.8)[0].n_samples
    737

    How accurate are the shares in a private summary of 10 columns and 10,000 people?

    >>> plan_release(n_samples=10_000, n_features=10, epsilon=0.1, release="summary")[0].error
    0.0625
    """
    public = (n_samples, n_features, k, epsilon, error, delta, n_classes, max_rows_per_group, mean_weight, signal)
    request = checked(Request(*public, found))
    if release not in ("features", "summary"):
        raise ValueError(f"release must be 'features' or 'summary', got {quoted(release)}.")
    if release == "summary":
        rows = planned_summaries(request)
    elif found is not None and k is None:
        raise ValueError("k must be given with found, got None: it is the share of the best k features.")
    else:
        rows = [row for statistic in STATISTICS for row in planned_releases(statistic, request)]
    if not rows:
        goal = f"error={quoted(error)}" if found is None else f"found={quoted(found)}"
        raise ValueError(
            f"no release meets {goal} with at most {sizes()[-1]:,} samples, or an epsilon of at most "
            f"{epsilons()[-1]:,.0f}."
        )
    once = {row[:3]: row for row in reversed(rows)}  # delta may make no difference
    cheapest_first = sorted(once.values(), key=lambda row: (getattr(row, request.sought), row.noise_scale))
    return ReleasePlan(tuple(cheapest_first), request.sought)


def planned_releases(statistic, request, release=None):
    """The rows of a plan for one statistic.

    Parameters
    ----------
    statistic : str
    request : Request
        A checked request.
    release : {"scores", "names"}, default=None
        Only rows of this release; None for both.

    Returns
    -------
    list of PlannedRelease
        Empty if nothing meets the request.
    """
    statistic = statistic_named(statistic, _CORRECTION)
    if request.mean_weight is not None and not statistic.takes_weights:
        return []
    try:
        statistic.measure("auto", "auto", request.n_samples or 1000, 1.0, request.n_classes)
    except ValueError:  # it does not support this many records or classes
        return []
    rows = (_row_of(release_for, statistic, request) for release_for in _releases(statistic, request, release))
    return [row for row in rows if row is not None]


def plan_of_fit(release, measure, statistic, request, domains, n_kept, has_usual_grids):
    """The release of a fit to features of these domains, followed by those of :func:`plan_release`."""
    shape = request.shape(request.n_samples)._replace(domains=domains)
    own = planned(release, measure, shape, statistic, request, n_kept, has_usual_grids)
    others = [row for row in plan_release(**request._asdict()) if row[:3] != own[:3]]
    return ReleasePlan((own, *others), request.sought)


def _row_of(release_for, statistic, request):
    """The row of a release, a function of epsilon, that meets the request; None if none does."""

    def at(epsilon, n_samples):
        release = release_for(epsilon)
        measure = release.measure(statistic, "auto", "auto", n_samples, request.n_classes)
        return release, measure if request.mean_weight is None else measure.of_weights(), request.shape(n_samples)

    def meets(epsilon, n_samples):
        release, *of_table = at(epsilon, n_samples)
        mechanism = release.mechanism(*of_table)
        if request.found is not None:
            return expected_found(mechanism, statistic.name, request, n_samples) >= request.found
        return mechanism.half_width(CONFIDENCE) <= request.error * request.weight_factor

    answer = answers(request, meets)
    return None if answer is None else planned(*at(*answer), statistic.name, request)


def expected_found(mechanism, statistic, request, n_samples, n_kept=0):
    """The share of the best features found with this noise, beyond chance; NaN without an assumption."""
    if request.k is None or (law := getattr(mechanism, "law", None)) is None:
        return math.nan
    public = statistic, request.signal, request.n_features - n_kept, request.k, law, tolerance_of(n_samples)
    return share_found(*public, request.weight_factor)


def _releases(statistic, request, release):
    """The releases by each mechanism, as functions of epsilon."""
    d, k, delta = request.n_features, request.k, request.delta
    allowed = [mechanism for mechanism in MECHANISMS.values() if delta > 0 or not mechanism.needs_delta]
    if d == 1:  # with one score, noise in a cube is Laplace noise
        allowed = [mechanism for mechanism in allowed if mechanism.is_independent]
    target = {"spends_on_target": statistic.spends_on_target(request.n_classes)}
    if release != "names":
        for noise in allowed:
            yield partial(NoisyScores, delta=delta if noise.needs_delta else 0.0, noise=noise, n_features=d, **target)
    if k is not None and release != "scores":
        for each in sorted({0.0, delta}):
            yield partial(BestFeatures, delta=each, k=k, n_candidates=d, **target)


def planned(release, measure, shape, statistic, request, n_kept=0, has_usual_grids=True):
    """The row of a release; its error is that of the request, or else that of the mechanism.

    Parameters
    ----------
    release : a release of ``release/kinds.py``
    measure : its measure
    shape : Shape
    statistic : str
    request : Request
    n_kept : int, default=0
        Number of features kept in any case.
    has_usual_grids : bool, default=True
        Whether the assumption about scores applies to the grids of the measure.

    Returns
    -------
    PlannedRelease
    """
    mechanism = release.mechanism(measure, shape)
    half_width = mechanism.half_width(CONFIDENCE) / request.weight_factor
    return row_of(
        release,
        mechanism,
        release="names" if isinstance(release, BestFeatures) else "scores",
        statistic=statistic,
        n_samples=shape.n_groups,
        n_features=shape.n_features,
        k=request.k,
        error=rounded_up(half_width) if request.error is None else request.error,
        noise_scale=mechanism.noise_scale,
        found=expected_found(mechanism, statistic, request, shape.n_groups, n_kept) if has_usual_grids else math.nan,
        tolerance=math.nan if request.k is None else tolerance_of(shape.n_groups),
        epsilon_of_target=float(release.epsilon_of_target),
    )


_SIZES = (4, 12)  # cells of a numeric column, which has more than one of labels
_ONLY_FOR_FEATURES = ("k", "n_classes", "mean_weight", "found")


def planned_summaries(request):
    """The rows of a plan of :func:`skdpmic.private_summary`: without delta, and with delta if that has less noise.

    Parameters
    ----------
    request : Request
        A checked request.

    Returns
    -------
    list of PlannedRelease
    """
    for name in _ONLY_FOR_FEATURES:
        if (value := getattr(request, name)) is not None:
            raise ValueError(f"{name} must be None with release='summary', which has no target, got {quoted(value)}.")
    return [row for delta in sorted({0.0, request.delta}) for row in _summaries(request, delta)]


def _summaries(request, delta):
    """The row of the summary that meets the request, if one does."""
    rows_per_group = request.max_rows_per_group or 1

    def release_for(epsilon):
        return CellsRelease(epsilon, delta, (_SIZES,) * request.n_features, rows_per_group)

    def error(epsilon, n_samples):
        """Half-width of the simultaneous intervals for the shares of flags."""
        return release_for(epsilon).half_width(0, _SIZES[0]) / (n_samples * rows_per_group)

    found = answers(request, lambda *pair: error(*pair) <= request.error)
    if found is not None:
        epsilon, n_samples = found
        release = release_for(epsilon)
        mechanism = release.mechanisms[0]  # of flags
        yield row_of(
            release,
            mechanism,
            release="summary",
            statistic="shares",
            n_samples=n_samples,
            n_features=request.n_features,
            error=rounded_up(error(*found)) if request.error is None else request.error,
            noise_scale=mechanism.noise_scale / (n_samples * rows_per_group),
        )
