"""Every broken line in the lists of ``mutants`` is caught by the test named beside it."""

import hashlib
import multiprocessing
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from skdpmic._utils import jit
from tests import breaking
from tests.breaking import broken

ROOT = Path(__file__).parents[1]
CAUGHT = ROOT / ".ci" / "caught_mutants.txt"  # the digest of each mutant when all of them last ran
MUTANTS = breaking.mutants()
NOT_THE_COPY = 77  # none of pytest's exit codes
RUN = f"""
import gc, os, sys
from pathlib import Path
gc.freeze()  # shared by all these processes; none of them need search it for garbage
os.chdir(folder)
os.environ |= {{"PYTHONPATH": folder, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}
sys.path[:0] = [folder]
sys.dont_write_bytecode = False  # most mutants leave hundreds of files unchanged
with open("output", "w") as output:
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
for name in [name for name in sys.modules if name.partition(".")[0] in ("skdpmic", "tests", "benchmarks")]:
    del sys.modules[name]  # the unchanged package, which another test may have imported
import pytest
import skdpmic
if machine_code is not None:
    import skdpmic._utils.jit
    skdpmic._utils.jit._DIGEST = machine_code
sys.exit(pytest.main(options) if Path(skdpmic.__file__).parents[1] == Path.cwd() else {NOT_THE_COPY})
"""
ALL_PASSED, TESTS_FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED


def test_every_mutant_changes_one_place_and_compiles():
    wrong = [output for output in map(what_is_wrong, MUTANTS) if output]
    assert not wrong, "\n".join(wrong)


def test_the_page_for_privacy_officers_states_how_many_there_are():
    page = (ROOT / "docs" / "publish" / "privacy_officer.md").read_text(encoding="utf-8")
    assert abs(int(re.search(r"about (\d+) deliberately broken versions", page)[1]) - len(MUTANTS)) < 15


def what_is_wrong(mutant):
    """What is wrong with this entry of the list; None if it is correct."""
    try:
        file, source = broken(mutant)
        compile(source, file, "exec")
    except (ValueError, SyntaxError) as error:
        return str(error)
    return f"{mutant} changes nothing" if breaking.changes_nothing(mutant) else None


@pytest.fixture(scope="session")
def copied(tmp_path_factory):
    """A copy of the package, with its compiled kernels, and of the tests and what they import: one for all mutants."""
    folder = tmp_path_factory.mktemp("copied").resolve()
    for name in ("skdpmic", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)  # keeps the times of files, by which numba recognizes its kernels
    shutil.copy2(ROOT / "pyproject.toml", folder)
    return folder


@contextmanager
def written(file, source):
    """Give the file another source for a while, and remove its bytecode, which is recognized by seconds and length."""
    before = file.read_bytes()
    try:
        _write(file, source)
        yield
    finally:
        _write(file, before)


def _write(file, source):
    file.write_bytes(source)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


@pytest.fixture(scope="session")
def processes():
    """A source of processes that have already imported the other libraries, which takes seconds."""
    others = ["joblib", "networkx", "numba", "pandas", "polars", "pytest", "scipy.stats", "sklearn.model_selection"]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*others, "tests.first_kernel"])
    return context


def run(processes, folder, tests, machine_code=None):
    """Run pytest in a new process and return its exit code and output; `machine_code` is the digest of the kernels."""
    options = ["-q", "-x", "-rf", "--tb=short", "-p", "no:cacheprovider"]
    options += [f"tests/{test}" for test in tests]
    names = {"folder": str(folder), "options": options, "machine_code": machine_code}
    process = processes.Process(target=exec, args=(RUN, names))
    process.start()
    process.join(timeout=600)
    process.kill()
    process.join()
    return process.exitcode, (folder / "output").read_text()


@pytest.mark.slow
def test_all_named_tests_pass_on_the_package_as_it_is(copied, processes):
    end, output = run(processes, copied, dict.fromkeys(mutant.test for mutant in MUTANTS))
    assert end == ALL_PASSED, output


def digest(mutant):
    """The same as long as the mutant, its file and that of its test are the same."""
    try:
        file, source = broken(mutant)
    except (ValueError, SyntaxError):
        return "wrong"  # which a test above says in words
    test = (ROOT / "tests" / mutant.test.partition("::")[0]).read_bytes()
    return hashlib.sha256(b"".join([repr(mutant).encode(), str(file).encode(), source, test])).hexdigest()[:16]


def pytest_generate_tests(metafunc):
    """A case for each mutant; those caught before, and unchanged since, run only in a session of their own."""
    if "mutant" in metafunc.fixturenames and metafunc.config.option.markexpr != "not slow":  # digests take seconds
        caught, cases = set(CAUGHT.read_text(encoding="utf-8").split()), []
        for mutant in MUTANTS:
            marks = [pytest.mark.caught_before] if digest(mutant) in caught else []
            cases.append(pytest.param(mutant, marks=marks, id=f"{mutant.where}: {mutant.new}"))
        metafunc.parametrize("mutant", cases)


@pytest.mark.slow
def test_a_broken_line_is_caught(mutant, copied, processes):
    file, source = broken(mutant)
    # Kernels are recompiled only where the mutant may be in one: that takes longer than most tests. A mutant in another
    # kernel would not be caught, and so be reported.
    machine_code = None if breaking.may_be_compiled(mutant) else jit._DIGEST
    with written(copied / "skdpmic" / file, source):
        end, output = run(processes, copied, [mutant.test], machine_code)
    assert end == TESTS_FAILED, f"no test sees this mutant, or another error hides it:\n{output}"
    assert f"\nFAILED tests/{mutant.test}" in output, f"another test failed, or none ran:\n{output}"


if __name__ == "__main__":  # when all of them were caught
    CAUGHT.write_text("".join(sorted(f"{digest(mutant)}\n" for mutant in MUTANTS)), encoding="utf-8")
