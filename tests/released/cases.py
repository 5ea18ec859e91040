"""Every statistic with every mechanism and every kind of input, seeded: releases must stay the same to the last bit.

The calls use the current names of the package, and are edited when these change. Their releases are compared with
``before.json``, which was recorded once, from the tree before the package was rearranged, and never again.
"""

import datetime
import itertools
import math
import tempfile
from dataclasses import replace
from functools import partial

import numpy as np
import pandas

from skdpmic import (
    BudgetLedger,
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    PrivateSelectKBest,
    dp_mic_classif,
    dp_mic_regression,
    plan_release,
    private_bounds,
    private_score,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import count_stream
from skdpmic.statistics.registry import statistic_named
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

N, D = 60, 4
RANKS = ("kendall",)
SEED = {"random_state": 7}


# --- Tables, from a generator whose numbers never change --------------------------------------------------------------


def numbers(n=N):
    random = np.random.RandomState(3)
    X = random.random_sample((n, D))
    y = np.clip((X[:, 0] - 0.5) ** 2 * 3 + 0.3 * X[:, 1] + 0.1 * random.random_sample(n), 0, 1)
    return X, y


def classes(n=N, n_classes=3):
    X, y = numbers(n)
    return X, np.minimum((y * n_classes / 0.7).astype(int), n_classes - 1)


def people(n=N):
    """A mixed table with missing values, and a target of labels."""
    X, y = numbers(n)
    random = np.random.RandomState(5)
    day = datetime.datetime(2020, 1, 1)
    frame = pandas.DataFrame(
        {
            "age": np.where(random.random_sample(n) < 0.1, np.nan, X[:, 0] * 100),
            "income": np.exp(X[:, 1] * 10),
            "born": [day + datetime.timedelta(days=int(1000 * value)) for value in X[:, 2]],
            "town": [None if value > 0.95 else "abc"[int(3 * value)] for value in X[:, 3]],
            "insured": X[:, 0] > 0.5,
        }
    )
    return frame, np.where(y > 0.3, "ill", "well")


PEOPLE = {
    "bounds": {
        "age": (0, 30, 60, 100),
        "income": (0, 1e5, "log"),
        "born": (datetime.datetime(2020, 1, 1), datetime.datetime(2023, 1, 1)),
    },
    "categories": {"town": ["a", "b"]},
    "classes": ["ill", "well"],
}
NUMERIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
CLASSED = {"bounds": (0, 1), "classes": [0, 1, 2]}
TWO_CLASSES = {"bounds": (0, 1), "classes": [0, 1]}
TABLES = {
    "numbers": (numbers, NUMERIC),
    "classes": (classes, CLASSED),
    "two classes": (partial(classes, n_classes=2), TWO_CLASSES),
    "people": (people, PEOPLE),
}


# --- What is released -------------------------------------------------------------------------------------------------


def plain(value):
    """A released value as lists of Python numbers."""
    if isinstance(value, pandas.DataFrame | pandas.Series):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "mM":
            value = value.astype("M8[us]" if value.dtype.kind == "M" else "m8[us]").astype(np.int64)
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


# Attributes, and their earlier names.
RENAMED = {"mechanism_": "support_mechanism_", "null_scores_": "chance_scores_", "untied_fraction_": "untied_shares_"}


def published_values(estimator, *more):
    """All public attributes of a fit, and the results of some methods."""
    attributes = {name: vars(estimator)[name] for name in vars(estimator) if name.endswith("_") and name[0] != "_"}
    for name in ("feature_names_in_", "best_estimator_", "cv_results_", "scorer_", "gaps_"):  # the last was added later
        attributes.pop(name, None)
    for now, before in RENAMED.items():
        if now in attributes:
            attributes[before] = attributes.pop(now)
    if isinstance(estimator, DPMICSelector):  # from a selector that could also publish names only
        attributes["n_ranked_"] = estimator.n_features_in_
    return plain(attributes | {name: getattr(estimator, name)() for name in more})


def scored(table, n=N, **parameters):
    make, public = TABLES[table]
    scorer = DPMICScorer(epsilon=2, **SEED, **public, **parameters)
    further = ("p_values",) if parameters.get("statistic") not in RANKS else ()
    return published_values(scorer.fit(*make(n)), "scores_interval", *further)


def noisy_tables(table, n=N, **parameters):
    make, public = TABLES[table]
    scorer = DPMICScorer(epsilon=9, mechanism="geometric", **SEED, **public, **parameters)
    return published_values(scorer.fit(*make(n)))


def selected(table, **parameters):
    make, public = TABLES[table]
    return published_values(DPMICSelector(epsilon=2, **SEED, **public, **parameters).fit(*make()), "get_support")


class NamesOfThePaper(PrivateSelectKBest):
    """A choice by uncorrected MICr, which the selector does not offer."""

    def _plan(self):
        plan = super()._plan()
        asked = plan.asked._replace(correction=None)
        return replace(plan, asked=asked, statistic=statistic_named(self.statistic, None))


def names(table, correction="miller-madow", **parameters):
    make, public = TABLES[table]
    kind = NamesOfThePaper if correction is None else PrivateSelectKBest
    return published_values(kind(k=2, epsilon=2, **SEED, **public, **parameters).fit(*make()), "get_support")


CASES = {}
STATISTICS = {
    "mic_r": {"statistic": "mic_r"},
    "mic_r of the paper": {"statistic": "mic_r", "correction": None},
    "mtv_r": {"statistic": "mtv_r"},
} | {name: {"statistic": name} for name in RANKS}
MECHANISMS = {"laplace": {}, "gaussian": {"mechanism": "gaussian", "delta": 1e-5}}


def tables_for(statistic):
    """Tables for which a statistic can be computed: more than two classes have no order."""
    left_out = "classes" if statistic == "kendall" else "two classes"
    return [table for table in TABLES if table != left_out]


def case(*words):
    """Register a function as a case with this name."""

    def keep(function):
        name = ", ".join(words)
        assert name not in CASES
        CASES[name] = function
        return function

    return keep


# --- Fits -------------------------------------------------------------------------------------------------------------

for statistic, which in STATISTICS.items():
    for table in tables_for(statistic):
        for mechanism, how in MECHANISMS.items():
            case("scores", statistic, mechanism, table)(lambda t=table, p=which | how: scored(t, **p))
        case("k best", statistic, table)(lambda t=table, p=which: selected(t, k=2, **p))
        case("names", statistic, table)(lambda t=table, p=which: names(t, **p))
        case("names, delta", statistic, table)(lambda t=table, p=which: names(t, delta=1e-5, **p))
for table in tables_for("mtv_r"):
    case("names, joint", table)(lambda t=table: names(t, criterion="joint"))
for table in ("numbers", "classes"):
    case("noisy tables", table)(lambda t=table: noisy_tables(t))
case("threshold")(lambda: selected("numbers", threshold=0.4))
case("fdr")(lambda: selected("numbers", statistic="mtv_r", fdr=0.2))
case("B and c")(lambda: scored("numbers", B=9, c=2))
case("an exponent B")(lambda: scored("classes", B=0.7, c=1))
case("two workers")(lambda: scored("numbers", n=2000, statistic="mtv_r", n_jobs=2))
case("float32")(
    lambda: published_values(
        DPMICScorer(**SEED, **NUMERIC).fit(numbers()[0].astype(np.float32), numbers()[1]), "scores_interval"
    )
)
for statistic, which in STATISTICS.items():

    def of_people(parameters=which):
        X, y = numbers()
        groups = np.arange(N) // 3
        scorer = DPMICScorer(epsilon=3, max_rows_per_group=2, **SEED, **NUMERIC, **parameters)
        return published_values(scorer.fit(X, y, groups=groups), "scores_interval")

    case("people with several rows", statistic)(of_people)


@case("noisy tables of people with several rows")
def _():
    X, y = classes()
    scorer = DPMICScorer(epsilon=9, mechanism="geometric", max_rows_per_group=2, **SEED, **CLASSED)
    return published_values(scorer.fit(X, y, groups=np.arange(N) // 3))


# --- Chunks -----------------------------------------------------------------------------------------------------------

IN_CHUNKS = [("mic_r", {}), ("mic_r", {"mechanism": "geometric"}), ("mtv_r", {}), ("mtv_r", MECHANISMS["gaussian"])]
for (statistic, how), table in itertools.product(IN_CHUNKS, tables_for("mtv_r")):
    if how.get("mechanism") == "geometric" and table == "people":
        continue
    make, public = TABLES[table]
    if table == "people":  # a sketch has no columns of a frame that could declare their labels
        public = public | {"categories": public["categories"] | {"insured": [False, True]}}

    def sketched(make=make, parameters={"statistic": statistic} | how | public):
        X, y = make()
        scorer = DPMICScorer(epsilon=4, **SEED, **parameters)
        columns = list(X.columns) if hasattr(X, "columns") else None
        empty = scorer.empty_sketch(N, n_features=X.shape[1], feature_names=columns)
        whole = empty.empty().update(X[:20], y[:20]).merge(empty.empty().update(X[20:], y[20:]))
        return published_values(scorer.fit_sketch(whole))

    def chunked(make=make, parameters={"statistic": statistic} | how | public):
        X, y = make()
        scorer = DPMICScorer(epsilon=4, **SEED, **parameters)
        return published_values(scorer.partial_fit(X[:20], y[:20], n_expected=N).partial_fit(X[20:], y[20:]).publish())

    name = ("scores", statistic, how.get("mechanism", "laplace"), table)
    case("sketch", *name)(sketched)
    case("chunks", *name)(chunked)


def lazy(X, names):
    import polars

    return polars.DataFrame(np.column_stack(X), schema=names).lazy()


@case("LazyFrame", "names", "joint")
def _():
    X, y = numbers()
    selector = PrivateSelectKBest(k=2, criterion="joint", **SEED, **NUMERIC)
    return published_values(selector.fit(lazy([X], list("abcd")), y), "get_support")


@case("stream")
def _():
    X, y = numbers()
    scorer = DPMICScorer(epsilon=4, statistic="mtv_r", **SEED, **NUMERIC)
    empty = scorer.empty_sketch(N, feature_names=list("abcd"))
    return published_values(scorer.fit_sketch(count_stream(empty, lazy([X, y], list("abcdy")), target="y")))


# --- Functions --------------------------------------------------------------------------------------------------------

for statistic, which in STATISTICS.items():

    def functions(parameters=which):
        public = {"epsilon": 2, **SEED, **parameters}
        X, y = numbers()
        of_classes = dp_mic_classif(*classes(n_classes=2), **TWO_CLASSES, **public)
        return plain([dp_mic_regression(X, y, **NUMERIC, **public), of_classes])

    case("functions", statistic)(functions)

BOTH = {"bounds": ((0, 1), (0, 1))}
PAIRS = {
    "mic_r": BOTH,
    "mic_r of the paper": BOTH | {"correction": None, "B": 16, "c": 2},
    "mic_r, geometric": BOTH | {"mechanism": "geometric"},
    "mic_e": {"statistic": "mic_e"},
    "mtv_r": BOTH | {"statistic": "mtv_r"},
    **{statistic: {"statistic": statistic} for statistic in RANKS},
}
for name, parameters in PAIRS.items():

    def one_pair(public=SEED | parameters):
        X, y = numbers()
        return [plain(private_score(X[:, j], y, epsilon=e, **public)) for j in (0, 1) for e in (1, math.inf)]

    case("pair", name)(one_pair)


# --- Matrices, causes, two parties, bounds, searches ------------------------------------------------------------------


@case("correlations")
def _():
    matrix = PrivateCorrelation(epsilon=5, **SEED).fit(numbers()[0])
    return published_values(matrix, "correlation_interval", "pearson_correlation")


@case("correlations of people")
def _():
    matrix = PrivateCorrelation(epsilon=5, max_rows_per_group=2, **SEED)
    return published_values(matrix.fit(numbers()[0], groups=np.arange(N) // 3))


@case("causes of numbers")
def _():
    graph = PrivatePC(epsilon=9, **SEED).fit(numbers(2000)[0])
    return published_values(graph) | plain({"cpdag_": graph.cpdag_, "p_values_": graph.p_values_})


@case("causes of labels")
def _():
    X, y = classes(2000, 2)
    rows = np.column_stack([X[:, 0] > 0.5, X[:, 1] > 0.3, y]).astype(int)
    graph = PrivatePC(epsilon=9, categories={j: [0, 1] for j in range(3)}, **SEED).fit(rows)
    return published_values(graph) | plain({"cpdag_": graph.cpdag_, "p_values_": graph.p_values_})


def reports(n=N):
    X, _ = people(n)
    parts = RandomizedResponse(epsilon=20, bounds=PEOPLE["bounds"], categories=PEOPLE["categories"], **SEED).fit(X)
    return parts, parts.transform(X)


@case("reports")
def _():
    parts, released = reports()
    return published_values(parts) | plain({"reports": np.where(np.isnan(released), -1.0, released)})


TWO_PARTY = itertools.product(("distance_correlation", "mtv_r", "mic_r"), (None, 3.0), ("numbers", "classes"))
for statistic, epsilon, table in TWO_PARTY:

    def two_parties(statistic=statistic, epsilon=epsilon, table=table):
        make, public = TABLES[table][0], {name: of for name, of in TABLES[table][1].items() if name != "bounds"}
        parts, released = reports()
        scorer = TwoPartyScorer(statistic, epsilon=epsilon, **public, **SEED)
        return published_values(scorer.fit(parts.to_arrow(released), make()[1]))

    case("two parties", statistic, str(epsilon), table)(two_parties)


@case("bounds")
def _():
    X, _ = people(500)
    table = private_bounds(X.drop(columns="town"), epsilon=8, **SEED)
    return plain(
        [table, private_bounds(numbers(500)[1], epsilon=2, **SEED), private_bounds(X["born"], epsilon=2, **SEED)]
    )


@case("search")
def _():
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    X, y = numbers(200)
    steps = make_pipeline(DPMICSelector(epsilon=2, statistic="mtv_r", **SEED, **NUMERIC), LinearRegression())
    search = PrivateGridSearch(steps, {"dpmicselector__k": [1, 2]}, epsilon=5, n_subsets=5, **SEED).fit(X, y)
    return published_values(search) | {"of the refit": published_values(search.best_estimator_[0], "get_support")}


# --- What is charged --------------------------------------------------------------------------------------------------


@case("what is charged")
def _():
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    X, y = numbers(200)
    with tempfile.TemporaryDirectory() as folder:
        limits = {"epsilon": 1e4, "delta": 0.1, "max_rows_per_person": 3}
        paid = {"ledger": BudgetLedger(f"{folder}/ledger", **limits)} | SEED
        DPMICScorer(epsilon=1, **paid, **NUMERIC).fit(X, y)
        DPMICScorer(epsilon=0.5, mechanism="gaussian", delta=1e-5, **paid, **NUMERIC).fit(X, y)
        DPMICScorer(epsilon=0.5, mechanism="geometric", **paid, **NUMERIC).fit(X, y)
        for delta, criterion in itertools.product((0, 1e-5), ("single", "joint")):
            parameters = {"delta": delta, "criterion": criterion}
            PrivateSelectKBest(k=2, epsilon=0.3, **parameters, **paid, **NUMERIC).fit(X, y)
        DPMICScorer(epsilon=2, max_rows_per_group=2, **paid, **NUMERIC).fit(X, y, groups=np.arange(200) // 3)
        PrivateCorrelation(epsilon=0.7, **paid).fit(X)
        PrivatePC(epsilon=0.8, **paid).fit(X)
        PrivatePC(epsilon=0.8, categories={j: [0, 1] for j in range(D)}, **paid).fit((X > 0.5).astype(int))
        RandomizedResponse(epsilon=1.5, bounds=(0, 1), **paid).fit(X).transform(X)
        private_bounds(X, epsilon=2, **paid)
        for public in PAIRS.values():
            private_score(X[:, 0], y, epsilon=0.25, **public, **paid)
        steps = make_pipeline(DPMICSelector(epsilon=2, statistic="mtv_r", **paid, **NUMERIC), LinearRegression())
        PrivateGridSearch(steps, {"dpmicselector__k": [1, 2]}, epsilon=5, n_subsets=5, **paid).fit(X, y)
        entries = paid["ledger"].entries()
        return plain([[entry.epsilon, entry.delta, rho_as_before(entry), entry.n, entry.d] for entry in entries])


def rho_as_before(entry):
    """The rho charged before releases of many parts had their own: None, which means epsilon**2 / 2."""
    return None if entry.delta == 0 and entry.what != "private_bounds" else entry.rho


@case("plans")
def _():
    request = {"n_samples": 1000, "n_features": 50, "k": 5, "epsilon": 1.0}
    rows = [*plan_release(**request), *plan_release(**request, delta=1e-6), *plan_release(**request, n_classes=3)]
    rows = [row for row in rows if row.mechanism != "k-norm"]  # added later
    return plain([[row.noise_scale, row.error, row.epsilon, row.delta] for row in rows])
