"""Whatever a public object shows that is named like an interval, a p-value or a chance is a row of the table."""

import inspect
import re

from tests.intervals.table import rows
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
