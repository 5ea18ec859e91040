"""Every interval, p-value and chance of the table: as often as stated, exact without noise, no wider than it must be.

Settings are drawn at random from a seed that the name of the row gives, so every processor draws the same.
"""

import zlib
from functools import cache

import numpy as np
import pytest
from scipy import stats

from tests.intervals.table import Setting, rows, simulated_width

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning", "ignore:noise:UserWarning")
ALPHA = 1e-6  # probability that a correct interval fails, for one value in one setting
WIDEST = 1.3  # times the width by simulation
TOLERANCE = 1e-9  # how far the ends may be from the truth without noise
LEVELS = (0.5, 0.1, 0.05, 0.01)
SEED = 5301
FEW, MANY = 1, 6  # settings of a row, in the quick and the slow suite


def setting_and_generator(row, i):
    """The i-th setting of a row, and a generator."""
    random = np.random.default_rng([zlib.crc32(row.name.encode()), i, SEED])
    return Setting.drawn(random), random


@cache
def _drawn(name, i):
    setting, random = setting_and_generator(rows()[name], i)
    return setting, rows()[name].draw(random, setting)


def drawn(row, n_settings):
    """What a row draws in each setting to which it applies."""
    found = (_drawn(row.name, i) for i in range(n_settings))
    return [(setting, of_row) for setting, of_row in found if of_row is not None]


def parametrized(kind, exempt=True):
    """A test of each row of a kind but named exceptions, on few settings and, if slow tests run, on many."""
    tested = [pytest.param(row, id=name) for name, row in rows(kind).items() if exempt or not row.exempt]
    sizes = pytest.mark.parametrize("n_settings", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
    return lambda test: sizes(pytest.mark.parametrize("row", tested)(test))


@parametrized("interval")
def test_an_interval_holds_as_often_as_it_says(row, n_settings):
    """In each setting, for each value, and over all settings: a correct one fails with a probability below 1e-6."""
    total = []
    for setting, found in drawn(row, n_settings):
        holds = (found.lower - TOLERANCE <= found.truth) & (found.truth <= found.upper + TOLERANCE)
        holds = np.atleast_2d(holds).all(axis=1, keepdims=True) if row.simultaneous else np.atleast_2d(holds)
        least = stats.binom.ppf(ALPHA / holds.shape[1], len(holds), row.confidence)
        assert (holds.sum(axis=0) >= least).all(), f"{holds.mean(axis=0).min():.3f} in {setting}"
        total.append(holds[:, 0])
    total = np.concatenate(total) if total else np.ones(1)
    assert total.sum() >= stats.binom.ppf(ALPHA, len(total), row.confidence), total.mean()


@parametrized("interval")
def test_an_interval_without_noise_closes_on_the_truth(row, n_settings):
    for i in range(n_settings):
        setting, random = setting_and_generator(row, i)
        if (found := row.draw(random, setting._replace(epsilon=np.inf))) is not None:
            for end in (found.lower, found.upper):
                off = np.abs(end - found.truth).max(initial=0)
                assert off <= TOLERANCE, (off, setting)


@parametrized("interval", exempt=False)
def test_an_interval_is_no_wider_than_it_must_be(row, n_settings):
    for setting, found in drawn(row, n_settings):
        width = np.mean(np.broadcast_arrays(found.upper - found.lower, found.estimate)[0], axis=0)
        excess = width / (simulated_width(found, row.confidence, row.simultaneous) + 1e-12)
        assert (excess <= WIDEST).all(), f"{excess.max():.2f} times in {setting}"


@parametrized("p-value")
def test_a_p_value_is_below_no_level_more_often_than_the_level(row, n_settings):
    for setting, p_values in drawn(row, n_settings):
        for level in LEVELS:
            n_below = np.count_nonzero(p_values <= level)
            assert n_below <= stats.binom.isf(ALPHA, len(p_values), level), (level, n_below / len(p_values), setting)


@parametrized("chance")
def test_what_has_a_stated_chance_happens_as_often(row, n_settings):
    """Of all that was stated in a setting, and of the likely half: within five standard errors."""
    for setting, (stated, held) in drawn(row, n_settings):
        for some in (stated >= 0, stated >= 0.5):
            if np.count_nonzero(some):
                off = np.mean(held[some] - stated[some])
                error = 5 * np.sqrt(np.mean(stated[some] * (1 - stated[some])) / np.count_nonzero(some)) + 1e-3
                assert off >= -error, (off, error, setting)
                assert row.exempt or off <= error, (off, error, setting)
