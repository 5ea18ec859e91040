"""A query has the types of DuckDB, does nothing but select, and reads no text whose types would be guessed."""

import datetime

import duckdb
import pyarrow
import pytest

from skdpmic.codebook.column import entry_of
from skdpmic.command_line.data_source import Query
from tests._utils.test_canary import SECRET, assert_says_nothing

HOURS = entry_of({"type": "duration", "range": [0, 9], "unit": "hours"}, "")


@pytest.fixture
def database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(f"name,age\n{SECRET},40\n")
    (tmp_path / "people.json").write_text(f'[{{"name": "{SECRET}", "age": 40}}]')
    path = str(tmp_path / "people.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("create table people (name varchar, age integer, wait decimal(4, 2))")
        connection.execute(f"insert into people values ('patient {SECRET}', 40, 1.5), ('other', null, 2)")
        connection.execute("create view guessed as select * from read_csv('people.csv')")
    return path


def read(query, **entries):
    return query.read(entries, lambda n: None)


def test_only_the_columns_with_an_entry_are_read_in_the_order_of_the_query(database):
    query = Query("select name, wait, age from people order by age", database)
    assert query.names == query.outline.names == ["name", "wait", "age"]
    assert query.outline.field("age").type == pyarrow.int32()
    table = read(query, age=entry_of((0, 110), ""), wait=HOURS)
    assert table.to_pydict() == {
        "wait": [datetime.timedelta(hours=1.5), datetime.timedelta(hours=2)],
        "age": [40, None],
    }


def test_a_name_may_hold_anything(database):
    query = Query("""select age as "a ""b"" c.d" from people order by age""", database)
    assert read(query, **{'a "b" c.d': None}).to_pydict() == {'a "b" c.d': [40, None]}


@pytest.mark.parametrize(
    "sql, message",
    [
        ("drop table people", "a single SELECT statement"),
        ("select 1; drop table people", "a single SELECT statement"),
        ("copy people to 'stolen.csv'", "a single SELECT statement"),
        ("selec 1", "--query cannot be run: Parser Error"),
        ("select wage from people", 'Referenced column "wage" not found'),
        ("from nowhere", "Table with name nowhere does not exist.$"),
        ("select age, age from people", "distinct column names"),
        ("from 'people.csv'", "must not read CSV, whose types are guessed"),
        ("with p as (select * from read_csv('people.csv')) select age from p", "must not read CSV"),
        ("from guessed", "must not read CSV"),
        ("from 'people.json'", "must not read JSON"),
    ],
)
def test_what_is_no_plain_query_is_refused(sql, message, database, tmp_path):
    with pytest.raises(ValueError, match=message) as caught:
        Query(sql, database)
    assert_says_nothing(caught.value)
    assert read(Query("select age from people order by age", database), age=None).num_rows == 2
    assert not (tmp_path / "stolen.csv").exists()


def test_variables_of_the_program_are_no_tables(database):
    stolen = pyarrow.table({"a": [1]})
    with pytest.raises(ValueError, match="does not exist"):
        Query("from stolen", database)
    assert stolen.num_rows == 1


def test_an_error_on_the_way_quotes_no_value(database):
    with pytest.raises(ValueError, match=r"the result of --query could not be read: .* ConversionException") as caught:
        read(Query("select name::integer as age from people", database), age=None)
    assert_says_nothing(caught.value)


def test_a_database_that_is_not_there_is_not_created(tmp_path):
    with pytest.raises(FileNotFoundError):
        Query("select 1", str(tmp_path / "none.duckdb"))
    assert not (tmp_path / "none.duckdb").exists()
