"""Audits of tables that somebody holds in Python: `audit_lib.frame`."""

from audit_lib.dataframe.figure import Figure
from audit_lib.dataframe.frame import frame
from audit_lib.dataframe.result import FrameResult

__all__ = ["Figure", "FrameResult", "frame"]
