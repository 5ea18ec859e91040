"""The common base of the additive classifier and regressor: the fit, the scores of new rows, and the display."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import PrivateEstimator, check_published
from skdpmic._utils.results import dataframe, with_intervals
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, number_column, why_broken
from skdpmic._utils.texts import counted, names_of
from skdpmic.models.additive_plan import NORMAL_95, AdditivePlan
from skdpmic.models.parts import codes_of, ends_of_parts, names_of_parts, sums_of_effects
from skdpmic.planning.rows import ReleasePlan
from skdpmic.privacy.mechanisms import gaussian_quantile, laplace_quantile
from skdpmic.privacy.noise import laplace_scale
from skdpmic.table.domains import Labels
from skdpmic.table.frames import check_columns_seen, open_table
from skdpmic.table.normal_form.containers import in_memory
from skdpmic.table.reading import read_columns

_WHAT_INTERVALS_HOLD = (
    "the mean of the effect over the noise, which shrinks effects; for each separately, approximately"
)
_CONFIDENCE = 0.95  # that all parts said to have records have some


class PrivateAdditiveModel(PrivateEstimator):
    """A model that sums one effect per column, which depends only on the part that contains its value."""

    _plan: Callable[[], AdditivePlan]
    _domains: list[Any]  # public, of each column
    _offsets: Any  # the number of the first part of each column, and their total
    coef_: Any
    intercept_: Any

    def to_frame(self) -> Any:
        """Return the effect of each part of each column as a dataframe.

        Costs no privacy: it uses only what was released, and public numbers.

        Returns
        -------
        pandas.DataFrame
            One row per part of each column (and class, if there are more than two), with the columns

            - `feature`: the name of the column, or its number if columns have no names;
            - `part`: the range or the label; "other" for other labels, "missing" for missing values, and "other (not a
              label)" or "missing (not a label)" if a label is called so;
            - `class`: the class to which the effect belongs; only with more than two classes;
            - `effect`: its effect, as in `coef_`;
            - `lower`, `upper`: approximate 95% interval, for each effect separately, for the mean of the effect over
              the noise: in many fits to the same records, with the same `factor_` if there is one. More noise makes
              fits shrink their effects more, so this is not for the effect without noise, which may be far larger;
              ``attrs["interval"]`` says so, too;
            - `count`: the noisy number of records in the part; 0 if the noise makes it negative in `noisy_counts_`;
            - `has_records`: whether the count exceeds its noise, at 95% for all parts together. If not, the part may be
              empty, and its effect nothing but noise.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the estimator is not fitted.
        """
        check_published(self)
        effects, margins = np.atleast_2d(self.coef_), NORMAL_95 * np.atleast_2d(self.coef_noise_scale_)
        of_parts = {"count": np.maximum(np.concatenate(self.noisy_counts_), 0), "has_records": self._have_records()}
        names = np.repeat(np.asarray(names_of(self), dtype=object), np.diff(self._offsets))
        parts = [part for domain in self._domains for part in names_of_parts(domain)]
        columns = {"feature": np.tile(names, len(effects)), "part": parts * len(effects)}
        if len(effects) > 1:
            columns["class"] = np.repeat(self.classes_, len(parts))
        columns |= {"effect": effects.ravel(), "lower": (effects - margins).ravel()}
        columns["upper"] = (effects + margins).ravel()
        frame = dataframe(columns | {name: np.tile(of_part, len(effects)) for name, of_part in of_parts.items()})
        return with_intervals(frame, _WHAT_INTERVALS_HOLD)

    def plan(self, n_samples: int, n_features: int) -> ReleasePlan:
        """Plan the noise of a fit to a table of this shape.

        Costs no privacy: it uses only the parameters and these numbers, and charges no ledger.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; number of people with `max_rows_per_group`.
        n_features : int

        Returns
        -------
        ReleasePlan
            The first row describes `fit`: its `statistic` is `kind_`, its `noise_scale` is `noise_scale_`, and its
            `epsilon` and `delta` are `privacy_spent_`. The second, if `delta` is above 0, describes the other kind of
            model. The `error` is the half-width of a 95% interval for a count, as a share of the records.

        Raises
        ------
        ValueError
            If a parameter is invalid.

        Examples
        --------
        >>> from skdpmic import PrivateAdditiveClassifier
        >>> plan = PrivateAdditiveClassifier(1.0, 1e-6, bounds=(0, 1), classes=[0, 1]).plan(10_000, 20)
        >>> plan[0].statistic, round(plan[0].noise_scale)
        ('two-way', 139)
        """
        fitted = self._plan()
        check_whole(n_samples, "n_samples", 4)
        check_whole(n_features, "n_features", 1)
        return ReleasePlan(fitted.rows(int(n_samples), int(n_features)), "error")

    def _scores(self, X):
        """The sum of the effects of each row, with the intercept: (n_samples, n_targets); each row separately."""
        check_published(self)
        takes_text = any(isinstance(domain, Labels) for domain in self._domains)
        table = open_table(in_memory(X), type(self).__name__, takes_text=takes_text, least=1)
        check_columns_seen(self, table)
        columns, domains = read_columns(table, self._domains)
        codes = [codes_of(column, domain.encoded) for column, domain in zip(columns, domains, strict=True)]
        return sums_of_effects(codes, np.atleast_2d(self.coef_).T, self.intercept_, self._offsets)

    def _effects_of(self, j):
        """A column's parts: names, ends or None, whether they have records, effects and noise (n_targets, n_parts)."""
        of_column = slice(self._offsets[j], self._offsets[j + 1])
        both = (np.atleast_2d(values)[:, of_column] for values in (self.coef_, self.coef_noise_scale_))
        has_records = self._have_records()[of_column]
        return names_of_parts(self._domains[j]), ends_of_parts(self._domains[j]), has_records, *both

    def _have_records(self):
        """Whether the number of records in each part exceeds its noise, at 95% for all parts together."""
        counts = np.concatenate(self.noisy_counts_)
        n_summed = self.noisy_sums_.shape[1] if self.kind_ == "scorecard" else 1  # noisy counts, of each class
        deviation = self.noise_scale_ * np.sqrt(n_summed)
        if deviation == 0:
            return counts > 0
        if self._entry.mechanism == "gaussian":
            return counts > gaussian_quantile(deviation, _CONFIDENCE, len(counts))
        return counts > laplace_quantile(laplace_scale(deviation), _CONFIDENCE, len(counts))

    def _shown(self):
        """The columns of an additive model, those with the largest effects first."""
        names, effects = names_of(self), np.atleast_2d(self.coef_)
        margins = NORMAL_95 * np.atleast_2d(self.coef_noise_scale_)
        ranges = [slice(*pair) for pair in zip(self._offsets[:-1], self._offsets[1:], strict=True)]
        parts = [names_of_parts(domain) for domain in self._domains]
        shown = np.where(self._have_records(), effects[-1], np.nan)  # on the last class if there are several
        weights = np.maximum(np.concatenate(self.noisy_counts_), 0.0)
        sizes = np.array([_root_mean_square(effects[:, j], weights[j]) for j in ranges])
        columns = [
            ResultColumn("feature", names),
            number_column("typical effect", sizes),
            ResultColumn("largest in", [_best(shown[j], texts) for texts, j in zip(parts, ranges, strict=True)]),
            ResultColumn("smallest in", [_best(-shown[j], texts) for texts, j in zip(parts, ranges, strict=True)]),
            number_column("95% half-width", [float(np.median(margins[:, j])) for j in ranges]),
        ]
        released = f"an additive model of {counted(len(names), 'column')}, and the tables from which it is computed"
        facts = facts_of_release(self, released, noisy="count")
        order = np.argsort(-sizes, kind="stable")
        return Summary(facts, why_broken(self._entry), columns, order, unit="column", entries=(self._entry,))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _root_mean_square(effects, weights):
    weights = weights if weights.sum() > 0 else np.ones(len(weights))
    return float(np.sqrt(np.average((effects**2).mean(axis=0), weights=weights)))


def _best(effects, texts):
    """The part with the largest effect, among those that certainly have records."""
    return "every count is within its noise" if np.isnan(effects).all() else texts[np.nanargmax(effects)]
