"""Which windows of an audit are owed, and what became of each: from its schedule and the store alone.

Airflow makes the runs; nothing here asks it, so that a window it never made is found.
"""

from audit_lib.windows.arrival import arrived_window
from audit_lib.windows.audit_states import AuditStates, note_change, owed_of, read_state, read_states
from audit_lib.windows.missed_windows import missed_notes, note_missed
from audit_lib.windows.run_index import index_differences, read_index
from audit_lib.windows.schedule import is_window, latest_window, next_window, windows_between
from audit_lib.windows.window_states import (
    STATES,
    BegunRun,
    OwedWindow,
    audit_folders,
    begun_runs,
    catchup_limit,
    late_at,
    next_to_make_up,
    owed_windows,
    summary,
    windows_owed,
)

__all__ = [
    "STATES",
    "AuditStates",
    "BegunRun",
    "OwedWindow",
    "arrived_window",
    "audit_folders",
    "begun_runs",
    "catchup_limit",
    "index_differences",
    "is_window",
    "late_at",
    "latest_window",
    "missed_notes",
    "next_to_make_up",
    "next_window",
    "note_change",
    "note_missed",
    "owed_of",
    "owed_windows",
    "read_index",
    "read_state",
    "read_states",
    "summary",
    "windows_between",
    "windows_owed",
]
