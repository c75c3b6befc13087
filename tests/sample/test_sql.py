"""The rows of a query: the same sample as of the same rows in a file, refused where it could not be made again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_lib.errors import InputError, SpecError, StoreUnreachableError
from audit_lib.preflight import preflight
from audit_lib.sample.sources import source_of
from tests.postgres import postgres_server
from tests.sample import cases
from tests.specs import load

sa = pytest.importorskip("sqlalchemy", reason="the extra sql is not installed")

COLUMNS = "prompt_id, application_id, position, resume, sex, race, occurred_at, qualified, recorded_score"
WINDOWED = f"""
SELECT {COLUMNS} FROM applications
WHERE occurred_at >= :window_start AND occurred_at < :window_end ORDER BY prompt_id
"""


def fill(url: str) -> None:
    """Write the applicants, the last first."""
    engine = sa.create_engine(url)
    kind = "TIMESTAMP WITH TIME ZONE" if engine.dialect.name == "postgresql" else "TEXT"
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE TABLE applications (prompt_id TEXT, application_id TEXT, position TEXT, resume TEXT, sex TEXT, "
                f"race TEXT, occurred_at {kind}, qualified BOOLEAN, recorded_score NUMERIC)"
            )
        )
        values = ", ".join(f":{name}" for name in COLUMNS.split(", "))
        connection.execute(
            sa.text(f"INSERT INTO applications ({COLUMNS}) VALUES ({values})"), cases.people()[::-1]
        )
    engine.dispose()


@pytest.fixture
def sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'people.db'}"
    fill(url)
    monkeypatch.setenv("AUDIT_SOURCE_URL", url)
    return url


def of_query(query: str = WINDOWED, **options: Any) -> dict[str, Any]:
    return {"kind": "sql", "paths": [], "options": {"query": query, "window_as": "text", **options}}


@pytest.mark.usefixtures("sqlite")
def test_the_rows_of_a_query_are_sampled_as_those_of_a_file_are(tmp_path: Path) -> None:
    cases.write(tmp_path, "people.csv", cases.people())
    of_file = cases.run(tmp_path, source={"paths": ["people.csv"]})
    found = cases.run(tmp_path, source=of_query(name="the hiring database"))
    assert found.artefacts["prompts.parquet"] == of_file.artefacts["prompts.parquet"]
    (told,) = cases.document(found)["sources"]
    assert (told["path"], told["rows_read"], told["rows_in_window"]) == ("the hiring database", 9, 7)
    assert "people.db" not in found.artefacts["sample.json"].decode()


@pytest.mark.usefixtures("sqlite")
def test_the_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    first, second = (cases.run(tmp_path, source=of_query()) for _ in range(2))
    assert first.artefacts == second.artefacts


@pytest.mark.slow(reason="starts PostgreSQL")
@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
def test_a_real_postgres_gives_the_same_over_a_cursor_of_the_server_and_changes_nothing(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(driver)
    with postgres_server() as url:
        url = url.replace("psycopg2", driver)
        fill(url)
        monkeypatch.setenv("HR_DATABASE", url)
        options = {"url_env": "HR_DATABASE", "window_as": "timestamp"}
        found = cases.run(tmp_path, source=of_query(**options))
        cases.write(tmp_path, "people.csv", cases.people())
        of_file = cases.run(tmp_path, source={"paths": ["people.csv"]})
        assert found.artefacts["prompts.parquet"] == of_file.artefacts["prompts.parquet"]
        with sa.create_engine(url).begin() as connection:
            connection.execute(
                sa.text(
                    "CREATE FUNCTION taken() RETURNS INT LANGUAGE sql AS 'DELETE FROM applications RETURNING 1'"
                )
            )
        for taken, said in (
            ("SELECT taken() AS prompt_id ORDER BY 1", "read-only transaction"),
            ("WITH gone AS (DELETE FROM applications RETURNING *) SELECT * FROM gone ORDER BY 1", "must not"),
        ):
            with pytest.raises(InputError, match=rf"HR_DATABASE.*{said}"):
                cases.run(tmp_path, source={**of_query(taken, **options), "windowed": False})
        count = "SELECT count(*) FROM applications"
        engine = sa.create_engine(url)
        with engine.connect() as connection:
            assert connection.execute(sa.text(count)).scalar() == 12
            # Row 50,001 cannot be computed: the first comes all the same, since rows come a part at a time.
            many = of_query(
                "SELECT CAST(g AS TEXT) AS prompt_id, CAST(10 / (50001 - g) AS TEXT) AS position "
                "FROM (SELECT 1 ORDER BY 1) AS one, generate_series(1, 100000) AS g",
                **options,
            )
            spec = load(tmp_path, source={**many, "windowed": False})
            ((_, rows),) = source_of(spec).inputs(cases.WEEK)
            assert next(iter(rows)).values["prompt_id"] == "1"
            with pytest.raises(InputError, match="the query failed after [0-9]+ rows: division by zero"):
                list(rows)
        engine.dispose()


@pytest.mark.usefixtures("sqlite")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM applications", "no ORDER BY"),
        ("DELETE FROM applications", "not a SELECT"),
        ("SELECT 1; DROP TABLE applications; SELECT 1 ORDER BY 1", "several statements"),
        ("SELECT * FROM applications WHERE a < :end ORDER BY 1", "parameter :end; there are :window_start"),
        ("-- SELECT\nUPDATE applications SET sex = 'x' ORDER BY 1", "not a SELECT"),
    ],
)
def test_a_query_that_could_not_be_asked_again_is_refused(query: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=rf"source\.options\.query: .*{said}"):
        source_of(load(tmp_path, source=of_query(query)))


@pytest.mark.usefixtures("sqlite")
def test_a_query_without_the_window_is_refused_where_windows_are_to_differ(tmp_path: Path) -> None:
    source = of_query("SELECT * FROM applications ORDER BY prompt_id")
    with pytest.raises(SpecError, match=r"neither :window_start nor :window_end"):
        source_of(load(tmp_path, source={**source, "windowed": True})).check()
    source_of(load(tmp_path, source={**source, "windowed": False})).check()


@pytest.mark.usefixtures("sqlite")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM nobody ORDER BY 1", "AUDIT_SOURCE_URL.*the query failed: no such table: nobody"),
        ("SELECT 1 AS a, 2 AS a ORDER BY 1", "two columns of the query have the name 'a'"),
        ("SELECT x'00' AS prompt_id ORDER BY 1", "column 'prompt_id' is of type bytes; turn it into text"),
        ("SELECT 'p' AS prompt_id ORDER BY 1", "columns are missing: 'position'"),
    ],
)
def test_what_a_query_gives_wrongly_is_named(query: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        cases.run(tmp_path, source={**of_query(query), "windowed": False})


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "AUDIT_SOURCE_URL is not set"),
        ("nonsense", "does not hold an SQLAlchemy URL"),
        ("nosuch://u:hunter2@db/x", "no dialect 'nosuch'"),
        ("sqlite:////no/such/folder/hunter2.db", "the database cannot be reached"),
        ("mysql+mysqldb://u:hunter2@db/x", "needs the driver MySQLdb"),
    ],
)
def test_a_database_that_is_not_there_is_told_before_anything_is_asked(
    url: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if url is None:
        monkeypatch.delenv("AUDIT_SOURCE_URL", raising=False)
    else:
        monkeypatch.setenv("AUDIT_SOURCE_URL", url)
    told = [str(fault.what) for fault in preflight(load(tmp_path, source=of_query()), offline=True)]
    assert any(said in one for one in told), told
    assert not any("hunter2" in one for one in told)


@pytest.mark.slow(reason="asks a server over TCP that refuses")
def test_a_server_that_does_not_answer_may_answer_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg2")
    monkeypatch.setenv("AUDIT_SOURCE_URL", "postgresql+psycopg2://reader:hunter2@127.0.0.1:1/hr")
    with pytest.raises(StoreUnreachableError, match="the database cannot be reached") as raised:
        cases.run(tmp_path, source=of_query())
    assert "hunter2" not in str(raised.value)
    assert "reader" not in str(raised.value)


def test_rows_that_change_type_on_the_way_are_the_files_own(tmp_path: Path, sqlite: str) -> None:
    rows: Iterator[Any] = iter(source_of(load(tmp_path, source=of_query())).inputs(cases.WEEK))
    (_, records) = next(rows)
    first = next(iter(records))
    assert (first.values["qualified"], first.values["recorded_score"], first.where) == (
        "0",
        "0",
        "sql, row 1",
    )


@pytest.mark.parametrize("window_as", ["text", "timestamp"])
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-01-05 00:00:00", "2026-01-11 23:59:59"),
        ("2026-01-05T00:00:00Z", "2026-01-11T23:59:59Z"),
        ("2026-01-05 00:00:00.000000", "2026-01-11 23:59:59.999999"),
        ("2026-01-05T14:00:00+14:00", "2026-01-12T13:59:59+14:00"),
        ("2026-01-04 12:00:00-12:00", "2026-01-11 11:59:59-12:00"),
    ],
)
def test_times_as_text_are_in_their_window_however_they_are_written(
    window_as: str, first: str, last: str, tmp_path: Path, sqlite: str
) -> None:
    assert (cases.WEEK.start.isoformat(), cases.WEEK.end.isoformat()) == (
        "2026-01-05T00:00:00+00:00",
        "2026-01-12T00:00:00+00:00",
    )
    engine = sa.create_engine(sqlite)
    with engine.begin() as connection:
        rows = connection.execute(sa.text("SELECT prompt_id FROM applications ORDER BY prompt_id")).scalars()
        for place, prompt in enumerate(rows.all()):
            connection.execute(
                sa.text("UPDATE applications SET occurred_at = :at WHERE prompt_id = :id"),
                {"at": last if place % 2 else first, "id": prompt},
            )
    engine.dispose()
    (told,) = cases.document(cases.run(tmp_path, source=of_query(window_as=window_as)))["sources"]
    assert told["rows_in_window"] == len(cases.people())
