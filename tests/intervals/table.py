"""What every interval, p-value and chance that a public object shows is for, and settings drawn at random to test it.

A row is for one public name. Each module of this folder with ``ROWS`` adds its own; ``test_intervals.py`` tests all.
"""

import importlib
import math
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import tests.intervals


class Setting(NamedTuple):
    """A table and a budget; a row uses what applies to it."""

    n: int  # records, 50 to 5,000
    epsilon: float  # 0.05 to 20, or infinite
    n_features: int  # 1 to 12
    n_classes: int  # 2 to 20
    has_rare: bool  # whether one class has a fiftieth of its usual share
    has_ties: bool  # whether numbers are rounded to five values
    max_weight: float | None
    rows_per_group: int | None

    @classmethod
    def drawn(cls, random):
        """A setting drawn at random."""
        return cls(
            n=int(50 * 100 ** random.random()),
            epsilon=round(0.05 * 400 ** random.random(), 4),
            n_features=int(random.integers(1, 13)),
            n_classes=int(random.choice([2, 3, 4, 8, 20])),
            has_rare=bool(random.random() < 0.3),
            has_ties=bool(random.random() < 0.5),
            max_weight=4.0 if random.random() < 0.3 else None,
            rows_per_group=3 if random.random() < 0.3 else None,
        )

    def labels(self, random):
        """A class, from 0, for each record."""
        shares = random.dirichlet([4.0] * self.n_classes)
        if self.has_rare:
            shares[0] /= 50
        return random.choice(self.n_classes, self.n, p=shares / shares.sum())

    def numbers(self, random, n_columns=None):
        """Numbers in [0, 1], perhaps with many ties; one column, or several."""
        values = random.beta(1.5, 3.0, (self.n, *([] if n_columns is None else [n_columns])))
        return np.round(values * 4) / 4 if self.has_ties else values

    def people(self, random):
        """Whose each record is, with 1 to 9 each; None if everybody has one."""
        return None if self.rows_per_group is None else np.sort(random.integers(self.n // 4, size=self.n))

    def weights(self, random):
        """Survey weights; None without."""
        return None if self.max_weight is None else random.gamma(2.0, 0.5, self.n)


class Drawn(NamedTuple):
    """Intervals of one setting, drawn many times; all arrays are (n_draws, n_values), or broadcast to it."""

    lower: Any
    upper: Any
    truth: Any  # what the docstring says the interval is for
    estimate: Any  # with the noise of a draw, before it is cut to its limits: its errors give the simulated width
    limits: tuple[float, float] = (-math.inf, math.inf)


class Row(NamedTuple):
    """What one public name shows.

    Parameters
    ----------
    kind : str
        "interval" (also a pair of limits, or a half-width), "p-value" or "chance", that something holds.
    name : str
        Public name, such as "DPMICScorer.scores_interval".
    draw : callable
        ``draw(random, setting)``, for a numpy Generator and a :class:`Setting`, returns :class:`Drawn`; many p-values
        under the hypothesis, independent of one another; or two arrays, the chance that was stated, and whether it
        held. None for a setting to which it does not apply.
    confidence : float, default=0.95
    simultaneous : bool, default=False
        Whether all values are contained together.
    exempt : str, default=""
        Why an interval may be wider than 1.3 times the simulated one, or a chance larger than stated: an exception that
        the docstring names.
    """

    kind: str
    name: str
    draw: Callable[[np.random.Generator, Setting], Any]
    confidence: float = 0.95
    simultaneous: bool = False
    exempt: str = ""


@cache
def rows(kind=""):
    """The rows of a kind, by name, of all modules of this folder."""
    names = [module.name for module in pkgutil.iter_modules(tests.intervals.__path__)]
    modules = [importlib.import_module(f"tests.intervals.{name}") for name in names if not name.startswith("test_")]
    return {row.name: row for module in modules for row in getattr(module, "ROWS", []) if kind in row.kind}


def simulated_width(drawn, confidence, simultaneous):
    """Mean width of each value's interval if the distribution of the errors were known: from their quantiles."""
    errors = np.abs(drawn.estimate - drawn.truth)
    if simultaneous:
        scales = errors.std(axis=0) + 1e-300
        reach = np.quantile((errors / scales).max(axis=1), confidence) * scales
    else:
        is_discrete = len(np.unique(errors)) < len(errors) / 5  # and a step's probability only known by simulation
        level = confidence + is_discrete * 2 * math.sqrt(confidence * (1 - confidence) / len(errors))
        reach = np.quantile(errors, min(level, 1.0), axis=0, method="higher" if is_discrete else "linear")
    published = np.clip(drawn.estimate, *drawn.limits)
    lower, upper = (np.clip(published + side * reach, *drawn.limits) for side in (-1, 1))
    return (upper - lower).mean(axis=0)
