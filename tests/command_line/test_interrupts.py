"""Ctrl-C ends a command at any time, with its status and without a word; but what is paid for is finished first."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from skdpmic import BudgetLedger
from skdpmic.command_line import command_select
from skdpmic.command_line.main import main
from tests.command_line.tables import CODEBOOK, people, write_csv
from tests.folding import each

SELECT = ["select", "people.csv", "--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--epsilon", "0.5"]
PAID = ["--ledger", "people.db", "--yes", "-o", "names.txt"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="of POSIX")


@pytest.fixture(autouse=True)
def as_in_the_foreground():
    """A shell that starts a command in the background has it ignore Ctrl-C."""
    found = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, found)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    write_csv(people(60), "people.csv")
    (tmp_path / "codebook.toml").write_text(CODEBOOK)
    BudgetLedger("people.db", epsilon=2)
    return tmp_path


def spent():
    return BudgetLedger.open("people.db").spent()[0]


def send(*numbers):
    """Send signals to this process."""
    for number in numbers:
        os.kill(os.getpid(), number)


def before(monkeypatch, where, name, action):
    """Have something happen before a function is called."""
    function = getattr(where, name)

    def called(*arguments, **options):
        action()
        return function(*arguments, **options)

    monkeypatch.setattr(where, name, called)


@each("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_before_the_charge_it_ends_at_once_and_leaves_nothing(number, status, folder, capsys, monkeypatch):
    files = sorted(os.listdir())
    with monkeypatch.context() as patched:
        before(patched, command_select, "read_frame", lambda: send(number))
        assert main([*SELECT, *PAID]) == status
    assert capsys.readouterr() == ("", "skdpmic select: interrupted.\n")
    assert spent() == 0
    assert sorted(os.listdir()) == files


def test_an_interruption_that_a_library_makes_another_error_of_is_one(folder, capsys, monkeypatch):
    def interrupted(*arguments, **options):
        try:
            send(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("8675309") from None

    monkeypatch.setattr(command_select, "read_frame", interrupted)
    assert main([*SELECT, *PAID]) == 130
    assert capsys.readouterr() == ("", "skdpmic select: interrupted.\n")


def test_an_interruption_that_a_library_ignores_still_keeps_from_paying(folder, capsys, monkeypatch):
    def ignored():
        with contextlib.suppress(KeyboardInterrupt):
            send(signal.SIGINT)

    before(monkeypatch, command_select, "read_frame", ignored)
    assert main([*SELECT, *PAID]) == 130
    assert spent() == 0


@pytest.mark.slow
@each("where, name", [(BudgetLedger, "charge"), (command_select, "_chosen"), (command_select, "file_content")])
def test_from_the_charge_on_the_result_is_finished_first(where, name, folder, capsys, monkeypatch):
    cost = spent()
    for number in (signal.SIGINT, signal.SIGTERM):
        with monkeypatch.context() as patched:
            before(patched, where, name, lambda number=number: send(number))
            assert main([*SELECT, *PAID, "--card", "card.html", "--epsilon", "0.125"]) == 0
        assert "The best columns" in capsys.readouterr().out
        for file in ("names.txt", "card.html"):
            assert (folder / file).read_text()
            (folder / file).unlink()
    assert spent() == cost + 0.25


def test_who_insists_ends_what_is_paid_for_too_and_is_told_of_the_charge(folder, capsys, monkeypatch):
    before(monkeypatch, command_select, "_chosen", lambda: send(signal.SIGINT, signal.SIGINT))
    assert main([*SELECT, *PAID]) == 130
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1]) == ("", "skdpmic select: interrupted. The cost was charged before.")
    assert spent() == 0.5
    assert not (folder / "names.txt").exists()


def test_a_charge_that_is_refused_can_be_interrupted_again(folder, capsys):
    assert main([*SELECT, *PAID, "--epsilon", "3"]) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_whenever_it_is_interrupted_its_status_says_so_and_nothing_is_lost(folder):
    command = [sys.executable, "-m", "skdpmic", *SELECT, *PAID, "--epsilon", "0.0078125"]
    begun = time.monotonic()
    subprocess.run(command, capture_output=True, check=True)
    lasts, rng = time.monotonic() - begun, random.Random(0)
    for _ in range(3):
        (folder / "names.txt").unlink(missing_ok=True)
        cost = spent()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(lasts * rng.uniform(0.3, 1.1))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        # Python ends itself by the signal if that came while it ran code from text; to a shell this is 130, too.
        assert process.returncode in (0, 130, -signal.SIGINT), err
        assert "Traceback" not in err
        assert bool(out) == (folder / "names.txt").exists() == (spent() > cost) == (process.returncode == 0)
    assert not [name for name in os.listdir() if ".skdpmic" in name]
