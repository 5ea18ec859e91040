"""New processes, with the package as it was installed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "skdpmic"
YEAR_2000 = 946684800


def environment(folder, **variables):
    """That of a new process that finds the package in a folder; variables of numba are those given here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run(code, folder, *options, fails=False, input=None, **variables):
    """Run the code, or the command of the options where that is None, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *options, *(["-c", code] if code is not None else [])],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
        input=input,
    )
    assert bool(done.returncode) == fails, done.stderr
    return done


def of_dcor(function, pairs, folder):
    """What a function of dcor, by its naive method, says of pairs of columns.

    In a process of its own: dcor compiles as it is imported, and in a worker that has run hundreds of tests LLVM once
    found no place for that, and ended the worker.
    """
    if importlib.util.find_spec("dcor") is None:
        pytest.skip("an implementation of somebody else is not installed")
    code = (
        "import json, sys, numpy, dcor\n"
        f"function = dcor.{function}\n"
        "pairs = json.load(sys.stdin)\n"
        "print(json.dumps([function(*map(numpy.array, pair), method='naive') for pair in pairs]))"
    )
    said = json.dumps([[column.tolist() for column in pair] for pair in pairs])
    return json.loads(run(code, folder, input=said).stdout)


def read_only(installed, tmp_path):
    """What numba finds where neither the package nor the home folder can be written; root may write anywhere else."""
    file = tmp_path / "file"
    file.touch()
    for folder in [installed / "skdpmic", *(path for path in (installed / "skdpmic").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return {"HOME": str(file), "XDG_CACHE_HOME": str(file / "cache")}
