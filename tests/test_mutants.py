"""Every broken line in ``mutants.py`` is seen by the test that is named beside it."""

import multiprocessing
import shutil
from pathlib import Path

import pytest

from tests.mutants import MUTANTS

ROOT = Path(__file__).parents[1]
NOT_THE_COPY = 77  # none of pytest's exit codes
RUN = f"""
import os, sys
from pathlib import Path
os.chdir(folder)
os.environ["PYTHONPATH"] = folder
sys.path[:0] = [folder]
with open("said", "w") as said:
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
for name in [name for name in sys.modules if name.partition(".")[0] in ("skdpmic", "tests", "benchmarks")]:
    del sys.modules[name]  # of the package as it is, which another test may have had imported beforehand
import pytest
import skdpmic
sys.exit(pytest.main(options) if Path(skdpmic.__file__).parents[1] == Path.cwd() else {NOT_THE_COPY})
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


@pytest.fixture(scope="session")
def processes():
    """A source of processes that have imported what the package and its tests need of others: that takes seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numba", "pandas", "polars", "pytest", "scipy.stats", "sklearn.model_selection"])
    return context


def run(processes, folder, tests):
    """How pytest ends in a process of its own, and what it says."""
    options = ["-q", "-x", "-rf", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist"]
    names = {"folder": str(folder), "options": [*options, *(f"tests/{test}" for test in tests)]}
    process = processes.Process(target=exec, args=(RUN, names))
    process.start()
    process.join(timeout=600)
    process.kill()
    process.join()
    return process.exitcode, (folder / "said").read_text()


@pytest.mark.slow
def test_all_named_tests_pass_on_the_package_as_it_is(copied, processes):
    end, said = run(processes, copied, dict.fromkeys(mutant.test for mutant in MUTANTS))
    assert end == ALL_PASSED, said


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.new}")
def test_a_broken_line_is_seen(mutant, copied, processes):
    file = copied / "skdpmic" / mutant.file
    source = file.read_text(encoding="utf-8")
    file.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    end, said = run(processes, copied, [mutant.test])
    assert end == TESTS_FAILED, f"no test sees this mutant, or another error hides it:\n{said}"
    assert f"\nFAILED tests/{mutant.test}" in said, f"another test failed, or none ran:\n{said}"
