"""A team's ledger on a real server: a client that is killed or cut off may lose a result, never a charge."""

import contextlib
import multiprocessing
import os
import pickle
import random
import re
import time
from pathlib import Path

import pytest

from skdpmic import BudgetError, BudgetLedger
from skdpmic.budget import ledger_database
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy.composition import BasicFilter
from tests.budget.servers import PASSWORD, Server, Wire
from tests.budget.test_ledger_races import race_for_the_last_of_the_budget

pytest.importorskip("psycopg", reason="the ledgers are in PostgreSQL")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgresql")]
PAGE = Path(__file__).parents[2] / "docs" / "publish" / "team_budget.md"


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def database(server):
    return server.new_database()


@pytest.fixture
def url(server, database):
    return server.url(database)


@pytest.fixture
def context():
    context = multiprocessing.get_context("forkserver")
    # What a process would import at its first charge, too: else most are killed before it.
    context.set_forkserver_preload(["tests.budget.test_ledger_database", "sqlalchemy.dialects.postgresql.psycopg"])
    return context


def whats(ledger):
    return [entry.what for entry in ledger.entries()]


# --- The same promises as for a file --------------------------------------------------------------------------------


def test_a_lock_that_is_never_released_raises(server, database, url, monkeypatch):
    import psycopg

    monkeypatch.setattr(ledger_database, "_WAIT", 1)
    ledger = BudgetLedger(url, 1.0)
    login = {"host": "127.0.0.1", "port": server.port, "user": "admin", "password": PASSWORD, "dbname": database}
    with psycopg.connect(**login) as other:
        other.execute("LOCK TABLE skdpmic.head")
        with pytest.raises(OSError, match="other processes locked it"):
            ledger.charge("x", 0.1)
    ledger.charge("x", 0.1)
    assert len(ledger.entries()) == 1


def test_the_database_refuses_negative_costs_written_by_hand(server, database, url):
    import psycopg

    BudgetLedger(url, 1.0)
    columns = 'number, charge_id, what, "when", unit, model, broken_by, epsilon, delta, rho, digest'
    insert = f"INSERT INTO skdpmic.entries ({columns}) VALUES (1, 'x', '', '', '', '', ''"
    for numbers in ("1, 0, 0", "-1, 0, NULL", "'NaN', 0, NULL", "1, -0.5, NULL", "1, 0, 'NaN'", "0, 0, NULL"):
        with pytest.raises(psycopg.errors.CheckViolation):
            server.execute(f"{insert}, {numbers}, '')", database)


