"""`verbose` prints progress: public numbers and elapsed time; by default nothing."""

import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skdpmic import DPMICScorer, DPMICSelector, PrivateAdditiveRegressor, PrivateGridSearch
from skdpmic.correlation import PrivateCorrelation
from tests.select_names import SelectNames
from tests.tables import refused

N, D = 60, 30
X = np.random.default_rng(0).random((N, D))
Y = X[:, 0]
LONG = np.random.default_rng(0).random((1600, D))  # shared by several workers
PUBLIC = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 1)}
JOINT = {"k": 3, "criterion": "joint"}
PAIRS = D * (D + 1) // 2
PAIRS_OF_TWO = D * (D - 1) // 2
MODEL = {"bounds": (0, 1), "target_bounds": (0, 1), "epsilon": np.inf}  # from the tables of pairs


def fit(estimator):
    return estimator.fit(X, Y)


def fit_long(estimator):
    return estimator.fit(LONG, LONG[:, 0])


FITS = {
    "scorer": (DPMICScorer(**PUBLIC), fit, ["{}/30 columns"]),
    "selector": (DPMICSelector(**PUBLIC), fit, ["{}/30 columns"]),
    "joint": (
        SelectNames(**PUBLIC | JOINT),
        fit,
        ["{}/30 columns", "pass 2: {}/30 columns", "pass 3: {}/29 columns"],
    ),
    "noisy tables": (
        DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), mechanism="geometric"),
        fit,
        ["{}/30 columns", "pass 2: {}/30 noisy tables"],
    ),
    "correlation": (PrivateCorrelation(), fit, ["{}/30 columns", f"pass 2: {{}}/{PAIRS} pairs of columns"]),
    "model": (
        PrivateAdditiveRegressor(**MODEL),
        fit,
        ["{}/30 columns", f"pass 2: {{}}/{PAIRS_OF_TWO} tables of 2 columns"],
    ),
    "workers": (DPMICScorer(**PUBLIC, n_jobs=2), fit_long, ["{}/30 columns"]),
}


def passes(printed, name):
    """The distinct lines with {} for the number done, and these numbers for each line."""
    found = {}
    for line in printed.splitlines():
        done, text = re.fullmatch(rf"\[{name}\] (?:pass \d+: )?(\d+)/.*, \d+\.\d s", line), line
        assert done, line
        text = re.sub(r", \d+\.\d s$", "", line).removeprefix(f"[{name}] ")
        found.setdefault(re.sub(r"\d+/", "{}/", text, count=1), []).append(int(done[1]))
    return found


@pytest.mark.few
@pytest.mark.parametrize("name", FITS)
def test_lines_show_the_number_done_and_the_total(name, capsys):
    estimator, run, expected = FITS[name]
    run(estimator.set_params(verbose=1))
    found = passes(capsys.readouterr().out, type(estimator).__name__)
    assert list(found) == expected
    for text, done in found.items():
        total = int(re.search(r"\{\}/(\d+)", text)[1])
        assert done == sorted(set(done))
        assert done[-1] == total
        assert 3 <= len(done) <= 10
    run(estimator.set_params(verbose=2))
    more = passes(capsys.readouterr().out, type(estimator).__name__)
    assert list(more) == expected
    assert all(set(more[text]) >= set(found[text]) for text in expected)
    if name == "scorer":
        assert more[expected[0]] == list(range(1, D + 1))


@pytest.mark.few
@pytest.mark.parametrize("name", FITS)
def test_lines_do_not_depend_on_the_data(name, capsys, monkeypatch):
    monkeypatch.setattr("skdpmic._utils.texts.time.monotonic", lambda: 0.0)
    estimator, _, _ = FITS[name]
    lines = []
    for values in (X, X**3 > 0.5, np.zeros_like(X)):
        estimator.set_params(verbose=2).fit(values.astype(float), values[:, 1].astype(float))
        lines.append(capsys.readouterr().out)
    assert lines[0] == lines[1] == lines[2] != ""


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_a_search_counts_its_fits(n_jobs, capsys):
    search = PrivateGridSearch(Ridge(), {"alpha": [0.1, 1, 10]}, n_subsets=5, verbose=2, n_jobs=n_jobs)
    search.fit(X, Y)
    assert passes(capsys.readouterr().out, "PrivateGridSearch") == {"{}/15 fits": list(range(1, 16))}
    search.set_params(verbose=1).fit(X, Y)
    assert len(passes(capsys.readouterr().out, "PrivateGridSearch")["{}/15 fits"]) == 10
    search.set_params(verbose=0).fit(X, Y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [-1, 0.5, "1", None])
def test_other_values_of_verbose_are_refused_before_the_charge(verbose, ledger):
    with refused(ValueError, f"verbose must be an int >= 0, got {verbose!r}", ledger):
        DPMICScorer(**PUBLIC, ledger=ledger, verbose=verbose).fit(X, Y)
