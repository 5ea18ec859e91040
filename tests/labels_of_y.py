"""Estimators for scikit-learn's checks, each of which has a target with labels of its own."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


class TakesLabelsOfY:
    """In front of an estimator, which then takes the labels in y for public."""

    def fit(self, X, y=None):
        given, self.classes = self.classes, [0, 1] if y is None else self._labels(column_or_1d(np.asarray(y)))
        try:
            return super().fit(X, y)
        finally:
            self.classes = given

    def _labels(self, y):
        check_classification_targets(y)
        labels = np.unique(y)
        return labels if len(labels) > 1 or hasattr(self, "predict") else [*labels, -1]
