"""A paid result is shown or written, and an unpaid one leaves nothing behind, whatever fails and when."""

import contextlib
import errno
import io
import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skdpmic import BudgetLedger
from skdpmic._utils import user_files
from skdpmic.command_line import results
from skdpmic.command_line.main import main
from tests.command_line.tables import SELECT, SUMMARY, lay_out, spent
from tests.folding import each
from tests.processes import PACKAGE, environment

PAID = ["--ledger", "people.db", "--yes"]
NAMES = {"age", "admitted", "wait", "ward", "grade", "smoker"}
POSIX = pytest.mark.skipif(os.name == "nt", reason="requires POSIX")


def contents(folder):
    """All files below a folder except the ledger: their type, and their bytes if they are regular."""
    return {
        path.relative_to(folder).as_posix(): (stat.S_IFMT(path.lstat().st_mode), path.is_file() and path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.name != "people.db"
    }


# --- Random commands, outputs and failures ----------------------------------------------------------------------------


class Failing(io.StringIO):
    """A stdout that cannot be written to."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def write(self, text):
        raise self.error


class FailingAtTheEnd(Failing):
    """The same, but it fails only when flushed."""

    write = io.StringIO.write

    def flush(self):
        raise self.error


FULL, CLOSED = OSError(errno.ENOSPC, "No space left on device"), BrokenPipeError(errno.EPIPE, "Broken pipe")
STREAMS = {
    "fine": io.StringIO,
    "closed": lambda: Failing(CLOSED),
    "closed later": lambda: FailingAtTheEnd(CLOSED),
    "full": lambda: FailingAtTheEnd(FULL),
    "none": lambda: None,
}
FAILURES = [None, None, None, "reserved", "written", "renamed", "ledger"]  # what fails, if anything
ENDINGS = {"-o": ".txt", "--card": ".html", "--picture": ".svg"}


def impossible(rng, ending):
    """A random path that cannot be written; a folder that it requires is created."""
    os.makedirs("there" + ending, exist_ok=True)
    paths = ["there", "x" * 300, "none/file", "people.csv/file", "/proc/file", "/proc/self/file"]
    others = ["people.csv", "./codebook.toml", "people.db", "people.db-journal", "/dev/null", "names/", ""]
    return rng.choice([path + ending for path in paths] + (others if ending == ".txt" else []))


def draw(rng, endings):
    """A random command, whether all its outputs are possible, what fails, and what stdout is."""
    command = list(rng.choice([SELECT, SUMMARY])) + PAID
    names = [name for name in endings if not (name == "-o" and command[0] == "summary")]
    wanted, all_possible = [], True
    for name in rng.sample(names, rng.randint(0, len(names))):
        if rng.random() < 0.2:
            path, all_possible = impossible(rng, ENDINGS[name]), False
        else:
            path = f"made{ENDINGS[name]}"
            if rng.random() < 0.3:
                Path(path).write_text("old")
        wanted += [name, path]
    if rng.random() < 0.1 and "-o" in names and not wanted:
        wanted, all_possible = ["-o", "same.html", "--card", "same.html"], False
    if rng.random() < 0.3:
        wanted += ["--json"]
    return command + wanted, all_possible, rng.choice(FAILURES), rng.choice(list(STREAMS))


@contextlib.contextmanager
def failing(what, monkeypatch):
    """Make something fail: the disk is full before or after the charge, a rename is refused, or the ledger is lost."""
    with monkeypatch.context() as patched:
        if what in ("reserved", "written"):
            sync = os.fsync

            def fails(number):
                if (spent() > 0) == (what == "written"):
                    raise FULL
                sync(number)

            patched.setattr(user_files.os, "fsync", fails)
        if what == "renamed":

            def refuses(*paths):
                raise PermissionError(errno.EPERM, "Operation not permitted")

            patched.setattr(user_files.os, "replace", refuses)
        if what == "ledger":

            def lost(self):
                raise OSError("the ledger cannot be read")

            patched.setattr(BudgetLedger, "entries", lost)
        yield


def check_one(rng, endings, folder, capsys, monkeypatch):
    """Run one random command, and check what must hold for all."""
    options, is_possible, failure, stream = draw(rng, endings)
    before, cost = contents(folder), spent()
    stdout = STREAMS[stream]()
    wanted = [options[i + 1] for i, option in enumerate(options) if option in ENDINGS]
    with failing(failure, monkeypatch), monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        status = main(options)
    _, err = capsys.readouterr()
    shown = err + ("" if stdout is None else stdout.getvalue() if isinstance(stdout, io.StringIO) else "")
    after = contents(folder)
    assert not [name for name in after if ".skdpmic" in name], "a draft is left"
    assert "Traceback" not in err
    if spent() == cost:
        assert after == before, "something was written, though nothing was paid"
        assert status == 1
        assert not is_possible or (failure == "reserved" and wanted) or failure == "ledger"
        return False
    assert is_possible
    written = [path for path in wanted if after.get(path) not in (None, before.get(path))]
    readable = shown if stream == "fine" or not written else shown + Path(written[0]).read_text()
    assert len([name for name in NAMES if name in readable]) >= 2, "a paid result is neither shown nor written"
    lost = [path for path in wanted if path not in written]
    assert lost == (
        wanted if failure in ("written", "renamed") else [path for path in wanted if path == "made.html" and failure]
    )
    assert all(f"{path!r} could not be written" in err for path in lost)
    assert status == (5 if lost or stream in ("full", "none") else 0)
    assert all(b"old" != after[path][1] and after[path][1] for path in written)
    return True


def run_draws(n, seed, endings, folder, capsys, monkeypatch):
    rng, paid = random.Random(seed), 0
    for i in range(n):
        place = folder / str(i)
        place.mkdir()
        monkeypatch.chdir(place)
        lay_out(place)
        try:
            paid += check_one(rng, endings, place, capsys, monkeypatch)
        except BaseException as error:
            error.add_note(f"draw {i} of seed {seed}")
            raise
    assert n / 5 < paid < n  # both kinds occur


@POSIX
def test_a_paid_result_is_shown_or_written_and_an_unpaid_one_leaves_nothing(tmp_path, capsys, monkeypatch):
    run_draws(8, 0, ["-o", "--card"], tmp_path, capsys, monkeypatch)


# --- Each kind separately ---------------------------------------------------------------------------------------------


@POSIX
@each(
    "option, path, message",
    [
        ("-o", ".", "must be a file to be written, got a folder"),
        ("--card", "there.html", "must be a file to be written, got a folder"),
        ("-o", "names/", "must be a file to be written, got a folder"),
        ("-o", "none/names.txt", "there is no folder 'none'"),
        ("-o", "people.csv/names.txt", "there is no folder"),
        ("-o", "/dev/full", "must be a regular file to be written, got a device"),
        ("-o", "/proc/names.txt", "'/proc/names.txt'"),
        ("-o", "x" * 300, "File name too long"),
        ("-o", "people.csv", "must be a file of its own"),
        ("-o", "./people.csv", "must be a file of its own"),
        ("-o", "codebook.toml", "must be a file of its own"),
        ("-o", "people.db", "must be a file of its own"),
        ("-o", "people.db-journal", "must be a file of its own"),
        ("-o", "link", "must be a file of its own"),
        ("--card", "pipe.html", "must be a regular file to be written, got a pipe"),
    ],
)
def test_a_file_that_cannot_be_written_is_detected_before_the_charge(option, path, message, folder, capsys):
    with contextlib.suppress(FileExistsError):
        (folder / "there.html").mkdir()
        os.symlink("people.db", "link")
        os.mkfifo("pipe.html")
    before = contents(folder)
    assert main([*SELECT, *PAID, option, path]) == 1
    out, err = capsys.readouterr()
    assert (out, message in err) == ("", True), err
    assert spent() == 0
    assert contents(folder) == before


@POSIX
def test_results_are_not_redirected_to_a_file_that_the_command_writes(folder):
    command = [sys.executable, "-m", "skdpmic", *SELECT, *PAID, "-o", "names.txt"]
    with open("names.txt", "w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, env=environment(PACKAGE.parent))
    assert (done.returncode, spent()) == (1, 0)
    assert "'names.txt' must be a file of its own" in done.stderr


def test_a_file_that_fails_after_the_charge_does_not_stop_the_others(folder, capsys, monkeypatch):
    replace = os.replace

    def fails(draft, path):
        if path.endswith("names.txt"):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        replace(draft, path)

    monkeypatch.setattr(user_files.os, "replace", fails)
    assert main([*SELECT, *PAID, "-o", "names.txt", "--card", "card.html"]) == 5
    out, err = capsys.readouterr()
    assert "The best columns" in out
    assert "'names.txt' could not be written: [Errno 1] Operation not permitted: 'names.txt'" in err
    assert sorted(os.listdir()) == ["card.html", "codebook.toml", "people.csv", "people.db"]


def test_a_declined_command_leaves_no_draft(folder, capsys):
    before = contents(folder)
    assert main([*SELECT, "--ledger", "people.db", "-o", "names.txt", "--card", "card.html"]) == 4
    assert contents(folder) == before


def test_an_error_after_the_charge_says_so(folder, capsys, monkeypatch):
    def fails(*arguments):
        raise ValueError("no")

    monkeypatch.setattr(results, "text_of_choice", fails)
    assert main([*SELECT, *PAID]) == 5
    assert capsys.readouterr().err.endswith("skdpmic select: no The cost was charged before.\n")
