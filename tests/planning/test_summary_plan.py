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
