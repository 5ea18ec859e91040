"""SQLite as one of the databases that SQLAlchemy reaches, for quick tests of what all of them share.

Users are refused this: the file has promises of its own. Locks and lost answers of a real server are in
``test_ledger_database.py``.
"""

from pathlib import Path

import pytest

URL = "postgresql+psycopg://ann@budget.example.org/patients"


def install(monkeypatch, folder):
    """Let all ledgers of databases be in a folder from now on, one for each URL. Returns how a URL finds its file."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="ledgers of databases need it")
    from skdpmic.budget.ledger_database import DatabaseStorage

    def file_of(url):
        return Path(folder) / f"{sqlalchemy.make_url(url).database}.sqlite"

    def create_engine(storage):
        options = {"isolation_level": "SERIALIZABLE", "poolclass": sqlalchemy.pool.NullPool, "hide_parameters": True}
        engine = sqlalchemy.create_engine(f"sqlite:///{file_of(storage.path)}", **options)

        @sqlalchemy.event.listens_for(engine, "connect")
        def begin_nothing(connection, record):
            connection.isolation_level = None  # or else reading is outside of transactions

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin(connection):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    monkeypatch.setattr(DatabaseStorage, "_create_engine", create_engine)
    return file_of
