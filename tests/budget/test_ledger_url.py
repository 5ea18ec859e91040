"""The URL of a ledger never shows its password. Also what all databases share, tested with a quick one."""

import contextlib
import copy
import os
import pickle
import sqlite3
import sys
import traceback
from datetime import datetime
from pathlib import PurePosixPath

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger, DPMICScorer
from skdpmic.budget import ledger, ledger_database
from tests.budget import quick_database
from tests.budget.quick_database import URL
from tests.budget.test_ledger_file import CHANGES, filled, uses
from tests.folding import each

pytest.importorskip("sqlalchemy", reason="ledgers of databases need it")
SECRET = "s3cr%40t"
SECRETS = ("s3cr", "s3kr")  # as it may be percent-encoded
WITH_PASSWORD = [
    (f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db", "postgresql+psycopg://ann@127.0.0.1:1/db"),
    (f"postgresql+psycopg://ann@127.0.0.1:1/db?password={SECRET}", "postgresql+psycopg://ann@127.0.0.1:1/db"),
    (
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db?sslpassword=s3kr&sslmode=disable",
        "postgresql+psycopg://ann@127.0.0.1:1/db?sslmode=disable",
    ),
]


@pytest.fixture
def file_of(monkeypatch, tmp_path):
    return quick_database.install(monkeypatch, tmp_path)


def has_secret(text):
    return any(secret in str(text) for secret in SECRETS)


# --- Passwords ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url, shown", WITH_PASSWORD)
def test_a_password_is_neither_shown_nor_pickled(url, shown, file_of):
    ledger = BudgetLedger(url, 1.0)
    assert ledger.path == shown
    assert not has_secret(f"{ledger!r} {ledger._storage!r} {vars(ledger)}")
    assert not has_secret(pickle.dumps(ledger))
    assert not has_secret(pickle.dumps(ledger, 0))
    assert not has_secret(repr(DPMICScorer(ledger=ledger)))
    assert ledger == BudgetLedger.open(shown)
    assert hash(ledger) == hash(BudgetLedger.open(shown))
    with pytest.raises(BudgetError) as raised:
        ledger.charge("too much", 2.0)
    assert not has_secret(raised.value)


@pytest.mark.parametrize("url, shown", WITH_PASSWORD)
def test_copies_know_the_password_and_pickles_do_not(url, shown, file_of):
    ledger = BudgetLedger(url, 1.0)
    for copied in (copy.copy(ledger), copy.deepcopy(ledger), ledger.for_purpose("a report")):
        assert copied._storage._url == ledger._storage._url
    again = pickle.loads(pickle.dumps(ledger))
    assert again == ledger
    assert not has_secret(again._storage._url.render_as_string(hide_password=False))


def lines_of(error):
    """The package's own lines of a traceback and its causes, with the values of all variables."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    while shown is not None:
        yield str(shown)
        for frame in shown.stack:
            if f"skdpmic{os.sep}" in frame.filename and "tests" not in frame.filename:
                yield str(frame.locals)
        shown = shown.__cause__ or shown.__context__


@pytest.mark.parametrize("make", [lambda url: BudgetLedger(url, 1.0), BudgetLedger.open])
@pytest.mark.parametrize(
    "url",
    [url for url, _ in WITH_PASSWORD]
    + [
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:port/db",
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db?my_password={SECRET}",
        f"nonsense://ann:{SECRET}@127.0.0.1:1/db",
        f"sqlite:///{SECRET}?password={SECRET}",
        f" postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db",
        f"postgresql+psycopg:/ann:{SECRET}@127.0.0.1:1/db",
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db".encode(),
        PurePosixPath(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/db"),
        "postgresql+psycopg://ann:s3cr\udce9@127.0.0.1:1/db",  # not UTF-8, as passed by the operating system
    ],
)
def test_no_message_or_traceback_shows_the_password_of_an_unreachable_server(url, make):
    pytest.importorskip("psycopg", reason="the URLs name it")
    with pytest.raises((OSError, ValueError)) as raised:
        make(url)
    assert not any(has_secret(line) for line in lines_of(raised.value))
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_the_error_for_a_missing_module_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        ImportError,
        match=r"requires the module 'psycopg'. For postgresql\+psycopg://, install it by pip install 'skdpmic\[team\]'",
    ):
        BudgetLedger(URL, 1.0)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ImportError, match=r"requires SQLAlchemy: pip install 'skdpmic\[team\]'"):
        BudgetLedger(URL, 1.0)


def test_an_estimator_from_another_machine_is_shown_although_a_module_of_its_ledger_is_missing(monkeypatch, file_of):
    pickled = pickle.dumps(DPMICScorer(ledger=BudgetLedger(URL, 1.0)))
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    assert "spent=unknown, because it cannot be read" in repr(pickle.loads(pickled))


def test_other_databases_are_refused(tmp_path):
    for url in (f"sqlite:///{tmp_path}/budget.db", "mysql+pymysql://ann@budget.example.org/patients"):
        with pytest.raises(ValueError, match="path must be the path of a file, or a URL of PostgreSQL"):
            BudgetLedger(url, 1.0)
    assert os.listdir(tmp_path) == []


@each("path", ["budget.db", "C:/budget.db", "/a//b.db", "c://x", "./postgresql", ""])
def test_paths_are_not_taken_for_urls(path):
    assert not ledger_database.is_url(path)


# --- Databases that are not, or no longer, ledgers ----------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("change, message", CHANGES["all"] + CHANGES["database"])
def test_the_error_says_what_was_changed(file_of, change, message):
    ledger = filled(URL, 5)
    with contextlib.closing(sqlite3.connect(file_of(URL), isolation_level=None)) as connection:
        assert connection.execute("SELECT epsilon FROM entries WHERE number = 3").fetchone() == (1.2,)
        connection.execute(change)
    for use in uses(ledger).values():
        with pytest.raises(ValueError, match=f"patients' is not a privacy ledger, or is damaged .*{message}"):
            use()


def test_limits_may_be_raised_and_never_lowered(file_of):
    ledger = filled(URL, 2)
    storage = ledger._storage
    for epsilon, message in ((2000.0, r"\(2000.0, 0.5, 'zcdp', None\), got \(1000.0"), (900.0, "limits were changed")):
        with storage.engine.begin() as connection:
            rows = connection.exec_driver_sql("SELECT * FROM skdpmic.limits ORDER BY number")
            *_, (number, _, *others, digest) = rows
            new = ledger_database._digest_of_limits(digest, (epsilon, *others))
            ledger_database._insert(connection, "limits", (number + 1, epsilon, *others, new))
        with pytest.raises(ValueError, match=message):
            ledger.charge("x", 0.5)
        if epsilon == 2000.0:
            raised = BudgetLedger.open(URL)
            raised.charge("x", 0.5)
            assert len(raised.entries()) == 3


# --- Times and lost replies ---------------------------------------------------------------------------------------


class Clock:
    """A client's clock, which is wrong."""

    @staticmethod
    def now(zone):
        return datetime(1999, 1, 1, tzinfo=zone)


def test_times_come_from_the_server_and_never_go_back(file_of, monkeypatch):
    shared = BudgetLedger(URL, 1.0)
    shared.charge("one", 0.1)
    monkeypatch.setattr(ledger, "datetime", Clock)
    shared.charge("two", 0.1)
    monkeypatch.setattr(ledger_database, "_CLOCK", "'2001-01-01'")
    shared.charge("three", 0.1)
    whens = [entry.when for entry in shared.entries()]
    assert whens == sorted(whens)
    assert whens[0] > "2025"
    assert whens[2] == whens[1]


def lose_answers(monkeypatch, n_lost, is_written, then=None):
    """The first COMMITs of charges fail as if the connection were cut off."""
    import sqlalchemy
    from sqlalchemy.exc import OperationalError

    commit, lost = sqlalchemy.Connection.commit, []

    def cut(self):
        if len(lost) < n_lost:
            lost.append(1)
            if is_written:
                commit(self)
            if then is not None:
                then()
            raise OperationalError("COMMIT", {}, ConnectionError("cut off"))
        commit(self)

    monkeypatch.setattr(sqlalchemy.Connection, "commit", cut)
    return lost


@pytest.mark.parametrize("is_written", [True, False])
def test_a_charge_whose_reply_is_lost_is_written_once(file_of, monkeypatch, is_written):
    ledger = BudgetLedger(URL, 1.0)
    assert lose_answers(monkeypatch, 3, is_written) == []
    ledger.charge("one", 0.6)
    assert [entry.what for entry in ledger.entries()] == ["one"]
    with pytest.raises(BudgetError):
        ledger.charge("two", 0.6)


def test_a_charge_whose_outcome_is_unknown_counts_as_spent_and_says_so(file_of, monkeypatch):
    monkeypatch.setattr(ledger_database, "_WAIT", 0.1)
    shared = BudgetLedger(URL, 1.0)

    def move_away():
        os.rename(file_of(URL), f"{file_of(URL)}.away")
        os.mkdir(file_of(URL))

    lose_answers(monkeypatch, 1, True, then=move_away)
    drawn = []
    monkeypatch.setattr("skdpmic.privacy.mechanisms.discrete_laplace", lambda *arguments: drawn.append(arguments))
    rng = np.random.default_rng(0)
    scorer = DPMICScorer(epsilon=0.5, bounds=(0, 1), target_bounds=(0, 1), ledger=shared)
    with pytest.raises(
        OSError, match=r"may have been written: the answer was lost.* Count it as spent, and publish no"
    ):
        scorer.fit(rng.random((60, 3)), rng.random(60))
    assert drawn == []
    os.rmdir(file_of(URL))
    os.rename(f"{file_of(URL)}.away", file_of(URL))
    assert shared.spent() == (0.5, 0.0)
