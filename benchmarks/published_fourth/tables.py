"""Tables made from an audit's results."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from benchmarks.published_fourth.audit import Audit, Group, Row
from benchmarks.published_fourth.markup import Cell, Table, cells

ORDER = ["applied", "share", "selected", "rate", "ratio"]


@dataclass
class Columns:
    """The headers of a layout's columns, in their order."""

    names: dict[str, str]
    order: list[str] = field(default_factory=lambda: list(ORDER))

    def shown(self, audit: Audit) -> list[str]:
        return audit.columns(self.order)

    def heads(self, audit: Audit) -> list[str]:
        return [self.names[name] for name in self.shown(audit)]

    def values(self, audit: Audit, row: Row) -> list[str]:
        return [row.shown[name] for name in self.shown(audit)]


def flat(
    audit: Audit,
    group: Group,
    family: str,
    columns: Columns,
    first: str,
    *,
    joined: str = "sex first",
    caption: str = "",
) -> Table | None:
    """A row for each category."""
    rows = audit.rows(group, family)
    if rows is None:
        return None
    body = [cells([audit.label(row, joined), *columns.values(audit, row)]) for row in rows]
    return Table([cells([first, *columns.heads(audit)])], body, caption)


def by_sex(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    return [(str(sex), list(found)) for sex, found in groupby(rows, key=lambda row: row.sex)]


def banded(
    audit: Audit, group: Group, columns: Columns, first: str, *, caption: str = "", after: str = ""
) -> Table | None:
    """The intersectional table with a line for each sex above its rows."""
    rows = audit.rows(group, "intersection")
    if rows is None:
        return None
    body = []
    for sex, found in by_sex(rows):
        body.append([Cell(audit.sexes[sex] + after, columns=len(columns.shown(audit)) + 1, bold=True)])
        body += [cells([audit.races[str(row.race)], *columns.values(audit, row)]) for row in found]
    return Table([cells([first, *columns.heads(audit)])], body, caption)


def spanned(audit: Audit, group: Group, columns: Columns, first: list[str], caption: str) -> Table | None:
    """The intersectional table with a cell for each sex beside its rows."""
    rows = audit.rows(group, "intersection")
    if rows is None:
        return None
    body = []
    for sex, found in by_sex(rows):
        for at, row in enumerate(found):
            lead = [Cell(audit.sexes[sex], rows=len(found))] if at == 0 else []
            body.append([*lead, *cells([audit.races[str(row.race)], *columns.values(audit, row)])])
    return Table([cells([*first, *columns.heads(audit)])], body, caption)


def nested(audit: Audit, group: Group, columns: Columns, caption: str) -> Table | None:
    """The intersectional table in the rule's own form: Hispanic or not, then sex, then race."""
    rows = audit.rows(group, "intersection")
    if rows is None:
        return None
    hispanic = [row for row in rows if row.race == "hisp"]
    others = [row for row in rows if row.race != "hisp"]
    sexes = [row.sex for row in rows]
    others.sort(key=lambda row: sexes.index(row.sex))
    body = []
    for at, row in enumerate(hispanic):
        lead = [Cell("Hispanic or Latino", rows=len(hispanic))] if at == 0 else []
        body.append([*lead, Cell(audit.sexes[str(row.sex)], columns=2), *cells(columns.values(audit, row))])
    for sex, found in by_sex(others):
        for at, row in enumerate(found):
            lead = [Cell("Not Hispanic or Latino", rows=len(others))] if row is others[0] else []
            lead += [Cell(audit.sexes[sex], rows=len(found))] if at == 0 else []
            race = audit.races[str(row.race)].replace(" (Not Hispanic or Latino)", "")
            body.append([*lead, *cells([race, *columns.values(audit, row)])])
    return Table([[Cell("", columns=3), *cells(columns.heads(audit))]], body, caption)
