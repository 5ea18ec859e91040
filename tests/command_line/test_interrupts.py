"""Ctrl-C ends a command at any time with the exit status for it, but a paid result is finished first."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from skdpmic import BudgetLedger
from skdpmic.cards import release_card
from skdpmic.command_line import reading, results
from skdpmic.command_line.main import main
from tests.command_line.tables import SELECT, spent
from tests.folding import each

PAID = ["--ledger", "people.db", "--yes", "-o", "names.txt"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="requires POSIX")


@pytest.fixture(autouse=True)
def as_in_the_foreground():
    """Handle Ctrl-C even in a background job, which shells start with Ctrl-C ignored."""
    found = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, found)


def send(*numbers):
    """Send signals to this process."""
    for number in numbers:
        os.kill(os.getpid(), number)


def call_before(monkeypatch, where, name, action):
    """Run an action before each call of a function."""
    function = getattr(where, name)

    def called(*arguments, **options):
        action()
        return function(*arguments, **options)

    monkeypatch.setattr(where, name, called)


@each("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_before_the_charge_a_command_ends_at_once_and_leaves_nothing(number, status, folder, capsys, monkeypatch):
    files = sorted(os.listdir())
    with monkeypatch.context() as patched:
        call_before(patched, reading, "read_frame", lambda: send(number))
        assert main([*SELECT, *PAID]) == status
    assert capsys.readouterr() == ("", "skdpmic select: interrupted.\n")
    assert spent() == 0
    assert sorted(os.listdir()) == files


def test_an_interruption_that_a_library_ignores_still_prevents_the_charge(folder, capsys, monkeypatch):
    def ignored():
        with contextlib.suppress(KeyboardInterrupt):
            send(signal.SIGINT)

    call_before(monkeypatch, reading, "read_frame", ignored)
    assert main([*SELECT, *PAID]) == 130
    assert spent() == 0


@pytest.mark.slow
@each("where, name", [(BudgetLedger, "charge"), (results, "chosen_by"), (release_card, "file_content")])
def test_once_the_charge_begins_the_result_is_finished_first(where, name, folder, capsys, monkeypatch):
    cost = spent()
    for number in (signal.SIGINT, signal.SIGTERM):
        with monkeypatch.context() as patched:
            call_before(patched, where, name, lambda number=number: send(number))
            assert main([*SELECT, *PAID, "--card", "card.html", "--epsilon", "0.125"]) == 0
        assert "The best columns" in capsys.readouterr().out
        for file in ("names.txt", "card.html"):
            assert (folder / file).read_text()
            (folder / file).unlink()
    assert spent() == cost + 0.25


def test_a_second_interruption_ends_a_paid_command_and_mentions_the_charge(folder, capsys, monkeypatch):
    call_before(monkeypatch, results, "chosen_by", lambda: send(signal.SIGINT, signal.SIGINT))
    assert main([*SELECT, *PAID]) == 130
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1]) == ("", "skdpmic select: interrupted. The cost was charged before.")
    assert spent() == 0.5
    assert not (folder / "names.txt").exists()


@pytest.mark.slow
def test_an_interruption_at_any_time_shows_in_the_exit_status_and_loses_nothing(folder):
    command = [sys.executable, "-m", "skdpmic", *SELECT, *PAID, "--epsilon", "0.0078125"]
    start = time.monotonic()
    subprocess.run(command, capture_output=True, check=True)
    duration, rng = time.monotonic() - start, random.Random(0)
    for _ in range(3):
        (folder / "names.txt").unlink(missing_ok=True)
        cost = spent()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(duration * rng.uniform(0.3, 1.1))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        # Python ends by the signal itself if it arrives while code from text runs; a shell reports that as 130, too.
        assert process.returncode in (0, 130, -signal.SIGINT), err
        assert "Traceback" not in err
        assert bool(out) == (folder / "names.txt").exists() == (spent() > cost) == (process.returncode == 0)
    assert not [name for name in os.listdir() if ".skdpmic" in name]
