"""What changed from window to window of one audit, derived from its ordered history each time it is asked for."""

from audit_lib.monitor.alerts import alerts_of, summary_line
from audit_lib.monitor.drift import measure_drift
from audit_lib.monitor.history import CompleteRun, History, read_history
from audit_lib.monitor.record import FOLDER, RecordedDrift, compare_windows, record_drift

__all__ = [
    "FOLDER",
    "CompleteRun",
    "History",
    "RecordedDrift",
    "alerts_of",
    "compare_windows",
    "measure_drift",
    "read_history",
    "record_drift",
    "summary_line",
]
