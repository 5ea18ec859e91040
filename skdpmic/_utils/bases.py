"""The base classes of scikit-learn, as mypy needs them, and one that it lacks.

scikit-learn has no type hints. Other type checkers read its source; mypy would accept any argument of a class that is
derived from an unknown one, so for mypy these are known classes with unknown attributes.
"""

from typing import Any

import numpy as np

MYPY = False  # mypy takes it for True

if MYPY:

    class BaseEstimator:
        def __getattr__(self, name: str) -> Any: ...

    class ClassifierMixin(BaseEstimator): ...

    class MetaEstimatorMixin(BaseEstimator): ...

    class OneToOneFeatureMixin(BaseEstimator): ...

    class RegressorMixin(BaseEstimator): ...

    class SelectorMixin(BaseEstimator): ...

    class TransformerMixin(BaseEstimator): ...
else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.base import MetaEstimatorMixin as MetaEstimatorMixin
    from sklearn.base import OneToOneFeatureMixin as OneToOneFeatureMixin
    from sklearn.base import RegressorMixin as RegressorMixin
    from sklearn.base import TransformerMixin as TransformerMixin
    from sklearn.feature_selection import SelectorMixin as SelectorMixin


class AsksForContainer(TransformerMixin):
    """Base of transformers that make the container `set_output` asks for; scikit-learn has no public way to see it."""

    def transform(self, X):
        """A row of zeros: an ndarray by default, otherwise a dataframe of the requested library."""
        return np.zeros((1, len(self.get_feature_names_out())))
