"""What a policy's tests of adverse impact, read together, say of each row of a statutory table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit_lib.policies.adverse import Finding, adverse_finding
from audit_lib.report.content import Content, RateTable, TableRow


def findings(content: Content, table: RateTable) -> Iterator[tuple[TableRow, Finding]]:
    """Yield the rows that have a finding; hidden ones and policies without such tests have none."""
    for row in table.rows:
        if row.hidden:
            continue
        measured = {
            "n": row.n,
            "four_fifths_flag": row.below,
            "adverse_impact": row.beyond["adverse_impact"],
            "impact_ratio": row.estimate,
        }
        found = adverse_finding(content.policy, measured, content.spec.measure.alpha)
        if found is not None:
            yield row, found


def as_dicts(content: Content) -> list[dict[str, Any]]:
    """Return the findings of the headline for ``report.json``."""
    return [
        {
            "kind": table.kind,
            "family": table.family,
            "stratum": dict(table.stratum),
            "category": dict(row.levels),
            "verdict": found.verdict,
            "reasons": list(found.reasons),
        }
        for table in content.headline
        if content.policy.practical_tests
        for row, found in findings(content, table)
    ]
