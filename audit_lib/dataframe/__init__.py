"""Audits of tables that somebody holds in Python: `audit_lib.frame`."""

from audit_lib.dataframe.figure import DrawnFigure
from audit_lib.dataframe.frame import frame
from audit_lib.dataframe.result import FrameResult

__all__ = ["DrawnFigure", "FrameResult", "frame"]
