"""Errors and warnings say what is wrong, in the user's words, and what to write."""

import random
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier

from skdpmic import (
    BudgetError,
    BudgetLedger,
    Codebook,
    DPMICScorer,
    DPMICSelector,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateGridSearch,
    PrivateSelectKBest,
    PublicEncoder,
    private_evaluation,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse
from tests.folding import each

N = 40
STRINGS = "string" if pd.__version__ < "3" else "str"  # before 3, text has no type unless it is asked for
SEX = pd.Series(["f", "m"] * (N // 2), dtype=STRINGS)
X = pd.DataFrame({"age": np.arange(N) * 2.0, "sex": SEX, "paid": np.arange(N) / N})
Y = np.arange(N) % 2
PUBLIC = {"bounds": {"age": (0, 120), "paid": (0, 1)}, "categories": {"sex": ["f", "m"]}, "classes": [0, 1]}


def fitted(X=X, y=Y, groups=None, **changed):
    return PrivateSelectKBest(1, epsilon=50).set_params(**PUBLIC | changed).fit(X, y, groups=groups)


# --- Columns: all that is wrong in one message ------------------------------------------------------------------------

DAY = pd.Timestamp("2020-01-01")
NO_BOUNDS, READ = "{'%s': ['no', 'yes']}", "may have been read from the data"
# What columns hold, what may be written for them, and for each way to write it, what the message says; None if nothing.
KINDS = {
    "numbers": (
        [1.0, 2.0],
        {"none": "{'%s': (0, 120)} for ages", "bounds": None, "texts": "numbers in categories"},
    ),
    "numerals": (pd.array(["1", "2"], dtype=STRINGS), {"none": NO_BOUNDS, "bounds": None, "texts": None}),
    "text": (
        pd.array(["7,654", "32%"], dtype=STRINGS),
        {"none": NO_BOUNDS, "bounds": "X['%s'] = pd.to_numeric(", "texts": None},
    ),
    "category": (
        pd.Categorical(pd.array(["86753", "b"], dtype=STRINGS)),
        {"none": READ, "bounds": READ, "texts": None},
    ),
    "dates": (
        [DAY, DAY],
        {"none": "(datetime.date(", "bounds": "Write public dates", "texts": "Convert them to text"},
    ),
    "durations": ([DAY - DAY] * 2, {"none": "(datetime.timedelta(", "bounds": "Write public durations"}),
    "bytes": ([b"86753"] * 2, {"none": "private_bounds learns"}),  # objects: their kind is not declared
}
ENTRIES = {"bounds": ("bounds", (0, 9)), "texts": ("categories", ["a", "b"])}


def test_all_columns_with_faults_are_named_in_one_message_with_what_to_write_for_each_kind():
    table, written, said = {}, {"bounds": {}, "categories": {}}, {}
    for kind, (values, ways) in KINDS.items():
        for way, phrase in ways.items():
            name = f"{kind}, {way}"
            table[name] = pd.concat([pd.Series(values)] * 5, ignore_index=True)
            if way != "none":
                parameter, entry = ENTRIES[way]
                written[parameter][name] = entry
            said |= {name: phrase} if phrase else {}
    with pytest.raises(ValueError, match="bounds") as error:
        fitted(pd.DataFrame(table), np.arange(10) % 2, **written)
    message = str(error.value)
    assert {name for name in table if f"'{name}'" in message} == set(said)
    for phrase in said.values():  # the line is written for the first column of each kind
        assert any(phrase.replace("%s", name) in message for name in said)
    assert not re.search("86753|7,654|32", message)


@each(
    "values, bounds",
    [
        (["1,234", "12%", " 7 ", "6 mg", "", "5", "1e2", "-3", None, "nan"] * 4, (0, 2000)),
        (["2020-01-31", "x", "", None] * 10, (DAY, pd.Timestamp("2030-01-01"))),
    ],
)
def test_the_line_that_a_message_gives_is_one_that_works(values, bounds):
    bounds = PUBLIC["bounds"] | {"g": bounds, "h": bounds}
    for dtype in (object, "str"):
        table = X.assign(g=pd.Series(values, dtype=dtype), h=pd.Series(values, dtype=dtype))
        with pytest.raises(ValueError, match="'g'") as error:
            fitted(table, bounds=bounds)
        (line,) = set(re.findall(r"pd\.to_\w+\(.*?'coerce'\)", str(error.value)))
        for name in ("g", "h"):
            table[name] = eval(line.replace("X['g']", "column"), {"pd": pd, "column": table[name]})
        assert fitted(table, bounds=bounds).n_features_in_ == 5


# --- Other calls: what is said ----------------------------------------------------------------------------------------


def evaluated(y, **kind):
    model = PrivateAdditiveClassifier(epsilon=50, **PUBLIC).fit(X, Y)
    if kind:
        model = PrivateAdditiveRegressor(epsilon=50, bounds=PUBLIC["bounds"], categories=PUBLIC["categories"], **kind)
        model.fit(X, np.arange(N))
    return private_evaluation(model, X, y, epsilon=1)


def charged_twice(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=1.0)
    ledger.charge("first", 0.75)
    ledger.charge("second", 0.5)


def voted(_):
    model = PrivateAdditiveClassifier(**PUBLIC | {"classes": ["f", "m"]})
    VotingClassifier([("a", model)]).fit(X, X["sex"].rename("target"))


def searched(_):
    PrivateGridSearch(PrivateSelectKBest(1, **PUBLIC), {"k": [1, 2]}, epsilon=1, scoring=len).fit(X, "sex")


TARGETS = {  # of numbers, and what is said about them
    "text": (pd.Series(["1,234"] * N), ["pd.to_numeric(", "classes instead of target_bounds"]),
    "infinite": (np.where(Y == 1, np.inf, 3), ["y = np.clip(y, lower, upper)"]),
    "missing": (np.where(Y == 1, np.nan, 3), ["complete: keep only rows"]),
}
MESSAGES = {  # what is called, and what its error says
    "target's name": (lambda _: fitted(y="paid"), ["X[...]", "X.drop(columns=...) as X"]),
    "target's name, no bounds": (lambda _: fitted(y="paid", bounds=None), ["y must hold"]),
    "groups' name": (lambda _: fitted(groups="sex", max_rows_per_group=1), ["X[...]"]),
    "budget": (charged_twice, ["(0.75, 0.0) of (1.0, 0.0) is spent", "(0.25, 0.0) remains"]),
    "scalar of numpy": (lambda _: fitted(epsilon=np.float64(-1)), ["epsilon must be a number > 0", "got -1.0"]),
    "infinity": (lambda _: fitted(X.assign(age=np.inf)), ["'age'", "X.replace([np.inf, -np.inf], np.nan)"]),
    "labels": (lambda _: PrivateCorrelation(epsilon=1).fit(X), ["Convert them to", "X = X.drop(columns=['sex'])"]),
    "classes of a model": (lambda _: evaluated(Y + 1), ["in model.classes_, [0, 1]"]),
    "missing class of a model": (lambda _: evaluated(np.where(Y, np.nan, 0)), ["complete: keep only rows"]),
    "numbered labels": (voted, ["classes and y", "VotingClassifier and other wrappers number labels"]),
    "target's name in a search": (searched, ["y must hold a value for each row", "X[...]"]),
}
for of, (y, phrases) in TARGETS.items():
    MESSAGES[f"{of} target"] = partial(fitted, X, y, classes=None, target_bounds=(0, 9)), phrases
    MESSAGES[f"{of} target of a model"] = partial(evaluated, y, target_bounds=(0, 9)), phrases


@each("case", MESSAGES)
def test_an_error_names_what_is_wrong_and_the_remedy(case, tmp_path):
    call, phrases = MESSAGES[case]
    with pytest.raises((ValueError, BudgetError)) as error:
        call() if isinstance(call, partial) else call(tmp_path)
    assert [phrase for phrase in phrases if phrase not in str(error.value)] == []


def test_a_summary_advises_logarithms_only_where_they_spread_the_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"smokes": rng.random(20_000) < 0.01, "income": rng.lognormal(10, 1, 20_000)}).astype(float)
    found = private_summary(frame, Codebook({"smokes": (0, 1), "income": (0, 1e7)}), epsilon=20).suspicious
    (smokes,), (income,) = ([text for text in found if f"of {name} lies in" in text] for name in frame)
    assert smokes.endswith(": narrow the range if possible, unless it holds few values, such as 0 and 1.")
    assert income.endswith(": use 'log', or narrow the range if possible.")


# --- Scalars of numpy -------------------------------------------------------------------------------------------------

OF_NUMPY = [
    *[np.float64(-1.5), np.int64(-1), np.str_("zz"), np.bool_(True), np.float32("nan")],
    *[[np.int64(0)], (np.float64(3), np.float64(1)), {np.str_("q"): (np.float64(0), np.float64(1))}],
]
ESTIMATORS = [DPMICScorer(), DPMICSelector(), PrivateAdditiveClassifier(), PrivateSelectKBest(1), PublicEncoder()]
ESTIMATORS += [PrivateCorrelation(), PrivatePC(), RandomizedResponse(1)]


def test_no_message_shows_the_type_of_a_numpy_scalar_in_any_parameter():
    draw, messages = random.Random(0), []
    for _ in range(150):
        estimator, value = clone(draw.choice(ESTIMATORS)), draw.choice(OF_NUMPY)
        name, given = draw.choice(list(estimator.get_params())), {"bounds": (0, 120), "classes": [0, 1], "epsilon": 1.0}
        given = {key: given[key] for key in given if key in estimator.get_params()} | {name: value}
        try:
            estimator.set_params(**given).fit(X[["age", "paid"]], Y)
        except (ValueError, TypeError) as error:
            messages.append(f"{type(estimator).__name__}, {name}: {error}")
    assert len(messages) > 70
    assert [message for message in messages if re.search(r"np\.\w+[(_]", message)] == []
