"""What changed from window to window of one audit, derived from its ordered history each time it is asked for."""

from audit_lib.monitor.comparison import compare
from audit_lib.monitor.findings import found, told
from audit_lib.monitor.history import History, Sealed, read_history
from audit_lib.monitor.record import FOLDER, record_changes

__all__ = ["FOLDER", "History", "Sealed", "compare", "found", "read_history", "record_changes", "told"]
