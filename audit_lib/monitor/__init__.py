"""What changed over the windows of an audit: from one to the next, and since the baseline, over all looks."""

from audit_lib.monitor.alerts import alarm_line, alerts_of, summary_line
from audit_lib.monitor.attribute_audit import Attributed, attribute_windows
from audit_lib.monitor.baseline import read_baselines, set_baseline
from audit_lib.monitor.drift import measure_drift
from audit_lib.monitor.follow_audit import FollowedAudit, follow_audit
from audit_lib.monitor.history import CompleteRun, History, read_history
from audit_lib.monitor.record import FOLDER, RecordedDrift, compare_windows, record_drift

__all__ = [
    "FOLDER",
    "Attributed",
    "CompleteRun",
    "FollowedAudit",
    "History",
    "RecordedDrift",
    "alarm_line",
    "alerts_of",
    "attribute_windows",
    "compare_windows",
    "follow_audit",
    "measure_drift",
    "read_baselines",
    "read_history",
    "record_drift",
    "set_baseline",
    "summary_line",
]
