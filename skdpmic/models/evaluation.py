"""A private test score of a model, from noisy counts of its predictions."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.arguments import check_verbose, is_whole
from skdpmic._utils.never_cached import never_cached
from skdpmic._utils.private_estimator import about_numbered_labels
from skdpmic._utils.readable import column_names, refuse_collection, refuse_masked, refuse_target_among
from skdpmic._utils.summaries import breaks_guarantee
from skdpmic._utils.texts import SILENT, Progress, public_messages, quoted, require, warn, without_data
from skdpmic._utils.typing import ColumnLike, RandomState
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.models import evaluation_result
from skdpmic.models.evaluation_result import PrivateEvaluation, bounded_scale
from skdpmic.privacy.composition import Cost, check_epsilon, exact
from skdpmic.privacy.noise import discrete_laplace, entropy_source, laplace_deviation, with_noise
from skdpmic.release.path import run
from skdpmic.table.domains import NUMBERS, Range, domain_of, limits_of
from skdpmic.table.frames import in_memory, is_frame
from skdpmic.table.records import check_enough
from skdpmic.table.values import check_classes, check_given_together, check_max_rows, make_target, read_people

_FEWEST_BINS, _MOST_BINS = 8, 64
TABLES_SHARE, RIGHT_SHARE = Fraction(5, 6), Fraction(1, 6)  # of the budget


def usual_n_bins(n_groups, epsilon, n_tables):
    """An even number of bins, by public numbers: more bins round predictions less, and accumulate more noise.

    Parameters
    ----------
    n_groups : int
    epsilon : float
    n_tables : int
    """
    if epsilon == math.inf:
        return _MOST_BINS
    most = min(n_groups * float(epsilon * TABLES_SHARE / n_tables), 1e6)
    return int(np.clip(2 * round(most**0.4 / 3), _FEWEST_BINS, _MOST_BINS))


@dataclass(frozen=True)
class ClassCells:
    """The cells of a predicted probability of each class, by whether the record is of that class.

    With two classes there is one table, of the second class; with more, one per class. A record is in exactly one cell
    of each table. Besides, right predictions are counted.

    Parameters
    ----------
    n_classes : int, at least 2
    n_bins : int, even
    """

    n_classes: int
    n_bins: int

    @property
    def scored(self):
        """The classes that have a table."""
        return (1,) if self.n_classes == 2 else tuple(range(self.n_classes))

    def edges(self):
        """Ends of the bins, equal parts of the arcsine of the square root: finer near 0 and 1, for rare classes."""
        edges = np.sin(np.linspace(0, np.pi / 2, self.n_bins + 1)) ** 2
        edges[[0, self.n_bins // 2, self.n_bins]] = 0, 0.5, 1
        return edges

    def middles(self):
        """The prediction that represents each bin."""
        edges = self.edges()
        return (edges[:-1] + edges[1:]) / 2

    def cells(self, probabilities, target):
        """The cell of each record in each table, ``n_bins * is_of_class + bin``, independent of other records.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_classes)
        target : int ndarray of shape (n_samples,)
            Codes of classes.

        Returns
        -------
        int64 ndarray of shape (n_tables, n_samples)
        """
        inner = self.edges()[1:-1]
        bins = [np.searchsorted(inner, probabilities[:, k], side="right") for k in self.scored]
        return np.array([of + self.n_bins * (target == k) for of, k in zip(bins, self.scored, strict=True)])

    def counts(self, cells):
        """The tables, others first: int64 ndarray of shape (n_tables, 2, n_bins)."""
        counts = [np.bincount(of_table, minlength=2 * self.n_bins) for of_table in cells]
        return np.reshape(counts, (len(self.scored), 2, self.n_bins))

    def sensitivity(self, rows_per_group):
        """L1 sensitivity of all tables together: in each, every row of a person leaves a cell and enters another."""
        return 2 * len(self.scored) * rows_per_group

    def squares(self):
        """The sum of ``(epsilon_i / epsilon)**2`` over two counts of each table, and the number of right ones."""
        return TABLES_SHARE**2 / (2 * len(self.scored)) + RIGHT_SHARE**2


def scale_of_counts(epsilon, share, sensitivity):
    """Scale of the noise, in records, that spends a share of epsilon on counts of this L1 sensitivity; 0 for none."""
    return Fraction(0) if epsilon == math.inf else sensitivity / (share * exact(epsilon))


def noisy_counts(counts, scale, random_bytes):
    """Counts, or an array of one sum, with independent discrete Laplace noise, as floats."""
    return with_noise(discrete_laplace, scale, counts, random_bytes).astype(np.float64)


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
    of_kind = _ClassRelease if is_classifier(model) else _NumberRelease
    X = with_rows(X)
    n_samples = n_rows_of(X)
    check_enough(n_samples)
    refuse_target_among(column_names(X), y)
    people = None if groups is None else read_people(groups, max_rows_per_group, n_samples)
    n_counted, n_groups = (n_samples, n_samples) if people is None else (people.n_samples, people.n_groups)
    release = of_kind.for_budget(model, epsilon, target_bounds, n_bins, n_groups, n_counted)
    # The number of rows of people is private, so it is not shown.
    progress = Progress("private_evaluation", verbose if people is None else 0)
    records = release.records(predicted_by(model, X, progress), y, n_samples)
    public = {"n": n_groups, "release": "test score", "mechanism": "geometric"}
    by = {"random_state": random_state, "max_rows_per_group": max_rows_per_group}
    entry = entry_for("private_evaluation", release.cost(epsilon), **by, **public)

    def draw(random_bytes):
        rows = slice(None) if people is None else people.rows()
        return PrivateEvaluation(*release.draw(records[..., rows], random_bytes), n_counted, entry)

    return run(entry, draw, ledger=ledger, random_state=random_state)


class _ClassRelease(NamedTuple):
    """The release for a classifier; records are given by their cells, one row per table, and whether they are right."""

    cells: ClassCells
    classes: np.ndarray  # ascending
    columns: np.ndarray  # the position of each of them in the model's own order
    scale: Fraction  # of the noise on the tables
    scale_of_right: Fraction  # of that on the number of right predictions
    n_counted: int
    rows_per_group: int

    @classmethod
    def for_budget(cls, model, epsilon, target_bounds, n_bins, n_groups, n_counted):
        """The release that spends epsilon."""
        if target_bounds is not None:
            raise ValueError("target_bounds must be None for a classifier.")
        if n_bins is not None and not (is_whole(n_bins) and 2 <= n_bins <= 1000 and n_bins % 2 == 0):
            raise ValueError(f"n_bins must be None or an even int from 2 to 1000, got {quoted(n_bins)}.")
        given, classes = np.asarray(model.classes_).tolist(), check_classes(model.classes_)
        n_tables = len(ClassCells(len(classes), 2).scored)
        cells = ClassCells(len(classes), n_bins or usual_n_bins(n_groups, epsilon, n_tables))
        rows_per_group = n_counted // n_groups
        scale = scale_of_counts(epsilon, TABLES_SHARE, cells.sensitivity(rows_per_group))
        scale_of_right = scale_of_counts(epsilon, RIGHT_SHARE, rows_per_group)
        columns = np.array([given.index(label) for label in classes.tolist()])
        return cls(cells, classes, columns, scale, scale_of_right, n_counted, rows_per_group)

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
        tables = noisy_counts(self.cells.counts(cells), self.scale, random_bytes)
        (n_right,) = noisy_counts(is_right.sum(keepdims=True), self.scale_of_right, random_bytes)
        counts = dict(zip(self.classes[list(self.cells.scored)].tolist(), tables, strict=True))
        scale, of_right = map(bounded_scale, (self.scale, self.scale_of_right))
        number = self.n_counted, self.rows_per_group
        area = partial(evaluation_result.area_under_curve, scale=scale, rows_per_group=self.rows_per_group)
        figures = {
            "roc_auc": area(tables),
            "accuracy": evaluation_result.accuracy(n_right, of_right, *number),
            "brier_score": evaluation_result.brier_score(self.cells.middles(), tables, scale, *number),
        }
        if len(counts) > 1:
            figures |= {f"roc_auc of {label}": area(table[None]) for label, table in counts.items()}
        return figures, counts, self.cells.edges(), float(self.scale)


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
        return cls(_bounds(model, target_bounds), scales_of_sums(epsilon, rows_per_group), n_counted, rows_per_group)

    def cost(self, epsilon):
        """The charge of a ledger."""
        return Cost.of_parts(epsilon, SQUARES)

    def records(self, predictions, y, n_samples):
        """The rounded target and prediction of each record."""
        target = make_target(y, n_samples, Range(*self.bounds), None, "private_evaluation").values
        return np.array([rounded(values, self.bounds) for values in (target, *predictions)])

    def draw(self, records, random_bytes):
        """What is published, as for classes."""
        noisy = noisy_sums(error_sums(*records), self.scales, random_bytes)
        width, scales = self.bounds[1] - self.bounds[0], list(map(bounded_scale, self.scales))
        figures = evaluation_result.figures_of_sums(noisy, scales, STEPS, width, self.n_counted, self.rows_per_group)
        deviation = laplace_deviation(scales[0]) * width / STEPS / self.n_counted
        return figures, {"sums": noisy}, None, deviation


def _bounds(model, target_bounds):
    """The ends of the range of a numeric target, which are public."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    given = getattr(last, "target_bounds", None) if target_bounds is None else target_bounds
    if given is None:
        raise ValueError("target_bounds must be the public range of y for a regressor without its own, got None.")
    domain = domain_of(given, "target_bounds")
    if domain.of != NUMBERS:
        raise ValueError("target_bounds must be numbers to measure errors, got dates or durations.")
    return limits_of(domain)


