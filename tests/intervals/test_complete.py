"""Whatever a public object shows that is named like an interval, a p-value or a chance is a row of the table."""

import ast
import inspect
import re

from tests.intervals.table import Table
from tests.processes import PACKAGE
from tests.public import NAMES

TABLE = {re.match(r"[\w.]+", row.name)[0] for row in Table.read().rows}
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
COLUMNS = {  # modules that name columns of frames or tables with limits, and the rows for them
    "_utils/private_estimator.py": "DPMICScorer.scores_interval",
    "_utils/summaries.py": "DPMICScorer.scores_interval",
    "command_line/commands.py": "PrivateSummary.to_frame",
    "models/additive.py": "PrivateAdditiveRegressor.effects_to_frame",
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


def row_of(name):
    name = SAME.get(name, name)
    of, _, attribute = name.partition(".")
    return f"{SAME.get(of, of)}.{attribute}"


def test_every_public_name_like_that_of_an_interval_has_a_row():
    names = set(named_like_intervals())
    assert len(names) > 15
    assert not {name for name in map(row_of, names) if name not in TABLE | EXACT | ELSEWHERE}


def test_every_column_of_limits_has_a_row():
    columns = {"lower", "upper", "p_value", "among_best"}
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text if any(f'"{name}"' in text for name in columns) else "")
        if any(isinstance(node, ast.Constant) and node.value in columns for node in ast.walk(tree)):
            found.add(path.relative_to(PACKAGE).as_posix())
    assert found == COLUMNS.keys()
    assert {row_of(name) for name in COLUMNS.values()} <= TABLE | ELSEWHERE
