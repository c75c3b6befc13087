"""Whatever else the measure stage wrote: tables of kinds this page has no words for, printed as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from audit_lib.report.blocks import Block, Cell, Column, Fold, Paragraph, Row, Section, Table, code, text
from audit_lib.report.content import Content, in_words
from audit_lib.report.numbers import UNDEFINED, count, decimal

KNOWN: Final = frozenset(
    {
        "schema", "experiment", "rows", "missingness", "label_mass", "tables", "estimates", "scores",
        "heterogeneity", "multiplicity", "suppressed", "demographics", "strata_identical", "leakage",
    }
)  # fmt: skip
_MOST_ROWS: Final = 60
_MOST_TABLES: Final = 40


def others(content: Content) -> Section | None:
    """Make the section, or none where there is nothing else."""
    kinds = {kind.name for kind in content.policy.tables}
    blocks: list[Block] = []
    for table in content.metrics["tables"]:
        if table["kind"] not in kinds:
            blocks += _table(_title(table), table.get("rows"))
    for key, value in content.metrics.items():
        if key not in KNOWN and value:
            blocks += _part(key, value)
    if not blocks:
        return None
    lead: list[Block] = [
        Paragraph(text("Further results of this audit's metrics. All of it is in ", code("report.json"), "."))
    ]
    return Section("others", "Further tables", (*lead, *blocks[:_MOST_TABLES]))


def _title(table: Mapping[str, Any]) -> str:
    parts = [str(table.get(key, "")).replace("_", " ") for key in ("kind", "family")]
    where = in_words(table["stratum"]) if isinstance(table.get("stratum"), Mapping) else ""
    return ", ".join(filter(None, [*parts, where])).capitalize()


def _part(key: str, value: Any) -> Iterable[Block]:
    title = key.replace("_", " ").capitalize()
    if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
        yield from _table(title, value)
    elif isinstance(value, Mapping):
        yield from _table(title, [{"": name, **_row(item)} for name, item in value.items()])


def _row(item: Any) -> Mapping[str, Any]:
    return item if isinstance(item, Mapping) and set(item) != {"undefined"} else {"value": item}


def _table(title: str, rows: Any) -> Iterable[Block]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return
    flat = [dict(_flat(row)) for row in rows]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    if not columns:
        return
    numeric = {c: all(not isinstance(row.get(c), str) for row in flat) for c in columns}
    notes = (
        (f"The first {_MOST_ROWS} of {count(len(flat))} rows; all are in report.json.",)
        if len(flat) > _MOST_ROWS
        else ()
    )
    yield Fold(
        title,
        (
            Table(
                title,
                (
                    Column(columns[0].capitalize() or "Name", numeric=False),
                    *(Column(c.capitalize(), numeric=numeric[c]) for c in columns[1:]),
                ),
                tuple(
                    Row(_printed(row.get(columns[0])), tuple(Cell(_printed(row.get(c))) for c in columns[1:]))
                    for row in flat[:_MOST_ROWS]
                ),
                notes,
            ),
        ),
    )


def _flat(row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Columns of a row: plain values as they are, levels in words; lists of results are left to the JSON."""
    for key, value in row.items():
        name = key.replace("_", " ")
        if isinstance(value, Mapping):
            if "value" in value:  # an estimate
                yield name, _plain(value["value"])
            elif set(value) == {"undefined"}:
                yield name, None
            elif all(isinstance(item, str) for item in value.values()):
                yield name, in_words(value)
        elif not isinstance(value, list):
            yield name, value


def _plain(value: Any) -> Any:
    return None if isinstance(value, Mapping) else value


def _printed(value: Any) -> str:
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    return decimal(value, 4) if isinstance(value, float) else str(value)