_OWN_MODELS = "skdpmic.models."
_OWN_STEPS = (_OWN_MODELS, "skdpmic.selection.", "skdpmic.preprocessing.")


def check_model(model, model_is_public):
    """Raise unless a model is fitted, predicts numbers or probabilities, and is private or declared public."""
    require(isinstance(model_is_public, bool | np.bool_), "model_is_public must be a bool", model_is_public)
    if isinstance(model, type) or not (is_classifier(model) or is_regressor(model)):
        raise TypeError(f"model must be a fitted classifier or regressor, got {_kind(model)}.")
    check_is_fitted(model)
    if about := about_numbered_labels(model):
        if model_is_public:
            warn(about)
        else:
            raise ValueError(f"model must be fitted to the labels of the table: {about}")
    if is_classifier(model) and not hasattr(model, "predict_proba"):
        raise TypeError(f"model must have predict_proba, or be a regressor, got {_kind(model)}.")
    if is_classifier(model) and (np.ndim(model.classes_) != 1 or len(model.classes_) < 2):
        raise ValueError("model.classes_ must be the labels of one target, at least two.")
    if not model_is_public and (reason := why_not_private(model)):
        raise ValueError(
            f"model must be known to be private, got {reason}. The test score of a model that has seen people without "
            "noise publishes more than its cost says. If the model itself is published with a privacy guarantee, or "
            "never saw people of this table, pass model_is_public=True."
        )


