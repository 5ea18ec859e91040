"""There is only one way to spend budget: check, charge, draw."""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import skdpmic
from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.release.path import run

ROOT = Path(skdpmic.__file__).parent


@cache
def sources():
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_bytes()) for file in ROOT.rglob("*.py")}


def places(is_wanted):
    """The number of wanted nodes in each file that has any."""
    counts = {file: sum(map(is_wanted, ast.walk(tree))) for file, tree in sources().items()}
    return {file: count for file, count in counts.items() if count}


def called_name(node):
    """The name of the function or method that a call is to, or None."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


COMMAND_LINE_LEDGER = "command_line/outputs.py"


def test_one_place_charges_a_ledger():
    """Another place charges for mechanisms of other libraries; nothing in the package calls it.

    The ledger of the command line passes a charge on, and records that it was made.
    """
    expected = {"release/path.py": 1, "budget/ledger.py": 1, COMMAND_LINE_LEDGER: 1}
    assert places(lambda node: called_name(node) == "charge_entry") == expected
    assert places(lambda node: called_name(node) == "charge") == {"budget/ledger.py": 1}
    # Nor is the method passed on to be called elsewhere, or the file written to behind its back.
    handed_on = places(lambda node: isinstance(node, ast.Attribute) and node.attr in ("charge", "charge_entry"))
    assert handed_on == expected | {"budget/ledger.py": 2}
    assert places(lambda node: isinstance(node, ast.Attribute) and node.attr == "spend") == {}
    assert places(
        lambda node: called_name(node) == "append" and ast.unparse(node.func) in ("file.append", "book.append")
    ) == {"budget/ledger.py": 1}


def test_one_place_makes_a_source_of_noise():
    """Elsewhere, random_state is only checked: the source made there is dropped at once."""
    makes = places(lambda node: called_name(node) == "entropy_source")
    drops = places(lambda node: isinstance(node, ast.Expr) and called_name(node.value) == "entropy_source")
    assert makes == drops | {"release/path.py": drops["release/path.py"] + 1}


def test_every_run_states_its_cost():
    """Each call has the entry of a plan that is ready, or the one that is made in the same file."""

    def runs(of):
        return places(lambda node: called_name(node) == "run" and ast.unparse(node.args[0]) == of)

    made = runs("entry")
    assert set(made) == {
        "models/evaluation.py",
        "release/bounds.py",
        "release/summary.py",
        "search/grid_search.py",
        "selection/private_score.py",
        "two_party/randomized_response.py",
    }
    entries = places(lambda node: called_name(node) in ("LedgerEntry", "entry_for"))
    assert made == {name: entries.get(name) for name in made}
    ready = runs("ready.entry")
    assert set(ready) == {
        "causal/private_pc.py",
        "correlation/private_correlation.py",
        "models/additive.py",
        "selection/scoring.py",
        "two_party/two_party_scorer.py",
    }
    assert places(lambda node: called_name(node) == "run") == made | ready


ENTRY = LedgerEntry("a function", 0.5, n=10, d=3, k=2, statistic="s", release="names", mechanism="m")


def test_a_release_is_charged_before_it_is_drawn(tmp_path):
    ledger, events = BudgetLedger(tmp_path / "ledger", epsilon=0.6), []

    def draw(source):
        events.append(("drawn", len(ledger.entries()), len(source(3))))
        return "released"

    assert run(ENTRY, draw, ledger=ledger, random_state=None) == "released"
    assert events == [("drawn", 1, 3)]
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.n, entry.k, str(entry)) == (0.5, 10, 2, "a function, s, names of 2 of 3, m")
    with pytest.raises(BudgetError):
        run(ENTRY, draw, ledger=ledger, random_state=None)
    assert len(events) == 1
    assert run(ENTRY, lambda source: 7, ledger=None, random_state=None) == 7


@pytest.mark.parametrize("wrong", [{"ledger": "a file"}, {"random_state": -1}, {"random_state": "seed"}])
def test_invalid_arguments_are_refused_before_the_charge(wrong, ledger):
    with pytest.raises((ValueError, TypeError)):
        run(ENTRY, None, **{"ledger": ledger, "random_state": None} | wrong)
    assert ledger.entries() == []


def test_a_seed_warns_where_it_was_given_and_before_the_charge(tmp_path):
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as caught:
        run(ENTRY, lambda source: None, ledger=None, random_state=np.random.RandomState(0))
    assert caught[0].filename == __file__
    with pytest.warns(PrivacyLeakWarning), pytest.raises(BudgetError):
        run(ENTRY, None, ledger=BudgetLedger(tmp_path / "ledger", 0.1), random_state=0)
