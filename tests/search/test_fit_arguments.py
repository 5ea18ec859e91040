"""Which arguments of `fit` reach which private step is told before the first charge, exactly as the fit would find."""

import random
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline

from skdpmic import BudgetLedger, PrivateAdditiveRegressor, PrivateGridSearch, PrivateSelectKBest, search_cost
from skdpmic.search.cost_of_fits import check_fit_arguments, fit_arguments

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
N = 40
X = np.random.default_rng(0).random((N, 6))
Y = X[:, 0]
VALUES = {"groups": np.arange(N) // 2, "sample_weight": np.ones(N)}


def drawn_selector(draw, k, is_routed):
    selector = PrivateSelectKBest(k, criterion="single", **PUBLIC)
    selector.set_params(max_weight=draw.choice([None, 1.0]), max_rows_per_group=draw.choice([None, None, 2]))
    if not is_routed:
        return selector
    weight = draw.choice([True, True, False, None, "own_weight"])
    return selector.set_fit_request(sample_weight=weight, groups=draw.choice([True, True, False]))


def drawn_pipeline(draw, is_routed):
    """A pipeline, and some of the arguments that its steps may take."""
    inner = drawn_selector(draw, 2, is_routed)
    later, path = draw.choice([
        (inner, "b"),
        (Pipeline([("in", inner)]), "b__in"),
        (FeatureUnion([("in", inner)]), "b"),
        (ColumnTransformer([("in", inner, [0, 1, 2])]), "b"),
    ])  # fmt: skip
    steps = [("a", drawn_selector(draw, 4, is_routed)), ("b", later), ("m", Ridge())]
    if is_routed:
        names = ["groups", "sample_weight", "own_weight"]
    else:
        names = [f"{step}__{name}" for step in ("a", path) for name in VALUES] + ["sample_weight", "c__groups"]
    passed = [*fit_arguments(Pipeline(steps)), *draw.sample(names, draw.choice([0, 0, 1, 2]))]
    passed = passed[draw.choice([0, 0, 0, 1]) :]
    return Pipeline(steps), {name: VALUES.get(name.rpartition("__")[2], VALUES["sample_weight"]) for name in passed}


def fails(function, *arguments, **parameters):
    try:
        function(*arguments, **parameters)
    except (TypeError, ValueError, KeyError):
        return True
    return False


@pytest.mark.parametrize("is_routed", [False, True])
def test_arguments_are_refused_beforehand_if_and_only_if_a_fit_would_fail(is_routed):
    draw, refused = random.Random(0), []
    with config_context(enable_metadata_routing=is_routed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(40):
            pipeline, params = drawn_pipeline(draw, is_routed)
            refused.append(fails(check_fit_arguments, [pipeline], params, N))
            assert refused[-1] == fails(pipeline.fit, X, Y, **params), (pipeline, list(params))
    assert 5 < sum(refused) < 35


def test_a_private_search_of_two_weighted_steps_is_not_charged_if_one_gets_no_weights(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger", epsilon=9)
    steps = [(name, PrivateSelectKBest(k, max_weight=1.0, ledger=ledger, **PUBLIC)) for name, k in (("a", 4), ("b", 2))]
    search = PrivateGridSearch(Pipeline([*steps, ("m", Ridge())]), {"b__k": [1, 2]}, n_subsets=2, ledger=ledger)
    with pytest.raises(ValueError, match=r"sample_weight must .* Here, it is the argument b__sample_weight of fit"):
        search.fit(X, Y, a__sample_weight=VALUES["sample_weight"])
    with pytest.raises(ValueError, match="fit got an argument m__groups that no step takes"):
        search.fit(X, Y, **dict.fromkeys(["a__sample_weight", "b__sample_weight", "m__groups"], np.ones(N)))
    assert ledger.spent() == (0, 0)
    columns = ColumnTransformer([("in", PrivateSelectKBest(2, **PUBLIC), [0, 1, 2])])
    with pytest.raises(ValueError, match="fit got an argument b__any that no step takes"):
        check_fit_arguments([Pipeline([("b", columns)])], {"b__any": 1}, N)


def test_a_price_names_what_a_pipeline_must_be_passed():
    selector = PrivateSelectKBest(2, max_weight=1.0, max_rows_per_group=2, **PUBLIC)
    pipeline = Pipeline([("select", selector), ("model", PrivateAdditiveRegressor(max_rows_per_group=2, **PUBLIC))])
    cost = search_cost(pipeline)
    assert cost.fit_arguments == ("select__groups", "select__sample_weight", "model__groups")
    assert "fit_arguments=('select__groups'," in " ".join(repr(cost).split())
    assert "Pass to fit" in cost._repr_html_()
    with config_context(enable_metadata_routing=True):
        assert fit_arguments(pipeline) == ("groups", "sample_weight")
    assert search_cost(selector.set_params(max_weight=None)).fit_arguments == ("groups",)
