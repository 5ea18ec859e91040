"""The ways to a private model that are compared, each at least (epsilon, 1e-5)-private for replacing a person.

A way takes a split of a table, a budget and a seed, and returns predictions for the people it has not seen. All use the
same public facts: :class:`skdpmic.PublicEncoder` turns a record into numbers from 0 to 1, independently of the other
records.
"""

import math
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr
from sklearn.model_selection import train_test_split

from skdpmic import PrivateSelectKBest, PublicEncoder

DELTA = 1e-5
K, SHARE = 8, 0.2  # number of chosen columns, and the share of epsilon for the choice


class Split:
    """Two thirds of a table to fit on, and the other third to score on."""

    def __init__(self, table, repeat, n_rows=None):
        parts = train_test_split(table.X, table.y, test_size=1 / 3, random_state=repeat)
        self.table, (self.train, self.test, self.y, self.unseen) = table, parts
        self.train, self.y = self.train[:n_rows], self.y[:n_rows]

    def encoded(self, **options):
        """Both parts of the split as numbers, and their public bounds: nothing is learnt from the records."""
        encoder = PublicEncoder(**self.table.features, add_indicator=False, **options).fit(self.train)
        return *(np.asarray(encoder.transform(part)) for part in (self.train, self.test)), encoder.bounds_

    def of_columns(self, names):
        """The split with only these columns."""
        narrow = object.__new__(Split)
        features = {kind: {n: of[n] for n in of if n in names} for kind, of in self.table.features.items()}
        table = self.table._replace(X=self.table.X[names], features=features)
        vars(narrow).update(vars(self) | {"table": table, "train": self.train[names], "test": self.test[names]})
        return narrow


# --- This package ----------------------------------------------------------------------------------------------------


def additive(split, epsilon, seed, delta=DELTA):
    """An additive model of all columns."""
    from skdpmic import PrivateAdditiveClassifier, PrivateAdditiveRegressor

    kind = PrivateAdditiveClassifier if split.table.n_classes else PrivateAdditiveRegressor
    model = kind(epsilon, delta, **split.table.features, **split.table.target, random_state=seed)
    model.fit(split.train, split.y)
    return model.predict_proba(split.test)[:, 1] if split.table.n_classes else model.predict(split.test)


def chosen(split, epsilon, seed, delta=DELTA):
    """The same, on columns chosen with a share of epsilon."""
    k = min(K, split.train.shape[1] - 1)
    selector = PrivateSelectKBest(
        k, epsilon=SHARE * epsilon, **split.table.features, **split.table.target, random_state=seed
    )
    names = list(selector.fit(split.train, split.y).get_feature_names_out())
    return additive(split.of_columns(names), (1 - SHARE) * epsilon, seed + 1, delta)


# --- Others ----------------------------------------------------------------------------------------------------------


def delta_of(epsilon, mu):
    """The delta at epsilon of Gaussian differential privacy (Dong, Roth and Su 2022, Corollary 2.13)."""
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def mu_for(epsilon, delta=DELTA):
    """The largest mu whose Gaussian differential privacy is (epsilon, delta)."""
    return brentq(lambda mu: delta_of(epsilon, mu) - delta, 1e-3 * epsilon, 20 * max(epsilon, 1))


def epsilon_for_one_step(epsilon, delta=DELTA):
    """The epsilon for adding or removing a person at which replacing one, two such steps, is (epsilon, delta)-DP."""
    mu = mu_for(epsilon, delta) / 2
    return brentq(lambda one: delta_of(one, mu) - delta, 1e-6, epsilon)


