"""Private additive models: the estimators, and the two kinds of tables from which they are computed."""