def check_unit(model, groups):
    """Raise if a model was fitted to people, and people are not identified."""
    parameters = model.get_params()
    rows = [value for name, value in parameters.items() if name.endswith("max_rows_per_group") and value]
    entries = [getattr(step, "_entry", None) for step in (model, *parameters.values())]
    rows += [entry.rows_per_person for entry in entries if entry is not None and entry.rows_per_person]  # as fitted
    if rows and groups is None:
        raise ValueError(
            f"groups must identify the person behind each row of X, as model has max_rows_per_group={rows[0]}: pass "
            f"groups=... and max_rows_per_group={rows[0]}. If every row is another person, pass groups=range(len(X)) "
            "and max_rows_per_group=1."
        )


def why_not_private(model):
    """Why a model is not known to be private; empty if it is one of this package, or a pipeline of such steps."""
    *steps, last = _steps(model)
    return next(filter(None, [*(_reason(step, _OWN_STEPS) for step in steps), _reason(last, _OWN_MODELS)]), "")


def _reason(step, rooms):
    """Why a step is not known to be private. A subclass may do anything, so its module is not one of ours."""
    if not type(step).__module__.startswith(rooms):
        return _kind(step)
    entry = getattr(step, "_entry", None)
    broken = breaks_guarantee(entry) if entry is not None else []
    return f"a {_kind(step)} without privacy because of {' and '.join(broken)}" if broken else ""


def _kind(model):
    return model.__name__ if isinstance(model, type) else type(model).__name__


def with_rows(X):
    """Test records in a container whose rows can be picked one by one, each as it is."""
    refuse_masked(X, "X")
    refuse_collection(X, "X")
    X = in_memory(X) if is_frame(X) and not nw.dependencies.is_into_dataframe(X) else X  # a LazyFrame or a stream
    return X.tocsr() if sparse.issparse(X) else X  # whose rows can be picked


