"""A private test score of a model, from noisy counts of its predictions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from skdpmic._utils.arguments import check_verbose
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.progress import Progress
from skdpmic._utils.readable import column_names, refuse_target_among
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import ColumnLike, RandomState
from skdpmic.budget.filters import Cost
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, broken_by_seed, unit_of
from skdpmic.models.class_counts import RIGHT_SHARE, TABLES_SHARE, ClassCells, GeometricCounts, usual_n_bins
from skdpmic.models.evaluation_result import PrivateEvaluation
from skdpmic.models.figures_of_merit import accuracy, area_under_curve, bounded_scale, brier_score, figures_of_sums
from skdpmic.models.number_sums import SQUARES, ErrorSums, noisy_sums
from skdpmic.models.predictions import check_model, check_unit, n_rows_of, predicted_by, with_rows
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.privacy.weighted_noise import deviations_of
from skdpmic.release.path import run
from skdpmic.table.domains import NUMBERS, Range, domain_of
from skdpmic.table.people import check_given_together, check_max_rows, read_people
from skdpmic.table.reading import check_enough
from skdpmic.table.targets import check_classes, make_target


@never_cached
def private_evaluation(
    model: Any,
    X: Any,
    y: ColumnLike,
    *,
    epsilon: float,
    target_bounds: Sequence[float] | None = None,
    groups: ColumnLike | None = None,
    max_rows_per_group: int | None = None,
    n_bins: int | None = None,
    model_is_public: bool = False,
    ledger: BudgetLedger | None = None,
    verbose: int = 0,
    random_state: RandomState = None,
) -> PrivateEvaluation:
    """Publish how well a model predicts people that it has not seen, under epsilon-differential privacy.

    For classes: ROC AUC with its curve, Brier score and calibration, from noisy counts of the records in public bins of
    the predicted probability, by class; and accuracy, from a noisy count of those for which `predict` is right. For
    numbers: R2 and the mean absolute error, from noisy sums.
    Replacing one record of X and y (with `groups`, all rows of one person) changes the probability of any outcome by a
    factor of at most exp(epsilon), for any fixed model.

    Parameters
    ----------
    model : estimator
        A fitted classifier with `predict_proba` and `predict`, or a regressor: a private model of this package, or a
        pipeline of its private steps and such a model. Any other one requires `model_is_public`.
    X : array-like of shape (n_samples, n_features)
        Test records, at least 4, as the model takes them.
    y : array-like of shape (n_samples,)
        Their classes, all in ``model.classes_``, or numbers.
    epsilon : float
        Privacy budget of all figures together, above 0. Infinity adds no noise.
    target_bounds : (lower, upper), default=None
        Public range of y for a regressor; targets and predictions outside are clipped to it. None uses the
        `target_bounds` of the model.
    groups : array-like of shape (n_samples,), default=None
        Label of the person behind each row, if people have several rows. Split train and test by person. Required if
        the model, or a step of it, was fitted with `max_rows_per_group`.
    max_rows_per_group : int, default=None
        Number of rows that count for each person, required with `groups`.
    n_bins : int, default=None
        Number of bins of a predicted probability, even. More bins round predictions less and accumulate more noise.
        None chooses 8 to 64 by the number of people and epsilon.
    model_is_public : bool, default=False
        Pass True if the model was published with its own privacy guarantee, or has never seen people of this
        table. A model that has seen people without noise cannot be evaluated privately: what its test score reveals
        about them is not limited by epsilon.
    ledger : BudgetLedger, default=None
        Ledger that is charged after the records are predicted and before anything is counted.
    verbose : int, default=0
        Verbosity, as in the estimators, for models that predict one record at a time; nothing is printed with `groups`.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Returns
    -------
    PrivateEvaluation
        Has `figures`, `roc_curve`, `calibration` and `to_frame`.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, or the model is not known to be private. Nothing is charged.
    BudgetError
        If the cost does not fit in `ledger`. No noise is drawn.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    release_card : Makes a card of the evaluation.

    Notes
    -----
    The cost is for the test records. If nobody is in both parts, and the split was made without looking at the data
    (``train_test_split`` without `stratify`; with `groups`, by person), model and test score together cost the larger
    of their epsilons; if a person may be in both, the sum. A ledger always adds them, which is right in both cases
    (``docs/theory/evaluation.md``).

    ROC AUC and Brier score are those of predictions rounded to the middle of their bin, which count as ties. R2 and the
    mean absolute error are those of targets and predictions rounded to 2**-14 of the range. Models of this package
    predict all records at once; all others predict one record at a time, without their warnings, so that no prediction
    depends on other records. A prediction that changes the model is not covered.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from skdpmic import private_evaluation
    >>> X = np.random.default_rng(0).uniform(size=(4000, 1))
    >>> y = 3 * X[:, 0]
    >>> model = LinearRegression().fit(X[:2000], y[:2000])
    >>> evaluation = private_evaluation(
    ...     model, X[2000:], y[2000:], epsilon=1, target_bounds=(0, 3), model_is_public=True
    ... )
    >>> evaluation.figures["r2"].value > 0.8
    True
    """
    check_epsilon(epsilon)
    check_ledger(ledger)
    check_verbose(verbose)
    check_max_rows(max_rows_per_group)
    check_given_together(groups, max_rows_per_group)
    entropy_source(random_state)  # raises if it is invalid
    check_model(model, model_is_public)
    check_unit(model, groups)
    _check_n_bins(n_bins)
    of_kind = _ClassRelease if is_classifier(model) else _NumberRelease
    X = with_rows(X)
    n_samples = n_rows_of(X)
    check_enough(n_samples)
    refuse_target_among(column_names(X), y)
    people = None if groups is None else read_people(groups, max_rows_per_group, n_samples)
    n_counted = n_samples if people is None else people.n_samples
    n_groups = n_samples if people is None else people.n_groups
    release = of_kind.for_budget(model, epsilon, target_bounds, n_bins, n_groups, n_counted)
    # The number of rows of people is private, so it is not shown.
    progress = Progress("private_evaluation", verbose if people is None else 0)
    records = release.records(predicted_by(model, X, progress), y, n_samples)
    cost = release.cost(epsilon)
    entry = LedgerEntry(
        "private_evaluation",
        epsilon=cost.epsilon,
        rho=cost.rho,
        n=n_groups,
        release="test score",
        mechanism=GeometricCounts.name,
        unit=unit_of(max_rows_per_group),
        rows_per_person=max_rows_per_group,
        broken_by=broken_by_seed(random_state),
    )

    def draw(random_bytes):
        rows = slice(None) if people is None else people.rows()
        return PrivateEvaluation(*release.draw(records[..., rows], random_bytes), n_counted, entry)

    return run(entry, draw, ledger=ledger, random_state=random_state)


def _check_n_bins(n_bins):
    is_int = isinstance(n_bins, int | np.integer) and not isinstance(n_bins, bool)
    if n_bins is not None and not (is_int and 2 <= n_bins <= 1000 and n_bins % 2 == 0):
        raise ValueError(f"n_bins must be None or an even int from 2 to 1000, got {quoted(n_bins)}.")


class _ClassRelease(NamedTuple):
    """The release for a classifier; records are given by their cells, one row per table, and whether they are right."""

    cells: ClassCells
    classes: np.ndarray  # ascending
    columns: np.ndarray  # the position of each of them in the model's own order
    noise: GeometricCounts
    noise_of_right: GeometricCounts
    n_counted: int
    rows_per_group: int

    @classmethod
    def for_budget(cls, model, epsilon, target_bounds, n_bins, n_groups, n_counted):
        """The release that spends epsilon."""
        if target_bounds is not None:
            raise ValueError("target_bounds must be None for a classifier.")
        given, classes = np.asarray(model.classes_).tolist(), check_classes(model.classes_)
        if len(given) > len(classes):
            raise ValueError("model.classes_ must be distinct labels, got duplicates.")
        n_tables = len(ClassCells(len(classes), 2).scored)
        cells = ClassCells(len(classes), n_bins or usual_n_bins(n_groups, epsilon, n_tables))
        rows_per_group = n_counted // n_groups
        noise = GeometricCounts.for_budget(epsilon, TABLES_SHARE, cells.sensitivity(rows_per_group))
        noise_of_right = GeometricCounts.for_budget(epsilon, RIGHT_SHARE, rows_per_group)
        columns = np.array([given.index(label) for label in classes.tolist()])
        return cls(cells, classes, columns, noise, noise_of_right, n_counted, rows_per_group)

    def cost(self, epsilon):
        """The charge of a ledger."""
        return Cost.of_parts(epsilon, self.cells.squares())

    def records(self, predictions, y, n_samples):
        """The cells of each record, and whether its prediction is right."""
        probabilities, predicted = predictions
        target = make_target(y, n_samples, None, self.classes, "private_evaluation", "model.classes_").values
        is_right = predicted == self.columns[target]
        return np.vstack([self.cells.cells(probabilities[:, self.columns], target), is_right])

    def draw(self, records, random_bytes):
        """What is published: figures, noisy counts, ends of bins, and the scale of the noise."""
        *cells, is_right = records
        tables = self.noise.release(self.cells.counts(cells), random_bytes)
        (n_right,) = self.noise_of_right.release(is_right.sum(keepdims=True), random_bytes)
        labels = [self.classes.tolist()[k] for k in self.cells.scored]
        scale, of_right = (bounded_scale(noise.scale) for noise in (self.noise, self.noise_of_right))
        number = self.n_counted, self.rows_per_group
        figures = {
            "roc_auc": area_under_curve(tables, scale, self.rows_per_group),
            "accuracy": accuracy(n_right, of_right, *number),
            "brier_score": brier_score(self.cells.middles(), tables, scale, *number),
        }
        if len(labels) > 1:
            for label, table in zip(labels, tables, strict=True):
                figures[f"roc_auc of {label}"] = area_under_curve(table[None], scale, self.rows_per_group)
        counts = dict(zip(labels, tables, strict=True))
        return figures, counts, self.cells.edges(), float(self.noise.scale)


class _NumberRelease(NamedTuple):
    """The release for a regressor; its records are given by rounded targets and predictions."""

    bounds: tuple
    scales: list
    n_counted: int
    rows_per_group: int

    @classmethod
    def for_budget(cls, model, epsilon, target_bounds, n_bins, n_groups, n_counted):
        """The release that spends epsilon."""
        if n_bins is not None:
            raise ValueError("n_bins must be None for a regressor.")
        rows_per_group = n_counted // n_groups
        scales = ErrorSums().scales(epsilon, rows_per_group)
        return cls(_bounds(model, target_bounds), scales, n_counted, rows_per_group)

    def cost(self, epsilon):
        """The charge of a ledger."""
        return Cost.of_parts(epsilon, SQUARES)

    def records(self, predictions, y, n_samples):
        """The rounded target and prediction of each record."""
        target = make_target(y, n_samples, Range(*self.bounds), None, "private_evaluation").values
        return np.array([ErrorSums().rounded(values, self.bounds) for values in (target, *predictions)])

    def draw(self, rounded, random_bytes):
        """What is published, as for classes."""
        sums = ErrorSums()
        noisy = noisy_sums(sums.sums(*rounded), self.scales, random_bytes)
        width = self.bounds[1] - self.bounds[0]
        scales = [bounded_scale(scale) for scale in self.scales]
        figures = figures_of_sums(noisy, scales, sums.steps, width, self.n_counted, self.rows_per_group)
        deviation = float(deviations_of(scales[0])) * width / sums.steps / self.n_counted
        return figures, {"sums": np.array(noisy, dtype=np.float64)}, None, deviation


def _bounds(model, target_bounds):
    """The ends of the range of a numeric target, which are public."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    given = getattr(last, "target_bounds", None) if target_bounds is None else target_bounds
    if given is None:
        raise ValueError("target_bounds must be the public range of y for a regressor without its own, got None.")
    domain = domain_of(given, "target_bounds")
    if domain.of != NUMBERS:
        raise ValueError("target_bounds must be numbers to measure errors, got dates or durations.")
    numbers = [bound for bound in domain.bounds if bound != "log"]
    return numbers[0], numbers[-1]
