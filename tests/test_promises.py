"""Each sentence of the reference and of the threat model that promises a refusal or a limit has a test that holds it.

A sentence that is added without one, and a test that is renamed or removed while its sentence stays, fail here.
"""

# ruff: noqa: E501  (names of tests)
import ast
import re
from pathlib import Path

import pytest

from skdpmic.command_line import main as options

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
    ROOT / "docs/theory/threat_model.md",
    ROOT / "SECURITY.md",
]
PROMISE = re.compile(
    r"\brefus|\bnever\b|\bat most\b|\bfails\b|\berror\b|\bbefore (it is|anything|the (charge|budget))|\brenamed\b"
    r"|\bnothing was (?!charged)|\bno option\b|\bmust (not )?be\b|\bquotes? no\b|\bregular\b"
)
ADVICE = ""  # what readers or developers do, not the package
CODEBOOK, FILE, OTHERS = (
    "codebook/test_codebook.py",
    "codebook/test_codebook_file.py",
    "codebook/test_toml_of_others.py",
)
COMMANDS, OUTPUTS, FILES = "command_line/test_main.py", "command_line/test_outputs.py", "_utils/test_user_files.py"
NOT_USED = f"{CODEBOOK}::test_a_column_that_must_not_be_used_is_refused_by_name_and_otherwise_skipped"
KEEPS_TO_LIMITS = "test_a_codebook_compares_names_with_a_limited_number_of_patterns_and_people_with_few_columns"
PROMISES = {  # by a part of the sentence
    "never the values that are there": ADVICE,
    "of more than 4 MiB, 16 brackets": f"{OTHERS}::test_what_is_nested_too_deeply_is_refused_before_it_is_parsed",
    "the column or columns, at most 16": f"test_files_from_others.py::{KEEPS_TO_LIMITS}",
    "and are never features": f"{CODEBOOK}::test_one_column_identifies_the_person_behind_each_row_and_one_row_counts_by_default",
    "| `identifier` | | never used": NOT_USED,
    "| `text` | | never used": NOT_USED,
    "If a section has no column": f"{CODEBOOK}::test_a_described_column_that_a_frame_lacks_is_named",
    "at most 1,000 patterns": f"test_files_from_others.py::{KEEPS_TO_LIMITS}",
    "Reading fails on anything": f"{FILE}::test_every_mistake_is_reported_with_its_column_and_line",
    "The error names the line": f"{FILE}::test_wrong_columns_are_listed_up_to_twenty",
    "which earlier releases refuse": f"{FILE}::test_a_later_version_is_refused_whatever_it_contains",
    "never overwrites a file": f"{COMMANDS}::test_invalid_input_is_explained_and_costs_nothing",
    "refuses if it does not fit": f"{COMMANDS}::test_a_ledger_refuses_a_cost_that_does_not_fit",
    "There is no option for a seed": "test_promises.py::test_no_command_takes_a_seed",
    "are never read, unless": "command_line/test_csv_file.py::test_only_columns_with_an_entry_are_read",
    "Any other value that cannot be read": f"{COMMANDS}::test_one_wrong_value_is_an_error_that_names_the_column_and_costs_nothing",
    "at most 4 MiB of them": "test_files_from_others.py::test_no_more_of_the_first_line_is_read_than_names_may_take",
    "a message on stderr explains": f"{COMMANDS}::test_invalid_input_is_explained_and_costs_nothing",
    "refused by the ledger": f"{COMMANDS}::test_the_exit_status_matches_the_help",
    "With 1 to 4, nothing was spent": f"{OUTPUTS}::test_a_paid_result_is_shown_or_written_and_an_unpaid_one_leaves_nothing",
    "*Whether* a table is refused": ADVICE,
    "Every file is found to be writable": f"{OUTPUTS}::test_a_file_that_cannot_be_written_is_detected_before_the_charge",
    "none of the files that the command reads": f"{OUTPUTS}::test_a_file_that_cannot_be_written_is_detected_before_the_charge",
    "beside its place and then renamed": f"{FILES}::test_concurrent_readers_see_the_old_content_or_the_new",
    "must be regular files": f"{FILES}::test_anything_but_a_regular_file_is_refused_wherever_a_file_is_read",
    "keys are only added": "cards/test_release_card.py::test_no_key_of_version_2_is_renamed_or_removed",
    "refuse other versions": ADVICE,
    "by a factor of at most": "privacy/test_audit_exact.py::"
    "test_no_release_of_scores_is_more_than_exp_epsilon_times_as_likely_for_a_neighbour",
    "raises an error before the budget": "table/test_mixed_tables.py::"
    "test_labels_of_another_type_are_refused_by_name_before_the_charge",
    "The type of an undeclared value": "table/test_records_are_independent.py::test_no_record_of_a_table_changes_another",
    "refuses what it sees repeated": "search/test_cost_of_searches.py",
    "searches, costs and evaluations refuse": "_utils/test_numbered_labels.py::"
    "test_a_private_estimator_inside_is_refused_by_search_cost_evaluation_and_card",
    "they quote no value, but": "selection/test_bad_input.py",
    "which the estimators refuse": "_utils/test_readable.py::test_masked_tables_are_refused",
    "refuse a step with `fit_resample`": "search/test_earlier_steps.py::"
    "test_a_private_search_refuses_to_refit_on_copied_rows_before_anything_is_charged",
    "read a value from an error message": "_utils/test_canary.py",
    "an error message that quotes a record": "_utils/test_canary.py",
    "never send real records": ADVICE,
    "publish the correction with a test": ADVICE,
}


def sentences():
    """The sentences of the pages, without blocks of code."""
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for line in text.splitlines():
            yield from re.split(r"(?<=[.;])\s+(?=[A-Z*`\[])", line)


def test_every_sentence_that_promises_a_refusal_or_a_limit_has_a_test():
    promises = [sentence for sentence in sentences() if PROMISE.search(re.sub(r"`[^`]*`|\"[^\"]*\"", "", sentence))]
    assert [sentence for sentence in promises if not any(part in sentence for part in PROMISES)] == []


@pytest.mark.parametrize("part", PROMISES)
def test_the_sentence_and_its_test_exist(part):
    assert any(part in sentence for sentence in sentences())
    file, _, name = PROMISES[part].partition("::")
    if file:
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert name in found or (not name and found)


def test_no_command_takes_a_seed():
    made = []

    class Noted(options._Parser):
        def add_argument(self, *names, **details):
            made.extend(names)
            return super().add_argument(*names, **details)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(options, "_Parser", Noted)
        with pytest.raises(SystemExit):
            options.parse_options(["--version"])
    assert "--epsilon" in made
    assert not [name for name in made if re.search("seed|random|state", name)]
