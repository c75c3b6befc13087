"""A whole small audit for the report's tests, made once."""

from __future__ import annotations

import pytest

from audit_lib.documents.earlier import Smallest
from audit_lib.report import EarlierAudit
from audit_lib.run import Run
from tests.report.runs import WINDOW, made

__all__ = ["HOSTILE", "WINDOW", "made"]

HOSTILE = '<script>alert(1)</script> & "quotes" {{ 7*7 }}'


@pytest.fixture(scope="session")
def earlier() -> tuple[EarlierAudit, ...]:
    """Two earlier audits, the second of another version of the tool."""

    def audit(day: str, selected: int, version: str) -> EarlierAudit:
        found = Smallest(label="Female", selected=selected, n=100, comparator_selected=50, comparator_n=100)
        return EarlierAudit(
            start=f"{day}T00:00:00+00:00", end=f"{day}T12:00:00+00:00", audited=day, status="signed", version=version,
            spec_digest="0" * 64, smallest={"selection": found}, href=f"../{day}/report.html",
        )  # fmt: skip

    return audit("2024-01-08", 45, "tool-0"), audit("2025-01-06", 38, "tool-1")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made(tmp_path_factory.mktemp("report"), title=HOSTILE, description=HOSTILE)
