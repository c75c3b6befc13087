"""The stage ``monitor``: what changed since the previous run of the same audit."""

from audit_lib.monitor.stage import monitor, previous_run

__all__ = ["monitor", "previous_run"]
