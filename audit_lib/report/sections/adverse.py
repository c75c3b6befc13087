"""Whether a difference is adverse impact, by all tests of a policy that has such tests, read together."""

from __future__ import annotations

from audit_lib.policies.adverse_impact import Verdict
from audit_lib.report.adverse import findings
from audit_lib.report.blocks import Cell, Column, Row, Table, Tone
from audit_lib.report.content import Content, ExactTable

_MEANING: dict[Verdict, str] = {
    "indicated": "below the threshold and significant, and one other selection would change neither",
    "too few to tell": "below the threshold, but not significant, on few people, or changed by one selection",
    "look closer": "not below the threshold, yet significantly lower: practical terms decide",
    "not indicated": "not below the threshold and not significantly lower",
    "undefined": "no ratio, or no test of it",
}


def adverse(content: Content, table: ExactTable) -> Table | None:
    """Make the table of verdicts; none where the policy has no practical tests."""
    policy = content.policy
    if not policy.practical_tests:
        return None
    found = {row.label: finding for row, finding in findings(content, table)}
    rows = []
    for row in table.rows:
        if row.hidden:
            rows.append(Row(row.label, (Cell("hidden"),) * 2, "muted"))
        elif row.label in found:
            verdict, reasons = found[row.label].verdict, found[row.label].reasons
            tone: Tone = "flag" if verdict == "indicated" else "plain"
            rows.append(Row(row.label, (Cell(verdict, tone=tone), Cell("; ".join(reasons)))))
    seen = {finding.verdict for finding in found.values()}
    return Table(
        f"{policy.table(table.kind).title}, {policy.family(table.family).title.lower()}: adverse impact, all tests",
        tuple(Column(label, numeric=False) for label in ("Category", "Adverse impact", "Test by test")),
        tuple(rows),
        tuple(f"{verdict}: {meaning}." for verdict, meaning in _MEANING.items() if verdict in seen),
    )
