"""What several sections of a study share: which settings are drawn, their headings, and cells of tables."""

from __future__ import annotations

from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.blocks import Cell
from audit_lib.report.numbers import UNDEFINED, decimal, interval
from audit_lib.results import Interval, Undefined
from audit_lib.translation import t
from audit_lib.validity.setting import Setting
from audit_lib.validity.verdict import title_of


def settings(study: ValidityStudy) -> list[Setting]:
    """Return each task and gap, at the smallest quota: what is drawn as an example of the others."""
    found = dict.fromkeys((one.task, one.gap) for one in study.points)
    return [Setting(task, gap, study.quotas[0]) for task, gap in found]


def heading(study: ValidityStudy, setting: Setting) -> str:
    """Return the heading of a setting: its gap, after its task where there are several."""
    gap = title_of(setting.gap)
    tasks = {one.task for one in study.models}
    return f"{setting.task}: {gap}" if len(tasks) > 1 else gap


def value_cell(value: float | Undefined) -> Cell:
    """Print a number, or why there is none."""
    if isinstance(value, Undefined):
        return Cell(t(UNDEFINED), note=value.reason, tone="muted")
    return Cell(decimal(value))


def ends(found: Interval | Undefined) -> str:
    """Print the limits of an interval."""
    return t(UNDEFINED) if isinstance(found, Undefined) else interval(found.low, found.high, 3)


def reason(found: Interval | Undefined) -> str:
    """Say why there is no interval, if there is none."""
    return found.reason if isinstance(found, Undefined) else ""
