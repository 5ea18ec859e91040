"""Check that every shell line of the workflows also runs elsewhere: sessions in .ci/run, all other lines here."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
INSTALLED = "python -m pip install nox"  # .ci/run does this with its own Python
SESSIONS = set(" ".join(re.findall(r"for session in (.*); do", (ROOT / ".ci/run").read_text("utf-8"))).split())
SESSIONS.add("tests")  # the README's command


def main():
    """Check all workflows."""
    wrong = []
    for path in sorted((ROOT / ".github/workflows").iterdir()):
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            for step in job["steps"]:
                wrong += [f"{path.name}: {problem}" for problem in problems(step, matrix)]
    if wrong:
        sys.exit("\n".join(wrong))


def problems(step, matrix):
    """The sessions of a step that .ci/run does not run, or its line if it fails here."""
    line = step.get("run", INSTALLED)
    if line == INSTALLED:
        return []
    words = line.replace('"$SESSION"', " ".join(matrix.get("session", []))).split()
    if words[:2] == ["nox", "--session"]:
        named = words[2 : words.index("--")] if "--" in words else words[2:]
        return [f".ci/run does not run {name}" for name in named if name not in SESSIONS]
    return [] if runs(line, step.get("env", {})) else [f"fails: {line}"]


def runs(line, variables):
    """Whether the line succeeds in bash, with a stand-in for GitHub's command, which requires a title and a body."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder, "gh")
        stand_in.write_text(
            '#!/bin/sh\n[ "$1 $2 $3 $5" = "issue create --title --body" ] && [ -n "$4" ] && [ -n "$6" ]\n'
        )
        stand_in.chmod(0o755)
        env = dict.fromkeys(variables, "text") | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(["bash", "-euo", "pipefail", "-c", line], env=env, check=False).returncode == 0


main()
