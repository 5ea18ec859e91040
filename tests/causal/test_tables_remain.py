"""What PrivatePC keeps of a table of labels is a function of public numbers and of the release.

``tests/correlation/test_matrix_remains.py`` does the same for tables of numbers.
"""

import pickle
import re

import numpy as np
import pytest

from skdpmic._utils import private_estimator as uncached
from skdpmic.causal import PrivatePC, table_release
from skdpmic.causal import table_release as table_plan

N, LABELS = 60, ["a", "b", "c"]
CATEGORIES = dict.fromkeys(range(4), LABELS)

pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:noise hides all but one part")


def neighbours():
    here = np.random.default_rng(0).choice(np.array(LABELS, dtype=object), size=(N, 4))
    there = here.copy()
    here[7], there[7] = "a", ["c", "other", None, "b"]
    return here, there


def fit_with_released_values(table, monkeypatch):
    """Make the release the same for every table by choosing the noise as the difference."""
    released, exact = np.random.default_rng(3).integers(-5, 60, size=1000), []

    def fixed_release(tables, variance, random_bytes):
        n_before = sum(counts.size for counts in exact)
        exact.append(np.concatenate([counts.ravel() for counts in tables]))
        flat = released[n_before : n_before + exact[-1].size]
        ends = np.cumsum([counts.size for counts in tables])[:-1]
        return [part.reshape(own.shape) for part, own in zip(np.split(flat, ends), tables, strict=True)]

    with monkeypatch.context() as patch:
        patch.setattr(table_release, "with_gaussian_noise", fixed_release)
        return PrivatePC(8.0, 1e-2, categories=CATEGORIES).fit(table), exact


def everything_visible(private):
    seen = {"graph": repr(private.cpdag_), "p": repr(private.p_values_), "one": private.p_value(0, 1, (2, 3))}
    vars(private).pop("_tests")  # functions of the release, which are not pickled
    return seen | {
        "attributes": {name: repr(value) for name, value in vars(private).items()},
        "pickle": pickle.dumps(private),
        "html": re.sub(r"sk-(container-id|estimator-id)-[\w-]+", "", private._repr_html_()),
    }


@pytest.fixture(params=["three stages", "four stages"])
def n_stages(request, monkeypatch):
    """The number of stages: one more if four columns are too many for all tables of three."""
    if request.param == "three stages":
        return 3
    monkeypatch.setattr(table_plan, "_MOST_TRIPLES", 0)
    monkeypatch.setattr(table_plan, "_MAX_FOR_FOURS", 0)
    monkeypatch.setattr(table_release, "triples_asked_for", choice_by_p_value)
    return 4


def choice_by_p_value(n_columns, test, alpha):
    """Two choices of tables, one of which a p-value selects."""
    return [(0, 1, 2), (0, 2, 3)] if round(1e12 * test(0, 1, (2,)).least) % 2 else [(0, 1, 3)]


def test_equal_releases_leave_equal_estimators(n_stages, monkeypatch):
    monkeypatch.setattr(uncached, "fresh_nonce", lambda: b"nonce")
    (here, exact_here), (there, exact_there) = (fit_with_released_values(t, monkeypatch) for t in neighbours())
    assert len(exact_here) == n_stages
    assert [(own != other).any() for own, other in zip(exact_here, exact_there, strict=True)] == [True] * n_stages
    here, there = (pickle.loads(pickle.dumps(private)) for private in (here, there))
    here._raw, there._raw = exact_here, exact_there
    assert pickle.dumps(here) != pickle.dumps(there)  # the comparison detects what is kept
    for private in (here, there):
        del private._raw
    assert everything_visible(here) == everything_visible(there)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_only_the_names_of_a_dataframe_are_kept(library):
    namespace, marked = pytest.importorskip(library), np.random.default_rng(0).random((N, 2))
    marked[0] = 0.123456789
    frames = [namespace.DataFrame({"a": values[:, 0], "b": values[:, 1]}) for values in (marked, marked < 0.5)]
    for private in map(PrivatePC().fit, frames):
        assert private._names.shape == (1, 2)
        assert not np.asarray(private._names).any()
        assert list(private._names.columns) == ["a", "b"]
