"""A plan for a private summary states its error and its cost, and costs nothing."""

import math

import numpy as np
import pandas
import pytest

from skdpmic import Codebook, plan_release, private_summary
from tests.folding import each


def plan(**given):
    return plan_release(release="summary", **given)


@each("n, d, epsilon, delta", [(400, 1, 1.0, 0.0), (900, 10, 0.3, 0.0), (500, 50, 1.0, 1e-6)])
def test_a_summary_has_the_stated_error_and_cost(n, d, epsilon, delta):
    frame = pandas.DataFrame(np.random.default_rng(0).random((n, d)), columns=[f"x{j}" for j in range(d)])
    summary = private_summary(frame, Codebook({"x*": (0, 1)}), epsilon=epsilon, delta=delta)
    row = plan(n_samples=n, n_features=d, epsilon=epsilon, delta=delta)[0]
    margin = summary.columns[0].flag_margin
    assert margin <= row.error <= 1.01 * margin
    assert (row.mechanism, (row.epsilon, row.delta)) == (summary.entry.mechanism, summary.privacy_spent)


@each("given", [{"n_samples": 2000}, {"epsilon": 0.5}])
def test_a_planned_answer_suffices_and_is_hardly_more_than_needed(given):
    row = plan(n_features=8, error=0.05, **given)[0]
    stated = plan(n_features=8, n_samples=row.n_samples, epsilon=row.epsilon)[0].error
    assert stated <= 0.05 < 1.02 * stated
    assert row.release == "summary"


def test_many_columns_need_less_epsilon_with_a_delta():
    rows = plan(n_samples=10_000, n_features=200, error=0.05, delta=1e-6)
    assert [row.mechanism for row in rows] == ["gaussian", "k-norm"]
    assert rows[0].epsilon < rows[1].epsilon / 2


def test_people_with_several_rows_are_planned_for_as_people():
    one, three = (plan(n_samples=5000, n_features=4, epsilon=0.2, max_rows_per_group=m)[0] for m in (1, 3))
    assert three.error == pytest.approx(one.error, rel=0.02)
    assert three.n_samples == 5000


@each(
    "given, message",
    [
        ({"k": 3}, "k must be None with release='summary'"),
        ({"n_classes": 2}, "n_classes must be None with release='summary'"),
        ({"mean_weight": 0.5}, "mean_weight must be None with release='summary'"),
        ({"release": "names"}, "release must be 'features' or 'summary', got 'names'"),
        ({"epsilon": math.inf}, "epsilon must be finite"),
    ],
)
def test_arguments_that_do_not_apply_to_a_summary_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        plan_release(**{"n_samples": 100, "n_features": 5, "epsilon": 1, "release": "summary"} | given)
