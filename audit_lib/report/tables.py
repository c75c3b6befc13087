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
from itertools import chain
from math import isinf
from typing import Any, Final

from audit_lib.documents.estimates import AnyEstimate, adjusted_p, defined, first_p, limits
from audit_lib.documents.metrics import Missingness
from audit_lib.documents.rate_tables import PICKED
from audit_lib.documents.statuses import STATUSES
from audit_lib.report.content import Content, ExactRow, ExactTable
from audit_lib.report.leading import picked
from audit_lib.report.numbers import guarded
from audit_lib.report.sections.subgroup_aucs import AUC
from audit_lib.report.suppress import HIDDEN
from audit_lib.results import Estimate, ImputedBounds, Interval, TestResult, TheseNames, Undefined

COLUMNS: Final = (
    "audit", "window", "kind", "family", "stratum", "category", "n", "selected", "share_of_data", "rate",
    "rate_low", "rate_high", "impact_ratio", "ratio_low", "ratio_high", "ratio_low_simultaneous",
    "ratio_high_simultaneous", "comparator", "fisher_p", "below_guideline", "small_cell", "excluded", "undefined",
    "table_total", "table_unknown", "median", "median_ties", "tied_rounds", "auc", "auc_low", "auc_high",
    "picked_p", "p_holm", "equal_rates_p", "equal_rates_p_holm", "ratio_low_population", "ratio_high_population",
    "verdict", "verdict_size", "verdict_reason", "margin",
    "margin_low", "margin_high", "margin_level",
)  # fmt: skip
"""Columns of ``tables.csv``: a line a category of a statutory table, and a line (kind ``auc``) a subgroup with an AUC.

Of the latter `n` counts who has a score and is known to be qualified or not, and `selected` is empty.
"""

ESTIMATE_COLUMNS: Final = (
    "audit", "window", "metric", "stratum", "group", "reference", "parameters", "value", "low", "high", "level",
    "interval_method", "n", "n_group", "n_reference", "clusters", "test", "p_value", "p_holm", "flags", "undefined",
    "method", "margin", "verdict", "remark", "these_names_low", "these_names_high", "these_names_p_value",
    "names_group", "names_reference", "verdict_size", "verdict_reason", "margin_low", "margin_high", "margin_level",
    "bounds_low", "bounds_high", "weighted_estimate",
)  # fmt: skip
"""Columns of ``estimates.csv``: a line an estimate of any metric."""

ANSWER_COLUMNS: Final = ("audit", "window", "stratum", "group", "rows", *STATUSES, "undefined")
"""Columns of ``answers.csv``: a line a group, how many of its rows have which status."""

OTHER_PACK_COLUMNS: Final = ("policy", "planned_under")
"""Further columns of all three, where scores were read under another pack than the plan's."""

_DIGITS = 6
_FORMULA: Final = tuple("=+-@\t\r")


def tables_csv(content: Content) -> bytes:
    """Return the statutory tables as CSV, and the AUCs; a stratum of the same people as another has its rows too."""
    again = (
        replace(table, stratum=entry.stratum)
        for entry in content.metrics.strata_identical
        for table in content.tables
        if table.stratum == entry.same_as
    )
    tables = (*content.tables, *again)
    aucs = (_run(content) | _auc(e) for e in content.estimates(AUC))
    return csv_bytes(
        _columns(COLUMNS, content),
        chain((_line(content, table, row) for table in tables for row in table.rows), aucs),
    )


def estimates_csv(content: Content) -> bytes:
    """Return every estimate beyond the statutory tables as CSV."""
    return csv_bytes(
        _columns(ESTIMATE_COLUMNS, content), (_run(content) | _estimate(e) for e in content.metrics.estimates)
    )


def answers_csv(content: Content) -> bytes:
    """Return the statuses of the rows by group as CSV."""
    return csv_bytes(
        _columns(ANSWER_COLUMNS, content), (_run(content) | _answers(e) for e in content.metrics.missingness)
    )


def _columns(columns: tuple[str, ...], content: Content) -> tuple[str, ...]:
    return columns if content.planned_under is None else (*columns, *OTHER_PACK_COLUMNS)


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
    said = {"audit": content.spec.audit, "window": content.key.window.label}
    if (planned := content.planned_under) is not None:
        packs = (content.plan.policy, planned)
        said |= {
            name: f"{pack.name} {pack.version}" for name, pack in zip(OTHER_PACK_COLUMNS, packs, strict=True)
        }
    return said


def _pairs(levels: Mapping[str, Any] | None) -> str:
    return ";".join(f"{key}={value}" for key, value in (levels or {}).items())


def _ends(interval: Interval | Undefined | None) -> tuple[float | None, float | None]:
    """The limits of an interval; none where it is undefined, hidden or has no limit."""
    found = limits(interval)
    low, high = (None, None) if found is None else (found.low, found.high)
    return (None if low is None or isinf(low) else low), (None if high is None or isinf(high) else high)


