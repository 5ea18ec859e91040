"""SQLite through SQLAlchemy, for quick tests of what all databases share.

Not available to users. Locks and lost replies of a real server are tested in
``test_ledger_database.py``.
"""

import re
from pathlib import Path

import pytest

# What SQLite lacks. It has no lock but the one on its file, and forgets nothing that it has written.
IN_SQLITE = {
    r"(SET LOCAL|LOCK TABLE|CREATE SCHEMA) .*": "SELECT 1",
    r"SHOW .*": "SELECT 'on'",
    r"to_char\(clock_timestamp.*": "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
}
URL = "postgresql+psycopg://ann@budget.example.org/patients"


def install(monkeypatch, folder):
    """Keep every database ledger in a folder from now on, one for each URL. Return a map from URL to file."""
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="ledgers of databases need it")
    from skdpmic.budget.ledger_database import DatabaseStorage

    def file_of(url):
        return Path(folder) / f"{sqlalchemy.make_url(url).database}.sqlite"

    def create_engine(storage):
        options = {"isolation_level": "SERIALIZABLE", "poolclass": sqlalchemy.pool.NullPool, "hide_parameters": True}
        engine = sqlalchemy.create_engine("sqlite://", **options)

        @sqlalchemy.event.listens_for(engine, "connect")
        def begin_nothing(connection, record):
            connection.isolation_level = None  # otherwise reads are outside transactions
            connection.execute("ATTACH ? AS skdpmic", (str(file_of(storage.path)),))

        @sqlalchemy.event.listens_for(engine, "before_cursor_execute", retval=True)
        def in_sqlite(connection, cursor, statement, parameters, context, is_many):
            for of_server, of_file in IN_SQLITE.items():
                statement = re.sub(of_server, of_file, statement)
            return statement, parameters

        @sqlalchemy.event.listens_for(engine, "begin")
        def begin(connection):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    monkeypatch.setattr(DatabaseStorage, "engine", property(create_engine))
    return file_of
