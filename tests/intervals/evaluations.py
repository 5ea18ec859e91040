"""Intervals of a private evaluation, on predictions of any skill, for classes and numbers, records and people."""

from types import SimpleNamespace

import numpy as np

from skdpmic.models import evaluation
from skdpmic.models.evaluation_result import (
    PrivateEvaluation,
    _area,
    accuracy,
    bounded_scale,
    brier_score,
    calibration_of,
)
from tests.intervals.table import Drawn, Row

CLEAR = 5.0  # standard deviations of the noise, below which a number below a fraction bar is "within its noise"
N_DRAWS = 240
UNCLEAR = "a ratio whose number below the bar is within its noise may have any value"


class Evaluated:
    """The release for one setting, and the evaluations that it draws."""

    def __init__(self, kind, setting, records, n_classes=2):
        rows = setting.rows_per_group or 1
        n = setting.n // rows * rows
        model = SimpleNamespace(classes_=np.arange(n_classes))
        bounds = (0.0, 1.0) if kind is evaluation._NumberRelease else None
        self.release = kind.for_budget(model, setting.epsilon, bounds, None, n // rows, n)
        self.n, self.predictions, self.y = n, tuple(each[:n] for each in records[:-1]), records[-1][:n]

    def drawn(self, random, n_draws):
        """Evaluations with new noise."""
        records = self.release.records(self.predictions, self.y, self.n)
        return [PrivateEvaluation(*self.release.draw(records, random.bytes), self.n, None) for _ in range(n_draws)]


def evaluated_classes(setting, random):
    """Predictions with some skill or none, sharp or not, of common and rare classes."""
    y, k = setting.labels(random), setting.n_classes
    logits = random.choice([0.0, 1.0, 4.0]) * np.eye(k)[y]
    logits += random.choice([0.1, 1.0]) * random.normal(size=(setting.n, k))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if setting.has_ties:
        probabilities = np.round(probabilities * 4) / 4
    predicted = np.where(random.random(setting.n) < 0.8, probabilities.argmax(axis=1), 0)
    return Evaluated(evaluation._ClassRelease, setting, (probabilities, predicted, y), k)


def evaluated_numbers(setting, random):
    """Predictions with small or large errors, of a target that may be nearly constant."""
    y = 0.5 + random.choice([0.05, 0.5, 1.0]) * (setting.numbers(random) - 0.5)
    predictions = np.clip(y + random.choice([0.01, 0.3, 1.5]) * y.std() * random.normal(size=setting.n), 0, 1)
    return Evaluated(evaluation._NumberRelease, setting, (predictions, y))


def rounded(of):
    """The predictions of the scored classes at the middles of their bins, and who is of each class."""
    cells = of.release.cells
    bins = [np.searchsorted(cells.edges()[1:-1], of.predictions[0][:, k], side="right") for k in cells.scored]
    return cells.middles()[np.array(bins)], of.y == np.array(cells.scored)[:, None]


def area_of(prediction, member):
    """The share of pairs in which the member has the larger prediction; ties count half."""
    others, n_pairs = np.sort(prediction[~member]), member.sum() * (~member).sum()
    wins = sum(np.searchsorted(others, prediction[member], side=side).sum() for side in ("left", "right"))
    return wins / 2 / n_pairs if n_pairs else 0.5


def figures_of(drawn, names):
    """Lower and upper ends, and values: (n_draws, n_figures)."""
    figures = np.array([[each.figures[name][:3] for name in names] for each in drawn])
    return figures[..., 1], figures[..., 2], figures[..., 0]


def means_of_classes(random, setting):
    of = evaluated_classes(setting, random)
    prediction, member = rounded(of)
    truth = [(of.predictions[1] == of.y).mean(), ((prediction - member) ** 2).sum(axis=0).mean()]
    *cells, is_right = of.release.records(of.predictions, of.y, of.n)
    tables, number = of.release.cells.counts(cells), (of.n, setting.rows_per_group or 1)
    scale, scale_of_right = of.release.scale, of.release.scale_of_right
    worth = (np.arange(2)[:, None] - of.release.cells.middles()) ** 2
    figures, unlimited, usual = [], [], worth.mean()
    for n_right in evaluation.noisy_counts(np.repeat(is_right.sum(), N_DRAWS), scale_of_right, random.bytes):
        noisy = evaluation.noisy_counts(tables, scale, random.bytes)
        brier = brier_score(of.release.cells.middles(), noisy, bounded_scale(scale), *number)
        figures.append([accuracy(n_right, bounded_scale(scale_of_right), *number)[:3], brier[:3]])
        unlimited.append([n_right / of.n, len(member) * usual + ((worth - usual) * noisy).sum() / of.n])
    _, lower, upper = np.moveaxis(np.array(figures), -1, 0)
    return Drawn(lower, upper, np.array(truth), np.array(unlimited), (0.0, np.array([1.0, len(member)])))


def areas(is_clear):
    def draw(random, setting):
        if is_clear:
            setting = setting._replace(n=setting.n + 3000, epsilon=max(setting.epsilon, 2.0), has_rare=False)
        of = evaluated_classes(setting, random)
        tables = of.release.cells.counts(of.release.records(of.predictions, of.y, of.n)[:-1])
        ratios = [_area(*table, bounded_scale(of.release.scale)) for table in tables]
        least = min(each.bottom - CLEAR * np.linalg.norm(each.of_bottom * each.deviations) for each in ratios)
        if is_clear and least <= 0:
            return None
        single = [area_of(*pair) for pair in zip(*rounded(of), strict=True)]
        drawn = of.drawn(random, 30 + 170 // setting.n_classes)
        names = [name for name in drawn[0].figures if name.startswith("roc_auc")]
        truth = np.array([np.mean(single), *(single if len(single) > 1 else [])])
        lower, upper, value = figures_of(drawn, names)
        if is_clear:  # before they are limited
            single = np.array([[_area(*table, 1.0).value for table in each.noisy_counts.values()] for each in drawn])
            value = np.hstack([single.mean(axis=1, keepdims=True), single])[:, : len(truth)]
        return Drawn(lower, upper, truth, value, (0.0, 1.0))

    return draw


def calibration(random, setting):
    of = evaluated_classes(setting, random)
    prediction, member = (each[-1] for each in rounded(of))
    cells, scale, rows = of.release.cells, of.release.scale, []
    table = cells.counts(of.release.records(of.predictions, of.y, of.n)[:-1])[-1]
    for _ in range(100):
        noisy, edges = evaluation.noisy_counts(table, scale, random.bytes), cells.edges()
        for part in calibration_of(*noisy, edges, bounded_scale(scale)):
            inside = (prediction > part.lower_end) & (prediction < part.upper_end)
            if inside.any():
                of_part = noisy[:, (edges[:-1] >= part.lower_end) & (edges[1:] <= part.upper_end)]
                share = of_part[1].sum() / of_part.sum()  # before it is limited
                rows.append([part.lower, part.upper, member[inside].mean(), share])
    return Drawn(*np.transpose(rows)[..., None], (0.0, 1.0)) if len(rows) >= 60 else None


def errors_of_numbers(random, setting):
    of = evaluated_numbers(setting, random)
    target, predicted = of.release.records(of.predictions, of.y, of.n) / 2**14
    drawn = of.drawn(random, N_DRAWS)
    lower, upper, _ = figures_of(drawn, ["mean_absolute_error"])
    value = np.array([each.noisy_counts["sums"][:1] / 2**14 / of.n for each in drawn])
    return Drawn(lower, upper, np.abs(target - predicted).mean(keepdims=True), value, (0.0, 1.0))


def r2(is_clear):
    def draw(random, setting):
        of = evaluated_numbers(setting._replace(n=setting.n * 10) if is_clear else setting, random)
        target, predicted = of.release.records(of.predictions, of.y, of.n) / 2**14
        noise = 5 * (setting.rows_per_group or 1) / setting.epsilon / of.n  # more than that on the variance
        if is_clear and target.var() < CLEAR * noise:
            return None
        truth = 1 - ((target - predicted) ** 2).mean(keepdims=True) / target.var()
        lower, upper, value = figures_of(of.drawn(random, N_DRAWS), ["r2"])
        return Drawn(lower, upper, truth, value, (-np.inf, 1.0))

    return draw


ROWS = [  # for the values without noise, of the same records
    Row("interval", "PrivateEvaluation.figures: accuracy and brier_score", means_of_classes),
    Row("interval", "PrivateEvaluation.figures: roc_auc", areas(is_clear=False), exempt=UNCLEAR),
    Row("interval", "PrivateEvaluation.figures: roc_auc of classes beyond noise", areas(is_clear=True)),
    Row("interval", "PrivateEvaluation.figures: mean_absolute_error", errors_of_numbers),
    Row("interval", "PrivateEvaluation.figures: r2", r2(is_clear=False), exempt=UNCLEAR),
    Row("interval", "PrivateEvaluation.figures: r2 of a variance beyond noise", r2(is_clear=True)),
    Row("interval", "PrivateEvaluation.calibration", calibration),
]
