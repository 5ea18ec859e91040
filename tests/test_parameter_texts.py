"""Parameters that several estimators share have the same text in all their docstrings.

The text is written out in each of them, as in scikit-learn. A decorator could fill it in from one place, but editors
read docstrings without running the package, so users would see placeholders.
"""

import inspect
import re
from collections import defaultdict

import pytest

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
# Estimators whose text differs from that of all others: one, or several with the same text.
OWN_TEXTS = {
    "B": [],
    "bounds": ["PrivatePC", "RandomizedResponse"],  # not always needed; equal parts, never from the data
    "c": ["DPMICScorer"],  # it may have noisy tables
    "categories": ["DPMICScorer DPMICSelector PrivateSelectKBest", "PrivatePC", "RandomizedResponse"],
    "classes": ["TwoPartyScorer"],  # never from the data
    "correction": ["DPMICScorer"],  # the same
    "delta": ["DPMICScorer DPMICSelector", "PrivateSelectKBest"],  # they need none
    "epsilon": ["PrivateGridSearch", "RandomizedResponse", "TwoPartyScorer"],  # the budget is for something else
    "k": ["PrivateSelectKBest"],  # its noise grows with it
    "ledger": ["PrivateGridSearch", "RandomizedResponse", "TwoPartyScorer"],
    "max_rows_per_group": ["DPMICScorer DPMICSelector PrivateSelectKBest"],  # say what is best
    "max_weight": [],
    "mechanism": ["DPMICSelector"],  # it has no noisy tables
    "n_jobs": ["PrivateGridSearch"],  # fits
    "random_state": ["PrivateGridSearch"],  # subsets too
    "statistic": ["PrivateSelectKBest", "TwoPartyScorer"],  # other defaults
    "target_bounds": ["TwoPartyScorer"],  # not always needed
    "target_shares": ["PrivateSelectKBest", "TwoPartyScorer"],  # names have no p-values; never learnt
    "verbose": ["PrivateGridSearch"],  # counts fits
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


BY_TEXT = estimators_by_text()


def test_every_shared_parameter_is_compared():
    assert sorted(BY_TEXT) == sorted(OWN_TEXTS)


@pytest.mark.parametrize("parameter", OWN_TEXTS)
def test_a_shared_parameter_has_one_text_except_where_listed(parameter):
    groups = list(BY_TEXT[parameter].values())
    own = [set(names.split()) for names in OWN_TEXTS[parameter]]
    assert all(names in groups for names in own), groups
    assert len([names for names in groups if names not in own]) == 1, BY_TEXT[parameter]
