"""The source ``sql``: the rows of a query, one candidate each, read through SQLAlchemy with a cursor of the server."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import Field, field_validator

from audit_lib.errors import AuditError, InputError, SpecError, StoreUnreachableError
from audit_lib.options import Options
from audit_lib.sample.blocks import BLOCK_ROWS
from audit_lib.sample.sources import SOURCES, Input, Source
from audit_lib.sample.tables import Record, RecordStream
from audit_lib.window import Window

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection

_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.S)
_PARAMETER: Final = re.compile(r"(?<![:\w\\]):(\w+)(?!:)")
_KNOWN: Final = ("window_start", "window_end")
_LONGEST: Final = 300


class SqlOptions(Options):
    """What is asked, and of which database."""

    query: str = Field(
        description="One SELECT that ends with ORDER BY, so that it gives the same rows in the same order; "
        ":window_start and :window_end are bound to the ends of the window, the second not in it; with "
        "source.once.late_days the first is so many days earlier."
    )
    url_env: str = Field(
        "AUDIT_SOURCE_URL",
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="Name of the environment variable that holds the database's SQLAlchemy URL, such as "
        "postgresql+psycopg2://reader@db/hr. A spec holds no secret.",
    )
    name: str = Field(
        "sql",
        min_length=1,
        description="What evidence and report call the data; the database's address is in neither.",
    )
    window_as: Literal["timestamp", "text", "unix_s"] = Field(
        "timestamp",
        description="How the ends of the window are bound, as the query's column is: a timestamp, text, or seconds "
        "since 1970. As text, and as a timestamp on SQLite, which has only text, days are bound that hold the window "
        "however a time is written; what lies outside is left out by its time.",
    )

    @field_validator("query")
    @classmethod
    def _reads(cls, value: str) -> str:
        plain = _COMMENT.sub(" ", value).strip().rstrip(";").strip()
        if not re.match(r"(select|with|values)\b", plain, re.I):
            raise ValueError("is not a SELECT; an audit reads, and changes nothing")
        if ";" in re.sub(r"'[^']*'", "", plain):
            raise ValueError("holds several statements; give one SELECT")
        if not re.search(r"\border\s+by\b", plain, re.I):
            raise ValueError(
                "has no ORDER BY: a database gives rows in any order, and the same audit twice would have other bytes; "
                "order by an id"
            )
        for name in dict.fromkeys(_PARAMETER.findall(value)):
            if name not in _KNOWN:
                raise ValueError(
                    f"has the parameter :{name}; there are {' and '.join(f':{one}' for one in _KNOWN)}, and a colon "
                    "that is meant as one is written \\:"
                )
        return value


@SOURCES("sql")
class SqlRows(Source):
    """The rows of a query over any database that SQLAlchemy speaks to, one candidate in each.

    Columns have the names that the query gives them. The transaction is read-only where the database knows of such,
    and is never committed; rows come over a cursor of the server, some thousand at a time. The evidence holds the query
    and a digest of its rows, and never the database's address.
    """

    Options: ClassVar[type[Options]] = SqlOptions
    options: SqlOptions

    def inputs(self, window: Window) -> Iterator[tuple[str, Input]]:
        """Yield the rows of the query for a window."""
        yield self.options.name, RecordStream(self._records(window))

    def check(self) -> None:
        """Refuse a query that reads the same rows for every window, where windows are to differ."""
        if self.spec.source.windowed and not _PARAMETER.search(self.options.query):
            raise SpecError(
                "source.options.query: names neither :window_start nor :window_end, so every window would read the "
                "whole table; bound it, such as WHERE decided_at >= :window_start AND decided_at < :window_end, or set "
                "source.windowed: false"
            )

    def unreadable(self) -> Iterator[AuditError]:
        """Yield an error if the database cannot be reached now."""
        try:
            with self._connection():
                pass
        except AuditError as error:
            yield error

    def _records(self, window: Window) -> Iterator[Record]:
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        named = set(_PARAMETER.findall(self.options.query))
        with self._connection() as connection:
            ends = self._ends(window, connection.dialect.name)
            bound = {name: value for name, value in ends.items() if name in named}
            number = 0
            try:
                rows = connection.execution_options(stream_results=True, yield_per=BLOCK_ROWS).execute(
                    text(self.options.query), bound
                )
                names = list(rows.keys())
                if repeated := next((one for place, one in enumerate(names) if one in names[:place]), None):
                    raise InputError(
                        f"source.options.query: two columns of the query have the name {repeated!r}; rename one (AS)"
                    )
                for number, row in enumerate(rows, start=1):
                    where = f"{self.options.name}, row {number}"
                    values = {name: _cell(value, where, name) for name, value in zip(names, row, strict=True)}
                    yield Record(values, where, is_text=True)
            except SQLAlchemyError as error:
                after = f" after {number} rows" if number else ""
                raise self._refused(error, f"the query failed{after}") from None

    def _ends(self, window: Window, dialect: str) -> Mapping[str, Any]:
        once = self.spec.source.once
        start = window.start - dt.timedelta(days=0 if once is None else once.late_days)
        ends = {"window_start": start.astimezone(dt.UTC), "window_end": window.end.astimezone(dt.UTC)}
        is_text = self.options.window_as == "text" or (
            self.options.window_as == "timestamp" and dialect == "sqlite"
        )
        if is_text and self.spec.source.windowed:
            # Text compares letter by letter: "T" or a blank, an offset or none. Days apart no letter after them counts.
            return {
                "window_start": (ends["window_start"] - dt.timedelta(days=1)).date().isoformat(),
                "window_end": (ends["window_end"] + dt.timedelta(days=2)).date().isoformat(),
            }
        if is_text:
            return {name: end.isoformat() for name, end in ends.items()}
        if self.options.window_as == "unix_s":
            return {name: int(end.timestamp()) for name, end in ends.items()}
        return ends

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        if find_spec("sqlalchemy") is None:
            raise AuditError(
                "source.kind sql needs sqlalchemy; pip install 'audit-lib[sql]', and your database's driver"
            )
        from sqlalchemy import create_engine
        from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

        url = self._url()
        try:
            engine = create_engine(url)
        except NoSuchModuleError:
            raise SpecError(
                f"{self.options.url_env}: SQLAlchemy has no dialect {url.drivername!r}; install the one of your "
                "database"
            ) from None
        except ModuleNotFoundError as error:
            raise AuditError(
                f"{self.options.url_env}: {url.drivername} needs the driver {error.name}; pip install it"
            ) from None
        try:
            try:
                connection = engine.connect()
            except (SQLAlchemyError, OSError) as error:
                raise self._refused(error, "the database cannot be reached") from None
            with connection:
                if engine.dialect.name == "postgresql":
                    connection = connection.execution_options(postgresql_readonly=True)
                yield connection
                connection.rollback()
        finally:
            engine.dispose()

    def _url(self) -> URL:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        name = self.options.url_env
        given = os.environ.get(name, "").strip()
        if not given:
            raise InputError(
                f"source.options.url_env: {name} is not set; set it to the database's SQLAlchemy URL, such as "
                "postgresql+psycopg2://reader@db/hr (in Airflow by a connection: AUDIT_SOURCE_CONN_IDS)"
            )
        try:
            return make_url(given)
        except ArgumentError:
            raise InputError(
                f"{name} does not hold an SQLAlchemy URL such as postgresql+psycopg2://reader@db/hr"
            ) from None

    def _refused(self, error: Exception, what: str) -> AuditError:
        """Return what the database said, without the password and without what it quotes of a row."""
        from sqlalchemy.exc import InterfaceError, OperationalError

        told = " ".join(str(getattr(error, "orig", None) or error).split("\n")[0].split())[:_LONGEST]
        url = self._url()
        for part in (url.password, url.host, url.username):
            told = told.replace(str(part), "[...]") if part else told
        passes = isinstance(error, (OperationalError, InterfaceError, OSError)) and what != "the query failed"
        kind = StoreUnreachableError if passes else InputError
        return kind(f"source.kind sql ({self.options.url_env}): {what}: {told}")


def _cell(value: Any, where: str, name: str) -> Any:
    """Return a value as a cell of a CSV file, which is read by what its column is: databases have 1 for true."""
    if value is None or isinstance(value, (str, list, dt.date)):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, UUID)):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    raise InputError(
        f"{where}: column {name!r} is of type {type(value).__name__}; turn it into text or a number in the query (CAST)"
    )
