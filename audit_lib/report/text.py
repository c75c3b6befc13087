"""The statutory tables, or what else was measured, as plain text for a terminal."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from audit_lib.documents.estimates import first_p
from audit_lib.documents.metrics import PrintedMetrics, SuppressedMetrics
from audit_lib.documents.parameters import ATTRIBUTE, CLASS, VARIATION, K
from audit_lib.documents.rate_tables import HiddenRow, PrintedRow, RateRow, RateTable
from audit_lib.measure.metric import record_of
from audit_lib.policies import Policy
from audit_lib.report.content import Content
from audit_lib.report.exact_tables import in_words
from audit_lib.report.numbers import UNDEFINED, guarded, interval, percent
from audit_lib.report.sections.estimates import (
    against,
    count_of,
    limits_of,
    mark_of,
    reason_of,
    remarks_of,
    value_of,
    variation_in_words,
)
from audit_lib.report.sections.summary import leaders
from audit_lib.report.suppress import GIVES_AWAY
from audit_lib.report.verdict_words import shown_verdict, verdict_words
from audit_lib.results import Estimate, Undefined


def tables_text(metrics: PrintedMetrics, policy: Policy) -> str:
    """Return the headline's tables of ``metrics.json`` as text; of what a policy hides, pass what may be printed.

    Ratios print one more decimal than rates. ``*`` marks a ratio below the policy's guidance, ``!`` a row
    with fewer people than the spec's small cell.
    """
    tables = metrics.tables
    if not tables:
        return _estimates_text(metrics)
    headline = set(tables[0].stratum)
    lines: list[str] = []
    if metrics.experiment:
        lines += [policy.wording["title_experiment"], ""]
    for table in tables:
        if set(table.stratum) == headline:
            lines += [*_table(table, policy), ""]
    guidance = policy.guidance
    lines.append(
        f"* below the {guidance.name} ({guidance.cite})"
        + ("" if guidance.own else f", which {policy.short_law} does not set")
        + "   ! small cell"
    )
    if isinstance(metrics, SuppressedMetrics) and metrics.suppressed.cells:
        lines.append(metrics.suppressed.reason)
    return "\n".join(lines)


def leading_text(content: Content) -> str:
    """Return what leads the page: of each kind of table the ratio with the most evidence, or that none can lead."""
    return "\n".join(f"{one.label}: {one.value}\n  {one.detail}" for one in leaders(content))


def _table(table: RateTable[RateRow] | RateTable[PrintedRow], policy: Policy) -> list[str]:
    kind = policy.table(table.kind)
    where = ", ".join(f"{key} {value}" for key, value in table.stratum.items())
    title = f"{kind.title}, {policy.family(table.family).title.lower()}{f' ({where})' if where else ''}"
    rows: tuple[PrintedRow, ...] = table.rows
    best = next((row for row in rows if row.label == table.comparator), None)
    cells = [
        [
            "category",
            "n",
            kind.count.lower(),
            "rate",
            "impact ratio",
            "interval, comparator picked",
            "verdict",
        ]
    ]
    cells += [_cells(row, best, policy) for row in rows]
    lines = [title, *_in_columns(cells)]
    if table.unknown:
        lines.append(f"  {table.unknown} more of unknown category are not in the table")
    if table.undersized_rounds:
        lines.append(
            f"  in {table.undersized_rounds} rounds everybody was selected: no more candidates than places"
        )
    if table.tied_rounds:
        lines.append(f"  the last place was drawn by lot in {table.tied_rounds} rounds")
    return lines


def _cells(row: PrintedRow, best: PrintedRow | None, policy: Policy) -> list[str]:
    digits, threshold = policy.rounding, policy.guidance.threshold
    if isinstance(row, HiddenRow):
        return [row.label, *["hidden"] * 4, "", ""]
    estimate = row.impact_ratio
    wide = next((one for one in estimate.intervals if one.kind == "simultaneous"), None)
    ratio = "hidden" if estimate.value == Undefined(GIVES_AWAY) else UNDEFINED
    if best is not None and not isinstance(best, HiddenRow) and not isinstance(estimate.value, Undefined):
        exact = Fraction(row.selected, row.n) / Fraction(best.selected, best.n)
        ratio = guarded(exact, digits.ratio, threshold)
    marks = ("*" if row.four_fifths_flag else "") + ("!" if "small_cell" in estimate.flags else "")
    return [
        row.label,
        str(row.n),
        str(row.selected),
        percent(Fraction(row.selected, row.n), digits.rate_percent) if row.n else UNDEFINED,
        ratio + marks,
        "" if wide is None or row is best else interval(wide.low, wide.high, digits.ratio, threshold),
        "" if (verdict := shown_verdict(estimate)) is None or not row.n else verdict_words(verdict),
    ]


def _in_columns(cells: list[list[str]]) -> list[str]:
    """Set a heading and rows in columns; the first is text, the others are numbers."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in [cells[0], ["-" * width for width in widths], *cells[1:]]:
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        lines.append("  " + "  ".join(padded).rstrip())
    return lines


def _estimates_text(metrics: PrintedMetrics) -> str:
    """What an audit without rate tables measured: its estimates in the first of its strata, and its leakage."""
    found = metrics.estimates
    first = set(found[0].stratum) if found else set()
    by: dict[str, list[Estimate]] = {}
    for e in found:
        if set(e.stratum) == first:
            by.setdefault(
                ", ".join(filter(None, [record_of(e.metric).title, in_words(e.stratum)])), []
            ).append(e)
    lines: list[str] = []
    for name, own in by.items():
        reasons = dict.fromkeys([*filter(None, map(reason_of, own)), *remarks_of(own)])
        lines += [name, *_in_columns([_HEAD, *map(_estimate, own)]), *(f"  {words}" for words in reasons), ""]
    if (told := metrics.leakage) is not None:
        cells = [["material", "AUC", "interval", "n"]]
        for one in told.estimates:
            state = "redacted" if one.redacted else "as it is"
            name = f"{one.material}, {state}, {one.attribute}: {one.level}"
            cells.append(
                [in_words({"": name}), value_of(one, sign=False), limits_of(one, sign=False), str(one.n)]
            )
        lines += ["Leakage", *_in_columns(cells), ""]
    return "\n".join(lines).rstrip() or "nothing was measured"


_HEAD: Final = ["group against reference", "value", "interval", "p", "n", "verdict", "marks"]


def _estimate(e: Estimate) -> list[str]:
    p = first_p(e)
    varied = str(e.parameters.get(VARIATION, "none"))
    whom = against(e) if e.group else str(e.parameters.get(ATTRIBUTE, "all rows"))
    what = whom + ("" if varied == "none" else f", {variation_in_words(varied)}")
    what += f", k = {e.parameters[K]}" if K in e.parameters else ""
    what += f", class {e.parameters[CLASS]}" if CLASS in e.parameters else ""
    marks = ", ".join(filter(None, [mark_of(e), "small cell" if "small_cell" in e.flags else ""]))
    sign = record_of(e.metric).signed
    return [
        what,
        value_of(e, sign=sign),
        limits_of(e, sign=sign),
        "" if p is None else f"{p:.3f}",
        count_of(e.n),
        "" if e.verdict is None else verdict_words(e.verdict),
        marks,
    ]
