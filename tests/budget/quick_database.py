"""SQLite through SQLAlchemy, for quick tests of what all databases share.

Not available to users. Locks and lost replies of a real server are tested in
``test_ledger_database.py``.
"""

from pathlib import Path

import pytest

URL = "postgresql+psycopg://ann@budget.example.org/patients"


def install(monkeypatch, folder):
    """Keep every database ledger in a folder from now on, one for each URL. Return a map from URL to file."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="ledgers of databases need it")
    from skdpmic.budget.ledger_database import DatabaseStorage

    def file_of(url):
        return Path(folder) / f"{sqlalchemy.make_url(url).database}.sqlite"

    def create_engine(storage):
        options = {"isolation_level": "SERIALIZABLE", "poolclass": sqlalchemy.pool.NullPool, "hide_parameters": True}
        engine = sqlalchemy.create_engine(f"sqlite:///{file_of(storage.path)}", **options)

        @sqlalchemy.event.listens_for(engine, "connect")
        def begin_nothing(connection, record):
            connection.isolation_level = None  # otherwise reads are outside transactions

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin(connection):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    monkeypatch.setattr(DatabaseStorage, "_create_engine", create_engine)
    return file_of
