"""People and runs in which their rows are encrypted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit_lib.run import Run
from tests.archive.cases import WEEK, applicants, do, new_run

NAME = "Ottilie Quastenflosser"
WHO = f"{NAME} 7"


def people() -> list[dict[str, Any]]:
    rows = applicants(48)
    for number, row in enumerate(rows):
        row |= {"application_id": f"{NAME} {number}", "resume": f"I am {NAME}, number {number}."}
    return rows


def encrypted(folder: Path, window: Any = WEEK, **sections: Any) -> Run:
    sections = {"privacy": {"keys": "applicant"}, "rows": people()} | sections
    return do(new_run(folder, str(folder / "store"), window, **sections))
