"""The base of every private estimator of a table."""

import numpy as np
from sklearn.base import BaseEstimator

from skdpmic._utils.no_cache import NoCacheMixin
from skdpmic._utils.summaries import ShownInNotebooks


class PrivateEstimator(ShownInNotebooks, NoCacheMixin, BaseEstimator):
    """An estimator that makes a private release from a table.

    Its `_plan` checks and resolves the parameters; `fit` reads records by the plan, publishes what is then ready, and
    stores it last (``docs/understand/architecture.md``).
    """

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ranking_")

    def __repr__(self, N_CHAR_MAX=700):
        with np.printoptions(threshold=10, edgeitems=2):
            return super().__repr__(N_CHAR_MAX)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags
