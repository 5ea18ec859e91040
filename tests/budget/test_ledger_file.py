"""The file of a ledger: corruption, hard links, lost journals and full disks may cost a result, never a charge."""

import contextlib
import json
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from skdpmic import BudgetLedger
from skdpmic.budget import ledger_file
from skdpmic.budget.ledger import storage_at
from skdpmic.budget.ledger_entry import LedgerEntry


def uses(ledger):
    """Every use of a ledger's file."""
    return {
        "spent": ledger.spent,
        "remaining": ledger.remaining,
        "entries": ledger.entries,
        "charge": lambda: ledger.charge("x", 0.125),
        "make": lambda: BudgetLedger(ledger.path, ledger.epsilon, ledger.delta),
        "open": lambda: BudgetLedger.open(ledger.path),
    }


# --- Files that are not, or no longer, ledgers --------------------------------------------------------------------


def test_a_file_that_is_not_a_ledger_is_refused_and_left_alone(tmp_path):
    filled(tmp_path / "good", 100)
    good = (tmp_path / "good").read_bytes()
    with contextlib.closing(sqlite3.connect(tmp_path / "foreign")) as connection:
        connection.execute("CREATE TABLE limits (epsilon)")
    bad = {"empty": b"", "noise": random.Random(0).randbytes(8192), "foreign": (tmp_path / "foreign").read_bytes()}
    bad |= {"cut": good[: len(good) // 2], "overwritten": good[:4096] + bytes(len(good) - 4096)}
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        for make in (lambda path: BudgetLedger(path, 10.0), BudgetLedger.open):
            with pytest.raises(ValueError, match=f"{name}' is not a privacy ledger"):
                make(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("version", [5, 7])
def test_a_ledger_of_another_format_is_refused_with_a_remedy(path, version):
    BudgetLedger(path, 1.0)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(
        ValueError, match=f"has format {version}, but this version of skdpmic reads 6.*record that in a new"
    ):
        BudgetLedger(path, 1.0)


def test_a_ledger_that_vanished_is_an_error_not_a_new_budget(path):
    ledger = BudgetLedger(path, 1.0)
    path.unlink()
    for name, use in uses(ledger).items():
        if name != "make":
            with pytest.raises(OSError, match="cannot be used"):
                use()
    assert "unknown" in repr(ledger)
    assert not path.exists()


def test_a_lock_that_is_never_released_raises(path, monkeypatch):
    monkeypatch.setattr(ledger_file, "_WAIT", 0.05)
    ledger = BudgetLedger(path, 1.0)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match="database is locked"):
            ledger.charge("x", 0.1)
    ledger.charge("x", 0.1)
    assert len(ledger.entries()) == 1


def test_a_ledger_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"there is no folder '{tmp_path}/missing'"):
        BudgetLedger(tmp_path / "missing" / "budget.db", 1.0)
    assert os.listdir(tmp_path) == []


# --- Another file in its place ------------------------------------------------------------------------------------


def replaced_by_one_with_equal_charges(path):
    whats = [entry.what for entry in BudgetLedger.open(path).entries()]
    path.unlink()
    BudgetLedger(path, 1.0)
    for what in whats:
        BudgetLedger.open(path).charge(what, 0.25)


def restored_and_charged_anew(path):
    path.write_bytes(path.with_name("backup.db").read_bytes())
    BudgetLedger.open(path).charge("another", 0.25)


@pytest.mark.parametrize("replace", [replaced_by_one_with_equal_charges, restored_and_charged_anew])
def test_another_file_with_equal_limits_in_its_place_is_noticed(path, replace):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("x", 0.25)
    path.with_name("backup.db").write_bytes(path.read_bytes())
    ledger.charge("y", 0.25)
    replace(path)
    before = path.read_bytes()
    for known in (ledger, pickle.loads(pickle.dumps(ledger)), ledger.for_purpose("z")):
        for use in (known.spent, lambda known=known: known.charge("z", 0.125)):
            with pytest.raises(
                ValueError, match=r"is not the one that was opened.* Put it back, or use BudgetLedger.o"
            ):
                use()
    assert path.read_bytes() == before
    BudgetLedger.open(path).charge("what it lacks", 0.25)


def test_no_two_ledgers_start_from_the_same_digest(tmp_path):
    ledgers = [BudgetLedger(tmp_path / f"{i}.db", 1.0) for i in range(5)]
    assert len({ledger._seen for ledger in ledgers}) == 5


# --- Corruption ---------------------------------------------------------------------------------------------------


def filled(path, n_entries=20):
    """A ledger with charges of all kinds."""
    ledger = BudgetLedger(path, 1000.0, 0.5)
    released = {"statistic": "mtv_r", "release": "names", "mechanism": "one-shot", "epsilon_of_target": 0.1}
    for i in range(n_entries):
        numbers = {"rho": 0.25 if i % 3 else None, "n": 100 + i, "d": i, "k": i // 2}
        own = ledger.for_purpose("a report") if i % 3 else ledger
        named = LedgerEntry(f"charge {i}" * 15, 1 + i / 10, i % 3 * 1e-7, **numbers)
        own.charge_entry(named._replace(**released if i % 2 == 0 else {}))
    return ledger


def read_whole(path):
    """Limits and entries, or None if reading is refused."""
    try:
        return storage_at(path).transact(lambda file: (file.limits, file.entries), writes=False)
    except (ValueError, OSError):
        return None


@contextlib.contextmanager
def flipped(path, bit):
    """The file with one bit changed."""
    with open(path, "r+b", buffering=0) as file:  # in place: rewriting the file is slow on some systems
        content = file.read()
        file.seek(bit // 8)
        file.write(bytes([content[bit // 8] ^ 1 << bit % 8]))
        yield
        file.seek(0)
        file.write(content)
        file.truncate()


@pytest.mark.slow
def test_no_flipped_bit_changes_what_is_read(path):
    """Free space is all zeros: there, only one bit of every 16th byte."""
    filled(path, 6)  # of every kind
    content, whole, n_refused = path.read_bytes(), read_whole(path), 0
    for bit in [
        8 * i + b for i, byte in enumerate(content) for b in (range(8) if byte else [i // 16 % 8][: i % 16 == 0])
    ]:
        with flipped(path, bit):
            found = read_whole(path)
            assert found in (whole, None), bit
            n_refused += found is None
    assert n_refused > 15_000


def test_a_corrupted_page_that_could_lose_a_charge_raises(path):
    ledger = filled(path, 5)
    count_of_free_bytes = 2 * 4096 + 7  # in the header of the third page, which holds the entries
    with flipped(path, 8 * count_of_free_bytes), pytest.raises(ValueError, match="pages are not in order"):
        ledger.charge("x", 0.5)
    ledger.charge("x", 0.5)


CHANGES = json.loads(Path(__file__).with_name("changes.json").read_text("utf-8"))  # SQL, and what the error says


def test_the_error_says_what_was_changed(path):
    ledger = filled(path, 5)
    whole = path.read_bytes()
    for change, message in CHANGES["all"] + CHANGES["file"]:
        path.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            assert connection.execute("SELECT epsilon FROM entries WHERE id = 3").fetchone() == (1.2,)
            connection.execute(change.replace("number", "id"))
        before = path.read_bytes()
        for use in uses(ledger).values():
            with pytest.raises(ValueError, match=f"budget.db' is not a privacy ledger, or is damaged .*{message}"):
                use()
        assert path.read_bytes() == before


# --- Names and journals -------------------------------------------------------------------------------------------

WRITE_AND_DIE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so pages go to the file, and to the journal, before the end
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE entries SET what = upper(what) WHERE id = (SELECT max(id) FROM entries)")
connection.execute("UPDATE entries SET what = upper(what)")
os.kill(os.getpid(), signal.SIGKILL)
"""
kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")


@pytest.fixture
def torn(path):
    """A ledger with 30 spent and an incomplete write, which only its journal can undo."""
    ledger = BudgetLedger(path, 1000.0)
    for _ in range(60):
        ledger.charge("x" * 1000, 0.5)
    whole = path.read_bytes()
    writer = subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(path)], check=False)
    assert writer.returncode == -signal.SIGKILL
    assert journal_of(path).stat().st_size > 4096
    assert path.read_bytes() != whole
    return ledger


def journal_of(path):
    return path.with_name(path.name + "-journal")


@kills
def test_an_incomplete_write_is_undone(torn):
    assert torn.spent() == (30.0, 0.0)
    assert {entry.what for entry in torn.entries()} == {"x" * 1000}
    torn.charge("after", 0.5)
    assert torn.spent() == (30.5, 0.0)


@pytest.mark.parametrize("charged_as", ["old", "new"])
def test_a_ledger_with_two_names_is_refused_by_both(path, charged_as):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("x", 0.25)
    other = path.with_name("other.db")
    os.link(path, other)
    before = path.read_bytes()
    for name in (path, other):
        ledger._storage = storage_at(name)
        for use in uses(ledger).values():
            with pytest.raises(OSError, match=rf"{name.name}' has 2 names \(hard links\).* Remove all names except"):
                use()
    assert path.read_bytes() == before
    (other if charged_as == "old" else path).unlink()
    ledger = BudgetLedger.open(path if charged_as == "old" else other)
    ledger.charge("x", 0.25)
    assert ledger.spent() == (0.5, 0.0)


@kills
def test_a_ledger_renamed_without_its_journal_is_refused(path, torn):
    # Without the refusal, the charge of 100 would be accepted, and lost when the file is renamed back.
    other = path.with_name("other.db")
    path.rename(other)
    torn._storage = storage_at(other)
    before = other.read_bytes()
    message = f"last written as '{path}', and '{path}-journal' .* move it back, or move that file to '{other}-j"
    for use in uses(torn).values():
        with pytest.raises(OSError, match=message):
            use()
    assert other.read_bytes() == before
    journal_of(path).rename(journal_of(other))
    assert torn.spent() == (30.0, 0.0)


@kills
def test_an_incomplete_write_whose_journal_is_lost_raises(path, torn):
    journal_of(path).unlink()
    with pytest.raises(ValueError, match="is damaged"):
        torn.spent()


@kills
def test_no_new_ledger_is_created_beside_the_journal_of_another(path, torn):
    # SQLite would restore pages of the old ledger into the new one.
    path.unlink()
    with pytest.raises(FileExistsError, match=f"'{path}-journal' belongs to an earlier ledger of this name"):
        BudgetLedger(path, 1000.0)
    assert os.listdir(path.parent) == [path.name + "-journal"]


def with_write_ahead_log(path):
    """A connection that has switched it on, as some programs do, and keeps the log of all pages."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("VACUUM")
    return contextlib.closing(connection)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_ledger_with_a_write_ahead_log_is_refused_until_it_is_switched_off(path, is_open):
    # Otherwise a process killed after a charge would leave it in the log, and a move of the file alone would lose it.
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("x", 0.25)
    with with_write_ahead_log(path) as other:
        if not is_open:
            other.close()
        for use in uses(ledger).values():
            with pytest.raises(OSError, match=f"write-ahead log, '{path}-wal', because .* PRAGMA journal_mode = DEL"):
                use()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    ledger.charge("x", 0.25)
    assert ledger.spent() == (0.5, 0.0)


def test_the_log_of_an_earlier_ledger_is_not_written_into_a_new_one(path):
    BudgetLedger(path, 1.0).charge("x", 0.25)
    log = path.with_name(path.name + "-wal")
    with with_write_ahead_log(path):
        left_over = log.read_bytes()
    path.unlink()
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("x", 0.75)
    log.write_bytes(left_over)
    for use in uses(ledger).values():
        with pytest.raises(OSError, match="belongs to an earlier ledger of the same name, delete it"):
            use()
    log.unlink()
    assert BudgetLedger.open(path).spent() == (0.75, 0.0)


def test_a_ledger_can_be_moved_and_remembers_where_it_was_last_charged(path, tmp_path):
    ledger = BudgetLedger(path, 1.0)
    (tmp_path / "folder").mkdir()
    for i, name in enumerate(("second.db", "folder/third.db", "second.db")):
        os.rename(ledger.path, tmp_path / name)
        ledger = BudgetLedger(tmp_path / name, 1.0)
        ledger.charge("moved", 0.25)
        assert ledger.spent() == (0.25 * (i + 1), 0.0)
    path.with_name("second.db").rename(path)
    journal_of(tmp_path / "folder/third.db").touch()  # these hold nothing to undo
    journal_of(path).touch()
    assert BudgetLedger.open(path).spent() == (0.75, 0.0)
    journal_of(tmp_path / "second.db").touch()
    with pytest.raises(OSError, match=r"last written as '.*second.db'"):
        BudgetLedger.open(path)


def test_a_folder_with_two_names_does_not_make_a_journal_of_another_process_an_error(path, monkeypatch):
    # As with a bind mount: the existing journal is also the one that SQLite looks for.
    ledger = BudgetLedger(path, 1.0)
    mounted = path.parent.with_name("mounted")
    mounted.symlink_to(path.parent)
    monkeypatch.setattr(os.path, "realpath", os.path.abspath)
    through_mount = BudgetLedger.open(mounted / path.name)
    assert through_mount.path != ledger.path
    monkeypatch.setattr(ledger_file, "_inside_sqlite", contextlib.nullcontext())

    def look_through_mount(file):
        file.append(LedgerEntry("x", 0.5, when="now"))
        assert journal_of(path).exists()
        assert through_mount.spent() == (0.0, 0.0)

    ledger._storage.transact(look_through_mount, writes=True)
    assert through_mount.spent() == (0.5, 0.0)


# --- Creation -----------------------------------------------------------------------------------------------------


def test_a_process_killed_before_it_removes_the_draft_name_leaves_a_valid_ledger(path):
    BudgetLedger(path, 1.0)
    os.link(path, path.with_name(".ledger-of-the-dead"))
    path.with_name(".ledger-of-another").write_bytes(path.read_bytes())
    assert BudgetLedger(path, 1.0).spent() == (0.0, 0.0)
    assert sorted(os.listdir(path.parent)) == [".ledger-of-another", path.name]


# --- Durability ---------------------------------------------------------------------------------------------------


class SyncSpy(sqlite3.Connection):
    """Records, at each commit, the file and how it will be synced."""

    def execute(self, sql, *arguments):
        if sql == "COMMIT":
            _, _, file = super().execute("PRAGMA database_list").fetchone()
            (mode,) = super().execute("PRAGMA synchronous").fetchone()
            self.seen.append((os.path.basename(file), mode))
        return super().execute(sql, *arguments)


def test_every_charge_is_synced_to_disk_before_it_returns(path, monkeypatch):
    monkeypatch.setattr(SyncSpy, "seen", [], raising=False)
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=SyncSpy))
    ledger = BudgetLedger(path, 1.0)
    SyncSpy.seen.clear()
    ledger.charge("x", 0.5)
    assert SyncSpy.seen == [(path.name, 3)]  # 3 is EXTRA


@contextlib.contextmanager
def files_up_to(size):
    """No file can grow beyond this many bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_fills_up_during_a_charge_loses_nothing(path):
    # Up to 12,000 bytes the journal cannot be written; beyond that the file itself, leaving it half written.
    ledger = filled(path, 5)
    before, size = ledger.entries(), path.stat().st_size
    for room in range(0, size, 512):
        with files_up_to(room), pytest.raises(OSError, match=r"budget\.db' cannot be used"):
            ledger.charge("x" * 5000, 0.5)
        assert ledger.entries() == before
    with files_up_to(4 * size):
        ledger.charge("x" * 5000, 0.5)
    assert ledger.entries()[:-1] == before
    assert len(ledger.entries()) == 6


def test_no_ledger_is_created_on_a_full_disk(path):
    for room in range(0, 16384, 2048):
        with files_up_to(room), pytest.raises(OSError, match=r"budget\.db' cannot be used"):
            BudgetLedger(path, 1.0)
        assert os.listdir(path.parent) == []
