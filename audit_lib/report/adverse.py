"""What a policy's tests of adverse impact, read together, say of each row of a statutory table."""

from __future__ import annotations

from collections.abc import Iterator

from audit_lib.documents.report import AdverseImpactFinding
from audit_lib.policies.adverse_impact import AdverseImpactTests, adverse_finding
from audit_lib.report.content import Content, ExactRow, ExactTable


def findings(content: Content, table: ExactTable) -> Iterator[tuple[ExactRow, AdverseImpactTests]]:
    """Yield the rows that have a finding; hidden ones and policies without such tests have none."""
    for row in table.rows:
        if (found := finding(content, row)) is not None:
            yield row, found


def finding(content: Content, row: ExactRow) -> AdverseImpactTests | None:
    """Return what the tests say of one row, if they say anything."""
    if row.hidden or row.adverse_impact is None:
        return None
    measured = {
        "n": row.n,
        "four_fifths_flag": row.below,
        "adverse_impact": row.adverse_impact.as_dict(),
        "impact_ratio": row.estimate.as_dict(),
    }
    return adverse_finding(content.policy, measured, content.spec.measure.alpha)


def adverse_impact(content: Content) -> tuple[AdverseImpactFinding, ...]:
    """Return the findings of the headline for ``report.json``."""
    return tuple(
        AdverseImpactFinding(
            kind=table.kind,
            family=table.family,
            stratum=dict(table.stratum),
            category=dict(row.levels),
            verdict=found.verdict,
            reasons=found.reasons,
        )
        for table in content.headline
        if content.policy.practical_tests
        for row, found in findings(content, table)
    )
