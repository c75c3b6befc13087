r"""The tables as CSV, in columns that stay: ``tables.csv``, ``estimates.csv`` and ``answers.csv``.

UTF-8, comma, one header line, ``\n``. An empty cell is a number that does not exist or is hidden; the column
``undefined`` says why. Columns are only ever added, at the end.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from audit_lib.records import STATUSES
from audit_lib.report.content import Content, RateTable, TableRow
from audit_lib.report.leading import picked
from audit_lib.report.numbers import guarded
from audit_lib.report.suppress import HIDDEN
from audit_lib.results import Undefined

COLUMNS: Final = (
    "audit", "window", "kind", "family", "stratum", "category", "n", "selected", "share_of_data", "rate",
    "rate_low", "rate_high", "impact_ratio", "ratio_low", "ratio_high", "ratio_low_simultaneous",
    "ratio_high_simultaneous", "comparator", "fisher_p", "below_guideline", "small_cell", "excluded", "undefined",
    "table_total", "table_unknown", "median", "median_ties", "tied_rounds",
)  # fmt: skip
"""Columns of ``tables.csv``: a line a category of a statutory table."""

ESTIMATE_COLUMNS: Final = (
    "audit", "window", "metric", "stratum", "group", "reference", "parameters", "value", "low", "high", "level",
    "interval_method", "n", "n_group", "n_reference", "clusters", "test", "p_value", "p_holm", "flags", "undefined",
    "method",
)  # fmt: skip
"""Columns of ``estimates.csv``: a line an estimate of any metric."""

ANSWER_COLUMNS: Final = ("audit", "window", "stratum", "group", "rows", *STATUSES, "undefined")
"""Columns of ``answers.csv``: a line a group, how many of its rows have which status."""

_DIGITS = 6
_FORMULA: Final = tuple("=+-@\t\r")


def tables_csv(content: Content) -> bytes:
    """Return the statutory tables as CSV; a stratum of the same people as another has its rows too."""
    again = (
        replace(table, stratum=entry["stratum"])
        for entry in content.metrics.get("strata_identical", [])
        for table in content.tables
        if table.stratum == entry["same_as"]
    )
    tables = (*content.tables, *again)
    return csv_bytes(COLUMNS, (_line(content, table, row) for table in tables for row in table.rows))


def estimates_csv(content: Content) -> bytes:
    """Return every estimate beyond the statutory tables as CSV."""
    return csv_bytes(ESTIMATE_COLUMNS, (_run(content) | _estimate(e) for e in content.metrics["estimates"]))


def answers_csv(content: Content) -> bytes:
    """Return the statuses of the rows by group as CSV."""
    return csv_bytes(ANSWER_COLUMNS, (_run(content) | _answers(e) for e in content.metrics["missingness"]))


def csv_bytes(columns: tuple[str, ...], lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Write lines as CSV; text that a spreadsheet would run is made harmless."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _harmless(value) for name, value in line.items()} for line in lines)
    return out.getvalue().encode()


def _harmless(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it."""
    if isinstance(value, str) and value[:1] in _FORMULA:
        try:
            float(value)
        except ValueError:
            return f"'{value}"
    return value


def _run(content: Content) -> dict[str, Any]:
    return {"audit": content.spec.audit, "window": content.key.window.label}


def _pairs(levels: Mapping[str, Any] | None) -> str:
    return ";".join(f"{key}={value}" for key, value in (levels or {}).items())


def _plain(value: Any) -> Any:
    """A number, or nothing where it is undefined or hidden."""
    return None if isinstance(value, Mapping) else value


def _estimate(e: Mapping[str, Any]) -> dict[str, Any]:
    test: Mapping[str, Any] = next(iter(e["tests"]), {})
    parts = [part for part in (e["value"], e["interval"]) if isinstance(part, Mapping)]
    reasons = [part["undefined"] for part in parts if "undefined" in part]
    return {
        "metric": e["metric"],
        "stratum": _pairs(e["stratum"]),
        "group": _pairs(e["group"]),
        "reference": _pairs(e["reference"]),
        "parameters": _pairs(e["parameters"]),
        "value": _plain(e["value"]),
        "low": e["interval"].get("low"),
        "high": e["interval"].get("high"),
        "level": e["interval"].get("level"),
        "interval_method": e["interval"].get("method", ""),
        **{key: _plain(e.get(key)) for key in ("n", "n_group", "n_reference", "clusters")},
        "test": test.get("name", ""),
        "p_value": _plain(test.get("p_value")),
        "p_holm": _plain(e.get("multiplicity", {}).get("holm")),
        "flags": ";".join(e["flags"]),
        "undefined": "; ".join(dict.fromkeys(reasons)),
        "method": e["method"],
    }


def _answers(e: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stratum": _pairs(e["stratum"]),
        "group": _pairs(e["group"]) if e["group"] is not None else "unknown",
        "rows": _plain(e["n"]),
        **{status: _plain(e.get(status)) for status in STATUSES},
        "undefined": e["n"]["undefined"] if isinstance(e["n"], Mapping) else "",
    }


def _line(content: Content, table: RateTable, row: TableRow) -> dict[str, Any]:
    wide = picked(row)
    fisher = next((t["p_value"] for t in row.estimate["tests"] if t["name"] == "fisher_exact"), None)
    undefined = row.ratio.reason if isinstance(row.ratio, Undefined) else ""
    return _run(content) | {
        "kind": table.kind,
        "family": table.family,
        "stratum": _pairs(table.stratum),
        "category": row.label,
        "n": None if row.hidden else row.n,
        "selected": None if row.hidden else row.selected,
        "share_of_data": _number(row.share),
        "rate": _number(row.rate),
        "rate_low": row.rate_estimate["interval"].get("low"),
        "rate_high": row.rate_estimate["interval"].get("high"),
        "impact_ratio": _number(row.ratio, content.policy.guidance.threshold),
        "ratio_low": row.estimate["interval"].get("low"),
        "ratio_high": row.estimate["interval"].get("high"),
        "ratio_low_simultaneous": wide.get("low"),
        "ratio_high_simultaneous": wide.get("high"),
        "comparator": "" if isinstance(table.comparator, Undefined) else table.comparator,
        "fisher_p": fisher if isinstance(fisher, float) else None,
        "below_guideline": "" if row.below is None else str(row.below).lower(),
        "small_cell": str(row.small).lower(),
        "excluded": row.excluded or "",
        "undefined": HIDDEN if row.hidden else undefined,
        "table_total": table.total,
        "table_unknown": table.unknown,
        "median": table.median,
        "median_ties": table.median_ties,
        "tied_rounds": table.tied_rounds,
    }


def _number(value: Fraction | Undefined, *thresholds: Fraction) -> str:
    return "" if isinstance(value, Undefined) else guarded(value, _DIGITS, *thresholds)
