"""A checked report for people to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from audit_lib.check import CheckResult
from audit_lib.check.findings import SEVERITIES, SummaryFinding


def report_text(report: CheckResult) -> str:
    """Return the findings, heaviest first, then what was rebuilt and what was not checked."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CheckResult) -> Iterator[str]:
    rebuilt = sum(bool(record.conventions) for record in report.rebuilt)
    yield f"{report.file}: {report.format.upper()}, {_many(len(report.tables), 'table')} of rates"
    yield f"{rebuilt} of {_many(len(report.rebuilt), 'printed rate')} and ratios rebuilt"
    for convention, count in report.conventions().items():
        yield f"  {count:>5}  {convention}"
    weights = Counter(finding.severity for finding in report.findings)
    yield ""
    yield "Findings: " + (", ".join(_many(weights[s], s) for s in SEVERITIES if weights[s]) or "none")
    for finding in report.findings:
        yield from _finding(finding)
    yield ""
    yield "Not checked"
    for line in report.not_checked:
        yield f"  {line}"


def _finding(finding: SummaryFinding) -> Iterator[str]:
    yield f"  {finding.severity}: {finding.id} [{finding.rule}]"
    where = " | ".join(part for part in (finding.table, finding.row, finding.column) if part)
    if where:
        yield f"    {'table ' if finding.table else ''}{where}"
    numbers = [f"printed {finding.printed}" if finding.printed else ""]
    numbers.append(f"recomputed {finding.recomputed}" if finding.recomputed else "")
    yield f"    {'; '.join(part for part in (*numbers, finding.message) if part)}"
    if finding.unsure:
        yield f"    read unsurely: {finding.unsure}"


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