def n_rows_of(X):
    """The number of rows of an array, a dataframe, a sparse matrix or a list of rows."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def predicted_by(model, X, progress=SILENT):
    """What a model predicts for each record, which no other record can influence.

    The models of this package predict all records at once, each from its own parts. What others do with several
    records is unknown (some standardize them, some compute in another order), so they get one record at a time.

    Returns
    -------
    tuple of ndarrays
        Numbers, of shape (n_samples,). Or for classes, the probabilities of shape (n_samples, n_classes), and the
        position of the predicted class in ``model.classes_``, -1 for any other label.
    """
    ask = _classes if is_classifier(model) else _numbers
    if not has_foreign_steps(model):
        return ask(model, X)
    n_samples = n_rows_of(X)
    rows, all_axes = getattr(X, "iloc", X), hasattr(X, "__array_namespace__")  # whose standard wants one index per axis
    each = (ask(model, rows[i : i + 1, ...] if all_axes else rows[i : i + 1]) for i in range(n_samples))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may be about a record, such as one of an unknown label
        return tuple(map(np.concatenate, zip(*progress.track(each, n_samples, "records"), strict=True)))


def _numbers(model, rows):
    return (_checked(_answer(model, "predict", rows), rows, ()),)


def _classes(model, rows):
    position = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
    probabilities = _checked(_answer(model, "predict_proba", rows), rows, (len(position),))
    labels = np.asarray(_answer(model, "predict", rows)).tolist()
    return probabilities, _checked([position.get(label, -1) for label in labels], rows, ())


def _answer(model, method, rows):
    """What a model answers; its errors are its own, and quote no value of the data, as none of this package does."""
    try:
        return getattr(model, method)(rows)
    except MemoryError:
        raise
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        what = ". ".join(public_messages(error)) if has_foreign_steps(model) else str(error).rstrip(".")
        what = what or f"{type(error).__name__}, whose message may quote values"
    raise kind(
        f"model must predict the records of X, but its {method} failed: {what}. Pass X as in its fit; if the "
        "model takes no missing values or labels, pass the fitted pipeline that prepares them, and ends in the model."
    )


def _checked(predictions, rows, shape):
    """Predictions as numbers: one of this shape for each row."""
    numbers = without_data(np.asarray, predictions, dtype=np.float64)
    if numbers.shape != (n_rows_of(rows), *shape):
        each = "one number per class of model.classes_" if shape else "one number"
        raise ValueError(f"model must predict {each} for every record.")
    if np.isnan(numbers).any():
        raise ValueError("model must predict a number for every record, got NaN for at least one.")
    return numbers


def has_foreign_steps(model):
    """Whether a model has steps that are not of this package, private or not."""
    return any(not type(step).__module__.startswith(_OWN_STEPS) for step in _steps(model))


def _steps(model):
    """The steps of a pipeline that do something, or the model itself."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return [step for step in steps if not (step is None or (isinstance(step, str) and step == "passthrough"))]


STEPS = 2**14  # of the range of the target, to which targets and predictions are rounded
# Weights of the sums in the budget, where each sum is scaled so that a record moves it by at most 1 (the last: 1/4).
# The target and its square cost less together than the sum of their weights (Theorem 2).
ERROR_SHARE, SQUARE_SHARE, TARGET_SHARE, TARGET_SQUARE_SHARE = (Fraction(n, 80) for n in (9, 44, 24, 48))
# Most of the sum of squares of (change / scale / epsilon): an error of 1 that goes, and a target that moves from end to
# end, which does not move its square.
SQUARES = ERROR_SHARE**2 + SQUARE_SHARE**2 + TARGET_SHARE**2


def rounded(values, bounds, steps=STEPS):
    """Values clipped to bounds and rounded to a grid of integers from 0 to `steps`, each separately: int64 ndarray."""
    lower, upper = bounds
    return np.rint((np.clip(values, lower, upper) - lower) / (upper - lower) * steps).astype(np.int64)


def error_sums(target, predicted, steps=STEPS):
    """Sums of ``|g - h|``, ``(g - h)**2``, ``2 g - steps`` and its square, of rounded targets g and predictions h."""
    error, doubled = target - predicted, 2 * target - steps
    return np.array([np.abs(error), error**2, doubled, doubled**2]).sum(axis=1)


def scales_of_sums(epsilon, rows_per_group, steps=STEPS):
    """Scales of the noise on the four sums, in integers' units; zeros for infinite epsilon."""
    shares = ERROR_SHARE, SQUARE_SHARE, TARGET_SHARE / 2, TARGET_SQUARE_SHARE / 4  # of doubled numbers
    units = steps, steps**2, steps, steps**2
    return [scale_of_counts(epsilon, w, rows_per_group * unit) for w, unit in zip(shares, units, strict=True)]


def noisy_sums(sums, scales, random_bytes):
    """The sums with independent noise, each of its own scale."""
    each = zip(sums[:, None], scales, strict=True)
    return np.concatenate([noisy_counts(total, scale, random_bytes) for total, scale in each])
