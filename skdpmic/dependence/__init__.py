"""Measures of dependence without privacy; nothing here knows of scikit-learn or of noise."""
