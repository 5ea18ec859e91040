"""New processes that use an installed copy of the package."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "skdpmic"
YEAR_2000 = 946684800


def environment(folder, **variables):
    """Environment of a new process that finds the package in a folder; numba's variables are only those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run(code, folder, *options, fails=False, **variables):
    """Run the code, or the command in the options if it is None, and return the finished process."""
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
    """Variables with which numba can write neither to the package nor to the home folder, not even as root."""
    file = tmp_path / "file"
    file.touch()
    for folder in [installed / "skdpmic", *(path for path in (installed / "skdpmic").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return {"HOME": str(file), "XDG_CACHE_HOME": str(file / "cache")}
