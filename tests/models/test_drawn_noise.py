"""The noise that a fit really draws covers what one person really changes, and not much more.

Every table is seen where noise is added to it, with the scale of that noise, in fits to neighbours.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from skdpmic.models import additive
from skdpmic.models import model_releases as scorecard_noise
from skdpmic.models import model_releases as two_way
from skdpmic.models import parts as target_window
from skdpmic.models.model_releases import STEPS
from skdpmic.privacy.composition import exact, rho_for

pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:delta is")

EPSILON, N_COLUMNS = 0.5, 3
TARGETS = {"numbers": [-9.0, 9.0], "two classes": [0, 1], "three classes": [0, 1, 2]}
WAYS = {"two-way": (0.0, 1e-6), "scorecard, Gaussian": (np.inf, 1e-6), "scorecard": (np.inf, 0.0)}


class Seen:
    """What a fit adds noise to, with the scale of that noise; nothing is added."""

    def __init__(self, monkeypatch):
        self.tables, self.choices, self.rates = [], [], []
        monkeypatch.setattr(
            scorecard_noise, "with_noise", lambda _, scale, table, *bytes_: self._table(table, scale, *bytes_)
        )
        monkeypatch.setattr(two_way, "with_gaussian_noise", self._tables)
        monkeypatch.setattr(scorecard_noise, "exponential_choice", self._choice)
        monkeypatch.setattr(target_window, "medians", self._medians)

    def _table(self, table, scale, random_bytes):
        self.tables.append((np.array(table, dtype=object).ravel(), Fraction(scale)))
        return table

    def _tables(self, tables, variance, random_bytes):
        return [self._table(table, variance, random_bytes) for table in tables]

    def _choice(self, scores, scale, random_bytes):
        self.choices.append(scale)
        return 0

    def _medians(self, positions, n_positions, rates, random_bytes):
        self.rates += rates
        return [0, n_positions // 2, n_positions - 1]


def seen_of_a_fit(kind, delta, rows, first_person, monkeypatch):
    """What a fit sees of seven people, of whom only the first differs; each has equal rows, but not equally many."""
    (parts, target, n_own), others = first_person, np.arange(6)
    persons = np.r_[np.zeros(n_own, dtype=int), np.repeat(1 + others, 1 + others % 2 if rows > 1 else 1)]
    X = np.array([parts, *np.outer(others % 2, np.ones(N_COLUMNS))])[persons]
    y = np.array([target, *np.take(TARGETS[kind], others % len(TARGETS[kind]))])[persons]
    people = {"max_rows_per_group": rows} if rows > 1 else {}
    if kind == "numbers":
        model = PrivateAdditiveRegressor(EPSILON, delta, bounds=(0, 1), target_bounds=(-1, 1), **people)
    else:
        model = PrivateAdditiveClassifier(EPSILON, delta, bounds=(0, 1), classes=TARGETS[kind], **people)
    with monkeypatch.context() as patch:
        seen = Seen(patch)
        model.fit(X, y, groups=persons if rows > 1 else None)
    return seen, model


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TARGETS)
def test_all_noise_of_a_fit_costs_what_is_charged(kind, way, rows, monkeypatch):
    least, delta = WAYS[way]
    monkeypatch.setattr(additive, "_MIN_FOR_TWO_WAY", dict.fromkeys(("classes", "numbers"), least))
    here, model = seen_of_a_fit(kind, delta, rows, ([0] * N_COLUMNS, TARGETS[kind][0], 1), monkeypatch)
    assert model.kind_ == way.partition(",")[0]
    power, largest = (2 if delta else 1), 0
    for n_moved, target in product(range(N_COLUMNS + 1), TARGETS[kind]):
        parts = [1] * n_moved + [0] * (N_COLUMNS - n_moved)
        there, _ = seen_of_a_fit(kind, delta, rows, (parts, target, 5 if rows > 1 else 1), monkeypatch)
        changes = zip(here.tables, there.tables, strict=True)
        largest = max(largest, sum((abs(a - b) ** power).sum() / (power * scale) for (a, scale), (b, _) in changes))
    of_choice = sum(Fraction(2 * STEPS * rows, scale) for scale in here.choices)
    of_window = 2 * sum(here.rates) if not delta else sum(rate**2 for rate in here.rates) / 2
    cost = largest + (of_choice**2 / 2 if delta else of_choice) + of_window * rows**power
    charged = Fraction(rho_for(EPSILON, delta)) if delta else exact(EPSILON)
    assert model.privacy_spent_ == (EPSILON, delta)
    assert charged * Fraction(999, 1000) < cost <= charged
