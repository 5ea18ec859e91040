"""New processes, with the package as it was installed."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "skdpmic"
YEAR_2000 = 946684800


def environment(folder, **variables):
    """That of a new process that finds the package in a folder; variables of numba are those given here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run(code, folder, *options, fails=False, **variables):
    """Run the code, or the command of the options where that is None, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *options, *(["-c", code] if code is not None else [])],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) == fails, done.stderr
    return done


def read_only(installed, tmp_path):
    """What numba finds where neither the package nor the home folder can be written; root may write anywhere else."""
    file = tmp_path / "file"
    file.touch()
    for folder in [installed / "skdpmic", *(path for path in (installed / "skdpmic").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return {"HOME": str(file), "XDG_CACHE_HOME": str(file / "cache")}
