"""The source ``acme_database``: one candidate in each row that a query gives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import ClassVar

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError

from audit_lib.errors import InputError, SpecError
from audit_lib.options import Options
from audit_lib.sample.sources import SOURCES, Input, Source
from audit_lib.sample.tables import Record, RecordStream
from audit_lib.window import Window

AT_A_TIME = 1000


class DatabaseOptions(Options):
    """Where the database is, and what is asked of it."""

    url_env: str = Field(
        description="Environment variable with the database's URL, which may hold a password."
    )
    name: str = Field(description="What evidence and report call the data.")
    query: str = Field(description="A SELECT in a fixed order; :start and :end are the ends of the window.")


@SOURCES("acme_database")
class Database(Source):
    """Candidates in a database that SQLAlchemy can reach."""

    Options: ClassVar[type[Options]] = DatabaseOptions

    def inputs(self, window: Window) -> Iterator[tuple[str, Input]]:
        """Yield the query's rows."""
        yield self.options.name, RecordStream(self._records(window))

    def check(self) -> None:
        """Refuse a query that says no order: the same rows in another order are other bytes."""
        if "order by" not in self.options.query.lower():
            raise SpecError("source.options.query: has no ORDER BY; say in which order the rows are read")

    def unreadable(self) -> Iterator[InputError]:
        """Yield an error if the database does not answer."""
        try:
            with self._engine().connect() as connection:
                connection.execute(sa.text("SELECT 1"))
        except (SQLAlchemyError, InputError) as error:
            yield self._unreachable(error)

    def _records(self, window: Window) -> Iterator[Record]:
        query = sa.text(self.options.query)
        asked = {"start": window.start, "end": window.end}
        bound = {name: value for name, value in asked.items() if f":{name}" in self.options.query}
        try:
            with self._engine().connect().execution_options(yield_per=AT_A_TIME) as connection:
                for number, row in enumerate(connection.execute(query, bound).mappings(), start=1):
                    yield Record(dict(row), f"{self.options.name}, row {number}")
        except SQLAlchemyError as error:
            raise self._unreachable(error) from None

    def _engine(self) -> sa.Engine:
        url = os.environ.get(self.options.url_env)
        if url is None:
            raise InputError(f"source.options.url_env: the variable {self.options.url_env} is not set")
        return sa.create_engine(url)

    def _unreachable(self, error: Exception) -> InputError:
        # The driver's own words may repeat the URL, and the password in it.
        said = str(error) if isinstance(error, InputError) else type(error).__name__
        return InputError(f"{self.options.name}: the database cannot be read ({said})")
