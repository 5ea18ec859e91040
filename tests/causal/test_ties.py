"""Warnings about columns with many ties: by type before the charge, by released shares after it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpmic import BudgetError, BudgetLedger
from skdpmic.causal import PrivatePC

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic._utils.texts.PrivacyLeakWarning")

N = 2000


def chain(n=N, seed=0):
    """x -> z -> y, without ties."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    z = x + rng.normal(size=n)
    return pd.DataFrame({"x": x, "z": z, "y": z + rng.normal(size=n)})


def cut(column, n_parts):
    return np.digitize(column, np.linspace(-3, 3, n_parts + 1)[1:-1])


def private(**parameters):
    return PrivatePC(**{"epsilon": 20, "delta": 1e-6, "random_state": 0} | parameters)


def warned(table, estimator=None):
    """The warnings about ties that a fit issues."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (estimator or private()).fit(table)
    assert all(warning.filename == __file__ for warning in caught)
    return [
        str(warning.message)
        for warning in caught
        if "values" in str(warning.message) and "repeat" in str(warning.message)
    ]


TABLES = {
    "array of integers": lambda t: (100 * t).to_numpy().astype(np.int32),
    "pandas": lambda t: t.assign(z=(t["z"] > 0).astype(int)),
    "pandas, categories": lambda t: t.assign(z=pd.Categorical(cut(t["z"], 10))),
    "polars": lambda t: pl.DataFrame({name: t[name].to_numpy() for name in t}).with_columns(
        pl.col("z").round().cast(int)
    ),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_column_whose_type_repeats_values_is_named_in_a_warning(make):
    table = make(chain())
    (message,) = warned(table)
    assert (r"['z']" if hasattr(table, "columns") else "[0, 1, 2]") in message
    assert "integer or categorical" in message
    assert "categories" in message


def test_the_warning_about_types_comes_before_the_charge(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=100, delta=1e-3)
    estimator = private(ledger=ledger)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the types of")
        with pytest.raises(UserWarning, match="the types of"):
            estimator.fit(TABLES["pandas"](chain()))
    assert ledger.spent() == (0.0, 0.0)
    assert not hasattr(estimator, "untied_fraction_")
    full = BudgetLedger(tmp_path / "full.db", epsilon=1e-3, delta=1e-3)
    with pytest.warns(UserWarning, match="the types of"), pytest.raises(BudgetError):
        private(ledger=full).fit(TABLES["pandas"](chain()))


def test_released_shares_that_show_ties_cause_a_warning_after_the_charge_and_the_release_is_kept(tmp_path):
    table = chain()
    table["z"] = cut(table["z"], 10).astype(float)
    (message,) = warned(table)
    assert message.startswith("untied_fraction_ of ['z'] is below 0.99")
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=100, delta=1e-3)
    estimator = private(ledger=ledger)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="untied_fraction_")
        with pytest.raises(UserWarning, match="untied_fraction_"):
            estimator.fit(table)
    assert ledger.spent()[0] > 0
    assert estimator.untied_fraction_[1] < 0.95
    assert estimator.cpdag_.shape == (3, 3)


def test_warnings_after_the_charge_follow_from_the_release_alone(monkeypatch):
    """Tables with and without ties give the same warning if the released shares are the same."""
    from skdpmic.correlation.private_correlation import KendallRelease

    def draw(*arguments):
        released = original(*arguments)
        return released | {"untied_fraction_": np.array([1.0, 0.5, 1.0])}

    original = KendallRelease.draw
    monkeypatch.setattr(KendallRelease, "draw", draw)
    tied = chain().assign(x=np.zeros(N))
    assert warned(chain()) == warned(tied) != []