def test_a_server_that_does_not_sync_is_refused_and_a_role_cannot_disable_syncing(server, database, url):
    ledger = BudgetLedger(url, 1.0)
    server.execute("ALTER ROLE admin SET synchronous_commit = off")
    seen = []

    def look(book):
        seen.append(book._connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())

    try:
        ledger._transact(look, writes=True)
        assert seen == ["on"]
        server.execute("ALTER SYSTEM SET fsync = off")
        server.execute("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 10
        while server.execute("SHOW fsync") == [("on",)] and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(OSError, match=r"may lose charges \(fsync = off\)"):
            ledger.charge("x", 0.1)
    finally:
        server.execute("ALTER ROLE admin RESET synchronous_commit")
        server.execute("ALTER SYSTEM RESET fsync")
        server.execute("SELECT pg_reload_conf()")


# --- Races --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_locked", [True, False])
def test_only_one_of_many_concurrent_charges_gets_the_rest_of_the_budget(url, monkeypatch, is_locked):
    """Without the lock, the database detects conflicts, and all clients but one retry."""
    if not is_locked:
        monkeypatch.setattr(ledger_database, "_lock_head", lambda *arguments: None)
    ledger = BudgetLedger(url, 1.0)
    assert race_for_the_last_of_the_budget(ledger, monkeypatch) == ["charged"] + ["refused"] * 3
    assert ledger.spent() == (0.6, 0.0)


def _charge_and_report(url, name, log, permits):
    """The outcome of a charge is known once its line is in the file."""
    ledger = BudgetLedger.open(url)
    with open(log, "ab", buffering=0) as out:
        for i in range(10_000):
            what = f"{name}-{i}"
            permits.acquire()
            try:
                ledger.charge(what, 0.1)
                outcome = "charged"
            except BudgetError:
                return
            except OSError as error:
                outcome = "unknown" if "may have been written" in str(error) else "failed"
                time.sleep(0.05)
            out.write(f"{what} {outcome}\n".encode())


def assert_as_reported(ledger, log):
    """Each charge reported as made is in the ledger once, and none that was reported as failed."""
    outcomes = dict(line.split() for line in log.read_text().splitlines())
    written = whats(ledger)
    assert len(written) == len(set(written))
    for what, outcome in outcomes.items():
        if outcome != "unknown":
            assert (what in written) == (outcome == "charged"), (what, outcome)
    return outcomes


@pytest.mark.parametrize("kind", ["file", "database"])
def test_killed_clients_lose_results_but_never_charges(kind, context, tmp_path, request):
    # Ten charges a round are allowed; at a random moment of it a process is killed and replaced. So there are 15 rounds
    # or more, however fast the machine is.
    url = tmp_path / "budget.db" if kind == "file" else request.getfixturevalue("url")
    ledger, log, rng = BudgetLedger(url, 15.0), tmp_path / "log", random.Random(0)
    log.touch()
    permits, n_started = context.Semaphore(0), 0

    def start():
        nonlocal n_started
        n_started += 1
        worker = context.Process(target=_charge_and_report, args=(url, f"worker{n_started}", log, permits))
        worker.start()
        return worker

    workers = [start() for _ in range(4)]
    n_killed = 0
    while ledger.remaining()[0] > 0:
        next_kill = min(len(ledger.entries()) + rng.randrange(6), 150)
        for _ in range(10):
            permits.release()
        while len(ledger.entries()) < next_kill:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        unlucky = rng.randrange(4)
        n_killed += workers[unlucky].is_alive()
        workers[unlucky].kill()
        workers[unlucky].join()
        workers[unlucky] = start()
    for _ in workers:
        permits.release()
    for worker in workers:
        worker.join()
    assert n_killed >= 15  # nobody ends before a charge beyond the limit, which the 16th round allows
    assert_as_reported(ledger, log)
    assert ledger.spent() == (15.0, 0.0)
    assert len(ledger.entries()) == 150


def test_a_killed_server_keeps_every_charge(server, url, context, tmp_path):
    ledger, log, rng = BudgetLedger(url, 15.0), tmp_path / "log", random.Random(0)
    log.touch()
    permits = context.Semaphore(10**6)  # for all
    workers = [context.Process(target=_charge_and_report, args=(url, f"worker{i}", log, permits)) for i in range(4)]
    for worker in workers:
        worker.start()
    for i in range(4):
        n_before = len(ledger.entries())
        while len(ledger.entries()) < min(n_before + 5, 150):
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        if i % 2:
            server.kill()
        else:
            server.stop("immediate")
        server.start()
    for worker in workers:
        worker.join()
    outcomes = assert_as_reported(ledger, log)
    assert "charged" in outcomes.values()
    assert ledger.spent() == (15.0, 0.0)
    assert len(ledger.entries()) == 150


# --- Lost replies --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def through_a_wire(server, database, *arguments):
    wire = Wire(server.port, *arguments)
    try:
        yield wire, BudgetLedger.open(server.url(database, port=wire.port))
    finally:
        wire.close()


@pytest.mark.parametrize("at_commit", ["lose the answer", "lose the question", "delay the question"])
def test_a_charge_cut_off_at_commit_is_written_once(server, database, url, at_commit):
    ledger = BudgetLedger(url, 1.0)
    ledger.charge("before", 0.25)
    with through_a_wire(server, database, at_commit) as (wire, cut):
        cut.charge("cut off", 0.5)
        assert wire.n_cut == (2 if at_commit == "lose the question" else 1)  # COMMITs
        with pytest.raises(BudgetError):
            cut.charge("after", 0.5)
    assert whats(ledger) == ["before", "cut off"]


def test_a_charge_cut_off_before_commit_is_not_written(server, database, url, monkeypatch):
    ledger, accepts = BudgetLedger(url, 1.0), BasicFilter.accepts
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"

    def cut_off(self, costs):
        server.execute(ended.format(database))
        return accepts(self, costs)

    with monkeypatch.context() as patch:
        patch.setattr(BasicFilter, "accepts", cut_off)
        with pytest.raises(OSError, match="cannot be used") as raised:
            ledger.charge("x", 0.5)
    assert "may have been written" not in str(raised.value)
    assert ledger.entries() == []


# --- Passwords and roles ------------------------------------------------------------------------------------------


def test_an_unpickled_ledger_gets_its_password_where_libpq_does(url, monkeypatch, tmp_path):
    ledger = BudgetLedger(url, 1.0)
    again = pickle.loads(pickle.dumps(ledger))
    assert again == ledger
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(OSError, match="able to log in") as raised:
        again.charge("x", 0.1)
    assert "wrong" not in str(raised.value)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    again.charge("x", 0.1)
    assert len(ledger.entries()) == 1


def sql_of_the_page():
    return re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_roles_on_the_page_have_the_rights_it_describes(server, database, url, tmp_path, monkeypatch):
    import psycopg

    make, grant, raise_limit = sql_of_the_page()
    server.execute(make.replace("CREATE DATABASE patients OWNER ledger_owner;", ""))
    for user in ("ledger_owner", "ann", "ben", "eve"):
        server.execute(f"ALTER ROLE {user} PASSWORD 'correct horse'")
    server.execute(f"ALTER DATABASE {database} OWNER TO ledger_owner")
    owner = BudgetLedger(server.url(database, "ledger_owner"), 1.0)
    with contextlib.closing(
        psycopg.connect(server.url(database, "ledger_owner").replace("+psycopg", ""))
    ) as connection:
        connection.execute(grant)
        connection.commit()
    ann, ben, eve = (BudgetLedger(server.url(database, user), 1.0) for user in ("ann", "ben", "eve"))
    ann.charge("ann's", 0.5)
    for only_reads in (ben, eve):
        assert only_reads.spent() == (0.5, 0.0)
        with pytest.raises(PermissionError, match="this user lacks a privilege"):
            only_reads.charge("theirs", 0.1)

    def refused(user, sql):
        login = server.url(database, user).replace("+psycopg", "")
        refusal = pytest.raises(psycopg.errors.InsufficientPrivilege)
        with contextlib.closing(psycopg.connect(login)) as connection, refusal:
            connection.execute(sql)

    for user in ("ann", "ben", "eve"):
        for change in ("UPDATE skdpmic.entries SET epsilon = 0.1", "UPDATE skdpmic.limits SET epsilon = 10"):
            refused(user, change)
        for change in ("DELETE FROM", "TRUNCATE", "DROP TABLE"):
            refused(user, f"{change} skdpmic.entries")
        if user != "eve":
            refused(user, raise_limit)
    with contextlib.closing(psycopg.connect(server.url(database, "eve").replace("+psycopg", ""))) as connection:
        connection.execute(raise_limit)
        connection.commit()
    with pytest.raises(ValueError, match=r"are .* = \(5.0, 0.0, 'basic', None\)"):
        owner.charge("under the old limit", 0.1)
    ann = BudgetLedger.open(server.url(database, "ann"))
    ann.charge("under the new limit", 4.5)
    assert ann.remaining() == (0.0, 0.0)


def test_the_migration_on_the_page_works(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = BudgetLedger("patients.db", 3.0)
    fit = {"n": 100, "release": "scores", "mechanism": "laplace", "epsilon_of_target": 0.1}
    file.for_purpose("a report").charge_entry(LedgerEntry("first", 0.5, **fit))
    file.charge("second", 0.25, rho=0.01)
    blocks = re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        assert code.count("postgresql+psycopg://ann@db.example.org/patients") == 1
        exec(code.replace("postgresql+psycopg://ann@db.example.org/patients", url), {})
    moved = BudgetLedger.open(url)
    assert [e._replace(when="") for e in moved.entries()] == [e._replace(when="") for e in file.entries()[:2]]
    with pytest.raises(BudgetError):
        file.charge("by someone unaware of the move", 1e-9)
