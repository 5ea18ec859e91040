"""Every broken line in ``mutants.py`` is seen by the test that is named beside it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import MUTANTS

ROOT = Path(__file__).parents[1]
NOT_THE_COPY = 77  # none of pytest's exit codes
RUN = f"""
import sys
from pathlib import Path
import pytest
import skdpmic
sys.exit(pytest.main(sys.argv[1:]) if Path(skdpmic.__file__).parents[1] == Path.cwd() else {NOT_THE_COPY})
"""
ALL_PASSED, TESTS_FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED


def test_every_line_to_be_broken_is_there_once():
    for mutant in MUTANTS:
        source = (ROOT / "skdpmic" / mutant.file).read_text(encoding="utf-8")
        assert source.count(mutant.old) == 1, (
            f"{mutant.old!r} must occur once in {mutant.file}: mend the list of mutants"
        )


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, with its compiled kernels, and of the tests and what they import."""
    for name in ("skdpmic", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name)  # the time of each file, by which numba knows its kernels, too
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return tmp_path.resolve()


def run(folder, tests):
    options = ["-q", "-x", "-rf", "--tb=short", "-p", "no:cacheprovider"]
    command = [sys.executable, "-c", RUN, *options, *(f"tests/{test}" for test in tests)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_all_named_tests_pass_on_the_package_as_it_is(copied):
    done = run(copied, dict.fromkeys(mutant.test for mutant in MUTANTS))
    assert done.returncode == ALL_PASSED, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.new}")
def test_a_broken_line_is_seen(mutant, copied):
    file = copied / "skdpmic" / mutant.file
    source = file.read_text(encoding="utf-8")
    file.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    done = run(copied, [mutant.test])
    said = done.stdout + done.stderr
    assert done.returncode == TESTS_FAILED, f"no test sees this mutant, or another error hides it:\n{said}"
    assert f"\nFAILED tests/{mutant.test}" in said, f"another test failed, or none ran:\n{said}"
