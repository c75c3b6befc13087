"""Whether a difference is adverse impact, by all tests of a policy that has such tests, read together."""

from __future__ import annotations

from typing import Final

from audit_lib.policies.adverse_impact import AdverseImpactVerdict
from audit_lib.report.adverse import findings
from audit_lib.report.blocks import Cell, Column, Row, Table, Tone
from audit_lib.report.content import Content, ExactTable
from audit_lib.report.numbers import UNDEFINED
from audit_lib.report.table_names import category_name, table_name
from audit_lib.translation import Filled, archived, mark, t

_VERDICTS: Final[dict[AdverseImpactVerdict, str]] = {
    "indicated": mark("indicated"),
    "too few to tell": mark("too few to tell"),
    "look closer": mark("look closer"),
    "not indicated": mark("not indicated"),
    "undefined": UNDEFINED,
}
_MEANING: Final[dict[AdverseImpactVerdict, str]] = {
    "indicated": mark(
        "indicated: below the threshold and significant, and one other selection would change neither."
    ),
    "too few to tell": mark(
        "too few to tell: below the threshold, but not significant, on few people, or changed by one selection."
    ),
    "look closer": mark(
        "look closer: not below the threshold, yet significantly lower: practical terms decide."
    ),
    "not indicated": mark("not indicated: not below the threshold and not significantly lower."),
    "undefined": mark("undefined: no ratio, or no test of it."),
}


def adverse(content: Content, table: ExactTable) -> Table | None:
    """Make the table of verdicts; none where the policy has no practical tests."""
    policy = content.policy
    if not policy.practical_tests:
        return None
    found = {row.label: finding for row, finding in findings(content, table)}
    rows = []
    for row in table.rows:
        name = category_name(row.label)
        if row.hidden:
            rows.append(Row(name, (Cell(t("hidden")),) * 2, "muted"))
        elif row.label in found:
            verdict, reasons = found[row.label].verdict, found[row.label].reasons
            tone: Tone = "flag" if verdict == "indicated" else "plain"
            tests = Filled("; ").join(map(archived, reasons))
            rows.append(Row(name, (Cell(t(_VERDICTS[verdict]), tone=tone), Cell(tests))))
    seen = {finding.verdict for finding in found.values()}
    return Table(
        t("{table}: adverse impact, all tests", table=table_name(policy, table)),
        tuple(
            Column(head, numeric=False) for head in (t("Category"), t("Adverse impact"), t("Test by test"))
        ),
        tuple(rows),
        tuple(t(meaning) for verdict, meaning in _MEANING.items() if verdict in seen),
    )
