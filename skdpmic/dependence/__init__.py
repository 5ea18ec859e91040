"""Measures of dependence without privacy, which know nothing of scikit-learn."""
