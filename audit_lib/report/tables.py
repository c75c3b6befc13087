"""``tables.csv``: every row of every statutory table, with stable columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from audit_lib.report.content import Content, RateTable, TableRow
from audit_lib.report.numbers import guarded
from audit_lib.results import Undefined

COLUMNS: Final = (
    "audit", "window", "kind", "family", "stratum", "category", "n", "selected", "share_of_data", "rate",
    "rate_low", "rate_high", "impact_ratio", "ratio_low", "ratio_high", "ratio_low_simultaneous",
    "ratio_high_simultaneous", "comparator", "fisher_p", "below_guideline", "small_cell", "excluded", "undefined",
    "table_total", "table_unknown", "median", "median_ties", "tied_rounds",
)  # fmt: skip
_DIGITS = 6


def tables_csv(content: Content) -> bytes:
    """Return the tables as CSV (UTF-8, one line a category of a table); empty cells are undefined."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for table in content.tables:
        for row in table.rows:
            writer.writerow(_line(content, table, row))
    return out.getvalue().encode()


def _line(content: Content, table: RateTable, row: TableRow) -> dict[str, Any]:
    wide: Mapping[str, Any] = next((i for i in row.estimate["intervals"] if i["kind"] == "simultaneous"), {})
    fisher = next((t["p_value"] for t in row.estimate["tests"] if t["name"] == "fisher_exact"), None)
    return {
        "audit": content.spec.audit,
        "window": content.key.window.label,
        "kind": table.kind,
        "family": table.family,
        "stratum": ";".join(f"{key}={value}" for key, value in table.stratum.items()),
        "category": row.label,
        "n": row.n,
        "selected": row.selected,
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
        "undefined": row.ratio.reason if isinstance(row.ratio, Undefined) else "",
        "table_total": table.total,
        "table_unknown": table.unknown,
        "median": table.median,
        "median_ties": table.median_ties,
        "tied_rounds": table.tied_rounds,
    }


def _number(value: Fraction | Undefined, *thresholds: Fraction) -> str:
    return "" if isinstance(value, Undefined) else guarded(value, _DIGITS, *thresholds)