def _auc(e: Estimate) -> dict[str, Any]:
    low, high = _ends(e.interval)
    reasons = [part.reason for part in (e.value, e.interval) if isinstance(part, Undefined)]
    return {
        "kind": AUC,
        "family": ";".join(e.group),
        "stratum": _pairs(e.stratum),
        "category": _pairs(e.group),
        "n": e.n,
        "small_cell": str("small_cell" in e.flags).lower(),
        "undefined": "; ".join(dict.fromkeys(reasons)),
        "auc": defined(e.value),
        "auc_low": low,
        "auc_high": high,
    }


def _verdict(e: AnyEstimate) -> dict[str, Any]:
    """The verdict, and what was held against the margin; nothing where a number compares nothing, or is hidden."""
    found: dict[str, Any] = {}
    if not isinstance(e, Estimate):
        return found
    if (said := e.verdict) is not None:
        found |= {"verdict": said.kind, "verdict_size": said.size or "", "verdict_reason": said.reason or ""}
    if (held := e.held) is not None:
        low, high = _ends(held.interval)
        found |= {"margin": held.margin, "margin_low": low, "margin_high": high, "margin_level": held.level}
    return found


def _estimate(e: Estimate) -> dict[str, Any]:
    test = next(iter(e.tests), None)
    reasons = [part.reason for part in (e.value, e.interval) if isinstance(part, Undefined)]
    (low, high), found = _ends(e.interval), limits(e.interval)
    return {
        "metric": e.metric,
        "stratum": _pairs(e.stratum),
        "group": _pairs(e.group),
        "reference": _pairs(e.reference),
        "parameters": _pairs(e.parameters),
        "value": defined(e.value),
        "low": low,
        "high": high,
        "level": None if found is None else found.level,
        "interval_method": "" if found is None else found.method,
        "n": e.n,
        "n_group": e.n_group,
        "n_reference": e.n_reference,
        "clusters": e.clusters,
        "test": "" if test is None else test.name,
        "p_value": first_p(e),
        "p_holm": adjusted_p(e),
        "flags": ";".join(e.flags),
        "undefined": "; ".join(dict.fromkeys(reasons)),
        "method": e.method,
        "remark": e.remark or "",
        **_verdict(e),
        **_these_names(e.these_names),
        **_imputed(e.imputed),
    }


def _these_names(found: TheseNames | None) -> dict[str, Any]:
    """An effect for the names that were shown alone; nothing where names are no part of the design."""
    if found is None:
        return {}
    low, high = _ends(found.interval)
    return {
        "these_names_low": low,
        "these_names_high": high,
        "these_names_p_value": None if found.test is None else defined(found.test.p_value),
        "names_group": found.names_group,
        "names_reference": found.names_reference,
    }


def _imputed(found: ImputedBounds | None) -> dict[str, Any]:
    """Bounds of groups whose members are known as probabilities; nothing elsewhere."""
    if found is None:
        return {}
    low, high = found.bounds
    return {"bounds_low": low, "bounds_high": high, "weighted_estimate": defined(found.weighted)}


def _answers(e: Missingness) -> dict[str, Any]:
    return {
        "stratum": _pairs(e.stratum),
        "group": _pairs(e.group) if e.group is not None else "unknown",
        "rows": e.n,
        **e.statuses,
        "undefined": "",
    }


def _line(content: Content, table: ExactTable, row: ExactRow) -> dict[str, Any]:
    fisher = next((test.p_value for test in row.estimate.tests if test.name == "fisher_exact"), None)
    (rate_low, rate_high), (low, high) = _ends(row.rate_estimate.interval), _ends(row.estimate.interval)
    wide_low, wide_high = _ends(picked(row))
    whole, population = table.equal_rates, _ends(row.population)
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
        "rate_low": rate_low,
        "rate_high": rate_high,
        "impact_ratio": _number(row.ratio, content.policy.guidance.threshold),
        "ratio_low": low,
        "ratio_high": high,
        "ratio_low_simultaneous": wide_low,
        "ratio_high_simultaneous": wide_high,
        "comparator": "" if isinstance(table.comparator, Undefined) else table.comparator,
        "fisher_p": defined(fisher),
        "below_guideline": "" if row.below is None else str(row.below).lower(),
        "small_cell": str(row.small).lower(),
        "excluded": row.excluded or "",
        "undefined": HIDDEN if row.hidden else undefined,
        "table_total": table.total,
        "table_unknown": table.unknown,
        "median": table.median,
        "median_ties": table.median_ties,
        "tied_rounds": table.tied_rounds,
        "picked_p": next((defined(test.p_value) for test in row.estimate.tests if test.name == PICKED), None),
        "p_holm": adjusted_p(row.estimate),
        "equal_rates_p": defined(whole.p_value) if isinstance(whole, TestResult) else None,
        "equal_rates_p_holm": None if table.multiplicity is None else defined(table.multiplicity.holm),
        "ratio_low_population": population[0],
        "ratio_high_population": population[1],
        **_verdict(row.estimate),
    }


def _number(value: Fraction | Undefined, *thresholds: Fraction) -> str:
    return "" if isinstance(value, Undefined) else guarded(value, _DIGITS, *thresholds)
