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
MATRICES = "PrivateCorrelation PrivatePC"
OWN = {  # parameters that several of them have, and those whose text differs from that of the others
    "B max_weight": [],
    "c correction mechanism": ["DPMICScorer"],  # it may have noisy tables
    "bounds": ["PrivatePC", "RandomizedResponse"],  # not always needed; equal parts
    "categories": ["PrivateCorrelation", "PrivatePC", "RandomizedResponse"],
    "classes target_bounds": ["TwoPartyScorer"],  # not always needed
    "delta": ["PrivateSelectKBest", MATRICES],
    "epsilon ledger": ["PrivateGridSearch", "RandomizedResponse", "TwoPartyScorer"],  # spent on something else
    "k": ["PrivateSelectKBest"],  # its noise grows with it
    "max_rows_per_group": [MATRICES],  # no advice
    "n_jobs random_state verbose": ["PrivateGridSearch"],  # fits and subsets
    "statistic target_shares": ["PrivateSelectKBest", "TwoPartyScorer"],  # other defaults; names have no p-values
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


def test_a_parameter_of_several_estimators_has_one_text_except_where_listed():
    own = {parameter: {*groups} for parameters, groups in OWN.items() for parameter in parameters.split()}
    found = estimators_by_text()
    assert found.keys() == own.keys()
    for parameter, by_text in found.items():
        groups = {" ".join(sorted(names)) for names in by_text.values()}
        assert own[parameter] < groups, parameter
        assert len(groups - own[parameter]) == 1, parameter
