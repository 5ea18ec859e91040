"""Parameters that several estimators share have the same text in all their docstrings.

The text is written out in each of them, as in scikit-learn. A decorator could fill it in from one place, but editors
read docstrings without running the package, so users would see placeholders.
"""

import inspect
import re
from collections import defaultdict

from skdpmic import DPMICScorer, DPMICSelector, PrivateGridSearch, PrivateSelectKBest
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

ESTIMATORS = (
    DPMICScorer,
    DPMICSelector,
    PrivateCorrelation,
    PrivateGridSearch,
    PrivatePC,
    PrivateSelectKBest,
    RandomizedResponse,
    TwoPartyScorer,
)
N_TEXTS = {  # parameters that several of them have, by the number of different texts: most differ in what they are for
    1: "B max_weight",
    2: "c classes correction k max_rows_per_group mechanism n_jobs random_state target_bounds verbose",
    3: "bounds delta statistic target_shares",
    4: "categories epsilon ledger",
}


def texts(estimator):
    """The text of each parameter in a docstring, with its type and default, on one line."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\w+\n--", inspect.getdoc(estimator), re.DOTALL).group(1)
    entries = re.findall(r"^(\w[\w, ]*) : (.*(?:\n +.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


def estimators_by_text():
    """The names of estimators by text, for each parameter of at least two."""
    found = defaultdict(lambda: defaultdict(set))
    for estimator in ESTIMATORS:
        for parameter, text in texts(estimator).items():
            found[parameter][text].add(estimator.__name__)
    return {parameter: by_text for parameter, by_text in found.items() if sum(map(len, by_text.values())) > 1}


def test_a_parameter_of_several_estimators_has_as_few_texts_as_listed():
    by_number = defaultdict(list)
    for parameter, by_text in sorted(estimators_by_text().items()):
        by_number[len(by_text)].append(parameter)
    assert {number: " ".join(names) for number, names in by_number.items()} == N_TEXTS