def unit_rows(X):
    """Rows with an added constant, each scaled to a norm of 1."""
    X = np.column_stack([X, np.ones(len(X))])
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def noisy_gradients(split, epsilon, seed):
    """Logistic regression by noisy full-batch gradients, with Nesterov's momentum.

    Replacing a row of norm 1 moves the sum of gradients by at most 2, so T steps with noise of standard deviation s
    have mu = 2 sqrt(T) / s. Steps and rate were the best of 12 settings on four tables that are not reported.
    """
    train, test, _ = split.encoded()
    amount = len(train) * epsilon
    n_steps, rate = (20 if amount < 1000 else 50), float(np.clip(math.sqrt(amount / 4000), 0.5, 4.0))
    X, y, rng = unit_rows(train), split.y.astype(float), np.random.default_rng(seed)
    noise = 2 * math.sqrt(n_steps) / mu_for(epsilon)
    weights = ahead = np.zeros(X.shape[1])
    for step in range(n_steps):
        gradient = X.T @ (expit(X @ ahead) - y) + rng.normal(0, noise, len(weights))
        before, weights = weights, ahead - rate * gradient / len(X)
        ahead = weights + step / (step + 3) * (weights - before)
    return unit_rows(test) @ weights


def boosted(split, epsilon, seed):
    """DP-EBM of interpret-core, called so that its guarantee holds: numbers, public bounds, noise for two steps."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    train, test, (lower, upper) = split.encoded(encoding="ordinal")
    bounds = dict(enumerate(zip(lower.tolist(), upper.tolist(), strict=True)))
    options = {"epsilon": epsilon_for_one_step(epsilon), "delta": DELTA, "privacy_bounds": bounds, "random_state": seed}
    options["feature_types"] = ["continuous"] * train.shape[1]
    if split.table.n_classes:
        return DPExplainableBoostingClassifier(**options).fit(train, split.y).predict_proba(test)[:, 1]
    least, most = split.table.target["target_bounds"]
    # The middle is subtracted, as the first residual is the target, and the noise depends on the width of the range.
    middle = (least + most) / 2
    ends = {"privacy_target_min": least - middle, "privacy_target_max": most - middle}
    return middle + DPExplainableBoostingRegressor(**options, **ends).fit(train, split.y - middle).predict(test)


def objective(split, epsilon, seed, C=0.1):
    """Logistic regression of diffprivlib. Its proof needs rows of norm 1, no intercept, and the exact minimum."""
    from diffprivlib.models import LogisticRegression

    train, test, _ = split.encoded()
    options = {"C": C, "data_norm": 1.0, "fit_intercept": False, "tol": 1e-6, "max_iter": 1000, "random_state": seed}
    model = LogisticRegression(epsilon=epsilon, **options).fit(unit_rows(train), split.y)
    return model.predict_proba(unit_rows(test))[:, 1]


def bayes(split, epsilon, seed):
    """Naive Bayes of diffprivlib, which accounts for only one of the two classes that replacing a person can change."""
    from diffprivlib.models import GaussianNB

    train, test, bounds = split.encoded()
    model = GaussianNB(epsilon=epsilon / 2, bounds=bounds, random_state=seed).fit(train, split.y)
    return model.predict_proba(test)[:, 1]


def no_privacy(split, epsilon, seed):
    """Gradient boosting without privacy."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    train, test, _ = split.encoded(encoding="ordinal")
    if split.table.n_classes:
        return HistGradientBoostingClassifier(random_state=0).fit(train, split.y).predict_proba(test)[:, 1]
    return HistGradientBoostingRegressor(random_state=0).fit(train, split.y).predict(test)


WAYS = {
    "additive": additive,
    "additive, delta 0": partial(additive, delta=0.0),
    "chosen, additive": chosen,
    "chosen, additive, delta 0": partial(chosen, delta=0.0),
    "noisy gradients": noisy_gradients,
    "DP-EBM": boosted,
    "diffprivlib, logistic regression": objective,
    "diffprivlib, naive Bayes": bayes,
    "no privacy": no_privacy,
}
OF_CLASSES = ("noisy gradients", "diffprivlib, logistic regression", "diffprivlib, naive Bayes")
PACKAGES = {"DP-EBM": "interpret", **dict.fromkeys(OF_CLASSES[1:], "diffprivlib")}


def is_installed(way):
    """Whether the package of a way is installed."""
    return find_spec(PACKAGES.get(way, "numpy")) is not None
