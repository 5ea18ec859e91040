"""Whatever a public object shows that is named like an interval, a p-value or a chance is a row of the table."""

import ast
import inspect
import re

from tests.intervals.table import rows
from tests.processes import PACKAGE
from tests.public import NAMES

TABLE = {re.match(r"[\w.]+", name)[0] for name in rows()}
WORDS = re.compile("interval|half_width|p_value|among_best|gap|chance|margin|^lower|^upper|confidence")
SAME = {  # as another name
    "DPMICSelector": "DPMICScorer",
    "PrivateSelectKBest": "DPMICScorer",
    "ScoresDisplay.intervals": "DPMICScorer.scores_interval",
    "ScoresDisplay.intervals_": "DPMICScorer.scores_interval",
    "ScoresDisplay.noise_margin": "DPMICScorer.scores_interval",
    "SummaryDisplay.intervals_": "PrivateSummary.to_frame",
    "GapsDisplay.gaps": "DPMICScorer.gaps_",
    "GraphDisplay.p_values": "PrivatePC.p_values_",
    "EvaluationDisplay.lower": "PrivateEvaluation.figures",
    "EvaluationDisplay.upper": "PrivateEvaluation.figures",
    "EffectsDisplay.margins": "PrivateAdditiveRegressor.effects_to_frame",
}
EXACT = {"DPMICScorer.gaps_", "DPMICScorer.chance_scores_"}  # noisy or public numbers that state no probability
ELSEWHERE = {
    "TwoPartyScorer.scores_interval",  # also for the sampling of people: two_party/test_intervals.py
    "PrivateAdditiveRegressor.effects_to_frame",  # their mean is over many fits: test_effects.py
    "PrivatePC.p_value",  # of tests that one fit chooses: causal/
    "PrivatePC.p_values_",
}
COLUMNS = {  # modules that name columns of limits in frames or tables, and the rows for them
    "_utils/private_estimator.py": "DPMICScorer.scores_interval",
    "_utils/summaries.py": "DPMICScorer.scores_interval",
    "command_line/results.py": "PrivateSummary.to_frame",
    "models/additive.py": "PrivateAdditiveRegressor.effects_to_frame",
    "plotting/models.py": "PrivateEvaluation.figures",
    "release/summary.py": "PrivateSummary.to_frame",
    "selection/selectors.py": "to_frame.among_best",
}


def named_like_intervals():
    """The public attributes, methods and fields whose name or description says that they are one."""
    for name, of in NAMES.items():
        if inspect.isclass(of):
            found = re.search(r"Attributes\n-+\n(.*?)(\n[A-Z][\w ]+\n-+\n|\Z)", inspect.getdoc(of) or "", re.S)
            attributes = re.findall(r"^(\w+)", found.group(1), re.M) if found else []
            for attribute in {*dir(of), *attributes, *getattr(of, "_fields", ())}:
                if not attribute.startswith("_") and WORDS.search(attribute) and attribute != "confidence":
                    yield f"{name.rpartition('.')[2]}.{attribute}"


def test_every_public_name_like_that_of_an_interval_has_a_row():
    names = set(named_like_intervals())
    assert len(names) > 15
    of_first = {SAME.get(name, name).partition(".") for name in names}
    assert {f"{SAME.get(of, of)}.{attribute}" for of, _, attribute in of_first} <= TABLE | EXACT | ELSEWHERE


def test_every_column_of_limits_has_a_row():
    found, limits = set(), {"lower", "upper", "p_value", "among_best"}
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(isinstance(node, ast.Constant) and node.value in limits for node in nodes):
            found.add(path.relative_to(PACKAGE).as_posix())
    assert found == COLUMNS.keys()
    assert set(COLUMNS.values()) <= TABLE | ELSEWHERE
